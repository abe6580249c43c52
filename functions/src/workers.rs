//! The entry point for Cloudflare Workers: the queue consumer.

//! The entry point for Cloudflare Workers.

//! D1, R2 and Queues.

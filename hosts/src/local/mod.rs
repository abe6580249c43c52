//! SQLite, a folder and an in-process queue.

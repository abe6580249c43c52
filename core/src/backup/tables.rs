//! What a dump holds, table by table, and what it doesn't: the one list.
//!
//! A test holds it against the schema: a new table has to stand here, a new column in [`Table::columns`] and in the
//! triggers of the table. Renumbering or adding a migration changes [`SCHEMA`].

/// The newest migration that these lists know. A database that is ahead isn't dumped: columns would be missing.
pub const SCHEMA: u32 = 20;

/// A table that is dumped.
#[derive(Debug, PartialEq, Eq)]
pub struct Table {
    /// Its name.
    pub name: &'static str,
    /// The columns of its primary key, and of the order in which it is read.
    pub key: &'static [Key],
    /// The columns, in the order of a line.
    pub columns: &'static [&'static str],
    /// Columns that a restore sets anew.
    pub left_out: &'static [&'static str],
    /// Which changes are kept while a dump runs.
    pub undo: Undo,
}

/// A column of a primary key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Key {
    /// Positive numbers.
    Number(&'static str),
    /// Texts.
    Text(&'static str),
}

/// Which changes are kept while a dump runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Undo {
    /// All: the dump has exactly the rows of the moment at which it began.
    All,
    /// Only what is deleted: the dump has all rows of that moment, and may have later ones.
    Deleted,
    /// None: the dump has what it finds, and a restore takes what fits.
    None,
}

impl Key {
    /// The column.
    pub const fn column(self) -> &'static str {
        match self {
            Self::Number(column) | Self::Text(column) => column,
        }
    }
}

const ID: &[Key] = &[Key::Text("id")];

/// The tables in the order in which they are dumped and restored: what a row refers to comes before it.
pub const TABLES: [Table; 12] = [
    Table {
        name: "buckets",
        key: &[Key::Number("n")],
        columns: &["n", "name", "stores"],
        left_out: &[],
        undo: Undo::All,
    },
    Table {
        name: "accounts",
        key: ID,
        columns: &["id", "name", "role", "created_at"],
        left_out: &[],
        undo: Undo::All,
    },
    Table {
        name: "spaces",
        key: &[Key::Number("n")],
        columns: &[
            "n",
            "id",
            "name",
            "root_id",
            "quota_bytes",
            "used_bytes",
            "change_seq",
            "created_at",
            "changes_gone_seq",
            "versions_kept",
            "versions_days",
            "trash_days",
            "reserved_bytes",
            "append_window_secs",
            "bucket",
        ],
        left_out: &[],
        undo: Undo::All,
    },
    Table {
        name: "members",
        key: &[Key::Text("account_id"), Key::Text("space_id")],
        columns: &["account_id", "space_id", "role"],
        left_out: &[],
        undo: Undo::All,
    },
    Table {
        name: "tokens",
        key: ID,
        columns: &[
            "id",
            "hash",
            "account_id",
            "name",
            "created_at",
            "expires_at",
            "space_id",
            "folder_id",
            "rights",
            "protocols",
        ],
        left_out: &[],
        undo: Undo::All,
    },
    Table {
        name: "nodes",
        key: &[Key::Number("n")],
        columns: &[
            "n",
            "id",
            "space_id",
            "parent_id",
            "name",
            "name_nfc",
            "kind",
            "version_id",
            "created_at",
            "modified_at",
            "trashed_at",
            "trashed_from",
            "changed_seq",
        ],
        left_out: &[],
        undo: Undo::All,
    },
    Table {
        name: "blobs",
        key: ID,
        columns: &[
            "id",
            "size_bytes",
            "etag",
            "media_type",
            "crc32",
            "inline",
            "pages",
            "digests",
            "tail_bytes",
            "tail",
        ],
        left_out: &[],
        undo: Undo::All,
    },
    Table {
        name: "versions",
        key: ID,
        columns: &[
            "id",
            "node_id",
            "blob_id",
            "author_id",
            "created_at",
            "modified_at",
            "label",
            "appended_since",
        ],
        left_out: &[],
        undo: Undo::All,
    },
    Table {
        name: "properties",
        key: &[Key::Number("node"), Key::Text("namespace"), Key::Text("name")],
        columns: &["node", "namespace", "name", "xml"],
        left_out: &[],
        undo: Undo::All,
    },
    Table {
        name: "pages",
        key: &[Key::Number("id")],
        columns: &["id", "extents"],
        left_out: &[],
        undo: Undo::All,
    },
    Table {
        name: "segments",
        key: &[Key::Number("id")],
        columns: &["id", "key", "size_bytes", "bucket", "source_etag"],
        // Whether it is needed shows when the pages are there.
        left_out: &["state", "state_at"],
        undo: Undo::Deleted,
    },
    Table {
        name: "chunks",
        key: &[Key::Number("space"), Key::Text("hash")],
        columns: &["space", "hash", "segment", "offset", "length", "crc32", "chunker", "seen_at"],
        left_out: &[],
        undo: Undo::None,
    },
];

/// Tables that follow from those: a restore makes them anew, by the triggers of the schema or by itself.
pub const DERIVED: [&str; 3] = ["page_segments", "page_uses", "node_names"];

/// Tables that are of no use without the moment that they belong to, and why.
pub const LEFT_OUT: [(&str, &str); 24] = [
    ("schema_version", "the index has the number, and the migrations make the table"),
    ("guard", "always empty"),
    ("loose_blobs", "always empty"),
    ("locks", "clients take them again"),
    ("idempotent_answers", "they are for a day, and for requests that the restored database hasn't seen"),
    ("changes", "a restore sends everybody who follows back to a listing"),
    ("ingests", "uploads that were under way end with the database"),
    ("copy_folders", "they belong to jobs; what those have built is removed by the next clean-up"),
    ("jobs", "periodic ones come by themselves, and others belong to what isn't there any more"),
    (
        "candidates",
        "a restore has doomed what no page needs, and a full pass finds what has become mostly dead",
    ),
    ("repack_candidates", "as candidates"),
    ("orphans", "a full pass sees them again"),
    ("schedules", "the first tick makes them"),
    ("uploads", "uploads that were under way end with the database"),
    ("upload_parts", "as uploads"),
    ("direct_uploads", "as uploads"),
    ("packs", "their segments are there, but hold nothing reserved any more: the grace time is their end"),
    ("imports", "the files are there, and the same import again leaves alone what it finds"),
    ("import_refusals", "as imports"),
    ("wanted_hashes", "they belong to jobs"),
    ("thumbnails", "they are made again when somebody asks for them; a restore lets go what they were"),
    ("backups", "a restore finds the dumps in the bucket"),
    ("backup_parts", "of a dump under way"),
    ("backup_undo", "of a dump under way"),
];

/// One of the tables.
pub fn table(name: &str) -> Option<&'static Table> {
    TABLES.iter().find(|table| table.name == name)
}

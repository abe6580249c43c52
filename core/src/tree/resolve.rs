//! Path resolution: one statement from a space's root to the node.

use super::{Address, Blob, Kind, Node, Version};
use crate::error::{Conflict, Error, Result};
use crate::ids::{BlobId, NodeId, VersionId};
use crate::manifest;
use crate::ports::{DbError, Row, Statement, Timestamp};

/// `walk(depth, id)`: where the way ?2, `{"base", "names"}`, begins at depth 0, then the node of each name, as far as
/// there are any. It begins at the space ?1's root, or at a base that leads up to it. CROSS JOIN and json_extract keep
/// SQLite from scanning folders: joining the names as a table reads the whole folder at each step.
macro_rules! walk {
    () => {
        "with recursive walk (depth, id) as (
            select 0, coalesce(json_extract(?2, '$.base'), s.root_id) from spaces s
             where s.id = ?1 and (json_extract(?2, '$.base') is null or exists (
               with recursive above (id, parent_id) as (
                 select id, parent_id from nodes where id = json_extract(?2, '$.base') and trashed_at is null
                 union all
                 select n.id, n.parent_id
                   from above a cross join nodes n where n.id = a.parent_id and n.trashed_at is null
               )
               select 1 from above a where a.id = s.root_id))
            union all
            select w.depth + 1, n.id from walk w cross join nodes n
             where n.parent_id = w.id and n.name_nfc = json_extract(?2, '$.names[' || w.depth || ']')
               and n.trashed_at is null
        ) "
    };
}
pub(crate) use walk;

/// The two deepest nodes on the path.
const DEEPEST: &str = concat!(
    walk!(),
    "select w.depth, n.id, n.kind, n.created_at, n.modified_at, n.changed_seq, v.id as version_id,
            b.id as blob_id, b.size_bytes, b.etag, b.media_type, b.crc32, b.inline, b.digests
       from walk w cross join nodes n on n.id = w.id
       left join versions v on v.id = n.version_id
       left join blobs b on b.id = v.blob_id
      order by w.depth desc limit 2"
);

/// Asks for what stands at the address; [`Resolved::read`] understands the answer.
pub fn resolve(address: &Address) -> Statement {
    Statement::new(DEEPEST).bind(&address.space).bind(address.way())
}

/// What stands at an address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    /// The node; None where the name is free.
    pub node: Option<Node>,
    /// The folder that holds it, or would; None for the root.
    pub parent: Option<NodeId>,
}

impl Resolved {
    /// Reads the rows of [`resolve`].
    ///
    /// # Errors
    /// [`Conflict::ParentMissing`] and [`Conflict::NotAFolder`] where the path breaks off before its last name.
    pub fn read(rows: &[Row], address: &Address) -> Result<Self> {
        let depth = address.path.depth();
        let (deepest, above) = (deepest(rows)?, rows.get(1).map(with_depth).transpose()?);
        match (deepest, above) {
            (Some((at, node)), above) if at == depth => {
                Ok(Self { node: Some(node), parent: above.map(|(_, parent)| parent.id) })
            }
            (Some((_, Node { kind: Kind::File(_), .. })), _) => Err(Error::Conflict(Conflict::NotAFolder)),
            (Some((at, parent)), _) if at + 1 == depth => Ok(Self { node: None, parent: Some(parent.id) }),
            (Some(_), _) => Err(Error::Conflict(Conflict::ParentMissing)),
            (None, _) => Err(Error::NotFound),
        }
    }

    /// The node, for a request that needs one; whatever is missing on the way, it isn't there.
    pub fn existing(rows: &[Row], address: &Address) -> Result<Node> {
        match Self::read(rows, address) {
            Ok(Self { node: Some(node), .. }) => Ok(node),
            Ok(_) | Err(Error::Conflict(_)) => Err(Error::NotFound),
            Err(error) => Err(error),
        }
    }
}

/// The deepest node that [`resolve`] has found on the way, and how many names lead to it.
pub(crate) fn deepest(rows: &[Row]) -> Result<Option<(usize, Node)>> {
    rows.first().map(with_depth).transpose()
}

fn with_depth(row: &Row) -> Result<(usize, Node)> {
    Ok((usize::try_from(row.unsigned("depth")?).unwrap_or(usize::MAX), node(row)?))
}

fn node(row: &Row) -> Result<Node> {
    let kind = match row.text("kind")? {
        "folder" => Kind::Folder,
        _ => Kind::File(version(row)?),
    };
    Ok(Node {
        id: id(row, "id", NodeId::parse)?,
        created_at: Timestamp(row.integer("created_at")?),
        modified_at: Timestamp(row.integer("modified_at")?),
        changed_seq: row.unsigned("changed_seq")?,
        kind,
    })
}

/// Reads a version and its content.
pub(crate) fn version(row: &Row) -> Result<Version> {
    Ok(Version {
        id: id(row, "version_id", VersionId::parse)?,
        modified_at: Timestamp(row.integer("modified_at")?),
        blob: blob(row)?,
    })
}

fn blob(row: &Row) -> Result<Blob> {
    use base64::{Engine, engine::general_purpose::STANDARD};
    let inline = row
        .text_or_null("inline")?
        .map(|text| {
            STANDARD.decode(text).map_err(|error| Error::Internal(format!("inline content: {error}")))
        })
        .transpose()?;
    Ok(Blob {
        id: id(row, "blob_id", BlobId::parse)?,
        size_bytes: row.unsigned("size_bytes")?,
        etag: row.text("etag")?.to_owned(),
        media_type: row.text("media_type")?.to_owned(),
        crc32: u32::try_from(row.integer("crc32")?).ok(),
        inline,
        digests: row.text_or_null("digests")?.map(manifest::from_json).transpose()?.unwrap_or_default(),
    })
}

pub(crate) fn id<T>(row: &Row, column: &str, parse: impl Fn(&str) -> Option<T>) -> Result<T> {
    let text = row.text(column)?;
    parse(text).ok_or_else(|| DbError::Rejected(format!("column {column}: not an id")).into())
}

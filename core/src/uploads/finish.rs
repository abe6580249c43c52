//! The end of an upload: a version takes the content, and the row tells for a while what came of it.

use super::append::guard;
use super::{Finished, REMEMBERED_SECS, Target, Upload};
use crate::error::Result;
use crate::files::commit::Content;
use crate::files::{Adopt, Save, Saved, adopt};
use crate::ids::{BlobId, SpaceId};
use crate::manifest;
use crate::ports::{Host, Platform, Statement};
use crate::token::Token;
use crate::versions::remove_unused_pages;

/// What an upload ends with.
pub(super) struct Ending<'a> {
    pub(super) token: &'a Token,
    pub(super) target: &'a Target,
    pub(super) content: Content<'a>,
    /// The content's blob, which has its row or gets it.
    pub(super) blob: &'a BlobId,
    pub(super) etag: &'a str,
    /// Statements before those of the commit: about what the content is made of.
    pub(super) of: Vec<Statement>,
}

impl Target {
    /// What it is as a save.
    pub(super) fn save(&self, token: &Token, space: &SpaceId) -> Result<Save> {
        Ok(Save {
            address: self.address(token, space)?,
            conditions: self.conditions.clone(),
            media_type: self.media_type.clone(),
            modified_at: self.modified_at(),
            length: None,
            expected: Vec::new(),
        })
    }
}

/// Commits the file. Everything that a save is held to, it is held to; and that the upload is open and as it was read.
pub(super) async fn finish<P: Platform>(
    platform: &P,
    upload: &Upload,
    stamp: &str,
    ending: Ending<'_>,
) -> Result<Finished> {
    let now = platform.host().now();
    let (id, token) = (&upload.id, ending.token);
    let mut before = vec![guard(token, upload, Some(stamp), now, 0)];
    before.extend(ending.of);
    // What was reserved is what the file takes.
    before.extend([
        Statement::new("delete from upload_parts where upload = ?1").bind(id),
        Statement::new("update uploads set reserved_bytes = 0 where id = ?1").bind(id),
    ]);
    let remembered = now.plus_secs(REMEMBERED_SECS.min(platform.settings().upload_ttl_secs));
    let after = |saved: &Saved| {
        let mut statements = vec![
            Statement::new(
                "update uploads set finished = ?2, expires_at = ?3, blob_id = null, tail = null,
                        received_bytes = ?4, length_bytes = ?4 where id = ?1",
            )
            .bind(id)
            .bind(manifest::to_json(&Finished::from(saved))?)
            .bind(remembered)
            .bind(saved.size_bytes),
        ];
        if let Content::Draft { .. } = ending.content {
            // It had no name to guess from while it arrived.
            let media_type = Statement::new("update blobs set media_type = ?2 where id = ?1");
            statements.push(media_type.bind(ending.blob).bind(ending.target.media_type.as_str()));
        }
        statements.extend(remove_unused_pages());
        Ok(statements)
    };
    let adopted = Adopt { content: ending.content, blob: ending.blob, etag: ending.etag, before };
    let saved = adopt(platform, &ending.target.save(token, &upload.space)?, &adopted, after).await?;
    Ok(Finished::from(&saved))
}

impl From<&Saved> for Finished {
    fn from(saved: &Saved) -> Self {
        Self {
            created: saved.created,
            etag: saved.etag.clone(),
            size_bytes: saved.size_bytes,
            node: saved.node.to_string(),
            version: saved.version.to_string(),
            modified_at: saved.modified_at.0,
            joined: false,
        }
    }
}

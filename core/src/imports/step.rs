//! A step of the job: a page of the listing.

use futures::{StreamExt, TryStreamExt, stream};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::Counts;
use super::commit::{self, Committed};
use super::keys::{Standing, Tree};
use crate::auth::{self, Right};
use crate::doctor::DEFAULT;
use crate::error::{Error, Result};
use crate::ids::SpaceId;
use crate::ingest::{Ingest, inline_etag};
use crate::jobs::{Claimed, Progress, Step};
use crate::manifest;
use crate::path::Name;
use crate::ports::{Bucket, BucketError, Db, Host, Listed, Platform, Row, Statement};
use crate::token::Token;

/// How often a step reads the space again, since it was changed meanwhile, before others get their turn.
const TRIES: usize = 5;

/// How many entity tags are asked for at a time.
const TAGS_AT_ONCE: usize = 4;

/// How long an ingest that gives a step its ids may stay.
const TTL_SECS: i64 = 15 * 60;

/// Where an import is.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(super) struct At {
    /// The listing's cursor.
    pub(super) cursor: Option<String>,
    /// How many reasons are noted.
    pub(super) counts: Counts,
    /// Whether the last page was taken.
    pub(super) is_over: bool,
}

/// What is imported.
pub(super) struct Import {
    pub(super) space: SpaceId,
    /// The bucket's row and name.
    pub(super) bucket: Option<(i64, String)>,
    prefix: String,
    into: Vec<Name>,
    pub(super) token: Token,
}

/// Which nodes stand at the places of ?2, `[[place, name, [what is below it]], …]`. Each recursion reads its own part of the
/// text only.
const STANDING: &str = "with recursive found (place, id, below) as (
     select 0, root_id, ?2 from spaces where id = ?1
     union all
     select json_extract(c.value, '$[0]'), n.id, json_extract(c.value, '$[2]')
       from found f cross join json_each(f.below) c
      cross join nodes n
      where n.parent_id = f.id and n.name_nfc = json_extract(c.value, '$[1]') and n.trashed_at is null
   )
   select f.place, f.id, n.kind, n.name, b.etag
     from found f cross join nodes n on n.id = f.id
     left join versions v on v.id = n.version_id left join blobs b on b.id = v.blob_id";

/// Asks for the entity tags that the listing lacks. What has gone meanwhile is no object any more.
async fn tag<B: Bucket>(bucket: &B, objects: &mut Vec<Listed>) -> Result<(), BucketError> {
    let asked = std::mem::take(objects).into_iter().map(async |object| match &object.etag {
        Some(_) => Ok(Some(object)),
        None => match bucket.etag(&object.key).await {
            Ok(etag) => Ok(Some(Listed { etag: Some(etag), ..object })),
            Err(BucketError::NotFound(_)) => Ok(None),
            Err(error) => Err(error),
        },
    });
    let tagged: Vec<Option<Listed>> = stream::iter(asked).buffered(TAGS_AT_ONCE).try_collect().await?;
    *objects = tagged.into_iter().flatten().collect();
    Ok(())
}

/// Takes the next page in. One bucket operation (and one for each object, where its listing has no entity tags) and four round trips; two more each time that the space was changed
/// meanwhile.
pub async fn step<P: Platform>(platform: &P, job: &Claimed) -> Result<Step> {
    let at: At = match &job.checkpoint {
        serde_json::Value::Null => At::default(),
        known => manifest::from_json(&known.to_string())?,
    };
    if at.is_over {
        return Ok(done(&at));
    }
    let import = Import::find(platform, job).await?;
    let bucket = platform.bucket_of(import.bucket.as_ref().map(|(_, name)| name.as_str()))?;
    let mut page = bucket.list(&import.prefix, at.cursor.as_deref()).await?;
    tag(&bucket, &mut page.objects).await?;
    let mut next = At { is_over: page.next.is_none(), cursor: page.next, counts: at.counts };
    let etags = import.etags(platform, &page.objects).await;
    let etag_of = |object: &Listed| {
        let at = page.objects.binary_search_by(|other| other.key.cmp(&object.key)).ok()?;
        etags.get(at).cloned()
    };
    for _ in 0..TRIES {
        let mut tree = Tree::new(&page.objects, &import.prefix, &import.into);
        let (seq, ingest) = import.look(platform, &mut tree).await?;
        tree.decide(etag_of);
        let committed =
            commit::commit(platform, job, &import, &tree, (seq, &ingest), etag_of, &mut next).await;
        match committed {
            Ok(Committed::Done) if next.is_over => return Ok(done(&next)),
            Ok(Committed::Done) => {
                let checkpoint =
                    serde_json::to_value(&next).map_err(|error| Error::Internal(error.to_string()))?;
                return Ok(Step::More { progress: progress(&next), checkpoint, after_secs: 0 });
            }
            Ok(Committed::SpaceChanged) => Ingest::forget(Some(&ingest), platform).await,
            Err(error) => return Err(error),
        }
        next.counts = at.counts;
    }
    // Others are busy in the space: nothing is lost, and the same page comes again.
    Ok(Step::More { progress: job.progress, checkpoint: job.checkpoint.clone(), after_secs: 1 })
}

pub(super) fn progress(at: &At) -> Progress {
    Progress { items_done: at.counts.objects(), bytes_done: at.counts.bytes, ..Progress::default() }
}

fn done(at: &At) -> Step {
    Step::Done { progress: progress(at), result: json!(at.counts) }
}

impl Import {
    async fn find<P: Platform>(platform: &P, job: &Claimed) -> Result<Self> {
        let look = Statement::new(
            "select i.space_id, i.bucket, i.prefix, i.folder, (select b.name from buckets b where b.n = i.bucket) as name
               from imports i where i.id = ?1",
        );
        let results = platform.db().read(vec![look.bind(&job.id)]).await?;
        let row = results.first().and_then(|rows| rows.first()).ok_or(Error::NotFound)?;
        let names = row.text("folder")?.split('/').filter(|name| !name.is_empty());
        Ok(Self {
            space: SpaceId::parse(row.text("space_id")?).ok_or(Error::NotFound)?,
            bucket: row.integer_or_null("bucket")?.zip(row.text_or_null("name")?.map(str::to_owned)),
            prefix: row.text("prefix")?.to_owned(),
            into: names.map(Name::parse).collect::<Result<_>>()?,
            token: job.token(platform).await?,
        })
    }

    /// The entity tags of the files that the objects become.
    async fn etags<P: Platform>(&self, platform: &P, objects: &[Listed]) -> Vec<String> {
        let bucket = self.bucket.as_ref().map_or(DEFAULT, |(_, name)| name);
        let mut etags = Vec::with_capacity(objects.len());
        for object in objects {
            // As every empty file.
            if object.size_bytes == 0 {
                etags.push(inline_etag(&[]));
                continue;
            }
            let text = format!(
                "{bucket}\n{}\n{}\n{}",
                object.key,
                object.size_bytes,
                object.etag.as_deref().unwrap_or_default()
            );
            etags.push(platform.host().sha256(text.as_bytes()).await.to_string());
        }
        etags
    }

    /// Finds what stands at the tree's places, if the import may still go on. The number of the space's last commit, and an
    /// ingest, which gives ids. One round trip.
    async fn look<P: Platform>(&self, platform: &P, tree: &mut Tree<'_>) -> Result<(u64, Ingest)> {
        let now = platform.host().now();
        let batch = vec![
            auth::look_up(&self.token, &self.space, now),
            auth::look_up_admin(&self.token, now),
            Statement::new("select change_seq from spaces where id = ?1").bind(&self.space),
            Statement::new(STANDING).bind(&self.space).bind(tree.below_top()?),
            Ingest::open_for_repack(platform.host(), now.plus_secs(TTL_SECS), None),
        ];
        let results = platform.db().write(batch).await?;
        let rows = |at: usize| results.get(at).map(Vec::as_slice).unwrap_or_default();
        let ingest = Ingest::read(rows(4).first().ok_or(Error::NotFound)?)?;
        let authorised = auth::authorise(rows(0).first(), Right::Own)
            .and_then(|_| auth::authorise_admin(rows(1).first(), Right::Write));
        if let Err(error) = authorised {
            Ingest::forget(Some(&ingest), platform).await;
            return Err(error);
        }
        for row in rows(3) {
            let at = usize::try_from(row.unsigned("place")?).unwrap_or(usize::MAX);
            if let Some(place) = tree.places.get_mut(at) {
                place.standing = Some(standing(row)?);
            }
        }
        Ok((rows(2).first().ok_or(Error::NotFound)?.unsigned("change_seq")?, ingest))
    }
}

fn standing(row: &Row) -> Result<Standing> {
    Ok(match row.text("kind")? {
        "folder" => Standing::Folder { id: row.text("id")?.to_owned() },
        _ => Standing::File {
            name: row.text("name")?.to_owned(),
            etag: row.text_or_null("etag")?.unwrap_or_default().to_owned(),
        },
    })
}

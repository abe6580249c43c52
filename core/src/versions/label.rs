//! Giving a version a name, or taking it away.

use super::target::Target;
use super::{Entry, Label};
use crate::changes::{Record, What, record};
use crate::conditions::Conditions;
use crate::error::{Conflict, Error, Result};
use crate::files::commit::{Refused, write_once};
use crate::ids::VersionId;
use crate::ports::{Host, Platform, Statement};
use crate::tree::Address;

/// Which version gets which label.
#[derive(Debug, Clone)]
pub struct SetLabel {
    /// The file.
    pub address: Address,
    /// The version.
    pub version: VersionId,
    /// Its new label; None for none.
    pub label: Option<Label>,
    /// The conditions on the file's current version.
    pub conditions: Conditions,
}

/// The file keeps changing: so often, and the label has lost to as many saves.
const ATTEMPTS: usize = 200;

/// Sets or clears the label. Two round trips; safe to repeat.
pub async fn set_label<P: Platform>(platform: &P, request: &SetLabel) -> Result<Entry> {
    let label = request.label.as_ref().map(Label::as_str);
    for _ in 0..ATTEMPTS {
        let target = Target::find(platform, &request.address, &request.version, &request.conditions).await?;
        let now = platform.host().now();
        let mut batch = target.guards(&request.address, now, 0)?;
        let label_row = "update versions set label = ?2 where id = ?1";
        batch.push(Statement::new(label_row).bind(&request.version).bind(label));
        let change = Record::of_file(What::Updated, target.node.as_str());
        batch.extend(record(&request.address.space, now, &[change], &[target.parent.as_str()])?);
        let happened = Statement::new("select 1 from versions where id = ?1 and label is ?2")
            .bind(&request.version)
            .bind(label);
        match write_once(platform, batch, &happened).await {
            Ok(()) => return Ok(Entry { label: label.map(str::to_owned), ..target.version }),
            Err(Refused::TargetChanged) => {}
            Err(Refused::For(error)) => return Err(error),
        }
    }
    Err(Error::Conflict(Conflict::Contended))
}

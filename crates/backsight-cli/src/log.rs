//! Where a server of this process writes its log: as its `--log` says, else as `BACKSIGHT_LOG` does, else nowhere.

use backsight_core::{Code, Error, Result};
use backsight_server::LogTo;

use crate::context::Context;

/// What names the log in the environment.
pub const VARIABLE: &str = "BACKSIGHT_LOG";

/// Begins the log, if one is wanted.
pub fn begin(named: Option<&LogTo>, context: &Context) -> Result<()> {
    match named.cloned().map_or_else(|| wanted(context), |named| Ok(Some(named.from(context.start()))))? {
        Some(to) => backsight_server::start_log(&to),
        None => Ok(()),
    }
}

/// What the environment says.
pub fn wanted(context: &Context) -> Result<Option<LogTo>> {
    let Some(text) = std::env::var_os(VARIABLE).filter(|text| !text.is_empty()) else { return Ok(None) };
    let text = text.to_str().ok_or_else(|| Error::new(Code::Usage, format!("{VARIABLE} is not UTF-8")))?;
    let to: LogTo = text.parse().map_err(|why| Error::new(Code::Usage, format!("{VARIABLE}: {why}")))?;
    Ok(Some(to.from(context.start())))
}

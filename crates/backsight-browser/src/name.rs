//! Names of checkpoints and baselines (branch `rules`).
use backsight_core::Result;
/// Checks.
pub fn check(_name: &str) -> Result<()> {
    Ok(())
}
/// Advice.
pub fn advice(_name: &str) -> Option<String> {
    None
}

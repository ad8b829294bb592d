//! Room on disk, whether everything is whole, and how the workspace stands and is set up, as every interface asks for it.

use std::os::unix::ffi::OsStrExt;
use std::path::Path;

use backsight_core::{Code, Effect, Error, Operation, Result, Waits, quote, short_enough};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Collect, Init, StorePlace};
use crate::Workspace;
use crate::operation::Perform;
use crate::report::{
    CheckState, Collected, ConfigEntry, Diagnosis, SetUp, SettingList, Snapshot, Usage, Verified, WorkspaceStatus,
};

/// Keep a snapshot through every retention rule.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct PinStep {
    /// Which snapshot, as a reference.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    pub reference: String,
}

impl Operation for PinStep {
    type Answer = Snapshot;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("ref", &self.reference)
    }
}

impl Perform for PinStep {
    fn carry_out(self, workspace: &Workspace) -> Result<Snapshot> {
        workspace.pin(&self.reference, true)
    }
}

/// Let retention remove a snapshot again.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct UnpinStep {
    /// Which snapshot, as a reference.
    #[serde(rename = "ref")]
    #[schemars(example = &"@")]
    pub reference: String,
}

impl Operation for UnpinStep {
    type Answer = Snapshot;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("ref", &self.reference)
    }
}

impl Perform for UnpinStep {
    fn carry_out(self, workspace: &Workspace) -> Result<Snapshot> {
        workspace.pin(&self.reference, false)
    }
}

/// Ask how much disk the store uses.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct MeasureStore {}

impl Operation for MeasureStore {
    type Answer = Usage;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for MeasureStore {
    fn carry_out(self, workspace: &Workspace) -> Result<Usage> {
        workspace.usage()
    }
}

/// Remove the contents of old snapshots by age, count or size.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CollectContents {
    /// Remove contents of snapshots older than so many days, instead of the setting.
    pub keep_days: Option<u32>,
    /// Keep at least so many of the newest, instead of the setting.
    pub keep_count: Option<u32>,
    /// Remove the oldest until the store has at most so many bytes, instead of the setting.
    pub disk_budget: Option<u64>,
    /// Say what would be removed and change nothing.
    #[serde(default)]
    pub dry_run: bool,
}

impl Operation for CollectContents {
    type Answer = Collected;
    const EFFECT: Effect = Effect::Removes;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for CollectContents {
    fn carry_out(self, workspace: &Workspace) -> Result<Collected> {
        let CollectContents { keep_days, keep_count, disk_budget, dry_run } = self;
        let (keep_days, keep_count) = (keep_days.map(u64::from), keep_count.map(u64::from));
        workspace.gc(&Collect { keep_days, keep_count, disk_budget, dry_run })
    }
}

/// Check every stored object and row. Damage is an answer, not a failure of the request: `clean` says it.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct VerifyStore {
    /// A chain head noted earlier, 64 hex digits; the timeline must still hold it.
    #[schemars(regex(pattern = "^[0-9a-fA-F]{64}$"))]
    pub head: Option<String>,
}

impl Operation for VerifyStore {
    type Answer = Verified;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        let is_head = |head: &String| head.len() == 64 && head.bytes().all(|byte| byte.is_ascii_hexdigit());
        match self.head.as_ref().is_none_or(is_head) {
            true => Ok(()),
            false => Err(Error::new(Code::Usage, "a chain head is 64 hex digits")),
        }
    }
}

impl Perform for VerifyStore {
    fn carry_out(self, workspace: &Workspace) -> Result<Verified> {
        workspace.verify_against(self.head.map(|head| head.to_ascii_lowercase()).as_deref())
    }
}

/// Ask whether everything Backsight needs is in order.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct Diagnose {}

impl Operation for Diagnose {
    type Answer = Diagnosis;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for Diagnose {
    fn carry_out(self, workspace: &Workspace) -> Result<Diagnosis> {
        let checks = workspace.doctor()?;
        Ok(Diagnosis { healthy: checks.iter().all(|check| check.state != CheckState::Problem), checks })
    }
}

/// Ask what changed on disk since the latest snapshot, and whose it can be.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadStatus {}

impl Operation for ReadStatus {
    type Answer = WorkspaceStatus;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for ReadStatus {
    fn carry_out(self, workspace: &Workspace) -> Result<WorkspaceStatus> {
        workspace.status()
    }
}

/// Set the workspace up.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct SetUpWorkspace {
    /// Where the store goes when there is none yet.
    #[serde(default)]
    pub store: StorePlace,
    /// Track the directory even if it is a home directory or the root of the file system.
    #[serde(default)]
    pub any_root: bool,
    /// Begin a new history where the one for the directory's path is of another directory that was there. Only a person at a
    /// terminal can say that.
    #[serde(skip)]
    pub anew: bool,
}

impl Operation for SetUpWorkspace {
    type Answer = SetUp;
    const EFFECT: Effect = Effect::RecordsOnce;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for SetUpWorkspace {
    fn carry_out(self, workspace: &Workspace) -> Result<SetUp> {
        let shown = |path: &Path| quote(path.as_os_str().as_bytes());
        let created = workspace.init(&Init { store: self.store, any_root: self.any_root, anew: self.anew })?;
        let store = workspace.store_path()?.map(|store| shown(&store)).unwrap_or_default();
        Ok(SetUp { created, root: shown(workspace.root()), store })
    }
}

/// List every setting with its value, default and meaning.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListSettings {}

impl Operation for ListSettings {
    type Answer = SettingList;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;
}

impl Perform for ListSettings {
    fn carry_out(self, workspace: &Workspace) -> Result<SettingList> {
        Ok(SettingList { settings: workspace.config_list()? })
    }
}

/// Read one setting.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ReadSetting {
    /// Its name.
    #[schemars(example = &"keep_days")]
    pub key: String,
}

impl Operation for ReadSetting {
    type Answer = ConfigEntry;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("key", &self.key)
    }
}

impl Perform for ReadSetting {
    fn carry_out(self, workspace: &Workspace) -> Result<ConfigEntry> {
        workspace.config_get(&self.key)
    }
}

/// Change one setting.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ChangeSetting {
    /// Its name.
    #[schemars(example = &"keep_days")]
    pub key: String,
    /// Its new value, as text.
    #[schemars(example = &"30")]
    pub value: String,
}

impl Operation for ChangeSetting {
    type Answer = ConfigEntry;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForDisk;

    fn check(&self) -> Result<()> {
        short_enough("key", &self.key)?;
        short_enough("value", &self.value)
    }
}

impl Perform for ChangeSetting {
    fn carry_out(self, workspace: &Workspace) -> Result<ConfigEntry> {
        workspace.config_set(&self.key, &self.value)
    }
}

//! How a workspace carries out the operations of the browser lane: what they keep is in its store.

use backsight_browser::Health;
use backsight_browser::baseline::{BaselineEntry, Comparison};
use backsight_browser::entry::{Entry, LogPage};
use backsight_browser::har::Har;
use backsight_browser::report::Changes;
use backsight_browser::request::*;

use super::Perform;
use crate::report::{
    BaselineList, BrowserStatus, CheckpointList, CheckpointMade, Deleted, PageKeyRenewed, RuleList, RuleSwitched,
    RulesAdded,
};
use crate::{Result, Workspace};

impl Perform for AttachBrowser {
    fn carry_out(self, workspace: &Workspace) -> Result<BrowserStatus> {
        workspace.attach_browser(&self)
    }
}

impl Perform for DetachBrowser {
    fn carry_out(self, workspace: &Workspace) -> Result<BrowserStatus> {
        workspace.detach_browser()
    }
}

impl Perform for ReadBrowserStatus {
    fn carry_out(self, workspace: &Workspace) -> Result<BrowserStatus> {
        workspace.browser_status()
    }
}

impl Perform for RenewPageKey {
    fn carry_out(self, workspace: &Workspace) -> Result<PageKeyRenewed> {
        Ok(PageKeyRenewed { ingest_key: workspace.renew_page_key()? })
    }
}

impl Perform for ReadAppChanges {
    fn carry_out(self, workspace: &Workspace) -> Result<Changes> {
        let ReadAppChanges { question, include } = self;
        workspace.browser_changes(question.client(), &question.ask(include))
    }
}

impl Perform for ReadAppLog {
    fn carry_out(self, workspace: &Workspace) -> Result<LogPage> {
        let client = self.client().to_owned();
        workspace.browser_log(&client, &self.ask())
    }
}

impl Perform for ReadEntry {
    fn carry_out(self, workspace: &Workspace) -> Result<Entry> {
        workspace.browser_entry(&self.id)
    }
}

impl Perform for ReadArchive {
    fn carry_out(self, workspace: &Workspace) -> Result<Har> {
        workspace.browser_har()
    }
}

impl Perform for ReadAppHealth {
    fn carry_out(self, workspace: &Workspace) -> Result<Health> {
        workspace.browser_health(self.client(), self.checkpoint.as_deref())
    }
}

impl Perform for CreateCheckpoint {
    fn carry_out(self, workspace: &Workspace) -> Result<CheckpointMade> {
        workspace.create_checkpoint(&self.name, self.baseline.as_deref())
    }
}

impl Perform for ListCheckpoints {
    fn carry_out(self, workspace: &Workspace) -> Result<CheckpointList> {
        workspace.checkpoints()
    }
}

impl Perform for DeleteCheckpoint {
    fn carry_out(self, workspace: &Workspace) -> Result<Deleted> {
        workspace.delete_checkpoint(&self.name)
    }
}

impl Perform for ListRules {
    fn carry_out(self, workspace: &Workspace) -> Result<RuleList> {
        workspace.noise_rules()
    }
}

impl Perform for AddRules {
    fn carry_out(self, workspace: &Workspace) -> Result<RulesAdded> {
        workspace.add_noise_rules(self.rules()?)
    }
}

impl Perform for RemoveRule {
    fn carry_out(self, workspace: &Workspace) -> Result<Deleted> {
        workspace.remove_noise_rule(&self.id)
    }
}

impl Perform for EnableRule {
    fn carry_out(self, workspace: &Workspace) -> Result<RuleSwitched> {
        Ok(RuleSwitched { rule: workspace.enable_noise_rule(&self.id, true)? })
    }
}

impl Perform for DisableRule {
    fn carry_out(self, workspace: &Workspace) -> Result<RuleSwitched> {
        Ok(RuleSwitched { rule: workspace.enable_noise_rule(&self.id, false)? })
    }
}

impl Perform for SaveBaseline {
    fn carry_out(self, workspace: &Workspace) -> Result<BaselineEntry> {
        workspace.save_baseline(&self.name)
    }
}

impl Perform for CompareBaseline {
    fn carry_out(self, workspace: &Workspace) -> Result<Comparison> {
        workspace.compare_baseline(&self.name)
    }
}

impl Perform for ListBaselines {
    fn carry_out(self, workspace: &Workspace) -> Result<BaselineList> {
        workspace.baselines()
    }
}

impl Perform for DeleteBaseline {
    fn carry_out(self, workspace: &Workspace) -> Result<Deleted> {
        workspace.delete_baseline(&self.name)
    }
}

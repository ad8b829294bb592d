//! What is kept of the app under a name: checkpoints, noise rules, baselines.

use backsight_core::{Code, Effect, Error, Operation, Result, Waits, countable, short_enough};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::answer::{BaselineList, CheckpointList, CheckpointMade, Deleted, RuleList, RuleSwitched, RulesAdded};
use crate::baseline::{BaselineEntry, Comparison};
use crate::noise::NewRule;

/// Give this moment of the app a name; one of the same name is replaced.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CreateCheckpoint {
    /// Its name: lowercase letters, digits and underscores, at most 50.
    #[schemars(example = &"session_start")]
    pub name: String,
    /// The baseline to compare with, instead of what was known at this moment.
    pub baseline: Option<String>,
}

impl Operation for CreateCheckpoint {
    type Answer = CheckpointMade;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        short_enough("name", &self.name)?;
        short_enough("baseline", self.baseline.as_deref().unwrap_or_default())
    }
}

/// List the named checkpoints, oldest first.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListCheckpoints {}

impl Operation for ListCheckpoints {
    type Answer = CheckpointList;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForBrowser;
}

/// Forget a named checkpoint.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct DeleteCheckpoint {
    /// Its name.
    pub name: String,
}

impl Operation for DeleteCheckpoint {
    type Answer = Deleted;
    const EFFECT: Effect = Effect::Removes;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        short_enough("name", &self.name)
    }
}

/// List the noise rules, with how much each kept out.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListRules {}

impl Operation for ListRules {
    type Answer = RuleList;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForBrowser;
}

/// Add noise rules; all or none.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct AddRules {
    /// What is to be noise. One that cannot be read is refused like one that cannot be used, and not as a request that
    /// cannot be read.
    #[schemars(with = "Vec<NewRule>", length(min = 1))]
    pub rules: Vec<Value>,
}

impl AddRules {
    /// The rules.
    pub fn rules(self) -> Result<Vec<NewRule>> {
        let read = |(position, rule): (usize, Value)| {
            serde_json::from_value(rule).map_err(|error| {
                Error::new(Code::InvalidRule, format!("noise rule {} cannot be read: {error}", position + 1))
                    .with_hint("no rule was added; correct this one and send all of them again")
            })
        };
        self.rules.into_iter().enumerate().map(read).collect()
    }
}

impl Operation for AddRules {
    type Answer = RulesAdded;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        if self.rules.is_empty() {
            return Err(Error::new(Code::Usage, "`rules` is empty: it says which rules to add"));
        }
        countable("rules", self.rules.len())
    }
}

/// Remove a noise rule that was added.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct RemoveRule {
    /// The rule's id.
    pub id: String,
}

impl Operation for RemoveRule {
    type Answer = Deleted;
    const EFFECT: Effect = Effect::Removes;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        short_enough("id", &self.id)
    }
}

/// Switch a noise rule on.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct EnableRule {
    /// The rule's id.
    pub id: String,
}

impl Operation for EnableRule {
    type Answer = RuleSwitched;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        short_enough("id", &self.id)
    }
}

/// Switch a noise rule off, also one that is built in.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct DisableRule {
    /// The rule's id.
    pub id: String,
}

impl Operation for DisableRule {
    type Answer = RuleSwitched;
    const EFFECT: Effect = Effect::Removes;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        short_enough("id", &self.id)
    }
}

/// Save how the app behaves now; a baseline of the same name is replaced.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct SaveBaseline {
    /// Its name: lowercase letters, digits and underscores, at most 50.
    #[schemars(example = &"baseline_login")]
    pub name: String,
}

impl Operation for SaveBaseline {
    type Answer = BaselineEntry;
    const EFFECT: Effect = Effect::Records;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        short_enough("name", &self.name)
    }
}

/// Ask how the app differs from a baseline.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct CompareBaseline {
    /// The baseline.
    #[schemars(example = &"baseline_login")]
    pub name: String,
}

impl Operation for CompareBaseline {
    type Answer = Comparison;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        short_enough("name", &self.name)
    }
}

/// List the baselines.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct ListBaselines {}

impl Operation for ListBaselines {
    type Answer = BaselineList;
    const EFFECT: Effect = Effect::Reads;
    const WAITS: Waits = Waits::ForBrowser;
}

/// Forget a baseline.
#[derive(Clone, Debug, Default, JsonSchema, Serialize, Deserialize)]
pub struct DeleteBaseline {
    /// Its name.
    pub name: String,
}

impl Operation for DeleteBaseline {
    type Answer = Deleted;
    const EFFECT: Effect = Effect::Removes;
    const WAITS: Waits = Waits::ForBrowser;

    fn check(&self) -> Result<()> {
        short_enough("name", &self.name)
    }
}

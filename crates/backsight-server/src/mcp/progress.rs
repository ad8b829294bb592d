//! How far a call is, told to the client that asked for it: in numbers that are those of the words, and not more often
//! than a person can read.

use std::time::Duration;

use rmcp::model::{ProgressNotificationParam, ProgressToken};
use rmcp::service::{Peer, RoleServer};
use tokio::sync::mpsc;
use tokio::time::Instant;

use crate::door::Said;

/// How long a client may take to take note of progress before it is told no more of it.
const PATIENCE: Duration = Duration::from_millis(200);
/// How long it is told nothing more after each note.
const PAUSE: Duration = Duration::from_millis(100);
/// By how much the number grows where it only says that work goes on.
const SIGN_OF_LIFE: f64 = 0.001;

/// Passes progress on until the work ends; who gave no token is told nothing.
pub async fn tell(mut heard: mpsc::Receiver<Said>, token: Option<ProgressToken>, peer: &Peer<RoleServer>) {
    let Some(token) = token else {
        while heard.recv().await.is_some() {}
        return;
    };
    let mut numbers = Numbers::default();
    let mut may_tell = Instant::now();
    while let Some(first) = heard.recv().await {
        let Some(said) = newest(&mut heard, first, may_tell).await else { return };
        let note = numbers.note(token.clone(), said);
        // Who takes no more of it, because the connection ends, must not keep the work from ending.
        if !matches!(tokio::time::timeout(PATIENCE, peer.notify_progress(note)).await, Ok(Ok(()))) {
            break;
        }
        may_tell = Instant::now() + PAUSE;
    }
    while heard.recv().await.is_some() {}
}

/// What was said last when it is time to tell it; nothing when the work ends before.
async fn newest(heard: &mut mpsc::Receiver<Said>, mut said: Said, when: Instant) -> Option<Said> {
    loop {
        tokio::select! {
            biased;
            () = tokio::time::sleep_until(when) => return Some(said),
            next = heard.recv() => said = next?,
        }
    }
}

/// The numbers of one call's notes. The protocol wants them to grow, and the phases of a call each count from the
/// beginning: where a count cannot be told, the number says only that work goes on, and of no total.
#[derive(Default)]
struct Numbers {
    last: f64,
}

impl Numbers {
    fn note(&mut self, token: ProgressToken, said: Said) -> ProgressNotificationParam {
        let counted = said.total.filter(|&total| said.done > self.last && said.done <= total);
        self.last = if counted.is_some() { said.done } else { self.last + SIGN_OF_LIFE };
        let mut note = ProgressNotificationParam::new(token, self.last);
        note.total = counted;
        note.message = Some(said.message);
        note
    }
}

#[cfg(test)]
mod tests {
    use rmcp::model::NumberOrString;

    use super::*;

    fn said(done: f64, total: Option<f64>) -> Said {
        Said { done, total, message: format!("{done}") }
    }

    #[test]
    fn a_total_comes_only_with_the_number_of_the_words() {
        let phases = [
            said(20_000.0, None),
            said(39_000.0, None),
            said(0.0, Some(39_000.0)),
            said(23_296.0, Some(39_000.0)),
            said(39_000.0, Some(39_000.0)),
            said(0.0, Some(2500.0)),
            said(2500.0, Some(2500.0)),
            said(40_000.0, Some(50_000.0)),
        ];
        let mut numbers = Numbers::default();
        let token = ProgressToken(NumberOrString::Number(1));
        let notes: Vec<_> = phases.iter().map(|said| numbers.note(token.clone(), said.clone())).collect();
        assert!(notes.windows(2).all(|pair| pair[1].progress > pair[0].progress), "{notes:?}");
        for (said, note) in phases.iter().zip(&notes) {
            assert!(note.total.is_none() || (note.progress, note.total) == (said.done, said.total), "{note:?}");
        }
        let counted: Vec<f64> = notes.iter().filter(|note| note.total.is_some()).map(|note| note.progress).collect();
        assert_eq!(counted, [23_296.0, 39_000.0, 40_000.0]);
    }

    #[tokio::test]
    async fn between_two_notes_only_the_newest_is_kept() {
        let (says, mut heard) = mpsc::channel(64);
        for done in 1..40 {
            says.send(said(f64::from(done), None)).await.unwrap();
        }
        let told = newest(&mut heard, said(0.0, None), Instant::now() + PAUSE).await;
        assert_eq!(told, Some(said(39.0, None)));
        drop(says);
        assert_eq!(
            newest(&mut heard, said(40.0, None), Instant::now() + PAUSE).await,
            None,
            "the answer comes instead"
        );
    }
}

//! To come.
use crate::lab::*;
use crate::picture::*;
use crate::plans::*;
use std::time::{Duration, Instant};
#[test]
fn timing() {
    let lab = Lab::new();
    let s = Scenario::new(&lab, large(&lab), backsight::report::Kind::Restore, &restore_first);
    let mut t = [Duration::ZERO; 9];
    let mut lap = |i: usize, from: &mut Instant| {
        t[i] += from.elapsed();
        *from = Instant::now();
    };
    for n in (0..1396).step_by(30) {
        let mut c = Instant::now();
        let copy = lab.copy(&s.fixture);
        lap(0, &mut c);
        let _ = stop_at(&copy, n, s.action);
        lap(1, &mut c);
        let w = open(&copy);
        w.log(&Default::default()).unwrap();
        lap(2, &mut c);
        w.status().unwrap();
        lap(3, &mut c);
        Picture::of(&copy);
        lap(4, &mut c);
        leftovers(&copy, Strictness::Opened);
        lap(5, &mut c);
        damage(&w);
        lap(6, &mut c);
        drop(w);
        lap(7, &mut c);
        drop(copy);
        lap(8, &mut c);
    }
    println!(
        "copy {:?} stop {:?} recover {:?} status {:?} picture {:?} left {:?} verify {:?} close {:?} rm {:?}",
        t[0] / 47,
        t[1] / 47,
        t[2] / 47,
        t[3] / 47,
        t[4] / 47,
        t[5] / 47,
        t[6] / 47,
        t[7] / 47,
        t[8] / 47
    );
}

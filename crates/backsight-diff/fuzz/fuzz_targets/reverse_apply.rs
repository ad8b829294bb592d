//! Any two texts, and the diff between them.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| backsight_diff_fuzz::reverse_apply(input));

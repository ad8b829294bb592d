//! Any three texts, merged.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| backsight_diff_fuzz::merge(input));

//! Any bytes, read as a diff.

#![no_main]

libfuzzer_sys::fuzz_target!(|input: &[u8]| backsight_diff_fuzz::parse(input));

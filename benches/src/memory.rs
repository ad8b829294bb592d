//! Peak memory of a process, from the kernel's own high-water mark.

use std::fs;
use std::process::{Command, Stdio};
use std::time::Duration;

use crate::Result;

/// Runs to the end and answers the most resident memory it ever had, in bytes.
///
/// `VmHWM` only ever rises and is gone once the process has ended, so it is read every millisecond: what is missed is
/// what the process grew by in its last millisecond. The exact figure (`wait4`) would need unsafe code.
pub fn peak(command: &mut Command) -> Result<u64> {
    let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).spawn()?;
    let status_file = format!("/proc/{}/status", child.id());
    let mut peak = 0;
    let status = loop {
        peak = peak.max(fs::read_to_string(&status_file).ok().and_then(|text| high_water_mark(&text)).unwrap_or(0));
        match child.try_wait()? {
            Some(status) => break status,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
    };
    match (status.success(), peak) {
        (false, _) => Err(format!("{command:?} ended with {status}").into()),
        (true, 0) => Err(format!("cannot read the peak memory of {command:?} from {status_file}").into()),
        (true, peak) => Ok(peak),
    }
}

fn high_water_mark(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix(" kB")?.trim().parse().ok()?;
    Some(kilobytes * 1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mark_is_read_from_the_line_the_kernel_writes() {
        assert_eq!(high_water_mark("VmPeak:\t  9 kB\nVmHWM:\t    1536 kB\nVmRSS:\t 1 kB\n"), Some(1_536 * 1_024));
        assert_eq!(high_water_mark("State:\tZ (zombie)\n"), None);
    }
}

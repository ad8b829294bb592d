//! The allocator's habits in a process that lives for days. Left alone, glibc gives every thread a heap of its own and keeps in
//! each what its largest work ever needed: with ten threads a server held four times what it used, and more with every hour.

/// At most two heaps, and what is free at the end of one goes back to the system. To be called before there are threads.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[allow(unsafe_code, reason = "no crate that is here offers this call without it")]
pub fn settle() {
    /// Bytes that a heap may keep at its end. To say so also fixes from which size on room is mapped by itself.
    const KEPT: libc::c_int = 1 << 20;
    const HEAPS: libc::c_int = 2;
    // SAFETY: two numbers go in, and only the allocator's own settings change. One that it does not take is left as it was.
    unsafe {
        libc::mallopt(libc::M_ARENA_MAX, HEAPS);
        libc::mallopt(libc::M_TRIM_THRESHOLD, KEPT);
    }
}

/// Other allocators are left as they are.
#[cfg(not(all(target_os = "linux", target_env = "gnu")))]
pub fn settle() {}

//! Who may use a file beside its owner: what its permission bits do not say. The group's bits mean nothing without the
//! group, and where a file has an access control list they are not the group's at all but the list's mask.
//!
//! A snapshot keeps this beside the permission bits, for what has need of it alone. It is no part of what makes two files
//! equal: a list that changed alone is no change of the file. `settled` decides what a file gets that a restore puts down:
//! never more than it had then or has now.

use std::collections::HashSet;
use std::fmt::{self, Write};
use std::hash::{Hash, Hasher};
use std::sync::{Mutex, OnceLock, PoisonError};

use serde::{Deserialize, Serialize};

use crate::tree::Node;

/// The owner, the group and the lists of a file, or nothing where a snapshot does not say.
#[derive(Clone, Copy, Debug, Default)]
pub struct Access(Option<&'static Holder>);

/// Contents and permission bits make two files equal, and this does not.
impl PartialEq for Access {
    fn eq(&self, _: &Access) -> bool {
        true
    }
}

impl Eq for Access {}

impl Hash for Access {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// Whom a file belongs to, and its lists.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Holder {
    pub(crate) uid: u32,
    pub(crate) gid: u32,
    /// Its access control list, unless that says no more than the bits.
    pub(crate) list: Option<AccessList>,
    /// Of a directory, the list that it gives to what is made in it.
    pub(crate) inherited: Option<AccessList>,
}

/// So many entries of lists are remembered in one process. A list beyond that is as one that no snapshot holds.
const MOST_ENTRIES: usize = 1 << 20;

/// All holders that were met: few in any workspace, and each is in many files.
#[derive(Default)]
struct Met {
    holders: HashSet<&'static Holder>,
    entries: usize,
}

static MET: OnceLock<Mutex<Met>> = OnceLock::new();

impl Access {
    pub(crate) fn new(holder: Holder) -> Access {
        let mut met = MET.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = met.holders.get(&holder) {
            return Access(Some(known));
        }
        let lists = [&holder.list, &holder.inherited];
        let entries = 1 + lists.into_iter().flatten().map(|list| list.entries.len()).sum::<usize>();
        if met.entries + entries > MOST_ENTRIES {
            return Access(None);
        }
        met.entries += entries;
        let kept: &'static Holder = Box::leak(Box::new(holder));
        met.holders.insert(kept);
        Access(Some(kept))
    }

    pub(crate) fn holder(&self) -> Option<&'static Holder> {
        self.0
    }

    fn list(&self) -> Option<&'static AccessList> {
        self.0.and_then(|holder| holder.list.as_ref())
    }

    fn gid(&self) -> Option<u32> {
        self.0.map(|holder| holder.gid)
    }

    /// Whether both are known to mean the same people by the bits of a group.
    pub(crate) fn is_for_the_same(&self, other: &Access) -> bool {
        let lists = match (self.list(), other.list()) {
            (None, None) => true,
            (Some(one), Some(other)) => one.names_the_same(other),
            _ => false,
        };
        lists && self.gid().is_some() && self.gid() == other.gid()
    }

    /// Whether nothing is known. What has no need of it never is.
    pub(crate) fn is_unknown(&self) -> bool {
        self.0.is_none()
    }
}

/// Whether the bits alone do not say who may do what.
pub(crate) fn needs_holder(mode: u16) -> bool {
    group_bits(mode) != mode & 0o7 || mode & 0o6000 != 0
}

fn group_bits(mode: u16) -> u16 {
    mode >> 3 & 0o7
}

fn with_group_bits(mode: u16, bits: u16) -> u16 {
    mode & !0o070 | (bits & 0o7) << 3
}

/// Whom an entry of a list is about, in the order in which the kernel wants them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
enum Whom {
    Owner,
    User(u32),
    OwnGroup,
    Group(u32),
    Mask,
    Others,
}

/// An access control list as the kernel accepts it.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct AccessList {
    entries: Vec<(Whom, u8)>,
}

/// The version of the kernel's encoding.
const VERSION: [u8; 4] = [2, 0, 0, 0];
/// The id of entries that have none.
const NO_ID: u32 = u32::MAX;

impl AccessList {
    /// Reads what the kernel says; nothing for a list that says no more than permission bits, or that is none.
    pub(crate) fn from_kernel(bytes: &[u8]) -> Option<AccessList> {
        let entries = bytes.strip_prefix(&VERSION)?;
        let entries = entries.chunks(8).map(|entry| {
            let &[t0, t1, p0, p1, i0, i1, i2, i3] = entry else { return None };
            let id = u32::from_le_bytes([i0, i1, i2, i3]);
            let whom = match u16::from_le_bytes([t0, t1]) {
                0x01 => Whom::Owner,
                0x02 => Whom::User(id),
                0x04 => Whom::OwnGroup,
                0x08 => Whom::Group(id),
                0x10 => Whom::Mask,
                0x20 => Whom::Others,
                _ => return None,
            };
            Some((whom, u8::try_from(u16::from_le_bytes([p0, p1])).ok()?))
        });
        AccessList::new(entries.collect::<Option<_>>()?).filter(|list| list.entries.len() > 3)
    }

    pub(crate) fn to_kernel(&self) -> Vec<u8> {
        let mut bytes = VERSION.to_vec();
        for (whom, permissions) in &self.entries {
            let (tag, id): (u16, u32) = match *whom {
                Whom::Owner => (0x01, NO_ID),
                Whom::User(id) => (0x02, id),
                Whom::OwnGroup => (0x04, NO_ID),
                Whom::Group(id) => (0x08, id),
                Whom::Mask => (0x10, NO_ID),
                Whom::Others => (0x20, NO_ID),
            };
            bytes.extend(tag.to_le_bytes());
            bytes.extend(u16::from(*permissions).to_le_bytes());
            bytes.extend(id.to_le_bytes());
        }
        bytes
    }

    fn new(entries: Vec<(Whom, u8)>) -> Option<AccessList> {
        let has = |wanted: Whom| entries.iter().any(|(whom, _)| *whom == wanted);
        let is_named = entries.iter().any(|(whom, _)| matches!(whom, Whom::User(_) | Whom::Group(_)));
        let is_whole = has(Whom::Owner) && has(Whom::OwnGroup) && has(Whom::Others) && (has(Whom::Mask) || !is_named);
        let is_sorted = entries.windows(2).all(|pair| pair[0].0 < pair[1].0);
        let are_bits = entries.iter().all(|(_, permissions)| *permissions <= 7);
        (is_whole && is_sorted && are_bits).then_some(AccessList { entries })
    }

    /// What the file's own group may do with it when its group bits are `mask`.
    pub(crate) fn of_group(&self, mask: u16) -> u16 {
        let own =
            self.entries.iter().find(|(whom, _)| *whom == Whom::OwnGroup).map_or(0, |(_, permissions)| *permissions);
        u16::from(own) & mask
    }

    /// Whether it names the same with the same permissions; what permission bits say of a file is not asked.
    fn names_the_same(&self, other: &AccessList) -> bool {
        let named = |list: &AccessList| -> Vec<(Whom, u8)> {
            let by_bits = |whom: &Whom| matches!(whom, Whom::Owner | Whom::Mask | Whom::Others);
            list.entries.iter().filter(|(whom, _)| !by_bits(whom)).copied().collect()
        };
        named(self) == named(other)
    }

    fn parse(text: &str) -> Option<AccessList> {
        let entry = |text: &str| {
            let (whom, permissions) = text.split_once(':')?;
            let id = |text: &str| text.parse::<u32>().ok();
            let whom = match whom.split_at_checked(1)? {
                ("u", "") => Whom::Owner,
                ("u", user) => Whom::User(id(user)?),
                ("g", "") => Whom::OwnGroup,
                ("g", group) => Whom::Group(id(group)?),
                ("m", "") => Whom::Mask,
                ("o", "") => Whom::Others,
                _ => return None,
            };
            Some((whom, permissions.parse::<u8>().ok()?))
        };
        AccessList::new(text.split(',').map(entry).collect::<Option<_>>()?)
    }
}

/// As `u:6,u1000:6,g:0,m:6,o:0`.
impl fmt::Display for AccessList {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (whom, permissions)) in self.entries.iter().enumerate() {
            if index > 0 {
                text.write_char(',')?;
            }
            match whom {
                Whom::Owner => write!(text, "u:{permissions}"),
                Whom::User(id) => write!(text, "u{id}:{permissions}"),
                Whom::OwnGroup => write!(text, "g:{permissions}"),
                Whom::Group(id) => write!(text, "g{id}:{permissions}"),
                Whom::Mask => write!(text, "m:{permissions}"),
                Whom::Others => write!(text, "o:{permissions}"),
            }?;
        }
        Ok(())
    }
}

/// As `UID.GID`, with lists `UID.GID;LIST;INHERITED`, either of which may be empty.
impl fmt::Display for Holder {
    fn fmt(&self, text: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(text, "{}.{}", self.uid, self.gid)?;
        if self.list.is_none() && self.inherited.is_none() {
            return Ok(());
        }
        for list in [&self.list, &self.inherited] {
            text.write_char(';')?;
            list.iter().try_for_each(|list| write!(text, "{list}"))?;
        }
        Ok(())
    }
}

impl Holder {
    pub(crate) fn parse(text: &str) -> Option<Holder> {
        let mut parts = text.split(';');
        let (uid, gid) = parts.next()?.split_once('.')?;
        let mut list = || match parts.next() {
            None | Some("") => Some(None),
            Some(text) => AccessList::parse(text).map(Some),
        };
        let holder = Holder { uid: uid.parse().ok()?, gid: gid.parse().ok()?, list: list()?, inherited: list()? };
        parts.next().is_none().then_some(holder)
    }
}

impl Serialize for Access {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.map(|holder| holder.to_string()).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Access {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Access, D::Error> {
        let text = Option::<String>::deserialize(deserializer)?;
        let Some(text) = text else { return Ok(Access::default()) };
        let holder = Holder::parse(&text).ok_or_else(|| serde::de::Error::custom("not a holder of a file"))?;
        Ok(Access::new(holder))
    }
}

/// What a path gets for which a plan has `after`, where `before` stands now: the same or fewer permissions, and the
/// holder it will have.
pub(crate) fn settled(before: Option<Node>, after: Node) -> Node {
    let (standing, is_same_file) = match (before, after) {
        (Some(Node::File { mode, access, id }), Node::File { id: wanted, .. }) => (Some((mode, access)), id == wanted),
        (Some(Node::Directory { mode, access }), Node::Directory { .. }) => (Some((mode, access)), true),
        _ => (None, false),
    };
    let settle = |mode: u16, access: Access, is_directory: bool| match standing {
        Some(standing) => replacing(standing, (mode, access), is_same_file),
        None => (coming_anew(mode, access, is_directory), access),
    };
    match after {
        Node::File { mode, id, access } => {
            let (mode, access) = settle(mode, access, false);
            Node::File { mode, id, access }
        }
        Node::Directory { mode, access } => {
            let (mode, access) = settle(mode, access, true);
            Node::Directory { mode, access }
        }
        Node::Symlink { .. } => after,
    }
}

/// Where no snapshot says which group or list the bits were for, no group gets more than everybody has.
fn coming_anew(mode: u16, access: Access, is_directory: bool) -> u16 {
    if !access.is_unknown() {
        return mode;
    }
    let set_id = if is_directory { 0 } else { mode & 0o6000 };
    with_group_bits(mode, group_bits(mode) & mode) & !set_id
}

/// Keeps what stands at the path, owner, group and list, but for a list that was lost: where the bits were for others than
/// they would be for now, nobody gets more by them than the file allows now.
fn replacing((mode_now, now): (u16, Access), (mode, then): (u16, Access), is_same_file: bool) -> (u16, Access) {
    let is_same_group = match (then.gid(), now.gid()) {
        (Some(then), Some(now)) => then == now,
        // Either had no need of a group.
        _ => !(then.is_unknown() && needs_holder(mode)),
    };
    match (then.list(), now.list()) {
        (Some(list), None) if is_same_group && !is_same_file => (mode, Access::new(holder_with(now, then, list))),
        (Some(list), None) => {
            let most = if is_same_group { list.of_group(group_bits(mode)) } else { 0 };
            (capped(mode, most | group_bits(mode_now)), now)
        }
        (Some(then), Some(list)) if is_same_group && then.names_the_same(list) => (mode, now),
        (_, Some(_)) => (with_group_bits(mode, group_bits(mode) & group_bits(mode_now)), now),
        (None, None) if is_same_group => (mode, if now.is_unknown() { then } else { now }),
        (None, None) => (capped(mode, group_bits(mode_now)) & !shut_out(mode), now),
    }
}

/// What everybody has and the group had not: bits that shut a group out. Where it is another group now, that one is shut out,
/// and the one that was would be everybody.
fn shut_out(mode: u16) -> u16 {
    mode & 0o7 & !group_bits(mode)
}

/// The group gets of its bits what `most` allows, or what everybody has.
fn capped(mode: u16, most: u16) -> u16 {
    with_group_bits(mode, group_bits(mode) & (most | mode & 0o7))
}

/// The holder of what stands, with a list that it lost.
fn holder_with(now: Access, then: Access, list: &AccessList) -> Holder {
    let owner = now.holder().or(then.holder());
    let (uid, gid) = owner.map_or((NO_ID, NO_ID), |holder| (holder.uid, holder.gid));
    Holder { uid, gid, list: Some(list.clone()), inherited: now.holder().and_then(|holder| holder.inherited.clone()) }
}

#[cfg(test)]
mod tests {
    use backsight_core::ObjectId;

    use super::*;

    fn holder(text: &str) -> Access {
        Access::new(Holder::parse(text).unwrap_or_else(|| panic!("{text} is no holder")))
    }

    fn file(mode: u16, content: u8, access: Access) -> Node {
        Node::File { mode, id: ObjectId::from_bytes([content; 20]), access }
    }

    /// The bits a file gets that had `then` and has `now`, and the list it gets.
    fn gets(then: (u16, Access), now: Option<(u16, Access)>, is_same: bool) -> (u16, Option<String>) {
        let before = now.map(|(mode, access)| file(mode, if is_same { 1 } else { 2 }, access));
        let Node::File { mode, access, .. } = settled(before, file(then.0, 1, then.1)) else { panic!("a file") };
        (mode, access.list().map(ToString::to_string))
    }

    const LIST: &str = "u:6,u1000:6,g:0,m:6,o:0";

    #[test]
    fn texts_and_the_kernels_bytes_are_read_back() {
        for text in ["0.0", "1000.50", "1.2;u:6,u1000:6,g:0,g7:4,m:6,o:0;", "1.2;;u:7,g:5,m:5,o:5"] {
            let read = Holder::parse(text).unwrap();
            assert_eq!(read.to_string(), text);
            assert!(std::ptr::eq(Access::new(read.clone()).holder().unwrap(), Access::new(read).holder().unwrap()));
        }
        let list = AccessList::parse(LIST).unwrap();
        assert_eq!(AccessList::from_kernel(&list.to_kernel()), Some(list.clone()));
        let plain = AccessList::parse("u:6,g:4,o:4").unwrap();
        assert_eq!(AccessList::from_kernel(&plain.to_kernel()), None, "it says what the bits say");
        for cut in 0..list.to_kernel().len() {
            assert_eq!(AccessList::from_kernel(&list.to_kernel()[..cut]).filter(|found| found == &list), None);
        }
        let wrong =
            ["", "1", "1.2;u:6", "1.2;u:6,g:0,o:8;", "1.2;g:0,u:6,o:0;", "1.2;u:6,u1:6,g:0,o:0;", "1.2;;;", "-1.2"];
        assert_eq!(wrong.iter().find(|text| Holder::parse(text).is_some()), None);
    }

    #[test]
    fn what_comes_anew_gets_what_is_recorded_or_what_everybody_has() {
        let unknown = Access::default();
        assert_eq!(gets((0o660, holder("1.2")), None, false), (0o660, None));
        assert_eq!(gets((0o4755, holder("1.2")), None, false), (0o4755, None));
        assert_eq!(gets((0o660, holder(&format!("1.2;{LIST};"))), None, false), (0o660, Some(LIST.to_owned())));
        let narrowed =
            [(0o660, 0o600), (0o664, 0o644), (0o6755, 0o755), (0o644, 0o644), (0o604, 0o604), (0o675, 0o655)];
        for (mode, expected) in narrowed {
            assert_eq!(gets((mode, unknown), None, false), (expected, None), "{mode:o}");
        }
        let directory = settled(None, Node::Directory { mode: 0o2775, access: unknown });
        assert_eq!(directory, Node::Directory { mode: 0o2755, access: unknown });
    }

    /// For each way to have had it and to have it now: the group's bits afterwards.
    #[test]
    fn what_is_replaced_gives_nobody_more_than_then_or_now() {
        let (unknown, plain, other) = (Access::default(), holder("1.2"), holder("1.3"));
        let listed = holder(&format!("1.2;{LIST};"));
        let another = holder("1.2;u:6,u1001:6,g:0,m:6,o:0;");
        let list = |text: &str| Some(text.to_owned());
        let cases = [
            ((0o660, plain), (0o600, plain), (0o660, None)),
            ((0o660, plain), (0o600, other), (0o600, None)),
            ((0o660, plain), (0o640, other), (0o640, None)),
            ((0o664, plain), (0o600, other), (0o644, None)),
            ((0o660, unknown), (0o600, plain), (0o600, None)),
            ((0o660, unknown), (0o640, plain), (0o640, None)),
            ((0o644, unknown), (0o600, plain), (0o644, None)),
            ((0o660, listed), (0o640, listed), (0o660, list(LIST))),
            ((0o660, listed), (0o600, plain), (0o660, list(LIST))),
            ((0o660, listed), (0o600, other), (0o600, None)),
            ((0o660, listed), (0o640, another), (0o640, list("u:6,u1001:6,g:0,m:6,o:0"))),
            ((0o660, plain), (0o640, listed), (0o640, list(LIST))),
            ((0o644, unknown), (0o600, listed), (0o604, list(LIST))),
        ];
        for (then, now, expected) in cases {
            assert_eq!(gets(then, Some(now), false), expected, "{then:?}, now {now:?}");
        }
        // Nothing but the bits is put back, in place.
        assert_eq!(gets((0o660, listed), Some((0o600, plain)), true), (0o600, None));
        assert_eq!(gets((0o660, listed), Some((0o640, plain)), true), (0o640, None));
    }
}

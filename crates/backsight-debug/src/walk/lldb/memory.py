"""Reads values of a native program where they lie. What a value is made of is worked out once for each type; from then on a value
is hashed from memory alone, without LLDB's own values and formatters, which are slow, and cut what they show. The containers of
libstdc++ and of Rust are known by their layout. What cannot be followed is said: the hash is then not of everything.

Nothing here is shown but what containers hold, and where. No function of the program is called."""
import re
import struct
import sys
import time
import zlib

import lldb

BLOCK = 1 << 14
LONGEST_STRING = 1 << 20
MOST_BYTES = 1 << 26
# Of a container that can only be walked, more than this is not walked to be shown.
MOST_WALKED = 4096
DEEPEST = 900


class TooMuch(Exception):
    pass


class Unreadable(Exception):
    pass


class TooLong(Unreadable):
    pass


class Memory:
    """The memory of the paused program, in blocks that are read once."""

    def __init__(self, process):
        self.process, self.blocks = process, {}
        # While there is a deadline, reading ends with it.
        self.deadline, self.wall, self.reads = None, None, 0

    def read(self, address, size):
        if size <= 0:
            return b''
        if size > MOST_BYTES:
            raise TooLong()
        if not 0 <= address <= (1 << 64) - size:
            # A pointer that says that it points nowhere, such as an empty `Weak` of Rust.
            raise Unreadable()
        self.reads += 1
        if self.reads & 1023 == 0 and self.is_late():
            raise TooMuch()
        first, last = address // BLOCK, (address + size - 1) // BLOCK
        if first == last:
            block = self.blocks.get(first)
            if block is None:
                block = self.blocks[first] = self.exact(first * BLOCK, BLOCK) or b''
            at = address - first * BLOCK
            if len(block) >= at + size:
                return block[at:at + size]
        data = self.exact(address, size)
        if data is None:
            raise Unreadable()
        return data

    def is_late(self):
        """By the work that was done, and by the clock, which is patient: the machine may be busy with other things."""
        return self.deadline is not None and (time.thread_time() > self.deadline or time.monotonic() > self.wall)

    def exact(self, address, size):
        error = lldb.SBError()
        data = self.process.ReadMemory(address, size, error)
        return data if error.Success() and data is not None and len(data) == size else None

    def word(self, address):
        return struct.unpack('<Q', self.read(address, 8))[0]

    def string(self, address, width):
        """Up to the zero at its end."""
        found, end = bytearray(), b'\0' * width
        while len(found) < LONGEST_STRING:
            # To the end of the block, which is read already; texts rarely reach further.
            size = BLOCK - address % BLOCK or BLOCK
            part = self.read(address, size - size % width or width)
            at = part.find(end) if width == 1 else next((at for at in range(0, len(part), width) if part[at:at + width] == end), -1)
            if at >= 0:
                return bytes(found + part[:at])
            found += part
            address += len(part)
        return None


class Held:
    """What a container holds: so many values of a type, or pairs of a key and a value, and where they are. `swift` hashes plain
    ones node by node: it is given where they lie in a node."""

    def __init__(self, form, length, kinds, places, walked=False, swift=None):
        self.form, self.length, self.kinds, self.places, self.walked, self.swift = form, length, kinds, places, walked, swift

    def chosen(self, head, tail, whole):
        """Positions and places of the first and the last."""
        if self.length <= max(head + tail, whole):
            return list(enumerate(self.places(0, self.length)))
        if self.walked and self.length > MOST_WALKED or self.form != 'e':
            return list(enumerate(self.places(0, head + tail)))
        last = self.length - tail
        return list(enumerate(self.places(0, head))) + list(enumerate(self.places(last, self.length), last))


class Plan:
    """How values of a type are hashed: runs of plain bytes, parts that lead elsewhere, or a container."""
    __slots__ = ('name', 'size', 'runs', 'parts', 'held', 'own', 'rows', 'partial', 'polymorphic')

    def __init__(self, name, size):
        self.name, self.size, self.runs, self.parts = name, size, [], []
        # `rows` hashes a plain array once more, for its runs.
        self.held = self.own = self.rows = None
        self.partial = self.polymorphic = False

    def is_plain(self):
        return not self.parts and self.held is None and self.own is None and not self.partial and not self.polymorphic

    def run(self, start, size):
        if self.runs and self.runs[-1][0] + self.runs[-1][1] == start:
            self.runs[-1] = (self.runs[-1][0], self.runs[-1][1] + size)
        elif size:
            self.runs.append((start, size))

    def include(self, offset, inner):
        self.partial |= inner.partial
        if inner.held is None and inner.own is None and not inner.polymorphic:
            for start, size in inner.runs:
                self.run(offset + start, size)
            self.parts += [(offset + start, part) for start, part in inner.parts]
        else:
            self.parts.append((offset, inner))


CPP = re.compile(r'^std::(?:__cxx11::|__debug::)?(basic_string|basic_string_view|vector|deque|list|forward_list|map|multimap|set|multiset|'
                 r'unordered_map|unordered_multimap|unordered_set|unordered_multiset|shared_ptr|weak_ptr|unique_ptr|function|'
                 r'optional|variant|initializer_list|span|valarray)<|^std::(any)$')
RUST = re.compile(r'^(?:alloc::vec::(Vec)<|alloc::collections::vec_deque::(VecDeque)<|alloc::collections::btree::map::(BTreeMap)<|'
                  r'std::collections::hash::map::(HashMap)<|std::collections::hash::set::(HashSet)<|hashbrown::map::(HashMap)<|'
                  r'hashbrown::set::(HashSet)<|alloc::collections::btree::set::(BTreeSet)<)')
COUNTED = re.compile(r'^alloc::(rc::Rc(Box|Inner)|sync::ArcInner)<')
CHARACTERS = {lldb.eBasicTypeChar: 1, lldb.eBasicTypeSignedChar: 1, lldb.eBasicTypeUnsignedChar: 1, lldb.eBasicTypeWChar: 4,
              lldb.eBasicTypeSignedWChar: 4, lldb.eBasicTypeUnsignedWChar: 4, lldb.eBasicTypeChar16: 2, lldb.eBasicTypeChar32: 4}
if hasattr(lldb, 'eBasicTypeChar8'):
    CHARACTERS[lldb.eBasicTypeChar8] = 1


def plain_type(kind):
    return kind.GetUnqualifiedType().GetCanonicalType().GetUnqualifiedType()


def is_known(kind):
    """LLDB puts `void` in the place of types that it cannot read."""
    return kind.IsValid() and kind.GetByteSize() > 0


def round_up(number, to):
    return (number + to - 1) // to * to


def alignment(kind):
    align = kind.GetByteAlign() if hasattr(kind, 'GetByteAlign') else 0
    return align or min(8, max(1, kind.GetByteSize()))


def field(kind, *names):
    """Where a member of a member is, and its type; looks into bases too."""
    offset = 0
    for name in names:
        found = member(plain_type(kind), name)
        if found is None:
            return None, None
        offset, kind = offset + found[0], found[1]
    return offset, kind


def member(kind, name):
    for at in range(kind.GetNumberOfFields()):
        one = kind.GetFieldAtIndex(at)
        if one.GetName() == name:
            return one.GetOffsetInBytes(), one.GetType()
    for at in range(kind.GetNumberOfDirectBaseClasses()):
        base = kind.GetDirectBaseClassAtIndex(at)
        found = member(plain_type(base.GetType()), name)
        if found is not None:
            return base.GetOffsetInBytes() + found[0], found[1]
    return None


def first_of(kind, *ways):
    for way in ways:
        offset, found = field(kind, *way)
        if offset is not None:
            return offset, found
    return None, None

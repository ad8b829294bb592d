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
    """What a container holds: so many values of a type, or pairs of a key and a value, and where they are."""

    def __init__(self, form, length, kinds, places, walked=False):
        self.form, self.length, self.kinds, self.places, self.walked = form, length, kinds, places, walked

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
                 r'optional|variant|initializer_list|span)<|^std::(any)$')
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


class Layouts:
    """The plans of the types met in one target."""

    def __init__(self, target, process):
        self.target, self.plans, self.memory = target, {}, Memory(process)
        self.dynamic, self.tables = {}, None

    def plan(self, kind):
        kind = plain_type(kind)
        name = kind.GetName() or ''
        # Closures of Rust and unnamed structures share their names.
        key = (name, kind.GetByteSize(), kind.GetNumberOfFields())
        plan = self.plans.get(key)
        if plan is None:
            plan = self.plans[key] = Plan(name, kind.GetByteSize())
            self.fill(plan, kind)
        return plan

    def fill(self, plan, kind):
        group = kind.GetTypeClass()
        if group in (lldb.eTypeClassBuiltin, lldb.eTypeClassEnumeration, lldb.eTypeClassComplexFloat, lldb.eTypeClassComplexInteger):
            plan.run(0, 10 if plan.name == 'long double' else plan.size)
        elif group in (lldb.eTypeClassPointer, lldb.eTypeClassReference, lldb.eTypeClassBlockPointer):
            self.pointer(plan, kind)
        elif group == lldb.eTypeClassArray:
            self.array(plan, kind)
        elif group == lldb.eTypeClassUnion:
            self.union(plan, kind)
        elif group in (lldb.eTypeClassStruct, lldb.eTypeClassClass):
            self.structure(plan, kind)
        elif group == lldb.eTypeClassMemberPointer:
            plan.run(0, plan.size)
        else:
            plan.run(0, plan.size)
            plan.partial = True

    def pointer(self, plan, kind):
        target = kind.GetPointeeType() if kind.IsPointerType() else kind.GetDereferencedType()
        self.points_to(plan, 0, target)

    def points_to(self, plan, offset, target):
        target = plain_type(target)
        if target.IsFunctionType() or target.GetName() in (None, 'void') or target.GetTypeClass() == lldb.eTypeClassFunction:
            return plan.run(offset, 8)
        width = CHARACTERS.get(target.GetBasicType())
        if width is not None:
            plan.own = lambda digest, address: digest.string(digest.memory.word(address + offset), width)
            return None
        # A type that refers to itself is being made: it is asked for when it is needed.
        plan.own = lambda digest, address: digest.pointed(digest.memory.word(address + offset), self.plan(target), target)
        return None

    def array(self, plan, kind):
        inner = self.plan(kind.GetArrayElementType())
        count = plan.size // inner.size if inner.size else 0
        if inner.is_plain() and inner.runs == [(0, inner.size)]:
            places = lambda address: range(address, address + plan.size, max(1, inner.size))
            plan.runs = [(0, plan.size)]
            plan.rows = lambda digest, address: digest.many(inner, places(address), True)
            return None
        plan.own = lambda digest, address: digest.many(inner, [address + at * inner.size for at in range(count)], True)
        return None

    def union(self, plan, kind):
        plan.run(0, plan.size)
        inner = [self.plan(kind.GetFieldAtIndex(at).GetType()) for at in range(kind.GetNumberOfFields())]
        plan.partial = any(one.parts or one.own or one.held or one.partial for one in inner)

    def structure(self, plan, kind):
        name = plan.name
        found = CPP.match(name)
        if found is not None:
            known = getattr(self, 'cpp_' + re.sub('^(unordered_)?(multi)?(map|set)$', r'\1\3', found.group(1) or found.group(2)), None)
            if known is not None and known(plan, kind) is not False:
                return None
            # Another version of the library: whatever is found of it is not known to be all.
            plan.partial = True
        found = RUST.match(name)
        if found is not None:
            known = getattr(self, 'rust_' + next(filter(None, found.groups())))
            if known(plan, kind) is not False:
                return None
            plan.partial = True
        fields = [kind.GetFieldAtIndex(at) for at in range(kind.GetNumberOfFields())]
        names = [one.GetName() for one in fields]
        if names[:2] == ['data_ptr', 'length']:
            return self.slice(plan, fields)
        if names == ['pointer', 'vtable']:
            plan.own = lambda digest, address: digest.dynamic_rust(digest.memory.word(address), digest.memory.word(address + 8))
            return None
        if names == ['$variants$']:
            return self.variants(plan, fields[0])
        self.members(plan, kind, fields)
        return None

    def members(self, plan, kind, fields):
        if not kind.IsTypeComplete() or plan.size == 0 and fields:
            plan.partial = plan.size != 0 or not kind.IsTypeComplete()
        plan.polymorphic = hasattr(kind, 'IsPolymorphicClass') and kind.IsPolymorphicClass()
        if kind.GetNumberOfVirtualBaseClasses():
            plan.partial = True
        for at in range(kind.GetNumberOfDirectBaseClasses()):
            base = kind.GetDirectBaseClassAtIndex(at)
            plan.include(base.GetOffsetInBytes(), self.of_base(base.GetType()))
        counted = COUNTED.match(plan.name)
        for one in fields:
            # How many refer to a value is not part of it.
            if counted and one.GetName() in ('strong', 'weak'):
                continue
            if one.IsBitfield():
                bits = one.GetOffsetInBits()
                plan.run(bits // 8, (bits % 8 + one.GetBitfieldSizeInBits() + 7) // 8)
            else:
                plan.include(one.GetOffsetInBytes(), self.plan(one.GetType()))

    def of_base(self, kind):
        """A base is of the class it says, whatever the object is."""
        plan = self.plan(kind)
        if not plan.polymorphic:
            return plan
        copy = Plan(plan.name, plan.size)
        copy.runs, copy.parts, copy.held, copy.own, copy.partial = plan.runs, plan.parts, plan.held, plan.own, plan.partial
        return copy

    # What follows are the containers of libstdc++.

    def cpp_basic_string(self, plan, kind):
        start, _ = field(kind, '_M_dataplus', '_M_p')
        length, _ = field(kind, '_M_string_length')
        width = CHARACTERS.get(plain_type(kind.GetTemplateArgumentType(0)).GetBasicType())
        if start is None or length is None or width is None:
            return False
        plan.own = lambda digest, address: digest.bytes(digest.memory.word(address + start), width * digest.memory.word(address + length))
        return True

    def cpp_basic_string_view(self, plan, kind):
        start, length = field(kind, '_M_str')[0], field(kind, '_M_len')[0]
        width = CHARACTERS.get(plain_type(kind.GetTemplateArgumentType(0)).GetBasicType())
        if start is None or length is None or width is None:
            return False
        plan.own = lambda digest, address: digest.bytes(digest.memory.word(address + start), width * digest.memory.word(address + length))
        return True

    def cpp_vector(self, plan, kind):
        element = kind.GetTemplateArgumentType(0)
        start, finish = field(kind, '_M_impl', '_M_start')[0], field(kind, '_M_impl', '_M_finish')[0]
        if start is None or finish is None or not element.IsValid():
            return False
        if plain_type(element).GetBasicType() == lldb.eBasicTypeBool:
            def bits(digest, address):
                first, last = digest.memory.word(address + start), digest.memory.word(address + finish)
                rest = digest.memory.word(address + finish + 8) & 0xffffffff
                data = digest.memory.read(first, max(0, last - first))
                over = digest.memory.word(last) & (1 << rest) - 1 if rest else 0
                return hash((zlib.crc32(data), over, rest, last - first))
            plan.own = bits
            return True
        return self.row(plan, element, lambda memory, address: between(memory, address + start, address + finish))

    def row(self, plan, element, ends):
        """Values one after the other; `ends` tells where they begin and where they end."""
        size = max(1, element.GetByteSize())

        def held(memory, address):
            start, end = ends(memory, address)
            return Held('e', max(0, end - start) // size, (element,), lambda first, last: range(start + first * size, start + last * size, size))
        plan.held = held
        return True

    def cpp_span(self, plan, kind):
        element = kind.GetTemplateArgumentType(0)
        start, length = field(kind, '_M_ptr')[0], field(kind, '_M_extent', '_M_extent_value')[0]
        if start is None or length is None or not element.IsValid():
            return False
        return self.row(plan, element, lambda memory, address: counted(memory, address + start, address + length, element))

    def cpp_initializer_list(self, plan, kind):
        element = kind.GetTemplateArgumentType(0)
        start, length = field(kind, '_M_array')[0], field(kind, '_M_len')[0]
        if start is None or length is None or not element.IsValid():
            return False
        return self.row(plan, element, lambda memory, address: counted(memory, address + start, address + length, element))

    def cpp_deque(self, plan, kind):
        element, (impl, _) = kind.GetTemplateArgumentType(0), field(kind, '_M_impl', '_M_map')
        size = element.GetByteSize()
        if impl is None or not size:
            return False
        each = max(1, 512 // size) if size < 512 else 1

        def held(memory, address):
            cursor, first, _, node, end, end_first, _, end_node = struct.unpack('<8Q', memory.read(address + impl + 16, 64))
            skipped = (cursor - first) // size
            length = (end_node - node) // 8 * each + (end - end_first) // size - skipped

            def places(begin, stop):
                found = []
                for at in range(begin + skipped, stop + skipped):
                    found.append(memory.word(node + at // each * 8) + at % each * size)
                return found
            return Held('e', max(0, length), (element,), places)
        plan.held = held
        return True

    def cpp_list(self, plan, kind):
        element, (node, _) = kind.GetTemplateArgumentType(0), field(kind, '_M_impl', '_M_node')
        if node is None or not element.IsValid():
            return False
        inside = round_up(16, alignment(element))

        def held(memory, address):
            return Held('e', memory.word(address + node + 16), (element,), lambda first, last: chained(memory, address + node, last, inside)[first:], True)
        plan.held = held
        return True

    def cpp_forward_list(self, plan, kind):
        element, (head, _) = kind.GetTemplateArgumentType(0), field(kind, '_M_impl', '_M_head')
        if head is None or not element.IsValid():
            return False
        inside = round_up(8, alignment(element))

        def held(memory, address):
            places = chained(memory, address + head, MOST_WALKED * 16, inside)
            return Held('e', len(places), (element,), lambda first, last: places[first:last])
        plan.held = held
        return True

    def cpp_map(self, plan, kind):
        return self.tree(plan, kind, 'm')

    def cpp_set(self, plan, kind):
        return self.tree(plan, kind, 's')

    def tree(self, plan, kind, form):
        header, _ = field(kind, '_M_t', '_M_impl', '_M_header')
        _, inner = field(kind, '_M_t')
        element = plain_type(inner).GetTemplateArgumentType(1) if inner is not None else None
        if header is None or element is None or not element.IsValid():
            return False
        kinds, shift = self.pair(element, form)
        if kinds is None:
            return False
        inside = round_up(32, alignment(element))

        def held(memory, address):
            end, length = address + header, memory.word(address + header + 32)

            def places(first, last):
                found, node = [], memory.word(end + 16)
                while len(found) < last and node != end:
                    found.append((node + inside, node + inside + shift) if form == 'm' else node + inside)
                    node = following(memory, node)
                return found[first:]
            return Held(form, length, kinds, places, True)
        plan.held = held
        return True

    def pair(self, element, form):
        if form != 'm':
            return (element,), 0
        first, key = first_of(element, ('first',), ('__0',))
        second, value = first_of(element, ('second',), ('__1',))
        return ((key, value), second - first) if key is not None and value is not None and first == 0 else (None, 0)

    def cpp_unordered_map(self, plan, kind):
        return self.buckets(plan, kind, 'm')

    def cpp_unordered_set(self, plan, kind):
        return self.buckets(plan, kind, 's')

    def buckets(self, plan, kind, form):
        first, inner = field(kind, '_M_h')
        begin, length = field(kind, '_M_h', '_M_before_begin')[0], field(kind, '_M_h', '_M_element_count')[0]
        element = plain_type(inner).GetTemplateArgumentType(1) if inner is not None else None
        if begin is None or length is None or element is None or not element.IsValid():
            return False
        kinds, shift = self.pair(element, form)
        if kinds is None:
            return False
        inside = round_up(8, alignment(element))

        def held(memory, address):
            def places(start, stop):
                nodes = chained(memory, address + begin, stop, inside)[start:]
                return [(node, node + shift) for node in nodes] if form == 'm' else nodes
            return Held(form, memory.word(address + length), kinds, places, True)
        plan.held = held
        return True

    def cpp_shared_ptr(self, plan, kind):
        start, pointer = field(kind, '_M_ptr')
        if start is None:
            return False
        self.points_to(plan, start, plain_type(pointer).GetPointeeType())
        return True

    def cpp_unique_ptr(self, plan, kind):
        element = kind.GetTemplateArgumentType(0)
        if not element.IsValid() or plan.size != 8 or plain_type(element).GetTypeClass() == lldb.eTypeClassArray:
            return False
        self.points_to(plan, 0, element)
        return True

    def cpp_weak_ptr(self, plan, kind):
        plan.run(0, 8)
        return True

    def cpp_function(self, plan, kind):
        plan.run(0, plan.size)
        plan.own = lambda digest, address: digest.unless_empty(address + 16, digest.memory.read(address, plan.size))
        return True

    def cpp_any(self, plan, kind):
        plan.own = lambda digest, address: digest.unless_empty(address, digest.memory.read(address, plan.size))
        return True

    def cpp_optional(self, plan, kind):
        element = kind.GetTemplateArgumentType(0)
        if not element.IsValid():
            return False
        inner = self.plan(element)

        def own(digest, address):
            there = digest.memory.read(address + inner.size, 1) != b'\0'
            return hash((1, digest.of(inner, address))) if there else 0
        plan.own = own
        return True

    def cpp_variant(self, plan, kind):
        kinds = [kind.GetTemplateArgumentType(at) for at in range(kind.GetNumberOfTemplateArguments())]
        if not kinds or not all(one.IsValid() and one.GetByteSize() for one in kinds):
            return False
        inner = [self.plan(one) for one in kinds]
        at = round_up(max(one.size for one in inner), max(alignment(one) for one in kinds))

        def own(digest, address):
            index = digest.memory.read(address + at, 1)[0]
            return hash((index, digest.of(inner[index], address))) if index < len(inner) else -1
        plan.own = own
        return True

    # And those of Rust.

    def slice(self, plan, fields):
        pointer = plain_type(fields[0].GetType())
        element = pointer.GetPointeeType()
        start, length = fields[0].GetOffsetInBytes(), fields[1].GetOffsetInBytes()
        counted_name = element.GetName() or ''
        if COUNTED.match(counted_name) and plan.name.endswith('Inner<str>'):
            plan.own = lambda digest, address: digest.bytes(digest.memory.word(address + start) + 16, digest.memory.word(address + length))
            return None
        if not element.GetByteSize() or COUNTED.match(counted_name):
            plan.run(0, plan.size)
            plan.partial = not element.IsValid() or bool(COUNTED.match(counted_name))
            return None
        return self.row(plan, element, lambda memory, address: counted(memory, address + start, address + length, element))

    def rust_Vec(self, plan, kind):
        element = kind.GetTemplateArgumentType(0)
        start, _ = first_of(kind, ('buf', 'inner', 'ptr', 'pointer', 'pointer'), ('buf', 'ptr', 'pointer', 'pointer'))
        length, _ = field(kind, 'len')
        if start is None or length is None or not element.IsValid():
            return False
        return self.row(plan, element, lambda memory, address: counted(memory, address + start, address + length, element))

    def rust_VecDeque(self, plan, kind):
        element = kind.GetTemplateArgumentType(0)
        start, _ = first_of(kind, ('buf', 'inner', 'ptr', 'pointer', 'pointer'), ('buf', 'ptr', 'pointer', 'pointer'))
        capacity, _ = first_of(kind, ('buf', 'inner', 'cap'), ('buf', 'cap'))
        head, length, size = field(kind, 'head')[0], field(kind, 'len')[0], element.GetByteSize()
        if None in (start, capacity, head, length) or not size:
            return False

        def held(memory, address):
            first, room, begin = memory.word(address + start), memory.word(address + capacity), memory.word(address + head)
            room = max(1, room)
            return Held('e', memory.word(address + length), (element,), lambda at, end: [first + (begin + one) % room * size for one in range(at, end)])
        plan.held = held
        return True

    def rust_HashMap(self, plan, kind):
        return self.table(plan, kind, 'm', (('base', 'table'), ('table',)))

    def rust_HashSet(self, plan, kind):
        return self.table(plan, kind, 's', (('base', 'map', 'table'), ('map', 'base', 'table'), ('map', 'table')))

    def table(self, plan, kind, form, ways):
        at, raw = first_of(kind, *ways)
        element = plain_type(raw).GetTemplateArgumentType(0) if raw is not None else None
        control, _ = first_of(raw, ('table', 'ctrl', 'pointer'), ('ctrl', 'pointer')) if raw is not None else (None, None)
        mask, _ = first_of(raw, ('table', 'bucket_mask'), ('bucket_mask',)) if raw is not None else (None, None)
        items, _ = first_of(raw, ('table', 'items'), ('items',)) if raw is not None else (None, None)
        if element is None or not element.IsValid() or None in (control, mask, items):
            return False
        size = element.GetByteSize()
        kinds, shift = self.pair(element, 'm')
        kinds = kinds if form == 'm' else self.pair_key(element)
        if kinds is None:
            return False
        key_at = first_of(element, ('__0',))[0] or 0
        value_at = first_of(element, ('__1',))[0] or 0

        def held(memory, address):
            base, length = memory.word(address + at + control), memory.word(address + at + items)

            def places(first, last):
                found, marks = [], memory.read(base, memory.word(address + at + mask) + 1)
                for bucket, mark in enumerate(marks):
                    if len(found) >= last:
                        break
                    if mark < 0x80:
                        one = base - (bucket + 1) * size
                        found.append((one + key_at, one + value_at) if form == 'm' else one + key_at)
                return found[first:]
            return Held(form, length, kinds, places, True)
        plan.held = held
        return True

    def pair_key(self, element):
        _, key = first_of(element, ('__0',))
        return None if key is None else (key,)

    def rust_BTreeMap(self, plan, kind):
        return self.btree(plan, kind, 'm', 0)

    def rust_BTreeSet(self, plan, kind):
        at, inner = field(kind, 'map')
        return False if at is None else self.btree(plan, plain_type(inner), 's', at)

    def btree(self, plan, kind, form, at):
        """Nodes of up to eleven keys and as many values, and in those that are not leaves the nodes between them."""
        length, _ = field(kind, 'length')
        root, option = field(kind, 'root')
        key, value = kind.GetTemplateArgumentType(0), kind.GetTemplateArgumentType(1)
        node_at, leaf = self.root_of(option) if option is not None else (None, None)
        if None in (length, root, node_at, leaf) or not leaf.GetByteSize():
            return False
        keys, vals, count = (field(leaf, name)[0] for name in ('keys', 'vals', 'len'))
        if None in (keys, vals, count):
            return False
        edges = round_up(leaf.GetByteSize(), 8)
        sizes = key.GetByteSize(), value.GetByteSize()
        kinds = (key, value) if form == 'm' else (key,)

        def held(memory, address):
            address += at

            def places(first, last):
                found = []
                start, height = memory.word(address + root + node_at[0]), memory.word(address + root + node_at[1])
                if start and memory.word(address + length):
                    walk(memory, start, height, found, last)
                return found[first:last]

            def walk(memory, node, height, found, last):
                number = struct.unpack('<H', memory.read(node + count, 2))[0]
                for index in range(min(number, 11) + 1):
                    if len(found) >= last:
                        return
                    if 0 < height < 30:
                        walk(memory, memory.word(node + edges + index * 8), height - 1, found, last)
                    if index < number:
                        place = node + keys + index * sizes[0], node + vals + index * sizes[1]
                        found.append(place if form == 'm' else place[0])
            return Held(form, memory.word(address + length), kinds, places, True)
        plan.held = held
        return True

    def root_of(self, option, deepest=6):
        """Where in `Option<Root>` the address of the node and its height are, and the type of a node. The address is never
        zero, and the option has no other number: so it lies where the node does, whatever LLDB puts before it."""
        kind = plain_type(option)
        there = [kind.GetFieldAtIndex(at) for at in range(kind.GetNumberOfFields())]
        by_name = {one.GetName(): one for one in there}
        if 'node' in by_name and 'height' in by_name:
            _, pointer = field(by_name['node'].GetType(), 'pointer')
            leaf = plain_type(pointer).GetPointeeType() if pointer is not None else None
            return (by_name['node'].GetOffsetInBytes(), by_name['height'].GetOffsetInBytes()), leaf
        for one in there if deepest else ():
            found = self.root_of(one.GetType(), deepest - 1)
            if found[0] is not None:
                return found
        return None, None

    def variants(self, plan, every):
        """An enum of Rust: a number tells which variant is there, except of one that has none."""
        union, base = plain_type(every.GetType()), every.GetOffsetInBytes()
        known, otherwise = [], None
        for at in range(union.GetNumberOfFields()):
            one = union.GetFieldAtIndex(at)
            inside = plain_type(one.GetType())
            value, number = field(inside, 'value'), field(inside, '$discr$')
            if value[0] is None:
                plan.partial = True
                return plan.run(0, plan.size)
            # LLDB puts it behind the number, but a variant tells the places of its parts from the beginning of the enum.
            shift = 0 if value[1].GetByteSize() == plan.size else value[0]
            inner = (base + one.GetOffsetInBytes() + shift, self.plan(value[1]))
            label = (one.GetName() or '')[len('$variant$'):]
            if label and number[0] is not None:
                known.append((base + one.GetOffsetInBytes() + number[0], number[1].GetByteSize(), int(label), inner))
            else:
                otherwise = inner
        if otherwise is None:
            plan.own = lambda digest, address: digest.variant(address, known, plan.size)
        else:
            plan.own = lambda digest, address: digest.niche(address, known, otherwise, plan.size)
        return None

    def dynamic_plan(self, table):
        """The class of an object, by the address of its table of virtual functions; none if that is not known."""
        if table not in self.dynamic:
            self.dynamic[table] = None
            symbol = self.target.ResolveLoadAddress(table).GetSymbol().GetName() or ''
            if symbol.startswith('vtable for '):
                found = self.target.FindFirstType(symbol[len('vtable for '):])
                self.dynamic[table] = self.plan(found) if found.IsValid() else None
        return self.dynamic[table]

    def rust_table(self, table):
        """The type that a table of a trait object is for."""
        if self.tables is None:
            self.tables = {}
            found = self.target.FindGlobalVariables(r'\{vtable\}$', 10000, lldb.eMatchTypeRegex)
            for one in found:
                name = re.match(r'<(.*) as .*>::\{vtable\}$', one.GetName() or '')
                if name:
                    self.tables[one.GetLoadAddress()] = name.group(1)
        name = self.tables.get(table)
        found = self.target.FindFirstType(name) if name else None
        return found if found is not None and found.IsValid() else None

    def held(self, kind, address):
        """What a container holds; none of what is none, or cannot be read."""
        plan = self.plan(kind)
        if plan.held is None:
            return None
        try:
            found = plan.held(self.memory, address)
            return found if 0 <= found.length < 1 << 40 else None
        except (Unreadable, TooMuch, struct.error):
            return None


def run_of(length):
    """How many elements are hashed at once, so that there are not too many hashes."""
    return max(1, -(-length // 1024))


def cut_in_runs(data, size):
    return [zlib.crc32(data[at:at + size]) for at in range(0, len(data), max(1, size))]


def between(memory, start, end):
    return memory.word(start), memory.word(end)


def counted(memory, start, length, element):
    first = memory.word(start)
    return first, first + memory.word(length) * max(1, element.GetByteSize())


def chained(memory, head, most, inside):
    """Nodes of a list, each of which begins with the address of the next."""
    found, node = [], memory.word(head)
    while node and node != head and len(found) < most:
        found.append(node + inside)
        node = memory.word(node)
    return found


def following(memory, node):
    """The next node of a red-black tree, in the order of its keys."""
    parent, left, right = struct.unpack('<3Q', memory.read(node + 8, 24))
    if right:
        while True:
            node, right = right, memory.word(right + 16)
            if not right:
                return node
    while True:
        above_parent, _, above_right = struct.unpack('<3Q', memory.read(parent + 8, 24))
        if node != above_right:
            return parent
        node, parent = parent, above_parent


class Digest:
    """A hash of one value and everything it leads to; `partial` says that it is not of everything. Time is that of this thread: a
    machine that is busy with other things makes the clock run, but not the work."""

    def __init__(self, layouts, deadline, wall, budget):
        self.layouts, self.memory, self.deadline, self.wall, self.budget = layouts, layouts.memory, deadline, wall, budget
        self.partial, self.above, self.memo, self.spent = False, {}, {}, 0
        # Hashes of runs of elements of the list that is hashed; those of lists inside it are none of it.
        self.runs = None

    def root(self, kind, address):
        limit = sys.getrecursionlimit()
        sys.setrecursionlimit(max(limit, 6000))
        self.memory.deadline, self.memory.wall = self.deadline, self.wall
        try:
            plan = self.layouts.plan(kind)
            if plan.rows is not None:
                return hash((7, plan.rows(self, address)))
            return self.of(plan, address)
        except Unreadable:
            self.partial = True
            return 0
        finally:
            sys.setrecursionlimit(limit)
            self.memory.deadline = None

    def spend(self, count=1):
        before = self.spent
        self.spent += count
        if self.spent > self.budget or before // 256 != self.spent // 256 and self.memory.is_late():
            raise TooMuch()

    def of(self, plan, address):
        self.spend()
        if plan.polymorphic:
            return self.polymorphic(plan, address)
        return self.inside(plan, address)

    def inside(self, plan, address):
        self.partial |= plan.partial
        if plan.held is not None:
            return self.container(plan, address)
        result = 0
        for start, size in plan.runs:
            result = zlib.crc32(self.memory.read(address + start, size), result)
        if plan.own is not None:
            result = hash((result, plan.own(self, address)))
        for start, part in plan.parts:
            result = hash((result, self.of(part, address + start)))
        return result

    def polymorphic(self, plan, address):
        found = self.layouts.dynamic_plan(self.memory.word(address))
        if found is None:
            self.partial = True
            return hash((self.memory.word(address), self.inside(plan, address)))
        return hash((zlib.crc32(found.name.encode()), self.inside(found, address)))

    def container(self, plan, address):
        held = plan.held(self.memory, address)
        if not 0 <= held.length < MOST_BYTES:
            raise TooLong()
        self.spend(held.length if held.walked else 0)
        if held.form == 'e':
            inner = self.layouts.plan(held.kinds[0])
            places = held.places(0, held.length)
            return hash((held.length, self.many(inner, places, True)))
        plans = [self.layouts.plan(kind) for kind in held.kinds]
        total = 0
        for place in held.places(0, held.length):
            if held.form == 'm':
                total += hash((self.of(plans[0], place[0]), self.of(plans[1], place[1])))
            else:
                total += hash((7, self.of(plans[0], place)))
        return hash((held.length, total))

    def many(self, inner, places, ordered):
        """Values of one type. Plain ones that lie one after the other are one piece of memory."""
        outermost, run = self.runs is None, run_of(len(places))
        runs = self.runs = [] if outermost else self.runs
        if isinstance(places, range) and inner.is_plain() and inner.runs == [(0, inner.size)]:
            data = self.memory.read(places.start, len(places) * inner.size) if len(places) else b''
            if outermost:
                runs += cut_in_runs(data, run * inner.size)
            return zlib.crc32(data)
        self.spend(len(places) // 4)
        result, part = 0, 0
        for at, place in enumerate(places, 1):
            one = self.of(inner, place)
            result = hash((result, one))
            if outermost:
                part = hash((part, one))
                if at % run == 0 or at == len(places):
                    runs.append(part & 0xffffffff)
                    part = 0
        return result

    def pointed(self, address, plan, kind):
        if address == 0:
            return 0
        key = (address, plan.name)
        if key in self.memo:
            return self.memo[key]
        if key in self.above:
            return hash((3, len(self.above) - self.above[key]))
        if len(self.above) > DEEPEST:
            raise TooMuch()
        self.above[key] = len(self.above)
        try:
            result = hash((1, self.of(plan, address)))
        except Unreadable as error:
            # A pointer to nothing, or to nothing any more: its own value is all there is.
            self.partial |= isinstance(error, TooLong)
            result = hash((2, address))
        finally:
            del self.above[key]
        self.memo[key] = result
        return result

    def string(self, address, width):
        if address == 0:
            return 0
        try:
            found = self.memory.string(address, width)
        except Unreadable:
            return hash((2, address))
        if found is None:
            self.partial = True
            return 1
        return hash((zlib.crc32(found), len(found)))

    def bytes(self, address, size):
        return hash((size, zlib.crc32(self.memory.read(address, size)) if size else 0))

    def unless_empty(self, address, data):
        """A value whose type is not told: its own bytes, and what they lead to is not known."""
        if self.memory.word(address) != 0:
            self.partial = True
            return zlib.crc32(data)
        return 0

    def dynamic_rust(self, address, table):
        """A trait object: the type is told by its table, or at least the size is."""
        kind = self.layouts.rust_table(table)
        if kind is not None:
            return hash((zlib.crc32((kind.GetName() or '').encode()), self.pointed(address, self.layouts.plan(kind), kind)))
        self.partial = True
        size = self.memory.word(table + 8)
        return hash((table, zlib.crc32(self.memory.read(address, min(size, 1 << 16)))))

    def variant(self, address, known, size):
        for at, width, number, (inside, plan) in known:
            if int.from_bytes(self.memory.read(address + at, width), 'little') == number & (1 << 8 * width) - 1:
                return hash((number, self.of(plan, address + inside)))
        self.partial = True
        return zlib.crc32(self.memory.read(address, size))

    def niche(self, address, known, otherwise, size):
        """An enum in which one variant is told by what cannot stand where the number is, and LLDB does not tell where that is.
        So all bytes count, and what the variant without a number leads to, if it leads anywhere."""
        result = zlib.crc32(self.memory.read(address, size))
        self.partial |= any(not inner[1].is_plain() for _, _, _, inner in known)
        try:
            return hash((result, self.of(otherwise[1], address + otherwise[0])))
        except Unreadable:
            return result

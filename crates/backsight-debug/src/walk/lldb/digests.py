# Hashes of what lies in memory.


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


def spans_of(plans, shift):
    """Where the bytes of a key and its value that count lie, without what is between them."""
    spans = []
    for offset, plan in zip((0, shift), plans):
        for start, size in plan.runs:
            if spans and spans[-1][1] == offset + start:
                spans[-1] = (spans[-1][0], spans[-1][1] + size)
            else:
                spans.append((offset + start, offset + start + size))
    return spans or [(0, 0)]


def without_padding(data, plan):
    """Values of one plain type with nothing where no member is."""
    if plan.runs == [(0, plan.size)]:
        return data
    mask = bytearray(plan.size)
    for start, size in plan.runs:
        mask[start:start + size] = b'\xff' * size
    mask = int.from_bytes(bytes(mask) * (len(data) // plan.size), 'little')
    return (int.from_bytes(data, 'little') & mask).to_bytes(len(data), 'little')


def of_nodes(memory, first, length, links, inside, spans):
    """The hash of the plain values in all nodes that are reached from one, in whatever order: most of them lie in blocks that are
    read already, so that a node costs a microsecond. `links` says which words of a node lead to others, `spans` which bytes of
    what is inside count."""
    links, reach = struct.Struct('<%dQ' % links[1]), (links[0], inside + max(end for _, end in spans))
    (start, end), rest = (inside + spans[0][0], inside + spans[0][1]), spans[1:]
    blocks, crc32, bits, mask, (at_links, size) = memory.blocks, zlib.crc32, BLOCK.bit_length() - 1, BLOCK - 1, reach
    total, count, nodes = 0, 0, [first] if first else []
    while nodes:
        node = nodes.pop()
        at, block = node & mask, blocks.get(node >> bits)
        if block is None or at + size > len(block):
            at, block = 0, memory.read(node, size)
        one = crc32(block[at + start:at + end])
        for begin, stop in rest:
            one = crc32(block[at + inside + begin:at + inside + stop], one)
        total += one
        count += 1
        if count & 1023 == 0 and (count > length or memory.is_late()):
            raise TooMuch()
        nodes += [other for other in links.unpack_from(block, at + at_links) if other]
    if count != length:
        raise Unreadable()
    return total


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
        if held.swift is not None and all(one.is_plain() for one in plans):
            return hash((held.length, held.swift(plans)))
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
        if isinstance(places, range) and inner.is_plain() and inner.size:
            data = self.memory.read(places.start, len(places) * inner.size) if len(places) else b''
            data = without_padding(data, inner)
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

# How the containers of C++ and Rust lie in memory.


class Layouts:
    """The plans of the types met in one target."""

    def __init__(self, target, process):
        self.target, self.plans, self.memory = target, {}, Memory(process)
        self.dynamic, self.tables, self.lost = {}, None, None

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
            # LLDB puts `void` in the place of types that it cannot read.
            plan.partial = plan.size == 0
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
        if inner.is_plain() and inner.size:
            places = lambda address: range(address, address + plan.size, inner.size)
            # Of many with room between their members the bytes are not listed one by one.
            if inner.runs != [(0, inner.size)]:
                plan.own = lambda digest, address: digest.many(inner, places(address), True)
                return None
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
        if not fields and not kind.GetNumberOfDirectBaseClasses() and plan.size > (0 if '::atomic::' in plan.name else 1):
            # There is something in it that LLDB does not know: of an atomic of Rust a number.
            plan.run(0, plan.size)
            plan.partial |= '::atomic::Atomic' not in plan.name
            return
        if COUNTED.match(plan.name) and self.counted_value(plan, fields):
            return
        for one in fields:
            if one.IsBitfield():
                bits = one.GetOffsetInBits()
                plan.run(bits // 8, (bits % 8 + one.GetBitfieldSizeInBits() + 7) // 8)
            else:
                plan.include(one.GetOffsetInBytes(), self.plan(one.GetType()))
        if self.loses_members():
            self.cover(plan, kind, fields)

    def counted_value(self, plan, fields):
        """A value of Rust that several refer to. How many is not part of it, but whether it is still there."""
        strong, value = ([one for one in fields if one.GetName() == name] for name in ('strong', 'value'))
        if not strong or not value:
            return False
        strong, offset, kind = strong[0].GetOffsetInBytes(), value[0].GetOffsetInBytes(), value[0].GetType()

        def own(digest, address):
            if digest.memory.word(address + strong) == 0:
                return 0
            return hash((1, digest.of(self.plan(kind), address + offset)))
        plan.own = own
        return True

    def loses_members(self):
        """Whether LLDB may leave out members, as it does in C++: g++ gives every `std::tuple` one name, and LLDB knows only the
        first of them. Nothing tells where that happened but the room that is left."""
        if self.lost is None:
            program = self.target.FindModule(self.target.GetExecutable())
            units = [program.GetCompileUnitAtIndex(at) for at in range(min(program.GetNumCompileUnits(), 64))]
            languages = {one.GetLanguage() for one in units}
            self.lost = any(getattr(lldb, name, None) in languages for name in dir(lldb) if name.startswith('eLanguageTypeC_plus_plus'))
        return self.lost

    def cover(self, plan, kind, fields):
        """Adds the bytes that no member is known to be in: a member that LLDB leaves out may be there, and looks like the room that
        only keeps the next member in its place. What is at least a word may lead elsewhere."""
        bases = [kind.GetDirectBaseClassAtIndex(at) for at in range(kind.GetNumberOfDirectBaseClasses())]
        known = [(one.GetOffsetInBytes(), one.GetOffsetInBytes() + one.GetType().GetByteSize()) for one in bases]
        for one in fields:
            start = one.GetOffsetInBits() // 8
            size = (one.GetBitfieldSizeInBits() + 14) // 8 if one.IsBitfield() else one.GetType().GetByteSize()
            known.append((start, start + size))
        if plan.polymorphic:
            known.append((0, 8))
        end = 0
        for start, stop in sorted(known) + [(plan.size, plan.size)]:
            # An object without anything has one byte.
            if start > end and plan.size > 1:
                plan.run(end, start - end)
                plan.partial |= start - end >= 8
            end = max(end, stop)

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
        if start is None or finish is None or not is_known(element):
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
        return self.counted_row(plan, kind, ('_M_ptr',), ('_M_extent', '_M_extent_value'))

    def cpp_valarray(self, plan, kind):
        return self.counted_row(plan, kind, ('_M_data',), ('_M_size',))

    def cpp_initializer_list(self, plan, kind):
        return self.counted_row(plan, kind, ('_M_array',), ('_M_len',))

    def counted_row(self, plan, kind, start, length):
        """Values one after the other, whose beginning and number are members."""
        element, start, length = kind.GetTemplateArgumentType(0), field(kind, *start)[0], field(kind, *length)[0]
        if start is None or length is None or not is_known(element):
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
        if node is None or not is_known(element):
            return False
        inside = round_up(16, alignment(element))

        def held(memory, address):
            return Held('e', memory.word(address + node + 16), (element,), lambda first, last: chained(memory, address + node, last, inside)[first:], True)
        plan.held = held
        return True

    def cpp_forward_list(self, plan, kind):
        element, (head, _) = kind.GetTemplateArgumentType(0), field(kind, '_M_impl', '_M_head')
        if head is None or not is_known(element):
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
        if header is None or element is None or not is_known(element):
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

            def swift(plans):
                return of_nodes(memory, memory.word(end + 8), length, (16, 2), inside, spans_of(plans, shift))
            return Held(form, length, kinds, places, True, swift)
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
        if begin is None or length is None or element is None or not is_known(element):
            return False
        kinds, shift = self.pair(element, form)
        if kinds is None:
            return False
        inside = round_up(8, alignment(element))

        def held(memory, address):
            def places(start, stop):
                nodes = chained(memory, address + begin, stop, inside)[start:]
                return [(node, node + shift) for node in nodes] if form == 'm' else nodes
            count = memory.word(address + length)

            def swift(plans):
                return of_nodes(memory, memory.word(address + begin), count, (0, 1), inside, spans_of(plans, shift))
            return Held(form, count, kinds, places, True, swift)
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
        start, pointer = field(kind, '_M_ptr')
        counts, _ = field(kind, '_M_refcount', '_M_pi')
        if start is None or counts is None:
            return False
        held = Plan('', 8)
        self.points_to(held, 0, plain_type(pointer).GetPointeeType())

        def own(digest, address):
            count = digest.memory.word(address + counts)
            # After its table a count has how many keep the value.
            if count == 0 or digest.memory.word(count + 8) & 0xffffffff == 0:
                return 0
            return hash((1, digest.inside(held, address + start)))
        plan.own = own
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
        if start is None or length is None or not is_known(element):
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
        # Closures of different functions may have the same name.
        is_it = found is not None and found.IsValid() and found.GetByteSize() == self.memory.word(table + 8)
        return found if is_it and 'closure_env' not in name else None

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

# Hashes of whole values, by which a change deep inside is seen.


class Fingerprints:
    """Hashes of whole values: the same content has the same hash, whatever was captured of it."""

    def __init__(self, work, deadline):
        self.enough = worked() + work
        self.bulk = BULK_SECONDS if work > 0 else 0
        self.memo = {}
        self.memo_unread = {}
        # Hashes of runs of elements of long lists, by the identity of the list.
        self.runs = {}
        self.shallow = False
        self.near = 0
        self.kept = []
        self.total = 0
        self.deadline = deadline

    def late(self):
        return worked() > self.enough or now() > self.deadline

    def of(self, value):
        """The hash; none if there is too much to hash. What could not be looked into is in `unread`."""
        self.count = 0
        self.stack = {}
        self.unread = []
        if id(value) in self.memo:
            # It was met inside another value.
            self.unread += self.memo_unread.get(id(value), ())
            return '%x' % (self.memo[id(value)] & 0xffffffffffffffff)
        if self.total > HASH_IN_ALL or self.late():
            return None
        # One value takes at most half of what is left, so that something is left for the next.
        begun = worked()
        self.enough_of_this = begun + (self.enough - begun) / 2
        try:
            result, _ = self.node(value)
        except (TooMuch, RecursionError, RuntimeError):
            return None
        finally:
            self.total += self.count
        return '%x' % (result & 0xffffffffffffffff)

    def nearest(self, value):
        """Of what is too much: a hash of what is nearest to it, and which objects are beyond. How far that goes does not depend on
        time, so that another hash means a change. What is beyond is not read."""
        if self.near > SHALLOW_IN_ALL:
            return None
        self.count, self.stack, self.shallow = 0, {}, True
        try:
            result, _ = self.node(value)
        except (TooMuch, RecursionError, RuntimeError):
            return None
        finally:
            self.shallow = False
            self.near += self.count
        return '%x' % (result & 0xffffffffffffffff)

    def node(self, value):
        self.count += 1
        if self.shallow:
            if self.count > SHALLOW_COUNT:
                raise TooMuch()
        elif self.count > HASH_PER_VALUE or len(self.stack) > 200 or self.count % 256 == 0 and (self.late() or worked() > self.enough_of_this):
            raise TooMuch()
        cls = type(value)
        known = met(cls)
        base, own = known.base, known.own
        if base not in PLAIN:
            return self.other(value, known)
        if cls is not base and stored(value, cls):
            return self.plain_with_fields(value, cls, base, own)
        return self.of_plain(value, cls, base, own)

    def plain_with_fields(self, value, cls, base, own):
        """A number or a text of a class of the program's, which may have fields beside."""
        plain, low = self.of_plain(value, cls, base, own)
        if id(value) in self.stack:
            return plain, self.stack[id(value)]
        self.stack[id(value)] = len(self.stack)
        try:
            return self.with_fields(value, cls, plain, low)
        finally:
            del self.stack[id(value)]

    def of_plain(self, value, cls, base, own):
        if base is int:
            bits = int.bit_length(value)
            if bits < 60:
                return hash((own, int.__hash__(value), bits)), 1 << 30
            return hash((own, crc(int.to_bytes(value, bits // 8 + 1, 'little', signed=True)), int.__hash__(value))), 1 << 30
        if base in (bool, float):
            return hash((own, crc(base.__repr__(value).encode()))), 1 << 30
        if base is str:
            return hash((own, crc(text_bytes(value)), str.__len__(value))), 1 << 30
        # A class made from it may have a way of its own to give its bytes.
        data = value if cls is base else base.__getitem__(value, slice(None))
        return hash((own, crc(data), base.__len__(value))), 1 << 30

    def other(self, value, known):
        cls, base, own = known.cls, known.base, known.own
        if base is None and known.is_scalar:
            return hash((own, crc(repr(value).encode()))), 1 << 30
        key = id(value)
        if self.stack and (known.is_class or known.is_debuggers or cls is types.ModuleType):
            # What refers to a class or a module is not another value when those change, nor when the debugger works.
            return hash((own, key)), 1 << 30
        if self.shallow and len(self.stack) >= SHALLOW_DEPTH:
            # Of memory a new object is made each time it is asked for.
            return hash((own, 0 if view_of(value, cls) is not None else key)), 1 << 30
        if key in self.memo and not self.shallow:
            self.unread += self.memo_unread.get(key, ())
            return self.memo[key], 1 << 30
        if key in self.stack:
            at = self.stack[key]
            return hash((own, len(self.stack) - at)), at
        position = len(self.stack)
        self.stack[key] = position
        unread = len(self.unread)
        try:
            result, low = self.inside(value, cls, base, own)
        finally:
            del self.stack[key]
        # What refers to something above it is another value when reached from elsewhere.
        if low >= position and not known.is_class and not self.shallow:
            self.memo[key] = result
            if len(self.unread) > unread:
                self.memo_unread[key] = self.unread[unread:unread + 1]
            self.kept.append(value)
            low = 1 << 30
        return result, low

    def inside(self, value, cls, base, own):
        low = 1 << 30
        shown = behind(value, cls) if cls is types.MappingProxyType else value
        if shown is not value:
            result, low = self.node(shown)
            return hash((own, result)), low
        if base in (list, tuple, deque):
            length = base.__len__(value)
            quick = self.beside(self.quick, value, base, length) if length > 64 and base is not deque else None
            if cls is base and 0 < length <= HEAD + TAIL and base is not deque:
                quick = self.few(value)
            if quick is not None:
                return self.with_fields(value, cls, hash((own, length, quick)), low)
            parts = []
            for part in base.__iter__(value):
                result, lowest = self.node(part)
                parts.append(result)
                low = min(low, lowest)
            if length > HEAD + TAIL:
                run = run_of(length)
                self.keep_runs(value, [hash(tuple(parts[at:at + run])) & 0xffffffff for at in range(0, length, run)])
            return self.with_fields(value, cls, hash((own, length, hash(tuple(parts)))), low)
        if base is dict:
            if cls is dict and 0 < len(value) <= HEAD + TAIL and kinds_of(value) == TEXTS and kinds_of(dict.values(value)) <= PLAIN_KINDS:
                self.count += 2 * len(value)
                return hash((own, crc32(marshal_bytes(sorted(dict.items(value)), 2)))), low
            own = hash((own, self.order(value, cls)))
            quick = self.beside(self.quick_keys, dict.keys(value), dict.values(value), lambda: dict.items(value))
            if quick is not None:
                return self.with_fields(value, cls, hash((own, dict.__len__(value), quick)), low)
            total = 0
            for name, part in dict.items(value):
                first, low_first = self.node(name)
                second, low_second = self.node(part)
                total += hash((first, second))
                low = min(low, low_first, low_second)
            return self.with_fields(value, cls, hash((own, dict.__len__(value), total)), low)
        if base in (set, frozenset):
            # Into a list, since what a set of a class of the program gives may be that class's.
            members = list(base.__iter__(value)) if 64 < base.__len__(value) <= QUICK_LIMIT else []
            quick = self.beside(self.quick_keys, members, (), lambda: members)
            if quick is not None:
                return self.with_fields(value, cls, hash((own, base.__len__(value), quick)), low)
            total = 0
            for part in base.__iter__(value):
                result, lowest = self.node(part)
                total += result
                low = min(low, lowest)
            return self.with_fields(value, cls, hash((own, base.__len__(value), total)), low)
        if cls is types.ModuleType:
            return hash((own, self.module(value))), low
        if cls is types.CodeType:
            return hash((own, code_hash(value))), low
        if among(cls, (types.MethodType, types.BuiltinFunctionType)):
            bound = None if type(value.__self__) is types.ModuleType else value.__self__
            function = value.__func__ if cls is types.MethodType else value.__qualname__
            (first, low_first), (second, low_second) = self.node(function), self.node(bound)
            return hash((own, first, second)), min(low_first, low_second)
        return self.with_fields(value, cls, hash((own, self.beside_fields(value, cls))), low)

    def beside_fields(self, value, cls):
        """What is known of a value that is not in its fields."""
        if cls is types.FunctionType:
            given = self.node(value.__defaults__)[0], self.node(value.__kwdefaults__)[0]
            return hash((code_hash(value.__code__), given))
        if built_in(cls, type):
            return hash((id(value), sum(self.method(name, part) for name, part in list(CLASS_DICT(value).items()))))
        if among(cls, GENERATORS):
            frame = frame_of(value, cls)
            return -1 if frame is None else frame.f_lasti
        view = view_of(value, cls)
        if view is not None:
            self.keep_rows(value, view)
            return hash((view_hash(view), self.objects_of(value, cls, view)))
        valued = valued_text(value, cls)
        if valued is not None:
            return crc(text_bytes(valued))
        told = told_whole(value, cls)
        if told is not None:
            return crc(text_bytes(told[0])) if told[1] is None else hash((crc(text_bytes(told[0])), crc(told[1])))
        if hides_fields(cls) and instance_dict(value) is None:
            parts = [part for part in referents(value) if part is not cls]
            return sum(self.node(part)[0] for part in parts)
        if is_opaque(cls):
            # Whatever else it holds, these are the values it refers to: a change of one of them is seen.
            self.unread.append(name_of(cls))
            own = instance_dict(value)
            return sum(self.node(part)[0] for part in referents(value) if part is not cls and part is not own)
        return 0

    def order(self, value, cls):
        """The order of the keys, where it is part of the value. It is read by asking for keys, so by their hashes."""
        if OrderedDict is None or cls is dict or not built_in(cls, OrderedDict):
            return 0
        if not all(among(type(key), SCALARS) for key in dict.keys(value)):
            self.unread.append('order of keys')
            return 0
        return hash(tuple(self.node(key)[0] for key in OrderedDict.__iter__(value)))

    def module(self, value):
        """What a module holds, except what the interpreter keeps there. Functions, classes and members of
        enumerations are the same ones or others."""
        total, unread = 0, len(self.unread)
        for name, part in list(dict.items(MODULE_DICT(value))):
            cls = type(part)
            if type(name) is not str or name in OF_MODULES:
                continue
            known = met(cls)
            same = among(cls, CALLABLES) or known.is_class or known.is_member
            total += hash((name_hash(name), id(part) if same else self.node(part)[0]))
        # Whatever a module keeps open is its own affair.
        del self.unread[unread:]
        return total

    def method(self, name, part):
        """What a class holds that is not told as its data."""
        if type(name) is not str or name in OF_CLASSES:
            return 0
        code = code_hash(part.__code__) if type(part) is types.FunctionType else 0
        settled = among(type(part), SETTLED) or among(type(part), CALLABLES)
        return hash((crc(text_bytes(name)), id(part), code)) if settled else 0

    def objects_of(self, value, cls, view):
        """Of memory that holds references what they refer to."""
        ctypes = MODULES.get('_ctypes')
        if ctypes is not None and built_in(cls, ctypes._Pointer):
            self.unread.append(name_of(cls))
        if 'O' not in view.format:
            return 0
        if self.shallow:
            # A list of them is made anew each time, so it says nothing which one it is.
            return 0
        listed = static(cls, 'tolist')
        if type(listed) is not types.MethodDescriptorType or view.format != 'O':
            self.unread.append('array of ' + view.format)
            return 0
        return self.node(listed(value))[0]

    def with_fields(self, value, cls, own, low):
        found = [] if among(cls, (list, tuple, dict, set, frozenset, deque)) else stored(value, cls)
        if found and kinds_of(part for _, part in found) <= PLAIN_KINDS:
            # In the order of their names: in which order they came is not part of the value.
            ordered = sorted(found, key=lambda field: field[0])
            names = hash(tuple([name_hash(name) for name, _ in ordered]))
            return hash((own, names, self.few([part for _, part in ordered]))), low
        total = 0
        for name, part in found:
            result, lowest = self.node(part)
            total += hash((name_hash(name), result))
            low = min(low, lowest)
        return hash((own, len(found), total)), low

    def few(self, values):
        """Some plain values as bytes at once; none if there are others among them."""
        if not kinds_of(values) <= PLAIN_KINDS:
            return None
        self.count += len(values)
        return crc32(marshal_bytes(values, 2))

    def beside(self, work, *given):
        """Does what is quick for what it does without taking time from the rest, as long as there is time for such work."""
        if self.bulk <= 0 or self.shallow:
            return None
        begun = worked()
        try:
            return work(*given)
        finally:
            took = worked() - begun
            self.bulk -= took
            self.enough += took
            self.enough_of_this += took

    def quick(self, value, base, length):
        """Long lists of plain values as bytes at once; other lists are walked."""
        step = max(length // 64, 1)
        for at in range(0, length, step):
            part = base.__getitem__(value, at)
            if not among(type(part), MARSHALLED) or (type(part) is str and len(part) > 2000):
                return None
        # From Python 3.12 on a class of the program may have code that gives its bytes.
        if sys.version_info >= (3, 12) and not kinds_of(base.__iter__(value)) <= PLAIN_KINDS:
            return None
        runs = marshalled(lambda at, end: base.__getitem__(value, slice(at, end)), length, run_of(length))
        if runs is None:
            return None
        self.keep_runs(value, runs)
        return hash(tuple(runs))

    def keep_rows(self, value, view):
        """Of memory in one piece hashes of runs of elements, or of rows, tell which of them changed."""
        length = view.shape[0] if view.ndim else 0
        if not self.shallow and length > HEAD + TAIL and view.c_contiguous and view.nbytes:
            data, size = view.cast('B'), view.nbytes // length * run_of(length)
            self.keep_runs(value, [crc32(data[at:at + size]) for at in range(0, view.nbytes, size)])

    def keep_runs(self, value, runs):
        if sum(map(len, self.runs.values())) < MOST_RUNS_IN_ALL:
            self.runs[id(value)] = runs

    def quick_keys(self, keys, values, entries):
        """Large dictionaries and sets of plain values likewise, in the order of their keys, which are all numbers or all texts."""
        length = len(keys)
        if not 64 < length <= QUICK_LIMIT or not all(among(type(key), (int, str)) for key in islice(keys, 8)):
            return None
        if kinds_of(keys) not in ({id(int)}, {id(str)}) or not kinds_of(values) <= PLAIN_KINDS:
            return None
        ordered = sorted(entries())
        runs = marshalled(lambda at, end: ordered[at:end], length, 16384)
        return None if runs is None else hash(tuple(runs))


def code_hash(code):
    """What a function does: two functions made from the same text are the same."""
    parts = [crc(code.co_code), code.co_firstlineno, crc(text_bytes(repr((code.co_name, code.co_names, code.co_varnames))))]
    for one in code.co_consts:
        plain = among(type(one), SCALARS) or type(one) is tuple and all(among(type(part), SCALARS) for part in one)
        parts.append(code_hash(one) if type(one) is types.CodeType else crc(text_bytes(repr(one))) if plain else id(one))
    return hash(tuple(parts))


def kinds_of(values):
    """The identities of their classes: the classes themselves might be asked for their hash."""
    return set(map(id, map(type, values)))


def marshalled(part, length, run):
    try:
        return [crc32(marshal_bytes(part(at, at + run), 2)) for at in range(0, length, run)]
    except ValueError:
        return None


def run_of(length):
    """How many elements are hashed at once, so that there are not too many hashes."""
    return max(1, -(-length // MOST_RUNS))


def is_array(cls):
    if name_of(cls) != 'ndarray' or 'numpy' not in MODULES:
        return False
    module = CLASS_DICT(cls).get('__module__')
    return module is None or type(module) is str and module == 'numpy'


def view_hash(view):
    if view.nbytes == 0:
        return 0
    data = view if view.c_contiguous else view.tobytes()
    return hash((view.shape, crc(text_bytes(view.format)), crc32(data)))


def element_of(view, at):
    """Of memory with several dimensions a row, which is memory again."""
    if view.ndim > 1:
        size = view.nbytes // view.shape[0]
        return view.cast('B')[at * size:(at + 1) * size].cast(view.format, view.shape[1:])
    try:
        return view[at]
    except NotImplementedError:
        return unpack_from(view.format, view, at * view.itemsize)[0]


def is_listed(view):
    """Whether the elements can be told one by one."""
    try:
        return view.ndim > 0 and (view.shape[0] == 0 or element_of(view, 0) is not None)
    except Exception:
        return False


def plain_text(value, cls):
    """Values of the interpreter itself that are told by their name or are one text; none of the others."""
    if cls is types.ModuleType:
        name = MODULE_DICT(value).get('__name__')
        return 'module ' + (name if type(name) is str else '?')
    if among(cls, (types.FunctionType, types.BuiltinFunctionType)):
        return 'function ' + str.__str__(value.__qualname__)
    if cls is types.MethodType:
        return 'method ' + (str.__str__(value.__func__.__qualname__) if type(value.__func__) is types.FunctionType else '?')
    if built_in(cls, type):
        return 'class ' + name_of(value)
    if cls is types.CodeType:
        return 'code ' + value.co_name
    if among(cls, GENERATORS):
        frame = frame_of(value, cls)
        at = 'ended' if frame is None else 'at line %d' % frame.f_lineno
        return '%s %s, %s' % (name_of(cls), str.__str__(value.__qualname__), at)
    return valued_text(value, cls)


def valued_text(value, cls):
    """Of values that are their text, and never change."""
    if cls is range:
        return repr(value)
    if is_numpy_scalar(cls):
        return numpy_text(value)
    name = name_of(cls)
    if name in ('datetime', 'date', 'time', 'timedelta') and not FLAGS(cls) & HEAP_TYPE and module_of(cls) == 'datetime':
        zone = getattr(value, 'tzinfo', None)
        known = zone is None or name_of(type(zone)) == 'timezone' and not FLAGS(type(zone)) & HEAP_TYPE
        return str(value) if known else None
    if name == 'Decimal' and module_of(cls) == 'decimal' and type(CLASS_DICT(cls).get('__str__')) is types.WrapperDescriptorType:
        return str(value)
    return None


def is_numpy_scalar(cls):
    if 'numpy' not in MODULES or FLAGS(cls) & HEAP_TYPE:
        return False
    return any(name_of(base) == 'generic' and module_of(base) == 'numpy' for base in mro(cls))


def numpy_text(value):
    """A number of numpy's, read from its memory."""
    try:
        view = memoryview(value)
        if view.format in ('?', 'b', 'B', 'h', 'H', 'i', 'I', 'l', 'L', 'q', 'Q', 'e', 'f', 'd') and view.ndim == 0:
            return repr(unpack_from(view.format, view.tobytes())[0])
        return 'bytes ' + view.tobytes().hex()
    except Exception:
        return None


def module_of(cls):
    """The module a class says it is of; nothing if only its own class can tell."""
    own = CLASS_DICT(cls).get('__module__')
    if type(own) is str:
        return own
    return type.__dict__['__module__'].__get__(cls) if not FLAGS(cls) & HEAP_TYPE else None


def told_whole(value, cls):
    """Of values whose state the interpreter tells: a text, and what it stands for where that is longer."""
    try:
        if cls is LockType:
            return 'lock, ' + ('locked' if value.locked() else 'free'), None
        if cls is RLock:
            return ' '.join(word for word in RLock.__repr__(value).strip('<>').split() if '=' in word or word.endswith('locked')), None
        for kind in (StringIO, BytesIO):
            if cls is kind:
                content = kind.getvalue(value)
                text = '%s of %d, at %d' % (name_of(cls), len(content), kind.tell(value))
                return text, text_bytes(content) if kind is StringIO else content
        if cls is ReferenceType:
            to = ReferenceType.__call__(value)
            return 'weakref, dead' if to is None else 'weakref to %s at %#x' % (name_of(type(to)), id(to)), None
    except ValueError:
        return name_of(cls) + ', closed', None
    return None


def exception_text(value, cls):
    """What an exception was raised with; its own words only its code can tell."""
    args = BaseException.__dict__['args'].__get__(value)
    parts = []
    for part in args[:4] if type(args) is tuple else ():
        base = base_of(type(part))
        parts.append(scalar_text(part, base) if among(type(part), SCALARS) else name_of(type(part)))
    return cut('%s(%s)' % (name_of(cls), ', '.join(parts)))

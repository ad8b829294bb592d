"""Walks the variables of paused CPython threads and tells them as JSON, without running anything of the program.

Run by the debugged program itself, so it touches values only through functions of the interpreter that cannot be
overridden: exact types, descriptors taken from the types that own them, methods of the built-in types themselves.

The program may also have put functions of its own in the place of Python's (`builtins.len`, `time.monotonic`, a module `json`
beside it). So nothing is imported here and nothing is looked up later: whoever loads this gives it `sys`, the names of
Python itself that it needs and no others (`__builtins__`), `KIND`, which is `type`, and `NATIVE`, the class of functions
that are not written in Python. All of it is taken once, at best before the program begins, and what is not genuine is refused.
"""
MODULES = sys.modules


class Refused(Exception):
    pass


def check():
    """Refuses names of Python that are the program's by now. A class that was made by a `class` statement is not Python's."""
    made = 1 << 9
    for name, one in __builtins__.items():
        kind = KIND(one)
        if kind is NATIVE or kind is KIND and not KIND.__dict__['__flags__'].__get__(one) & made:
            continue
        if one is not Ellipsis and one is not NotImplemented:
            raise Refused('the program replaced `%s` of Python itself' % name)
    if KIND(MODULES) is not dict:
        raise Refused('the program replaced the modules of Python itself')


check()


def module(name):
    """A module of Python's that is there already. Others are looked for among those inside the interpreter, never in files."""
    found = MODULES.get(name)
    if found is None:
        loader = MODULES['_frozen_importlib']
        spec = loader.BuiltinImporter.find_spec(name)
        found = None if spec is None else loader._load(spec)
    return found


def native(name, *places):
    """A function of the interpreter, wherever it is still to be found."""
    for place, called in places:
        found = getattr(module(place), called, None)
        if type(found) is NATIVE:
            return found
    raise Refused('the program replaced `%s` of Python itself' % name)


def optional(name, called):
    found = getattr(module(name), called, None)
    return found if type(found) is NATIVE else None


crc32 = native('zlib.crc32', ('zlib', 'crc32'))
to_base64 = native('binascii.b2a_base64', ('binascii', 'b2a_base64'))
referents = native('gc.get_referents', ('gc', 'get_referents'))
GC_ENABLED, GC_DISABLE, GC_ENABLE = (optional('gc', called) for called in ('isenabled', 'disable', 'enable'))
marshal_bytes = native('marshal.dumps', ('marshal', 'dumps'))
unpack_from = native('struct.unpack_from', ('_struct', 'unpack_from'))
# What makes tests believe in another time leaves the clock of locks alone.
now = native('time.monotonic', ('time', 'monotonic'), ('threading', '_time'))
# Of this thread: a machine that is busy with other things makes the clock run, but not the work.
worked = optional('time', 'thread_time') or now
this_frame = native('sys._getframe', ('sys', '_getframe'))
current_frames = native('sys._current_frames', ('sys', '_current_frames'))
encode_text = native('json', ('_json', 'encode_basestring'))
make_scanner, make_encoder = module('_json').make_scanner, module('_json').make_encoder
OrderedDict = getattr(module('_collections'), 'OrderedDict', None)
deque, TUPLE_FIELD = module('_collections').deque, getattr(module('_collections'), '_tuplegetter', None)
BytesIO, StringIO = module('_io').BytesIO, module('_io').StringIO
LockType, RLock = module('_thread').LockType, module('_thread').RLock
ReferenceType = module('_weakref').ReferenceType
Array = getattr(module('array'), 'array', None)
partial, islice = module('functools').partial, module('itertools').islice
types, re, Name = module('types'), module('re'), module('_ast').Name

MRO = type.__dict__['__mro__'].__get__
CLASS_DICT = type.__dict__['__dict__'].__get__
QUALNAME = type.__dict__['__qualname__'].__get__
FLAGS, BASIC_SIZE, ITEM_SIZE, DICT_OFFSET, WEAK_OFFSET = (
    type.__dict__[name].__get__ for name in ('__flags__', '__basicsize__', '__itemsize__', '__dictoffset__', '__weakrefoffset__'))
MODULE_DICT = types.ModuleType.__dict__['__dict__'].__get__
NUMBERS = (int, float, complex)
PLAIN = (bool, int, float, str, bytes, bytearray)
SCALARS = (int, float, complex, bool, str, bytes, type(None), type(Ellipsis), type(NotImplemented))
CALLABLES = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
GENERATORS = (types.GeneratorType, types.CoroutineType, types.AsyncGeneratorType)
MARSHALLED = (int, float, bool, type(None), str)
# Have no state of their own that changes, or tell all of it by their fields.
SETTLED = (object, slice, property, staticmethod, classmethod, types.GetSetDescriptorType, types.MemberDescriptorType,
           types.WrapperDescriptorType, types.MethodWrapperType, types.MethodDescriptorType,
           types.ClassMethodDescriptorType, type(re.compile('')), type(re.match('', '')), partial)
# Say how much is left of them.
ITERATORS = tuple(type(iter(one)) for one in ([], (), {}, {}.values(), {}.items(), set(), range(0), range(1 << 70)))
PLAIN_KINDS = set(map(id, MARSHALLED))
QUICK_LIMIT = 500000
TEXT_LIMIT = 400
KEY_LIMIT = 120
HEAD, TAIL = 8, 4
HALVES = re.compile('[\ud800-\udfff]')
# Only such code keeps its variables where nothing of the program's can be.
OPTIMIZED = 1
ONLY_PARSED = 1 << 10
HEAP_TYPE, FIXED_TYPE = 1 << 9, 1 << 8
POINTER = 8 if sys.maxsize > 1 << 32 else 4
VIEW_LIMIT = 1 << 26
HASH_PER_VALUE, HASH_IN_ALL = 20000, 200000
# For values that are walked one by one; and beside it for long lists of plain ones, which are hashed as bytes.
HASH_SECONDS, BULK_SECONDS = 0.08, 0.8
# Of a value that is too much to hash what is nearest to it is hashed: so deep, and of so many values.
SHALLOW_DEPTH, SHALLOW_COUNT, SHALLOW_IN_ALL = 2, 2000, 10000
# What one expression may be made of, make in bytes, and take in seconds.
EXPRESSION_LIMIT, MADE_LIMIT, EVALUATION_LIMIT = 10000, 8 << 20, 2.0
MOST_NAMED = 8
# So many hashes tell which elements of a list changed, and so many those of all lists.
MOST_RUNS, MOST_RUNS_IN_ALL = 1024, 65536
# What the interpreter itself keeps in a module and in a class.
OF_MODULES = ('__builtins__', '__loader__', '__spec__', '__cached__', '__file__', '__warningregistry__', '__path__')
OF_CLASSES = ('__dict__', '__weakref__', '__module__', '__qualname__', '__doc__', '__abstractmethods__', '_abc_impl')


class Reading:
    """How JSON is read: as it is."""
    strict = True
    object_hook = object_pairs_hook = None
    parse_float, parse_int, parse_constant = float, int, float


def unwritable(value):
    raise TypeError(name_of(type(value)))


read_json = make_scanner(Reading())
write_json = make_encoder(None, unwritable, encode_text, None, ':', ',', False, False, True)


def hurry():
    """The debugger sends an answer in two parts, and without this the second waits 40 ms for a sign that the first arrived."""
    tcp, no_delay = 6, 1
    try:
        MODULES['pydevd'].get_global_debugger().writer.sock.setsockopt(tcp, no_delay, 1)
    except Exception:
        pass


def wake():
    """A thread that is told to go on is meant to be woken, but where there are several threads the debugger wakes any of them,
    and the right one sleeps on until a fifth of a second is over."""
    try:
        lifecycle = MODULES['_pydevd_bundle.pydevd_thread_lifecycle']
        get_thread_id = MODULES['_pydevd_bundle.pydevd_constants'].get_thread_id
        run = lifecycle.internal_run_thread
        if getattr(run, 'wakes', False):
            return

        def run_and_wake(thread, set_additional_thread_info):
            run(thread, set_additional_thread_info=set_additional_thread_info)
            try:
                debugger = MODULES['pydevd'].get_global_debugger()
                debugger.get_internal_queue_and_event(get_thread_id(thread))[1].set()
            except Exception:
                pass

        run_and_wake.wakes = True
        lifecycle.internal_run_thread = run_and_wake
    except Exception:
        pass


hurry()
wake()


class TooMuch(Exception):
    pass


def among(cls, wanted):
    """Whether a class is one of these. `in` would ask the class of the class, which may be the program's."""
    for one in wanted:
        if cls is one:
            return True
    return False


def mro(cls):
    return MRO(cls)


def built_in(cls, wanted):
    """Whether a class is one of the built-in ones or made from it; `isinstance` would ask the value."""
    for base in mro(cls):
        if base is wanted:
            return True
    return False


BASES = {id(one): one for one in (list, tuple, deque, dict, set, frozenset, str, bytes, bytearray, bool, int, float, BaseException)}
# Of the classes met in this walk, by their identity: the class, so that it stays, and what was found out about it.
MET = {}


def base_of(cls):
    known = MET.get(id(cls))
    if known is None:
        found = [BASES[id(base)] for base in mro(cls) if id(base) in BASES]
        known = MET[id(cls)] = (cls, found[0] if found else None, hash((crc(text_bytes(name_of(cls))), 1)))
    return known[1]


def name_of(cls):
    try:
        # The name may be a text of a class of the program.
        return str.__str__(QUALNAME(cls))
    except Exception:
        return '?'


def static(cls, name, missing=None):
    """A class attribute as it is, without descriptors being asked."""
    for base in mro(cls):
        found = CLASS_DICT(base)
        if name in found:
            return found[name]
    return missing


def instance_dict(value):
    """The dictionary an object's fields are in. A class may have a `__dict__` of its own making; that of a base is the real one."""
    for base in mro(type(value)):
        own = CLASS_DICT(base).get('__dict__')
        if type(own) is types.GetSetDescriptorType or type(own) is types.MemberDescriptorType:
            try:
                found = own.__get__(value)
            except Exception:
                return None
            return found if built_in(type(found), dict) else None
    return None


def hides_fields(cls):
    """Whether there may be fields that cannot be found without running code, because the class hides its dictionary."""
    own = static(cls, '__dict__')
    return own is not None and not among(type(own), (types.GetSetDescriptorType, types.MemberDescriptorType))


def overrides_access(cls):
    """Whether code of the program decides what an attribute is."""
    decides = static(cls, '__getattribute__')
    own = decides is not None and type(decides) is not types.WrapperDescriptorType
    return own or static(cls, '__getattr__') is not None or hides_fields(cls)


def fields(value):
    """The fields of an object as they are stored: its dictionary and its slots."""
    cls = type(value)
    found = []
    seen = set()
    own = instance_dict(value)
    if own is not None:
        for name, field in list(dict.items(own)):
            name = name if type(name) is str else key_text(name)
            found.append((name, field))
            seen.add(name)
    for base in mro(cls):
        for name, slot in list(CLASS_DICT(base).items()):
            if type(slot) is types.MemberDescriptorType and name not in seen and name != '__dict__' and base is not type:
                try:
                    field = slot.__get__(value)
                except Exception:
                    continue
                found.append((name, field))
                seen.add(name)
    return found


def stored(value, cls):
    """The fields of an object, what an exception was raised with, what a function or a generator keeps between calls, and
    the data of a class."""
    if cls is types.FunctionType:
        return kept_by_function(value)
    if among(cls, GENERATORS):
        frame = frame_of(value, cls)
        return [] if frame is None else [(one['n'], part) for one, part in variables_of(frame)]
    if built_in(cls, type):
        return kept_by_class(value)
    if not built_in(cls, BaseException):
        return structure_fields(value, cls) or fields(value)
    found = [(name, field) for name, field in fields(value) if not name.startswith('__') or name == '__notes__']
    found.append(('args', BaseException.__dict__['args'].__get__(value)))
    chain = [(name, BaseException.__dict__[name].__get__(value)) for name in ('__cause__', '__context__')]
    return found + [(name, other) for name, other in chain if other is not None]


def keeps_state(cls):
    """Whether values of it are told by their name, and have a state all the same."""
    return cls is types.FunctionType or among(cls, GENERATORS) or built_in(cls, type)


def kept_by_function(value):
    found = list(zip(value.__code__.co_freevars, value.__closure__ or ()))
    found = [(name, cell.cell_contents) for name, cell in found if referents(cell)]
    for name in ('__defaults__', '__kwdefaults__'):
        given = getattr(value, name)
        parts = given.values() if type(given) is dict else given or ()
        if not all(among(type(part), SCALARS) for part in parts):
            found.append((name, given))
    return found + [(name, part) for name, part in list(dict.items(value.__dict__)) if type(name) is str]


def kept_by_class(value):
    """The data of a class and of its bases in the same module: no methods, nor what Python itself adds."""
    found, seen = [], set()
    module = CLASS_DICT(value).get('__module__')
    for base in mro(value):
        names = CLASS_DICT(base)
        own = names.get('__module__')
        if not FLAGS(base) & HEAP_TYPE or type(own) is not str or type(module) is not str or own != module:
            continue
        for name, part in list(names.items()):
            kind = type(part)
            usual = type(name) is not str or name.startswith('_') and name.endswith('_') or name in seen
            if not (usual or among(kind, SETTLED) or among(kind, CALLABLES)):
                found.append((name, part))
                seen.add(name)
    return found


def frame_of(value, cls):
    """The frame in which a generator waits; none after its end."""
    for kind, name in zip(GENERATORS, ('gi_frame', 'cr_frame', 'ag_frame')):
        if cls is kind:
            return CLASS_DICT(cls)[name].__get__(value)
    return None


def structure_fields(value, cls):
    """The fields of a structure of ctypes, which the interpreter reads from its memory."""
    ctypes = MODULES.get('_ctypes')
    if ctypes is None or not (built_in(cls, ctypes.Structure) or built_in(cls, ctypes.Union)):
        return None
    found = []
    for base in reversed(mro(cls)):
        for name, part in list(CLASS_DICT(base).items()):
            if name_of(type(part)) == 'CField' and FLAGS(type(part)) & (HEAP_TYPE | FIXED_TYPE) != HEAP_TYPE:
                found.append((name, part.__get__(value)))
    return found


def view_of(value, cls):
    """The memory of a value that is one piece of it; none if only code of the program can tell."""
    key = ('view', id(cls))
    if key not in MET:
        MET[key] = (cls, has_view(cls))
    if not MET[key][1]:
        return None
    try:
        view = memoryview(value)
        return view if view.nbytes <= VIEW_LIMIT else None
    except Exception:
        return None


def has_view(cls):
    ctypes = MODULES.get('_ctypes')
    known = cls is memoryview or is_array(cls) or Array is not None and built_in(cls, Array)
    known = known or ctypes is not None and built_in(cls, mro(ctypes.Structure)[1])
    # From Python 3.12 on a class may have code for it.
    return known and among(type(static(cls, '__buffer__')), (type(None), types.WrapperDescriptorType))


def behind(value, cls):
    """The dictionary that a read-only view of one shows; any other value itself."""
    if cls is types.MappingProxyType:
        for found in referents(value):
            if built_in(type(found), dict):
                return found
    return value


def is_opaque(cls):
    """Whether values of a class hold more than their fields: they are larger than those. Python's own classes never are."""
    key = ('opaque', id(cls))
    if key not in MET:
        MET[key] = (cls, larger_than_its_fields(cls))
    return MET[key][1]


def larger_than_its_fields(cls):
    if among(cls, SETTLED) or built_in(cls, BaseException) or cls is Failure or among(base_of(cls), PLAIN):
        return False
    slots = sum(type(part) is types.MemberDescriptorType and name != '__dict__'
                for base in mro(cls) for name, part in list(CLASS_DICT(base).items()))
    pointers = slots + (DICT_OFFSET(cls) > 0) + (WEAK_OFFSET(cls) > 0)
    return ITEM_SIZE(cls) != 0 or BASIC_SIZE(cls) > BASIC_SIZE(object) + pointers * POINTER


def cut(text, limit=TEXT_LIMIT):
    return text if len(text) <= limit else text[:limit] + '...'


def big_int(value):
    if int.bit_length(value) > 4000:
        return hex_of(value)
    return int.__repr__(value)


def hex_of(value):
    # Without `0x`, which would be taken for an address.
    start = '%x' % int.__rshift__(int.__abs__(value), int.bit_length(value) - 64)
    return '%sint of %d bits, in hexadecimal %s...' % ('negative ' if int.__lt__(value, 0) else '', int.bit_length(value), start)


def scalar_text(value, base):
    if value is None or value is Ellipsis or value is NotImplemented:
        return repr(value)
    if base is bool:
        return bool.__repr__(value)
    if base is int:
        return big_int(value)
    if base is float:
        return float.__repr__(value)
    if base is str:
        return str.__repr__(str.__getitem__(value, slice(0, TEXT_LIMIT)))
    if base is bytes:
        return bytes.__repr__(bytes.__getitem__(value, slice(0, TEXT_LIMIT)))
    if base is bytearray:
        return bytearray.__repr__(bytearray(bytearray.__getitem__(value, slice(0, TEXT_LIMIT))))
    return object.__repr__(value)


def crc(data):
    return crc32(data)


def text_bytes(value):
    return str.encode(value, 'utf-8', 'surrogatepass')


def key_text(key):
    cls = type(key)
    if cls is str:
        plain = str.__len__(key) > 0 and not (key[0].isdigit() or key[0] in '-([\'"') and key not in ('None', 'True', 'False')
        return cut(key if plain else repr(key), KEY_LIMIT)
    if among(cls, SCALARS):
        return cut(scalar_text(key, base_of(cls)), KEY_LIMIT)
    if among(cls, (tuple, frozenset)) and len(key) <= 8 and all(among(type(part), SCALARS) for part in key):
        return cut(repr(key), KEY_LIMIT)
    own = instance_dict(key)
    if own is not None and type(dict.get(own, '_name_')) is str:
        return name_of(cls) + '.' + dict.get(own, '_name_')
    return '%s at %#x' % (name_of(cls), id(key))


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
        base = base_of(cls)
        own = MET[id(cls)][2]
        if base in PLAIN and cls is not base and stored(value, cls):
            return self.plain_with_fields(value, cls, base, own)
        return self.of_plain(value, cls, base, own) if base in PLAIN else self.other(value, cls, base, own)

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

    def other(self, value, cls, base, own):
        if base is None and among(cls, SCALARS):
            return hash((own, crc(repr(value).encode()))), 1 << 30
        key = id(value)
        if self.stack and (built_in(cls, type) or cls is types.ModuleType):
            # What refers to a class or a module is not another value when those change.
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
        if low >= position and not built_in(cls, type) and not self.shallow:
            self.memo[key] = result
            if len(self.unread) > unread:
                self.memo_unread[key] = self.unread[unread:unread + 1]
            self.kept.append(value)
            low = 1 << 30
        return result, low

    def inside(self, value, cls, base, own):
        low = 1 << 30
        shown = behind(value, cls)
        if shown is not value:
            result, low = self.node(shown)
            return hash((own, result)), low
        if base in (list, tuple, deque):
            length = base.__len__(value)
            quick = self.beside(self.quick, value, base, length) if length > 64 and base is not deque else None
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
        """What a module holds, except what the interpreter keeps there. Functions and classes are the same ones or others."""
        total, unread = 0, len(self.unread)
        for name, part in list(dict.items(MODULE_DICT(value))):
            cls = type(part)
            if type(name) is not str or name in OF_MODULES:
                continue
            same = among(cls, CALLABLES) or built_in(cls, type)
            total += hash((crc(text_bytes(name)), id(part) if same else self.node(part)[0]))
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
        total = 0
        for name, part in found:
            result, lowest = self.node(part)
            total += hash((crc(text_bytes(name)), result))
            low = min(low, lowest)
        return hash((own, len(found), total)), low

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
    try:
        return view[at]
    except NotImplementedError:
        return unpack_from(view.format, view, at * view.itemsize)[0]


def is_listed(view):
    """Whether the elements can be told one by one."""
    try:
        return view.ndim == 1 and (len(view) == 0 or element_of(view, 0) is not None)
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


class Walk:
    def __init__(self, config):
        self.depth = config['depth']
        self.nodes = config['nodes']
        self.deadline = now() + config['ms'] / 1000.0
        hashing = config['ms'] / 2000.0 if config.get('hash', True) else -1.0
        self.fingerprints = Fingerprints(min(hashing, HASH_SECONDS), now() + hashing)
        self.incomplete = []
        self.unhashed = []
        self.count = 0
        self.late = 0
        self.cut = 0

    def frame(self, variables):
        """The values of one frame, the shallowest first, so that an object is told where it is nearest."""
        seen = {}
        queue = []
        for variable, value in variables:
            variable['v'] = self.node(value, 0, seen, queue, variable['n'])
        at = 0
        while at < len(queue):
            value, node, level, path = queue[at]
            at += 1
            if self.stopped(node, at, queue):
                continue
            key = id(value)
            if key in seen:
                node['s'] = 1
                continue
            seen[key] = value
            self.expand(value, node, level, seen, queue, path)

    def stopped(self, node, at, queue):
        if self.count >= self.nodes:
            self.cut += 1
        elif at % 64 == 0 and now() > self.deadline:
            self.nodes = 0
            self.late += 1
        else:
            return False
        node['x'] = 1
        return True

    def node(self, value, level, seen, queue, path):
        self.count += 1
        cls = type(value)
        base = base_of(cls)
        node = {'k': name_of(cls)}
        if value is None or among(cls, (type(Ellipsis), type(NotImplemented))):
            node['t'] = repr(value)
            return node
        if cls is Failure:
            return {'k': 'error', 't': '<error: %s: %s>' % (value.kind, value.about)}
        own = instance_dict(value)
        if own is not None and type(dict.get(own, '_name_')) is str and dict.__contains__(own, '_value_'):
            node['t'] = name_of(cls) + '.' + dict.get(own, '_name_')
            self.hash(value, node, path)
            return node
        if among(base, PLAIN):
            self.plain(value, cls, base, node, path)
            if cls is not base and stored(value, cls):
                # Of a class of the program's, with fields beside.
                self.open(value, node, level, queue, path)
            return node
        if cls is complex:
            node['t'] = complex.__repr__(value)
            return node
        valued = valued_text(value, cls)
        if valued is not None:
            node['t'] = cut(valued)
            if len(valued) > TEXT_LIMIT:
                node['n'] = len(valued)
                self.hash(value, node, path)
            return node
        node['i'] = '%x' % id(value)
        plain = plain_text(value, cls)
        if plain is not None:
            node['t'] = cut(plain)
            if keeps_state(cls) and stored(value, cls):
                self.open(value, node, level, queue, path)
            else:
                self.hash(value, node, path)
        elif self.described(value, cls, base, own, node):
            self.open(value, node, level, queue, path)
        return node

    def plain(self, value, cls, base, node, path):
        node['t'] = scalar_text(value, base)
        if among(base, (str, bytes, bytearray)):
            length = base.__len__(value)
            node['n'] = length
            if length > TEXT_LIMIT:
                node['t'] = cut(node['t'][:-1], TEXT_LIMIT + 2) + '...'
                self.hash(value, node, path)
        elif base is int and int.bit_length(value) > 4000:
            self.hash(value, node, path)

    def open(self, value, node, level, queue, path):
        """Takes note of a value that has something inside."""
        self.hash(value, node, path)
        if level >= self.depth:
            node['x'] = 1
        elif 'x' not in node:
            queue.append((value, node, level, path))

    def hash(self, value, node, path):
        """The hash of all of it; where that is not to be had, or not of all, the value is told as not known whole."""
        node['h'] = self.fingerprints.of(value)
        if node['h'] is None:
            node['g'] = self.fingerprints.nearest(value)
            self.unhashed.append((path, node))
        if node['h'] is None or self.fingerprints.unread:
            node['p'] = 1

    def described(self, value, cls, base, own, node):
        """Says what a value is, and whether there is something inside."""
        shown = behind(value, cls)
        if shown is not value:
            base = dict
        if base in (list, tuple, deque, dict, set, frozenset):
            node['n'] = base.__len__(shown)
            node['t'] = '%s[%d]' % (node['k'], node['n'])
            return node['n'] > 0 or bool(own and dict.__len__(own))
        if base is BaseException:
            node['t'] = exception_text(value, cls)
            return True
        view = view_of(value, cls)
        if view is not None and structure_fields(value, cls) is None:
            return self.view(view, cls, node)
        told = told_whole(value, cls)
        if told is not None:
            node['t'] = told[0]
            if told[1] is not None:
                node['h'] = '%x' % crc(told[1])
            return False
        node['t'] = node['k']
        if hides_fields(cls) and own is None:
            node['t'] += ', whose class hides its fields'
            node['x'] = 1
            return True
        if stored(value, cls):
            return True
        if is_opaque(cls):
            left = ', %d left' % CLASS_DICT(cls)['__length_hint__'](value) if among(cls, ITERATORS) else ''
            node['t'] = '%s at %#x%s, not looked into' % (node['k'], id(value), left)
            node['x'] = 1
            return True
        if own is None:
            node['t'] = '%s at %#x' % (node['k'], id(value))
        return False

    def view(self, view, cls, node):
        node['n'] = view.shape[0] if view.shape else 1
        if is_array(cls):
            node['t'] = 'ndarray shape %s of %s' % (view.shape, view.format)
            node['x'] = 1
        else:
            node['t'] = '%s[%d] of %s' % (node['k'], node['n'], view.format)
            if not is_listed(view):
                node['x'] = 1
        return node['n'] > 0

    def expand(self, value, node, level, seen, queue, path):
        cls = type(value)
        value = behind(value, cls)
        base = base_of(type(value))
        below = level + 1

        def child(part, label):
            return self.node(part, below, seen, queue, path + label)

        if base is tuple:
            names = static(cls, '_fields')
            if type(names) is tuple and len(names) == tuple.__len__(value) and all(type(name) is str for name in names):
                node['f'] = [[name, child(tuple.__getitem__(value, at), '.' + name)] for at, name in enumerate(names)]
                return
        if base in (list, tuple, deque):
            length = base.__len__(value)
            node['e'] = [[at, child(base.__getitem__(value, at), '[%d]' % at)] for at in chosen_of(length)]
            self.sampled(path, length, len(node['e']), 'elements')
            runs = self.fingerprints.runs.get(id(value))
            if runs is not None and node.get('h') is not None:
                node['r'] = runs
        elif base is dict:
            length = dict.__len__(value)
            node['m'] = []
            for at, (name, part) in enumerate(dict.items(value)):
                if length > 4 * (HEAD + TAIL) and at >= HEAD + TAIL:
                    break
                text = key_text(name)
                node['m'].append([text, child(part, '[%s]' % text)])
            self.sampled(path, length, len(node['m']), 'entries')
        elif base in (set, frozenset):
            length = base.__len__(value)
            node['m'] = []
            for at, part in enumerate(base.__iter__(value)):
                if length > 4 * (HEAD + TAIL) and at >= HEAD + TAIL:
                    break
                text = key_text(part)
                node['m'].append([text, child(part, '[%s]' % text)])
            node['m'].sort(key=lambda entry: entry[0])
            self.sampled(path, length, len(node['m']), 'members')
        elif self.is_view(value, cls):
            view = view_of(value, cls)
            length = len(view)
            node['e'] = [[at, child(element_of(view, at), '[%d]' % at)] for at in chosen_of(length)]
            self.sampled(path, length, len(node['e']), 'elements')
        else:
            found = stored(value, cls)
            most = 200
            if is_opaque(cls) and view_of(value, cls) is None and not keeps_state(cls):
                # What is not a field is not told, so it is known by the hash alone, which is not of everything.
                self.incomplete.append([path, 'holds more than its fields, which is not looked into'])
            node['f'] = [[name, child(part, '.' + name)] for name, part in found[:most]]
            self.sampled(path, len(found), len(node['f']), 'fields')

    def is_view(self, value, cls):
        return view_of(value, cls) is not None and structure_fields(value, cls) is None

    def sampled(self, path, length, told, what):
        if told < length:
            self.incomplete.append([path, '%d %s, %d captured' % (length, what, told)])

    def uncertain(self):
        """Names the values whose insides were neither told nor hashed whole: the first of them, and how many more there are."""
        sampled = {one[0] for one in self.incomplete}
        found = [(path, 'too much to hash: a change deep inside may go unseen')
                 for path, node in self.unhashed if 'x' in node or path in sampled]
        named = [list(one) for one in found[:MOST_NAMED]]
        if len(found) > MOST_NAMED:
            named[-1][1] += '; likewise %d more values' % (len(found) - MOST_NAMED)
        self.incomplete += named


def chosen_of(length):
    return range(length) if length <= HEAD + TAIL else list(range(HEAD)) + list(range(length - TAIL, length))


def own_places():
    """Where the debugger's own code is."""
    file = getattr(MODULES.get('pydevd'), '__file__', None)
    if type(file) is not str:
        return ()
    separator = '\\' if '\\' in file else '/'
    here = file.rpartition(separator)[0]
    above = here.rpartition(separator)[0].rpartition(separator)[0]
    own = (here + separator,)
    return own + ((above + separator,) if above.endswith(separator + 'debugpy') else ())


OWN = own_places()


def ours(frame):
    name = frame.f_code.co_filename
    return name == '<backsight>' or name.startswith(OWN)


def stack_of(frame):
    """The frames of the program, as the debugger lists them."""
    found = []
    while frame is not None:
        if not ours(frame):
            found.append(frame)
        frame = frame.f_back
    return found


def stack_here(frame):
    """Likewise of the thread that runs this, from where the debugger took it: the expression itself is nobody's source.
    After a step out of a function the debugger shows its caller, though the function is there until it has returned."""
    while OWN and frame is not None and not frame.f_code.co_filename.startswith(OWN):
        frame = frame.f_back
    return stack_shown(frame)


def stack_shown(frame):
    """The stack of a thread as the debugger shows it: what it waits in itself is not the program's."""
    own = frame
    while OWN and own is not None:
        if own.f_code.co_name == 'do_wait_suspend' and own.f_code.co_filename.startswith(OWN):
            shown = own.f_locals.get('frame')
            return stack_of(shown if type(shown) is type(own) else own)
        own = own.f_back
    return stack_of(frame)


def entries(names):
    """What is in a namespace by name. One of a class of the program's is read as the dictionary it is, or not at all."""
    if type(names) is LOCALS or built_in(type(names), dict):
        found = names.items() if type(names) is LOCALS else dict.items(names)
        return [(name, value) for name, value in list(found) if type(name) is str]
    raise Refused('its namespace is a %s of the program, which only code of the program can read' % name_of(type(names)))


# Since Python 3.13 a function's variables are not a dictionary, but the interpreter's own view of them.
LOCALS = (lambda: type(this_frame(0).f_locals))()


def local_entries(frame):
    """The variables of a frame by name. Up to Python 3.12 asking for them first writes into the namespace what is in cells,
    and in the body of a class nobody can see beforehand whether that namespace is of the program's making."""
    code = frame.f_code
    if not code.co_flags & OPTIMIZED and code.co_cellvars and sys.version_info < (3, 13):
        raise Refused('before Python 3.13 the body of a class that uses `super()` is only read by writing into it')
    return entries(frame.f_locals)


def named(names, wanted):
    """The value of a name in a namespace, in a list; an empty list if it is not there."""
    return [value for name, value in entries(names) if name == wanted]


def variables_of(frame):
    code = frame.f_code
    found_entries = local_entries(frame)
    local = dict(found_entries)
    varargs = bool(code.co_flags & 4) + bool(code.co_flags & 8)
    count = code.co_argcount + code.co_kwonlyargcount + varargs
    arguments = code.co_varnames[:count]
    free = code.co_freevars
    order = list(code.co_varnames) + [name for name in code.co_cellvars if name not in code.co_varnames] + list(free)
    known = set(order)
    found = []
    for at, name in enumerate(order):
        if name not in local:
            continue
        scope = 'local'
        if at == 0 and name in ('self', 'cls') and name in arguments:
            scope = 'this'
        elif name in arguments:
            scope = 'argument'
        elif name in free:
            scope = 'closure'
        found.append(({'n': name, 's': scope}, local[name]))
    for name, value in found_entries:
        if name in known:
            continue
        if name == '__exception__' and type(value) is tuple and len(value) > 1:
            found.append(({'n': 'exception', 's': 'result'}, value[1]))
        elif name == '__pydevd_ret_val_dict' and type(value) is dict:
            found.extend(({'n': called, 's': 'result'}, result) for called, result in list(value.items()))
        elif not (name.startswith('__') and name.endswith('__')):
            found.append(({'n': name, 's': 'local'}, value))
    return found


def threads():
    """The numbers the debugger has for threads, by the interpreter's own. Threads may be of a class of the program's, so they
    are known by their identity, which is the end of the debugger's name for each."""
    numbers = {}
    try:
        schema = MODULES['_pydevd_bundle._debug_adapter.pydevd_base_schema'].BaseSchema
        known = {name.rpartition('_id_')[2]: number for name, number in list(schema._obj_id_to_dap_id.items()) if type(name) is str}
        for ident, thread in list(dict.items(MODULES['threading']._active)):
            number = known.get(str(id(thread)))
            if number is not None:
                numbers[ident] = number
    except Exception:
        pass
    return numbers


def capture(config):
    walk = Walk(config)
    told = []
    here = stack_here(this_frame(1))
    stacks = [(config['thread'], here)]
    if config['threads']:
        numbers = threads()
        for ident, frame in current_frames().items():
            number = numbers.get(ident)
            if number is not None and number != config['thread']:
                stacks.append((number, stack_shown(frame)))
    for number, stack in stacks:
        first = config['frame'] if number == config['thread'] else 0
        for index in range(first, min(first + config['frames'], len(stack))):
            frame = stack[index]
            try:
                variables = variables_of(frame)
            except Refused as refused:
                why = '`%s`: %s' % (frame.f_code.co_name, refused.args[0])
                if not told:
                    return pack({'error': why})
                walk.incomplete.append(['', why, True])
                variables = []
            if number == config['thread'] and index == first:
                variables += [watch(frame, text) for text in config['watches']]
            entry = {'thread': number, 'index': index, 'function': frame.f_code.co_name,
                     'file': frame.f_code.co_filename, 'line': frame.f_lineno, 'call': '%x' % id(frame),
                     'v': [one for one, _ in variables]}
            walk.frame(variables)
            told.append(entry)
    if walk.late:
        walk.incomplete.append(['', 'timed out after %d ms: %d values not expanded' % (config['ms'], walk.late)])
    if walk.cut:
        walk.incomplete.append(['', 'more than %d values: %d not expanded' % (config['nodes'], walk.cut)])
    walk.uncertain()
    return pack({'frames': told, 'incomplete': walk.incomplete, 'stack': len(here)})


def watch(frame, text):
    try:
        return {'n': text, 's': 'watch'}, evaluate_in(frame, text)
    except Exception as error:
        return {'n': text, 's': 'watch'}, Failure(type(error).__name__, error.args[0] if error.args else '')


class Failure:
    __slots__ = ('kind', 'about')

    def __init__(self, kind, about):
        self.kind = kind
        self.about = about if type(about) is str else '?'


def pack(value):
    text = ''.join(write_json(value, 0))
    # Half a character, as in names of files that are not UTF-8, is no JSON: it is told as Python writes it.
    text = HALVES.sub(lambda half: '\\\\u%04x' % ord(half.group()), text)
    return to_base64(text.encode('utf-8'), newline=False).decode('ascii')


def evaluate(config):
    stack = stack_here(this_frame(1))
    try:
        value = evaluate_in(stack[config['frame']], config['expression'])
    except Refused as refused:
        return pack({'refused': refused.args[0]})
    except Exception as error:
        return pack({'error': '%s: %s' % (type(error).__name__, error)})
    walk = Walk({'depth': 1, 'nodes': 200, 'ms': 1000})
    variable = {'n': 'value', 's': 'watch'}
    walk.frame([(variable, value)])
    return pack({'v': variable['v']})


def page(config):
    """A value and some of what is directly inside it. Where it is is told by its variable and by positions from there on."""
    try:
        frame = stack_here(this_frame(1))[config['frame']]
        value = root_of(frame, config)
        for at in config['at']:
            _, found, _ = parts(value, at, 1)
            value = found[0][1]
    except Refused as refused:
        return pack({'refused': refused.args[0]})
    except Exception as error:
        return pack({'error': '%s: %s' % (type(error).__name__, error)})
    walk = Walk({'depth': 0, 'nodes': 0, 'ms': 0, 'hash': False})

    def tell(value):
        return walk.node(value, 0, {}, [], '')

    node = tell(value)
    if 'x' not in node:
        return pack({'v': node, 'total': 0})
    form, found, total = parts(value, config['start'], config['count'])
    node[form] = [[label, tell(part)] for label, part in found]
    return pack({'v': node, 'total': total})


def root_of(frame, config):
    if config['scope'] is not None:
        return frame.f_globals
    if config['expression'] is not None:
        return evaluate_in(frame, config['expression'])
    return variables_of(frame)[config['root']][1]


def parts(value, start, count):
    """Some of what is directly inside a value: in what form, what, and how much there is in all."""
    cls = type(value)
    value = behind(value, cls)
    base = base_of(type(value))
    end = start + count
    if base is tuple:
        names = static(cls, '_fields')
        if type(names) is tuple and len(names) == tuple.__len__(value) and all(type(name) is str for name in names):
            return 'f', list(zip(names, tuple.__iter__(value)))[start:end], len(names)
    if base in (list, tuple):
        return 'e', list(enumerate(base.__getitem__(value, slice(start, end)), start)), base.__len__(value)
    if base is deque:
        return 'e', list(enumerate(islice(deque.__iter__(value), start, end), start)), deque.__len__(value)
    if base is dict:
        return 'm', [(key_text(key), part) for key, part in islice(dict.items(value), start, end)], dict.__len__(value)
    if base in (set, frozenset):
        return 'm', [(key_text(part), part) for part in islice(base.__iter__(value), start, end)], base.__len__(value)
    view = view_of(value, cls)
    if view is not None and structure_fields(value, cls) is None:
        if not is_listed(view):
            raise Refused('memory of %d dimensions of %s is not read without running code' % (view.ndim, view.format))
        chosen = range(start, min(end, len(view)))
        return 'e', [(at, element_of(view, at)) for at in chosen], len(view)
    found = stored(value, cls)
    return 'f', found[start:end], len(found)


def evaluate_in(frame, text):
    if len(text) > EXPRESSION_LIMIT:
        raise Refused('it is longer than %d characters' % EXPRESSION_LIMIT)
    tree = compile(text.strip(), '<expression>', 'eval', ONLY_PARSED, True)
    return Evaluator(frame).of(tree.body)


class Evaluator:
    """Evaluates what only reads: names, fields, elements, and operators of built-in values."""

    def __init__(self, frame):
        self.frame = frame
        self.made = 0
        self.deadline = now() + EVALUATION_LIMIT

    def makes(self, size):
        """Takes note of so many bytes before they are made."""
        self.made += size
        if self.made > MADE_LIMIT:
            raise Refused('its result would be too large')

    def in_time(self):
        if now() > self.deadline:
            raise Refused('it takes too long')

    def timed(self, values):
        """These values, as long as there is time."""
        for at, value in enumerate(values):
            if at % 4096 == 0:
                self.in_time()
            yield value

    def of(self, tree):
        self.in_time()
        method = getattr(self, 'of_' + type(tree).__name__, None)
        if method is None:
            raise Refused('%s may run code' % type(tree).__name__)
        return method(tree)

    def of_Constant(self, tree):
        return tree.value

    def of_Name(self, tree):
        local = [value for name, value in local_entries(self.frame) if name == tree.id]
        found = local or named(self.frame.f_globals, tree.id) or named(self.frame.f_builtins, tree.id)
        if found:
            return found[0]
        raise NameError("name '%s' is not defined" % tree.id)

    def of_Attribute(self, tree):
        value = self.of(tree.value)
        cls = type(value)
        if cls is types.ModuleType:
            found = named(MODULE_DICT(value), tree.attr)
            if found:
                return found[0]
            raise AttributeError(tree.attr)
        if built_in(cls, type):
            found = self.of_class(value, cls, tree.attr)
        else:
            for name, field in fields(value):
                shared = static(cls, name)
                if name == tree.attr and (shared is None or type(shared) is types.MemberDescriptorType or not self.is_descriptor(shared)):
                    return field
            if built_in(cls, BaseException) and tree.attr == 'args':
                return BaseException.__dict__['args'].__get__(value)
            if among(cls, (complex, float, int)) and tree.attr in ('real', 'imag'):
                return getattr(value, tree.attr)
            found = static(cls, tree.attr, Failure)
        if type(found) is TUPLE_FIELD and built_in(cls, tuple):
            return found.__get__(value)
        if found is Failure and overrides_access(cls):
            raise Refused('attributes of %s are computed by code' % name_of(cls))
        if found is Failure:
            raise AttributeError("'%s' object has no attribute '%s'" % (name_of(cls), tree.attr))
        if self.is_descriptor(found):
            raise Refused("`%s` is computed by code" % tree.attr)
        return found

    def of_class(self, value, cls, name):
        """An attribute of a class. What its own class says of it comes first."""
        own = static(cls, name, Failure)
        if own is not Failure and own is CLASS_DICT(type).get(name) and type(own) is types.GetSetDescriptorType:
            if name in ('__name__', '__qualname__', '__module__'):
                return own.__get__(value)
        elif own is not Failure and static(type(own), '__set__') is not None:
            raise Refused("`%s` is computed by code" % name)
        found = static(value, name, Failure)
        return own if found is Failure else found

    def is_descriptor(self, value):
        cls = type(value)
        return any(static(cls, name) is not None for name in ('__get__', '__set__'))

    def of_Subscript(self, tree):
        value = self.of(tree.value)
        key = self.of(tree.slice)
        base = base_of(type(value))
        if base in (list, tuple, str, bytes, bytearray) and among(type(key), (int, bool, slice)):
            if type(key) is slice:
                width = {str: 4, bytes: 1, bytearray: 1}.get(base, POINTER)
                self.makes(width * len(range(*key.indices(base.__len__(value)))))
            return base.__getitem__(value, key)
        if base is dict and among(type(key), SCALARS):
            for name, found in self.timed(dict.items(value)):
                if type(name) is type(key) and name == key:
                    return found
            raise KeyError(key)
        raise Refused('`[...]` of %s may run code' % name_of(type(value)))

    def of_Slice(self, tree):
        parts = [None if part is None else self.of(part) for part in (tree.lower, tree.upper, tree.step)]
        if any(part is not None and type(part) is not int for part in parts):
            raise Refused('a slice of other than numbers may run code')
        return slice(*parts)

    def of_Index(self, tree):
        return self.of(tree.value)

    def of_Tuple(self, tree):
        return tuple(self.of(part) for part in tree.elts)

    def of_List(self, tree):
        return [self.of(part) for part in tree.elts]

    def truth(self, value):
        cls = type(value)
        if among(cls, SCALARS):
            return bool(value)
        base = base_of(cls)
        if base is not None and base is not BaseException and all(among(static(cls, name), (None, CLASS_DICT(base).get(name))) for name in ('__bool__', '__len__')):
            return bool(base.__len__(value)) if hasattr(base, '__len__') else bool(base.__bool__(value))
        if static(cls, '__bool__') is None and static(cls, '__len__') is None:
            return True
        raise Refused('whether a %s is true may run code' % name_of(cls))

    def scalar(self, value):
        if not among(type(value), SCALARS):
            raise Refused('an operator on %s may run code' % name_of(type(value)))
        if among(type(value), (str, bytes)) and len(value) > 1000000 or type(value) is int and value.bit_length() > 100000:
            raise Refused('the value is too large to calculate with')
        return value

    def operand(self, value):
        """A value to calculate with. The result is as large as both together, except where that is asked for."""
        value = self.scalar(value)
        self.makes(4 * len(value) if among(type(value), (str, bytes)) else value.bit_length() // 8 if type(value) is int else 0)
        return value

    def of_UnaryOp(self, tree):
        value = self.of(tree.operand)
        kind = type(tree.op).__name__
        if kind == 'Not':
            return not self.truth(value)
        value = self.operand(value)
        return {'USub': lambda: -value, 'UAdd': lambda: +value, 'Invert': lambda: ~value}[kind]()

    def of_BinOp(self, tree):
        left, right = self.operand(self.of(tree.left)), self.operand(self.of(tree.right))
        kind = type(tree.op).__name__
        if kind == 'Mod' and among(type(left), (str, bytes)):
            raise Refused('what is formatted may be too large')
        if kind in ('Mult', 'Pow', 'LShift') and any(among(type(one), (str, bytes)) or type(one) is int and abs(one) > 1 << 64 for one in (left, right)):
            raise Refused('the result may be too large')
        if kind in ('Pow', 'LShift') and type(right) is int and abs(right) > 1000:
            raise Refused('the result may be too large')
        if kind in ('Pow', 'LShift'):
            self.makes(1 << 13)
        work = {'Add': lambda: left + right, 'Sub': lambda: left - right, 'Mult': lambda: left * right,
                'Div': lambda: left / right, 'FloorDiv': lambda: left // right, 'Mod': lambda: left % right,
                'Pow': lambda: left ** right, 'BitAnd': lambda: left & right, 'BitOr': lambda: left | right,
                'BitXor': lambda: left ^ right, 'LShift': lambda: left << right, 'RShift': lambda: left >> right}
        if kind not in work:
            raise Refused('%s may run code' % kind)
        return work[kind]()

    def of_BoolOp(self, tree):
        value = None
        stops_at = type(tree.op).__name__ == 'Or'
        for part in tree.values:
            value = self.of(part)
            if self.truth(value) is stops_at:
                return value
        return value

    def of_IfExp(self, tree):
        return self.of(tree.body if self.truth(self.of(tree.test)) else tree.orelse)

    def of_Compare(self, tree):
        left = self.of(tree.left)
        for op, right in zip(tree.ops, tree.comparators):
            right = self.of(right)
            if not self.compare(type(op).__name__, left, right):
                return False
            left = right
        return True

    def compare(self, kind, left, right):
        if kind in ('Is', 'IsNot'):
            return (left is right) is (kind == 'Is')
        if kind in ('In', 'NotIn'):
            return self.within(left, right) is (kind == 'In')
        left, right = self.scalar(left), self.scalar(right)
        return {'Eq': lambda: left == right, 'NotEq': lambda: left != right, 'Lt': lambda: left < right,
                'LtE': lambda: left <= right, 'Gt': lambda: left > right, 'GtE': lambda: left >= right}[kind]()

    def within(self, left, right):
        base = base_of(type(right))
        left = self.scalar(left)
        if base is str and type(left) is str:
            return str.__contains__(right, left)
        if base in (list, tuple, dict, set, frozenset):
            return any(among(type(part), SCALARS) and part == left for part in self.timed(base.__iter__(right)))
        raise Refused('`in` may run code')

    def of_Call(self, tree):
        name = tree.func.id if type(tree.func) is Name else None
        if name in ('len', 'type', 'id', 'abs') and len(tree.args) == 1 and not tree.keywords:
            value = self.of(tree.args[0])
            if self.of(tree.func) is not {'len': len, 'type': type, 'id': id, 'abs': abs}[name]:
                raise Refused('`%s` is not the usual one' % name)
            if name == 'type':
                return type(value)
            if name == 'id':
                return id(value)
            if name == 'abs':
                return abs(self.operand(value))
            base = base_of(type(value))
            if base in (list, tuple, deque, dict, set, frozenset, str, bytes, bytearray):
                return base.__len__(value)
        raise Refused('a call runs code')


WORK = {'capture': capture, 'evaluate': evaluate, 'page': page}
# How a question to this begins. It is no Python, so that a debugger without this evaluates nothing.
ASKED = 'backsight! '


def answer(question):
    name, _, text = question.partition(' ')
    MET.clear()
    # Collecting garbage would run what the program wants to run at the end of its values.
    collects = GC_ENABLED and GC_DISABLE and GC_ENABLE and GC_ENABLED()
    if collects:
        GC_DISABLE()
    try:
        return WORK[name](read_json(text, 0)[0])
    except Exception as error:
        return pack({'error': 'the walker failed: %s: %s' % (type(error).__name__, error)})
    finally:
        if collects:
            GC_ENABLE()


# The threads that evaluate an expression with everything it runs, and what guards that none of them is ended too late.
RUNNING = set()
GUARD = module('_thread').allocate_lock()


def raise_in(ident, error):
    """Makes a thread raise an error before its next instruction; none takes it back."""
    ctypes = MODULES.get('ctypes')
    if ctypes is not None:
        error = None if error is None else ctypes.py_object(error)
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), error)


def end(config):
    """Ends what is being evaluated, as Ctrl-C would. A signal also ends what waits or calculates outside Python, but only in the
    main thread, and only where the program does not handle it itself."""
    signals, interrupt = module('_signal'), 2
    with GUARD:
        for ident in list(RUNNING):
            usual = signals.getsignal(interrupt) is signals.default_int_handler
            if usual and ident == main_thread():
                signals.pthread_kill(ident, interrupt)
            else:
                raise_in(ident, KeyboardInterrupt)
    return pack({'ended': len(RUNNING)})


def main_thread():
    main = getattr(module('threading'), '_main_thread', None)
    for ident, thread in list(dict.items(module('threading')._active)):
        if thread is main:
            return ident
    return None


def settle(ident):
    """From here on the thread is not ended any more; what was sent before arrives here, and not in the program."""
    for _ in range(4):
        try:
            with GUARD:
                RUNNING.discard(ident)
                raise_in(ident, None)
            for _ in range(1000):
                pass
            return
        except KeyboardInterrupt:
            continue


WORK['end'] = end


def listen():
    """Takes our questions out of what the debugger evaluates. Otherwise it would first read the namespace of the frame, which may
    be of the program's making, and evaluate the question there, where every name may be the program's."""
    place = MODULES['_pydevd_bundle.pydevd_vars']
    usual = getattr(place.evaluate_expression, 'usual', place.evaluate_expression)
    ident_of_this = module('_thread').get_ident

    def evaluate_expression(debugger, frame, expression, is_exec):
        if type(expression) is str and expression.startswith(ASKED):
            return answer(expression[len(ASKED):])
        ident = ident_of_this()
        with GUARD:
            RUNNING.add(ident)
        try:
            return usual(debugger, frame, expression, is_exec)
        except KeyboardInterrupt:
            # It was ended a second time, while the debugger dealt with the first. What is executed may raise; else it is answered.
            if is_exec:
                raise
            return 'interrupted'
        finally:
            settle(ident)

    evaluate_expression.usual = usual
    place.evaluate_expression = evaluate_expression


listen()


def hold_types():
    """The debugger has a table of types for what it shows. It is made at its first answer, by importing `django` with the paths
    and the finders of the program: whatever is called so beside the program would run. So it is made here, of what is there
    already."""
    xml = MODULES['_pydevd_bundle.pydevd_xml']
    handler = xml._TYPE_RESOLVE_HANDLER
    if handler._initialized:
        return
    extensions = MODULES['_pydevd_bundle.pydevd_extension_utils']
    if extensions.EXTENSION_MANAGER_INSTANCE.loaded_extensions is None:
        # They are loaded when the debugger begins, or not at all.
        extensions.EXTENSION_MANAGER_INSTANCE.loaded_extensions = []
    names = dict(MODULE_DICT(xml))
    names['__builtins__'] = dict(__builtins__, __import__=loaded)
    handler._default_type_map = types.FunctionType(xml._create_default_type_map.__code__, names)()
    handler._resolve_providers = extensions.extensions_of_type(xml.TypeResolveProvider)
    handler._str_providers = extensions.extensions_of_type(xml.StrPresentationProvider)
    handler._initialized = True


def loaded(name, *rest):
    """What stands in the place of `import` there. Django's classes are left out even if they are there: asking whether a value
    is one of them may run code of theirs."""
    found = MODULES.get(name) if name in ('collections', 'ctypes') else None
    if type(found) is types.ModuleType:
        return found
    raise Refused(name)


class Shown:
    """A frame as the debugger lists it, without the namespace, of which it would ask the program's names."""
    __slots__ = ('f_code', 'f_lineno', 'IS_PLUGIN_FRAME')
    f_back = f_trace = None

    def __init__(self, frame):
        self.f_code, self.f_lineno = frame.f_code, frame.f_lineno
        self.IS_PLUGIN_FRAME = type(frame) is not types.FrameType and getattr(frame, 'IS_PLUGIN_FRAME', False)

    @property
    def f_globals(self):
        return {}

    f_locals = f_globals


def hold_frames():
    """The debugger lists frames with the names and versions of their modules, and with what the causes of an exception say of
    themselves: both may run code. Nothing here shows the former, and the latter are told as they were raised."""
    factory = MODULES['_pydevd_bundle.pydevd_net_command_factory_json'].NetCommandFactoryJson
    usual = getattr(factory._iter_visible_frames_info, 'usual', factory._iter_visible_frames_info)

    def frames_listed(self, debugger, frames, *rest, **named):
        cause = frames.chained_frames_list
        while cause is not None:
            kind = type(cause.exc_desc)
            if kind is not str:
                cause.exc_desc = exception_text(cause.exc_desc, kind) if built_in(kind, BaseException) else name_of(kind)
            cause = cause.chained_frames_list
        for one in usual(self, debugger, frames, *rest, **named):
            yield one[:1] + (Shown(one[1]),) + one[2:]

    frames_listed.usual = usual
    factory._iter_visible_frames_info = frames_listed


class Listed:
    """A thread as the debugger lists it."""
    __slots__ = ('ident', 'name', 'alive')


class NotToldOf:
    """Stands for the debugger where it would be told of threads: those it does not know yet it finds by itself."""

    def notify_thread_created(self, *all):
        pass


def listed_threads():
    """The threads of the program. They may be of classes of the program's, whose names and states are computed by code."""
    threading = MODULES['threading']
    prefix = 'pid_%s_id_' % MODULES['_pydevd_bundle.pydevd_constants'].get_pid()
    found = []
    for thread in list(dict.values(threading._active)):
        own = instance_dict(thread)
        if own is None or static(type(thread), 'is_pydev_daemon_thread') or dict.get(own, 'is_pydev_daemon_thread'):
            continue
        one = Listed()
        known = dict.get(own, '__pydevd_id__')
        one.ident = known if type(known) is str else prefix + str(id(thread))
        name = dict.get(own, '_name')
        one.name = name if type(name) is str else name_of(type(thread))
        one.alive = dict.get(own, '_is_stopped') is not True
        found.append(one)
    return found


def hold_threads():
    factory = MODULES['_pydevd_bundle.pydevd_net_command_factory_json'].NetCommandFactoryJson
    usual = getattr(factory.make_list_threads_message, 'usual', factory.make_list_threads_message)
    names = dict(MODULE_DICT(MODULES['_pydevd_bundle.pydevd_net_command_factory_json']))
    for name in ('get_non_pydevd_threads', 'is_thread_alive', 'get_thread_id'):
        names[name]
    names['get_non_pydevd_threads'] = listed_threads
    names['is_thread_alive'] = lambda thread: thread.alive
    names['get_thread_id'] = lambda thread: thread.ident
    purely = types.FunctionType(usual.__code__, names)

    def make_list_threads_message(self, debugger, seq):
        try:
            return purely(self, NotToldOf(), seq)
        except AttributeError:
            # Another version of the debugger, which asks more of a thread.
            return usual(self, debugger, seq)

    make_list_threads_message.usual = usual
    factory.make_list_threads_message = make_list_threads_message


def release_children():
    """A process that `os.fork` makes has the breakpoints of this one and nobody to tell of them: it would wait at the first for
    ever. So it goes on without a debugger. What it shares with this process, above all the connection, is left alone."""
    register = getattr(module('posix'), 'register_at_fork', None)
    constants, tracing = MODULES['_pydevd_bundle.pydevd_constants'], MODULES['pydevd_tracing']
    set_trace, monitoring = sys.settrace, getattr(sys, 'monitoring', None)

    def go_alone():
        try:
            constants.GlobalDebuggerHolder.global_dbg = None
            MODULES['threading'].settrace(None)
            tracing.SetTrace(None)
            set_trace(None)
            for tool in range(6) if monitoring is not None else ():
                if monitoring.get_tool(tool) == 'pydevd':
                    monitoring.set_events(tool, 0)
        except Exception:
            pass

    if type(register) is NATIVE:
        register(after_in_child=go_alone)


for hold in (hold_types, hold_frames, hold_threads, release_children):
    try:
        hold()
    except Exception:
        # Another version of the debugger, which does it in another way.
        pass

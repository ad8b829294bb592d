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
this_thread = native('_thread.get_ident', ('_thread', 'get_ident'))
GROUP = __builtins__.get('BaseExceptionGroup')
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
PLAIN_KINDS, TEXTS = set(map(id, MARSHALLED)), {id(str)}
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
SHALLOW_DEPTH, SHALLOW_COUNT, SHALLOW_IN_ALL = 2, 2000, 5000
# What one expression may be made of, make in bytes, and take in seconds.
EXPRESSION_LIMIT, MADE_LIMIT, EVALUATION_LIMIT = 10000, 8 << 20, 2.0
MOST_NAMED = 8
# So many frames are looked through for the exception that paused the program, and so many that led to it are told.
RAISED_FRAMES, MOST_RAISED = 8, 16
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


def look_again():
    """A paused thread that did what it was told to, a step for one, waits a fifth of a second before it looks whether it may go
    on, unless it is woken meanwhile: by luck, which depends on who else runs."""
    try:
        command = MODULES['_pydevd_bundle.pydevd_comm'].InternalThreadCommand
        do_it = command.do_it
        if getattr(do_it, 'looks_again', False):
            return

        def do_and_look_again(self, debugger):
            try:
                do_it(self, debugger)
            finally:
                try:
                    debugger.get_internal_queue_and_event(self.thread_id)[1].set()
                except Exception:
                    pass

        do_and_look_again.looks_again = True
        command.do_it = do_and_look_again
    except Exception:
        pass


hurry()
wake()
look_again()


class TooMuch(Exception):
    pass

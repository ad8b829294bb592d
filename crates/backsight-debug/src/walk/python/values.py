# What values are: their types, their fields, what is stored in them, and their texts.


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
# The classes met in this walk, by their identity.
MET = {}
# Hashes of the names of fields.
NAMED = {}


class Met:
    """A class, which is kept so that its identity stays its own, and what was found out about it, once for all its values."""
    __slots__ = ('cls', 'base', 'own', 'is_class', 'is_scalar', 'is_member', 'is_debuggers', 'slots', 'fields', 'structure', 'view', 'opaque')

    def __init__(self, cls):
        found = [BASES[id(base)] for base in mro(cls) if id(base) in BASES]
        self.cls = cls
        self.base = found[0] if found else None
        self.own = hash((crc(text_bytes(name_of(cls))), 1))
        self.is_class = built_in(cls, type)
        self.is_scalar = among(cls, SCALARS)
        # Of an enumeration.
        self.is_member = '_member_map_' in CLASS_DICT(cls)
        self.is_debuggers = id(cls) in DEBUGGERS
        self.slots = slots_of(cls)
        self.fields = ([own for own in (CLASS_DICT(base).get('__dict__') for base in mro(cls)) if is_descriptor(own)] or [None])[0]
        ctypes = MODULES.get('_ctypes')
        self.structure = ctypes is not None and (built_in(cls, ctypes.Structure) or built_in(cls, ctypes.Union))
        self.view = has_view(cls)
        self.opaque = None


def met(cls):
    known = MET.get(id(cls))
    if known is None:
        known = MET[id(cls)] = Met(cls)
    return known


def forget():
    """Classes may change between two walks."""
    MET.clear()
    NAMED.clear()


def base_of(cls):
    return met(cls).base


def slots_of(cls):
    return [(name, slot) for base in mro(cls) if base is not type for name, slot in list(CLASS_DICT(base).items())
            if type(slot) is types.MemberDescriptorType and name != '__dict__']


def is_descriptor(own):
    return type(own) is types.GetSetDescriptorType or type(own) is types.MemberDescriptorType


def name_hash(name):
    """Of the name of a field, which is a text of Python's own."""
    known = NAMED.get(name)
    if known is None:
        known = NAMED[name] = crc(text_bytes(name))
    return known


def classes_of_debugger():
    """Its own objects are in the program's reach, `threading` knows its threads, and change with each step."""
    found = {}
    for name, one in list(MODULES.items()):
        if type(one) is types.ModuleType and type(name) is str and name.partition('.')[0] in ('pydevd', '_pydevd_bundle', 'debugpy'):
            for part in list(MODULE_DICT(one).values()):
                if built_in(type(part), type) and CLASS_DICT(part).get('__module__') == name:
                    found[id(part)] = part
    return found


DEBUGGERS = classes_of_debugger()


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
    own = met(type(value)).fields
    if own is None:
        return None
    try:
        found = own.__get__(value)
    except Exception:
        return None
    return found if type(found) is dict or built_in(type(found), dict) else None


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
    for name, slot in met(cls).slots:
        if name in seen:
            continue
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
    if not met(cls).structure:
        return None
    found = []
    for base in reversed(mro(cls)):
        for name, part in list(CLASS_DICT(base).items()):
            if name_of(type(part)) == 'CField' and FLAGS(type(part)) & (HEAP_TYPE | FIXED_TYPE) != HEAP_TYPE:
                found.append((name, part.__get__(value)))
    return found


def view_of(value, cls):
    """The memory of a value that is one piece of it; none if only code of the program can tell."""
    if not met(cls).view:
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
    known = met(cls)
    if known.opaque is None:
        known.opaque = larger_than_its_fields(cls)
    return known.opaque


def larger_than_its_fields(cls):
    if among(cls, SETTLED) or built_in(cls, BaseException) or cls is Failure or among(base_of(cls), PLAIN):
        return False
    pointers = len(met(cls).slots) + (DICT_OFFSET(cls) > 0) + (WEAK_OFFSET(cls) > 0)
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

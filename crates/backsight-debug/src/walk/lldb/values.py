# Walks the variables of a paused native program inside LLDB and tells them as JSON. What they are is told by LLDB's own
# descriptions, what they hold by their layout in memory (`layouts.py`, which stands before this); no function of the program
# is called.
import base64
import json
import re
import sys
import time
import zlib

import lldb

TEXT_LIMIT = 400
WHOLE_MAP = 48
# How many values are hashed for one that is told, and how long it may take for all of them.
HASH_PER_VALUE, HASH_SECONDS, HASH_SECONDS_OF_ONE, HASH_WALL = 400000, 1.0, 0.25, 1.5
MOST_NAMED = 3
SCALARS = (lldb.eTypeClassBuiltin, lldb.eTypeClassEnumeration)
STRINGS = re.compile(r'^(const )?(std::(__\w+::)?(basic_)?string(_view)?\b|alloc::string::String$|&(mut )?str$|alloc::borrow::Cow<str)')
BOXES = re.compile(r'^(const )?(std::(__\w+::)?(unique_ptr|shared_ptr|__shared_ptr)<|alloc::(rc::Rc|sync::Arc)<|core::cell::(RefCell|Cell)<)')
FAT = re.compile(r'^alloc::(rc::Rc|sync::Arc)<')
OPTIONALS = re.compile(r'^(const )?std::optional<')
CAPACITY = re.compile(r'NoHighBit\b|\braw_vec::Cap\b')


def kind_of(value):
    name = value.GetDisplayTypeName() or value.GetTypeName() or '?'
    name = re.sub(r', std::(__\w+::)?(allocator|default_delete|less|hash|equal_to)<.*?> ?(?=[,>])', '', name)
    return re.sub(r'std::(__cxx11::)?basic_string<char(, std::char_traits<char> ?)?>', 'std::string', name)


def raw_kind(value):
    return value.GetType().GetUnqualifiedType().GetCanonicalType().GetName() or ''


def summary_of(value):
    text = value.GetSummary()
    if text is None:
        text = value.GetValue()
    return text


def container_text(summary):
    """What the summary says that is not inside: of `Named{a:1}` the variant, of `{a:1}` and `(1, 2)` nothing."""
    if not summary or summary.startswith('('):
        return None
    return summary.split('{')[0].strip() if '{' in summary else cut(summary) if len(summary) < 80 else None


def is_pointer(kind):
    return kind.IsPointerType() or kind.IsReferenceType()


def is_text(value):
    if value.GetType().GetCanonicalType().GetTypeClass() not in (lldb.eTypeClassStruct, lldb.eTypeClassClass):
        return False
    return bool(STRINGS.match(kind_of(value)) or STRINGS.match(raw_kind(value)))


def is_scalar(kind):
    return kind.GetCanonicalType().GetTypeClass() in SCALARS


def cut(text):
    return text if len(text) <= TEXT_LIMIT else text[:TEXT_LIMIT] + '...'


def inner(value, names):
    for name in names:
        child = value.GetChildMemberWithName(name)
        if child.IsValid():
            return child
    return None


def unboxed(value):
    """What a value stands for, following pointers and boxes, and where that is."""
    where = None
    for _ in range(8):
        value.SetPreferSyntheticValue(True)
        kind = value.GetType().GetCanonicalType()
        if kind.GetTypeClass() == lldb.eTypeClassMemberPointer:
            return value, None, None
        if OPTIONALS.match(raw_kind(value)):
            inside = optional_value(value)
            if inside is None:
                return value, None, 'nullopt'
            value = inside
            continue
        if is_pointer(kind):
            target = kind.GetPointeeType() if kind.IsPointerType() else kind.GetDereferencedType()
            address = value.GetValueAsUnsigned(0)
            if value.GetError().Fail():
                return value, None, '<%s>' % value.GetError().GetCString()
            if address == 0:
                return value, None, 'null'
            if target.IsFunctionType() or target.GetCanonicalType().GetTypeClass() == lldb.eTypeClassFunction or target.GetName() == 'void':
                return value, None, None
            if value.GetSummary() is not None and is_scalar(target):
                return value, None, None
            pointed = value.Dereference()
            if not pointed.IsValid() or pointed.GetError().Fail():
                return value, None, 'unreadable'
            value, where = pointed, address
            continue
        if FAT.match(raw_kind(value)) and value.GetByteSize() == 16:
            # It points to something that has no type of its own size: `Rc<str>`.
            return value.GetNonSyntheticValue(), where, None
        if BOXES.match(raw_kind(value)) or BOXES.match(kind_of(value)):
            inside = inner(value, ('pointer', 'ptr', 'value', 'object'))
            if inside is None and value.GetNumChildren() == 1:
                inside = value.GetChildAtIndex(0)
            if inside is None:
                return value, where, None
            if is_pointer(inside.GetType()) and inside.GetValueAsUnsigned(0) == 0:
                return value, None, 'null'
            value, where = inside, None
            continue
        break
    return value, where, None


def optional_value(value):
    """What a `std::optional` holds, if it holds something: LLDB does not always see that."""
    inside = value.GetType().GetCanonicalType().GetTemplateArgumentType(0)
    address, error = address_of(value), lldb.SBError()
    if address is None or not inside.IsValid():
        return None
    there = value.GetProcess().ReadMemory(address + inside.GetByteSize(), 1, error)
    return value.CreateValueFromAddress(value.GetName() or '', address, inside) if error.Success() and there != b'\0' else None


def variant_name(value):
    """The name of the variant that an enum of Rust is."""
    raw = value.GetNonSyntheticValue()
    every = raw.GetChildAtIndex(0) if 'lldb_lookup' in sys.modules and raw.GetNumChildren() == 1 else None
    if every is None or every.GetName() != '$variants$':
        return None
    variant = every.GetChildAtIndex(variant_of(every)).GetChildMemberWithName('value')
    name, depth, start = variant.GetType().GetName() or '', 0, 0
    for at, character in enumerate(name):
        depth += (character == '<') - (character == '>')
        if depth == 0 and name[at:at + 2] == '::':
            start = at + 2
    return re.match(r'\w*', name[start:]).group()


def place_of(value, where):
    address = where if where is not None else value.GetLoadAddress()
    if address in (None, lldb.LLDB_INVALID_ADDRESS, 0):
        return None
    return '%x:%x' % (address, zlib.crc32(raw_kind(value).encode('utf-8', 'replace')))


def text_memory(value):
    """How wide the characters of a text are, and its bytes, also of one that is longer than LLDB shows."""
    raw = value.GetNonSyntheticValue()
    process = value.GetProcess()
    pointer = raw.GetValueForExpressionPath('._M_dataplus._M_p')
    length = raw.GetValueForExpressionPath('._M_string_length')
    for start, size in (('_M_str', '_M_len'), ('data_ptr', 'length')):
        if not pointer.IsValid() or not length.IsValid():
            pointer, length = raw.GetChildMemberWithName(start), raw.GetChildMemberWithName(size)
    if not pointer.IsValid() or not length.IsValid():
        pointer = raw.GetValueForExpressionPath('.vec.buf.inner.ptr.pointer.pointer')
        length = raw.GetValueForExpressionPath('.vec.len')
    if not pointer.IsValid() or not length.IsValid():
        return None, None
    width = CHARACTERS.get(pointer.GetType().GetPointeeType().GetCanonicalType().GetBasicType(), 1)
    size = length.GetValueAsUnsigned(0) * width
    if size == 0:
        return width, b''
    if size > MOST_BYTES:
        return width, None
    error = lldb.SBError()
    data = process.ReadMemory(pointer.GetValueAsUnsigned(0), size, error)
    return width, data if error.Success() else None


def is_list(value):
    return (value.GetChildAtIndex(0).GetName() or '').startswith('[')


def number_of_children(value):
    return value.GetNumChildren()


def address_of(value):
    """Where a value itself lies; none of what is in a register or was optimised away."""
    address = value.GetLoadAddress()
    return None if address in (lldb.LLDB_INVALID_ADDRESS, 0) else address


class UniquePointer:
    """What a `std::unique_ptr` of libstdc++ shows, in the place of LLDB's own, which crashes where a frame knows two of them: g++ writes
    the same name for every `std::tuple`, which is what such a pointer is made of. The pointer is the last word."""

    def __init__(self, value, _):
        self.value = value
        self.pointer = None

    def update(self):
        self.pointer = None
        address, kind = self.value.GetLoadAddress(), plain_type(self.value.GetType())
        target, size = kind.GetTemplateArgumentType(0), kind.GetByteSize()
        if address == lldb.LLDB_INVALID_ADDRESS or not target.IsValid() or size < 8 or size % 8:
            return False
        if target.GetTypeClass() == lldb.eTypeClassArray:
            target = target.GetArrayElementType()
        self.pointer = self.value.CreateValueFromAddress('pointer', address + size - 8, target.GetPointerType())
        return False

    def num_children(self):
        return 0 if self.pointer is None else 1

    def has_children(self):
        return True

    def get_child_index(self, name):
        return 0 if name == 'pointer' else -1

    def get_child_at_index(self, index):
        return self.pointer if index == 0 else None


UNIQUE = '^std::(__\\w+::)?unique_ptr<.+>(( )?&)?$'


def replace_formatters(debugger):
    debugger.HandleCommand('type synthetic add -x "%s" -l %s.UniquePointer' % (UNIQUE, __name__))
    debugger.HandleCommand('type summary add -x "%s" --summary-string "${var%%T}"' % UNIQUE)

# What else the walker is asked: places, values to set, conditions, what was thrown.


def framed(config, process):
    return process.GetThreadByID(config['thread']).GetFrameAtIndex(config['frame'])


def place(config, process):
    """Where a plain number is kept: what else a value has may be anywhere."""
    value = framed(config, process).GetValueForVariablePath(config['expression'])
    if value.IsValid() and value.GetType().IsReferenceType():
        value = value.Dereference()
    kind = value.GetType().GetCanonicalType()
    plain = kind.GetTypeClass() in (lldb.eTypeClassBuiltin, lldb.eTypeClassEnumeration)
    address = value.GetLoadAddress()
    if not value.IsValid() or value.GetError().Fail() or not plain or address == lldb.LLDB_INVALID_ADDRESS:
        return {}
    size = kind.GetByteSize()
    return {'address': '0x%x' % address, 'size': size} if size in (1, 2, 4, 8) else {}


def before(config, process):
    """The line of the instruction before the one a frame is at."""
    address = framed(config, process).GetPC() - 1
    return {'line': process.GetTarget().ResolveLoadAddress(address).GetLineEntry().GetLine()}


def assign(config, process):
    """Gives a variable another value. A number is written where it is; what is more has to be evaluated."""
    frame = framed(config, process)
    value = frame.GetValueForVariablePath(config['expression'])
    error = lldb.SBError()
    if value.IsValid() and not value.GetError().Fail() and value.SetValueFromCString(config['value'], error):
        return {}
    options = lldb.SBExpressionOptions()
    options.SetTimeoutInMicroSeconds(2000000)
    told = frame.EvaluateExpression('%s = %s' % (config['expression'], config['value']), options)
    failed = told.GetError()
    if failed.Fail() and failed.GetError() != VOID:
        said = (failed.GetCString() or error.GetCString() or 'it is no value of that type').strip()
        return {'error': said.splitlines()[0] if said else 'it is no value of that type'}
    return {}


def condition(config, process):
    """Why the condition of the breakpoint at which a thread is paused could not be evaluated. It is not run again: what can only
    be told by running it is taken to be true."""
    options = lldb.SBExpressionOptions()
    options.SetAllowJIT(False)
    options.SetTimeoutInMicroSeconds(500000)
    error = framed(config, process).EvaluateExpression(config['expression'], options).GetError()
    said = (error.GetCString() or '').strip()
    # What it would have to run in the program is nothing wrong.
    if error.Success() or error.GetError() == VOID or 'error: <user expression' not in said:
        return {}
    first = [line for line in said.splitlines() if 'error: ' in line][0]
    return {'problem': first.rpartition('error: ')[2].rpartition(':1:')[2].partition(': ')[2] or first}


def raised(config, process):
    """What a program in C++ throws: `__cxa_throw` is called with the object and the description of its class."""
    frame = process.GetThreadByID(config['thread']).GetFrameAtIndex(0)
    if 'cxa_throw' not in (frame.GetFunctionName() or ''):
        return {}
    registers = {'x86_64': ('rdi', 'rsi'), 'aarch64': ('x0', 'x1'), 'arm64': ('x0', 'x1')}
    names = registers.get(process.GetTarget().GetTriple().partition('-')[0])
    if names is None:
        return {}
    thrown, described = (frame.FindRegister(name).GetValueAsUnsigned() for name in names)
    classes = bases_of(process, described)
    if not classes:
        return {}
    told = {'type': classes[0]}
    if any(name in ('std::runtime_error', 'std::logic_error') for name in classes):
        told['message'] = text_at(process, word_at(process, thrown + 8))
    return told


def bases_of(process, described):
    """The name of a class by its description, and those of the first bases it is made of."""
    found = []
    while described and len(found) < 16:
        symbol = process.GetTarget().ResolveLoadAddress(described).GetSymbol()
        name = (symbol.GetName() or '') if symbol.IsValid() else ''
        if not name.startswith('typeinfo for '):
            break
        found.append(name[len('typeinfo for '):])
        # Only the description of a class with one base goes on so.
        kind = process.GetTarget().ResolveLoadAddress(word_at(process, described)).GetSymbol()
        if 'si_class_type_info' not in ((kind.GetName() or '') if kind.IsValid() else ''):
            break
        described = word_at(process, described + 16)
    return found


def word_at(process, address):
    error = lldb.SBError()
    word = process.ReadPointerFromMemory(address, error)
    return word if error.Success() else 0


def text_at(process, address):
    error = lldb.SBError()
    text = process.ReadCStringFromMemory(address, 400, error) if address else ''
    return text if error.Success() else None


# What LLDB calls an expression without a value.
VOID = 0x1001


def ready(config, process):
    return {'ready': True}


def backsight_walker(debugger, command, result, internal_dict):
    name, _, encoded = command.strip().partition(' ')
    work = {'capture': capture, 'evaluate': evaluate, 'page': page, 'ready': ready, 'place': place, 'before': before,
            'assign': assign, 'condition': condition, 'raised': raised}[name]
    config = json.loads(base64.b64decode(encoded).decode('utf-8'))
    try:
        told = work(config, debugger.GetSelectedTarget().GetProcess())
    except Exception as error:
        import traceback
        told = {'error': '%s: %s' % (type(error).__name__, traceback.format_exc()[-600:])}
    text = base64.b64encode(json.dumps(told, separators=(',', ':')).encode('utf-8', 'surrogatepass')).decode('ascii')
    result.PutCString('backsight:' + text)
    result.SetStatus(lldb.eReturnStatusSuccessFinishResult)


# The longest text that a formatter of rustc's may read.
LONGEST_TEXT = 1 << 20


def tame_formatters():
    """Formatters of rustc's read as many bytes as a text says it has, also of one that was never set; and LLDB tells them only
    the lower half of the numbers by which the variants of an enum are known, so that `None` is taken for `Some`."""
    providers, lookup = sys.modules.get('lldb_providers'), sys.modules.get('lldb_lookup')
    if providers is None or lookup is None:
        return
    limit(lookup, 'StdStringSummaryProvider', ['vec', 'len'])
    limit(lookup, 'StdStrSummaryProvider', ['length'])
    enum = getattr(providers, 'ClangEncodedEnumProvider', None)
    if enum is not None:
        enum._getCurrentVariantIndex = lambda self, variants: variant_of(variants)


def limit(module, name, length):
    provider = getattr(module, name, None)
    if provider is None:
        return

    def summary(value, names):
        told = value
        for member in length:
            told = told.GetNonSyntheticValue().GetChildMemberWithName(member)
        return provider(value, names) if told.GetValueAsUnsigned() <= LONGEST_TEXT else None

    setattr(module, name, summary)


def variant_of(variants):
    """Which variant of an enum is there: the one with the number that is stored, or the one without a number."""
    all_of_them = [variants.GetChildAtIndex(index) for index in range(variants.GetNumChildren())]
    numbers = [variant.GetName()[len('$variant$'):] for variant in all_of_them]
    unnumbered = numbers.index('') if '' in numbers else 0
    for index, (variant, number) in enumerate(zip(all_of_them, numbers)):
        stored = variant.GetChildMemberWithName('$discr$')
        other = all_of_them[unnumbered] if '' in numbers else None
        if number and stored.IsValid() and is_number(stored, int(number), other):
            return index
    return unnumbered


def is_number(stored, number, unnumbered):
    """Whether the number that is stored is this one. Where the variant without a number holds a capacity, which never has the
    highest bit, the numbers of the others stand in its place and have it; LLDB does not tell that place."""
    places = list(capacities(unnumbered, 16)) if unnumbered is not None and stored.GetType().GetByteSize() == 8 else []
    if not places:
        return stored.GetValueAsUnsigned() == number
    words = [one.GetValueAsUnsigned() for one in places]
    return any(word >> 63 == 1 and word & 0xffffffff == number for word in words)


def capacities(value, deepest):
    if CAPACITY.search(value.GetTypeName() or ''):
        plain = value.GetNonSyntheticValue()
        while plain.GetNumChildren():
            plain = plain.GetChildAtIndex(0).GetNonSyntheticValue()
        yield plain
        return
    plain = value.GetNonSyntheticValue()
    is_inside = deepest and not is_pointer(plain.GetType().GetCanonicalType())
    for at in range(min(plain.GetNumChildren(), 64) if is_inside else 0):
        yield from capacities(plain.GetChildAtIndex(at), deepest - 1)


def __lldb_init_module(debugger, internal_dict):
    tame_formatters()
    replace_formatters(debugger)
    debugger.HandleCommand('command script add -o -f backsight_walker.backsight_walker backsight_walker')

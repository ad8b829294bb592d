# What the walker is asked, and what it holds back of the debugger that it lives in.


# Conditions that could not be evaluated, by the thread that came by; the debugger itself forgets them.
CONDITIONS = {}


def condition(config):
    """Why the condition of the breakpoint at which this thread is paused could not be evaluated."""
    problem = CONDITIONS.pop(this_thread(), None)
    return pack({} if problem is None else {'problem': problem})


def others(config):
    """Where the other threads are."""
    numbers, spots = threads(), []
    for ident, frame in current_frames().items():
        number = numbers.get(ident)
        stack = stack_shown(frame) if number is not None and number != config['here'] else []
        if stack:
            spots.append([number, stack[0].f_code.co_filename, stack[0].f_lineno])
    return pack({'spots': spots})


def parse(config):
    """Why a text is no expression, if it is none."""
    try:
        compile(config['expression'].strip(), '<condition>', 'eval', ONLY_PARSED, True)
        return pack({})
    except Exception as error:
        return pack({'problem': '%s: %s' % (name_of(type(error)), error.args[0] if error.args else '')})


def raised(config):
    """The exception at which the program is paused, with those that led to it."""
    for frame in stack_of_thread(config)[:RAISED_FRAMES]:
        try:
            found = [value for name, value in local_entries(frame) if name == '__exception__']
        except Refused:
            continue
        if found and type(found[0]) is tuple and len(found[0]) > 1 and is_a(type(found[0][1]), BaseException):
            return pack(chain_of(found[0][1]))
    return pack({})


def is_a(cls, wanted):
    return any(one is wanted for one in mro(cls))


def chain_of(error):
    told, queue, omitted = [], [(None, error)], 0
    seen = set()
    while queue:
        relation, one = queue.pop(0)
        if id(one) in seen:
            continue
        seen.add(id(one))
        if len(told) > MOST_RAISED:
            omitted += 1
            continue
        told.append({'relation': relation, 'type': name_of(type(one)), 'message': message_of(one)})
        queue[:0] = led_to(one)
    first = told[0]
    del first['relation']
    return dict(first, chain=told[1:], chain_omitted=omitted)


def led_to(error):
    """What led to an exception: what it was raised from, or what was being handled; and those it holds."""
    of_exceptions = BaseException.__dict__
    found = []
    cause, context = (of_exceptions[name].__get__(error) for name in ('__cause__', '__context__'))
    if cause is not None:
        found.append(('cause', cause))
    elif context is not None and not of_exceptions['__suppress_context__'].__get__(error):
        found.append(('context', context))
    if GROUP is not None and is_a(type(error), GROUP):
        inner = GROUP.__dict__['exceptions'].__get__(error)
        found += [('inner', one) for one in (inner if type(inner) is tuple else ())]
    return found


def message_of(error):
    """What an exception says, as far as Python itself would: its one text; otherwise what it was raised with."""
    args = BaseException.__dict__['args'].__get__(error)
    if type(args) is tuple and len(args) == 1 and type(args[0]) is str:
        return cut(args[0])
    text = exception_text(error, type(error))
    return text[len(name_of(type(error))) + 1:-1] or None


WORK = {'capture': capture, 'evaluate': evaluate, 'page': page, 'condition': condition, 'raised': raised, 'parse': parse, 'others': others}
# How a question to this begins. It is no Python, so that a debugger without this evaluates nothing.
ASKED = 'backsight! '


def answer(question):
    name, _, text = question.partition(' ')
    forget()
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
# Those of them that were told to end.
ENDED = set()
GUARD = module('_thread').allocate_lock()


def raise_in(ident, error):
    """Makes a thread raise an error before its next instruction."""
    ctypes = MODULES.get('ctypes')
    if ctypes is not None:
        ctypes.pythonapi.PyThreadState_SetAsyncExc(ctypes.c_ulong(ident), ctypes.py_object(error))


def end(config):
    """Ends what is being evaluated, as Ctrl-C would. A signal also ends what waits or calculates outside Python, but only in the
    main thread, and only where the program does not handle it itself."""
    signals, interrupt = module('_signal'), 2
    with GUARD:
        for ident in list(RUNNING):
            ENDED.add(ident)
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
    """From here on the thread is not ended any more; what was sent before arrives here, and not in the program. Taking it back
    would not do: CPython 3.11 then never forgets that something was sent, and the next call that the debugger traces hangs."""
    sent = False
    for _ in range(6):
        try:
            with GUARD:
                RUNNING.discard(ident)
                if ident not in ENDED:
                    return
            if not sent:
                sent = True
                # Only one can wait: this one takes its place, and arrives here.
                raise_in(ident, KeyboardInterrupt)
            for _ in range(100000):
                pass
            with GUARD:
                ENDED.discard(ident)
        except KeyboardInterrupt:
            continue
    ENDED.discard(ident)


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


def hear_conditions():
    """Keeps what the debugger would tell of a condition that cannot be evaluated, for which its protocol has no word."""
    debugger = MODULES['pydevd'].PyDB
    name = '_send_breakpoint_condition_exception'

    def remember(self, thread, told):
        if type(told) is tuple and told and type(told[0]) is str:
            CONDITIONS[this_thread()] = cut(told[0].rpartition('Error:\n')[2].strip())

    if hasattr(debugger, name):
        setattr(debugger, name, remember)


hear_conditions()


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

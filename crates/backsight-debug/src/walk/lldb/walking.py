# Walks values and frames, and tells what is there.


class Walk:
    def __init__(self, config):
        self.depth = config['depth']
        self.nodes = config['nodes']
        self.head, self.tail = config['head'], config['tail']
        self.started = time.monotonic()
        self.deadline = self.started + config['ms'] / 1000.0
        self.hash_deadline = time.thread_time() + (min(config['ms'] / 2000.0, HASH_SECONDS) if config.get('hash', True) else -1.0)
        self.hash_wall = self.started + min(config['ms'] / 2000.0, HASH_WALL)
        self.seconds_of_one = HASH_SECONDS_OF_ONE / (2 if config.get('half') else 1)
        self.layouts = layouts_of(config['process'])
        self.incomplete = []
        self.count = self.late = self.cut = 0
        self.unhashed = []

    def frame(self, variables):
        seen = {}
        queue = []
        for variable, value, unset in variables:
            variable['v'] = {'k': kind_of(value), 't': '?', 'u': 1} if unset else self.node(value, 0, queue, variable['n'])
        at = 0
        while at < len(queue):
            value, node, level, path = queue[at]
            at += 1
            if self.count >= self.nodes:
                self.cut += 1
                node['x'] = 1
            elif time.monotonic() > self.deadline:
                self.late += 1
                node['x'] = 1
            elif node.get('i') in seen:
                node['s'] = 1
            else:
                if 'i' in node:
                    seen[node['i']] = True
                self.expand(value, node, level, queue, path)

    def node(self, outer, level, queue, path):
        self.count += 1
        node = {'k': kind_of(outer)}
        value, where, odd = unboxed(outer)
        if odd is not None or not value.IsValid():
            node['t'] = odd or '?'
            if node['t'].startswith('<') or node['t'] == 'unreadable':
                node['p'] = 1
            return node
        if is_text(value):
            self.text(value, node)
            return node
        held = self.held(value)
        length = number_of_children(value) if held is None else held.length
        variant = variant_name(value)
        if variant is not None and length == 0:
            node['t'] = variant
            return node
        if is_pointer(value.GetType().GetCanonicalType()) or length == 0:
            self.leaf(value, node)
            return node
        place = place_of(value, where)
        if place is not None:
            node['i'] = place
        if held is not None or is_list(value):
            node['n'] = length
            node['t'] = '%s len %d' % (node['k'], length)
        elif variant is not None:
            node['t'] = variant
        else:
            node['t'] = container_text(value.GetSummary()) or node['k']
        self.hash(value, node, path)
        if level >= self.depth:
            node['x'] = 1
        else:
            queue.append((value, node, level, path))
        return node

    def leaf(self, value, node):
        """What has nothing inside: a number, a pointer that is not followed, an empty container, or what cannot be had."""
        width = CHARACTERS.get(value.GetType().GetCanonicalType().GetPointeeType().GetCanonicalType().GetBasicType())
        if width is not None and self.characters(value, node, width):
            return
        text = summary_of(value)
        if 'sync::atomic::Atomic' in node['k']:
            # LLDB knows no field of it.
            node['p'] = 1
        if value.GetError().Fail():
            node['t'], node['p'] = '<%s>' % value.GetError().GetCString(), 1
        elif text is None or text.startswith('size='):
            node['t'] = '%s len 0' % node['k'] if text else node['k']
            node['n'] = 0
            # Nothing inside, or nothing that is known of it.
            self.hash(value, node, None)
        else:
            node['t'] = cut(text)
            kind = value.GetType().GetCanonicalType()
            if not is_scalar(kind) and not is_pointer(kind):
                # What a formatter says of it may be less than it is.
                self.hash(value, node, None)
            if len(text) > TEXT_LIMIT:
                node['n'], node['h'] = len(text), '%x' % zlib.crc32(text.encode('utf-8', 'surrogatepass'))

    def characters(self, value, node, width):
        """A text that ends at a zero, of any length."""
        try:
            data = self.layouts.memory.string(value.GetValueAsUnsigned(0), width)
        except (Unreadable, TooMuch):
            return False
        if data is None:
            node['t'], node['p'] = cut(summary_of(value) or node['k']), 1
        else:
            self.told_text(value.GetType().GetCanonicalType().GetPointeeType(), data, width, node)
        return True

    def text(self, value, node):
        width, data = text_memory(value)
        if data is None:
            # LLDB shows only the beginning, and its length is not known either.
            node['t'] = cut(summary_of(value) or '""')
            self.hash(value, node, None)
            return
        self.told_text(value.GetType().GetCanonicalType().GetTemplateArgumentType(0), data, width, node)

    def told_text(self, kind, data, width, node):
        text = data.decode({1: 'utf-8', 2: 'utf-16-le', 4: 'utf-32-le'}[width], 'backslashreplace')
        mark = 'L' if 'wchar' in (kind.GetCanonicalType().GetName() or '') else {1: '', 2: 'u', 4: 'U'}[width]
        node['t'] = mark + json.dumps(text[:TEXT_LIMIT], ensure_ascii=False)
        if len(text) > TEXT_LIMIT:
            node['t'] = node['t'][:-1] + '...'
            node['n'], node['h'] = len(data) // width, '%x' % zlib.crc32(data)

    def held(self, value):
        """What a container holds, by its layout in memory."""
        address = address_of(value)
        return None if address is None else self.layouts.held(value.GetType(), address)

    def hash(self, value, node, path):
        """The hash of all of it; where that is not to be had, or not of all, the value is told as not known whole."""
        address, started = address_of(value), time.thread_time()
        left = self.hash_deadline - started
        if address is not None and left > 0 and time.monotonic() < self.hash_wall:
            # One value takes at most half of what is left, so that something is left for the next.
            digest = Digest(self.layouts, started + min(left / 2, self.seconds_of_one), self.hash_wall, HASH_PER_VALUE)
            try:
                node['h'] = '%x' % (digest.root(value.GetType(), address) & 0xffffffffffffffff)
                if digest.partial:
                    node['p'] = 1
                length = node.get('n', 0)
                if digest.runs and self.head + self.tail < length and len(digest.runs) == -(-length // run_of(length)):
                    node['r'] = digest.runs
                return
            except (TooMuch, RecursionError):
                pass
        node['p'] = 1
        if path is not None:
            self.unhashed.append((path, node))

    def expand(self, value, node, level, queue, path):
        below = level + 1
        held = self.held(value)
        if held is not None:
            return self.contained(value, held, node, below, queue, path)
        length = number_of_children(value)
        if is_list(value):
            chosen = range(length) if length <= self.head + self.tail else list(range(self.head)) + list(range(length - self.tail, length))
            node['e'] = [[at, self.node(value.GetChildAtIndex(at), below, queue, '%s[%d]' % (path, at))] for at in chosen]
            self.sampled(path, length, len(node['e']), 'elements')
            return
        most = min(length, 200)
        fields = []
        for at in range(most):
            child = value.GetChildAtIndex(at)
            label = child.GetName() or '[%d]' % at
            if label == '[raw]':
                continue
            fields.append([label, self.node(child, below, queue, '%s.%s' % (path, label))])
        node['f'] = fields
        self.sampled(path, length, most, 'fields')

    def contained(self, value, held, node, below, queue, path):
        try:
            chosen = held.chosen(self.head, self.tail, WHOLE_MAP if held.form != 'e' else 0)
        except (Unreadable, TooMuch):
            node['x'] = 1
            return
        if held.form == 'e':
            node['e'] = [[at, self.node(one, below, queue, '%s[%d]' % (path, at))] for at, one in self.elements(value, held, chosen)]
        else:
            pairs = self.pairs(value, held, chosen)
            found = [[label, self.node(part, below, queue, '%s[%s]' % (path, label))] for label, part in pairs]
            node['m'] = sorted(found, key=lambda entry: entry[0])
        self.sampled(path, held.length, len(chosen), 'elements' if held.form == 'e' else 'entries')

    def elements(self, value, held, chosen):
        return [(at, value.CreateValueFromAddress('[%d]' % at, place, held.kinds[0])) for at, place in chosen]

    def pairs(self, value, held, chosen):
        """Keys as texts with their values; a member of a set is its own key."""
        found = []
        for _, place in chosen:
            if held.form == 'm':
                key = value.CreateValueFromAddress('key', place[0], held.kinds[0])
                part = value.CreateValueFromAddress('value', place[1], held.kinds[1])
            else:
                key = part = value.CreateValueFromAddress('key', place, held.kinds[0])
            found.append((self.key_text(key), part))
        return found

    def parts(self, value, start, count):
        """Some of what is directly inside a value: in what form, what, and how much there is in all."""
        held = self.held(value)
        length = number_of_children(value) if held is None else held.length
        end = min(start + count, length)
        if held is not None:
            chosen = list(enumerate(held.places(start, end), start)) if start < end else []
            if held.form == 'e':
                return 'e', self.elements(value, held, chosen), length
            return 'm', self.pairs(value, held, chosen), length
        if is_list(value):
            return 'e', [(at, value.GetChildAtIndex(at)) for at in range(start, end)], length
        children = [value.GetChildAtIndex(at) for at in range(length)]
        fields = [(child.GetName() or '[%d]' % at, child) for at, child in enumerate(children)]
        fields = [field for field in fields if field[0] != '[raw]']
        return 'f', fields[start:end], len(fields)

    def key_text(self, key, deepest=3):
        value, _, odd = unboxed(key)
        if odd is not None:
            return odd
        text = summary_of(value)
        if is_text(value):
            node = {'k': ''}
            self.text(value, node)
            text = node['t']
        elif not text and deepest and number_of_children(value):
            inside = [value.GetChildAtIndex(at) for at in range(min(number_of_children(value), 8))]
            text = '{%s}' % ', '.join('%s: %s' % (one.GetName(), self.key_text(one, deepest - 1)) for one in inside)
        text = text or variant_name(value) or kind_of(value)
        if deepest == 3 and len(text) > 1 and text.startswith('"') and text.endswith('"'):
            text = text[1:-1]
        return text if len(text) <= 120 else '%s...%x' % (text[:120], zlib.crc32(text.encode('utf-8', 'surrogatepass')))

    def sampled(self, path, length, told, what):
        if told < length:
            self.incomplete.append([path, '%d %s, %d captured' % (length, what, told)])

    def uncertain(self):
        """Names the values whose insides were neither told nor hashed: the first of them, and how many more there are."""
        sampled = {path for path, _ in self.incomplete}
        found = [path for path, node in self.unhashed if 'x' in node or path in sampled]
        named = [[path, 'too much to hash: a change deep inside may go unseen'] for path in found[:MOST_NAMED]]
        if len(found) > MOST_NAMED:
            named[-1][1] += '; likewise %d more values' % (len(found) - MOST_NAMED)
        self.incomplete += named


def variables_of(frame):
    here = frame.GetLineEntry()
    line = here.GetLine()
    file = here.GetFileSpec().GetFilename()
    found = []
    for scope, arguments, local in (('argument', True, False), ('local', False, True)):
        for value in frame.GetVariables(arguments, local, False, True, lldb.eNoDynamicValues):
            name = value.GetName()
            if not name:
                continue
            declared = value.GetDeclaration()
            same = declared.IsValid() and declared.GetFileSpec().GetFilename() == file
            unset = scope == 'local' and same and line and declared.GetLine() >= line
            told = 'this' if scope == 'argument' and name in ('this', 'self') else scope
            found.append(({'n': name.split(' @ ')[0], 's': told}, value, bool(unset)))
    # Of those with the same name the last one is the innermost.
    hidden = {}
    for variable, _, _ in reversed(found):
        depth = hidden.get(variable['n'], 0)
        if depth:
            variable['d'] = depth
        hidden[variable['n']] = depth + 1
    return found


def watch(walk, frame, text):
    value = frame.GetValueForVariablePath(text)
    variable = {'n': text, 's': 'watch'}
    if not value.IsValid() or value.GetError().Fail():
        variable['v'] = {'k': 'error', 't': '<error: only what is read without running code: a variable, its fields and elements>'}
        return variable, None
    return variable, value


LAYOUTS = {}


def layouts_of(process):
    """What is known of the types of a program; what is in its memory is read again for each question."""
    key = process.GetProcessID()
    if key not in LAYOUTS:
        LAYOUTS.clear()
        LAYOUTS[key] = Layouts(process.GetTarget(), process)
    LAYOUTS[key].memory = Memory(process)
    return LAYOUTS[key]


def capture(config, process):
    thread = process.GetThreadByID(config['thread'])
    if not thread.IsValid():
        return {'error': 'there is no thread %s' % config['thread']}
    walk = Walk(dict(config, process=process))
    told = []
    threads = [thread]
    if config['threads']:
        threads += [other for other in process if other.GetThreadID() != thread.GetThreadID()]
    for one in threads:
        first = config['frame'] if one.GetThreadID() == thread.GetThreadID() else 0
        for index in range(first, min(first + config['frames'], one.GetNumFrames())):
            told.append(one_frame(walk, one, index, config if one is thread and index == first else None))
    if walk.late:
        walk.incomplete.append(['', 'timed out after %d ms: %d values not expanded' % (config['ms'], walk.late)])
    if walk.cut:
        walk.incomplete.append(['', 'more than %d values: %d not expanded' % (config['nodes'], walk.cut)])
    walk.uncertain()
    return {'frames': told, 'incomplete': walk.incomplete, 'stack': thread.GetNumFrames()}


def one_frame(walk, thread, index, config):
    frame = thread.GetFrameAtIndex(index)
    line = frame.GetLineEntry()
    file = line.GetFileSpec()
    variables = [] if config and config['only'] else variables_of(frame)
    watches = [watch(walk, frame, text) for text in config['watches']] if config else []
    walk.frame(variables + [(variable, value, False) for variable, value in watches if value is not None])
    return {'thread': thread.GetThreadID(), 'index': index, 'function': function_name(frame),
            'file': str(file) if file.IsValid() else None, 'line': line.GetLine() if line.IsValid() else None,
            'v': [variable for variable, _, _ in variables] + [variable for variable, _ in watches]}


def function_name(frame):
    """Without the types of the arguments, which are captured."""
    name = frame.GetDisplayFunctionName() or '?'
    return name if '(' not in name[1:] or 'operator' in name or name.startswith('(') else name.split('(')[0]


def evaluate(config, process):
    frame = process.GetThreadByID(config['thread']).GetFrameAtIndex(config['frame'])
    value = frame.GetValueForVariablePath(config['expression'])
    if not value.IsValid() or value.GetError().Fail():
        return {'refused': 'only a variable, its fields and its elements can be read without running code'}
    walk = Walk({'depth': 1, 'nodes': 200, 'ms': 1000, 'head': 8, 'tail': 4, 'process': process})
    variable = {'n': 'value', 's': 'watch'}
    walk.frame([(variable, value, False)])
    return {'v': variable['v']}


def page(config, process):
    """A value and some of what is directly inside it. Where it is is told by its variable and by positions from there on."""
    frame = process.GetThreadByID(config['thread']).GetFrameAtIndex(config['frame'])
    walk = Walk({'depth': 0, 'nodes': 0, 'ms': 0, 'head': 8, 'tail': 4, 'hash': False, 'process': process})
    if config['expression'] is not None:
        value = frame.GetValueForVariablePath(config['expression'])
        if not value.IsValid() or value.GetError().Fail():
            return {'refused': 'only a variable, its fields and its elements can be read without running code'}
    else:
        variable, value, unset = variables_of(frame)[config['root']]
        if unset:
            return {'refused': '`%s` has no value yet' % variable['n']}
    for at in config['at']:
        value = walk.parts(unboxed(value)[0], at, 1)[1][0][1]
    node = walk.node(value, 0, [], '')
    if 'x' not in node:
        return {'v': node, 'total': 0}
    form, found, total = walk.parts(unboxed(value)[0], config['start'], config['count'])
    node[form] = [[label, walk.node(part, 0, [], '')] for label, part in found]
    return {'v': node, 'total': total}

# Expressions that only read, followed without running anything.


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

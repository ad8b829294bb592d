import array
import collections
import ctypes
import datetime
import io
import itertools
import sys
import threading
import types

runs = 0


def ran():
    global runs
    runs += 1


class Noisy(dict):
    def items(self):
        ran()
        return []

    def get(self, *rest):
        ran()

    def __iter__(self):
        ran()
        return iter(())


class Hidden:
    def __init__(self):
        self.x = 1

    @property
    def __dict__(self):
        ran()
        return {}


class Replaced:
    def __init__(self):
        self.__dict__ = Noisy(a=1, b=2)


class Shape(ctypes.Structure):
    _fields_ = [('a', ctypes.c_int), ('b', ctypes.c_double)]


class Counted:
    made = 0
    names = []

    def method(self):
        return self


class Holder:
    def __init__(self):
        self.deep = {'at': {'date': datetime.date(2024, 1, 1)}}
        self.count = 1
        self.cycle = itertools.cycle([1, 2])


def counter():
    n = 0

    def inc():
        nonlocal n
        n += 1

    return inc


def numbers():
    local = 0
    while True:
        local += 1
        yield local


def with_default(into=[]):
    into.append(1)


def work():
    plain = array.array('i', [1, 2, 3])
    lengthy = array.array('d', range(1000))
    seen = memoryview(bytearray(b'abc'))
    under = {'a': 1}
    proxy = types.MappingProxyType(under)
    noisy = types.MappingProxyType(Noisy(a=1))
    hidden = Hidden()
    replaced = Replaced()
    shape = Shape(1, 2.5)
    single = ctypes.c_int(1)
    several = (ctypes.c_int * 3)(1, 2, 3)
    kind = Counted
    inc = counter()
    generator = numbers()
    next(generator)
    iterator = iter([1, 2, 3])
    cycle = itertools.cycle([1, 2])
    text = io.StringIO('abc')
    data = io.BytesIO(b'abc')
    lock = threading.Lock()
    again = threading.RLock()
    big = 10 ** 5000
    default = with_default
    holders = [[[Holder()]]]
    held = Holder()
    nothing = object()
    random = collections.Counter()
    wide = {number: [number, {'a': number}] for number in range(3000)}
    large = {number: number for number in range(200000)}
    words = {str(number) for number in range(100000)}
    endless = [[[number]] for number in range(30000)]
    here = 1  # BEFORE
    plain[0] = 77
    lengthy[500] = -1
    seen[0] = 7
    under['a'] = 2
    object.__setattr__(hidden, 'x', 2)
    dict.__setitem__(replaced.__dict__, 'a', 3)
    shape.a = 5
    single.value = 6
    several[1] = 7
    kind.made += 1
    inc()
    next(generator)
    next(iterator)
    next(cycle)
    text.write('x')
    data.write(b'x')
    lock.acquire()
    again.acquire()
    big += 1
    with_default()
    holders[0][0][0].deep['at']['date'] = datetime.date(2024, 1, 2)
    wide[1500][1]['a'] = -1
    large[100000] = -1
    words.remove('50000')
    words.add('another')
    here = 2  # AFTER
    print('ran', runs, file=sys.stderr, flush=True)
    return here, noisy, nothing, random, held, default, endless


work()

import sys
from collections import namedtuple
from types import SimpleNamespace

runs = 0


def ran():
    global runs
    runs += 1


class Meta(type):
    def __eq__(cls, other):
        ran()
        return cls is other

    def __hash__(cls):
        ran()
        return 7

    @property
    def __name__(cls):
        ran()
        return 'another'


class Made(metaclass=Meta):
    shared = None

    def __init__(self):
        self.field = 1


class Guarded:
    def __init__(self):
        self.stored = 1

    def __getattribute__(self, name):
        ran()
        return object.__getattribute__(self, name)

    @property
    def __dict__(self):
        ran()
        return {}


class Eager:
    def __getattr__(self, name):
        ran()
        return name


Point = namedtuple('Point', 'x y')


def work():
    made = Made()
    kind = Made
    held = {'made': made, 'kind': kind}
    pair = (made, kind)
    keyed = {1: made}
    guarded = Guarded()
    eager = Eager()
    point = Point(3, 4)
    space = SimpleNamespace(a=5)
    halves = {'\udfff': 1, 'k\ud800': 'v\ud800'}
    global runs
    runs = 0
    here = 1  # CLASSES
    print('ran', runs, file=sys.stderr, flush=True)
    return here, held, pair, keyed, guarded, eager, point, space, halves


work()

import sys
import threading

runs = 0


class Customer:
    def __init__(self, name):
        self.name = name

    def __repr__(self):
        global runs
        runs += 1
        return 'Customer'

    @property
    def shout(self):
        global runs
        runs += 1
        return self.name.upper()


class Item:
    __slots__ = ('name', 'price')

    def __init__(self, name, price):
        self.name = name
        self.price = price


class Order:
    def __init__(self):
        self.customer = Customer('Ann')
        self.items = [Item('pen', 10), Item('ink', 20)]
        self.me = self

    def __eq__(self, other):
        global runs
        runs += 1
        return True

    def __hash__(self):
        global runs
        runs += 1
        return 1


class Shop:
    def work(self, order, count, label, *rest):
        x = 2
        number = 42
        ratio = 2.5
        flag = True
        nothing = None
        text = 'héllo wörld 世界'
        lengthy = 'abcdefghij' * 10000
        größe = 7
        empty = []
        nested = [[1, 2], [3]]
        small = [1, 2, 3]
        big = list(range(1000000))
        prices = {'apple': 3, 'pear': 5}
        also = order
        number = number + 0  # FIRST
        number += 1
        order.customer.name = 'Bob'
        order.items[1].price = 21
        small.append(4)
        prices['pear'] = 6
        big[500000] = 7
        number = number + 0  # SECOND
        return number


def recurse(n):
    if n == 0:
        return 0  # DEEP
    return 1 + recurse(n - 1)


def wait_for(started, event):
    waiting = 'for the end'
    started.set()
    event.wait()
    return waiting


def loop():
    total = 0
    for i in range(1000):
        total += i
        here = total  # LOOP
    return here


def main():
    print('hello from the program', flush=True)
    started = threading.Event()
    event = threading.Event()
    thread = threading.Thread(target=wait_for, args=(started, event), name='waiter', daemon=True)
    thread.start()
    started.wait()
    Shop().work(Order(), 3, 'label', 7)
    recurse(5)
    loop()
    event.set()
    try:
        raise ValueError('caught it')  # THROW
    except ValueError as error:
        caught = error
    print('ran', runs, file=sys.stderr, flush=True)
    sys.exit(3)


main()

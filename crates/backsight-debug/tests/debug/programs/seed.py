import sys
import threading
import time


class Customer:
    def __init__(self, name):
        self.name = name


class Order:
    def __init__(self):
        self.total = 7
        self.customer = Customer('Warsaw')


def mark(*values):
    pass


def empty():
    pass  # EMPTY


def add(left, right):
    total = left + right  # ADD
    return total  # RETURN


def work(order):
    retry_count = 2
    value = 1
    api_key = 'sk-live-0123456789abcdef'
    big = list(range(5000))
    temp_buffer = 'bytes'
    mark(temp_buffer)  # BEFORE
    del temp_buffer
    retry_count = 3
    order.customer.name = 'Krakow'
    api_key = 'sk-live-fedcba9876543210'
    value = 'one'
    result = 'done'
    mark(result)  # AFTER
    total = add(1, 2)  # CALL
    mark(total)  # CALLED
    return retry_count


def lone(number):
    mark(number)  # LONE


def hit(number):
    mark(number)  # HIT


def crowd(start):
    start.wait()
    for number in range(20):
        hit(number)


def loop():
    total = 0
    for i in range(30):
        total += i
        mark(total)  # LOOP
    return total


def throw(number):
    raise ValueError('thrown %d' % number)  # THROW


def main():
    if 'linger' in sys.argv:
        while True:
            loop()
            time.sleep(0.001)
    empty()
    work(Order())
    for number in range(2):
        thread = threading.Thread(target=lone, args=(number,))
        thread.start()
        thread.join()
    start = threading.Event()
    threads = [threading.Thread(target=crowd, args=(start,)) for _ in range(2)]
    for thread in threads:
        thread.start()
    start.set()
    for thread in threads:
        thread.join()
    loop()
    for number in range(3):
        try:
            throw(number)
        except ValueError:
            pass
    mark('the last line')  # LAST
    print('finished', flush=True)


main()

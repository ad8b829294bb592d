"""What the program in docs/PROGRAM.md is asked about while it is paused."""


class Order:
    def __init__(self):
        self.items = []
        self.total = 0.0

    def add(self, price):
        self.items.append(price)
        self.total += price
        return self.total


def main():
    order = Order()
    tax = 1.19
    for n in range(4):
        subtotal = order.add(n * 2.5)
        gross = round(subtotal * tax, 2)
    print("gross", gross)


main()

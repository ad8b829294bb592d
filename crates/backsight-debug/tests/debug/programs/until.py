import json


class Order:
    def __init__(self):
        self.total = 0
        self.items = [1, 2, 3]
        self.prices = {'apple': 3}


def audit(order, at):
    note = json.dumps({'at': at})
    if at == 3:
        order.items[1] = 20  # GUILTY
    return len(note)


def main():
    order = Order()
    count = 0
    for at in range(6):  # START
        audit(order, at)
        count += 1
        if at == 4:
            order.total = 7  # TOTAL
    print('counted', count)  # END
    return count


main()

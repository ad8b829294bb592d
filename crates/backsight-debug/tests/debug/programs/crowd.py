"""Several threads that come to one line at the same time, again and again."""

import threading

gate = threading.Barrier(4)
seen = [0] * 4


def crowd(mine):
    for number in range(12):
        gate.wait()
        seen[mine] += number  # HIT


threads = [threading.Thread(target=crowd, args=(mine,)) for mine in range(4)]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print('finished', seen)

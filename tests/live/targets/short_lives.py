# -*- coding: utf-8 -*-
"""short_lives.py FILE: one thread after another that works for 0.2 s. FILE: [name, when it began, when it ended]."""
from ready import OUT, Record, start_thread, wall_clock


def work(times):
    times.append(wall_clock())
    while wall_clock() < times[0] + 0.2:
        sum(range(1000))
    times.append(wall_clock())


record = Record(OUT)
n = 0
while True:
    times = []
    start_thread(work, "short %d" % n, times).join()
    record.add("short %d" % n, *times)
    n += 1

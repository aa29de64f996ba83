# -*- coding: utf-8 -*-
"""short_lives.py FILE: a new thread each 0.2 s that lives 0.2 s and works."""
import time

from ready import OUT, publish, start_thread, wall_clock


def work():
    end = wall_clock() + 0.2
    while wall_clock() < end:
        sum(range(1000))


n = 0
publish(OUT, {})
while True:
    start_thread(work, "short %d" % n).join()
    n += 1

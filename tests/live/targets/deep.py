# -*- coding: utf-8 -*-
"""deep.py FILE [DEPTH]: the main thread waits at the end of a recursion of three functions, DEPTH frames deep:
more than one chunk of CPython's data stack holds."""
import sys
import time

from ready import FOREVER, OUT, publish, start_thread

depth = int(sys.argv[2]) if len(sys.argv) > 2 else 900


def one(n):
    return two(n - 1)


def two(n):
    return three(n - 1)


def three(n):
    if n <= 0:
        return time.sleep(FOREVER)
    return one(n - 1)


def tell():
    def count():
        frame, n = sys._current_frames()[main], 0
        while frame:
            frame, n = frame.f_back, n + 1
        return n
    n = 0
    while n < depth or n != count():
        n = count()
        time.sleep(0.1)
    publish(OUT, {"depth": n})
    time.sleep(FOREVER)


main = __import__("threading").current_thread().ident
sys.setrecursionlimit(depth + 1000)
start_thread(tell, "tell")
one(depth)

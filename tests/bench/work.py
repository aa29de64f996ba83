# -*- coding: utf-8 -*-
"""work.py FILE THREADS DEPTH [loop]: that many busy threads whose stacks are about DEPTH deep, and whose leaves are tiny
calls, so that nearly every reading finds the stack in motion; with loop: a loop that calls nothing."""
import sys
import threading
import time

FOREVER = 100000


def leaf_a(x):
    return x + 1


def leaf_b(x):
    return leaf_a(x) - 1


def spin():
    while True:
        for x in range(50):
            leaf_a(x)
            leaf_b(x)


def loop():
    total = 0
    while True:
        for x in range(1000):
            total += x


def descend(n):
    if n <= 0:
        leaf()
    descend(n - 1)


threads, depth = int(sys.argv[2]), int(sys.argv[3])
leaf = loop if "loop" in sys.argv[4:] else spin
for n in range(threads - 1):
    threading.Thread(target=descend, args=(depth - 6,), name="work %d" % n, daemon=True).start()
open(sys.argv[1], "w").close()
descend(depth - 3)

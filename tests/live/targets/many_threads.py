# -*- coding: utf-8 -*-
"""many_threads.py FILE [N]: N threads that sleep (1000 unless said) and one that spins."""
import sys
import threading
import time

from ready import FOREVER, OUT, publish, start_thread

many = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
threading.stack_size(256 << 10)


def doze():
    time.sleep(FOREVER)


def spin():
    while True:
        sum(range(1000))


for n in range(many):
    start_thread(doze, "dozer %d" % n)
start_thread(spin, "spinner")
publish(OUT, {"threads": threading.active_count()})
while True:
    time.sleep(FOREVER)

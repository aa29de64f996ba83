# -*- coding: utf-8 -*-
"""children.py FILE: an idle parent whose two Python children are busy, one twice as much as the other, as a
server with worker processes has. FILE gives {"parent", "busiest", "other"}."""
import os
import signal
import sys
import time

import ready


def work(n):
    x = 0
    for i in range(n):
        x ^= i
    return x


def child(pause):
    ready.allow_reading()
    parent = os.getppid()
    while os.getppid() == parent:
        start = ready.cpu_clock()
        work(200000)
        if pause:
            time.sleep(2 * (ready.cpu_clock() - start))


def fork(pause):
    pid = os.fork()
    if pid == 0:
        child(pause)
        os._exit(0)
    return pid


signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
busiest, other = fork(False), fork(True)
ready.publish(ready.OUT, {"parent": os.getpid(), "busiest": busiest, "other": other})
try:
    time.sleep(ready.FOREVER)
finally:
    for pid in (busiest, other):
        os.kill(pid, signal.SIGKILL)

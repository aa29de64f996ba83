# -*- coding: utf-8 -*-
"""threads.py FILE [busy]: threads in each state that has a name. Without `busy` all of them wait: asleep, in
poll, for a lock, for a queue, in read. With it three more fight for the GIL and one works without it."""
import hashlib
import os
import select
import sys
import threading
import time

try:
    from queue import Queue
except ImportError:
    from Queue import Queue

from ready import FOREVER, OUT, native_id, publish, start_thread

tids = {}


def here():
    tids[threading.current_thread().name] = native_id()


def sleeper():
    here()
    time.sleep(FOREVER)


def poller():
    here()
    poll = select.epoll()
    poll.register(os.pipe()[0], select.EPOLLIN)
    poll.poll()


def selecter():
    here()
    select.select([os.pipe()[0]], [], [])


def locker():
    here()
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def queuer():
    here()
    Queue().get()


def reader():
    here()
    os.read(os.pipe()[0], 1)


def spin(n):
    x = 0
    for i in range(n):
        x ^= i
    return x


def spinner():
    here()
    while True:
        spin(10000)


def hasher():
    here()
    data = b"x" * (64 << 20)
    while True:
        hashlib.sha512(data).digest()


if __name__ == "__main__":
    here()
    workers = [sleeper, poller, selecter, locker, queuer, reader]
    named = [(w, w.__name__) for w in workers]
    if "busy" in sys.argv:
        named += [(spinner, "spinner %d" % i) for i in range(3)] + [(hasher, "hasher")]
    for function, name in named:
        start_thread(function, name)
    while len(tids) < len(named) + 1:
        time.sleep(0.05)
    time.sleep(0.3)
    publish(OUT, tids)
    while True:
        time.sleep(FOREVER)

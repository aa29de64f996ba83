# -*- coding: utf-8 -*-
"""oracle.py FILE: threads that stop at known places in every interesting way; then the interpreter's own
view of each thread's stack is written to FILE, and all wait. Runs on Python 2.7 and 3.6 and later."""
from __future__ import print_function
import os
import sys
import threading
import time

from ready import FOREVER, OUT, native_id, publish, start_thread

PY3 = sys.version_info[0] >= 3
tids = {}                                   # ident -> native id


def here():
    tids[threading.current_thread().ident] = native_id()


def sleeping():
    here()

    def inner(
            a,
            b):
        time.sleep(
            a +
            b)
    return inner(FOREVER, 0)


def locked():
    here()
    lock = threading.Lock()
    lock.acquire()
    # a comment, so that the line number jumps

    for i in range(3):
        if i == 2:
            lock.acquire()


def generate(n):
    if n:
        for x in generate(n - 1):
            yield x
    else:
        time.sleep(FOREVER)
        yield 1


def generators():
    here()
    return list(generate(3))


def recurse(n):
    if n == 0:
        return time.sleep(FOREVER)
    return [recurse(n - 1) for _ in range(1)]


def recursion():
    here()
    recurse(120)


class Shop(object):
    def method(self):
        return (lambda: self.deeper())()

    def deeper(self):
        return sorted([3, 1, 2], key=self.price)        # through C

    def price(self, x):
        time.sleep(FOREVER)

    @staticmethod
    def static(self):
        return self.method()

    @classmethod
    def cls(cls):
        return cls.static(cls())


def callbacks():
    here()
    list(map(lambda shop: shop.cls(), [Shop]))


# more than 255 code units on one line, and a jump of 400 lines
long_line = ("def long_line():\n    x = 0\n    x = x + " + " + ".join(["x"] * 300) + "\n" + "\n" * 400 +
             "    sleep(%d)\n" % FOREVER)
# a call of many lines: the line of the call is before that of its arguments
far_arguments = ("def far_arguments():\n    return (\n        sleep\n" + "\n" * 200 +
                 "        (\n        %d\n        )\n    )\n" % FOREVER)
made = {"sleep": time.sleep}
exec(compile(long_line, "<made long>", "exec"), made)
exec(compile(far_arguments, "<made far>", "exec"), made)
if PY3:
    exec(compile(u'''
def f\u00fcnktion_\u0416(n):
    sleep(n)
def \U00020000x(n):
    f\u00fcnktion_\u0416(n)
def na\u00efve(n):
    \U00020000x(n)
''', u"/tmp/\u0434\u0438\u0440/\u00e9\u00e8.py", "exec"), made)


def long_lines():
    here()
    made["long_line"]()


def backward_lines():
    here()
    made["far_arguments"]()


def unicode_names():
    here()
    made[u"na\u00efve" if PY3 else "long_line"](*[FOREVER] * PY3)


def handling():
    here()
    try:
        {}["nope"]
    except KeyError:
        try:
            1 / 0
        except ZeroDivisionError:
            time.sleep(FOREVER)


class Hot(object):
    def __init__(self, n):
        self.n = n
        if n == 0:
            time.sleep(FOREVER)


def hot_init():
    here()
    for i in range(200, -1, -1):            # called often enough to be specialised and inlined
        Hot(i)


class Inlined(object):
    n = 0

    @property
    def prop(self):
        return self[self.n]

    def __getitem__(self, k):
        if k > 500:
            time.sleep(FOREVER)
        return k

    def __getattr__(self, name):
        return self.prop


def hot_inlined():
    here()
    o = Inlined()
    for i in range(1000):
        Inlined.n = i
        o.missing


def last(i):
    try:
        return i
    finally:
        if i > 300:
            with threading.Lock():
                next(time.sleep(FOREVER)
                     for _ in
                     range(3))


def finally_blocks():
    here()
    for i in range(400):
        last(i)


def comparing():
    here()

    class Odd(object):
        def __lt__(self, other):
            return time.sleep(FOREVER)

        def __hash__(self):
            return 1

        def __eq__(self, other):
            return self < other
    {Odd(): 1, Odd(): 2}


workers = [sleeping, locked, generators, recursion, callbacks, long_lines, backward_lines, unicode_names,
           handling, hot_init, hot_inlined, finally_blocks, comparing]

if sys.version_info >= (3, 7):
    exec('''
import asyncio
async def leaf():
    time.sleep(FOREVER)
async def numbers():
    await leaf()
    yield 1
async def middle():
    async for x in numbers():
        pass
async def top():
    await middle()
def coroutines():
    here()
    asyncio.new_event_loop().run_until_complete(top())
''')
    workers.append(coroutines)      # noqa: F821


def stack_of(frame):
    stack = []
    while frame is not None:
        code = frame.f_code
        stack.append([getattr(code, "co_qualname", code.co_name), code.co_filename, frame.f_lineno])
        frame = frame.f_back
    return stack


def settled():
    """every stack but our own twice the same, a fifth of a second apart"""
    me = threading.current_thread().ident
    before = None
    for _ in range(100):
        now = dict((i, stack_of(f)) for i, f in sys._current_frames().items() if i != me)
        if now == before and len(now) == len(workers) + 1:
            return now
        before = now
        time.sleep(0.2)
    sys.exit("threads do not come to rest")


def write_down():
    here()
    names = dict((t.ident, t.name) for t in threading.enumerate())
    main = os.getpid()
    publish(OUT, {"pid": main, "version": "%d.%d.%d" % sys.version_info[:3],
                  "threads": [{"tid": tids[i], "name": names[i], "main": tids[i] == main, "frames": stack}
                              for i, stack in settled().items()]})
    time.sleep(FOREVER)


here()
for worker in workers:
    start_thread(worker, u"T \u0416 %s" % worker.__name__ if PY3 else "T " + worker.__name__)
start_thread(write_down, "writer").join()

# -*- coding: utf-8 -*-
"""churn.py FILE: code objects made and freed all the time, so that the address of a dead one is given to the
next. Names tell the truth: function w_N stands in file /churn/N.py from line N % 997 + 1 on and calls i_N."""
import time

from ready import OUT, cpu_clock, publish

TEXT = """
def i_%(n)d(x):
    for k in range(200): x ^= k
    return x
def w_%(n)d(until):
    x = 0
    while clock() < until:
        x = i_%(n)d(x)
    return x
"""


def one(n):
    text = "\n" * (n % 997 - 1 + 997) + TEXT % {"n": n}
    space = {"clock": cpu_clock}
    exec(compile(text, "/churn/%d.py" % n, "exec"), space)
    space["w_%d" % n](cpu_clock() + 0.004)


n = 0
while True:
    one(n)
    n += 1
    if n == 20:
        publish(OUT, {"started": time.time()})

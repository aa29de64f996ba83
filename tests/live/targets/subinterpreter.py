# -*- coding: utf-8 -*-
"""subinterpreter.py FILE: a thread runs code in a second interpreter and waits there; the main thread waits in
the first. Runs on Python 3.8 and later."""
import os
import time

from ready import FOREVER, OUT, publish, start_thread

try:
    import _interpreters as interpreters                # 3.13 and later
except ImportError:
    import _xxsubinterpreters as interpreters

INSIDE = """
import time
def inside_the_other():
    open(%r, "w").close()
    time.sleep(%d)
inside_the_other()
""" % (OUT + ".inside", FOREVER)


def enter():
    run = getattr(interpreters, "exec", None) or interpreters.run_string
    run(interpreters.create(), INSIDE)


def outside():
    while not os.path.exists(OUT + ".inside"):
        time.sleep(0.05)
    time.sleep(0.2)
    publish(OUT, {})
    time.sleep(FOREVER)


start_thread(enter, "enters")
outside()

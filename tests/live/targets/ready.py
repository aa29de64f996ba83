# -*- coding: utf-8 -*-
"""What every target needs: leave to be read by a process that is not its parent, the kernel's number of
a thread, a clock of the calling thread's own CPU time, and a way to say "look at me now".
Runs on Python 2.7 and 3.6 and later."""
import json
import os
import sys
import threading
import time

FOREVER = 100000


def allow_reading():
    """where ptrace_scope is 1 only descendants may be read; PR_SET_PTRACER_ANY lifts that"""
    try:
        import ctypes
        ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1 & (1 << 64) - 1), 0, 0, 0)
    except (ImportError, OSError, AttributeError):
        pass


def native_id():
    """the calling thread's number in /proc"""
    if hasattr(threading, "get_native_id"):
        return threading.get_native_id()
    import ctypes
    return ctypes.CDLL(None).syscall({"x86_64": 186}.get(os.uname()[4], 178))


def cpu_clock():
    """seconds of CPU the calling thread has used"""
    return time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID)


def wall_clock():
    return time.clock_gettime(time.CLOCK_MONOTONIC)


def start_thread(function, name, *args):
    """a daemon thread"""
    thread = threading.Thread(target=function, name=name, args=args)
    thread.daemon = True
    thread.start()
    return thread


def publish(path, what):
    """write `what` as JSON in one step: who sees the file sees all of it"""
    with open(path + ".part", "w") as file:
        json.dump(what, file)
    os.rename(path + ".part", path)


class Record(object):
    """a growing file, one JSON list a line, flushed each time"""
    def __init__(self, path):
        self.file = open(path, "w")

    def add(self, *row):
        self.file.write(json.dumps(row) + "\n")
        self.file.flush()


allow_reading()
OUT = sys.argv[1] if len(sys.argv) > 1 else None

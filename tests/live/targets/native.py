# -*- coding: utf-8 -*-
"""native.py FILE: a thread that Python knows nothing of spins in machine code of its own: one jump to itself.
The main thread sleeps."""
import ctypes
import mmap
import os
import sys
import time

from ready import FOREVER, OUT, publish

JUMP_TO_ITSELF = {"x86_64": b"\xeb\xfe", "aarch64": b"\x00\x00\x00\x14"}

code = JUMP_TO_ITSELF.get(os.uname()[4]) or sys.exit("no machine code for this machine")
page = mmap.mmap(-1, mmap.PAGESIZE, prot=mmap.PROT_READ | mmap.PROT_WRITE | mmap.PROT_EXEC)
page.write(code)
libc = ctypes.CDLL(None)
pthreads = libc if hasattr(libc, "pthread_create") else ctypes.CDLL("libpthread.so.0")
start = ctypes.addressof(ctypes.c_char.from_buffer(page))
thread = ctypes.c_ulong()
pthreads.pthread_create(ctypes.byref(thread), None, ctypes.c_void_p(start), None)
publish(OUT, {})
while True:
    time.sleep(FOREVER)

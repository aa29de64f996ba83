# -*- coding: utf-8 -*-
"""shop.py FILE: the program on the golden screens: a few functions whose order never changes, threads in fixed
states, names wide and narrow, plain and not. Runs until it is killed."""
import os
import select
import sys
import threading
import time

FOREVER = 100000


def clock():
    return time.clock_gettime(time.CLOCK_THREAD_CPUTIME_ID)


def burn(seconds):
    end = clock() + seconds
    while clock() < end:
        sum(range(2000))


class Cart(object):
    def price(self):
        burn(0.030)

    def discount(self):
        burn(0.012)

    def shipping(self):
        burn(0.005)


def überweisung_mit_sehr_langem_namen_der_gekürzt_werden_muss():
    burn(0.002)


def checkout():
    cart = Cart()
    while True:
        cart.price()
        cart.discount()
        cart.shipping()
        überweisung_mit_sehr_langem_namen_der_gekürzt_werden_muss()
        time.sleep(0.02)


def report():
    while True:
        burn(0.004)
        time.sleep(0.02)


def wait_for_orders():
    select.select([os.pipe()[0]], [], [])


def wait_for_lock():
    lock = threading.Lock()
    lock.acquire()
    lock.acquire()


def doze():
    time.sleep(FOREVER)


def main():
    for name, work in (("checkout", checkout), ("report", report), ("orders", wait_for_orders), ("лок 锁", wait_for_lock), ("janitor", doze)):
        threading.Thread(target=work, name=name, daemon=True).start()
    time.sleep(0.5)
    open(sys.argv[1], "w").close()
    time.sleep(FOREVER)


try:
    import ctypes
    ctypes.CDLL(None).prctl(0x59616d61, ctypes.c_ulong(-1 & (1 << 64) - 1), 0, 0, 0)
except (ImportError, OSError, AttributeError):
    pass
main()

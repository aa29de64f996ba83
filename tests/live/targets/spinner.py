# -*- coding: utf-8 -*-
"""spinner.py FILE: a thread that spins and writes down its own CPU clock: [wall clock, CPU], a line about every
20 ms. The main thread sleeps."""
import time

from ready import FOREVER, OUT, Record, cpu_clock, start_thread, wall_clock


def spin(n):
    x = 0
    for i in range(n):
        x ^= i
    return x


def spinning(record):
    while True:
        spin(300000)
        record.add(wall_clock(), cpu_clock())


record = Record(OUT)
start_thread(spinning, "the spinner", record)
while True:
    time.sleep(FOREVER)

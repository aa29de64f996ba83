# -*- coding: utf-8 -*-
"""shares.py FILE: one thread that spends its time by turns on a great many tiny calls and in one long loop,
and writes down, by its own thread clock, how much CPU each has had: a line each turn,
[wall clock before tiny_calls, between, after long_loop, CPU of tiny_calls, CPU of long_loop]."""
from ready import OUT, Record, cpu_clock, wall_clock


def tiny(x):
    return x + 1


def tiny_calls(n):
    x = 0
    for _ in range(n):
        x = tiny(x)
    return x


def long_loop(n):
    x = 0
    for i in range(n):
        x += i & 7
        x ^= 3
    return x


def turns(record, n_tiny, n_loop):
    while True:
        a, x = wall_clock(), cpu_clock()
        tiny_calls(n_tiny)
        b, y = wall_clock(), cpu_clock()
        long_loop(n_loop)
        c, z = wall_clock(), cpu_clock()
        record.add(a, b, c, y - x, z - y)


def speed(function):
    """calls that fill 20 ms"""
    function(20000)                     # warm: specialised by now
    start = cpu_clock()
    function(50000)
    return int(50000 * 0.02 / (cpu_clock() - start))


turns(Record(OUT), speed(tiny_calls), speed(long_loop))

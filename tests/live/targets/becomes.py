# -*- coding: utf-8 -*-
"""becomes.py FILE [again]: works in before(), after 2 seconds becomes itself once more, and works in after()."""
import os
import sys

from ready import OUT, publish, wall_clock


def work(until):
    while wall_clock() < until:
        sum(range(1000))


def before():
    work(wall_clock() + 2)


def after():
    work(wall_clock() + 100)


if len(sys.argv) > 2:
    after()
publish(OUT, {})
before()
os.execv(sys.executable, [sys.executable] + sys.argv + ["again"])

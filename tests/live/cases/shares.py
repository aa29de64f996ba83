"""CPU shares, against programs that keep their own by their thread's clock, over exactly the time that pytop saw."""
import bisect

import gecko
from harness import agree, case, until

SECONDS = 3


class Clock:
    """CPU by wall clock, from [(from, to, CPU used)] in order of time, even within each"""
    def __init__(self, phases):
        self.times, self.sums = [], []
        total = 0.0
        for start, end, cpu in phases:
            self.times += [start, end]
            self.sums += [total, total + cpu]
            total += cpu

    def at(self, when):
        i = bisect.bisect_right(self.times, when)
        if i == 0 or i == len(self.times):
            return self.sums[max(0, i - 1)]
        (a, b), (x, y) = self.times[i - 1:i + 1], self.sums[i - 1:i + 1]
        return x + (y - x) * (when - a) / (b - a) if b > a else x

    def during(self, stretches):
        return sum(self.at(end) - self.at(start) for start, end in stretches)


def turns(rows):
    """the clocks of tiny_calls and of long_loop"""
    return (Clock([(a, b, cpu) for a, b, _, cpu, _ in rows]), Clock([(b, c, cpu) for _, b, c, _, cpu in rows]))


def watch(bench, target, *options):
    """run pytop: (result, log, CPU of tiny, of loop in what it saw)"""
    until(target.rows, "the record")
    result, log = bench.log("-d", SECONDS, *options, target.pid)
    until(lambda: target.rows()[-1][2] > log.ticks[-1].time / 1e6, "the record")
    tiny, loop = (clock.during(log.stretches()) for clock in turns(target.rows()))
    return result, log, tiny, loop


def slack(log):
    """points more where much of the time was not seen: what was used in a gap is known to the kernel's tick only"""
    return 20 * sum(t.gap for t in log.ticks) / max(1, sum(t.gap + t.weight for t in log.ticks))


@case(each=True)
def shares(bench):
    """tiny calls and a long loop in turns: each one's part of the CPU within 2 points"""
    target = bench.start("shares.py")

    def attempt():
        result, log, tiny, loop = watch(bench, target, "--batch", "--json", "-i", SECONDS, "--half-life", 0)
        rows = {r["function"]: r for r in result.lines()[-1]["functions"]}
        of_tiny, of_loop = rows["tiny_calls"]["total"]["cpu"], rows["long_loop"]["total"]["cpu"]
        inside = rows["tiny_calls"]["self"]["cpu"] + rows["tiny"]["self"]["cpu"]
        return {"share of the tiny calls": (100 * of_tiny / (of_tiny + of_loop), 100 * tiny / (tiny + loop), 2),
                "CPU of both": (of_tiny + of_loop, 100 * (tiny + loop) / log.seen(), 3 + slack(log)),
                "tiny and its caller": (inside, of_tiny, 2),
                "long_loop alone": (rows["long_loop"]["self"]["cpu"], of_loop, 2)}
    agree(attempt)


@case()
def shares_collapsed(bench):
    """the same from a file of collapsed stacks"""
    target = bench.start("shares.py")
    file = bench.path("x.collapsed.txt")

    def attempt():
        _, _, tiny, loop = watch(bench, target, "-o", file, "-f", "collapsed")
        sums = {"tiny_calls": 0, "long_loop": 0}
        for line in open(file, encoding="utf-8"):
            stack, count = line.rstrip("\n").rsplit(" ", 1)
            for name in sums:
                sums[name] += int(count) if name in stack else 0
        share = 100 * sums["tiny_calls"] / sum(sums.values())
        return {"share of the tiny calls": (share, 100 * tiny / (tiny + loop), 2)}
    agree(attempt)


@case()
def shares_slow_rate(bench):
    """at 100 Hz with jitter the shares stay true: no lockstep with the program's own period"""
    target = bench.start("shares.py")

    def attempt():
        result, _, tiny, loop = watch(bench, target, "--batch", "--json", "-i", SECONDS, "--half-life", 0, "-r", 100)
        rows = {r["function"]: r["total"]["cpu"] for r in result.lines()[-1]["functions"]}
        share = 100 * rows["tiny_calls"] / (rows["tiny_calls"] + rows["long_loop"])
        return {"share of the tiny calls": (share, 100 * tiny / (tiny + loop), 8)}
    agree(attempt)


@case(each=True)
def spinner_cpu(bench):
    """a spinning thread's CPU in the Gecko file is what its own clock says: near 100 % with a core of its own"""
    target = bench.start("spinner.py")
    file = bench.path("x.json")
    until(lambda: target.rows()[1:], "the record")

    def attempt():
        _, log = bench.log("-d", 2, "-o", file, target.pid)
        until(lambda: target.rows()[-1][0] > log.ticks[-1].time / 1e6, "the record")
        rows = target.rows()
        clock = Clock([(a[0], b[0], b[1] - a[1]) for a, b in zip(rows, rows[1:])])
        true = 100 * clock.during(log.stretches()) / log.seen()
        profile = gecko.Profile(file)
        unit = {"ns": 1e-9, "\u00b5s": 1e-6}[profile.meta["sampleUnits"]["threadCPUDelta"]]
        thread, idle = profile.thread("the spinner"), [t for t in profile.threads if t.main][0]
        steps = zip(thread.cpu[1:], thread.times[1:], thread.times)
        over = [c for c, b, a in steps if c and c * unit * 1000 > (b - a) * 1.01 + 0.002]
        cpu, idle_cpu = (100 * unit * sum(c or 0 for c in t.cpu) / log.seen() for t in (thread, idle))
        return {"CPU of the spinner": (cpu, true, 3 + slack(log)), "CPU of the sleeper": (idle_cpu, 0, 1),
                "rows with more CPU than time": (len(over), 0, 0)}
    agree(attempt)

"""CPU shares, against a program that keeps its own by its thread's clock."""
import gecko
from harness import case, need, until

SECONDS = 5


def at(rows, when):
    """the record's [tiny, loop] at a time, between its rows"""
    before = [r for r in rows if r[0] <= when][-1]
    after = [r for r in rows if r[0] > when][:1] or [before]
    part = (when - before[0]) / (after[0][0] - before[0]) if after[0][0] > before[0] else 0
    return [b + part * (a - b) for b, a in zip(before[1:], after[0][1:])]


def watch(bench, target, *options):
    """run pytop over a stretch of the target's record: (result, CPU of tiny, of loop, wall time)"""
    until(target.rows, "the record")
    start = target.rows()[-1][0]
    result = bench.pytop("-d", SECONDS, *options, target.pid)
    until(lambda: target.rows()[-1][0] >= start + SECONDS, "the record")
    rows = target.rows()
    end = rows[-1][0]
    tiny, loop = (b - a for a, b in zip(at(rows, start), at(rows, end)))
    return result, tiny, loop, end - start


def near(what, seen, true, points=2):
    need(abs(seen - true) <= points, "%s: %.2f, not %.2f" % (what, seen, true))


@case(each=True)
def shares(bench):
    """tiny calls and a long loop in turns: each one's part of the CPU within 2 points"""
    target = bench.start("shares.py")
    result, tiny, loop, wall = watch(bench, target, "--batch", "--json", "-i", SECONDS, "--half-life", 0)
    last = result.lines()[-1]
    rows = {r["function"]: r for r in last["functions"]}
    seen_tiny, seen_loop = rows["tiny_calls"]["total"]["cpu"], rows["long_loop"]["total"]["cpu"]
    near("share of the tiny calls", 100 * seen_tiny / (seen_tiny + seen_loop), 100 * tiny / (tiny + loop))
    near("CPU of both", seen_tiny + seen_loop, 100 * (tiny + loop) / wall, 4)
    inside = rows["tiny_calls"]["self"]["cpu"] + rows["tiny"]["self"]["cpu"]
    near("tiny and its caller", inside, seen_tiny)
    near("long_loop alone", rows["long_loop"]["self"]["cpu"], seen_loop)


@case()
def shares_collapsed(bench):
    """the same from a file of collapsed stacks"""
    target = bench.start("shares.py")
    file = bench.path("x.collapsed.txt")
    _, tiny, loop, _ = watch(bench, target, "-o", file, "-f", "collapsed")
    sums = {"tiny_calls": 0, "long_loop": 0}
    for line in open(file, encoding="utf-8"):
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        for name in sums:
            sums[name] += int(count) if name in stack else 0
    near("share of the tiny calls", 100 * sums["tiny_calls"] / sum(sums.values()), 100 * tiny / (tiny + loop))


@case()
def shares_slow_rate(bench):
    """at 100 Hz with jitter the shares stay true: no lockstep with the program's own period"""
    target = bench.start("shares.py")
    result, tiny, loop, _ = watch(bench, target, "--batch", "--json", "-i", SECONDS, "--half-life", 0, "-r", 100)
    rows = {r["function"]: r["total"]["cpu"] for r in result.lines()[-1]["functions"]}
    share = 100 * rows["tiny_calls"] / (rows["tiny_calls"] + rows["long_loop"])
    near("share of the tiny calls", share, 100 * tiny / (tiny + loop), 8)


@case(each=True, alone=True)
def spinner_cpu(bench):
    """a spinning thread's CPU in the Gecko file is what its own clock says: near 100 % with a core of its own"""
    target = bench.start("spinner.py")
    until(target.rows, "the record")
    before = target.rows()[-1]
    file = bench.path("x.json")
    bench.pytop("-d", 3, "-o", file, target.pid)
    after = target.rows()[-1]
    true = 100 * (after[1] - before[1]) / (after[0] - before[0])
    profile = gecko.Profile(file)
    unit = {"ns": 1e-6, "\u00b5s": 1e-3}[profile.meta["sampleUnits"]["threadCPUDelta"]]
    thread = profile.thread("the spinner")
    cpu = sum(c or 0 for c in thread.cpu[1:]) * unit
    near("CPU of the spinner", 100 * cpu / (thread.times[-1] - thread.times[0]), true, 4)
    steps = zip(thread.cpu[1:], thread.times[1:], thread.times)
    over = [c for c, b, a in steps if c and c * unit > (b - a) * 1.01 + 0.002]
    need(not over, len(over), "rows have more CPU than time")
    idle = [t for t in profile.threads if t.main][0]
    near("CPU of the sleeper", 100 * sum(c or 0 for c in idle.cpu[1:]) * unit / 3000, 0, 1)

"""Collapsed stacks, as flamegraph.pl and speedscope read them."""
import re

from harness import case, need


def read(file):
    """[(frames, count)]; every line must be well formed"""
    with open(file, "rb") as f:
        raw = f.read()
    need(raw.endswith(b"\n"), "no newline at the end")
    stacks = []
    for line in raw.decode("utf-8").split("\n")[:-1]:
        match = re.fullmatch(r"([^\x00-\x1f\x7f]+) ([1-9]\d*)", line)
        need(match, "a line that is none: %.100r" % line)
        frames = match.group(1).split(";")
        need(all(frames), "an empty frame in %.100r" % line)
        stacks.append((tuple(frames), int(match.group(2))))
    need(len({s for s, _ in stacks}) == len(stacks), "a stack twice")
    return stacks


@case()
def collapsed_file(bench):
    """each kind: the counts of a thread are its time in the log, in intervals; and three spinners do what they do"""
    target = bench.start("threads.py", "busy")
    _, log = bench.log("-d", 2, "-m", "wall", "-o", bench.path("live.folded"), target.pid)
    sums = log.sums(lambda thread, sample: thread.name)
    spinners = dict.fromkeys(("wall", "cpu", "gil", "wait"), 0.0)
    for kind in spinners:
        file = bench.path(kind + ".folded")
        bench.pytop("--open", bench.spool, "--batch", "-n", 1, "-m", kind, "-o", file)
        counts, stacks = {}, {}
        for frames, count in read(file):
            counts[frames[0]] = counts.get(frames[0], 0) + count
            stacks[frames[0]] = stacks.get(frames[0], 0) + 1
        for number, thread in log.threads.items():
            seconds = sums.get((thread.name, kind), 0)
            found = sum(n for name, n in counts.items() if thread.name in name)
            lines = sum(n for name, n in stacks.items() if thread.name in name)
            need(abs(found - seconds * log.rate) <= 1 + lines / 2 + 2, kind, "of", thread.name, "is", found, "not",
                 seconds * log.rate)
            spinners[kind] += seconds / log.seen() if "spinner" in thread.name else 0
    need(open(bench.path("live.folded")).read() == open(bench.path("wall.folded")).read(), "live and --open differ")
    need(2.99 <= spinners["wall"] <= 3.01, "wall of three spinners:", spinners["wall"])
    need(0.75 <= spinners["gil"] <= 1.01, "GIL held by three spinners:", spinners["gil"])
    need(1.2 <= spinners["wait"] <= 2.3, "waits of three spinners:", spinners["wait"])


@case()
def collapsed_hostile_names(bench):
    """names with separators, newlines and controls do not break the lines"""
    target = bench.start("names.py")
    for suffix in (".txt", ".folded"):
        file = bench.path("x" + suffix)
        bench.pytop("-d", 1, "-m", "wall", "-o", file, target.pid)
        stacks = read(file)
        need(any("semi" in f and "colon" in f for frames, _ in stacks for f in frames), "no semi:colon")
        leaves = {frames[-1] for frames, _ in stacks}
        need(len(leaves) >= 10, "only", len(leaves), "different leaves")

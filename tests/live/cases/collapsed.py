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
    """kinds: wall, CPU, GIL and waits add up to what three spinners do"""
    target = bench.start("threads.py", "busy")
    counts = {}
    for kind in ("wall", "cpu", "gil", "wait"):
        file = bench.path(kind + ".folded")
        bench.pytop("-d", 2, "-m", kind, "-o", file, target.pid)
        for frames, count in read(file):
            key = (kind, "spinner" if frames[0].startswith("spinner") else frames[0].split(" ")[0])
            counts[key] = counts.get(key, 0) + count
    need(5400 <= counts["wall", "spinner"] <= 6600, "wall of three spinners in 2 s:", counts["wall", "spinner"])
    need(1500 <= counts["gil", "spinner"] <= 2100, "GIL held by three spinners in 2 s:", counts["gil", "spinner"])
    need(2400 <= counts["wait", "spinner"] <= 4600, "waits of three spinners in 2 s:", counts["wait", "spinner"])
    need(counts.get(("cpu", "sleeper"), 0) < 20, "CPU of a sleeper", counts.get(("cpu", "sleeper")))
    need(1800 <= counts["wall", "sleeper"] <= 2200, "wall of a sleeper in 2 s:", counts["wall", "sleeper"])
    need(("gil", "sleeper") not in counts, "a sleeper holds the GIL")


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

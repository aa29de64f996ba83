"""Stacks that never were: a program whose call graph is known, read at 10,000 Hz."""
import re

import gecko
from harness import case, need

TORN = "<torn>"
LIMIT_PERCENT = 5                       # of thread-samples that may be given up as torn


def impossible(frames, graph, prefix):
    """why this stack (root first, Frame) never was; None when it can have been"""
    path = [f for f in frames if f.file in graph["defs"]]
    names = [graph["defs"][f.file].get(str(f.defined)) for f in path]
    below = frames[frames.index(path[0]) - 1] if path else None
    if None in names:
        return "a function defined at no such line: %s" % (path[names.index(None)],)
    if not names:
        return None if len(frames) <= 6 else "too deep without a function of the graph"
    if names[0] != prefix or not below or below.function != "forever":
        return "begins with %s, called by %s" % (names[0], below and below.function)
    for i in range(1, len(names)):
        caller, line = graph["calls"][names[i]]
        if names[i - 1] != caller:
            return "%s called by %s" % (names[i], names[i - 1])
        if path[i - 1].line != line:
            return "%s called from line %d, not %d" % (names[i], path[i - 1].line, line)
    tail = frames[frames.index(path[-1]) + 1:]
    if any(f.file for f in tail):
        return "%s called by %s" % (tail[0].function, names[-1])
    return None


def check_graph(profile, graph, least):
    samples = torn = 0
    wrong = {}
    for thread in profile.threads:
        if not thread.name.startswith("graph "):
            continue
        prefix = thread.name[-1]
        verdicts = {}
        for index, weight in zip(thread.stacks, thread.weights):
            if index not in verdicts:
                frames = profile.stack(index)
                verdicts[index] = (impossible(frames, graph, prefix), any(f.function == TORN for f in frames))
            why, is_torn = verdicts[index]
            samples, torn = samples + weight, torn + is_torn * weight
            if why:
                wrong[why] = wrong.get(why, 0) + weight
    need(samples >= least, "only", samples, "thread-samples, not", least)
    need(not wrong, sum(wrong.values()), "of", samples, "stacks never were:", next(iter(wrong), ""))
    need(torn <= samples * LIMIT_PERCENT / 100, torn, "of", samples, "torn")
    return samples, torn


@case(each=True)
def callgraph(bench):
    """30,000 thread-samples of tiny calls: no stack that never was, each caller on the line of its call"""
    target = bench.start("callgraph.py")
    file = bench.path("x.json")
    bench.pytop("-r", "10k", "-d", 3, "-o", file, target.pid)
    check_graph(gecko.Profile(file), target.truth(), 30000)


@case(each=True)
def callgraph_blocking(bench):
    """the same with --blocking: nothing is torn, since nothing moves"""
    target = bench.start("callgraph.py")
    file = bench.path("x.json")
    bench.pytop("--blocking", "-r", "1k", "-d", 2, "-o", file, target.pid)
    samples, torn = check_graph(gecko.Profile(file), target.truth(), 500)
    need(torn == 0, torn, "of", samples, "torn")
    need(target.alive() and target.status("TracerPid") == "0", "the target is still traced")


@case()
def callgraph_collapsed(bench):
    """the same in a file of collapsed stacks, by the names alone"""
    target = bench.start("callgraph.py")
    file = bench.path("x.collapsed.txt")
    bench.pytop("-r", "10k", "-d", 2, "-o", file, target.pid)
    calls = target.truth()["calls"]
    seen = 0
    for line in open(file, encoding="utf-8"):
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        names = re.findall(r"(?:^|;)((?:p|q)(?:_\d)*)\b", stack)
        for caller, callee in zip(names, names[1:]):
            need(calls[callee][0] == caller, callee, "called by", caller)
        need(not names or names[0] == re.search("graph (.)", stack).group(1), "another thread's stack:", stack)
        seen += int(count) if names else 0
    need(seen > 5000, "only", seen)


@case(each=True)
def churn(bench):
    """code objects made and freed all the time: no function with another one's file or line"""
    target = bench.start("churn.py")
    file = bench.path("x.json")
    bench.pytop("-r", "5k", "-d", 3, "-o", file, target.pid)
    profile = gecko.Profile(file)
    functions = set()
    for thread in profile.threads:
        for index in set(thread.stacks):
            frames = [f for f in profile.stack(index) if f.file.startswith("/churn/")]
            functions.update(frames)
            numbers = {re.sub(r"\D", "", f.function) for f in frames}
            need(len(numbers) <= 1, "one stack with functions of", sorted(numbers))
            need([f.function[0] for f in frames] in ([], ["w"], ["w", "i"]) or frames[0].function == "<module>",
                 "a stack", [f.function for f in frames])
    wrong = []
    for f in functions:
        number = re.sub(r"\D", "", f.file)
        first = 0 if f.function == "<module>" else int(number) % 997 + 998 + (3 if f.function[0] == "w" else 0)
        if f.function not in ("<module>", "w_" + number, "i_" + number):
            wrong.append("%s in %s" % (f.function, f.file))
        elif first and not (f.defined == first and first <= f.line <= first + 4):
            wrong.append("%s in %s at %d, line %d, not %d" % (f.function, f.file, f.defined, f.line, first))
    need(not wrong, len(wrong), "of", len(functions), "wrong:", wrong[:1])
    need(len({f.file for f in functions}) > 100, "only", len({f.file for f in functions}), "files seen")

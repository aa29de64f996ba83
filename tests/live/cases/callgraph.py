"""Stacks that never were: a program whose call graph is known, read at 10,000 Hz."""
import re

import gecko
from harness import Fail, case, need

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


class Verdicts:
    """thread-samples of a graph, counted; each different stack is judged once"""
    def __init__(self, graph):
        self.graph, self.samples, self.torn = graph, 0, 0
        self.verdicts, self.wrong = {}, {}

    def add(self, thread, stack):
        key = thread, stack
        if key not in self.verdicts:
            self.verdicts[key] = impossible(stack, self.graph, thread[-1]), any(f.function == TORN for f in stack)
        why, torn = self.verdicts[key]
        self.samples += 1
        self.torn += torn
        if why:
            self.wrong[why] = self.wrong.get(why, 0) + 1

    def add_log(self, log):
        graphs = {n: t.name for n, t in log.threads.items() if t.name.startswith("graph ")}
        for tick in log.ticks:
            for number, sample in tick.samples.items():
                if number in graphs:
                    self.add(graphs[number], sample.stack)

    def judge(self, torn_percent):
        need(not self.wrong, sum(self.wrong.values()), "of", self.samples, "stacks never were:", next(iter(self.wrong), ""))
        need(self.torn <= self.samples * torn_percent / 100, self.torn, "of", self.samples, "torn")


def watch(bench, target, least, *options):
    """as many runs as make so many thread-samples"""
    verdicts = Verdicts(target.truth())
    for _ in range(60):
        verdicts.add_log(bench.log("--batch", "-n", 1, *options, target.pid)[1])
        if verdicts.samples >= least:
            return verdicts
    raise Fail("only %d thread-samples in 60 s" % verdicts.samples)


@case(each=True)
def callgraph(bench):
    """30,000 thread-samples of tiny calls: no stack that never was, each caller on the line of its call"""
    watch(bench, bench.start("callgraph.py"), 30000, "-r", "20k").judge(LIMIT_PERCENT)


@case(each=True)
def callgraph_blocking(bench):
    """the same with --blocking: nothing is torn, since nothing moves"""
    target = bench.start("callgraph.py")
    watch(bench, target, 1500, "--blocking", "-r", "1k").judge(0)
    need(target.alive() and target.status("TracerPid") == "0", "the target is still traced")


@case()
def callgraph_gecko(bench):
    """the same in a Gecko file, which has as many rows as the log has thread-samples"""
    target = bench.start("callgraph.py")
    file = bench.path("x.json")
    _, log = bench.log("-r", "5k", "-d", 1, "-o", file, target.pid)
    counts = Verdicts(target.truth())
    counts.add_log(log)
    verdicts = Verdicts(target.truth())
    profile = gecko.Profile(file)
    for thread in profile.threads:
        for stack in thread.stacks if thread.name.startswith("graph ") else ():
            if stack is not None:
                verdicts.add(thread.name, profile.stack(stack))
    verdicts.judge(LIMIT_PERCENT)
    need(verdicts.samples == counts.samples and verdicts.torn == counts.torn, verdicts.samples, "rows,", verdicts.torn,
         "torn, of", counts.samples, "thread-samples,", counts.torn, "torn")


@case()
def callgraph_collapsed(bench):
    """the same in a file of collapsed stacks, by the names alone"""
    target = bench.start("callgraph.py")
    file = bench.path("x.collapsed.txt")
    _, log = bench.log("-r", "10k", "-d", 1, "-m", "wall", "-o", file, target.pid)
    calls = target.truth()["calls"]
    seen = 0
    for line in open(file, encoding="utf-8"):
        stack, count = line.rstrip("\n").rsplit(" ", 1)
        names = re.findall(r"(?:^|;)((?:p|q)(?:_\d)*)\b", stack)
        for caller, callee in zip(names, names[1:]):
            need(calls[callee][0] == caller, callee, "called by", caller)
        need(not names or names[0] == re.search("graph (.)", stack).group(1), "another thread's stack:", stack)
        seen += int(count) if stack.startswith("graph ") else 0
    true = 2 * log.seen() * log.rate
    need(abs(seen - true) < true / 50 + 100, "a count of", seen, "not", true)


@case(each=True)
def churn(bench):
    """code objects made and freed all the time: no function with another one's file or line"""
    target = bench.start("churn.py")
    file = bench.path("x.json")
    bench.pytop("-r", "5k", "-d", 2, "-o", file, target.pid)
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
    need(len({f.file for f in functions}) > 20, "only", len({f.file for f in functions}), "files seen")

"""Reads a profile document back: threads, their samples, and each stack as plain frames."""
import gzip
import json
from collections import namedtuple

Frame = namedtuple("Frame", "function file defined line category")
Marker = namedtuple("Marker", "name start end data")


class Thread:
    def __init__(self, profile, table):
        self.name, self.tid, self.pid, self.main = table["name"], str(table["tid"]), table["pid"], table["isMainThread"]
        self.registered, self.unregistered = table["registerTime"], table["unregisterTime"]
        samples = table["samples"]
        self.stacks = samples["stack"]
        self.weights = samples.get("weight") or [1] * samples["length"]
        self.cpu = samples.get("threadCPUDelta") or [None] * samples["length"]
        self.times = samples.get("time") or running_sum(samples["timeDeltas"])
        m, names = table["markers"], profile.strings
        self.markers = [Marker(names[m["name"][i]], m["startTime"][i], m["endTime"][i], m["data"][i])
                        for i in range(m["length"])]


class Profile:
    def __init__(self, path):
        with open(path, "rb") as file:
            raw = file.read()
        if raw[:2] == b"\x1f\x8b":
            raw = gzip.decompress(raw)
        self.document = json.loads(raw.decode("utf-8"))
        self.meta, self.shared = self.document["meta"], self.document["shared"]
        self.strings = self.shared["stringArray"]
        self.cache = {None: ()}
        self.threads = [Thread(self, t) for t in self.document["threads"]]

    def thread(self, name):
        """the one thread of this name"""
        found = [t for t in self.threads if t.name == name]
        if len(found) != 1:
            raise KeyError("%d threads named %s among %s" % (len(found), name, [t.name for t in self.threads]))
        return found[0]

    def stack(self, index):
        """a stack's frames, root first"""
        path = []
        while index not in self.cache:
            path.append(index)
            offset = self.shared["stackTable"]["prefixOffset"][index]
            index = index - offset if offset else None
        frames = self.cache[index]
        for i in reversed(path):
            frames = self.cache[i] = frames + (self.frame(self.shared["stackTable"]["frame"][i]),)
        return frames

    def frame(self, index):
        frames, functions, sources = (self.shared[t] for t in ("frameTable", "funcTable", "sources"))
        func = frames["func"][index]
        flags = functions["flags"][func]
        file = self.strings[sources["filename"][functions["source"][func]]] if flags & 8 else ""
        category = self.meta["categories"][frames["category"][index]]["name"] if frames["flags"][index] & 4 else ""
        return Frame(self.strings[functions["name"][func]], file, functions["lineNumber"][func],
                     frames["line"][index], category)


def running_sum(deltas):
    times, now = [], 0.0
    for delta in deltas:
        now += delta
        times.append(now)
    return times

"""The log on disk: read again by --open, after a kill, within its limit; and exports while it grows."""
import glob
import json
import os
import shutil
import signal
import time

import gecko
from harness import Fail, case, need, until


def contents(file):
    """a profile as what matters of it: by thread, its samples by absolute time with their frames, and its markers"""
    profile = gecko.Profile(file)
    start = profile.meta["startTime"]
    threads = {}
    for t in profile.threads:
        samples = [(start + when, profile.stack(stack), weight)
                   for when, stack, weight in zip(t.times, t.stacks, t.weights)]
        threads[t.tid, t.name] = samples
    return profile, threads


@case(each=True)
def open_equals_live(bench):
    """what --open exports from a kept spool is what the live run exported"""
    target = bench.start("threads.py", "busy")
    spool = bench.path("spool")
    for suffix in ("x.json", "x.folded"):
        live, again = bench.path("live" + suffix), bench.path("again" + suffix)
        bench.pytop("-d", 1, "--spool", spool, "-o", live, target.pid)
        bench.pytop("--open", spool, "--batch", "-n", 1, "-o", again)
        shutil.rmtree(spool)
        if suffix == "x.folded":
            need(open(live).read() == open(again).read(), "collapsed stacks differ")
            continue
        (a, live_threads), (b, again_threads) = contents(live), contents(again)
        need(set(live_threads) == set(again_threads), "threads", set(live_threads) ^ set(again_threads))
        need(abs(a.meta["startTime"] - b.meta["startTime"]) < 0.01, "startTime differs")
        for key, samples in live_threads.items():
            other = again_threads[key]
            need(len(samples) == len(other), key, len(samples), "samples live,", len(other), "from the spool")
            for s, o in zip(samples, other):
                need(abs(s[0] - o[0]) < 0.01 and s[1:] == o[1:], key, "sample", s, "live,", o, "from the spool")
        for s, o in zip(a.threads, b.threads):
            need(len(s.markers) == len(o.markers), s.name, len(s.markers), "markers,", len(o.markers))


@case(each=True)
def open_batch(bench):
    """--open gives the table of the whole log, by the same contract; and its figures are those which a reader of the
    manual's finds in it"""
    target = bench.start("threads.py", "busy")
    live, log = bench.log("--batch", "--json", "-n", 1, "-i", 1.5, "--half-life", 0, target.pid)
    live = live.json()
    again = bench.pytop("--batch", "--json", "-n", 1, "--limit", 10000, "--open", bench.spool).json()
    need(set(live) == set(again), "keys", set(live) ^ set(again))
    need(again["pid"] == target.pid and again["python"] == bench.python.text, "pid or version of", again["pid"])
    need(again["ticks"] == len(log.ticks), again["ticks"], "ticks, not", len(log.ticks))
    need(again["samples"] == sum(len(t.samples) for t in log.ticks), again["samples"], "samples")
    need(again["missed"] == sum(t.missed for t in log.ticks), again["missed"], "missed")
    need(again["torn"] == sum(s.flags >> 7 for t in log.ticks for s in t.samples.values()), again["torn"], "torn")
    compare_threads(again, log)
    compare_functions(again, log)
    for row in again["functions"]:
        other = [r for r in live["functions"] if (r["function"], r["file"]) == (row["function"], row["file"])]
        for kind in row["total"] if len(other) == 1 and row["file"] else ():
            a, b = row["total"][kind], other[0]["total"][kind]
            need(abs(a - b) < 8, row["function"], kind, a, "from the spool,", b, "live")


def compare_threads(document, log):
    sums = log.sums(lambda thread, sample: thread.tid)
    for thread in document["threads"]:
        for kind, name in (("cpu", "cpu_percent"), ("gil", "gil_percent"), ("wait", "wait_percent")):
            true = 100 * sums.get((thread["tid"], kind), 0) / log.seen()
            need(abs(thread[name] - true) < 0.1, name, "of", thread["name"], "is", thread[name], "not", true)


def compare_functions(document, log):
    """self and total of each function, over each thread-sample of the log"""
    self, total = {}, {}
    for tick in log.ticks:
        for thread, sample in tick.samples.items():
            kinds = log.kinds(tick, thread)
            names = {f[:3] for f in sample.stack}
            for kind, value in kinds.items():
                for name in names:
                    total[name, kind] = total.get((name, kind), 0) + value
                if names:
                    leaf = sample.stack[-1][:3], kind
                    self[leaf] = self.get(leaf, 0) + value
    rows = {(r["function"], r["file"], r["line"]): r for r in document["functions"]}
    for sums, side in ((self, "self"), (total, "total")):
        for (name, kind), value in sums.items():
            true = 100 * value / log.seen()
            need(name in rows or true < 1e-3, "no row for", name)
            need(true < 1e-3 or abs(rows[name][side][kind] - true) < 0.1, side, kind, "of", name, "is",
                 name in rows and rows[name][side][kind], "not", true)


@case()
def killed(bench):
    """kill -9 at any moment: the spool holds what was seen but the last seconds, and opens"""
    target = bench.start("threads.py", "busy")
    for n in range(3):
        spool = bench.path("spool%d" % n)
        running = bench.begin("--batch", "--json", "-r", "5k", "-i", 0.5, "--spool", spool, target.pid)
        for _ in range(4):
            last = json.loads(running.stdout.readline())
        time.sleep(0.137 * n)
        running.kill()
        running.wait()
        again = bench.pytop("--batch", "--json", "-n", 1, "--open", spool).json()
        need(again["time_s"] > last["time_s"] - 3, "only", again["time_s"], "of", last["time_s"], "s kept")
        file = bench.path("x%d.json" % n)
        bench.pytop("--batch", "-n", 1, "--open", spool, "-o", file)
        need(len(gecko.Profile(file).threads) >= 10, "threads")
        need(target.alive() and target.status("State")[0] in "SR", "the target is", target.status("State"))


@case()
def damaged(bench):
    """a spool cut anywhere, or with a byte changed, opens up to there or is refused with a sentence"""
    target = bench.start("threads.py", "busy")
    spool = bench.path("spool")
    bench.pytop("--batch", "-n", 2, "--spool", spool, target.pid)
    segment = sorted(glob.glob(os.path.join(spool, "*.pts")))[-1]
    whole = open(segment, "rb").read()
    need(len(whole) > 1000, "a segment of", len(whole), "bytes")
    for k in range(12):
        size = len(whole) * k // 12
        changed = bytearray(whole)
        changed[size] ^= 0x55
        for data in (whole[:size], bytes(changed)):
            with open(segment, "wb") as f:
                f.write(data)
            result = bench.pytop("--batch", "--json", "-n", 1, "--open", spool, status=None)
            if result.status == 0:
                result.json()
            elif result.status != 1 or not result.err.strip():
                raise Fail("cut or changed at %d: status %s %s" % (size, result.status, result.err))


@case()
def spool_limit(bench):
    """the limit holds, the oldest goes, and the rest opens"""
    target = bench.start("callgraph.py")
    spool = bench.path("spool")
    limit = 2 << 20
    bench.pytop("--batch", "-r", "10k", "-n", 6, "--spool", spool, "--spool-limit", "2M", target.pid)
    size = sum(os.path.getsize(os.path.join(spool, f)) for f in os.listdir(spool))
    need(size <= limit * 1.1, "spool of", size, "bytes, not", limit)
    bench.pytop("--batch", "--json", "-n", 1, "--open", spool).json()
    file = bench.path("x.json")
    bench.pytop("--batch", "-n", 1, "--open", spool, "-o", file)


@case()
def no_spool(bench):
    """--no-spool: nothing is written, and a profile is refused with a sentence"""
    target = bench.start("spinner.py")
    document = bench.pytop("--batch", "--json", "-n", 1, "--no-spool", target.pid).json()
    need(document["log"]["bytes"] == 0, "log", document["log"])
    result = bench.pytop("--no-spool", "-d", 1, "-o", bench.path("x.json"), target.pid, status=None)
    need(result.status in (1, 2) and "spool" in result.err, "status", result.status, result.err)
    need(not os.path.exists(bench.path("x.json")), "a file was written")


def same_start(first, second):
    """the later profile's threads begin with the samples of the earlier one, but for its last moments"""
    for key, samples in first.items():
        need(key in second, "no thread", key, "in the later file")
        end = samples[-1][0] - 300
        early = [s for s in samples if s[0] < end]
        for s, o in zip(early, second[key]):
            need(abs(s[0] - o[0]) < 0.01 and s[1:] == o[1:], key, "sample", s, "became", o)
        need(len(second[key]) >= len(early), key, "has fewer samples in the later file")


@case(each=True)
def export_while_sampling(bench):
    """`g` twice at 10,000 Hz: nothing past the cut, all threads up to it, and the later file has it all"""
    target = bench.start("threads.py", "busy")
    folder = bench.path("here")
    os.mkdir(folder)
    screen = bench.screen("-r", "10k", target.pid, cwd=folder)
    files = []
    try:
        screen.wait_for("spin", 20)
        time.sleep(0.7)
        for n in (1, 2):
            screen.keys("g")
            until(lambda: len(glob.glob(folder + "/*.json.gz")) >= n, "file %d" % n, 30)
            files = sorted(glob.glob(folder + "/*.json.gz"), key=os.path.getmtime)
            screen.wait_for("wrote", 10)
            time.sleep(0.6)
        screen.keys("q")
        screen.wait(lambda text: screen.dead() is not None, "the end", 30)
        need(screen.dead() == 0, "exit status", screen.dead())
        shown = "\n".join(screen.text())
        need(os.path.basename(files[0]) in shown, "the files are not named after leaving")
    except TimeoutError as error:
        raise Fail(str(error).replace("\n", " | "))
    need(len(files) == 2, files)
    (first, a), (second, b) = contents(files[0]), contents(files[1])
    for profile in (first, second):
        cut = profile.meta["profilingEndTime"]
        for t in profile.threads:
            need(t.times[-1] <= cut + 0.002, t.name, "has a row at", t.times[-1], "past the cut", cut)
            need(t.times[-1] >= cut - 30 or t.unregistered is not None, t.name, "ends", cut - t.times[-1],
                 "ms before the cut")
            late = [m for m in t.markers if m.end is not None and m.end > cut + 0.002]
            need(not late, t.name, "has a marker past the cut", late[:1])
    need(second.meta["profilingEndTime"] > first.meta["profilingEndTime"] + 500, "the cut did not move")
    same_start(a, b)

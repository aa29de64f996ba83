"""--batch: the table as text, and as JSON, which is a contract: exactly these keys."""
import json
import math
import os
import time

from harness import agree, case, need

KEYS = set("""time_s pid became python free_threaded rate_hz ticks samples missed torn late_us sample_us self_cpu_percent
    cpu_percent gil_percent gil_wait_percent gc_percent exception_percent log interpreters threads functions""".split())
RATE = {"asked", "real", "mean", "min", "max"}
THREAD = set("tid name interpreter main state gil cpu_percent gil_percent wait_percent function".split())
FUNCTION = set("function file line interpreter self total self_s total_s".split())
KINDS = {"wall", "cpu", "gil", "wait"}
STATES = set("gil running gil-wait suspended lock sleep poll io disk stopped unknown".split())


def keys(what, found, wanted):
    need(set(found) == wanted, "%s: lacks %s, has %s beyond" % (what, sorted(wanted - set(found)),
                                                             sorted(set(found) - wanted)))


def number(what, value, low=0, high=math.inf):
    need(isinstance(value, (int, float)) and not isinstance(value, bool) and low <= value <= high, what, "is", value)


def check_contract(document):
    keys("document", document, KEYS)
    keys("rate_hz", document["rate_hz"], RATE)
    keys("late_us", document["late_us"], {"p50", "p99"})
    keys("sample_us", document["sample_us"], {"mean", "p99"})
    keys("log", document["log"], {"bytes", "from_s", "state", "reason", "stopped_s"})
    for name in ("time_s", "ticks", "samples", "missed", "torn", "self_cpu_percent", "cpu_percent", "gc_percent",
                 "exception_percent", "gil_wait_percent"):
        number(name, document[name])
    number("gil_percent", document["gil_percent"], 0, 100.01)
    need(isinstance(document["free_threaded"], bool), "free_threaded is no boolean")
    for i in document["interpreters"]:
        keys("interpreter", i, {"id", "gil_percent", "gil_wait_percent"})
    for thread in document["threads"]:
        keys("thread", thread, THREAD)
        need(thread["state"] in STATES, "state", thread["state"])
        for name in ("cpu_percent", "gil_percent", "wait_percent"):
            number(name, thread[name], 0, 100.01)
    for row in document["functions"]:
        keys("function", row, FUNCTION)
        for side in ("self", "total"):
            keys(side, row[side], KINDS)
            for kind in KINDS:
                number("%s %s of %s" % (side, kind, row["function"]), row[side][kind], 0, 100000)
        for kind in KINDS:
            need(row["self"][kind] <= row["total"][kind] + 1e-6, row["function"], kind, "self above total")
        number("self_s", row["self_s"])
        number("total_s", row["total_s"])


@case(each=True)
def batch_json(bench):
    """three refreshes of a program with threads in every state: the keys, and numbers that agree with each other"""
    target = bench.start("threads.py", "busy")
    tids = target.truth()
    documents = bench.pytop("--batch", "--json", "-n", 3, "-i", 0.7, "--half-life", 0, target.pid).lines()
    need(len(documents) == 3, len(documents), "lines, not 3")
    for document in documents:
        check_contract(document)
    times = [d["time_s"] for d in documents]
    need(times[0] > 0.4 and all(b - a > 0.3 for a, b in zip(times, times[1:])), "times", times)
    last = documents[-1]
    need(last["pid"] == target.pid and last["python"] == bench.python.text, "pid or version", last["pid"], last["python"])
    need(last["rate_hz"]["asked"] == 1000, "asked", last["rate_hz"]["asked"])
    need(last["ticks"] > 50 and last["samples"] >= last["ticks"] * (len(tids) - 1), last["ticks"], "ticks and",
         last["samples"], "samples of", len(tids), "threads")
    need(last["torn"] <= last["samples"] / 20, last["torn"], "of", last["samples"], "torn")
    threads = {t["tid"]: t for t in last["threads"]}
    need(set(tids.values()) <= set(threads), "threads are missing")
    for name, tid in tids.items():
        need(threads[tid]["name"] == name, tid, "is named", threads[tid]["name"], "not", name)
    spinners = [threads[tids["spinner %d" % i]] for i in range(3)]
    need(last["gil_percent"] > 85, "the GIL is held only", last["gil_percent"])
    held = sum(t["gil_percent"] for t in spinners)
    need(80 < held <= 100.1, "three spinners hold the GIL", held)
    waited = sum(t["wait_percent"] for t in spinners)
    need(120 < waited < 220, "three spinners wait", waited)
    need(abs(last["gil_wait_percent"] - sum(t["wait_percent"] for t in threads.values())) < 5, "waits of the header",
         last["gil_wait_percent"], "and of the threads", sum(t["wait_percent"] for t in threads.values()))
    need(threads[tids["hasher"]]["gil_percent"] < 30, "the hasher holds the GIL", threads[tids["hasher"]]["gil_percent"])
    for name in ("sleeper", "poller", "locker", "queuer", "reader"):
        thread = threads[tids[name]]
        need(thread["cpu_percent"] < 1 and thread["gil_percent"] < 1, name, "is busy:", thread)
    spin = [r for r in last["functions"] if r["function"] == "spin"]
    need(len(spin) == 1, len(spin), "rows for spin")
    need(abs(spin[0]["total"]["gil"] - held) < 8, "spin holds the GIL", spin[0]["total"]["gil"], "its threads", held)
    need(spin[0]["file"] == target.inside + "/threads.py", "file", spin[0]["file"])
    cpu = sum(t["cpu_percent"] for t in threads.values())
    need(abs(cpu - last["cpu_percent"]) < 15, "CPU of the header", last["cpu_percent"], "and of the threads", cpu)


@case()
def batch_json_lines(bench):
    """--rows line, --limit and --sort"""
    target = bench.start("threads.py", "busy")
    options = ("--batch", "--json", "-n", 1, "--rows", "line")
    document = bench.pytop(*options, "--limit", 5, "--sort", "total", target.pid, status=None)
    if document.status == 2:                # the column may have another name
        document = bench.pytop(*options, "--limit", 5, target.pid)
    document = document.json()
    check_contract(document)
    need(len(document["functions"]) == 5, len(document["functions"]), "rows, not 5")
    document = bench.pytop(*options, "--filter", "spin", target.pid).json()
    lines = sorted(r["line"] for r in document["functions"] if r["function"] == "spin")
    need(2 <= len(lines) <= 4 and lines[-1] - lines[0] <= 4, "lines of spin", lines)
    need(all("spin" in r["function"] + r["file"] for r in document["functions"]), "rows beyond the filter")


@case()
def batch_text(bench):
    """the text has a header and the busiest function, and no escape sequence"""
    target = bench.start("threads.py", "busy")
    text = bench.pytop("--batch", "-n", 2, "-i", 0.5, target.pid).out
    need("\x1b" not in text and "\r" not in text, "escape sequences in the text")
    need(str(target.pid) in text and bench.python.text in text, "no pid or version in the text")
    need(text.count("spin ") + text.count("spin\n") >= 2, "spin is not in both refreshes")
    for line in text.split("\n"):
        need(len(line) < 400, "a line of", len(line), "characters")


@case()
def batch_hostile_names(bench):
    """names made to break a terminal come out escaped"""
    target = bench.start("names.py")
    for options in ((), ("--json",)):
        text = bench.pytop("--batch", "-n", 1, "--limit", 100, *options, target.pid).out
        bad = {hex(ord(c)) for c in text if c != "\n" and (ord(c) < 32 or 0x7f <= ord(c) < 0xa0)}
        need(not bad, "raw control characters", sorted(bad))
    text = bench.pytop("--batch", "-n", 1, "--limit", 100, target.pid).out
    need("\u202e" not in text, "a raw override of the direction")


@case()
def threads_recorded(bench):
    """-t and -M: only these threads"""
    target = bench.start("threads.py", "busy")
    tids = target.truth()
    wanted = [tids["spinner 0"], tids["sleeper"]]
    options = ("--batch", "--json", "-n", 1)
    document = bench.pytop(*options, "-t", wanted[0], "-t", wanted[1], target.pid).json()
    need(sorted(t["tid"] for t in document["threads"]) == sorted(wanted), "-t:", [t["name"] for t in document["threads"]])
    document = bench.pytop(*options, "-M", target.pid).json()
    need([t["tid"] for t in document["threads"]] == [target.pid], "-M:", [t["name"] for t in document["threads"]])


@case()
def rates(bench):
    """every way to say a rate"""
    target = bench.start("spinner.py")
    for rate, asked in (("250", 250), ("10k", 10000), ("2khz", 2000), ("20hz", 20), ("max", None)):
        document = bench.pytop("--batch", "--json", "-n", 1, "-i", 0.5, "-r", rate, target.pid).json()
        check_contract(document)
        need(asked is None or document["rate_hz"]["asked"] == asked, rate, "asks for", document["rate_hz"]["asked"])
        need(document["ticks"] > 3, rate, "gave", document["ticks"], "ticks")


@case()
def idle_target(bench):
    """nothing runs: nothing is said to run"""
    target = bench.start("threads.py")
    document = bench.pytop("--batch", "--json", "-n", 1, "-i", 1.5, target.pid).json()
    check_contract(document)
    need(document["cpu_percent"] < 2 and document["gil_percent"] < 2, "CPU", document["cpu_percent"], "GIL",
         document["gil_percent"])
    for row in document["functions"]:
        need(row["total"]["cpu"] < 1, row["function"], "has CPU", row["total"]["cpu"])


@case()
def native_thread(bench):
    """CPU of a thread without Python stands in a row of its own, so that header and table agree"""
    target = bench.start("native.py")
    clock = (~target.pid << 3) | 2                              # of the CPU of a whole process

    def attempt():
        start, cpu = time.monotonic(), time.clock_gettime(clock)
        document = bench.pytop("--batch", "--json", "-n", 1, "-i", 2, "--half-life", 0, target.pid).json()
        true = 100 * (time.clock_gettime(clock) - cpu) / (time.monotonic() - start)
        rows = {r["function"]: r for r in document["functions"]}
        need("<native threads>" in rows, "no such row among", sorted(rows))
        native = rows["<native threads>"]["self"]["cpu"]
        return {"CPU of native threads": (native, document["cpu_percent"], 4), "CPU": (native, true, 15)}
    agree(attempt)


@case()
def target_ends(bench):
    """the target ends while it looks: what was seen is written, exit 0"""
    target = bench.start("spinner.py")
    file = bench.path("x.json")
    running = bench.begin("--batch", "--json", "-i", 0.4, "-o", file, target.pid)
    for _ in range(2):
        check_contract(json.loads(running.stdout.readline()))
    target.stop()
    result = bench.end(running, 15)
    need(result.status == 0, "exit status", result.status, result.err)
    need(os.path.exists(file), "no file was written")

"""--dump: every thread's stack once, against what the target says of itself."""
import os
import shutil
import subprocess
import time

from harness import Fail, Skip, case, need

# states that may be shown for a blocked thread; before 3.11 time.sleep() is a select() without descriptors
STATES = {"sleeper": ["sleep"], "poller": ["poll"], "selecter": ["poll"], "locker": ["lock"], "queuer": ["lock"],
          "reader": ["io"]}


def dump(bench, target, *options):
    document = bench.pytop("--dump", "--json", *options, target.pid).json()
    need(set(document) == {"pid", "python", "free_threaded", "threads"}, "keys of the document:", sorted(document))
    for thread in document["threads"]:
        need(set(thread) == {"tid", "name", "interpreter", "main", "state", "gil", "frames"},
             "keys of a thread:", sorted(thread))
        for frame in thread["frames"]:
            need(set(frame) == {"function", "file", "line"}, "keys of a frame:", sorted(frame))
    need(document["pid"] == target.pid, "pid", document["pid"])
    need(document["python"] == bench.python.text, "version", document["python"])
    need(document["free_threaded"] is False, "free_threaded", document["free_threaded"])
    return document


def compare(truth, seen):
    """the stacks of one thread, frame by frame"""
    for key in ("tid", "name", "main"):
        need(seen[key] == truth[key], "%s: %s is %r, not %r" % (truth["name"], key, seen[key], truth[key]))
    frames = [[f["function"], f["file"], f["line"]] for f in seen["frames"]]
    for i, (a, b) in enumerate(zip(frames, truth["frames"])):
        need(a == b, "%s: frame %d from the leaf is %r, not %r" % (truth["name"], i, a, b))
    need(len(frames) == len(truth["frames"]), truth["name"], "has", len(frames), "frames, not", len(truth["frames"]))


@case(each=True)
def oracle(bench):
    """every blocked thread's stack: function, file, line, frame by frame; name and number of each thread"""
    target = bench.start("oracle.py")
    truth = target.truth()
    seen = {t["tid"]: t for t in dump(bench, target)["threads"]}
    need(len(seen) == len(truth["threads"]) + 1, len(seen), "threads, not", len(truth["threads"]) + 1)
    for thread in truth["threads"]:
        need(thread["tid"] in seen, "no thread", thread["name"])
        compare(thread, seen[thread["tid"]])


@case(each=True)
def deep(bench):
    """a recursion longer than a chunk of the data stack, to its root"""
    target = bench.start("deep.py", 900)
    depth = target.truth()["depth"]
    main, = [t for t in dump(bench, target)["threads"] if t["main"]]
    names = [f["function"] for f in main["frames"]]
    need(len(names) == depth, len(names), "frames, not", depth)
    need(names[-1] == "<module>", "the root is", names[-1])
    cycle = {"one": "three", "two": "one", "three": "two"}
    for leaf, caller in zip(names[:-2], names[1:-1]):
        need(cycle.get(leaf) == caller, leaf, "called by", caller)


@case()
def very_deep(bench):
    """20,000 frames: as many as are kept, the rest said to be cut, and no failure"""
    target = bench.start("deep.py", 20000)
    main, = [t for t in dump(bench, target)["threads"] if t["main"]]
    names = [f["function"] for f in main["frames"]]
    need(len(names) == target.truth()["depth"] or "<truncated>" in names, len(names), "frames and no <truncated>")
    need(len(names) >= 1000, "only", len(names), "frames")


@case(each=True)
def states(bench):
    """what each blocked thread waits for"""
    target = bench.start("threads.py")
    tids = target.truth()
    wanted = dict(STATES, sleeper=["sleep"] if bench.python.version >= (3, 11) else ["sleep", "poll"])
    seen = {t["tid"]: t for t in dump(bench, target)["threads"]}
    for name, states in wanted.items():
        state = seen[tids[name]]["state"]
        need(state in states, "%s is shown as %s" % (name, state))
        need(seen[tids[name]]["gil"] is False, name, "is said to hold the GIL")


@case(each=True)
def gil_holder(bench):
    """three spinners: never two holders, always one who runs, and each of them waits most of the time"""
    target = bench.start("threads.py", "busy")
    tids = target.truth()
    spinners = [tids["spinner %d" % i] for i in range(3)]
    holding = waiting = 0
    for _ in range(12):
        seen = {t["tid"]: t for t in dump(bench, target)["threads"]}
        holders = [t["name"] for t in seen.values() if t["gil"]]
        need(len(holders) <= 1, "at once the GIL is held by", holders)
        need(len([t for t in seen.values() if t["state"] == "gil"]) <= 1, "two threads in state gil")
        holding += any(seen[tid]["gil"] for tid in spinners)
        waiting += sum(seen[tid]["state"] == "gil-wait" for tid in spinners)
        time.sleep(0.01)
    need(holding >= 8, "a spinner holds the GIL in only", holding, "of 12 looks")
    need(waiting >= 8, "only", waiting, "of about 24 waits seen")


@case(each=True)
def subinterpreter(bench):
    """a thread inside a sub-interpreter shows that interpreter's stack"""
    target = bench.start("subinterpreter.py")
    inner = [(t["interpreter"], f["function"]) for t in dump(bench, target)["threads"] for f in t["frames"]]
    where = {i for i, function in inner if function == "inside_the_other"}
    need(where, "its function is in no stack")
    main = {i for i, function in inner if function == "outside"}
    need(where != main, "both interpreters have the number", main)


@case(each=True)
def hostile_names(bench):
    """names made to break a terminal, a parser or a page: valid JSON and a text without control characters"""
    target = bench.start("names.py")
    names = [f["function"] for t in dump(bench, target)["threads"] for f in t["frames"]]
    need(names, "no frames")
    text = bench.pytop("--dump", target.pid).out
    bad = {c for c in text if c != "\n" and (ord(c) < 32 or 0x7f <= ord(c) < 0xa0 or c in "\u202e\u202c\u2028")}
    need(not bad, "the text has raw", sorted(map(hex, map(ord, bad))))
    need(all(len(line) < 40000 for line in text.split("\n")), "a line of", max(map(len, text.split("\n"))), "characters")


@case()
def dump_text(bench):
    """the text names every thread and every function of each stack, with the line"""
    target = bench.start("oracle.py")
    text = bench.pytop("--dump", target.pid).out
    for thread in target.truth()["threads"]:
        need(thread["name"] in text, "no thread", thread["name"])
        need(str(thread["tid"]) in text, "no number", thread["tid"])
        for function, file, line in thread["frames"][:20]:
            need(function in text, "no function", function)
            need("%s:%d" % (file.rsplit("/", 1)[-1], line) in text or "%s, line %d" % (file, line) in text
                 or "line %d" % line in text, "no line", line, "of", function)


@case()
def thousand_threads(bench):
    """1,000 sleepers and a spinner, each with its name"""
    target = bench.start("many_threads.py", 1000)
    threads = dump(bench, target)["threads"]
    names = {t["name"] for t in threads}
    need(len(threads) == 1002, len(threads), "threads, not 1002")
    missing = {"dozer %d" % i for i in range(1000)} - names
    need(not missing, len(missing), "names are wrong, such as", sorted(missing)[:3])


@case()
def pid_namespace(bench):
    """a target in another PID namespace: threads by the numbers that we see outside"""
    argv, folder, inside = bench.argv("oracle.py")
    outer = bench.spawn(["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"] + argv, folder, inside).ready()
    children = open("/proc/%d/task/%d/children" % (outer.pid, outer.pid)).read().split()
    need(len(children) == 1, "children of unshare:", children)
    outside = int(children[0])
    truth = outer.truth()
    if truth["pid"] == outside:
        raise Fail("the test did not make a namespace")
    document = bench.pytop("--dump", "--json", outside).json()
    seen = {t["name"]: t for t in document["threads"]}
    for thread in truth["threads"]:
        found = seen.get(thread["name"])
        need(found, "no thread", thread["name"])
        with open("/proc/%d/task/%d/status" % (outside, found["tid"])) as status:
            ids = [line.split()[-1] for line in status if line.startswith("NSpid:")]
        need(ids == [str(thread["tid"])], thread["name"], "is", ids, "inside, not", thread["tid"])
        compare(dict(thread, tid=found["tid"]), found)


@case()
def deleted_files(bench):
    """the interpreter's file and its library removed while it runs, as an upgrade does"""
    source = subprocess.run(bench.python.command + ["-c", "import sys; print(sys.base_prefix)"],
                            stdout=subprocess.PIPE, text=True).stdout.strip()
    if bench.python.root or source == "/usr":
        raise Skip("needs an interpreter that can be copied")
    copy = bench.path("copy")
    shutil.copytree(source, copy, symlinks=True,
                    ignore=shutil.ignore_patterns("test", "site-packages", "idlelib", "lib2to3", "*.a", "include"))
    argv, folder, inside = bench.argv("oracle.py")
    binary = os.path.join(copy, "bin", "python%d.%d" % bench.python.version)
    bench.env["LD_LIBRARY_PATH"] = os.path.join(copy, "lib")
    target = bench.spawn([binary] + argv[1:], folder, inside).ready()
    del bench.env["LD_LIBRARY_PATH"]
    shutil.rmtree(copy)
    seen = {t["tid"]: t for t in dump(bench, target)["threads"]}
    for thread in target.truth()["threads"]:
        compare(thread, seen[thread["tid"]])

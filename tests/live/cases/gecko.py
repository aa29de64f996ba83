"""The Gecko file: whole by the strict check, loaded and queried by the Firefox Profiler's own client, and true."""
import gzip
import json
import os
import subprocess
import sys

import gecko
from harness import HERE, case, need

SCHEMAS = ["Has GIL", "Waiting for GIL", "On CPU", "Native code", "Sleep", "Lock", "Poll", "I/O"]


def check_structure(file):
    run = subprocess.run([sys.executable, os.path.join(HERE, "gecko_check.py"), file], stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, text=True)
    need(run.returncode == 0, "gecko_check:", run.stdout.strip().split("\n")[-1])


def load_in_client(bench, file):
    """the client's answers, after it has loaded the file and answered every query without a complaint"""
    env = dict(os.environ, PQ_NODE=bench.tool("node"), PQ_CLI=bench.tool("profiler-cli"))
    code = ("import json, sys, gecko_query as q; errs, out = q.check(sys.argv[1]); "
            "json.dump([errs, out], sys.stdout)")
    run = subprocess.run([sys.executable, "-B", "-c", code, file], env=env, cwd=HERE, stdout=subprocess.PIPE, text=True)
    need(run.returncode == 0, "the driver of the client failed")
    errors, answers = json.loads(run.stdout)
    need(not errors, "the Firefox Profiler's client:", errors)
    return answers


def one_member(file):
    """the browser refuses a gzip file of two members or with anything after it"""
    import zlib
    with open(file, "rb") as f:
        raw = f.read()
    inflate = zlib.decompressobj(31)
    inflate.decompress(raw)
    need(inflate.eof and not inflate.unused_data, "more than one gzip member, or bytes after it")


@case(each=True)
def gecko_file(bench):
    """two seconds of a program with threads in every state"""
    target = bench.start("threads.py", "busy")
    tids = target.truth()
    file = bench.path("x.json.gz")
    bench.pytop("-d", 2, "-o", file, target.pid)
    one_member(file)
    check_structure(file)
    profile = gecko.Profile(file)
    names = {t.name.split(": ")[-1]: t for t in profile.threads}
    for name, tid in tids.items():
        need(name in names, "no thread", name, "among", sorted(names))
        need(str(names[name].tid).split("/")[0] == str(tid), name, "has the number", names[name].tid, "not", tid)
        need(names[name].pid == str(target.pid), "pid", names[name].pid)
    need([t.main for t in profile.threads].count(True) == 1, "main threads:", [t.name for t in profile.threads if t.main])
    meta = profile.meta
    need(meta["preprocessedProfileVersion"] == 75, "version", meta["preprocessedProfileVersion"])
    need(abs(meta["startTime"] / 1000 - os.stat(file).st_mtime) < 30, "startTime", meta["startTime"])
    need("threads.py" in meta["product"], "product", meta["product"])
    text = json.dumps(profile.document)
    need("busy" not in (meta.get("arguments") or "") and target.inside + "/out" not in text, "arguments are in the file")
    need(bench.python.text in meta["misc"], "misc", meta.get("misc"))
    schemas = {s["name"] for s in meta["markerSchema"]}
    used = {m.name for t in profile.threads for m in t.markers}
    for t in profile.threads:
        for m in t.markers:
            need(m.data is None or m.data["type"] in schemas, "marker without a schema:", m)
    for name in ("Has GIL", "Waiting for GIL", "On CPU", "Lock", "Poll"):
        need(any(name.lower() == u.lower() for u in used), "no marker", name, "among", sorted(used))
    need({c["name"].lower() for c in profile.document["counters"]}, "no counter tracks")
    need(len(names["sleeper"].times) == len(names["spinner 0"].times), "a short log is not all there")
    spin = [f for i in set(names["spinner 1"].stacks) if i is not None for f in profile.stack(i) if f.function == "spin"]
    need(spin, "no function spin in its thread")
    need(all(f.file == target.inside + "/threads.py" for f in spin), "file", spin[0].file)
    source = open(os.path.join(target.dir, "threads.py")).read().split("\n")
    need(all(source[f.defined - 1].startswith("def spin(") for f in spin), "defined at", spin[0].defined)
    need({f.line - spin[0].defined for f in spin} <= {0, 1, 2, 3, 4}, "lines", {f.line for f in spin})
    answers = load_in_client(bench, file)
    listed = {t["name"].split(": ")[-1]: t for t in answers["thread list"]["threads"]}
    need(set(tids) <= set(listed), "the client lists only", sorted(listed))
    need({str(t["pid"]) for t in listed.values()} == {str(target.pid)}, "the client's pids", listed)
    need(answers["counter list"]["counters"], "the client sees no counters")


@case()
def gecko_hostile_names(bench):
    """names made to break it: still a whole document"""
    target = bench.start("names.py")
    for name in ("x.json", "x.json.gz"):
        file = bench.path(name)
        bench.pytop("-d", 1, "-o", file, target.pid)
        check_structure(file)
    load_in_client(bench, file)


@case()
def gecko_thread_lives(bench):
    """threads that begin and end while it looks: registered and unregistered inside the range"""
    target = bench.start("short_lives.py")
    file = bench.path("x.json")
    bench.pytop("-d", 2, "-o", file, target.pid)
    check_structure(file)
    profile = gecko.Profile(file)
    lives = {name: end - start for name, start, end in target.rows()}
    short = [t for t in profile.threads if t.name.startswith("short ") and t.name in lives]
    need(len(short) >= 3, "only", len(short), "short threads")
    inner = [t for t in short if t.unregistered is not None and t.registered > 50]
    need(len(inner) >= 2, "only", len(inner), "of", len(short), "short threads begin and end")
    for t in inner:
        life = lives[t.name]
        need(abs(t.unregistered - t.registered - 1000 * life) <= 100 + 200 * life, t.name, "lived",
             t.unregistered - t.registered, "ms, not", 1000 * life)
        need(t.times[0] >= t.registered - 20, t.name, "sampled before it was registered")


@case()
def gecko_long(bench):
    """more than two million thread-samples: idle runs become rows with a weight, and all weights together are what was seen"""
    target = bench.start("many_threads.py", 1000)
    file = bench.path("x.json.gz")
    samples, seconds = 0, 6
    while samples < 2100000:                                    # as long as it takes on this machine
        seconds *= 2
        need(seconds < 200, "only", samples, "thread-samples")
        samples = bench.pytop("--batch", "--json", "-r", 200, "-i", seconds, "-n", 1, "-o", file, target.pid, timeout=300).json()["samples"]
    profile = gecko.Profile(file)
    rows = sum(len(t.times) for t in profile.threads)
    need(rows < samples / 4, rows, "rows of", samples, "thread-samples: idle runs are not merged")
    weights = sum(w for t in profile.threads for w, s in zip(t.weights, t.stacks) if s is not None)
    need(samples <= weights <= samples * 1.1, "weights of", weights, "not", samples)


@case()
def with_arguments(bench):
    """--with-arguments puts the command line into the file, which is left out otherwise"""
    target = bench.start("threads.py", "SECRET-ARGUMENT")
    file = bench.path("x.json.gz")
    bench.pytop("-d", 1, "-o", file, target.pid)
    need(b"SECRET-ARGUMENT" not in gzip.open(file).read(), "arguments are in the file unasked")
    bench.pytop("-d", 1, "-o", file, "--with-arguments", target.pid)
    need(b"SECRET-ARGUMENT" in gzip.open(file).read(), "arguments are not in the file")

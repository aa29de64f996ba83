"""What pytop must never do to its target, and how it ends."""
import json
import os
import re
import shutil
import signal
import time

from harness import Fail, Skip, case, need, until


def untouched(target):
    need(target.alive(), "the target died")
    need(target.status("TracerPid") == "0", "the target is traced by", target.status("TracerPid"))
    until(lambda: target.status("State")[0] in "SR", "the target to run again", 2)


def grows(target):
    """its record goes on"""
    last = target.rows()[-1][0]
    until(lambda: target.rows()[-1][0] > last + 0.2, "the target to go on working", 5)


@case(each=True)
def signals(bench):
    """SIGINT, SIGTERM, SIGHUP in the middle: ends soon, cleanly, with its output written"""
    target = bench.start("spinner.py")
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        file = bench.path("x%d.json" % number)
        running = bench.begin("--batch", "--json", "-i", 0.3, "-o", file, target.pid)
        running.stdout.readline()
        running.stdout.readline()
        running.send_signal(number)
        result = bench.end(running, 20)
        wanted = (0,) if number == signal.SIGINT else (0, 128 + number)
        need(result.status in wanted, number.name, "exit status", result.status, result.err)
        need(os.path.exists(file) and json.load(open(file))["threads"], number.name, "no file was written")
        for line in result.out.splitlines():
            json.loads(line)
        untouched(target)
    grows(target)


@case()
def closed_pipe(bench):
    """its reader goes away: it ends by itself, quietly"""
    target = bench.start("spinner.py")
    running = bench.begin("--batch", "-i", 0.2, target.pid)
    running.stdout.readline()
    running.stdout.close()
    running.stdout = None
    end = time.monotonic() + 10
    while running.poll() is None and time.monotonic() < end:
        time.sleep(0.05)
    need(running.poll() is not None, "it goes on without a reader")
    untouched(target)


@case()
def killed_leaves_nothing(bench):
    """kill -9 with the log in its usual place: no file is left"""
    target = bench.start("spinner.py")
    running = bench.begin("--batch", "-i", 0.3, target.pid)
    for _ in range(30):
        running.stdout.readline()
    running.kill()
    running.wait()
    untouched(target)


def traced(bench, calls, *args):
    """the system calls pytop makes: (lines of strace, result)"""
    strace = bench.tool("strace")
    log = bench.path("strace.log")
    result = bench.end(bench.begin(*args, prefix=[strace, "-f", "-qq", "-o", log, "-e", "trace=" + calls]), 60)
    if "PTRACE_TRACEME" in result.err or "ptrace" in result.err and "not permitted" in result.err:
        raise Skip("strace is not permitted here")
    need(result.status == 0, "exit status", result.status, result.err)
    return open(log, errors="replace").read().splitlines(), result


@case(each=True)
def reads_only(bench):
    """by strace: no ptrace, no write into the target, no signal to it, its files opened for reading only"""
    target = bench.start("threads.py", "busy")
    calls = "ptrace,process_vm_writev,kill,tkill,tgkill,pidfd_send_signal,open,openat,openat2,process_vm_readv,execve"
    lines, result = traced(bench, calls, "--batch", "--json", "-n", 2, "-i", 1, target.pid)
    counts = {}
    for line in lines:
        name = re.match(r"\d+\s+(\w+)\(", line)
        if not name:
            continue
        counts[name.group(1)] = counts.get(name.group(1), 0) + 1
        need(name.group(1) not in ("ptrace", "process_vm_writev"), line)
        if "kill" in name.group(1) or "signal" in name.group(1):
            need(not re.search(r"\(%d\b" % target.pid, line) and ", 0)" in line or str(target.pid) not in line, line)
        if "/proc/%d" % target.pid in line or target.dir in line:
            need(not re.search(r"O_WRONLY|O_RDWR|O_CREAT|O_TRUNC", line), line)
    need(counts.get("process_vm_readv", 0) > 50, "only", counts.get("process_vm_readv"), "reads: was it strace's doing?")
    need(counts.get("execve") == 1, counts.get("execve"), "programs run")


@case()
def one_read_a_tick(bench):
    """by strace: in the steady state one vectored read a tick"""
    target = bench.start("threads.py")
    lines, result = traced(bench, "process_vm_readv", "--batch", "--json", "-r", "200", "-n", 1, "-i", 4, target.pid)
    ticks = result.json()["ticks"]
    need(ticks > 100, "only", ticks, "ticks under strace")
    reads = len([line for line in lines if "process_vm_readv(" in line])
    need(reads <= ticks * 1.5 + 600, reads, "reads in", ticks, "ticks")


@case(each=True)
def blocking(bench):
    """--blocking: works, is done by ptrace, and the target runs on after kill -9 of pytop at any moment"""
    target = bench.start("spinner.py")
    document = bench.pytop("--blocking", "--batch", "--json", "-n", 1, "-i", 1, target.pid).json()
    need(document["ticks"] > 50, "only", document["ticks"], "ticks")
    need(document["torn"] == 0, document["torn"], "torn")
    untouched(target)
    for n in range(4):
        running = bench.begin("--blocking", "--batch", "--json", "-r", "1k", "-i", 0.2, target.pid)
        running.stdout.readline()
        time.sleep(0.1 + 0.0377 * n)
        running.kill()
        running.wait()
        untouched(target)
        grows(target)


@case()
def blocking_traces(bench):
    """by strace: with --blocking it does use ptrace, and still writes nothing"""
    target = bench.start("spinner.py")
    lines, _ = traced(bench, "ptrace,process_vm_writev", "--blocking", "--batch", "-n", 1, "-r", 100, target.pid)
    need(any("ptrace(" in line for line in lines), "no ptrace")
    bad = [line for line in lines if re.search(r"process_vm_writev|POKE|SETREGS|SETREGSET|PTRACE_KILL", line)]
    need(not bad, bad[:1])
    untouched(target)


@case()
def existing_file_kept(bench):
    """an export that fails leaves the file that was there as it was, and no other"""
    if os.getuid() != 0:
        raise Skip("only root can mount a small disk")
    bench.tool("unshare")
    target = bench.start("threads.py", "busy")
    disk = bench.path("disk")
    os.mkdir(disk)
    script = ('d=$1; shift; mount -t tmpfs -o size=64k none "$d" || exit 88; echo OLD >"$d/x.json"; "$@"; s=$?; '
              'cat "$d/x.json"; ls -A "$d"; exit $s')
    running = bench.begin("-d", 3, "-r", "5k", "-o", disk + "/x.json", target.pid,
                          prefix=["unshare", "-m", "sh", "-c", script, "sh", disk])
    result = bench.end(running)
    if result.status == 88:
        raise Skip("cannot mount")
    need(result.status == 1, "exit status", result.status, result.err)
    need("x.json" in result.err, "does not name the file:", result.err)
    need(result.out.split() == ["OLD", "x.json"], "left:", result.out)


@case()
def terminal_lost(bench):
    """the terminal goes away: the log is kept below the user's state directory, and opens"""
    target = bench.start("spinner.py")
    screen = bench.screen(target.pid)
    try:
        screen.wait_for("spin", 20)
    except TimeoutError as error:
        raise Fail(str(error))
    time.sleep(1)
    screen.close()
    state = os.path.join(bench.home, ".local/state/pytop")
    until(lambda: os.path.isdir(state) and os.listdir(state), "the kept log in " + state, 10)
    time.sleep(0.5)
    kept = os.path.join(state, sorted(os.listdir(state))[0])
    document = bench.pytop("--batch", "--json", "-n", 1, "--open", kept if os.path.isdir(kept) else state).json()
    need("spin" in {r["function"] for r in document["functions"]}, "spin is not in the kept log")
    shutil.rmtree(os.path.join(bench.home, ".local"))
    untouched(target)


@case()
def closed_streams(bench):
    """its own standard streams closed: no crash, the target untouched"""
    target = bench.start("spinner.py")
    running = bench.begin("--batch", "-n", 1, target.pid, prefix=["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh"])
    result = bench.end(running, 20)
    need(result.status in (0, 1), "exit status", result.status)
    untouched(target)

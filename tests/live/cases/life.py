"""Lives and ends: a target that becomes another program, a command that goes on in another interpreter, refusals that name
the cause, and files that are written whole."""
import os
import signal
import time

from harness import Skip, case, need, until

BUSY = "import time\ndef %s(end):\n    while time.time() < end: sum(range(1000))\n%s(time.time() + %s)\n"


def functions(document):
    return {r["function"] for r in document["functions"]}


def busy(name, seconds):
    return BUSY % (name, name, seconds)


@case()
def becomes_no_python(bench):
    """a target that becomes a program that is not Python: said at once, exit 0, and what was seen is written"""
    code = busy("before", 1.5) + "import os\nos.execv('/bin/sleep', ['sleep', '100'])\n"
    file = bench.path("x.folded")
    target = bench.spawn([*bench.python.command, "-c", code])
    result = bench.pytop("--batch", "--json", "-i", 0.5, "-o", file, target.pid, timeout=20)
    last = result.lines()[-1]
    need("before" in functions(last), "before is not among", functions(last))
    need(last["became"] == "sleep", "became", last["became"])
    need(result.lines()[0]["became"] is None, "became too early")
    need("no longer Python: it runs sleep" in result.err, "says", result.err)
    need(any(";before" in line for line in open(file)), "no function of the target in", file)
    need(target.alive(), "the target died")


@case()
def becomes_slowly(bench):
    """a target that becomes a shell, which becomes Python, is followed"""
    argv = [*bench.python.command, "-c", busy("after", 100)]
    code = busy("before", 1.5) + "import os\nos.execv('/bin/sh', ['sh', '-c', 'sleep 0.2; exec \"$@\"', 'sh'] + %r)\n" % argv
    target = bench.spawn([*bench.python.command, "-c", code])
    last = bench.pytop("--batch", "--json", "-n", 5, "-i", 1, target.pid).lines()[-1]
    need("after" in functions(last), "after is not among", functions(last))


@case()
def command_throws_away(bench):
    """a command that first runs a throw-away Python as its child, and then becomes the service"""
    script = '"$0" -c "print(123)"; exec "$0" -c "$1"'
    result = bench.pytop("--batch", "--json", "-n", 1, "--", "bash", "-c", script, *bench.python.command[-1:], busy("service", 100))
    need("service" in functions(result.json()), "service is not among", functions(result.json()))


@case()
def command_goes_on(bench):
    """a command that runs one Python after the other: each is followed, and it is said"""
    script = '"$0" -c "$1"; sleep 0.5; "$0" -c "$2"; exit 0'
    file = bench.path("x.folded")
    result = bench.pytop("--batch", "--json", "-i", 0.5, "-o", file, "--", "bash", "-c", script, *bench.python.command[-1:],
                         busy("first", 1.5), busy("second", 1.5))
    documents = result.lines()
    need(len({d["pid"] for d in documents}) == 2, "processes", {d["pid"] for d in documents})
    need("first" in set().union(*map(functions, documents)), "first was not seen")
    need("second" in functions(documents[-1]), "second is not among", functions(documents[-1]))
    need("goes on in another Python" in result.err, "says", result.err)
    need(any(";second" in line for line in open(file)), "second is not in", file)


@case()
def command_goes_on_for_so_long(bench):
    """-d and -n count over all of them, and a signal ends the wait for the next"""
    script = '"$0" -c "$1"; exec sleep 100'
    command = ["bash", "-c", script, *bench.python.command[-1:], busy("first", 1)]
    result = bench.pytop("--batch", "--json", "-d", 3, "--", *command, timeout=20)
    need("first" in set().union(*map(functions, result.lines())), "first was not seen")
    running = bench.begin("--batch", "--json", "--", *command)
    while "waiting for its next" not in running.stderr.readline():
        need(running.poll() is None, "it ended")
    running.send_signal(signal.SIGINT)
    need(bench.end(running, 20).status == 0, "exit status", running.returncode)


@case()
def command_is_awaited(bench):
    """a signal ends the wait for the first, too"""
    running = bench.begin("--batch", "--", "sleep", "100")
    time.sleep(0.5)
    running.send_signal(signal.SIGTERM)
    need(bench.end(running, 20).status == 0, "exit status", running.returncode)


@case()
def traced_already(bench):
    """--blocking beside another tracer names that one"""
    target = bench.start("spinner.py")
    other = bench.begin("--batch", "--blocking", "-r", 200, target.pid)
    other.stdout.readline()
    for _ in range(20):  # it holds the target only around each sample
        result = bench.pytop("--batch", "--blocking", "-n", 1, target.pid, status=None)
        if result.status:
            break
    tracer = bench.tool("strace") if result.status == 0 else None
    if tracer:
        held = bench.begin(prefix=[tracer, "-o", "/dev/null", "-p", str(target.pid)])
        until(lambda: target.status("TracerPid") not in (None, "0", str(other.pid)), "the tracer")
        result = bench.pytop("--batch", "--blocking", "-n", 1, target.pid, status=1)
        held.terminate()
    need("traced by process" in result.err and "--blocking" in result.err, "says", result.err)


@case()
def no_such_thread(bench):
    """-t of a thread that the target does not have"""
    target = bench.start("spinner.py")
    result = bench.pytop("--batch", "-n", 1, "-t", os.getpid(), target.pid, status=1)
    need("no thread %d" % os.getpid() in result.err, "says", result.err)


@case()
def lacks_capability(bench):
    """root without CAP_SYS_PTRACE: the container, not `no Python`"""
    if os.getuid() != 0:
        raise Skip("only root can drop a capability")
    target = bench.start("spinner.py")
    prefix = [bench.tool("setpriv"), "--bounding-set", "-sys_ptrace", "--inh-caps", "-sys_ptrace"]
    result = bench.end(bench.begin("--dump", target.pid, prefix=prefix))
    need(result.status == 1 and "CAP_SYS_PTRACE" in result.err, "says", result.err)


@case()
def other_namespace(bench):
    """root of a user namespace only: sudo would be no cure"""
    if os.getuid() != 0:
        raise Skip("for others it is the owner")
    target = bench.start("spinner.py")
    result = bench.end(bench.begin("--dump", target.pid, prefix=[bench.tool("unshare"), "-Ur"]))
    if "unshare" in result.err and "pytop:" not in result.err:
        raise Skip("no user namespaces here")
    need(result.status == 1 and "namespace" in result.err and "sudo" not in result.err, "says", result.err)


@case()
def killed_while_writing(bench):
    """pytop killed in the middle of an export leaves nothing in the folder"""
    target = bench.start("threads.py", "busy")
    folder = bench.path("exports")
    os.mkdir(folder)
    running = bench.begin("--batch", "-n", 1, "-i", 3, "-r", "max", "-o", folder + "/x.json", target.pid)

    def writes():
        try:
            links = [os.readlink("/proc/%d/fd/%s" % (running.pid, fd)) for fd in os.listdir("/proc/%d/fd" % running.pid)]
        except OSError:
            links = []
        return running.poll() is not None or any(link.startswith(folder) for link in links)
    until(writes, "the export", step=0.001)
    if running.poll() is not None:
        raise Skip("it was written too fast")
    running.kill()
    running.wait()
    left = os.listdir(folder)
    need(not [name for name in left if "part" in name], "left:", left)


@case()
def through_a_link(bench):
    """-o of a symbolic link writes what it points to"""
    target = bench.start("spinner.py")
    os.mkdir(bench.path("real"))
    os.symlink("real/x.folded", bench.path("link.folded"))
    bench.pytop("--batch", "-n", 1, "-o", bench.path("link.folded"), target.pid)
    need(os.path.islink(bench.path("link.folded")), "the link was replaced")
    need(os.path.getsize(bench.path("real/x.folded")) > 0, "nothing was written")


@case(each=True)
def sleeps(bench):
    """time.sleep() is sleep, in every version"""
    target = bench.spawn([*bench.python.command, "-c", "import time\nwhile True: time.sleep(1000)"])
    document = bench.pytop("--batch", "--json", "-n", 1, target.pid).json()
    need(document["threads"][0]["state"] == "sleep", "state", document["threads"][0]["state"])

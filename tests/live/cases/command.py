"""`-- COMMAND`: starts it, waits through shims and shells for the interpreter, and leaves its output alone."""

from harness import case, need

CODE = ("import time\n"
        "def early(end):\n"
        "    while time.time() < end: sum(range(1000))\n"
        "def late(end):\n"
        "    while time.time() < end: sum(range(1000))\n"
        "print('TO STDOUT', flush=True)\n"
        "early(time.time() + 0.7)\n"
        "late(time.time() + %s)\n")


def functions(document):
    return {r["function"] for r in document["functions"]}


@case(each=True)
def command(bench):
    """a command that ends by itself: profiled from its start to its end, exit 0"""
    result = bench.pytop("--batch", "--json", "-i", 0.5, "--", *bench.python.command, "-c", CODE % 0.5)
    need("TO STDOUT" not in result.out, "the command's output is among pytop's")
    last = result.lines()[-1]
    rows = {r["function"]: r["total_s"] for r in last["functions"]}
    need("early" in rows and "late" in rows, "early or late is not among", sorted(rows))
    need(last["ticks"] + last["missed"] > 20, "only", last["ticks"], "ticks")


@case()
def command_shims(bench):
    """through a shell that starts a shell that starts the interpreter"""
    folder, inside = bench.folder_in("")
    file = bench.path("x.folded")
    bench.pytop("-d", 2, "-m", "wall", "-o", file, "--", inside + "/shim.sh", *bench.python.command,
                inside + "/spinner.py", inside + "/out")
    need(any(";spinning" in line for line in open(file)), "no function of the target in", file)


@case()
def command_exec(bench):
    """through a shell that becomes the interpreter"""
    result = bench.pytop("--batch", "--json", "-n", 1, "--", "sh", "-c", 'sleep 0.3; exec "$@"', "sh",
                         *bench.python.command, "-c", CODE % 4)
    need(functions(result.json()) & {"early", "late"}, "neither function is among", functions(result.json()))


@case(python=False)
def command_fails(bench):
    """not there; not Python"""
    result = bench.pytop("--batch", "--", bench.path("absent"), status=1)
    need("absent" in result.err and result.out == "", result.err)
    result = bench.pytop("--batch", "--", "true", status=1)
    need("Python" in result.err and result.out == "", result.err)


@case()
def execs_later(bench):
    """a process that becomes another program of its kind goes on being profiled"""
    target = bench.start("becomes.py")
    documents = bench.pytop("--batch", "--json", "-n", 5, "-i", 1, target.pid).lines()
    need("before" in functions(documents[0]), "before is not among", functions(documents[0]))
    need("after" in functions(documents[-1]), "after is not among", functions(documents[-1]))

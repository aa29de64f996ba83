"""Refusals: one sentence that says what and how to mend it, and the exit status."""
import os
import pwd
import shutil
import struct
import subprocess
import sys
import time

from harness import PYTOP, TESTS, Python, Skip, case, need


def refused(bench, *args, status=1, says=(), **options):
    """pytop must refuse, with nothing on stdout and a short text on stderr that says all of these"""
    result = bench.pytop(*args, status=status, **options)
    need(result.out == "", "stdout:", repr(result.out[:200]))
    lines = [line for line in result.err.split("\n") if line]
    need(1 <= len(lines) <= 3, len(lines), "lines on stderr:", lines[:4])
    for word in says:
        need(word in result.err, "does not say %r: %r" % (word, result.err))
    return result.err


@case(python=False)
def usage(bench):
    """wrong usage: exit status 2, and a word about --help"""
    wrong = [("--no-such-option",), ("-r", "fast", "1"), ("-r", "-5", "1"), ("-r", "0", "1"), ("abc",), ("1", "2"),
             ("--jitter", "200", "1"), ("-d", "x", "1"), ("-m", "nothing", "1"), ("--rows", "page", "1"),
             ("-b", "-n", "-3", "1"), ("-o",), ("-f", "nope", "-o", "x.json", "-d", "1", "1"), ("--",), ("0",), ("-7",),
             ("99999999999999999999",), ("--spool-limit", "lots", "1"), ("-b", "-i", "nan", "1"),
             ("--sort", "nothing", "-b", "1")]
    for args in wrong:
        result = bench.pytop(*args, status=None)
        need(result.status == 2, args, "exit status", result.status, result.err)
        need(result.out == "" and "--help" in result.err, args, "says", result.err)


@case(python=False)
def help_and_version(bench):
    """--help names every option; --version is one line"""
    text = bench.pytop("--help").out
    for option in """--rate --jitter --duration --mode --thread --main-thread --output --format --spool --spool-limit
            --no-spool --batch --interval --iterations --json --rows --limit --dump --sort --filter --half-life --hide-idle
            --blocking --version --help --open""".split():
        need(option in text, "--help lacks", option)
    need(all(len(line) <= 100 for line in text.split("\n")), "a line is too long")
    version = bench.pytop("-V").out
    need(version.startswith("pytop ") and version.count("\n") == 1, version)


@case(python=False)
def no_such_process(bench):
    process = subprocess.Popen(["true"])
    process.wait()
    refused(bench, "--batch", process.pid, says=["no process %d" % process.pid])


@case(python=False)
def not_python(bench):
    """a program that is not Python; and itself"""
    target = bench.spawn(["sleep", "100"])
    refused(bench, "--batch", target.pid, says=[str(target.pid), "not"])
    refused(bench, "--dump", target.pid, says=["sleep"])


@case()
def not_python_children(bench):
    """a shell whose child is Python: names the child by its number"""
    argv, folder, inside = bench.argv("spinner.py")
    target = bench.spawn(["sh", "-c", '"$@"; exit', "sh"] + argv, folder, inside).ready()
    child = open("/proc/%d/task/%d/children" % (target.pid, target.pid)).read().split()[0]
    try:
        refused(bench, "--batch", target.pid, says=[child])
    finally:
        os.kill(int(child), 9)


@case(python=False)
def no_terminal(bench):
    """no terminal: names what can be used without one"""
    target = bench.spawn(["sleep", "100"])
    refused(bench, target.pid, says=["--batch", "--dump", "-o"])
    refused(bench, says=["--batch"])


@case()
def unwritable_output(bench):
    """a file that cannot be written is refused before any sampling"""
    target = bench.start("spinner.py")
    refused(bench, "-d", 30, "-o", bench.path("none/x.json"), target.pid, says=["none/x.json"], timeout=10)
    refused(bench, "-d", 30, "-o", bench.path("x.what"), target.pid, says=["x.what"], status=None, timeout=10)


@case()
def spool_directories(bench):
    """--spool wants a folder that is empty or absent; --open one that is a spool"""
    target = bench.start("spinner.py")
    full = bench.path("full")
    os.mkdir(full)
    open(os.path.join(full, "file"), "w").close()
    refused(bench, "--batch", "-n", 1, "--spool", full, target.pid, says=["full", "empty"])
    need(os.listdir(full) == ["file"], "the folder was changed")
    refused(bench, "--batch", "--open", full, says=["full"])
    refused(bench, "--batch", "--open", bench.path("absent"), says=["absent"])
    used = bench.path("used")
    running = bench.begin("--batch", "--spool", used, target.pid)
    running.stdout.readline()
    refused(bench, "--batch", "-n", 1, "--spool", used, target.pid, says=["used"])


@case(python=False)
def old_versions(bench):
    """2.7, 3.6, 3.7: the version is named"""
    lines = subprocess.run([os.path.join(TESTS, "pythons.sh"), "list"], stdout=subprocess.PIPE,
                           text=True).stdout.splitlines()
    old = [p for p in map(Python, lines) if not p.supported]
    if not old:
        raise Skip("no interpreter older than 3.8")
    for python in old:
        target = bench.start("spinner.py", python=python) if python.version > (3, 2) else \
            bench.start("names.py", python=python)
        refused(bench, "--batch", target.pid, says=["%d.%d" % python.version, "not support"])
        need(target.alive(), "the target died")


@case(python=False)
def other_implementations(bench):
    """a program named as PyPy's and GraalPy's is"""
    for name, word in (("pypy3", "PyPy"), ("graalpy", "GraalPy")):
        copy = bench.path(name)
        shutil.copy(shutil.which("sleep"), copy)
        target = bench.spawn([copy, "100"])
        refused(bench, "--batch", target.pid, says=[word])


def tiny_elf32():
    """an i386 program that calls pause() for ever"""
    code = b"\xb8\x1d\x00\x00\x00\xcd\x80\xeb\xf7"
    head = b"\x7fELF\x01\x01\x01" + bytes(9)
    base, start = 0x8048000, 52 + 32
    head += struct.pack("<HHIIIIIHHHHHH", 2, 3, 1, base + start, 52, 0, 0, 52, 32, 1, 0, 0, 0)
    return head + struct.pack("<IIIIIIII", 1, 0, base, base, start + len(code), start + len(code), 5, 4096) + code


@case(python=False)
def process_of_32_bits(bench):
    path = bench.path("python3")
    with open(path, "wb") as file:
        file.write(tiny_elf32())
    os.chmod(path, 0o755)
    try:
        target = bench.spawn([path])
    except OSError as error:
        raise Skip("this kernel runs no 32-bit programs: %s" % error)
    refused(bench, "--batch", target.pid, says=["32-bit"])


def as_nobody():
    if os.getuid() != 0:
        raise Skip("only root can become another user")
    return pwd.getpwnam("nobody")


def reachable_copy(bench, nobody):
    """pytop where another user can run it"""
    os.chmod(bench.dir, 0o755)
    os.chmod(bench.tmp, 0o777)
    copy = bench.path("pytop")
    shutil.copy(PYTOP, copy)
    os.chmod(copy, 0o755)
    return copy


def run_as(bench, nobody, command):
    result = subprocess.run(["setpriv", "--reuid=%d" % nobody.pw_uid, "--regid=%d" % nobody.pw_gid, "--clear-groups"] + command,
                            env=bench.env, cwd="/", stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                            stderr=subprocess.PIPE, text=True)
    return result


@case()
def no_permission(bench):
    """somebody else's process: says whose, and the command that mends it, with pytop's absolute path"""
    nobody = as_nobody()
    bench.tool("setpriv")
    copy = reachable_copy(bench, nobody)
    target = bench.start("spinner.py")
    result = run_as(bench, nobody, [copy, "--batch", "-n", "1", str(target.pid)])
    need(result.returncode == 1 and result.stdout == "", "exit status", result.returncode, result.stdout[:100])
    for word in ("root", "sudo %s %d" % (copy, target.pid)):
        need(word in result.stderr, "does not say %r: %r" % (word, result.stderr))


@case()
def not_dumpable(bench):
    """one's own process that made itself unreadable"""
    nobody = as_nobody()
    bench.tool("setpriv")
    copy = reachable_copy(bench, nobody)
    code = ("import ctypes, os, time; os.setgid(%d); os.setuid(%d); ctypes.CDLL(None).prctl(4, 0, 0, 0, 0); "
            "time.sleep(100)" % (nobody.pw_gid, nobody.pw_uid))
    target = bench.spawn(["/usr/bin/python3" if os.path.exists("/usr/bin/python3") else sys.executable, "-c", code])
    time.sleep(1)
    result = run_as(bench, nobody, [copy, "--batch", "-n", "1", str(target.pid)])
    need(result.returncode == 1, "exit status", result.returncode)
    need("dumpable" in result.stderr and "sudo %s" % copy in result.stderr, "says", result.stderr)


@case()
def disk_full(bench):
    """the log's disk is full: the live view goes on, and what was logged can be exported"""
    if os.getuid() != 0:
        raise Skip("only root can mount a small disk")
    bench.tool("unshare")
    target = bench.start("threads.py", "busy")
    disk, file = bench.path("disk"), bench.path("x.json")
    os.mkdir(disk)
    script = 'mount -t tmpfs -o size=40k none "$1" || exit 88; shift; exec "$@"'
    prefix = ["unshare", "-m", "sh", "-c", script, "sh", disk]
    result = bench.end(bench.begin("--batch", "--json", "-r", "2k", "-n", 24, "-i", 0.5, "--spool", disk + "/s", "-o", file,
                                   target.pid, prefix=prefix))
    if result.status == 88:
        raise Skip("cannot mount")
    need(result.status == 0, "exit status", result.status, result.err)
    documents = result.lines()
    need(len(documents) == 24, len(documents), "refreshes, not 24")
    need("stop" in documents[-1]["log"]["state"] or "full" in documents[-1]["log"]["state"], "log", documents[-1]["log"])
    need(documents[-1]["ticks"] > documents[1]["ticks"] + 1000, "sampling stopped")
    need(os.path.getsize(file) > 1000, "no export of what was logged")

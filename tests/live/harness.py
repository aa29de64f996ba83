"""What a live case is given: interpreters to start targets with, pytop to run, a scratch folder, and words for
"no" and "not here". A case is a function marked with @case; it gets a Bench and fails by raising.

Every process a case starts is ended with it, and a case that passed must have left its TMPDIR and HOME empty:
pytop leaves nothing behind."""
import json
import os
import shutil
import signal
import statistics
import subprocess
import tempfile
import time

from log import Log
from screen import Screen

HERE = os.path.dirname(os.path.abspath(__file__))
TARGETS = os.path.join(HERE, "targets")
TESTS = os.path.dirname(HERE)
PYTOP = os.path.abspath(os.environ.get("PYTOP", "./pytop"))

CASES = []


class Skip(Exception):
    """the case cannot run here; says why"""


class Fail(Exception):
    """the case ran, and pytop was wrong; says how"""


def case(each=False, alone=False, since=(3, 8), python=True):
    """Mark a function as a case. each: for every interpreter, else for one; alone: not beside another case, since
    it needs a core; since: the first version it is for; python=False: it starts no interpreter of the list."""
    def mark(function):
        function.name = function.__name__.replace("_", "-")
        function.each, function.alone, function.since, function.python = each, alone, since, python
        CASES.append(function)
        return function
    return mark


def need(condition, *words):
    if not condition:
        raise Fail(" ".join(str(w) for w in words))


def until(condition, what, seconds=20, step=0.02):
    """wait for condition() to be true; gives its value"""
    end = time.monotonic() + seconds
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise Fail("waited %d s for %s" % (seconds, what))
        time.sleep(step)


def agree(attempt):
    """attempt() gives {what: (seen, true, allowed)}. Where a measurement is off it is taken again, up to three times, and
    the middle one counts: a machine with other work may spoil one of them, a wrong pytop is wrong in all."""
    tries = []
    while True:
        tries.append(attempt())
        wrong = []
        for what, (seen, true, allowed) in tries[-1].items():
            off = statistics.median(t[what][0] - t[what][1] for t in tries)
            if abs(off) > allowed:
                wrong.append("%s: %.2f, not %.2f (off by %.2f, allowed %.2f)" % (what, seen, true, off, allowed))
        if not wrong:
            return
        if len(tries) == 3:
            raise Fail("; ".join(wrong))


def first_line(text):
    lines = [line for line in text.splitlines() if line.strip()]
    return lines[0][:300] if lines else "(nothing on stderr)"


class Python:
    """one real interpreter: a line of tests/pythons.sh list"""
    def __init__(self, line):
        words = line.split()
        self.name, self.text, self.command = words[0], words[1], words[2:]
        self.version = tuple(int(n) for n in self.text.split(".")[:2])
        self.root = ""
        if self.command[0] == "chroot":
            self.root = self.command[1]
        for word in self.command:
            if word.startswith("--root="):
                self.root = word[len("--root="):]

    @property
    def supported(self):
        return self.version >= (3, 8)

    def function(self, qualified):
        """a function's name as this version tells it: qualified from 3.11 on"""
        return qualified if self.version >= (3, 11) else qualified.split(".")[-1]


class Target:
    """a running program; `dir` is its folder as we see it, `inside` as it does"""
    def __init__(self, process, folder="", inside=""):
        self.process, self.pid, self.dir, self.inside = process, process.pid, folder, inside
        self.out = os.path.join(folder, "out")

    def ready(self, seconds=60):
        """wait for the file it publishes"""
        until(lambda: os.path.exists(self.out) or self.process.poll() is not None, "the target", seconds)
        if not os.path.exists(self.out):
            raise Skip("the target ended with status %s" % self.process.returncode)
        return self

    def truth(self):
        with open(self.out, encoding="utf-8") as file:
            return json.load(file)

    def rows(self):
        """the lines written so far by a target that keeps a record"""
        with open(self.out, encoding="utf-8") as file:
            return [json.loads(line) for line in file.read().split("\n")[:-1]]

    def alive(self):
        return self.process.poll() is None

    def status(self, key):
        with open("/proc/%d/status" % self.pid) as file:
            for line in file:
                if line.startswith(key + ":"):
                    return line.split(":", 1)[1].strip()
        return None

    def stop(self):
        if self.alive():
            self.process.terminate()
            try:
                self.process.wait(2)
            except subprocess.TimeoutExpired:
                self.process.kill()
        self.process.wait()


class Result:
    """what became of a run of pytop"""
    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    def json(self):
        try:
            return json.loads(self.out)
        except ValueError as error:
            raise Fail("not JSON: %s: %.200r" % (error, self.out))

    def lines(self):
        """one JSON document a line"""
        try:
            return [json.loads(line) for line in self.out.splitlines()]
        except ValueError as error:
            raise Fail("not JSON lines: %s: %.200r" % (error, self.out))


class Bench:
    """one case's place to work"""
    def __init__(self, python, tools):
        self.python, self.tools = python, tools
        self.dir = tempfile.mkdtemp(prefix="pytop-live-")
        self.tmp, self.home = os.path.join(self.dir, "tmp"), os.path.join(self.dir, "home")
        os.mkdir(self.tmp)
        os.mkdir(self.home)
        self.folders, self.marks = [self.dir], [self.dir]
        self.targets, self.running, self.screens = [], [], []
        self.env = {k: v for k, v in os.environ.items()
                    if not k.startswith(("PYTHON", "XDG_", "PYENV", "LC_")) and k not in ("NO_COLOR", "LANG")}
        self.env.update(TMPDIR=self.tmp, HOME=self.home, LANG="C.UTF-8", PYTHONDONTWRITEBYTECODE="1")

    def path(self, name):
        return os.path.join(self.dir, name)

    def folder_in(self, root):
        """a folder with the targets that an interpreter of this root can see: (as we see it, as it does)"""
        folder = tempfile.mkdtemp(prefix="pytop-live-", dir=root + "/tmp" if root else self.dir)
        self.folders.append(folder)
        self.marks.append(folder[len(root):])
        for name in os.listdir(TARGETS):
            if name.endswith((".py", ".sh")):
                shutil.copy(os.path.join(TARGETS, name), folder)
        return folder, folder[len(root):]

    def argv(self, script, *args, python=None):
        """(command line, folder outside, folder inside) that runs a target"""
        python = python or self.python
        folder, inside = self.folder_in(python.root)
        return (python.command + [inside + "/" + script, inside + "/out", *map(str, args)], folder, inside)

    def spawn(self, argv, folder="", inside="", **options):
        process = subprocess.Popen(argv, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                   stderr=subprocess.DEVNULL, env=self.env, **options)
        target = Target(process, folder, inside)
        self.targets.append(target)
        return target

    def start(self, script, *args, python=None, **options):
        """start a target and wait until it is ready"""
        argv, folder, inside = self.argv(script, *args, python=python)
        return self.spawn(argv, folder, inside, **options).ready()

    def begin(self, *args, prefix=(), **options):
        """start pytop and leave it running"""
        options = {"stdin": subprocess.DEVNULL, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE,
                   "cwd": self.dir, "env": self.env, **options}
        process = subprocess.Popen([*prefix, PYTOP, *map(str, args)], encoding="utf-8", errors="strict", **options)
        self.running.append(process)
        return process

    def end(self, process, timeout=60):
        """wait for a pytop that was begun"""
        try:
            out, err = process.communicate(timeout=timeout)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise Fail("pytop did not end within %d s" % timeout)
        except UnicodeDecodeError as error:
            raise Fail("pytop's output is not UTF-8: %s" % error)
        return Result(process.returncode, out or "", err or "")

    def pytop(self, *args, status=0, timeout=60, **options):
        """run pytop to its end, which must be with this exit status (None: any)"""
        result = self.end(self.begin(*args, **options), timeout)
        if status is not None and result.status != status:
            raise Fail("pytop %s: exit status %s, not %d: %s" % (
                " ".join(map(str, args)), result.status, status, first_line(result.err)))
        return result

    def log(self, *args, **options):
        """run pytop with its log kept, and read that log: (result, Log). The folder is self.spool"""
        self.spool = tempfile.mkdtemp(prefix="spool-", dir=self.dir)
        result = self.pytop("--spool", self.spool, *args, **options)
        return result, Log(self.spool)

    def screen(self, *args, cwd=None, wrapper=(), **options):
        """pytop in a terminal, started by the wrapper if there is one"""
        self.tool("tmux")
        screen = Screen([*wrapper, PYTOP, *map(str, args)], env=self.env, cwd=cwd or self.dir, **options)
        self.screens.append(screen)
        return screen

    def tool(self, name):
        """the path of a program that judges"""
        path = self.tools.get(name) or shutil.which(name)
        if not path:
            raise Skip("no %s here" % name)
        return path

    def leftovers(self):
        return [os.path.join(where, name) for top in (self.tmp, self.home)
                for where, dirs, files in os.walk(top) for name in dirs + files]

    def strays(self):
        """processes that run out of our folders and are not ours to wait for: what pytop started"""
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open("/proc/%s/cmdline" % pid, "rb") as file:
                    words = file.read().decode("utf-8", "replace")
            except OSError:
                continue
            if any(mark in words for mark in self.marks):
                yield int(pid)

    def close(self):
        for screen in self.screens:
            screen.close()
        for process in self.running:
            if process.poll() is None:
                process.send_signal(signal.SIGKILL)
            process.wait()
            for stream in (process.stdout, process.stderr):
                if stream:
                    stream.close()
        for target in self.targets:
            target.stop()
        for pid in list(self.strays()):
            try:
                os.kill(pid, signal.SIGKILL)
            except OSError:
                pass
        for folder in self.folders:
            shutil.rmtree(folder, ignore_errors=True)

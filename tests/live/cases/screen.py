"""The screen on real targets: what the golden screens cannot keep, since it changes from run to run."""
import os
import random
import signal
import time

from harness import Fail, case, need, until


def waiting(function):
    """a case whose waits on a screen are failures when they are in vain"""
    def run(bench):
        try:
            function(bench)
        except TimeoutError as error:
            raise Fail(str(error).replace("\n", " | ")[:600])
    run.__name__, run.__doc__ = function.__name__, function.__doc__
    return run


def leaves(screen, key="q"):
    """q: ends with status 0"""
    screen.keys(key)
    until(lambda: screen.dead() is not None, "pytop to leave", 10)
    need(screen.dead() == 0, "exit status", screen.dead())


@case(each=True)
@waiting
def first_picture(bench):
    """the busiest function, the version and the pid are on the screen; q leaves and the answer stays behind"""
    target = bench.start("spinner.py")
    screen = bench.screen(target.pid)
    text = screen.wait_for("spin", 20)
    need(str(target.pid) in text and bench.python.text in text, "no pid or version on the screen:", text[:300])
    leaves(screen)
    need(any("spin" in line for line in screen.text()), "the last rows are not printed after leaving")


@case()
@waiting
def idle_parent(bench):
    """an idle parent of busy children: the busiest is named, by its number"""
    target = bench.start("children.py")
    truth = target.truth()
    screen = bench.screen(target.pid)
    screen.wait_for(str(truth["busiest"]), 20)
    leaves(screen)


@case()
@waiting
def picker(bench):
    """without a pid: the running Pythons; the chosen one is shown"""
    target = bench.start("spinner.py")
    screen = bench.screen()
    screen.wait_for(str(target.pid), 20)
    screen.keys("/", *str(target.pid), "Enter")
    screen.settle()
    screen.keys("Enter")
    text = screen.wait_for("FUNCTION", 20)
    need("pid %d" % target.pid in text, "another one was chosen:", text[:200])
    screen.wait_for("spin", 20)
    leaves(screen)


@case()
@waiting
def target_gone(bench):
    """the target ends: the picture stays, and an export still works"""
    target = bench.start("spinner.py")
    folder = bench.path("here")
    os.mkdir(folder)
    screen = bench.screen(target.pid, cwd=folder)
    screen.wait_for("spin", 20)
    time.sleep(1)
    target.stop()
    screen.wait(lambda text: "ended" in text or "exited" in text, "the end of the target to be said")
    need("spin" in "\n".join(screen.text()), "the last picture is gone")
    screen.keys("c")
    until(lambda: [f for f in os.listdir(folder) if f.endswith(".txt")], "the file", 15)
    leaves(screen)


@case()
@waiting
def random_keys(bench):
    """keys at random and sizes at random: it lives, and leaves when asked"""
    target = bench.start("threads.py", "busy")
    folder = bench.path("here")
    os.mkdir(folder)
    screen = bench.screen("--rate", "500", target.pid, cwd=folder)
    screen.wait_for("spin", 20)
    seed = random.randrange(1 << 32)
    chance = random.Random(seed)
    names = list("jknN<>I1234(),.tlHpr?+-/\\x ") + ["Up", "Down", "PPage", "NPage", "Home", "End", "Enter", "Escape",
                                                   "F1", "F3", "F4", "F6", "C-d", "C-u", "Left", "Right", "BSpace", "Tab"]
    for _ in range(250):
        screen.keys(*[chance.choice(names) for _ in range(4)])
        if chance.random() < 0.1:
            screen.resize(chance.choice([1, 5, 20, 40, 80, 200]), chance.choice([1, 2, 5, 10, 24, 60]))
        need(screen.dead() is None, "it ended with status", screen.dead(), "by keys of seed", seed)
    screen.resize(100, 30)
    for _ in range(3):
        screen.keys("Escape")
        time.sleep(0.1)
    screen.wait_for(str(target.pid), 10)
    leaves(screen, "F10")


@case()
@waiting
def ends_by_signal(bench):
    """SIGTERM while on the screen: the terminal is left as it was"""
    target = bench.start("spinner.py")
    screen = bench.screen(target.pid, wrapper=("sh", "-c", 'echo BEFORE; "$@"; echo AFTER; cat', "sh"))
    screen.wait_for("spin", 20)
    shell = screen.pid()
    with open("/proc/%d/task/%d/children" % (shell, shell)) as file:
        os.kill(int(file.read()), signal.SIGTERM)
    text = screen.wait_for("AFTER", 20)
    need("BEFORE" in text, "what stood there before is gone:", text)
    flags = screen.command("display-message", "-p", "#{alternate_on} #{cursor_flag}").split()
    need(flags == ["0", "1"], "alternate screen and cursor:", flags)
    need(target.alive(), "the target died")


@case()
@waiting
def suspended(bench):
    """^Z gives the shell back, fg the picture, which goes on"""
    target = bench.start("spinner.py")
    screen = bench.screen(target.pid, wrapper=("sh", "-c", 'set -m; PS1="$ "; "$@"; while read line; do eval "$line"; done', "sh"))
    screen.wait_for("spin", 20)
    screen.keys("C-z")
    screen.wait(lambda text: "%CPU" not in text, "the shell", 20)
    need(target.alive() and target.status("State")[0] in "SR", "the target is", target.status("State"))
    screen.keys("f", "g", "Enter")
    screen.wait_for("%CPU", 20)
    screen.wait_for("spin", 20)
    screen.keys("t")
    screen.wait_for("the spinner", 20)
    screen.keys("q")
    screen.wait(lambda text: "HIdle" not in text and "?Help" not in text, "pytop to leave", 20)


@case()
@waiting
def follows_a_command(bench):
    """`-- COMMAND` on the screen: what the command prints does not disturb it"""
    code = "import time\ndef noisy():\n    while True: print('DISTURBANCE', flush=True); sum(range(20000))\nnoisy()"
    screen = bench.screen("--", *bench.python.command, "-c", code)
    bench.marks.append(code)
    screen.wait_for("noisy", 20)
    time.sleep(1)
    text = "\n".join(screen.text())
    need("DISTURBANCE" not in text, "its output is on the screen")
    leaves(screen)

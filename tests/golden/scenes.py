"""The scenes of the golden screens: how pytop is started, which keys are pressed."""
import time


class Scene:
    def __init__(self, name, *steps, size=(80, 24), options=(), env=None, term=(), plain=False, shell=False):
        self.name, self.steps, self.size, self.options = name, steps, size, options
        self.env, self.term, self.plain, self.shell = env or {}, term, plain, shell


def shown(words):
    """wait until the screen has these words"""
    return lambda screen: screen.wait_for(words)


def pause(seconds):
    return lambda screen: time.sleep(seconds)


def resize(columns, lines):
    def step(screen):
        screen.resize(columns, lines)
        screen.settle()
    return step


SIZES = [(120, 40), (80, 24), (40, 10), (20, 5)]
FILLED, BUSIEST = shown("Cart"), shown("burn")

SCENES = [Scene("functions-%dx%d" % size, BUSIEST, size=size) for size in SIZES]
SCENES += [Scene("threads-%dx%d" % size, BUSIEST, "t", size=size) for size in SIZES]
SCENES += [Scene("help-%dx%d" % size, BUSIEST, "?", size=size) for size in SIZES]
SCENES += [
    Scene("lines", FILLED, "l"),
    Scene("lines-back", FILLED, "l", "l"),
    Scene("mode-wall", FILLED, "1"),
    Scene("mode-gil", FILLED, "3"),
    Scene("mode-wait", FILLED, "4"),
    Scene("sort-next", FILLED, ">"),
    Scene("sort-previous-reversed", FILLED, "<", "I"),
    Scene("filter", FILLED, "\\", "C a r t", "Enter"),
    Scene("filter-prompt", FILLED, "\\", "C a r"),
    Scene("filter-cleared", FILLED, "\\", "C a r t", "Enter", "\\", "C-u", "Enter"),
    Scene("search", FILLED, "/", "s h i p", "Enter"),
    Scene("search-nothing", FILLED, "/", "n o p e", "Enter"),
    Scene("hide-idle", FILLED, "H"),
    Scene("selected-down", FILLED, "Down", "Down"),
    Scene("selected-end", FILLED, "End"),
    Scene("scrolled", BUSIEST, "NPage", "NPage", size=(80, 12)),
    Scene("thread-stack", FILLED, "t", "Enter"),
    Scene("thread-stack-back", FILLED, "t", "Enter", "Escape"),
    Scene("paused", FILLED, "Space"),
    Scene("resized", FILLED, resize(20, 5), resize(120, 40), resize(60, 15)),
    Scene("tiny", BUSIEST, resize(3, 2), resize(80, 24)),
    Scene("vt100", FILLED, term=("TERM=vt100",), plain=True),
    Scene("no-color", FILLED, env={"NO_COLOR": "1"}, plain=True),
    Scene("latin", FILLED, env={"LANG": "C", "LC_ALL": "C"}),
    Scene("eight-colours", FILLED, term=("TERM=ansi",)),
    Scene("unknown-key", FILLED, "~", "F12", "M-x"),
    Scene("suspended", FILLED, "C-z", shown("topped"), "c l e a r Enter", pause(0.3), "f g Enter", FILLED, shell=True),
]

"""The scenes of the golden screens: how pytop is started, which keys are pressed, and what is masked."""
import time


class Scene:
    def __init__(self, name, *steps, source="open", size=(80, 24), options=(), env=None, term=(), plain=False,
                 masks=(), shell=False):
        self.name, self.steps, self.source, self.size = name, steps, source, size
        self.options, self.env, self.term, self.plain, self.shell = options, env or {}, term, plain, shell
        self.masks = list(masks) + (OPEN if source == "open" else LIVE)


# what differs even over a kept spool: pytop's own CPU
OPEN = [(r"pytop\s+\d+(\.\d+)?%( CPU)?", "pytop #% CPU")]
# live: every number, with the blanks before it, keeps its width and becomes one sign; bars become one sign each
LIVE = [(r"[#|=\u2588\u2589\u258a\u258b\u258c\u258d\u258e\u258f-]{5,}[ ]*", "~"),
        (r"\d{1,2}:\d\d:\d\d", "HH:MM:SS"),
        (r"( *)(\d[\d,.]*)([a-zA-Z%]*)", lambda m: m.group(1)[:1] + "#" + m.group(3)),
        (r" {2,}", " ")]


def shown(words):
    """wait until the screen has these words"""
    return lambda screen, stage: screen.wait_for(words)


def pause(seconds):
    return lambda screen, stage: time.sleep(seconds)


def resize(columns, lines):
    def step(screen, stage):
        screen.resize(columns, lines)
        screen.settle()
    return step


def end_of_target(screen, stage):
    stage.end_shop()


SIZES = [(120, 40), (80, 24), (40, 10), (20, 5)]
FILLED = shown("Cart")

SCENES = [Scene("functions-%dx%d" % size, pause(0.8), size=size) for size in SIZES]
SCENES += [Scene("threads-%dx%d" % size, pause(0.5), "t", size=size) for size in SIZES]
SCENES += [Scene("help-%dx%d" % size, pause(0.5), "?", size=size) for size in SIZES]
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
    Scene("scrolled", FILLED, "NPage", "NPage", size=(80, 12)),
    Scene("thread-stack", FILLED, "t", "Enter"),
    Scene("thread-stack-back", FILLED, "t", "Enter", "Escape"),
    Scene("paused", FILLED, "Space"),
    Scene("resized", FILLED, resize(20, 5), resize(120, 40), resize(60, 15)),
    Scene("tiny", pause(0.8), resize(3, 2), resize(80, 24)),
    Scene("vt100", FILLED, term=("TERM=vt100",), plain=True),
    Scene("no-color", FILLED, env={"NO_COLOR": "1"}, plain=True),
    Scene("latin", FILLED, env={"LANG": "C", "LC_ALL": "C"}),
    Scene("eight-colours", FILLED, term=("TERM=ansi",)),
    Scene("unknown-key", FILLED, "~", "F12", "M-x"),
    Scene("live-functions", FILLED, pause(1.5), source="live", size=(100, 24)),
    Scene("live-threads", FILLED, pause(1.0), "t", pause(0.3), source="live", size=(100, 24)),
    Scene("live-ended", FILLED, pause(1.0), end_of_target, pause(1.5), source="live", size=(100, 24)),
    Scene("live-left", FILLED, pause(1.0), "q", pause(0.6), source="live", size=(100, 24)),
    Scene("live-suspended", FILLED, "C-z", shown("topped"), "f g Enter", FILLED, pause(0.5), source="live",
          size=(100, 24), shell=True),
]

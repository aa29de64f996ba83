# -*- coding: utf-8 -*-
"""callgraph.py FILE: two threads that do nothing but tiny calls. A function's name says the only function
that may call it: p_0_2_1 is called by p_0_2 and by nobody else, from the one line which FILE gives for
p_0_2_1 (with the line where each is defined, which tells the constructors apart); so a stack with any other pair of frames never was. Calls go directly, through C, through
generators and through constructors, and every frame of a depth has much the same size, so that a reader
meets another call's frame at the address where it saw the last one."""
import os
import time

from ready import FOREVER, OUT, publish, start_thread

DEPTH = 5
FAN = 3


def source(prefix):
    """the text of one thread's functions, {name: [caller, line of the call]} and {line of the def: name}"""
    lines, calls, defs = [], {}, {}

    def write(name, depth):
        children = ["%s_%d" % (name, i) for i in range(FAN)] if depth else []
        for child in children:
            write(child, depth - 1)
        kind = name[-1]
        if kind == "2" and depth % 2:                   # a constructor does the work
            lines.append("class %s:" % name)
            lines.append("    def __init__(self, x):")
            indent = "        "
        else:
            lines.append("def %s(x):" % name)
            indent = "    "
        defs[len(lines)] = name
        for i, child in enumerate(children):
            if i == 1 and depth % 2 == 0:
                lines.append("%sfor x in map(%s, (x,)): pass" % (indent, child))
            elif i == 0 and depth == 2:                 # leaves below are generators
                lines.append("%sfor x in %s(x): pass" % (indent, child))
            else:
                lines.append("%s%s(x)" % (indent, child))
            calls[child] = [name, len(lines)]
        lines.append("%sy = x" % indent)
        if depth == 1 and kind == "0":
            lines.append("%syield y" % indent)
        elif indent == "    ":
            lines.append("%sreturn 1" % indent)

    write(prefix, DEPTH)
    return "\n".join(lines) + "\n", calls, defs


def make(prefix):
    text, calls, defs = source(prefix)
    path = os.path.join(os.path.dirname(OUT), "graph_%s.py" % prefix)
    with open(path, "w") as file:
        file.write(text)
    space = {}
    exec(compile(text, path, "exec"), space)
    return space[prefix], calls, path, defs


def forever(function):
    while True:
        function(1)


if __name__ == "__main__":
    graph = {"calls": {}, "defs": {}}
    for prefix in ("p", "q"):
        function, calls, path, defs = make(prefix)
        graph["calls"].update(calls)
        graph["defs"][path] = defs
        start_thread(forever, "graph " + prefix, function)
    time.sleep(0.5)
    publish(OUT, graph)
    time.sleep(FOREVER)

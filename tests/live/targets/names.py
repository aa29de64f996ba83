# -*- coding: utf-8 -*-
"""names.py FILE: functions, files and threads with hostile names, all in need of CPU: names of thousands of
characters, lone surrogates, escape sequences, newlines, the separators of every format, and markup."""
import sys
import types

from ready import OUT, publish, start_thread

PY3 = sys.version_info[0] >= 3

HOSTILE = [
    "n" * 5000,
    "semi;colon 17",
    "new\nline\r\ttab",
    "esc\x1b[2J\x1b]0;owned\x07\x1b[31mred",
    "nul\0byte",
    "</script><script>alert(1)</script><b>&amp;\"'`",
    "{\"json\": [1,2,\\u0000]}",
    "",
    " ",
]
if PY3:
    HOSTILE += ["\ud800lone\udfff", "\u202egnp.exe\u202c\u200b", "\x9b31m\x85c1", "e" + "\u0301" * 300, "\U0001F40D" * 700,
                "\uffff\ufffe", "\u5bbd" * 400]


def body():
    x = 0
    for i in range(30000):
        x ^= i
    return x


def renamed(name, file):
    code = body.__code__
    if hasattr(code, "replace"):
        new = {"co_name": name, "co_filename": file}
        if hasattr(code, "co_qualname"):
            new["co_qualname"] = name
        code = code.replace(**new)
        return types.FunctionType(code, {"range": range})
    return body


functions = [renamed(name, "/hostile/" + name + ".py") for name in HOSTILE]


def run():
    while True:
        for function in functions:
            function()


for name in HOSTILE[1:4] + HOSTILE[-6:-3]:
    start_thread(run, name)
publish(OUT, {"names": len(HOSTILE)})
run()

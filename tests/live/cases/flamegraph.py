"""The flame graph, opened in a headless Chromium: no complaint, no request, and it answers mouse and keys."""
import os
import re

from browser import Browser
from harness import case, need


def opened(bench, file):
    """a browser with the page, closed with the case"""
    browser = Browser(bench.tool("chromium"))
    bench.screens.append(browser)
    browser.open(file)
    complaints(browser)
    return browser


def complaints(browser):
    found = browser.complaints()
    need(not found, found[:2])


def self_contained(file):
    text = open(file, encoding="utf-8").read()
    outside = re.findall(r"""(?:src|href)\s*=\s*["']?(?:https?:)?//[^"'> ]*|@import|url\(\s*["']?https?:[^)]*""", text)
    need(not outside, "asks the network for", outside[:2])


@case()
def flamegraph(bench):
    """draws, zooms by click and back, searches, hovers, and shows each kind of value"""
    target = bench.start("threads.py", "busy")
    file = bench.path("x.html")
    bench.pytop("-d", 2, "-o", file, target.pid)
    need(os.path.getsize(file) < 8 << 20, "a page of", os.path.getsize(file), "bytes")
    self_contained(file)
    browser = opened(bench, file)
    text = browser.value("document.title + ' ' + document.body.innerText")
    need("threads.py" in text or str(target.pid) in text, "neither program nor pid on the page:", text[:200])
    whole = browser.picture()
    need(len(whole) > 5000, "an empty page")
    x, y = browser.value(FIND_FRAME)
    browser.hover(x, y)
    hovered = browser.picture()
    need(hovered != whole, "hovering shows nothing")
    tip = browser.value("document.getElementById('tip').innerText")
    need("%" in tip and ".py" in tip, "hovering tells no share and no file:", tip)
    browser.click(x, y)
    zoomed = browser.picture()
    need(zoomed != hovered, "a click changes nothing")
    browser.key("Escape", 27)
    browser.hover(2, 2)
    before = browser.picture()
    need(browser.value("(e => { if (e) e.focus(); return !!e })(document.querySelector('input[type=search], input[type=text], "
                       "input:not([type])'))"), "no field to search in")
    browser.type("spin")
    need(browser.picture() != before, "a search changes nothing")
    need(re.search(r"\d+(\.\d+)?\s*%", browser.value("document.body.innerText")), "no percentage on the page")
    for kind in ("wall", "gil", "gil wait", "cpu"):
        pressed = browser.value(CHOOSE_KIND % kind)
        need(pressed == kind, "chosen is", pressed, "not", kind)
        browser.pause()
    complaints(browser)


# a point inside a frame, the third from the root: found by the page's own eyes, hovered by the mouse
FIND_FRAME = """(() => {
    const box = document.getElementById('canvas').getBoundingClientRect()
    for (let y = box.top + 2.5 * ROW; y > box.top; y -= ROW)
        for (let x = box.left + box.width / 3; x < box.right; x += 3)
            if (nodeAt({clientX: x, clientY: y}) >= 0)
                return [x, y]
    return [box.left + box.width / 3, box.top + ROW / 2]
})()"""

# press the button of a kind; the text of the one that is pressed then
CHOOSE_KIND = """(() => {
    const buttons = () => [...document.querySelectorAll('#kinds button')]
    buttons().find(e => e.textContent.toLowerCase() == '%s').click()
    return buttons().filter(e => e.getAttribute('aria-pressed') == 'true').map(e => e.textContent.toLowerCase()).join()
})()"""


@case()
def flamegraph_hostile_names(bench):
    """names with markup in them run nothing and break nothing"""
    target = bench.start("names.py")
    file = bench.path("x.html")
    bench.pytop("-d", 1, "-m", "wall", "-o", file, target.pid)
    self_contained(file)
    browser = opened(bench, file)
    need(not browser.value("[...document.querySelectorAll('body b')].some(e => e.textContent.includes('&'))"),
         "a name became markup")
    x, y = browser.value(FIND_FRAME)
    browser.hover(x, y)
    browser.click(x, y)
    complaints(browser)

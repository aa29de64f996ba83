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
    for kind in ("wall", "gil", "wait", "cpu"):
        need(browser.value(CHOOSE_KIND % kind), "no way to choose", kind)
        browser.pause()
    complaints(browser)


# a point inside a wide frame of the graph: the middle of the biggest drawing on the page, or of a wide box in it
FIND_FRAME = """(() => {
    const big = [...document.querySelectorAll('canvas, svg rect, [data-frame], .frame')]
        .map(e => e.getBoundingClientRect()).filter(r => r.width > 60 && r.height > 8 && r.top < innerHeight)
        .sort((a, b) => b.width * b.height - a.width * a.height)
    const r = big[0] || {left: innerWidth / 4, top: innerHeight / 2, width: 10, height: 10}
    return [r.left + r.width / 3, Math.min(r.top + r.height / 2, innerHeight - 40)]
})()"""

# choose a kind by whatever the page has for it: a list, a button, a radio
CHOOSE_KIND = """(() => {
    const kind = '%s'
    for (const select of document.querySelectorAll('select'))
        for (const option of select.options)
            if (option.value.toLowerCase() == kind || option.text.toLowerCase().split(' ')[0] == kind) {
                select.value = option.value
                select.dispatchEvent(new Event('input', {bubbles: true}))
                select.dispatchEvent(new Event('change', {bubbles: true}))
                return true
            }
    for (const e of document.querySelectorAll('button, input[type=radio], label, a, [role=button]'))
        if ((e.value || e.textContent || '').trim().toLowerCase().split(' ')[0] == kind) { e.click(); return true }
    return false
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

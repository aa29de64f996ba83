"""A headless Chromium that opens one page, is driven by mouse and keys, and tells every complaint: its
debugging protocol over a pair of pipes."""
import base64
import json
import os
import select
import shutil
import subprocess
import tempfile
import time


class Browser:
    def __init__(self, program, width=1200, height=800):
        self.folder = tempfile.mkdtemp(prefix="pytop-browser-")
        to_read, self.to = os.pipe()
        self.back, back_write = os.pipe()

        def descriptors():
            fd = os.dup(to_read), os.dup(back_write)
            os.dup2(fd[0], 3)
            os.dup2(fd[1], 4)
        arguments = ["--headless=new", "--no-sandbox", "--disable-gpu", "--remote-debugging-pipe", "--no-first-run",
                     "--disable-dev-shm-usage", "--window-size=%d,%d" % (width, height),
                     "--disable-background-networking", "--user-data-dir=" + self.folder, "about:blank"]
        env = dict(os.environ, HOME=self.folder, TMPDIR=self.folder)
        self.process = subprocess.Popen([program] + arguments, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, preexec_fn=descriptors, close_fds=False, env=env)
        os.close(to_read)
        os.close(back_write)
        self.buffer, self.number, self.session = b"", 0, None
        self.events = []
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Runtime", "Log", "Page", "Network"):
            self.call(domain + ".enable")

    def message(self, seconds):
        end = time.monotonic() + seconds
        while b"\0" not in self.buffer:
            ready = select.select([self.back], [], [], max(0, end - time.monotonic()))[0]
            data = os.read(self.back, 1 << 20) if ready else b""
            if not data:
                return None
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\0", 1)
        return json.loads(text)

    def call(self, method, **params):
        self.number += 1
        call = {"id": self.number, "method": method, "params": params}
        if self.session:
            call["sessionId"] = self.session
        os.write(self.to, json.dumps(call).encode() + b"\0")
        while True:
            answer = self.message(30)
            if answer is None:
                raise TimeoutError("no answer from the browser to " + method)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise RuntimeError("%s: %s" % (method, answer["error"]))
                return answer["result"]
            self.events.append(answer)

    def wait_event(self, method, seconds=30):
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            if any(e.get("method") == method for e in self.events):
                return
            event = self.message(end - time.monotonic())
            if event:
                self.events.append(event)
        raise TimeoutError("the browser gave no " + method)

    def open(self, path):
        self.events = []
        self.call("Page.navigate", url="file://" + os.path.abspath(path))
        self.wait_event("Page.loadEventFired")
        self.pause()

    def pause(self, seconds=0.4):
        """let the page draw"""
        end = time.monotonic() + seconds
        while time.monotonic() < end:
            event = self.message(end - time.monotonic())
            if event:
                self.events.append(event)

    def value(self, expression):
        """what a piece of script gives"""
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True)
        if "exceptionDetails" in answer:
            raise RuntimeError("%s: %s" % (expression[:80], answer["exceptionDetails"].get("text")))
        return answer["result"].get("value")

    def mouse(self, x, y, *kinds):
        for kind in kinds:
            pressed = {} if kind == "mouseMoved" else {"button": "left", "clickCount": 1}
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, **pressed)
        self.pause()

    def click(self, x, y):
        self.mouse(x, y, "mouseMoved", "mousePressed", "mouseReleased")

    def hover(self, x, y):
        self.mouse(x, y, "mouseMoved")

    def type(self, text):
        for character in text:
            self.call("Input.dispatchKeyEvent", type="keyDown", text=character, key=character)
            self.call("Input.dispatchKeyEvent", type="keyUp", key=character)
        self.pause()

    def key(self, name, code):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=name, code=name, windowsVirtualKeyCode=code)
        self.pause()

    def picture(self, path=None):
        data = base64.b64decode(self.call("Page.captureScreenshot")["data"])
        if path:
            with open(path, "wb") as file:
                file.write(data)
        return data

    def complaints(self):
        """errors of scripts, messages to the console, and requests for anything but the page itself"""
        found = []
        for event in self.events:
            method, params = event.get("method"), event.get("params", {})
            if method == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                text = details.get("exception", {}).get("description") or details.get("text", "")
                found.append("script error: " + text)
            elif method == "Log.entryAdded" and params["entry"]["level"] in ("error", "warning"):
                found.append("log: " + params["entry"]["text"])
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "warning", "assert"):
                found.append("console: " + str(params["args"])[:200])
            elif method == "Page.javascriptDialogOpening":
                found.append("a dialog opened: " + params["message"])
            elif method == "Network.requestWillBeSent":
                url = params["request"]["url"]
                if not url.startswith(("file://", "data:", "blob:")):
                    found.append("a request to " + url)
        return found

    def close(self):
        self.process.kill()
        self.process.wait()
        os.close(self.to)
        os.close(self.back)
        shutil.rmtree(self.folder, ignore_errors=True)

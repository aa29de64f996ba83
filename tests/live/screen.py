"""A terminal of a given size in which pytop runs and is driven by keys: tmux, with a server of its own."""
import os
import shutil
import subprocess
import tempfile
import time


class Screen:
    def __init__(self, argv, columns=120, lines=40, env=None, cwd=None, term="tmux-256color", unset=()):
        self.tmux = shutil.which("tmux")
        self.folder = tempfile.mkdtemp(prefix="pytop-screen-")
        self.socket = os.path.join(self.folder, "tmux")
        self.columns, self.lines = columns, lines
        env = dict(os.environ if env is None else env)
        for name in ("TMUX", "TMUX_PANE", *unset):
            env.pop(name, None)
        config = os.path.join(self.folder, "conf")
        with open(config, "w") as file:
            file.write("set -g status off\nset -g default-terminal %s\nset -sg escape-time 0\n"
                       "set -g remain-on-exit on\nset -g update-environment ''\n" % term)
        utf8 = ["-u"] if "UTF-8" in env.get("LC_ALL", env.get("LANG", "")).upper() else []
        subprocess.run([self.tmux, *utf8, "-S", self.socket, "-f", config, "new-session", "-d", "-x", str(columns),
                        "-y", str(lines), *argv], env=env, cwd=cwd, check=True, stdin=subprocess.DEVNULL)

    def command(self, *words):
        return subprocess.run([self.tmux, "-S", self.socket, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.DEVNULL).stdout.decode("utf-8", "replace")

    def keys(self, *names):
        """press keys by tmux's names: q, Enter, F5, C-z, Escape, Down"""
        self.command("send-keys", *names)

    def text(self, colours=False):
        """the screen as it is, a list of lines without their trailing blanks"""
        text = self.command("capture-pane", "-p", *(["-e"] if colours else []))
        return [line.rstrip() for line in text.split("\n")][:self.lines]

    def wait(self, condition, what, seconds=15):
        """until condition(whole text); gives the text"""
        end = time.monotonic() + seconds
        while True:
            text = "\n".join(self.text())
            if condition(text):
                return text
            if time.monotonic() > end:
                raise TimeoutError("waited %d s for %s on:\n%s" % (seconds, what, text))
            time.sleep(0.05)

    def wait_for(self, words, seconds=15):
        return self.wait(lambda text: words in text, repr(words), seconds)

    def settle(self, quiet=0.6, seconds=15):
        """until the screen has not changed for a while"""
        end, last, since = time.monotonic() + seconds, None, time.monotonic()
        while time.monotonic() < end:
            now = self.text()
            if now != last:
                last, since = now, time.monotonic()
            elif time.monotonic() - since >= quiet:
                return now
            time.sleep(0.05)
        return last

    def resize(self, columns, lines):
        self.columns, self.lines = columns, lines
        self.command("resize-window", "-x", str(columns), "-y", str(lines))

    def dead(self):
        """the exit status once the program has ended, else None"""
        status, pid = self.command("display-message", "-p", "#{pane_dead_status}\n#{pane_pid}").split("\n")[:2]
        if status:
            return int(status)
        try:                                    # tmux may have missed the signal that says so
            with open("/proc/%d/stat" % int(pid)) as file:
                fields = file.read().rsplit(")", 1)[1].split()
        except (OSError, ValueError):
            return None
        return int(fields[-1]) >> 8 if fields[0] == "Z" else None

    def pid(self):
        return int(self.command("display-message", "-p", "#{pane_pid}").strip() or 0)

    def close(self):
        self.command("kill-server")
        shutil.rmtree(self.folder, ignore_errors=True)

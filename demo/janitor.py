"""Cleans up, once in a while."""

import gc
import threading


class Session:
    def __init__(self, number):
        self.number = number
        self.owner = self  # a circle, so that only the collector can free it


class Janitor(threading.Thread):
    def __init__(self, name, cache, stop):
        super().__init__(name=name)
        self.cache = cache
        self.stop = stop

    def run(self):
        while not self.stop.wait(0.25):
            self.open_sessions()
            self.cache.expire()
            gc.collect()

    def open_sessions(self):
        for number in range(2000):
            Session(number)

"""A thread that serves one request after another."""

import json
import random
import threading
import time

from shop import make_request


class Worker(threading.Thread):
    def __init__(self, name, shop, stop):
        super().__init__(name=name)
        self.shop = shop
        self.stop = stop

    def run(self):
        while not self.stop.is_set():
            self.serve(json.dumps(make_request()))
            if random.random() < 0.2:
                self.ask_the_bank()

    def serve(self, line):
        request = json.loads(line)
        return json.loads(self.shop.handle(request))

    def ask_the_bank(self):
        """Another service, which takes its time."""
        time.sleep(random.uniform(0.001, 0.004))

"""Deliveries, which arrive as JSON over a socket."""

import json
import random
import socket


class Feed:
    def __init__(self, catalogue, stop):
        self.catalogue = catalogue
        self.stop = stop
        self.sender, self.receiver = socket.socketpair()

    def publish(self):
        while not self.stop.wait(0.05):
            message = {
                "kind": "delivery",
                "lines": [[self.pick(), random.randint(1, 50)] for _ in range(100)],
            }
            self.sender.sendall(json.dumps(message).encode() + b"\n")
        self.sender.close()

    def pick(self):
        return random.choice(self.catalogue.products).number

    def consume(self, inventory):
        """Waits in recv most of the time."""
        with self.receiver.makefile() as lines:
            for line in lines:
                for number, count in json.loads(line)["lines"]:
                    inventory.deliver(number, count)

"""How many are left."""

import threading


class OutOfStock(Exception):
    pass


class Inventory:
    def __init__(self, catalogue):
        self.lock = threading.Lock()
        self.stock = {product.number: 1000 for product in catalogue.products}

    def take(self, cart):
        with self.lock:
            for product, count in cart.lines():
                if self.stock[product.number] < count:
                    raise OutOfStock(product.name)
                self.stock[product.number] -= count

    def deliver(self, number, count):
        with self.lock:
            self.stock[number] += count

    def recount(self, stop):
        """Twice a second, and never letting the GIL go while at it."""
        while not stop.wait(0.5):
            with self.lock:
                self.checksum()

    def checksum(self):
        total = 0
        for _ in range(40):
            for number, count in self.stock.items():
                total = (total * 31 + number * count) % 1_000_003
        return total

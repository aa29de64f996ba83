"""Answers requests."""

import json
import random

from cart import Cart
from catalogue import ADJECTIVES, NOUNS
from inventory import OutOfStock


class Shop:
    def __init__(self, catalogue, prices, inventory, cache):
        self.catalogue = catalogue
        self.prices = prices
        self.inventory = inventory
        self.cache = cache
        self.served = 0

    def handle(self, request):
        self.served += 1
        if request["path"] == "/search":
            return self.search(request["words"])
        return self.checkout(request["words"])

    def search(self, words):
        key = " ".join(words)
        page = self.cache.get(key)
        if page is None:
            page = self.render(self.catalogue.search(words))
            self.cache.put(key, page)
        return page

    def checkout(self, words):
        cart = Cart()
        for product in self.catalogue.search(words)[:8]:
            cart.add(product, random.randint(1, 3))
        price = self.prices.price(cart)
        try:
            self.inventory.take(cart)
        except OutOfStock as error:
            return self.to_json({"error": str(error)})
        return self.to_json({"cart": cart.as_dict(), "price": price})

    def render(self, products):
        return self.to_json(
            {
                "products": [
                    {"number": product.number, "name": product.name, "price": product.price}
                    for product in products
                ]
            }
        )

    def to_json(self, value):
        return json.dumps(value, indent=1, sort_keys=True).encode()


def make_request():
    return {
        "path": "/checkout" if random.random() < 0.4 else "/search",
        "words": [random.choice(ADJECTIVES), random.choice(NOUNS)],
    }

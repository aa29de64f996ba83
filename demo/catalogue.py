"""What the shop sells."""

import random

ADJECTIVES = ("blue", "folding", "heavy", "oak", "quiet", "small", "striped", "wireless")
NOUNS = ("bench", "clock", "kettle", "lamp", "mirror", "rug", "shelf", "teapot")


class Product:
    def __init__(self, number):
        self.number = number
        self.name = f"{random.choice(ADJECTIVES)} {random.choice(NOUNS)}"
        self.weight = random.randint(100, 20_000)
        self.price = random.randint(199, 49_900)
        self.tags = set(self.name.split())


class Catalogue:
    def __init__(self, products):
        self.products = [Product(number) for number in range(products)]

    def search(self, words):
        """The products that match best, the hot loop of every search page."""
        found = []
        for product in self.products:
            score = self.score(product, words)
            if score:
                found.append((score, product.number))
        found.sort(reverse=True)
        return [self.products[number] for _, number in found[:20]]

    def score(self, product, words):
        score = 0
        for word in words:
            if word in product.tags:
                score += 10
            elif word in product.name:
                score += 3
        return score

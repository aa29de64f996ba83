"""What a customer is about to buy."""


class Cart:
    def __init__(self):
        self.counts = {}

    def add(self, product, count=1):
        self.counts[product] = self.counts.get(product, 0) + count

    def lines(self):
        return self.counts.items()

    def as_dict(self):
        return {
            "lines": [
                {"product": product.number, "name": product.name, "count": count}
                for product, count in self.counts.items()
            ]
        }

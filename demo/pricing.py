"""What it costs: discounts, tax, shipping."""

DISCOUNTS = [(50_000, 12), (20_000, 7), (10_000, 3)]
TAX_PERCENT = 19


class PriceList:
    def __init__(self, catalogue):
        self.catalogue = catalogue

    def price(self, cart):
        net = sum(self.line_price(product, count) for product, count in cart.lines())
        return self.with_tax(net) + self.shipping(cart)

    def line_price(self, product, count):
        total = product.price * count
        return total - total * self.discount(total) // 100

    def discount(self, total):
        for threshold, percent in DISCOUNTS:
            if total >= threshold:
                return percent
        return 0

    def with_tax(self, net):
        return net + net * TAX_PERCENT // 100

    def shipping(self, cart):
        """The cheapest way to fill parcels of 20 kg: small tables, filled over and over."""
        best = [0] + [None] * 40
        weight = min(40, 1 + sum(product.weight * count for product, count in cart.lines()) // 1000)
        for kilos in range(1, weight + 1):
            for parcel, cost in ((2, 399), (5, 549), (10, 899), (20, 1399)):
                offer = best[max(0, kilos - parcel)] + cost
                if best[kilos] is None or offer < best[kilos]:
                    best[kilos] = offer
        return best[weight]

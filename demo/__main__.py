"""A small web shop under load, for pytop to look at: `python3 demo [SECONDS]`.

It answers made-up requests until it is interrupted, or for so many seconds. Its threads do what
those of a real service do: burn CPU, wait for the GIL, for a lock, for a socket, for a clock.
"""

import signal
import sys
import threading

from cache import PageCache
from catalogue import Catalogue
from feed import Feed
from inventory import Inventory
from janitor import Janitor
from pricing import PriceList
from shop import Shop
from worker import Worker

WORKERS = 4


def start_all(stop):
    catalogue = Catalogue(products=1200)
    inventory = Inventory(catalogue)
    cache = PageCache()
    shop = Shop(catalogue, PriceList(catalogue), inventory, cache)
    feed = Feed(catalogue, stop)

    threads = [Worker(f"worker-{number}", shop, stop) for number in range(1, WORKERS + 1)]
    threads.append(threading.Thread(target=feed.publish, name="feed-publisher"))
    threads.append(threading.Thread(target=feed.consume, name="feed-consumer", args=(inventory,)))
    threads.append(threading.Thread(target=inventory.recount, name="recount", args=(stop,)))
    threads.append(Janitor("janitor", cache, stop))
    for thread in threads:
        thread.daemon = True
        thread.start()
    return shop, threads


def main():
    seconds = float(sys.argv[1]) if len(sys.argv) > 1 else None
    stop = threading.Event()

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, signal.default_int_handler)
    shop, threads = start_all(stop)
    print(f"the shop is open: {len(threads)} threads", flush=True)
    try:
        stop.wait(seconds)
    except KeyboardInterrupt:
        pass
    stop.set()
    for thread in threads:
        thread.join(timeout=2)
    print(f"the shop is closed: {shop.served} requests served", flush=True)


if __name__ == "__main__":
    main()

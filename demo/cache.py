"""Rendered pages, kept compressed. One lock guards it, and that is its weakness."""

import hashlib
import threading
import time
import zlib


class PageCache:
    def __init__(self):
        self.lock = threading.Lock()
        self.pages = {}

    def get(self, key):
        with self.lock:
            packed = self.pages.get(self.digest(key))
        return zlib.decompress(packed) if packed else None

    def put(self, key, page):
        with self.lock:
            self.pages[self.digest(key)] = self.compress(page)

    def compress(self, page):
        """Native code that lets the GIL go, under a lock that it keeps."""
        return zlib.compress(page, 9)

    def digest(self, key):
        return hashlib.sha256(key.encode()).hexdigest()

    def expire(self):
        """Forget everything, slowly, while nobody else can look at a page."""
        with self.lock:
            time.sleep(0.02)
            self.pages.clear()

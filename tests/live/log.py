"""Reads a kept log (--spool) by its manual page, pytop-spool(5), with nothing of pytop: the judge of what pytop says it saw."""
import glob
import os
import struct
import zlib
from collections import namedtuple

STRINGS, FUNCTIONS, FRAMES, STACKS, THREADS, TICKS, ROWS = range(1, 8)
STATES = "unknown gil running gil-wait suspended lock sleep poll io disk stopped".split()
ABSENT = 15

Frame = namedtuple("Frame", "function file defined line")
Tick = namedtuple("Tick", "time weight gap cpu missed interpreters samples")     # us; samples: {thread: Sample}
Sample = namedtuple("Sample", "stack state flags cpu syscall")                   # stack: Frames, root first; cpu: per mille
Thread = namedtuple("Thread", "tid name interpreter main")


class Bytes:
    def __init__(self, data):
        self.data, self.at = data, 0

    def byte(self):
        self.at += 1
        return self.data[self.at - 1]

    def varint(self):
        value = shift = 0
        while True:
            byte = self.byte()
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                return value

    def svarint(self):
        value = self.varint()
        return value >> 1 ^ -(value & 1)

    def take(self, size):
        self.at += size
        return self.data[self.at - size:self.at]

    def text(self):
        return self.take(self.varint()).decode("utf-8", "surrogateescape")


READ = {"u": Bytes.varint, "s": Bytes.svarint, "b": Bytes.byte, "t": Bytes.text}


def blocks(raw):
    """(kind, rows, first time, payload) of each whole block"""
    header_size, = struct.unpack_from("<I", raw, 16)
    at = header_size
    while at + 40 <= len(raw):
        magic, kind, codec, _, rows, stored, size, crc, first, _ = struct.unpack_from("<4sBBHIIIIqq", raw, at)
        payload = raw[at + 40:at + 40 + stored]
        header = raw[at:at + 20] + bytes(4) + raw[at + 24:at + 40]
        if magic != b"PTBK" or codec or len(payload) < stored or zlib.crc32(header, zlib.crc32(payload)) != crc:
            return
        yield kind, rows, first, payload
        at += 40 + stored


class Segment:
    def __init__(self, raw, threads):
        if raw[:8] != b"pytoplog" or struct.unpack_from("<II", raw, 8) != (1, 0x01020304):
            raise ValueError("not a segment")
        size, crc = struct.unpack_from("<II", raw, 16)
        if zlib.crc32(raw[24:size]) != crc:
            raise ValueError("a header with a wrong checksum")
        self.pid, = struct.unpack_from("<I", raw, 36)
        self.wall, self.clock = struct.unpack_from("<qq", raw, 40)
        self.rate = struct.unpack_from("<Q", raw, 64)[0] / 1000
        head = Bytes(raw[88:size])
        self.python, self.name, self.command = head.text(), head.text(), head.text()
        self.columns = {}
        for _ in range(struct.unpack_from("<I", raw, 80)[0]):
            kind, type_ = head.byte(), chr(head.byte())
            self.columns.setdefault(kind, []).append((head.text(), type_))
        self.raw, self.threads = raw, threads
        self.strings, self.functions, self.frames, self.stacks = [""], [None], [None], [()]
        self.open = {}                                  # thread: [stack, state byte, cpu, syscall]
        self.rss, self.interpreters = 0, []

    def columns_of(self, kind, data):
        names = [name for name, _ in self.columns[kind]]
        sizes = [data.varint() for _ in names]
        return {name: Bytes(data.take(size)) for name, size in zip(names, sizes)}

    def table(self, kind, rows, payload):
        """a block of definitions, a row at a time"""
        columns = self.columns_of(kind, Bytes(payload))
        types = dict(self.columns[kind])
        for _ in range(rows):
            yield {name: READ[types[name]](column) for name, column in columns.items()}

    def ticks(self):
        for kind, rows, first, payload in blocks(self.raw):
            if kind == TICKS:
                block = list(self.tick_block(rows, first // 1000, payload))
            elif kind == ROWS:
                yield from self.row_block(block, payload)
            elif kind <= THREADS:
                for row in self.table(kind, rows, payload):
                    self.define(kind, row)

    def define(self, kind, row):
        if kind == STRINGS:
            self.strings.append(row["text"])
        elif kind == FUNCTIONS:
            self.functions.append((self.strings[row["name"]], self.strings[row["file"]], row["line"]))
        elif kind == FRAMES:
            self.frames.append(Frame(*self.functions[row["function"]], row["line"]))
        elif kind == STACKS:
            parent = len(self.stacks) - row["parent"] if row["parent"] else 0
            self.stacks.append(self.stacks[parent] + (self.frames[row["frame"]],))
        elif kind == THREADS:
            self.threads[row["thread"]] = Thread(row["tid"], self.strings[row["name"]], row["interpreter"],
                                                 bool(row["flags"] & 1))

    def tick_block(self, rows, time, payload):
        c = self.columns_of(TICKS, Bytes(payload))
        for n in range(rows):
            head = c["head"].varint()
            since = head >> 2
            time += since
            what = c["what"].byte() if head & 1 else 0
            weight = c["weight"].varint() if what & 1 else since
            gap = c["gap"].varint() if what & 2 else since - weight
            cpu = c["cpu"].svarint() + weight if head & 2 else 0
            if what & 4:
                self.rss = c["rss"].varint()
            missed = c["missed"].varint() if what & 8 else 0
            if what & 16:
                self.interpreters = self.interpreters_of(c["interpreters"])
            yield Tick(time, weight, gap, cpu, missed, self.interpreters, None)

    def interpreters_of(self, data):
        """[(id, thread that holds the GIL, locked, has one, collects)]"""
        count = data.varint()
        ids = [data.svarint() for _ in range(count >> 1)] if count & 1 else [i[0] for i in self.interpreters]
        rest = [data.varint() for _ in range(count >> 1)]
        return [(i, r >> 3, bool(r & 1), bool(r & 2), bool(r & 4)) for i, r in zip(ids, rest)]

    def row_block(self, block, payload):
        data = Bytes(payload)
        names = [name for name, _ in self.columns[ROWS]]
        directory = [(data.varint(), data.varint(), [data.varint() for _ in names]) for _ in range(data.varint())]
        changes = [[] for _ in block]                   # per tick: (thread, what it is from here on)
        for thread, rows, sizes in directory:
            c = {name: Bytes(data.take(size)) for name, size in zip(names, sizes)}
            now, at = list(self.open.get(thread, (0, ABSENT, 0, -1))), -1
            for _ in range(rows):
                step = c["step"].byte()
                at += step >> 4 or c["skip"].varint()
                if step & 2:
                    now[1] = c["state"].byte()
                    if now[1] == ABSENT:
                        now[0], now[2], now[3] = 0, 0, -1
                if step & 1:
                    now[0] += c["stack"].svarint()
                if step & 4:
                    cpu = c["cpu"].byte() if dict(self.columns[ROWS])["cpu"] == "b" else c["cpu"].varint()
                    now[2] = 1000 - (cpu >> 1) if cpu & 1 else cpu >> 1
                if step & 8:
                    now[3] = c["syscall"].svarint()
                changes[at].append((thread, tuple(now)))
        for tick, changed in zip(block, changes):
            self.open.update(changed)
            yield tick._replace(samples={
                thread: Sample(self.stacks[stack], STATES[state & 15], state & 0xf0, cpu, syscall)
                for thread, (stack, state, cpu, syscall) in self.open.items() if state != ABSENT})


class Log:
    """every tick of a log; threads by their number"""
    def __init__(self, folder):
        self.threads, self.ticks = {}, []
        for path in sorted(glob.glob(os.path.join(folder, "*.pts"))):
            with open(path, "rb") as file:
                segment = Segment(file.read(), self.threads)
            self.python, self.pid, self.rate = segment.python, segment.pid, segment.rate
            self.ticks += segment.ticks()

    def seen(self):
        """seconds that were seen: all but the gaps"""
        return sum(t.weight for t in self.ticks) / 1e6

    def stretches(self):
        """[(from, to)] in seconds of CLOCK_MONOTONIC: what was seen"""
        return [((t.time - t.weight) / 1e6, t.time / 1e6) for t in self.ticks]

    def thread(self, name):
        """the number of the thread of this name"""
        return [number for number, thread in self.threads.items() if thread.name == name][0]

    def kinds(self, tick, thread):
        """what a thread-sample adds: {kind: seconds}"""
        s, w = tick.samples[thread], tick.weight / 1e6
        return {"wall": w, "cpu": w * s.cpu / 1000, "gil": w if s.flags & 0x10 else 0,
                "wait": w if s.state == "gil-wait" else 0}

    def sums(self, key):
        """{(key(thread, sample), kind): seconds} over all thread-samples"""
        out = {}
        for tick in self.ticks:
            for thread, sample in tick.samples.items():
                for kind, value in self.kinds(tick, thread).items():
                    k = key(self.threads[thread], sample), kind
                    out[k] = out.get(k, 0) + value
        return out

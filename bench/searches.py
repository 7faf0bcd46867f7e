"""Benchmark rows about message search: a rare word, a common one and a prefix of common ones among ten
million messages of a guild, and how fast new messages are indexed."""

import json
import os
import random
import re
import sqlite3
import statistics
import subprocess
import time
import urllib.request

from process import Client, Failed, start_guildhall

MESSAGES = 10_000_000
STEP = 200_000
CHANNELS = 10
WORDS = 20_000
TEXTS = 100_000
RARE = 40  # number of messages with the rare word
TIMES = 30
NEW = 100_000  # messages that are indexed
NEW_WORDS = 10
WORLD = {
    "users": [{"username": "ada"}],
    "guilds": [{"name": "Library", "owner": "ada", "channels": [{"name": f"shelf-{i}"} for i in range(CHANNELS)]}],
}


def make_world(executable, folder):
    """Creates an empty world and returns ada's token."""
    path = folder + ".json"
    with open(path, "w", encoding="utf-8") as f:
        json.dump(WORLD, f)
    done = subprocess.run([executable, "import", "--tokens", path, "--data", folder], capture_output=True,
                          text=True, timeout=120)
    if done.returncode:
        raise Failed(f"import: {done.stderr}")
    return re.search(r"^ada +(.*)$", done.stdout, re.M).group(1)


def random_texts(rng):
    """Returns texts of four words each, some much more common than others."""
    return [" ".join(f"word{int(WORDS * rng.random() ** 3)}" for _ in range(4)) for _ in range(TEXTS)]


def fill(folder, count):
    """Inserts the rows that the server and its indexing job would write."""
    db = sqlite3.connect(os.path.join(folder, "guildhall.db"), isolation_level=None)
    db.executescript("pragma synchronous = off; pragma cache_size = -400000; pragma locking_mode = exclusive;")
    # Large index segments avoid repeated merging.
    db.execute("insert into message_index (message_index, rank) values ('hashsize', 268435456)")
    trigger_sql = db.execute("select sql from sqlite_master where name = 'message_written'").fetchone()[0]
    db.execute("drop trigger message_written")
    guild, ada = db.execute("select id, owner_id from guilds").fetchone()
    channels = [row[0] for row in db.execute("select id from channels where guild_id = ? order by id", (guild,))]
    rng = random.Random(11)
    texts, base, every = random_texts(rng), (1 << 22) * 1_000_000_000, count // RARE
    for first in range(0, count, STEP):
        rows = [(base + i * 4096, channels[i % len(channels)],
                 texts[int(TEXTS * rng.random())] + (" rareword" if i % every == 0 else ""))
                for i in range(first, min(first + STEP, count))]
        db.execute("begin")
        db.executemany("insert into messages (id, channel_id, author_id, content) values (?, ?, %d, ?)" % ada, rows)
        db.executemany("insert into message_index (rowid, words) values (?, ?)",
                       ((i, f"_c{c} _g{guild} _a{ada} {text}") for i, c, text in rows))
        db.execute("commit")
    db.execute("update message_index_progress set indexed_to = (select max(id) from messages)")
    db.execute(trigger_sql)
    db.close()
    return guild


def timed_search(client, path):
    began = time.monotonic()
    status, answer = client.call("GET", path)
    took = (time.monotonic() - began) * 1000
    if status == 429:
        time.sleep(1.1)
        return timed_search(client, path)
    if status != 200:
        raise Failed(f"{path} answered {status}: {answer}")
    return took, answer["total_results"]


def add_unindexed(folder, count):
    """Inserts messages that the indexing job has not seen yet."""
    db = sqlite3.connect(os.path.join(folder, "guildhall.db"))
    ada = db.execute("select owner_id from guilds").fetchone()[0]
    channels = [row[0] for row in db.execute("select id from channels where guild_id is not null order by id")]
    dice, base = random.Random(12), (1 << 22) * 1_000_000_000
    db.executemany("insert into messages (id, channel_id, author_id, content) values (?, ?, ?, ?)",
                   ((base + i * 4096, channels[i % len(channels)], ada,
                     " ".join(f"word{int(WORDS * dice.random() ** 3)}" for _ in range(NEW_WORDS)))
                    for i in range(count)))
    db.commit()
    db.close()
    return channels[0]


def wait_until_indexed(folder, message):
    db = sqlite3.connect(f"file:{folder}/guildhall.db?mode=ro", uri=True)
    deadline = time.monotonic() + 120
    while db.execute("select indexed_to from message_index_progress").fetchone()[0] < message:
        if time.monotonic() > deadline:
            raise Failed("the messages were not indexed")
        time.sleep(0.01)
    db.close()


def longest_write(port):
    """Returns the duration in ms of the longest run of the indexing job. On a busy machine it includes waiting."""
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=10) as answer:
        seconds = re.findall(r"^guildhall_longest_write_seconds\{.*index.*\} (\S+)$", answer.read().decode(), re.M)
    return max(map(float, seconds), default=0) * 1e3


class Searches:
    def __init__(self, bench, quick):
        self.bench, self.quick = bench, quick

    def rows(self):
        rows = [("indexing for search", self.row_indexing)]
        return rows if self.quick else rows + [("search of ten million messages", self.row_search)]

    def row_indexing(self, bench):
        rates, costs, longest = [], [], []
        for number in range(1 if self.quick else 3):
            folder = os.path.join(bench.folder, f"indexed-{number}")
            token = make_world(bench.guildhall, folder)
            channel = add_unindexed(folder, NEW)
            process = bench.kill_at_end(start_guildhall(bench.guildhall, folder))
            client = Client(process.port, token)
            began, used = time.monotonic(), process.cpu_ns()[0]
            posted = int(client.call("POST", f"/channels/{channel}/messages", {"content": "the newest"})[1]["id"])
            wait_until_indexed(folder, posted)
            rates.append(NEW / (time.monotonic() - began))
            costs.append((process.cpu_ns()[0] - used) / NEW / 1e3)
            longest.append(longest_write(process.port))
            client.close()
            process.kill()
        bench.report.add(f"indexing for search, {NEW:,} messages of {NEW_WORDS} words", statistics.median(rates), "/s",
                         (">=", 30_000), {"us each": statistics.median(costs), "longest write ms": max(longest)})

    def row_search(self, bench):
        folder = os.path.join(bench.folder, "library")
        token = make_world(bench.guildhall, folder)
        began = time.monotonic()
        guild = fill(folder, MESSAGES)
        made = time.monotonic() - began
        process = start_guildhall(bench.guildhall, folder)
        client = Client(process.port, token)
        try:
            for name, word, least in (("a rare word", "rareword", RARE), ("a common word", "word1", 10_000),
                                      ("a rare word that begins common ones", "word", 10_000)):
                times = []
                for _ in range(TIMES):
                    took, found = timed_search(client, f"/guilds/{guild}/messages/search?content={word}")
                    if found < min(least, 10_000):
                        raise Failed(f"{found} were found")
                    times.append(took)
                target = ("<=", {"rareword": 20, "word1": 50, "word": 100}[word])
                bench.report.add(f"search of {MESSAGES:,} messages, {name}", statistics.median(times), "ms", target,
                                 {"found": found, "longest": round(max(times), 1), "made in s": round(made)})
        finally:
            client.close()
            process.kill()

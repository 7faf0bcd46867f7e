#!/usr/bin/env python3
"""search.py - measures the cost of the message index on SQLite without a server.

Creates a database with the tables and triggers of the migrations, fills it with ROWS messages of
a thousand guilds, and prints the processor time of inserting a message with and without the triggers,
of indexing one (in steps of 200, like the job), and of searches. Usage: search.py [ROWS]
"""
import pathlib
import random
import re
import sqlite3
import sys
import tempfile
import time

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 else 200_000
MIGRATIONS = pathlib.Path(__file__).parent.parent / "src" / "store" / "migrations"


def sqlite_part_of(path):
    """Returns the SQLite part of a migration."""
    parts = re.split(r"^-- (sqlite|postgres|both):$", "-- both:\n" + path.read_text(), flags=re.M)
    sqlite_sql = "".join(t for w, t in zip(parts[1::2], parts[2::2]) if w != "postgres")
    return sqlite_sql.replace("{id}", "integer primary key").replace("{clustered}", "without rowid")


def cpu_us_of(work):
    began = time.thread_time()
    work()
    return (time.thread_time() - began) * 1e6


folder = tempfile.TemporaryDirectory()
db = sqlite3.connect(f"{folder.name}/search.db", isolation_level=None)
db.executescript("pragma journal_mode=wal; pragma synchronous=off; pragma cache_size=-16384;")
for path in sorted(MIGRATIONS.glob("*.sql")):
    db.executescript(sqlite_part_of(path))
db.execute("insert into channels (id, type) values (1, 1)")
WORDS = [f"word{n}" for n in range(20000)]
random.seed(7)
INSERT = "insert into messages (id, channel_id, author_id, content) values (?, 1, 1, ?)"


def content():
    return " ".join(WORDS[int(random.paretovariate(0.6)) % len(WORDS)] for _ in range(10))


texts = [content() for _ in range(ROWS)]


def write(first, count):
    for at in range(first, first + count, 10):  # ten per commit
        db.execute("begin")
        for i in range(at, min(at + 10, first + count)):
            db.execute(INSERT, (i, texts[i]))
        db.execute("commit")


sample = min(20000, ROWS // 2)
db.executescript("create temp table stored_trigger as select sql from sqlite_master where type = 'trigger' "
                 "and name = 'message_written'; drop trigger message_written;")
without_triggers = cpu_us_of(lambda: write(0, sample)) / sample
db.execute("insert into message_unindexed select id, 1 from messages")
db.execute(db.execute("select sql from stored_trigger").fetchone()[0])
with_triggers = cpu_us_of(lambda: write(sample, sample)) / sample
write(2 * sample, ROWS - 2 * sample)


def index_all():
    done = 0
    while True:
        ids = db.execute("select m.id, m.content from message_unindexed q join messages m on m.id = "
                         "q.message_id order by q.message_id limit 200").fetchall()
        if not ids:
            return
        db.execute("begin")
        for i, text in ids:
            rare = " rareword" if i % (ROWS // 40) == 0 else ""
            db.execute("insert into message_index (rowid, words) values (?, ?)",
                       (i, f"_c{i % 7000} _g{i % 1000} _a{i % 5000} {text}{rare}"))
            db.execute("delete from message_unindexed where message_id = ?", (i,))
        db.execute("commit")
        done += len(ids)


indexed = cpu_us_of(index_all) / ROWS
print(f"rows {ROWS}; a message without triggers {without_triggers:.1f} us, with them {with_triggers:.1f} us; "
      f"indexed later by the job {indexed:.1f} us")
FIND = ("select rowid from message_index where message_index match ? and rowid > 0 and "
        "rowid < 9223372036854775807 order by rowid desc limit 10000")
for name, match in [
    ("a rare word", '("rareword")'),
    ("a rare word of a guild", '("_g0") AND ("rareword")'),
    ("a common word of a guild", '("_g1") AND ("word1")'),
    ("a common word of all", '("word1")'),
    ("all of a guild", '("_g1")'),
    ("a guild without 500 channels",
     '("_g1") NOT (' + " OR ".join(f'"_c{i}"' for i in range(500)) + ")"),
    ("the beginning of very many words", '("_g1") AND ("word"*)'),
]:
    found = []
    us = min(cpu_us_of(lambda: found.append(len(db.execute(FIND, (match,)).fetchall())))
             for _ in range(3))
    print(f"{name}: {found[-1]} found in {us / 1000:.2f} ms")
deleted = cpu_us_of(lambda: [db.execute("delete from messages where id = ?", (i,))
                             for i in range(1000, 2000)]) / 1000
print(f"deleting a message with its marks, a commit each: {deleted:.1f} us")

#!/usr/bin/env python3
"""move - tests moving a server's data from SQLite to PostgreSQL and back, also when it is
killed."""

import hashlib
import json
import os
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from cases import expect, run_cases  # noqa: E402
from prepared_data import start_guildhall  # noqa: E402
from process import Client, Process  # noqa: E402
from backup import World, most_memory, run  # noqa: E402
from operator_commands import new_database  # noqa: E402

NOT_MOVED = re.compile(r"migrations|move_\w+|message_author.*|(message|gif)_index.*|log|log_\w+|nodes|"
                       r"parked_sessions|parking|session_homes|blobs|blob_parts|sqlite_\w+")
PATIENCE = 120
GIF = (b"GIF89a\1\0\1\0\x80\0\0\0\0\0\xff\xff\xff!\xf9\4\0\0\0\0\0,\0\0\0\0\1\0\1\0\0\2\2D\1\0;")


def psql(database, sql):
    done = subprocess.run(["psql", database, "-AtqXc", sql], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    expect(done.returncode == 0, done.stderr)
    return done.stdout.strip()


def counts_of_postgres(database):
    names = psql(database, "select relname from pg_class where relkind = 'r' and relnamespace = "
                           "'public'::regnamespace order by 1").split()
    names = [n for n in names if not NOT_MOVED.fullmatch(n)]
    union = " union all ".join(f"select '{n}', count(*) from \"{n}\"" for n in names)
    return dict(line.split("|") for line in psql(database, union).splitlines())


def counts_of_sqlite(folder):
    db = sqlite3.connect(os.path.join(folder, "guildhall.db"))
    names = [n for (n,) in db.execute("select name from sqlite_schema where type = 'table'")
             if not NOT_MOVED.fullmatch(n)]
    counts = {n: str(db.execute(f'select count(*) from "{n}"').fetchone()[0]) for n in names}
    db.close()
    return counts


def messages_without_author(folder):
    """Counts the messages that message_authors does not have, though SQLite looks for them there."""
    db = sqlite3.connect(os.path.join(folder, "guildhall.db"))
    (count,) = db.execute("select count(*) - (select count(*) from message_authors) + "
                          "(select max(id) <> filed_to from message_author_progress) from messages").fetchone()
    db.close()
    return count


def change_database(folder, sql):
    db = sqlite3.connect(os.path.join(folder, "guildhall.db"))
    db.execute(sql)
    db.commit()
    db.close()


def digest_of(path):
    with open(path, "rb") as f:
        return hashlib.sha256(f.read()).hexdigest()


def expect_same_counts(one, other):
    """Compares row counts, except for tables of pending indexing and tables of one engine."""
    for name in ("message_unindexed", "channel_tails"):
        one.pop(name)
        other.pop(name)
    expect(one == other, str({n for n in {*one, *other} if one.get(n) != other.get(n)}))


class ServerData:
    """A data folder of a stopped SQLite server with test data."""

    def __init__(self, executable, root, messages=300):
        self.executable, self.data = executable, os.path.join(root, "data")
        done = run(executable, "seed", "--users", "40", "--guilds", "3", "--members", "60",
                   "--messages", str(messages), "--data", self.data)
        expect(done.returncode == 0, done.stderr)
        catalogue, gif = os.path.join(root, "gifs.json"), os.path.join(root, "one.gif")
        with open(catalogue, "w", encoding="utf-8") as f:
            json.dump([{"id": "one", "title": "A waving lighthouse", "tags": ["sea", "light"],
                        "media": {"gif": "one.gif"}}], f)
        with open(gif, "wb") as f:
            f.write(GIF)
        done = run(executable, "gifs", "import", catalogue, "--data", self.data)
        expect(done.returncode == 0, done.stderr)
        server = start_guildhall(executable, self.data)
        try:
            self.world = World(server.port)
            self.post_message(server.port, "a needle in it")
            self.expect_message_is_found(server.port)
        finally:
            server.stop()

    def post_message(self, port, text):
        client = Client(port, self.world.token)
        status, answer = client.call("POST", f"/channels/{self.world.channel}/messages",
                                     {"content": text})
        expect(status == 200, f"{status} {answer}")
        status, channel = client.call("GET", f"/channels/{self.world.channel}")
        expect(channel["last_message_id"] == answer["id"], f"{answer['id']} {channel}")
        client.close()

    def expect_message_is_found(self, port):
        """Searches for the message with the needle."""
        client = Client(port, self.world.token)
        deadline = time.monotonic() + PATIENCE
        path = f"/guilds/{self.world.guild['id']}/messages/search?content=needle"
        while True:
            status, answer = client.call("GET", path)
            if status == 200:
                break
            expect(status == 202 and time.monotonic() < deadline, f"{status} {answer}")
            time.sleep(0.05)
        expect(answer["total_results"] == 1, str(answer))
        status, gifs = client.call("GET", "/gifs/search?q=lighthouse+sea&media_format=gif")
        expect(status == 200 and len(gifs) == 1, f"{status} {gifs}")
        client.close()

    def check_server(self, port):
        """Checks tokens, files, searches and new messages."""
        self.world.is_whole(port)
        self.expect_message_is_found(port)
        self.post_message(port, "one more")

    def move(self, *words, **more):
        return run(self.executable, "move", "--data", self.data, *words, **more)

    def begin_move(self, *words):
        with open(self.data + ".log", "w", encoding="utf-8") as log:
            return subprocess.Popen([self.executable, "move", "--data", self.data, *words],
                                    stdout=subprocess.DEVNULL, stderr=log)

    def error_output(self):
        with open(self.data + ".log", encoding="utf-8") as log:
            return log.read()


def data_moves_to_postgres_and_back(executable):
    with tempfile.TemporaryDirectory() as root:
        server_data = ServerData(executable, root)
        database, source = new_database(), os.path.join(server_data.data, "guildhall.db")
        before = digest_of(source)
        done = server_data.move("--to", database)
        expect(done.returncode == 0, done.stderr)
        expect(re.search(r"moved \d{3,} rows of \d{3} tables, each compared", done.stdout) and
               f"files and keys stay in '{server_data.data}'" in done.stdout and
               f"start it: guildhall serve --data '{server_data.data}' --store URL" in done.stdout,
               done.stdout)
        expect("move: 100 % of " in done.stderr and "\r" not in done.stderr, done.stderr)
        expect(digest_of(source) == before, "the source was changed")
        done = server_data.move("--to", database)
        expect(done.returncode == 0 and "was already moved there" in done.stdout, done.stderr)
        expect_same_counts(counts_of_sqlite(server_data.data), counts_of_postgres(database))
        server = start_guildhall(executable, server_data.data, "--store", database)
        try:
            server_data.check_server(server.port)
        finally:
            server.stop()
        back = os.path.join(root, "back")
        done = server_data.move("--store", database, "--to", back)
        expect(done.returncode == 0, done.stderr)
        expect(re.search(r"moved \d+ files and keys, \d+ bytes, each compared", done.stdout) and
               f"start it: guildhall serve --data '{back}'\n" in done.stdout, done.stdout)
        expect_same_counts(counts_of_postgres(database), counts_of_sqlite(back))
        expect(messages_without_author(back) == 0, "messages that are not found by their author")
        expect(digest_of(os.path.join(back, "pepper.key")) ==
               digest_of(os.path.join(server_data.data, "pepper.key")), "another key")
        expect(run(executable, "check", "--data", back).returncode == 0, "check")
        server = start_guildhall(executable, back)
        try:
            server_data.check_server(server.port)
        finally:
            server.stop()
        # Both were served since, so neither equals the other.
        done = server_data.move("--to", database)
        expect(done.returncode != 0 and "an older or newer copy of this data" in done.stderr, done.stderr)


def kill_until_done(server_data, *words):
    """Each run is killed a little later; the last one completes."""
    patience, killed = 0.05, 0
    while True:
        child = server_data.begin_move(*words)
        try:
            status = child.wait(patience)
            break
        except subprocess.TimeoutExpired:
            child.send_signal(signal.SIGKILL)
            child.wait()
        killed += 1
        patience *= 1.4
        expect(killed < 60, "the move never completed")
    expect(status == 0 and killed > 3, f"{status} after {killed}: {server_data.error_output()}")


def killed_move_continues(executable):
    with tempfile.TemporaryDirectory() as root:
        server_data = ServerData(executable, root, messages=5000)
        database, back = new_database(), os.path.join(root, "back")
        kill_until_done(server_data, "--to", database)
        expect_same_counts(counts_of_sqlite(server_data.data), counts_of_postgres(database))
        kill_until_done(server_data, "--store", database, "--to", back)
        expect_same_counts(counts_of_postgres(database), counts_of_sqlite(back))
        for words in ([server_data.data, "--store", database], [back]):
            server = start_guildhall(executable, *words)
            try:
                server_data.check_server(server.port)
            finally:
                server.stop()


def start_and_kill_move(server_data, database):
    """Kills a move after some tables were copied."""
    child = server_data.begin_move("--to", database)
    deadline = time.monotonic() + PATIENCE
    while True:
        present = psql(database, "select coalesce(to_regclass('move_tables')::text, '')")
        if present and int(psql(database, "select count(*) from move_tables where row_count > 100")):
            break
        expect(child.poll() is None and time.monotonic() < deadline, "the move ended too soon")
    child.send_signal(signal.SIGKILL)
    child.wait()
    return psql(database, "select count(*) from move_source") == "1"


def incomplete_move_is_not_served_or_mixed_with_other_data(executable):
    with tempfile.TemporaryDirectory() as root:
        server_data = ServerData(executable, root, messages=15000)
        database = new_database()
        expect(start_and_kill_move(server_data, database), "the move completed before it was killed")
        done = run(executable, "serve", "--listen", "127.0.0.1:0", "--data", server_data.data,
                   "--store", database)
        expect(done.returncode == 1 and "is the target of an unfinished move" in done.stderr, done.stderr)
        # Other data than those of the started move.
        other = os.path.join(root, "other")
        # Not created with run, whose data are all equal.
        subprocess.run([executable, "user", "add", "zoe", "--data", other], check=True,
                       capture_output=True, timeout=PATIENCE)
        done = run(executable, "move", "--data", other, "--to", database)
        expect(done.returncode == 1 and "has data of another server" in done.stderr, done.stderr)
        # The source is served meanwhile.
        server = start_guildhall(executable, server_data.data)
        try:
            server_data.post_message(server.port, "said in between")
        finally:
            server.stop()
        done = server_data.move("--to", database)
        expect(done.returncode == 1 and "run the command again" in done.stderr, done.stderr)
        done = server_data.move("--to", database)
        expect(done.returncode == 0, done.stderr)
        expect_same_counts(counts_of_sqlite(server_data.data), counts_of_postgres(database))


def documented_move_commands_work(executable):
    page = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/CLUSTER.md")
    with open(page, encoding="utf-8") as f:
        section = re.search(r"^## Move from SQLite to PostgreSQL and back\n(.*?)^## ", f.read(), re.M | re.S).group(1)
    lines = "".join(re.findall(r"^```sh\n(.*?)^```$", section, re.M | re.S)).splitlines()
    expect([line.split()[1] for line in lines] == ["move", "serve", "move", "serve"], str(lines))
    with tempfile.TemporaryDirectory() as root:
        server_data = ServerData(executable, root)
        database = new_database()
        for line in lines:
            words = [database if word.startswith("postgres://") else
                     os.path.join(root, word) if word.startswith("data") else word
                     for word in line.split()[1:]]
            if words[0] == "move":
                done = run(executable, *words)
                expect(done.returncode == 0, done.stderr)
                continue
            server = Process([executable, *words, "--listen", "127.0.0.1:0", "--log-level", "warn"])
            try:
                server_data.check_server(server.port)
            finally:
                server.stop()


def refused_move_gives_an_error_message(executable):
    with tempfile.TemporaryDirectory() as root:
        server_data = ServerData(executable, root)
        database = new_database()

        def refused(sentence, *words):
            done = server_data.move(*words)
            expect(done.returncode == 1 and sentence in done.stderr, f"{words}: {done.stderr}")
        server = start_guildhall(executable, server_data.data)
        try:
            refused("in use by another guildhall", "--to", database)
        finally:
            server.stop()
        taken = new_database()
        run(executable, "user", "add", "zoe", "--data", os.path.join(root, "taken"), "--store",
            taken)
        refused("has data of another server", "--to", taken)
        expect(psql(taken, "select count(*) from users") == "1", "the other database was changed")
        server = start_guildhall(executable, os.path.join(root, "taken"), "--store", taken)
        try:
            refused("a server is running on this database", "--to", taken)
        finally:
            server.stop()
        folder = os.path.join(root, "folder")
        run(executable, "user", "add", "zoe", "--data", folder)
        refused("has data of another server", "--store", taken, "--to", folder)
        change_database(server_data.data, "create table later (id integer primary key)")
        refused("'later' exists in one database only", "--to", database)
        change_database(server_data.data, "drop table later")
        change_database(server_data.data, "insert into operator_log (id, at, uid, command) values (1, 'x', 0, '')")
        refused("a value in 'at' that does not match the type", "--to", database)
        change_database(server_data.data, "delete from operator_log")
        change_database(server_data.data,
                        "delete from migrations where number = (select max(number) from migrations)")
        refused("is older than this program", "--to", database)
        done = run(executable, "move", "--data", os.path.join(root, "none"), "--to", database)
        expect(done.returncode == 1 and "there is no database in" in done.stderr, done.stderr)
        expect(not os.path.exists(os.path.join(root, "none")), "a folder was created")
        for words in ([], ["--to", folder, "--to-data", root], ["x", "--to", folder]):
            expect(server_data.move(*words).returncode == 2, str(words))


def files_are_moved_to_the_chosen_location(executable):
    with tempfile.TemporaryDirectory() as root:
        server_data = ServerData(executable, root)
        database, other_folder = new_database(), os.path.join(root, "there")
        done = server_data.move("--to", database, "--to-data", other_folder)
        expect(done.returncode == 0 and "files and keys, " in done.stdout, done.stderr)
        server = start_guildhall(executable, other_folder, "--store", database)
        try:
            server_data.check_server(server.port)
        finally:
            server.stop()


# Less than all rows together; a sanitizer's allocator adds some.
MARGIN = 40 * 1024 * 1024


def move_memory_does_not_grow_with_the_data(executable):
    # A sanitizer retains freed memory, which is not measured here.
    os.environ["ASAN_OPTIONS"] = os.environ.get("ASAN_OPTIONS", "") + ":quarantine_size_mb=1"
    with tempfile.TemporaryDirectory() as root:
        small, large = os.path.join(root, "small"), os.path.join(root, "large")
        run(executable, "user", "add", "zoe", "--data", small)
        least = most_memory(executable, "move", "--data", small, "--to", new_database())
        run(executable, "user", "add", "zoe", "--data", large)
        db = sqlite3.connect(os.path.join(large, "guildhall.db"))
        db.execute("create temp table n as with recursive n(i) as (select 1 union all "
                   "select i + 1 from n where i < 3000) select i from n")
        db.execute("insert into operator_log (id, at, uid, command) "
                   "select i, i, 0, printf('%.*c', 20000, 'x') from n")
        db.commit()
        db.close()
        database, back = new_database(), os.path.join(root, "back")
        used = most_memory(executable, "move", "--data", large, "--to", database)
        expect(used < least + MARGIN, f"{used} bytes after {least}")
        used = most_memory(executable, "move", "--data", large, "--store", database, "--to", back)
        expect(used < least + MARGIN, f"{used} bytes after {least}")


if __name__ == "__main__":
    run_cases("move", [
        data_moves_to_postgres_and_back,
        killed_move_continues,
        incomplete_move_is_not_served_or_mixed_with_other_data,
        documented_move_commands_work,
        refused_move_gives_an_error_message,
        files_are_moved_to_the_chosen_location,
        move_memory_does_not_grow_with_the_data,
    ])

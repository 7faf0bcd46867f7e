"""Benchmark rows about integrations: the effect of syncing and removing many subscribers on other
writes. Used by scripts/bench, and by the crash test that kills a server in the middle."""

import os
import re
import sqlite3
import subprocess
import threading
import time

from process import Client, Failed, start_guildhall

SUBSCRIBERS = 100_000


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise Failed(f"{command[1]} ended with {done.returncode}: {done.stderr}")
    return done.stdout


def subscribe_members(folder, guild):
    """Gives every member of the guild a platform account that subscribes."""
    db = sqlite3.connect(os.path.join(folder, "guildhall.db"))
    with db:
        db.execute("insert into platform_subscription (type, account_id, subscriber_id, since) "
                   "select 'platform_a', 'streamer', 'x' || user_id, 1 from members "
                   "where guild_id = ?", (guild,))
        db.execute("insert into connections (user_id, type, id, name, created_at) "
                   "select user_id, 'platform_a', 'x' || user_id, 'x', 1 from members "
                   "where guild_id = ?", (guild,))
    db.execute("pragma wal_checkpoint(truncate)")
    db.close()


class FollowedAccount:
    """A data folder with a guild that is about to follow an account with many subscribers."""

    def __init__(self, executable, folder, count=SUBSCRIBERS):
        self.executable, self.folder, self.count = executable, folder, count
        printed = run(executable, "seed", "--data", folder, "--users", str(count), "--guilds", "1",
                      "--members", str(count), "--tokens", "1")
        self.guild, _, self.token = re.match(r"(\d+) (\S+) (\S+)", printed).groups()
        run(executable, "platform", "account", "platform_a", "streamer", "Streamer", "programme",
            "--data", folder)
        self.code = run(executable, "platform", "code", "platform_a", "streamer", "--data",
                        folder).strip()
        subscribe_members(folder, self.guild)

    def start(self, *flags, **more):
        return start_guildhall(self.executable, self.folder, *flags, **more)

    def follow(self, port):
        """Starts the first sync."""
        owner = Client(port, self.token)
        url = self.call(owner, "GET", "/connections/platform_a/authorize")["url"]
        self.call(owner, "POST", "/connections/platform_a/callback",
                  {"code": self.code, "state": url.split("state=")[1]})
        self.call(owner, "POST", f"/guilds/{self.guild}/integrations",
                  {"type": "platform_a", "id": "streamer"})
        owner.close()

    @staticmethod
    def call(client, method, path, body=None):
        status, answer = client.call(method, path, body)
        if status not in (200, 204):
            raise Failed(f"{method} {path} answered {status}: {answer}")
        return answer

    def integration(self, client):
        return self.call(client, "GET", f"/guilds/{self.guild}/integrations")[0]

    def unfollow(self, port):
        """Starts the removal."""
        owner = Client(port, self.token)
        self.call(owner, "DELETE", f"/guilds/{self.guild}/integrations/"
                                   f"{self.integration(owner)['id']}")
        owner.close()

    def count_remaining_rows(self):
        """Returns the number of remaining rows of the integration."""
        db = sqlite3.connect(os.path.join(self.folder, "guildhall.db"))
        count = db.execute("select (select count(*) from integrations) + "
                           "(select count(*) from integration_subscribers) + "
                           "(select count(*) from member_roles where role_id in "
                           "(select id from roles where integration_id is not null))").fetchone()[0]
        db.close()
        return count

    def count_members_with_role(self):
        """Returns the number of members with the subscribers' role."""
        db = sqlite3.connect(os.path.join(self.folder, "guildhall.db"))
        count = db.execute("select count(*) from member_roles where role_id in "
                           "(select role_id from integrations)").fetchone()[0]
        db.close()
        return count


class Writer(threading.Thread):
    """A thread that sends small writes one after the other and records their durations."""

    def __init__(self, port, token):
        super().__init__(daemon=True)
        self.client, self.times, self.stop_requested = Client(port, token), [], threading.Event()

    def run(self):
        number = 0
        while not self.stop_requested.is_set():
            began = time.monotonic()
            number += 1
            self.client.call("PATCH", "/users/@me", {"bio": f"number {number}"})
            self.times.append((time.monotonic() - began) * 1000)
            time.sleep(0.002)

    def stop(self):
        self.stop_requested.set()
        self.join()
        self.client.close()
        return sorted(self.times)


def write_times(followed, server, begin, is_running):
    """Returns the durations of single writes in ms while the started operation runs."""
    writer = Writer(server.port, followed.token)
    began = time.monotonic()
    writer.start()
    begin()
    time.sleep(0.5)
    while is_running():
        if time.monotonic() - began > 300:
            raise Failed("the operation does not complete")
        time.sleep(0.2)
    return writer.stop(), time.monotonic() - began


def is_syncing(followed, port):
    owner = Client(port, followed.token)
    answer = followed.integration(owner)["syncing"]
    owner.close()
    return answer


def add_row(bench, what, quiet, times, seconds):
    at = lambda times, part: times[int(len(times) * part) - 1]  # noqa: E731
    bench.report.add(f"longest write during {what} subscribers", times[-1], "ms", ("<=", 50),
                     {"99 % ms": at(times, 0.99), "median ms": at(times, 0.5),
                      "longest without ms": quiet[-1], "it took s": seconds,
                      "writes": len(times)})


def row_sync(bench, count=SUBSCRIBERS):
    followed = FollowedAccount(bench.guildhall, os.path.join(bench.folder, "followed"), count)
    server = bench.kill_at_end(followed.start())
    try:
        quiet, _ = write_times(followed, server, lambda: time.sleep(2), lambda: False)
        times, seconds = write_times(followed, server, lambda: followed.follow(server.port),
                                     lambda: is_syncing(followed, server.port))
        if followed.count_members_with_role() != count:
            raise Failed(f"{followed.count_members_with_role()} of {count} subscribers have their role")
        add_row(bench, f"a sync of {count:,}", quiet, times, seconds)
        times, seconds = write_times(followed, server, lambda: followed.unfollow(server.port),
                                     followed.count_remaining_rows)
        add_row(bench, f"the removal of {count:,}", quiet, times, seconds)
    finally:
        server.kill()

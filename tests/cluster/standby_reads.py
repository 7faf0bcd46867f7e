#!/usr/bin/env python3
"""standby_reads - tests reads from a streaming standby: they are served from it, never older than the limit,
with the caller's own writes and the permissions of the primary, and none fails when the standby does."""

import os
import signal
import subprocess
import threading
import time

from cluster_nodes import PATIENCE, Cluster, Skip, expect, guild_and_channel_of
from database_failover import TOOLS, Standby
from database_restarts import OwnDatabase
from cases import run_cases
from process import start_guildhall
from voice import guild_with

FLAGS = ("--rate-limits", "off")


class ClusterWithStandby(Cluster):
    """Two nodes and a standby. Ada owns a guild of which Bob is a member."""

    def __init__(self, executable, standby, lag_ms):
        self.standby, self.lag_ms = standby, lag_ms
        super().__init__(executable, nodes=2, flags=FLAGS,
                         world={"users": [{"username": "ada"}, {"username": "bob"}],
                                "guilds": [guild_with("Hall", "ada", ["bob"])]})
        self.ada, self.bob = (self.client(1, token) for token in self.tokens)
        self.guild, self.channel = guild_and_channel_of(self.ada)

    def command(self, node):
        where = f"host={self.standby.folder} dbname={self.standby.where['dbname']} user={self.standby.where['user']}"
        return [*super().command(node), "--store-standby", f"{where} options=-csearch_path={self.schema}",
                "--store-standby-lag", str(self.lag_ms)]

    def on_standby(self, text):
        self.standby.run("psql", "-qX", "-h", self.standby.folder, "-U", self.standby.where["user"], "-c", text,
                         self.standby.where["dbname"])

    def reads(self):
        return self.metric(1, "guildhall_standby_reads_total")

    def read_until_from_standby(self, client, path):
        """Repeats a read until the standby answers it; returns the answer."""
        deadline = time.monotonic() + PATIENCE
        while True:
            before = self.reads()
            status, answer = client.call("GET", path)
            expect(status == 200, f"{path}: {status} {answer}")
            if self.reads() > before:
                return answer
            expect(time.monotonic() < deadline, f"{path} is never read from the standby")
            time.sleep(0.05)

    def write(self, client, method, path, body=None):
        status, answer = client.call(method, path, body)
        expect(status in (200, 201, 204), f"{method} {path}: {status} {answer}")
        return answer

    def found(self, client, word):
        status, answer = client.call("GET", f"/guilds/{self.guild}/messages/search?content={word}")
        expect(status == 200, f"search: {status} {answer}")
        return answer["total_results"]

    def log(self, node):
        return os.pread(self.servers[node].log.fileno(), 1 << 24, 0).decode(errors="replace")

    def wait_log(self, node, words):
        deadline = time.monotonic() + PATIENCE
        while words not in self.log(node):
            expect(time.monotonic() < deadline, f"the log does not say: {words}")
            time.sleep(0.05)


def with_standby(case, lag_ms):
    def run_case(executable):
        if not TOOLS:
            raise Skip("PostgreSQL is not available")
        with OwnDatabase():
            standby = Standby(os.environ[OwnDatabase.name])
            try:
                with ClusterWithStandby(executable, standby, lag_ms) as cluster:
                    cluster.wait_metric("guildhall_standby_used", 1)
                    case(cluster)
            finally:
                standby.close()
    run_case.__name__ = case.__name__
    return run_case


def marked_routes_are_read_from_the_standby(cluster):
    cluster.write(cluster.ada, "POST", f"/channels/{cluster.channel}/messages", {"content": "needle"})
    deadline = time.monotonic() + PATIENCE
    while not cluster.found(cluster.bob, "needle"):
        expect(time.monotonic() < deadline, "the message is not found")
        time.sleep(0.05)
    old = (int(time.time() * 1000) - 1420070400000 - 120000) << 22
    for path in (f"/guilds/{cluster.guild}/messages/search?content=needle",
                 f"/guilds/{cluster.guild}/members/search?query=b", f"/guilds/{cluster.guild}/audit-logs",
                 f"/guilds/{cluster.guild}/roles/member-counts", f"/guilds/{cluster.guild}/bans",
                 f"/guilds/{cluster.guild}/prune?days=7", f"/channels/{cluster.channel}/messages?before={old}"):
        cluster.read_until_from_standby(cluster.ada, path)
    before = cluster.reads()
    for path in (f"/channels/{cluster.channel}/messages", f"/channels/{cluster.channel}/messages?after={old}",
                 f"/channels/{cluster.channel}/messages?around={old}",
                 f"/channels/{cluster.channel}/messages?before={old + (300000 << 22)}",
                 f"/guilds/{cluster.guild}", f"/guilds/{cluster.guild}/channels"):
        status, answer = cluster.ada.call("GET", path)
        expect(status == 200, f"{path}: {status} {answer}")
    expect(cluster.reads() == before, "a read that must be current was sent to the standby")


def own_writes_are_visible_at_once(cluster):
    path = f"/guilds/{cluster.guild}/members/search?query="
    for at in range(40):
        if at == 20:
            cluster.on_standby("select pg_wal_replay_pause()")
        cluster.write(cluster.bob, "PATCH", f"/guilds/{cluster.guild}/members/@me", {"nick": f"nick{at:02}"})
        status, answer = cluster.bob.call("GET", f"{path}nick{at:02}")
        expect(status == 200 and len(answer) == 1, f"bob does not find his name number {at}: {answer}")
    cluster.on_standby("select pg_wal_replay_resume()")
    expect(len(cluster.read_until_from_standby(cluster.bob, f"{path}nick39")) == 1, "the standby lacks the last name")


def standby_that_is_behind_is_not_read(cluster):
    path = f"/guilds/{cluster.guild}/members/search?query=late"
    cluster.on_standby("select pg_wal_replay_pause()")
    cluster.write(cluster.bob, "PATCH", f"/guilds/{cluster.guild}/members/@me", {"nick": "late"})
    wrote = time.monotonic()
    while True:
        status, answer = cluster.ada.call("GET", path)
        expect(status == 200, f"{status} {answer}")
        if answer:
            break
        expect(time.monotonic() - wrote < PATIENCE, "the primary is never read")
        time.sleep(0.01)
    cluster.wait_metric("guildhall_standby_used", 0)
    before = cluster.reads()
    expect(cluster.ada.call("GET", path)[1], "an old answer after a current one")
    expect(cluster.reads() == before, "a standby that is too old was read")
    cluster.wait_log(1, "the standby is not used (it is too far behind)")
    cluster.on_standby("select pg_wal_replay_resume()")
    cluster.wait_metric("guildhall_standby_used", 1)
    expect(cluster.read_until_from_standby(cluster.ada, path), "the standby does not have the name")
    expect(cluster.log(1).count("the standby is not used") == 1, "more than one line says that the standby is behind")


def revoked_permissions_end_at_once(cluster):
    secret = cluster.write(cluster.ada, "POST", f"/guilds/{cluster.guild}/channels", {"name": "secret"})["id"]
    role = cluster.write(cluster.ada, "POST", f"/guilds/{cluster.guild}/roles",
                         {"name": "auditor", "permissions": "128"})["id"]
    bob = cluster.bob.call("GET", "/users/@me")[1]["id"]
    cluster.write(cluster.ada, "PUT", f"/guilds/{cluster.guild}/members/{bob}/roles/{role}")
    cluster.write(cluster.ada, "POST", f"/channels/{secret}/messages", {"content": "needle"})
    search, audit = f"/guilds/{cluster.guild}/messages/search?content=needle", f"/guilds/{cluster.guild}/audit-logs"
    deadline = time.monotonic() + PATIENCE
    while not cluster.read_until_from_standby(cluster.bob, search)["total_results"]:
        expect(time.monotonic() < deadline, "the standby does not find the message")
    cluster.read_until_from_standby(cluster.bob, audit)
    cluster.on_standby("select pg_wal_replay_pause()")
    cluster.read_until_from_standby(cluster.bob, search)  # the standby is used although its replay is paused
    cluster.write(cluster.ada, "PUT", f"/channels/{secret}/permissions/{cluster.guild}",
                  {"type": 0, "allow": "0", "deny": str(1 << 10)})
    before = cluster.reads()
    expect(cluster.found(cluster.bob, "needle") == 0, "bob finds a message of a channel that he no longer sees")
    expect(cluster.reads() > before, "the search was not sent to the standby")
    cluster.write(cluster.ada, "DELETE", f"/guilds/{cluster.guild}/members/{bob}/roles/{role}")
    status, answer = cluster.bob.call("GET", audit)
    expect(status == 403, f"the audit log without the permission: {status} {answer}")
    cluster.write(cluster.ada, "DELETE", f"/guilds/{cluster.guild}/members/{bob}")
    status, answer = cluster.bob.call("GET", search)
    expect(status in (403, 404), f"search of a person who was kicked: {status} {answer}")
    cluster.on_standby("select pg_wal_replay_resume()")


class Reader(threading.Thread):
    """Reads until stopped; records failures and the longest time."""

    def __init__(self, cluster):
        super().__init__(daemon=True)
        self.path = f"/guilds/{cluster.guild}/members/search?query=b"
        self.client = cluster.client(1, cluster.tokens[0])
        self.stop_requested, self.count, self.failed, self.longest = False, 0, [], 0
        self.start()

    def run(self):
        while not self.stop_requested:
            began = time.monotonic()
            status, answer = self.client.call("GET", self.path)
            self.longest = max(self.longest, time.monotonic() - began)
            self.count += 1
            if status != 200 or len(answer) != 1:
                self.failed.append((status, answer))


def processes_of(standby):
    with open(os.path.join(standby.data, "postmaster.pid"), encoding="ascii") as f:
        first = f.readline().strip()
    children = subprocess.run(["ps", "-o", "pid=", "--ppid", first], capture_output=True, text=True, check=False)
    return [int(first), *map(int, children.stdout.split())]


def no_read_fails_without_the_standby(cluster):
    readers = [Reader(cluster) for _ in range(3)]
    expect(cluster.read_until_from_standby(cluster.ada, readers[0].path), "bob is not found")
    cluster.standby.run("pg_ctl", "-D", cluster.standby.data, "-m", "immediate", "-s", "-w", "stop")
    cluster.wait_metric("guildhall_standby_used", 0)
    cluster.standby.start()
    cluster.wait_metric("guildhall_standby_used", 1)
    cluster.read_until_from_standby(cluster.ada, readers[0].path)
    stopped = processes_of(cluster.standby)
    for pid in stopped:
        os.kill(pid, signal.SIGSTOP)
    try:
        cluster.wait_metric("guildhall_standby_used", 0)
        counts = [reader.count for reader in readers]
        deadline = time.monotonic() + PATIENCE
        while any(reader.count <= before + 1 for reader, before in zip(readers, counts)):
            expect(time.monotonic() < deadline, "reads hang with the standby")
            time.sleep(0.02)
    finally:
        for pid in stopped:
            os.kill(pid, signal.SIGCONT)
    cluster.wait_metric("guildhall_standby_used", 1)
    for reader in readers:
        reader.stop_requested = True
        reader.join(PATIENCE)
        expect(not reader.failed, f"reads failed: {reader.failed[:3]}")
    print(f"{sum(r.count for r in readers)} reads, none failed, the longest took "
          f"{max(r.longest for r in readers):.1f} s; {cluster.reads():.0f} of the standby, "
          f"{cluster.metric(1, 'guildhall_standby_fallbacks_total'):.0f} repeated")


def primary_is_not_used_as_its_own_standby(cluster):
    for where, why in ((cluster.store, "it is not a standby"),
                       (f"{cluster.database} options=-csearch_path=pg_catalog", "it has another database")):
        cluster.servers[2].kill()
        cluster.servers[2] = start_guildhall(cluster.executable, os.path.join(cluster.folder, "data"),
                                             *Cluster.command(cluster, 2), "--store-standby", where)
        cluster.wait_log(2, f"the standby is not used ({why}")
        expect(cluster.metric(2, "guildhall_standby_used") == 0, "the primary is used as a standby")


def sql_on(folder, where, text):
    done = subprocess.run(["psql", "-qAtX", "-h", folder, "-U", where["user"], "-c", text, where["dbname"]],
                          capture_output=True, text=True, check=False)
    expect(done.returncode == 0, done.stderr)
    return done.stdout.strip()


def wait_replayed(standby, position):
    deadline = time.monotonic() + PATIENCE
    while sql_on(standby.folder, standby.where, f"select pg_last_wal_replay_lsn() >= '{position}'") != "t":
        expect(time.monotonic() < deadline, "the standby does not replay the log")
        time.sleep(0.05)


def end_of_log(standby):
    return sql_on(standby.where["host"], standby.where, "select pg_current_wal_flush_lsn()")


def standby_of_the_former_primary_is_not_read(executable):
    """The second standby has replayed more of the former primary's log than the first one, which takes over. Its
    position is ahead of the new primary's, but it lacks what the new primary commits."""
    if not TOOLS:
        raise Skip("PostgreSQL is not available")
    with OwnDatabase():
        first = Standby(os.environ[OwnDatabase.name])
        second = Standby(os.environ[OwnDatabase.name])
        try:
            with Cluster(executable, nodes=0) as cluster:
                wait_replayed(first, end_of_log(first))
                first.run("psql", "-qX", "-h", first.folder, "-U", first.where["user"], "-c",
                          "alter system set primary_conninfo = ''", first.where["dbname"])
                first.run("pg_ctl", "-D", first.data, "-s", "reload")
                deadline = time.monotonic() + PATIENCE
                while first.sql("select count(*) from pg_stat_replication") != "1":
                    expect(time.monotonic() < deadline, "the first standby continues to replicate")
                    time.sleep(0.05)
                sql_on(first.where["host"], first.where, "create table lost as select generate_series(1, 100000)")
                wait_replayed(second, end_of_log(first))
                first.take_over()
                cluster.database = f"host={first.folder} dbname={first.where['dbname']} user={first.where['user']}"
                cluster.store = f"{cluster.database} options=-csearch_path={cluster.schema}"
                cluster.flags = ["--store-standby", f"host={second.folder} dbname={second.where['dbname']} "
                              f"user={second.where['user']} options=-csearch_path={cluster.schema}"]
                cluster.start(1)
                deadline = time.monotonic() + PATIENCE
                log = ""
                while "the standby is not used (it has not followed" not in log:
                    expect(cluster.metric(1, "guildhall_standby_used") == 0, "a standby of the former primary is read")
                    expect(time.monotonic() < deadline, f"the log does not name the timeline: {log}")
                    log = os.pread(cluster.servers[1].log.fileno(), 1 << 24, 0).decode(errors="replace")
                    time.sleep(0.05)
        finally:
            second.close()
            first.close()


if __name__ == "__main__":
    run_cases("cluster/standby_reads", [with_standby(case, lag_ms) for case, lag_ms in (
        (marked_routes_are_read_from_the_standby, 2000), (own_writes_are_visible_at_once, 2000),
        (standby_that_is_behind_is_not_read, 1000), (revoked_permissions_end_at_once, 60000),
        (no_read_fails_without_the_standby, 2000), (primary_is_not_used_as_its_own_standby, 2000))]
        + [standby_of_the_former_primary_is_not_read])

#!/usr/bin/env python3
"""database_failover - tests the failover of PostgreSQL to a synchronous standby under load. Nodes are
configured with both addresses; acknowledged writes are on both servers."""

import glob
import os
import shutil
import subprocess
import tempfile
import time

from database_restarts import OwnDatabase, SESSIONS, as_owner_of
from killed_nodes import finish_and_check
from session_moves import LoadTest
from resuming_client import ResumingClient
from server_restart import LONG
from cluster_nodes import PATIENCE, Failed, Cluster, Session, Skip, expect, guild_and_channel_of
from cases import run_cases

TOOLS = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1:]


class Standby:
    """A streaming replica of the database; close() deletes it."""

    def __init__(self, where):
        self.where = dict(word.split("=", 1) for word in where.split())
        self.primary_folder = os.path.join(self.where["host"], "data")
        owner = os.stat(self.primary_folder)
        self.as_owner = as_owner_of(self.primary_folder)
        self.folder = tempfile.mkdtemp(prefix="guildhall-standby.")
        os.chown(self.folder, owner.st_uid, owner.st_gid)
        os.chmod(self.folder, 0o711)
        self.data = os.path.join(self.folder, "data")
        self.run("pg_basebackup", "-h", self.where["host"], "-U", self.where["user"], "-D",
                 self.data, "-R", "-X", "stream", "-c", "fast", "--no-sync")
        self.start()

    def start(self):
        self.run("pg_ctl", "-D", self.data, "-l", os.path.join(self.data, "log"), "-w", "-s", "-o",
                 f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c fsync=off "
                 "-c full_page_writes=off -c max_connections=200 -c autovacuum=off", "start")

    def run(self, tool, *words):
        done = subprocess.run([*self.as_owner, os.path.join(TOOLS[0], tool), *words],
                              stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                              stderr=subprocess.PIPE, text=True, cwd="/", check=False)
        if done.returncode:
            raise Failed(f"{tool}: {done.stderr}")

    def connection_to_both(self):
        """Returns the connection string with both servers, for the writable one."""
        return (f"host={self.where['host']},{self.folder} dbname={self.where['dbname']} "
                f"user={self.where['user']} target_session_attrs=read-write")

    def sql(self, text):
        done = subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-h", self.where["host"],
                               "-U", self.where["user"], "-c", text, self.where["dbname"]],
                              capture_output=True, text=True, check=False)
        if done.returncode:
            raise Failed(done.stderr)
        return done.stdout.strip()

    def wait_synchronous(self):
        self.sql("alter system set synchronous_standby_names = '*'")
        self.sql("select pg_reload_conf()")
        deadline = time.monotonic() + PATIENCE
        while self.sql("select count(*) from pg_stat_replication where sync_state = 'sync'") != "1":
            expect(time.monotonic() < deadline, "the standby does not replicate")
            time.sleep(0.05)

    def stop_following(self):
        """Stops the replication, so that the standby misses later writes."""
        self.run("psql", "-qX", "-h", self.folder, "-U", self.where["user"], "-c",
                 "alter system set primary_conninfo = ''", self.where["dbname"])
        self.run("pg_ctl", "-D", self.data, "-s", "reload")
        deadline = time.monotonic() + PATIENCE
        while self.sql("select count(*) from pg_stat_replication") != "0":
            expect(time.monotonic() < deadline, "the standby continues to replicate")
            time.sleep(0.05)

    def take_over(self):
        """Kills the primary immediately and promotes the standby."""
        self.run("pg_ctl", "-D", self.primary_folder, "-m", "immediate", "-s", "-w", "stop")
        self.run("pg_ctl", "-D", self.data, "-s", "-w", "promote")

    def close(self):
        try:
            self.run("pg_ctl", "-D", self.data, "-m", "immediate", "-s", "-w", "stop")
        except Failed:
            pass
        shutil.rmtree(self.folder, ignore_errors=True)


def fail_over(executable, standby):
    test = LoadTest(executable, 2, "poll", count=SESSIONS)
    with test.cluster as cluster:
        began = time.monotonic()
        while not all(writer.acknowledged for writer in test.writers) or time.monotonic() - began < 1:
            expect(time.monotonic() - began < PATIENCE, "nothing was written before the failover")
            time.sleep(0.02)
        written = [len(writer.acknowledged) for writer in test.writers]
        standby.take_over()
        began = time.monotonic()
        while any(len(writer.acknowledged) < before + 5 and not writer.error
                  for writer, before in zip(test.writers, written)):
            expect(time.monotonic() - began < PATIENCE, "nothing can be written after the failover")
            time.sleep(0.02)
        print(f"all writers continued {time.monotonic() - began:.1f} s after the standby took over")
        cluster.wait_ready()
        finish_and_check(test.sessions, test.writers, lambda: cluster.client(1, cluster.tokens[0]), test.channel,
                         quick=False)
        expect(not any(s.identified_again for s in test.sessions), "a session had to identify again")


def promoted_standby_has_all_acknowledged_writes(executable):
    if not TOOLS:
        raise Skip("PostgreSQL is not available")
    with OwnDatabase():
        standby = Standby(os.environ[OwnDatabase.name])
        try:
            standby.wait_synchronous()
            os.environ[OwnDatabase.name] = standby.connection_to_both()
            fail_over(executable, standby)
        finally:
            standby.close()


GONE_BACK = "the database lost the committed event"


def lose_rows(executable, standby):
    cluster = Cluster(executable, nodes=2)
    with cluster:
        ada, bob = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        session = ResumingClient(lambda: [s.port for s in cluster.servers.values()
                                          if s.child.poll() is None], bob)
        write(cluster, 1, channel, "kept")
        session.wait_for("kept")
        standby.stop_following()
        witnesses = [Session(server.port, ada) for server in cluster.servers.values()]
        write(cluster, 2, channel, "lost")
        session.wait_for("lost")
        for witness in witnesses:  # a node that has not published the event may continue
            witness.wait(lambda _, w=witness: "lost" in [d.get("content") for _, d in w.events], "lost")
        standby.take_over()
        for server in cluster.servers.values():
            deadline = time.monotonic() + PATIENCE
            while server.child.poll() is None and time.monotonic() < deadline:
                time.sleep(0.05)
            log = os.pread(server.log.fileno(), 1 << 24, 0).decode(errors="replace")
            expect(server.child.poll() is not None and GONE_BACK in log,
                   f"a node does not stop, or for another reason: {log[-500:]}")
        for node in cluster.servers:
            cluster.start(node)
        session.wait(lambda: session.identified_again == 1 and session.session_id, "READY of a new session")
        expect(session.resumed == 0, "the session was resumed although events were lost")
        write(cluster, 1, channel, "after")
        session.wait_for("after")
        session.close()


def write(cluster, node, channel, text):
    status, answer = cluster.client(node, cluster.tokens[0]).call(
        "POST", f"/channels/{channel}/messages", {"content": text})
    expect(status == 200, f"{text}: {status} {answer}")


def promoted_standby_with_missing_events_is_detected(executable):
    if not TOOLS:
        raise Skip("PostgreSQL is not available")
    with OwnDatabase():
        standby = Standby(os.environ[OwnDatabase.name])
        try:
            os.environ[OwnDatabase.name] = standby.connection_to_both()
            lose_rows(executable, standby)
        finally:
            standby.close()


if __name__ == "__main__":
    run_cases("cluster/database_failover", [promoted_standby_has_all_acknowledged_writes]
              + ([promoted_standby_with_missing_events_is_detected] if LONG else []))

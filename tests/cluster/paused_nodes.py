#!/usr/bin/env python3
"""paused_nodes - tests nodes that are paused for longer than their lease: their open transactions are
rolled back, their caches are invalid, and sessions that other nodes resumed belong to those."""

import os
import signal
import subprocess
import threading
import time

from broker import Broker
from killed_nodes import check_connections
from resuming_client import ResumingClient
from lost_machines import ClusterOfMachines
from cluster_nodes import Failed, PATIENCE, Cluster, expect, guild_and_channel_of
from cases import run_cases


REGIONS = "/voice/regions"
WAITING = ("select pid from pg_locks where not granted and relation = 'channels'::regclass and pid in "
           "(select pid from server_connections where identity >> 21 = 2)")


def wait_until(true, words):
    deadline = time.monotonic() + PATIENCE
    while not true():
        expect(time.monotonic() < deadline, words)
        time.sleep(0.02)


def stop_between_statements(cluster, backends):
    """Pauses the backends between statements, because one paused within a statement may hold locks that other
    tests need."""
    active = (f"select count(*) from pg_stat_activity where pid in ({', '.join(map(str, backends))}) "
              "and state = 'active'")
    deadline = time.monotonic() + PATIENCE
    while True:
        for pid in backends:
            os.kill(pid, signal.SIGSTOP)
        try:
            if cluster.sql(active, patience=5) == "0":
                return
        except subprocess.TimeoutExpired:
            pass
        for pid in backends:
            os.kill(pid, signal.SIGCONT)
        expect(time.monotonic() < deadline, "the connections of a node are never idle")
        time.sleep(0.02)


def wait_dead(cluster, node):
    wait_until(lambda: cluster.sql(f"select state from nodes where node = {node}") == "3",
               "the node was not declared dead")


class Lock:
    """Locks a table exclusively."""

    def __init__(self, cluster, table):
        self.child = subprocess.Popen(
            ["psql", "-qAtX", cluster.database], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
            text=True)
        self.child.stdin.write(f"set search_path = {cluster.schema}; begin; "
                               f"lock table {table} in access exclusive mode; select 'held';\n")
        self.child.stdin.flush()
        expect(self.child.stdout.readline().strip() == "held", "the lock")

    def release(self):
        self.child.stdin.close()
        self.child.wait(PATIENCE)


class PostingThread(threading.Thread):
    """A thread that posts a message."""

    def __init__(self, client, channel, text):
        super().__init__(daemon=True)
        self.client, self.channel, self.text, self.status = client, channel, text, None
        self.start()

    def run(self):
        try:
            self.status = self.client.call("POST", f"/channels/{self.channel}/messages",
                                           {"content": self.text})[0]
        except (OSError, Failed, ValueError) as error:
            self.status = str(error)


def contents(cluster, token, channel):
    found = cluster.client(1, token).call("GET", f"/channels/{channel}/messages")[1]
    return [m["content"] for m in found]


def open_transactions_of_a_dead_node_are_rolled_back(executable):
    with Cluster(executable, nodes=2) as cluster:
        ada, _ = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        expect(cluster.client(2, ada).call("POST", f"/channels/{channel}/messages",
                                           {"content": "before"})[0] == 200, "before")
        # Writes are sent with the commit, so the transaction is blocked at its first read.
        lock = Lock(cluster, "channels")
        post = PostingThread(cluster.client(2, ada), channel, "in the middle")
        wait_until(lambda: cluster.sql(WAITING), "the transaction does not wait")
        cluster.servers[2].freeze()
        # Slow reads of a loop are repeated elsewhere, and in between nothing may wait.
        held_up = ", ".join(["0", *cluster.sql(WAITING).split()])
        lock.release()
        wait_dead(cluster, 2)
        cluster.servers[2].child.send_signal(signal.SIGCONT)
        post.join(PATIENCE)
        expect(not post.is_alive(), "the caller got no reply")
        # If the node sees the end of its connection before the commit, it retries on another one.
        stored = contents(cluster, ada, channel)
        expect(stored == (["in the middle"] if post.status == 200 else []) + ["before"],
               f"the reply was {post.status}, and the channel contains {stored}")
        wait_until(lambda: cluster.sql(f"select count(*) from pg_stat_activity where pid in ({held_up})") == "0",
                   "the open transaction continues")
        cluster.wait_ready()


def token_revoked_during_a_pause_is_refused_after_it(executable):
    """The request is already received when the node resumes, so it is processed before anything
    else is read."""
    with Cluster(executable, nodes=2) as cluster:
        cluster.wait_ready()
        ada, bob = cluster.tokens
        asleep = cluster.client(2, bob)
        expect(asleep.call("GET", "/users/@me")[0] == 200, "bob")
        cluster.servers[2].freeze()
        began = time.monotonic()
        expect(cluster.client(1, bob).call("POST", "/auth/logout", {})[0] == 204, "log-out")
        took = time.monotonic() - began
        expect(took > 1.5, f"the logout did not wait for the paused node: {took:.2f} s")
        answer = []
        asking = threading.Thread(target=lambda: answer.append(asleep.call("GET", "/users/@me")[0]))
        asking.start()
        time.sleep(0.2)
        cluster.servers[2].child.send_signal(signal.SIGCONT)
        asking.join(PATIENCE)
        expect(answer == [401], f"a token revoked {took:.1f} s ago got {answer}")
        expect(cluster.client(2, ada).call("GET", "/users/@me")[0] == 200, "ada")


def revoked_token_is_refused_by_a_node_without_its_database(executable):
    """The node's database connections are paused: it runs without knowing of the logout. The request
    needs no database, only an authenticated caller."""
    with Cluster(executable, nodes=2) as cluster:
        cluster.wait_ready()
        bob = cluster.tokens[1]
        disconnected = cluster.client(2, bob)
        expect(disconnected.call("GET", REGIONS)[0] == 200, "bob")
        backends = [int(pid) for pid in cluster.sql(
            "select distinct pid from server_connections where identity >> 21 = 2").split()]
        try:
            stop_between_statements(cluster, backends)
            began = time.monotonic()
            expect(cluster.client(1, bob).call("POST", "/auth/logout", {})[0] == 204, "log-out")
            print(f"the logout took {time.monotonic() - began:.1f} s")
            status = disconnected.call("GET", REGIONS)[0]
        finally:
            for pid in backends:
                os.kill(pid, signal.SIGCONT)
        expect(status in (401, 503), f"a revoked token got status {status}")
        deadline = time.monotonic() + PATIENCE
        while (status := cluster.client(2, bob).call("GET", REGIONS)[0]) == 503:
            expect(time.monotonic() < deadline, "the node does not become ready again")
        expect(status == 401, f"a revoked token got status {status}")


def sessions_resumed_by_other_nodes_belong_to_them(executable):
    """The node resumes with a session that another node took over and that received more events
    there; its client reconnects to it immediately."""
    broker = Broker()
    with ClusterOfMachines(executable, nodes=2, bus=broker.url) as cluster:
        cluster.wait_metric("guildhall_nats_connected", 1)
        ada, bob = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        up = [2]
        session = ResumingClient(lambda: [cluster.servers[n].port for n in up], bob)
        witness = ResumingClient(lambda: [cluster.servers[1].port], ada)
        post_all(cluster, ada, channel, 1, "one", 3)
        session.wait_for("one 2")
        cluster.wait_until_replicated()
        cluster.servers[2].freeze()
        wait_dead(cluster, 2)
        up[:] = [1]
        reconnect_session(session)
        post_all(cluster, ada, channel, 1, "two", 3)
        # Events that only the other node delivered change the later sequence numbers.
        for _ in range(3):
            expect(cluster.client(1, ada).call("POST", f"/channels/{channel}/typing", {})[0] == 204,
                   "typing")
        post_all(cluster, ada, channel, 1, "three", 3)
        session.wait_for("three 2")
        up[:] = [2]
        cluster.servers[2].child.send_signal(signal.SIGCONT)
        reconnect_session(session)
        post_all(cluster, ada, channel, 1, "four", 3)
        for one in (session, witness):
            one.wait_for("four 2")
        check_connections(session, witness.contents())
        expect(session.identified_again == 0, "the session had to identify again")
        wait_until(lambda: sum(cluster.metric(n, "guildhall_sessions") for n in (1, 2)) == 2,
                   "two servers have the same session")
        for one in (session, witness):
            one.close()
    broker.kill()


def reconnect_session(session):
    """Breaks the session's connection, which may already be lost after ten seconds of silence."""
    before = session.resumed + session.identified_again
    session.lose()
    session.wait(lambda: session.resumed + session.identified_again > before, "coming back")


def post_all(cluster, token, channel, node, word, count):
    client = cluster.client(node, token)
    for i in range(count):
        status, _ = client.call("POST", f"/channels/{channel}/messages", {"content": f"{word} {i}"})
        expect(status == 200, f"{word} {i}: {status}")


if __name__ == "__main__":
    run_cases("cluster/paused_nodes", [
        open_transactions_of_a_dead_node_are_rolled_back,
        token_revoked_during_a_pause_is_refused_after_it,
        revoked_token_is_refused_by_a_node_without_its_database,
        sessions_resumed_by_other_nodes_belong_to_them,
    ])

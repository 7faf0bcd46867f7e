#!/usr/bin/env python3
"""network_cuts - tests nodes that lose the network to the database, to NATS or to both, under load. Nodes
communicate only through these two. In the short mode a cut ends before the node is declared dead,
in the long mode also after that."""

import http.client
import os
import re
import socket
import time

from killed_nodes import finish_and_check
from lost_machines import ClusterOfMachines
from session_moves import LoadTest
from cluster_nodes import PATIENCE, Session, expect
from server_restart import LONG
from cases import run_cases
from network_links import NetworkLinks, restart_in_own_namespace
from sessions import GATEWAY_PATH, KEY

SESSIONS = 24 if LONG else 6
ROUNDS = 3 if LONG else 1
POSTS = 30 if LONG else 10


class ClusterWithLinks(ClusterOfMachines):
    """Each node has its own network links to the database and to the broker."""

    links = None

    def __init__(self, *args, **words):
        words["bus"] = ""
        super().__init__(*args, **words)

    def command(self, node):
        words = super().command(node)
        words[words.index("--store") + 1] = (f"{ClusterWithLinks.links.store(node)} "
                                             f"options=-csearch_path={self.schema}")
        words[words.index("--bus") + 1] = ClusterWithLinks.links.bus(node)
        return words


class NetworkCutTest(LoadTest):
    """Three nodes with sessions and writers, and a listening session on each."""

    def __init__(self, executable):
        super().__init__(executable, 3, "nats", count=SESSIONS, cluster_class=ClusterWithLinks)
        self.cluster.wait_until_replicated()
        self.links = ClusterWithLinks.links

    def status(self, node):
        connection = http.client.HTTPConnection("127.0.0.1", self.cluster.servers[node].port,
                                                timeout=PATIENCE)
        connection.request("GET", "/readyz")
        status = connection.getresponse().status
        connection.close()
        return status

    def wait_status(self, node, status):
        """Returns the seconds until /readyz has this status."""
        began = time.monotonic()
        while self.status(node) != status:
            expect(time.monotonic() - began < PATIENCE, f"/readyz is not {status}")
            time.sleep(0.05)
        return time.monotonic() - began

    def delays(self, words):
        """Posts on node 2 and prints the delays until a session on node 1 receives the messages."""
        times = []
        remote = Session(self.cluster.servers[1].port, self.cluster.tokens[1])
        client = self.cluster.client(2, self.cluster.tokens[0])
        for i in range(POSTS):
            text = f"{words} {time.monotonic_ns()}"
            began = time.monotonic()
            status, _ = client.call("POST", f"/channels/{self.channel}/messages", {"content": text})
            expect(status == 200, f"{text}: {status}")
            remote.wait(lambda events, text=text: any(
                t == "MESSAGE_CREATE" and d["content"] == text for t, d in reversed(events)), text)
            times.append((time.monotonic() - began) * 1000)
        remote.close()
        times.sort()
        print(f"{words}: from a call at node 2 to a session at node 1 {times[len(times) // 2]:.1f} ms "
              f"(median), {times[-1]:.0f} ms at most, of {POSTS}")

    def move_to_node(self, session, node):
        """Lets the session resume on the node."""
        up = set(self.up)
        self.up.intersection_update({node})
        before = session.resumed
        session.lose()
        session.wait(lambda: session.resumed > before, "resuming on the node")
        self.up.update(up)

    def finish(self):
        self.cluster.wait_ready()
        # Locks of the disconnected node are released when it is declared dead.
        finish_and_check(self.sessions, self.writers, lambda: self.cluster.client(2, self.cluster.tokens[0]),
                         self.channel, quick=False)


def with_links(case):
    """Runs the case with separate networks."""
    def run(executable):
        database = os.environ.get("GUILDHALL_TEST_POSTGRES")
        ClusterWithLinks.links = NetworkLinks(database) if database else None
        try:
            case(executable)
        finally:
            if ClusterWithLinks.links:
                ClusterWithLinks.links.stop()
    run.__name__ = case.__name__
    return run


@with_links
def short_network_cut_loses_no_events(executable):
    """The cuts are shorter than the lease: first from NATS, then from the database, then from
    both."""
    test = NetworkCutTest(executable)
    with test.cluster:
        test.delays("whole")
        for _ in range(ROUNDS):
            test.links.broker.cut(1)
            test.delays("without NATS")
            test.links.broker.restore(1)
            test.links.database.cut(1)
            time.sleep(1.5)
            test.links.database.restore(1)
            test.wait_status(1, 200)
            test.links.database.cut(1)
            test.links.broker.cut(1)
            time.sleep(1.5)
            test.links.database.restore(1)
            test.links.broker.restore(1)
            test.wait_status(1, 200)
        test.finish()


@with_links
def revoked_token_is_refused_by_a_disconnected_node(executable):
    """The logout is answered when it is effective, although the disconnected node has not received
    it."""
    with ClusterWithLinks(executable, nodes=2) as cluster:
        cluster.wait_ready()
        cluster.wait_metric("guildhall_nats_connected", 1)
        remote = cluster.client(1, cluster.tokens[1])
        expect(remote.call("GET", "/users/@me")[0] == 200, "bob")
        for name in ("database", "broker"):
            getattr(ClusterWithLinks.links, name).cut(1)
        began = time.monotonic()
        expect(cluster.client(2, cluster.tokens[1]).call("POST", "/auth/logout", {})[0] == 204, "log-out")
        print(f"the logout took {time.monotonic() - began:.2f} s")
        status, _ = remote.call("GET", "/users/@me")
        expect(status in (401, 503), f"a revoked token got status {status}")
        for name in ("database", "broker"):
            getattr(ClusterWithLinks.links, name).restore(1)
        began = time.monotonic()
        while status != 401:
            expect(status == 503 and time.monotonic() - began < PATIENCE, f"later: {status}")
            status, _ = cluster.client(1, cluster.tokens[1]).call("GET", "/users/@me")


def cut_until_declared_dead(executable, *machines):
    test = NetworkCutTest(executable)
    with test.cluster as cluster:
        for _ in range(ROUNDS):
            for name in machines:
                getattr(test.links, name).cut(1)
            began = time.monotonic()
            test.up.discard(1)
            for session in test.sessions:
                session.lose()
            print(f"/readyz of the node failed after {test.wait_status(1, 503):.1f} s")
            for session in test.sessions:
                session.wait(lambda s=session: not s.lost_at and s.session_id, "coming back")
            print(f"all sessions were resumed on other nodes {time.monotonic() - began:.1f} s after the cut")
            while cluster.sql("select state from nodes where node = 1") != "3":
                expect(time.monotonic() - began < PATIENCE, "the node was not declared dead")
                time.sleep(0.1)
            print(f"the node was declared dead {time.monotonic() - began:.1f} s after the cut")
            time.sleep(6)
            for name in machines:
                getattr(test.links, name).restore(1)
            print(f"the node was ready {test.wait_status(1, 200):.1f} s after the cut had ended")
            test.up.add(1)
            cluster.wait_until_replicated()
        test.finish()


def upgrade_status(port):
    """Returns the HTTP status of a WebSocket request."""
    with socket.create_connection(("127.0.0.1", port), PATIENCE) as connection:
        connection.sendall(f"GET {GATEWAY_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
                           f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                           f"Sec-WebSocket-Key: {KEY}\r\n\r\n".encode())
        return int(connection.recv(4096).split()[1])


def sockets_closed_by_lost_lease(server):
    """Returns how many sockets the server closed because it was cut off, according to its log."""
    log = os.pread(server.log.fileno(), 1 << 24, 0).decode(errors="replace")
    return sum(map(int, re.findall(r"closed (\d+) sockets, because this node is cut off", log)))


# A request that waits for the database is answered after eight seconds, so these requests together
# exceed PATIENCE if they wait, and not if they are refused at once.
REFUSED_REQUESTS = 10


def check_requests_are_refused_at_once(client):
    began = time.monotonic()
    for _ in range(REFUSED_REQUESTS):
        status, answer = client.call("GET", "/users/@me")
        expect(status == 503, f"{status} {answer}")
        expect(time.monotonic() - began < PATIENCE, "requests to the node wait for the database")
    print(f"{REFUSED_REQUESTS} requests were refused in {time.monotonic() - began:.2f} s")


@with_links
def node_that_is_cut_off_makes_its_clients_reconnect(executable):
    """The clients of the node only receive events. When its lease ends, they get op 7 and resume on
    another node; requests and WebSockets are refused at once."""
    test = NetworkCutTest(executable)
    with test.cluster as cluster:
        for session in test.sessions:
            session.stay_connected()
        test.move_to_node(test.sessions[0], 1)
        test.up.discard(1)
        for name in ("database", "broker"):
            getattr(test.links, name).cut(1)
        clients = sum(s.port == cluster.servers[1].port for s in test.sessions)
        began = time.monotonic()
        while cluster.metric(1, "guildhall_websockets"):
            expect(time.monotonic() - began < PATIENCE, "the node keeps its clients")
            time.sleep(0.05)
        closed = sockets_closed_by_lost_lease(cluster.servers[1])
        expect(closed >= clients > 0, f"the lost lease closed {closed} of {clients} sockets")
        print(f"all sockets were closed {time.monotonic() - began:.1f} s after the cut")
        for session in test.sessions:
            session.wait(lambda s=session: not s.lost_at and s.session_id, "coming back")
        print(f"all sessions were resumed {time.monotonic() - began:.1f} s after the cut")
        check_requests_are_refused_at_once(cluster.client(1, cluster.tokens[0]))
        expect(upgrade_status(cluster.servers[1].port) == 503, "a WebSocket was not refused with 503")
        for name in ("database", "broker"):
            getattr(test.links, name).restore(1)
        test.wait_status(1, 200)
        test.up.add(1)
        test.finish()


@with_links
def node_without_the_database_loses_its_sessions_and_recovers(executable):
    cut_until_declared_dead(executable, "database")


@with_links
def node_without_any_network_loses_its_sessions_and_recovers(executable):
    cut_until_declared_dead(executable, "database", "broker")


@with_links
def node_without_nats_continues(executable):
    """The cut lasts until the node has noticed it."""
    test = NetworkCutTest(executable)
    with test.cluster as cluster:
        for _ in range(ROUNDS):
            test.links.broker.cut(1)
            began = time.monotonic()
            while cluster.metric(1, "guildhall_nats_connected"):
                expect(time.monotonic() - began < PATIENCE, "the node does not notice the loss of NATS")
                time.sleep(0.05)
            print(f"the node noticed the loss of NATS after {time.monotonic() - began:.1f} s")
            test.delays("without NATS, after the node noticed it")
            expect(test.status(1) == 200, "the node is not ready without NATS")
            test.links.broker.restore(1)
            cluster.wait_metric("guildhall_nats_connected", 1)
        test.finish()


if __name__ == "__main__":
    restart_in_own_namespace()
    run_cases("cluster/network_cuts", [
        short_network_cut_loses_no_events,
        revoked_token_is_refused_by_a_disconnected_node,
        node_that_is_cut_off_makes_its_clients_reconnect,
    ] + ([
        node_without_nats_continues,
        node_without_the_database_loses_its_sessions_and_recovers,
        node_without_any_network_loses_its_sessions_and_recovers,
    ] if LONG else []))

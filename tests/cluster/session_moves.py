#!/usr/bin/env python3
"""session_moves - tests that sessions move between nodes under load and receive each event once and in
order."""

import random
import threading
import time

from broker import Broker
from cluster_nodes import PATIENCE, Cluster, expect, guild_and_channel_of
from resuming_client import ResumingClient
from server_restart import LONG, MessageWriter, check_received
from cases import run_cases

SECONDS = 40 if LONG else 1.5
DRAINS = 10 if LONG else 2


def people(count):
    return tuple(f"p{i}" for i in range(count))


class LoadTest:
    """A cluster with a session of each user, on any of the nodes, and a writer on each node."""

    def __init__(self, executable, nodes, bus, count=8, writer_class=MessageWriter, cluster_class=Cluster):
        self.cluster = cluster_class(executable, nodes=nodes, people=people(count), bus=bus)
        if bus != "poll":
            self.cluster.wait_metric("guildhall_nats_connected", 1)
        self.up = set(self.cluster.servers)
        _, self.channel = guild_and_channel_of(self.cluster.client(1, self.cluster.tokens[0]))
        self.sessions = [ResumingClient(self.ports, token) for token in self.cluster.tokens]
        self.writers = [writer_class(lambda n=n: self.port_of(n), self.cluster.tokens[n], self.channel, f"w{n}")
                        for n in self.cluster.servers]
        self.wait_until_owners_are_stored()

    def wait_until_owners_are_stored(self):
        """Waits until the owners of all sessions are stored, which happens in parallel to READY; a
        session that moves earlier must identify again."""
        deadline = time.monotonic() + PATIENCE
        while int(self.cluster.sql("select count(*) from session_homes")) < len(self.sessions):
            expect(time.monotonic() < deadline, "not every session's owner was stored")
            time.sleep(0.02)

    def ports(self):
        return [self.cluster.servers[n].port for n in self.up]

    def port_of(self, node):
        return self.cluster.servers[node if node in self.up else min(self.up)].port

    def finish(self):
        for writer in self.writers:
            writer.stop_requested = True
            writer.join(PATIENCE)
            expect(not writer.error and writer.acknowledged, f"a writer: {writer.error}")
        client = self.cluster.client(min(self.up), self.cluster.tokens[0])
        expect(client.call("POST", f"/channels/{self.channel}/messages",
                           {"content": "the end"})[0] == 200, "the last message")
        for session in self.sessions:
            session.wait_for("the end")
        acknowledged = [text for writer in self.writers for text in writer.acknowledged]
        check_received(self.sessions, acknowledged)
        print(f"{len(acknowledged)} messages, {sum(s.resumed for s in self.sessions)} times "
              f"resumed, longest {max(s.longest_resume for s in self.sessions) * 1000:.0f} ms")
        for session in self.sessions:
            session.close()


def move_sessions(executable, bus):
    test = LoadTest(executable, 3, bus)
    with test.cluster:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until or sum(s.resumed for s in test.sessions) <= 10:
            expect(time.monotonic() < until + PATIENCE, "no session moved")
            random.choice(test.sessions).lose()
            time.sleep(0.03)
        test.finish()


def sessions_move_between_polling_nodes(executable):
    move_sessions(executable, "poll")


def sessions_move_between_nodes_with_nats(executable):
    broker = Broker()
    move_sessions(executable, broker.url)
    broker.kill()


def sessions_of_a_stopped_node_move_to_other_nodes(executable):
    test = LoadTest(executable, 2, "poll")
    with test.cluster:
        for turn in range(DRAINS):
            node = 1 + turn % 2
            test.up.discard(node)
            stopper = threading.Thread(target=test.cluster.servers[node].stop)
            stopper.start()
            time.sleep(0.2)
            stopper.join(PATIENCE)
            test.cluster.start(node)
            test.up.add(node)
            time.sleep(0.5)
        test.finish()


if __name__ == "__main__":
    run_cases("cluster/session_moves", ([sessions_move_between_polling_nodes] if LONG else []) + [
        sessions_move_between_nodes_with_nats,
        sessions_of_a_stopped_node_move_to_other_nodes,
    ])

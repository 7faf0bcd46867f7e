#!/usr/bin/env python3
"""message_order - tests that a client that polls `GET /channels/{id}/messages?after=` receives every message.
Several writers post to one channel, and every third transaction commits 10 ms after it created its id, so
that without an order a message appears after one with a greater id was read."""

import os
import threading
import time

from cluster_nodes import PATIENCE, Client, Failed, Cluster, expect, guild_and_channel_of
from server_restart import LONG
from cases import run_cases
from disk_images import TestResources
from process import start_guildhall
from voice import guild_with, import_world

WRITERS = 4
PEOPLE = tuple(f"p{i}" for i in range(WRITERS + 1))
EACH = 400 if LONG else 40  # messages per writer
DELAYED = {"GUILDHALL_TEST_FAULT": "late-commits"}


class Writer(threading.Thread):
    """Posts messages one after the other, on each node in turn."""

    def __init__(self, clients, channel):
        super().__init__(daemon=True)
        self.clients, self.channel, self.ids, self.error = clients, channel, [], None
        self.start()

    def run(self):
        for i in range(EACH):
            try:
                status, message = self.clients[i % len(self.clients)].call(
                    "POST", f"/channels/{self.channel}/messages", {"content": f"message {i}"})
                expect(status == 200, f"{status} {message}")
                self.ids.append(int(message["id"]))
            except (OSError, Failed, ValueError) as error:
                self.error = str(error)
                return


class Poller(threading.Thread):
    """Reads the messages after the greatest id that it has read."""

    def __init__(self, client, channel):
        super().__init__(daemon=True)
        self.client, self.channel, self.ids, self.error = client, channel, [], None
        self.stop_requested = False
        self.start()

    def run(self):
        after = 0
        while not self.error:
            last_read = self.stop_requested
            status, page = self.client.call(
                "GET", f"/channels/{self.channel}/messages?after={after}&limit=100")
            if status != 200:
                self.error = f"{status} {page}"
            elif page:
                self.ids += sorted(int(m["id"]) for m in page)
                after = self.ids[-1]
            elif last_read:
                return


def poll_while_writing(ports, tokens):
    _, channel = guild_and_channel_of(Client(ports[0], tokens[0]))
    pollers = [Poller(Client(port, tokens[-1]), channel) for port in ports]
    began = time.monotonic()
    writers = [Writer([Client(port, token) for port in ports], channel) for token in tokens[:WRITERS]]
    for writer in writers:
        writer.join(PATIENCE)
        expect(not writer.is_alive() and not writer.error, f"a writer: {writer.error}")
    took = time.monotonic() - began
    written = sorted(number for writer in writers for number in writer.ids)
    for poller in pollers:
        poller.stop_requested = True
        poller.join(PATIENCE)
        expect(not poller.is_alive() and not poller.error, f"a poller: {poller.error}")
    print(f"{len(written)} messages of {WRITERS} writers in {took:.1f} s")
    for poller in pollers:
        missed = len(set(written) - set(poller.ids))
        expect(not missed, f"a polling client missed {missed} of {len(written)} messages")
        expect(poller.ids == written, "a polling client received a message twice, or an unknown one")


class Delayed(Cluster):
    def environment(self):
        return DELAYED


def poll_nodes(executable, nodes):
    with Delayed(executable, nodes=nodes, people=PEOPLE) as cluster:
        cluster.wait_ready()
        poll_while_writing([server.port for server in cluster.servers.values()], cluster.tokens)
        retries = sum(cluster.metric(node, "guildhall_store_retries_total") for node in cluster.servers)
        print(f"{retries:.0f} transactions were repeated")


def polling_client_of_one_node_misses_no_message(executable):
    """The node has several connections that write."""
    poll_nodes(executable, 1)


def polling_clients_of_several_nodes_miss_no_message(executable):
    poll_nodes(executable, 2)


def polling_client_misses_no_message_on_sqlite(executable):
    """SQLite has one writer: it creates an id and commits before it begins the next transaction."""
    with TestResources() as resources:
        folder = os.path.join(resources.folder, "data")

        class Bench:
            guildhall = executable
        world = {"users": [{"username": name} for name in PEOPLE],
                 "guilds": [guild_with("Hall", PEOPLE[0], list(PEOPLE[1:]))]}
        tokens = import_world(Bench, folder, world)
        server = resources.kill_at_end(start_guildhall(executable, folder, env=DELAYED))
        poll_while_writing([server.port], tokens)


if __name__ == "__main__":
    run_cases("cluster/message_order", [
        polling_client_of_one_node_misses_no_message,
        polling_clients_of_several_nodes_miss_no_message,
        polling_client_misses_no_message_on_sqlite,
    ])

#!/usr/bin/env python3
"""message_order - tests that a client that polls `GET /channels/{id}/messages?after=` receives every message.
Several writers post to one channel, and every third transaction commits 10 ms after it created its id, so
that without an order a message appears after one with a greater id was read."""

import os
import threading
import time

from cluster_nodes import PATIENCE, Client, Failed, Ring, expect, place_of
from server_restart import LONG
from cases import run_cases
from disk_images import Place
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
        self.clients, self.channel, self.ids, self.trouble = clients, channel, [], None
        self.start()

    def run(self):
        for i in range(EACH):
            try:
                status, message = self.clients[i % len(self.clients)].call(
                    "POST", f"/channels/{self.channel}/messages", {"content": f"message {i}"})
                expect(status == 200, f"{status} {message}")
                self.ids.append(int(message["id"]))
            except (OSError, Failed, ValueError) as error:
                self.trouble = str(error)
                return


class Poller(threading.Thread):
    """Reads the messages after the greatest id that it has read."""

    def __init__(self, client, channel):
        super().__init__(daemon=True)
        self.client, self.channel, self.ids, self.trouble = client, channel, [], None
        self.ending = False
        self.start()

    def run(self):
        after = 0
        while not self.trouble:
            last_read = self.ending
            status, page = self.client.call(
                "GET", f"/channels/{self.channel}/messages?after={after}&limit=100")
            if status != 200:
                self.trouble = f"{status} {page}"
            elif page:
                self.ids += sorted(int(m["id"]) for m in page)
                after = self.ids[-1]
            elif last_read:
                return


def poll_while_writing(ports, tokens):
    _, channel = place_of(Client(ports[0], tokens[0]))
    pollers = [Poller(Client(port, tokens[-1]), channel) for port in ports]
    began = time.monotonic()
    writers = [Writer([Client(port, token) for port in ports], channel) for token in tokens[:WRITERS]]
    for writer in writers:
        writer.join(PATIENCE)
        expect(not writer.is_alive() and not writer.trouble, f"a writer: {writer.trouble}")
    took = time.monotonic() - began
    written = sorted(number for writer in writers for number in writer.ids)
    for poller in pollers:
        poller.ending = True
        poller.join(PATIENCE)
        expect(not poller.is_alive() and not poller.trouble, f"a poller: {poller.trouble}")
    print(f"{len(written)} messages of {WRITERS} writers in {took:.1f} s")
    for poller in pollers:
        missed = len(set(written) - set(poller.ids))
        expect(not missed, f"a polling client missed {missed} of {len(written)} messages")
        expect(poller.ids == written, "a polling client received a message twice, or an unknown one")


class Delayed(Ring):
    def environment(self):
        return DELAYED


def poll_nodes(executable, nodes):
    with Delayed(executable, nodes=nodes, people=PEOPLE) as ring:
        ring.wait_ready()
        poll_while_writing([server.port for server in ring.servers.values()], ring.tokens)
        retries = sum(ring.metric(node, "guildhall_store_retries_total") for node in ring.servers)
        print(f"{retries:.0f} transactions were repeated")


def polling_client_of_one_node_misses_no_message(executable):
    """The node has several connections that write."""
    poll_nodes(executable, 1)


def polling_clients_of_several_nodes_miss_no_message(executable):
    poll_nodes(executable, 2)


def polling_client_misses_no_message_on_sqlite(executable):
    """SQLite has one writer: it creates an id and commits before it begins the next transaction."""
    with Place() as place:
        folder = os.path.join(place.folder, "data")

        class Bench:
            guildhall = executable
        world = {"users": [{"username": name} for name in PEOPLE],
                 "guilds": [guild_with("Hall", PEOPLE[0], list(PEOPLE[1:]))]}
        tokens = import_world(Bench, folder, world)
        server = place.watch(start_guildhall(executable, folder, env=DELAYED))
        poll_while_writing([server.port], tokens)


if __name__ == "__main__":
    run_cases("cluster/message_order", [
        polling_client_of_one_node_misses_no_message,
        polling_clients_of_several_nodes_miss_no_message,
        polling_client_misses_no_message_on_sqlite,
    ])

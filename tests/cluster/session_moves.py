#!/usr/bin/env python3
"""session_moves - tests that sessions move between nodes under load and receive each event once and in
order."""

import random
import threading
import time

from broker import Broker
from cluster_nodes import PATIENCE, Ring, expect, place_of
from resuming_client import Lasting
from server_restart import LONG, Pen, check_heard
from cases import run_cases

SECONDS = 40 if LONG else 1.5
DRAINS = 10 if LONG else 2


def people(count):
    return tuple(f"p{i}" for i in range(count))


class Scene:
    """Sessions of all users, on any of the nodes, and a writer on each node."""

    def __init__(self, executable, nodes, bus, count=8, pen=Pen, kind=Ring):
        self.ring = kind(executable, nodes=nodes, people=people(count), bus=bus)
        if bus != "poll":
            self.ring.wait_metric("guildhall_nats_connected", 1)
        self.up = set(self.ring.servers)
        _, self.channel = place_of(self.ring.client(1, self.ring.tokens[0]))
        self.sessions = [Lasting(self.ports, token) for token in self.ring.tokens]
        self.pens = [pen(lambda n=n: self.port_of(n), self.ring.tokens[n], self.channel, f"w{n}")
                     for n in self.ring.servers]
        self.wait_homes()

    def wait_homes(self):
        """Waits until the owners of all sessions are stored, which happens in parallel to READY; a
        session that moves earlier must identify again."""
        deadline = time.monotonic() + PATIENCE
        while int(self.ring.sql("select count(*) from session_homes")) < len(self.sessions):
            expect(time.monotonic() < deadline, "not every session's owner was stored")
            time.sleep(0.02)

    def ports(self):
        return [self.ring.servers[n].port for n in self.up]

    def port_of(self, node):
        return self.ring.servers[node if node in self.up else min(self.up)].port

    def finish(self):
        for pen in self.pens:
            pen.ending = True
            pen.join(PATIENCE)
            expect(not pen.trouble and pen.acknowledged, f"a writer: {pen.trouble}")
        client = self.ring.client(min(self.up), self.ring.tokens[0])
        expect(client.call("POST", f"/channels/{self.channel}/messages",
                           {"content": "the end"})[0] == 200, "the last message")
        for session in self.sessions:
            session.wait_for("the end")
        acknowledged = [text for pen in self.pens for text in pen.acknowledged]
        check_heard(self.sessions, acknowledged)
        print(f"{len(acknowledged)} messages, {sum(s.resumed for s in self.sessions)} times "
              f"resumed, longest {max(s.longest for s in self.sessions) * 1000:.0f} ms")
        for session in self.sessions:
            session.close()


def move_about(executable, bus):
    scene = Scene(executable, 3, bus)
    with scene.ring:
        until = time.monotonic() + SECONDS
        while time.monotonic() < until or sum(s.resumed for s in scene.sessions) <= 10:
            expect(time.monotonic() < until + PATIENCE, "nobody moved")
            random.choice(scene.sessions).lose()
            time.sleep(0.03)
        scene.finish()


def sessions_move_between_polling_nodes(executable):
    move_about(executable, "poll")


def sessions_move_between_nodes_with_nats(executable):
    broker = Broker()
    move_about(executable, broker.url)
    broker.kill()


def sessions_of_a_stopped_node_move_to_other_nodes(executable):
    scene = Scene(executable, 2, "poll")
    with scene.ring:
        for turn in range(DRAINS):
            node = 1 + turn % 2
            scene.up.discard(node)
            stopper = threading.Thread(target=scene.ring.servers[node].stop)
            stopper.start()
            time.sleep(0.2)
            stopper.join(PATIENCE)
            scene.ring.start(node)
            scene.up.add(node)
            time.sleep(0.5)
        scene.finish()


if __name__ == "__main__":
    run_cases("cluster/session_moves", ([sessions_move_between_polling_nodes] if LONG else []) + [
        sessions_move_between_nodes_with_nats,
        sessions_of_a_stopped_node_move_to_other_nodes,
    ])

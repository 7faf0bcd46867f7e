#!/usr/bin/env python3
"""measure_nodes - measures what a message and an idle second cost with three and with ten nodes. Not a test: it
prints figures for docs/CLUSTER.md. Usage: scripts/with-postgres tests/cluster/measure_nodes.py
build/release/src/guildhall [MESSAGES [everywhere]]. A session on node 2 receives the messages, which are
posted through node 1; with `everywhere` a session on each node receives them, and nodes take turns."""

import os
import sys
import time

from broker import Broker
from cluster_nodes import Cluster, Session, expect, guild_and_channel_of
from measure_resumes import processor_ms
from voice import guild_with

NODES = (3, 10)
IDLE_SECONDS = 15
ROUNDS = 3


def children_of(pid):
    """Returns the processes whose parent is pid."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="ascii") as f:
                if name.isdigit() and int(f.read().rsplit(")", 1)[1].split()[1]) == pid:
                    found.append(int(name))
        except OSError:
            pass
    return found


def parent_of(pid):
    with open(f"/proc/{pid}/stat", encoding="ascii") as f:
        return int(f.read().rsplit(")", 1)[1].split()[1])


class Costs:
    """Processor time of the nodes, of nats-server and of PostgreSQL, in ms."""

    def __init__(self, cluster, broker):
        self.groups = {"nodes": [server.pid for server in cluster.servers.values()], "nats": [broker.child.pid]}
        self.postmaster = self._postmaster(cluster)

    @staticmethod
    def _postmaster(cluster):
        """A backend of a node is a child of the postmaster."""
        return parent_of(int(cluster.sql("select min(pid) from server_connections")))

    def read(self):
        groups = {**self.groups, "postgresql": [self.postmaster, *children_of(self.postmaster)]}
        return {name: {pid: processor_ms(pid) for pid in pids} for name, pids in groups.items()}

    @staticmethod
    def between(before, after):
        """Processes that began or ended during the measurement are not counted."""
        return {name: sum(after[name][pid] - at for pid, at in before[name].items() if pid in after[name])
                for name in before}


def show(words, spent, per):
    parts = ", ".join(f"{name} {value * 1000 / per:.0f}" for name, value in spent.items())
    print(f"  {words}: {sum(spent.values()) * 1000 / per:.0f} us ({parts})", flush=True)
    return sum(spent.values()) * 1000 / per


def measure(executable, nodes, messages, everywhere):
    """Returns the costs of a message over idle, and of an idle server-second, in us."""
    world = {"users": [{"username": name} for name in ("ada", "bob")], "guilds": [guild_with("Hall", "ada", ["bob"])]}
    broker = Broker()
    with Cluster(executable, nodes=nodes, bus=broker.url, world=world, flags=["--rate-limits", "off"]) as cluster:
        expect(broker.executable, "nats-server is not installed")
        cluster.wait_metric("guildhall_nats_sends_by_address", 1)
        ada, bob = cluster.tokens
        clients = [cluster.client(node, ada) for node in (cluster.servers if everywhere else [1])]
        _, channel = guild_and_channel_of(clients[0])
        sessions = [Session(cluster.servers[node].port, bob) for node in (cluster.servers if everywhere else [2])]
        for number in range(50):
            clients[number % len(clients)].call("POST", f"/channels/{channel}/messages", {"content": f"warm {number}"})
        time.sleep(2)
        costs, best = Costs(cluster, broker), []
        before = costs.read()
        time.sleep(IDLE_SECONDS)
        idle = costs.between(before, costs.read())
        print(f"{nodes} nodes, load {os.getloadavg()[0]:.0f}:")
        server_second = show("an idle second of a server", idle, IDLE_SECONDS * nodes)
        for _ in range(ROUNDS):
            before, began = costs.read(), time.monotonic()
            for number in range(messages):
                status, _ = clients[number % len(clients)].call("POST", f"/channels/{channel}/messages",
                                                                {"content": f"message {number}"})
                expect(status == 200, f"a message: {status}")
            time.sleep(0.5)
            took = time.monotonic() - began
            spent = costs.between(before, costs.read())
            over = {name: value - idle[name] * took / IDLE_SECONDS for name, value in spent.items()}
            best.append(show(f"a message ({messages / took:.0f}/s)", over, messages))
        for session in sessions:
            session.close()
    broker.kill()
    return min(best), server_second


def main():
    executable, messages = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 1000
    few, many = (measure(executable, nodes, messages, "everywhere" in sys.argv) for nodes in NODES)
    print(f"ten nodes in relation to three: a message (best of {ROUNDS}) {many[0] / few[0]:.2f}, "
          f"a server-second {many[1] / few[1]:.2f}")


if __name__ == "__main__":
    main()

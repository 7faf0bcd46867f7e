#!/usr/bin/env python3
"""measure_sessions - measures memory and traffic of two nodes with many sessions and NATS. Not a test: it prints
figures for docs/CLUSTER.md. It needs nats-server, a build with bench/load and as many open files as
sessions per node. Usage: scripts/with-postgres tests/cluster/measure_sessions.py build/release/src/guildhall
[SESSIONS]"""

import json
import os
import resource
import subprocess
import sys
import time
import urllib.request

from broker import Broker
from process import free_port
from cluster_nodes import Failed, Cluster, expect, guild_and_channel_of
from sessions import SessionGroup

PATH = "/?v=10&encoding=json"
EVENTS = 20


class Bench:
    """The interface that bench/sessions.py expects."""

    load_cpu = None

    def __init__(self, executable):
        self.build = os.path.dirname(os.path.dirname(os.path.abspath(executable)))

    def tool(self, name):
        return os.path.join(self.build, "bench", name)


class Watched(Broker):
    """A broker that counts the forwarded messages and bytes."""

    def _start_real(self):
        self.watch_port = free_port()
        self.child = subprocess.Popen([self.executable, "-a", "127.0.0.1", "-p", str(self.port), "-m",
                                       str(self.watch_port)], stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 30
        while time.monotonic() < deadline:
            try:
                self.numbers()
                return
            except OSError:
                time.sleep(0.05)
        raise Failed("nats-server does not start")

    def numbers(self):
        with urllib.request.urlopen(f"http://127.0.0.1:{self.watch_port}/varz", timeout=5) as f:
            return json.load(f)


def resident_mb(pid):
    with open(f"/proc/{pid}/status", encoding="ascii") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmRSS")) / 1024


def traffic(broker, words, do, per=1, unit=""):
    before = broker.numbers()
    began = time.monotonic()
    do()
    took = time.monotonic() - began
    after = broker.numbers()
    grown = {name: after[name] - before[name]
             for name in ("in_msgs", "in_bytes", "out_msgs", "out_bytes")}
    print(f"{words}: {took:.1f} s, " + ", ".join(
        f"{name} {value} ({value / per:.1f}{unit})" for name, value in grown.items()), flush=True)


def main():
    executable, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 20000
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    count = min(count, (most - 500) * 2)
    names = [f"p{i}" for i in range(count)]
    world = {"users": [{"username": name} for name in names],
             "guilds": [{"name": "Everybody", "owner": names[0],
                         "members": [{"user": name} for name in names[1:]],
                         "channels": [{"name": "room"}]}]}
    broker = Watched()
    with Cluster(executable, nodes=2, bus=broker.url, world=world) as cluster:
        expect(broker.executable, "nats-server is not installed")
        cluster.wait_metric("guildhall_nats_connected", 1)
        room = type("Room", (), {})()
        _, room.channel = guild_and_channel_of(cluster.client(1, cluster.tokens[0]))
        room.owner = cluster.tokens[0]
        empty = {n: resident_mb(s.pid) for n, s in cluster.servers.items()}
        groups = []

        def open_all():
            for node in (1, 2):
                room.tokens = os.path.join(cluster.folder, f"tokens{node}")
                with open(room.tokens, "w", encoding="ascii") as f:
                    f.write("\n".join(cluster.tokens[node - 1::2][:count // 2]) + "\n")
                groups.append(SessionGroup(Bench(executable), cluster.servers[node].port, PATH, count // 2,
                                           room))
                groups[0].run_command("alive")  # keeps it alive while the other connects
        traffic(broker, f"{count} sessions begin", open_all, count, " each")

        def heartbeats():
            for group in groups:
                group.run_command("alive")
        heartbeats()
        replicas = [cluster.metric(n, "guildhall_kept_sessions") for n in (1, 2)]
        traffic(broker, "20 s idle", lambda: time.sleep(20), 20, "/s")
        heartbeats()
        replicas = [replicas, [cluster.metric(n, "guildhall_kept_sessions") for n in (1, 2)]]

        def post():
            for group in groups:
                group.send_command(f"hear {EVENTS}")
            client = cluster.client(1, room.owner)
            for i in range(EVENTS):
                status, _ = client.call("POST", f"/channels/{room.channel}/messages",
                                        {"content": f"event {i} " + "x" * 100})
                expect(status == 200, f"a message: {status}")
            for group in groups:
                group.read_reply()
        traffic(broker, f"{EVENTS} events to all", post, EVENTS * count, " a delivery")
        for n, server in cluster.servers.items():
            print(f"node {n}: {empty[n]:.0f} MB empty, {resident_mb(server.pid):.0f} MB with "
                  f"{count // 2} sessions and {replicas[1][n - 1]:.0f} replicas ({replicas[0][n - 1]:.0f} at first)")
        print(f"nats-server: {resident_mb(broker.child.pid):.0f} MB; load {os.getloadavg()[0]:.0f}")
        for group in groups:
            group.child.kill()
            group.child.wait()
    broker.kill()


if __name__ == "__main__":
    main()

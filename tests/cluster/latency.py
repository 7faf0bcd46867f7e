#!/usr/bin/env python3
"""latency - measures the time from a request on one node to sessions there and on another node,
with polling and with NATS. The same message is awaited on both nodes, and the median must be within
the limit. Runs only in `make cluster-test`. For more messages: LATENCY_COUNT=1000
scripts/with-postgres tests/cluster/latency.py GUILDHALL"""

import os
import time

from broker import Broker
from cluster_nodes import Cluster, Session, expect, guild_and_channel_of
from cases import run_cases

COUNT = int(os.environ.get("LATENCY_COUNT", "200"))
TIMES = 1.5  # allowed factor relative to the same node, through NATS
POLLED_MS = 15


def times_of(session, began):
    received_at = {d["content"]: d["at"] for t, d in session.events if t == "MESSAGE_CREATE"}
    return sorted((received_at[text] - at) * 1000 for text, at in began.items())


class TimedSession(Session):
    """A session that records when it receives each event."""

    def record(self, name, data):
        if name == "MESSAGE_CREATE":
            data["at"] = time.monotonic()
        super().record(name, data)


def measure(executable, bus):
    """Returns the median milliseconds on the same node and on the other."""
    with Cluster(executable, nodes=2, bus=bus) as cluster:
        ada, bob = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        if bus != "poll":
            cluster.wait_metric("guildhall_nats_connected", 1)
        local, remote = (TimedSession(cluster.servers[n].port, bob) for n in (1, 2))
        client, began, halves = cluster.client(1, ada), {}, []
        for i in range(COUNT):
            began[f"m{i}"] = time.monotonic()
            client.call("POST", f"/channels/{channel}/messages", {"content": f"m{i}"})
            time.sleep(0.02)
        for name, session in (("A to A", local), ("A to B", remote)):
            session.wait(lambda events: sum(t == "MESSAGE_CREATE" for t, _ in events) >= COUNT, name)
            ms = times_of(session, began)
            halves.append(ms[len(ms) // 2])
            print(f"{bus.partition(':')[0]:5} {name}: median {halves[-1]:.2f} ms, "
                  f"95 % {ms[len(ms) * 95 // 100]:.2f} ms, of {COUNT}; load "
                  f"{os.getloadavg()[0]:.0f}")
    return halves


def polling_node_receives_events_of_other_nodes_soon(executable):
    _, remote = measure(executable, "poll")
    expect(remote <= POLLED_MS, f"{remote:.1f} ms")


def nats_delivers_events_to_other_nodes_as_fast_as_locally(executable):
    broker = Broker()
    local, remote = measure(executable, broker.url)
    broker.kill()
    expect(remote <= TIMES * local, f"{remote:.2f} ms, {local:.2f} on the same node")


if __name__ == "__main__":
    run_cases("cluster/latency", [
        polling_node_receives_events_of_other_nodes_soon,
        nats_delivers_events_to_other_nodes_as_fast_as_locally,
    ])

#!/usr/bin/env python3
"""latency - measures the time from a request on one node to sessions there and on another node,
with polling and with NATS. The same message is awaited on both nodes, and the median must be within
the limit. Runs only in `make cluster-test`. For more messages: LATENCY_COUNT=1000
scripts/with-postgres tests/cluster/latency.py GUILDHALL"""

import os
import time

from broker import Broker
from cluster_nodes import Ring, Session, expect, place_of
from cases import run_cases

COUNT = int(os.environ.get("LATENCY_COUNT", "200"))
TIMES = 1.5  # allowed factor relative to the same node, through NATS
POLLED_MS = 15


def times_of(session, began):
    heard = {d["content"]: d["at"] for t, d in session.events if t == "MESSAGE_CREATE"}
    return sorted((heard[text] - at) * 1000 for text, at in began.items())


class TimedSession(Session):
    """A session that records when it receives each event."""

    def note(self, name, data):
        if name == "MESSAGE_CREATE":
            data["at"] = time.monotonic()
        super().note(name, data)


def measure(executable, bus):
    """Returns the median milliseconds on the same node and on the other."""
    with Ring(executable, nodes=2, bus=bus) as ring:
        ada, bob = ring.tokens
        _, channel = place_of(ring.client(1, ada))
        if bus != "poll":
            ring.wait_metric("guildhall_nats_connected", 1)
        here, there = (TimedSession(ring.servers[n].port, bob) for n in (1, 2))
        client, began, halves = ring.client(1, ada), {}, []
        for i in range(COUNT):
            began[f"m{i}"] = time.monotonic()
            client.call("POST", f"/channels/{channel}/messages", {"content": f"m{i}"})
            time.sleep(0.02)
        for name, session in (("A to A", here), ("A to B", there)):
            session.wait(lambda events: sum(t == "MESSAGE_CREATE" for t, _ in events) >= COUNT, name)
            ms = times_of(session, began)
            halves.append(ms[len(ms) // 2])
            print(f"{bus.partition(':')[0]:5} {name}: median {halves[-1]:.2f} ms, "
                  f"95 % {ms[len(ms) * 95 // 100]:.2f} ms, of {COUNT}; load "
                  f"{os.getloadavg()[0]:.0f}")
    return halves


def polling_node_receives_events_of_other_nodes_soon(executable):
    _, there = measure(executable, "poll")
    expect(there <= POLLED_MS, f"{there:.1f} ms")


def nats_delivers_events_to_other_nodes_as_fast_as_locally(executable):
    broker = Broker()
    here, there = measure(executable, broker.url)
    broker.kill()
    expect(there <= TIMES * here, f"{there:.2f} ms, {here:.2f} on the same node")


if __name__ == "__main__":
    run_cases("cluster/latency", [
        polling_node_receives_events_of_other_nodes_soon,
        nats_delivers_events_to_other_nodes_as_fast_as_locally,
    ])

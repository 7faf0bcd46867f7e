#!/usr/bin/env python3
"""latency - from a call on one server to sessions there and on another, polled and through NATS.

It measures, so it is part of make cluster-test only: the same message is waited for at both
servers, and half of all messages have to be there in time. Usage, for more of them:
LATENCY_COUNT=1000 scripts/with-postgres tests/cluster/latency.py GUILDHALL
"""

import os
import time

from broker import Broker
from ring import Ring, Session, expect, place_of
from cases import run_cases

COUNT = int(os.environ.get("LATENCY_COUNT", "200"))
TIMES = 1.5  # as long as at the same server, through NATS
POLLED_MS = 15


def times_of(session, began):
    heard = {d["content"]: d["at"] for t, d in session.events if t == "MESSAGE_CREATE"}
    return sorted((heard[text] - at) * 1000 for text, at in began.items())


class TimedSession(Session):
    """Notes when it heard what."""

    def note(self, name, data):
        if name == "MESSAGE_CREATE":
            data["at"] = time.monotonic()
        super().note(name, data)


def measure(executable, bus):
    """Milliseconds at the same server, and at the other; half of all took no longer."""
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


def an_event_is_soon_at_another_server_that_polls(executable):
    _, there = measure(executable, "poll")
    expect(there <= POLLED_MS, f"{there:.1f} ms")


def an_event_is_as_soon_at_another_server_with_nats(executable):
    broker = Broker()
    here, there = measure(executable, broker.url)
    broker.kill()
    expect(there <= TIMES * here, f"{there:.2f} ms, {here:.2f} at the same server")


if __name__ == "__main__":
    run_cases("cluster/latency", [
        an_event_is_soon_at_another_server_that_polls,
        an_event_is_as_soon_at_another_server_with_nats,
    ])

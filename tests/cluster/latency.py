#!/usr/bin/env python3
"""latency - from a call on one server to sessions there and on another, polled and through NATS.

Not a test: it prints milliseconds. Usage: scripts/with-postgres latency.py GUILDHALL [COUNT]
"""

import sys
import time

from broker import Broker
from ring import Ring, Session, place_of


def times_of(session, began):
    heard = {d["content"]: d["at"] for t, d in session.events if t == "MESSAGE_CREATE"}
    return sorted((heard[text] - at) * 1000 for text, at in began.items())


class TimedSession(Session):
    """Notes when it heard what."""

    def note(self, name, data):
        data["at"] = time.monotonic()
        super().note(name, data)


def measure(executable, bus, count):
    with Ring(executable, nodes=2, bus=bus) as ring:
        ada, bob = ring.tokens
        _, channel = place_of(ring.client(1, ada))
        if bus != "poll":
            ring.wait_metric("guildhall_nats_connected", 1)
        here, there = (TimedSession(ring.servers[n].port, bob) for n in (1, 2))
        client, began = ring.client(1, ada), {}
        for i in range(count):
            began[f"m{i}"] = time.monotonic()
            client.call("POST", f"/channels/{channel}/messages", {"content": f"m{i}"})
            time.sleep(0.02)
        for name, session in (("A to A", here), ("A to B", there)):
            session.wait(lambda events: sum(t == "MESSAGE_CREATE" for t, _ in events) >= count, name)
            ms = times_of(session, began)
            print(f"{bus.partition(':')[0]:5} {name}: median {ms[len(ms) // 2]:.2f} ms, "
                  f"95 % {ms[len(ms) * 95 // 100]:.2f} ms, of {count}")


if __name__ == "__main__":
    broker = Broker()
    total = int(sys.argv[2]) if len(sys.argv) > 2 else 200
    for way in ("poll", broker.url):
        measure(sys.argv[1], way, total)
    broker.kill()

#!/usr/bin/env python3
"""measure_resumes - measures the processor time of RESUMEs after a node was killed, by the number of log
entries that the sessions missed, and while other guilds are busy. Not a test: it prints figures for
docs/CLUSTER.md. Usage: scripts/with-postgres tests/cluster/measure_resumes.py build/release/src/guildhall
[SESSIONS]"""

from concurrent.futures import ThreadPoolExecutor
import os
import sys
import threading
import time

from broker import Broker
from cluster_nodes import PATIENCE, Cluster, expect, guild_and_channel_of
from resuming_client import Socket
from voice import guild_with

MISSED = (0, 1500)
GUILD = 20  # members of each guild
WRITES_PER_SECOND = 100
ATTEMPTS = 4


def processor_ms(pid):
    """Returns the processor time of all threads of a process, in ms."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="ascii") as f:
            total += int(f.read().split()[0])
    return total / 1e6


def identify(port, token):
    wire = Socket(port, PATIENCE)
    wire.message()
    wire.send(2, {"token": token, "intents": 0, "properties": {}})
    while True:
        message = wire.message()
        if message.get("t") == "READY":
            return wire, token, message["d"]["session_id"], message["s"]


def resume(port, token, session_id, sequence):
    """Returns whether the session was resumed; op 9 and closed sockets are tried again."""
    for _ in range(ATTEMPTS):
        try:
            wire = Socket(port, PATIENCE)
            wire.message()
            wire.send(6, {"token": token, "session_id": session_id, "seq": sequence})
            while True:
                message = wire.message()
                if message.get("t") == "RESUMED":
                    return wire
                if message["op"] == 9:
                    break
        except OSError:
            time.sleep(0.1)
    return None


class Writer(threading.Thread):
    """Posts to a guild without sessions, WRITES_PER_SECOND at most."""

    def __init__(self, client, channel):
        super().__init__(daemon=True)
        self.client, self.channel, self.stop_requested, self.count = client, channel, False, 0
        self.start()

    def run(self):
        while not self.stop_requested:
            self.client.call("POST", f"/channels/{self.channel}/messages", {"content": "elsewhere"})
            self.count += 1
            time.sleep(1 / WRITES_PER_SECOND)


def measure(executable, count, missed, busy):
    """Kills node 1 and resumes its sessions on node 2, while node 3 writes if `busy` is set."""
    names = [f"p{i}" for i in range(count)]
    world = {"users": [{"username": name} for name in ("ada", *names)],
             "guilds": [guild_with("Elsewhere", "ada")] + [
                 guild_with(f"Hall {at}", names[at], names[at + 1:at + GUILD]) for at in range(0, count, GUILD)]}
    broker = Broker()
    with Cluster(executable, nodes=3, bus=broker.url, world=world,
                 flags=["--rate-limits", "off", "--pending-sessions", "4096"]) as cluster:
        cluster.wait_metric("guildhall_nats_sends_by_address", 1)
        ada, *tokens = cluster.tokens
        owner = cluster.client(3, ada)
        _, channel = guild_and_channel_of(owner)
        with ThreadPoolExecutor(16) as pool:
            sessions = list(pool.map(lambda token: identify(cluster.servers[1].port, token), tokens))
            deadline = time.monotonic() + PATIENCE
            while int(cluster.sql("select count(*) from session_homes")) < count:
                expect(time.monotonic() < deadline, "not every session's owner was stored")
                time.sleep(0.05)
            cluster.servers[1].kill()
            for _ in range(missed):
                owner.call("POST", f"/channels/{channel}/messages", {"content": "missed"})
            time.sleep(1)
            pid, writer = cluster.servers[2].pid, Writer(owner, channel) if busy else None
            began, before = time.monotonic(), processor_ms(pid)
            resumed = list(pool.map(lambda s: resume(cluster.servers[2].port, *s[1:]), sessions))
            took, spent = time.monotonic() - began, processor_ms(pid) - before
        if writer:
            writer.stop_requested = True
            writer.join(PATIENCE)
        good = sum(wire is not None for wire in resumed)
        print(f"{missed} entries missed, {writer.count if writer else 0} written meanwhile: {good} of {count} resumed, "
              f"{spent / max(good, 1):.2f} ms of processor time each, in {took:.1f} s; entries read by loops: "
              f"{cluster.metric(2, 'guildhall_log_unread_entries_total'):.0f}, rows decoded for RESUME: "
              f"{cluster.metric(2, 'guildhall_missed_log_rows_total'):.0f}; load {os.getloadavg()[0]:.0f}", flush=True)
    broker.kill()


def main():
    executable, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 600
    for missed in MISSED:
        measure(executable, count, missed, False)
    measure(executable, count, 0, True)


if __name__ == "__main__":
    main()

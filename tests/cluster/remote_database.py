#!/usr/bin/env python3
"""remote_database - tests writes of three nodes whose PostgreSQL is 5 ms away in each direction. The
time limits of docs/CLUSTER.md are checked by `make cluster-test` (--long, ten minutes in total). The short form runs
in parallel with other tests, so it has no time limits: it checks that no message fails, and that transactions of messages
rarely conflict with those of jobs or of other nodes, which is what stalled writes."""

import os
import threading
import time

from cluster_nodes import Cluster, expect, guild_and_channel_of
from server_restart import LONG
from cases import run_cases

DELAY_MS = 5
WRITERS = 16
WRITE_SECONDS = int(os.environ.get("GUILDHALL_TEST_SECONDS", "300" if LONG else "4"))
PEOPLE = tuple(f"writer{i}" for i in range(WRITERS))
P99_MS, MAX_MS, MESSAGES_PER_S = 60, 150, 600


def percentile(sorted_values, percent):
    return sorted_values[min(len(sorted_values) - 1, len(sorted_values) * percent // 100)]


def channels_of(client, count):
    guild, first = guild_and_channel_of(client)
    made = [client.call("POST", f"/guilds/{guild}/channels", {"name": f"c{i}", "type": 0})
            for i in range(1, count)]
    expect(all(status == 201 for status, _ in made), made)
    return [first, *(channel["id"] for _, channel in made)]


class Writer(threading.Thread):
    """Posts messages one after the other and records how long each takes."""

    def __init__(self, client, channel, until):
        super().__init__(daemon=True)
        self.client, self.channel, self.until = client, channel, until
        self.times_ms, self.failed = [], []

    def run(self):
        while time.monotonic() < self.until:
            began = time.monotonic()
            status, answer = self.client.call("POST", f"/channels/{self.channel}/messages",
                                              {"content": f"message {len(self.times_ms)}"})
            if status != 200:
                self.failed.append((status, answer))
            self.times_ms.append((time.monotonic() - began) * 1000)


def write(cluster, writers, seconds):
    """Runs the writers on all nodes; returns the sorted times and the number of messages a second."""
    channels = channels_of(cluster.client(1, cluster.tokens[0]), 4)
    before = sum(cluster.metric(node, "guildhall_store_retries_total") for node in cluster.servers)
    until = time.monotonic() + seconds
    threads = [Writer(cluster.client(1 + i % len(cluster.servers), cluster.tokens[i]),
                      channels[i % len(channels)], until) for i in range(writers)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    times = sorted(ms for thread in threads for ms in thread.times_ms)
    failed = [failure for thread in threads for failure in thread.failed]
    expect(not failed, f"{len(failed)} messages failed, first {failed[:1]}")
    rate = len(times) / seconds
    retries = sum(cluster.metric(node, "guildhall_store_retries_total")
                  for node in cluster.servers) - before
    # A message is repeated if one with a greater id was committed before it in its channel, which
    # happens more often on a busy machine. The conflicts that stalled writes repeated every message.
    expect(retries < 10 + len(times) / 2, f"{retries:.0f} retries of {len(times)} messages")
    print(f"{writers} writers: {rate:.0f} messages/s; median {percentile(times, 50):.0f}, 99 % "
          f"{percentile(times, 99):.0f}, maximum {times[-1]:.0f} ms; {retries:.0f} retries; load "
          f"{os.getloadavg()[0]:.0f}", flush=True)
    return times, rate


def writes_are_not_stalled_by_jobs_or_locks(executable):
    # Cluster starts nodes with four connections; eight are the server's default.
    with Cluster(executable, nodes=3, people=PEOPLE,
                 flags=["--rate-limits", "off", "--store-workers", "8"], delay_ms=DELAY_MS) as cluster:
        write(cluster, WRITERS, 1)  # caches are filled and queries learned
        few, _ = write(cluster, len(cluster.servers), WRITE_SECONDS)
        many, rate = write(cluster, WRITERS, WRITE_SECONDS if LONG else 1)
        if LONG:
            expect(percentile(few, 99) < P99_MS, f"99 % {percentile(few, 99):.0f} ms")
            expect(few[-1] < MAX_MS, f"maximum {few[-1]:.0f} ms")
            expect(many[-1] < MAX_MS, f"maximum {many[-1]:.0f} ms")
            expect(rate > MESSAGES_PER_S, f"{rate:.0f} messages/s")


if __name__ == "__main__":
    run_cases("cluster/remote_database", [writes_are_not_stalled_by_jobs_or_locks])

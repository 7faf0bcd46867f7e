#!/usr/bin/env python3
"""clock_skew - tests nodes with a wrong clock: such a node is not ready and harms no other. Leases use the
database's clock, so no node is declared dead; ids stay unique, and all sessions receive all events
once and in one order."""

import os
import struct
import time

from cluster_nodes import PATIENCE, Cluster, Session, Skip, expect, guild_and_channel_of
from guarantees import LONG, check_received, wait_for_last_message, wait_for_writers, messages_in, write_everywhere
from cases import run_cases
from process import start_guildhall

LEASE = 5  # seconds


class ClusterWithWrongClocks(Cluster):
    """A cluster in which the clocks of the listed nodes are wrong."""

    def __init__(self, executable, seconds, wrong=(2,), **words):
        self.wrong = wrong
        self.shim = os.path.join(os.path.dirname(executable), "..", "bench", "jump_clock.so")
        if not os.path.exists(self.shim):
            raise Skip(f"{self.shim} is not built")
        self.seconds = seconds
        super().__init__(executable, **words)

    def clock(self):
        return os.path.join(self.folder, "clock")

    def set_clock(self, seconds):
        with open(self.clock(), "r+b") as f:
            f.write(struct.pack("=q", int(seconds * 1e9)))

    def start(self, node):
        if node not in self.wrong:
            return super().start(node)
        with open(self.clock(), "wb") as f:
            f.write(struct.pack("=q", int(self.seconds * 1e9)))
        # Sanitizers expect to be loaded first, but work otherwise.
        sanitized = ":".join(filter(None, (os.environ.get("ASAN_OPTIONS"), "verify_asan_link_order=0")))
        self.servers[node] = start_guildhall(
            self.executable, os.path.join(self.folder, "data"), *self.command(node),
            env={"LD_PRELOAD": self.shim, "JUMP_CLOCK_FILE": self.clock(), "ASAN_OPTIONS": sanitized})
        return self.servers[node]

    def wait_status(self, node, status):
        deadline = time.monotonic() + PATIENCE
        while self._status(self.servers[node].port) != status:
            expect(time.monotonic() < deadline, f"/readyz of node {node} is not {status}")
            time.sleep(0.02)


    def wait_offset(self, node, least_ms, most_ms):
        """Waits until the node reports a clock offset between the limits; a slow reading is less precise."""
        deadline = time.monotonic() + PATIENCE
        while not least_ms < (offset := self.metric(node, "guildhall_clock_offset_milliseconds")) < most_ms:
            expect(time.monotonic() < deadline, f"node {node} reports a clock offset of {offset} ms")
            time.sleep(0.1)


def run_with_clock_offset(executable, seconds):
    with ClusterWithWrongClocks(executable, seconds, nodes=3) as cluster:
        ada, bob = cluster.tokens
        cluster.wait_status(2, 503)
        for node in (1, 3):
            cluster.wait_status(node, 200)
        cluster.wait_offset(2, 250, abs(seconds) * 1000 + 100)
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        sessions = [Session(s.port, t) for s in cluster.servers.values() for t in (ada, bob)]
        began = time.monotonic()
        acknowledged, unknown = wait_for_writers(write_everywhere(cluster, [1, 2, 3], [ada, bob], channel))
        while time.monotonic() - began < LEASE + 1.5:
            expect(cluster.sql("select count(*) from nodes where state = 1") == "3",
                   "a node was declared dead")
            time.sleep(0.1)
        wait_for_last_message(cluster, 2, ada, channel, sessions)
        stored_messages = messages_in(cluster.client(3, ada), channel)
        check_received(sessions, acknowledged, unknown, stored_messages)
        expect(cluster.sql("select count(*) - count(distinct id) from messages") == "0",
               "an id was generated twice")
        for session in sessions:
            session.close()


def node_with_a_clock_ahead_is_unready_and_harmless(executable):
    run_with_clock_offset(executable, 5)


def node_with_a_clock_behind_is_unready_and_harmless(executable):
    run_with_clock_offset(executable, -5)


def node_with_a_clock_an_hour_ahead_is_unready_and_harmless(executable):
    run_with_clock_offset(executable, 3600)


def nodes_that_agree_are_ready_despite_a_wrong_database_clock(executable):
    """Simulates a wrong clock of the database: all nodes agree with each other."""
    with ClusterWithWrongClocks(executable, 5, wrong=(1, 2), nodes=2) as cluster:
        cluster.wait_ready()
        for node in cluster.servers:
            cluster.wait_offset(node, 4000, 5100)


if __name__ == "__main__":
    run_cases("cluster/clock_skew", [
        node_with_a_clock_ahead_is_unready_and_harmless,
        nodes_that_agree_are_ready_despite_a_wrong_database_clock,
    ] + ([
        node_with_a_clock_behind_is_unready_and_harmless,
        node_with_a_clock_an_hour_ahead_is_unready_and_harmless,
    ] if LONG else []))

"""Starts several nodes on one PostgreSQL, and provides a gateway client that records its events."""

import http.client
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [os.path.join(HERE, "..", "..", "bench"), os.path.join(HERE, "..", "crash")]

from cases import Skip, expect  # noqa: E402
from delayed_link import DelayedLink  # noqa: E402
from process import Client, Failed, start_guildhall  # noqa: E402
from sessions import GATEWAY_PATH, Wire  # noqa: E402
from voice import guild_with, import_world  # noqa: E402

PATIENCE = 60  # time limit in seconds for operations that take milliseconds


class Cluster:
    """A cluster of nodes with its own schema and a shared data folder. With delay_ms the nodes, but
    not sql(), reach PostgreSQL through a link with that delay in each direction."""

    count = 0

    def __init__(self, executable, nodes=2, people=("ada", "bob"), flags=(), bus="poll",
                 world=None, delay_ms=float(os.environ.get("GUILDHALL_TEST_DELAY_MS", "0"))):
        self.database = os.environ.get("GUILDHALL_TEST_POSTGRES")
        if not self.database or not shutil.which("psql"):
            raise Skip("PostgreSQL is not available (run this with scripts/with-postgres)")
        Cluster.count += 1
        self.executable, self.flags, self.bus = executable, list(flags), bus
        self.schema = f"cluster_{os.getpid()}_{Cluster.count}"
        self.link = DelayedLink(self.database, delay_ms) if delay_ms else None
        database = self.link.database if self.link else self.database
        self.store = f"{database} options=-csearch_path={self.schema}"
        self.folder = tempfile.mkdtemp(prefix="guildhall-cluster.")
        self.servers = {}
        self.sql(f"create schema {self.schema}")
        world = world or {"users": [{"username": name} for name in people],
                          "guilds": [guild_with("Hall", people[0], list(people[1:]))]}

        class Bench:
            guildhall = executable
        self.tokens = import_world(Bench, os.path.join(self.folder, "data"), world,
                                   "--store", self.store)
        for node in range(1, nodes + 1):
            self.start(node)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        for server in self.servers.values():
            server.kill()
        self.sql(f"drop schema {self.schema} cascade")
        if self.link:
            self.link.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def sql(self, text, patience=None):
        """Executes SQL and returns psql's plain output."""
        done = subprocess.run(["psql", "-qAtX", "-v", "ON_ERROR_STOP=1", "-c",
                               "set client_min_messages = error", "-c",
                               f"set search_path = {self.schema}", "-c", text, self.database],
                              capture_output=True, text=True, timeout=patience or PATIENCE)
        if done.returncode:
            raise Failed(done.stderr)
        return done.stdout.strip()

    def command(self, node):
        return ["--node", str(node), "--store", self.store, "--bus", self.bus, "--loops", "1",
                "--store-workers", "4", *self.flags]

    def environment(self):
        """Returns environment variables of the nodes."""
        return {}

    def start(self, node):
        """Starts a node; retries like a service manager while the database has not noticed the end of the one
        before."""
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                server = start_guildhall(self.executable, os.path.join(self.folder, "data"),
                                         *self.command(node), env=self.environment())
                break
            except Failed as error:
                if f"another server with node number {node} " not in str(error) or time.monotonic() > deadline:
                    raise
        self.servers[node] = server
        return server

    def wait_ready(self):
        """Waits until every node is ready."""
        deadline = time.monotonic() + PATIENCE
        for server in self.servers.values():
            while self._status(server.port) != 200:
                expect(time.monotonic() < deadline, "a node does not become ready")
                time.sleep(0.02)

    @staticmethod
    def _status(port):
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
        connection.request("GET", "/readyz")
        status = connection.getresponse().status
        connection.close()
        return status

    def metric(self, node, name):
        """Returns a metric of a node."""
        connection = http.client.HTTPConnection("127.0.0.1", self.servers[node].port,
                                                timeout=PATIENCE)
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        found = [line.split()[-1] for line in text.splitlines() if line.startswith(name + " ")]
        return float(found[0]) if found else None

    def wait_metric(self, name, value):
        """Waits until the metric has that value on every node."""
        deadline = time.monotonic() + PATIENCE
        for node in self.servers:
            while self.metric(node, name) != value:
                expect(time.monotonic() < deadline, f"{name} of node {node} is not {value}")
                time.sleep(0.02)

    def run_operator_command(self, node, *words):
        """Runs an operator command on a node and returns its output."""
        done = subprocess.run([self.executable, *words, "--node", str(node), "--data",
                               os.path.join(self.folder, "data"), "--store", self.store],
                              capture_output=True, text=True, timeout=PATIENCE)
        if done.returncode:
            raise Failed(done.stderr)
        return done.stdout

    def client(self, node, token=None):
        return Client(self.servers[node].port, token)


class Session:
    """A gateway session whose thread records all events with their sequence numbers."""

    def __init__(self, port, token, intents=(1 << 29) - 1):
        self.wire = Wire(port, GATEWAY_PATH, token, intents)
        self.ready = json.loads(self.wire.ready[self.wire.ready.index(b"{"):])["d"]
        self.events, self.ended, self.sequence = [], None, 1
        self.changed = threading.Condition()
        self.wire.socket.settimeout(None)
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    def _read(self):
        try:
            while True:
                frame = self.wire.frame()
                if frame[0] & 15 == 8:
                    raise Failed(f"closed with {int.from_bytes(frame[2:4], 'big')}")
                message = json.loads(frame[frame.index(b"{"):])
                if message["op"] == 1:  # the server requests a heartbeat after a minute
                    self.wire.send('{"op": 1, "d": null}')
                with self.changed:
                    if message["op"] == 0:
                        self.sequence += 1
                        if message["s"] != self.sequence:
                            raise Failed(f"number {message['s']} after {self.sequence - 1}")
                        self.record(message["t"], message["d"])
                    self.changed.notify_all()
        except (Failed, OSError, ValueError) as error:
            with self.changed:
                self.ended = str(error)
                self.changed.notify_all()

    def record(self, name, data):
        self.events.append((name, data))

    def wait(self, true, words):
        """Waits until true(events) and returns its result."""
        deadline = time.monotonic() + PATIENCE
        with self.changed:
            while not (found := true(self.events)):
                left = deadline - time.monotonic()
                if self.ended or left <= 0 or not self.changed.wait(left):
                    raise Failed(f"{words}: received {len(self.events)} events, ended: {self.ended}")
        return found

    def wait_end(self):
        deadline = time.monotonic() + PATIENCE
        with self.changed:
            while not self.ended and time.monotonic() < deadline:
                self.changed.wait(deadline - time.monotonic())
        return self.ended

    def contents(self):
        """Returns the contents of the received messages."""
        with self.changed:
            return [d["content"] for t, d in self.events if t == "MESSAGE_CREATE"]

    def messages(self):
        """Returns the received messages with their ids."""
        with self.changed:
            return [(d["id"], d["content"]) for t, d in self.events if t == "MESSAGE_CREATE"]

    def close(self):
        try:
            self.wire.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
        self.wire.close()


def guild_and_channel_of(client):
    """Returns the only guild and its first text channel."""
    _, guilds = client.call("GET", "/users/@me/guilds")
    _, channels = client.call("GET", f"/guilds/{guilds[0]['id']}/channels")
    text = [c["id"] for c in channels if c["type"] == 0]
    return guilds[0]["id"], text[0]


__all__ = ["Client", "Cluster", "Failed", "PATIENCE", "Session", "Skip", "expect", "guild_and_channel_of"]

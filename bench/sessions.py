"""Benchmark rows about the gateway: memory and processor time of sessions."""

import base64
import json
import os
import resource
import socket
import sqlite3
import statistics
import struct
import subprocess
import tempfile
import time

from process import Client, Failed, Process, start_guildhall
from tls import context, make_certificate

ALL_SESSIONS = 10_000
FEW_SESSIONS = 100
TLS_SESSIONS = 1_000
WARM_UP_SESSIONS = 200
LARGE_GUILD_MEMBERS = 100_000
GATEWAY_PATH = "/gateway?v=10&encoding=json"
COMPRESSED_GATEWAY_PATH = GATEWAY_PATH + "&compress=zlib-stream"
HEARTBEAT = '{"op":1,"d":1}'
KEY = base64.b64encode(b"the sample nonce").decode()


class Wire:
    """A session that captures the exact bytes which the bare server repeats."""

    def __init__(self, port, path, token, intents=641, wrap=lambda plain: plain, early=False):
        """early: send IDENTIFY before HELLO, which otherwise comes 100 ms after the upgrade."""
        self.socket = wrap(socket.create_connection(("127.0.0.1", port), 120))
        self.received = b""
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
                            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                            f"Sec-WebSocket-Key: {KEY}\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.received:
            self._receive_more()
        end = self.received.index(b"\r\n\r\n") + 4
        head, self.received = self.received[:end], self.received[end:]
        text = json.dumps({"op": 2, "d": {"token": token, "intents": intents, "properties": {}}})
        if early:
            self.send(text)
        self.handshake = head + self.frame()
        if not early:
            self.send(text)
        self.ready = self.frame()

    def send(self, text):
        """Sends one message, masked with zeros."""
        size = (struct.pack(">B", 0x80 | len(text)) if len(text) < 126
                else struct.pack(">BH", 0x80 | 126, len(text)))
        self.socket.sendall(b"\x81" + size + bytes(4) + text.encode())

    def _receive_more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise Failed("the gateway closed the connection")
        self.received += piece

    def _receive_at_least(self, count):
        while len(self.received) < count:
            self._receive_more()
        return self.received[:count]

    def frame(self):
        """Returns the next message as received, with its header."""
        size, head = self._receive_at_least(2)[1], 2
        if size == 126:
            size, head = struct.unpack(">H", self._receive_at_least(4)[2:])[0], 4
        elif size == 127:
            size, head = struct.unpack(">Q", self._receive_at_least(10)[2:])[0], 10
        whole = self._receive_at_least(head + size)
        self.received = self.received[head + size:]
        return whole

    def close(self):
        self.socket.close()


def tls_wires(server, tokens):
    c = context()
    return [Wire(server.port, GATEWAY_PATH, token, wrap=c.wrap_socket) for token in tokens]


def end_session(wire):
    """Closes the session with code 1000, so that the server frees it."""
    wire.socket.sendall(b"\x88\x82" + bytes(4) + struct.pack(">H", 1000))
    wire.close()


class SessionGroup:
    """Many sessions, held by bench/load."""

    def __init__(self, bench, port, path, count, world, tls=False, tokens=None):
        command = [bench.tool("load"), "sessions", "--port", str(port), "--path", path, "--tokens",
                   tokens or world.tokens, "--connections", str(count), "--post",
                   f"/api/v10/channels/{world.channel}/messages", "--token", world.owner]
        command += ["--tls"] if tls else []
        if bench.load_cpu is not None:
            command = ["taskset", "-c", str(bench.load_cpu)] + command
        self.count = count
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE, text=True)
        self.read_reply()

    def read_reply(self):
        line = self.child.stdout.readline()
        if not line:
            raise Failed(self.child.communicate()[1].strip() or "the load ended")
        return json.loads(line)

    def send_command(self, what):
        """Sends a command whose reply is awaited later."""
        self.child.stdin.write(what + "\n")
        self.child.stdin.flush()

    def run_command(self, what):
        self.send_command(what)
        return self.read_reply()

    def close(self):
        self.child.stdin.close()
        try:
            self.child.wait(60)
        except subprocess.TimeoutExpired:
            self.child.kill()
            self.child.wait()
        self.child.stdout.close()
        self.child.stderr.close()


def import_world(bench, folder, world):
    """Imports a world; returns the tokens of its users by name."""
    done = subprocess.run([bench.guildhall, "import", "-", "--data", folder, "--tokens"],
                          input=json.dumps(world), capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise Failed(done.stderr.strip())
    lines = [line.split() for line in done.stdout.splitlines()]
    names = {user["username"] for user in world["users"]}
    return {words[0]: words[-1] for words in lines if len(words) == 2 and words[0] in names}


class UserInGuilds:
    """A user in this many guilds, each with twenty other members, who are not connected."""

    def __init__(self, bench, guilds):
        self.folder = os.path.join(bench.folder, f"in-{guilds}-guilds")
        names = [f"p{i}" for i in range(21)]
        world = {"users": [{"username": name} for name in names],
                 "guilds": [{"name": f"Guild {n}", "owner": names[0],
                             "members": [{"user": name} for name in names[1:]],
                             "roles": [{"name": f"Role {i}"} for i in range(5)],
                             "channels": [{"name": f"room-{i}"} for i in range(10)]}
                            for n in range(guilds)]}
        self.token = import_world(bench, self.folder, world)[names[0]]


def copy_row(rows, table, key, value, changes):
    """Copies a row many times with other values in some columns."""
    columns = [c[1] for c in rows.execute(f"pragma table_info({table})")]
    row = dict(zip(columns, rows.execute(f"select * from {table} where {key} = ?", (value,)).fetchone()))
    placeholders = ", ".join("?" * len(columns))
    rows.executemany(f"insert into {table} ({', '.join(columns)}) values ({placeholders})",
                     ([{**row, **change}[c] for c in columns] for change in changes))


class LargeGuild:
    """A world with `count` members in one guild, with a token each."""

    def __init__(self, bench, count):
        self.folder = os.path.join(bench.folder, f"guild-{count}")
        self.tokens = self.folder + "-tokens"
        names = [f"p{i}" for i in range(count)]
        world = {"users": [{"username": name} for name in names],
                 "guilds": [{"name": "Everybody", "owner": names[0],
                             "members": [{"user": name} for name in names[1:]],
                             "roles": [{"name": f"Role {i}"} for i in range(5)],
                             "channels": [{"name": f"room-{i}"} for i in range(10)]}]}
        tokens = list(import_world(bench, self.folder, world).values())
        if len(tokens) != count:
            raise Failed(f"{len(tokens)} tokens for {count} people")
        with open(self.tokens, "w", encoding="ascii") as f:
            f.write("\n".join(tokens) + "\n")
        self.owner = tokens[0]
        self.channel = None

    def add_offline_members(self, count):
        """Inserts members who never connect, as copies of the last one with other names."""
        with sqlite3.connect(os.path.join(self.folder, "guildhall.db")) as rows:
            member_count, last = rows.execute("select count(*), max(user_id) from members").fetchone()
            more = [(last + n, f"q{n}") for n in range(1, count - member_count + 1)]
            copy_row(rows, "users", "id", last, [{"id": i, "username": name} for i, name in more])
            copy_row(rows, "members", "user_id", last, [{"user_id": i} for i, _ in more])
            rows.execute("update guilds set member_count = ?", (count,))

    def serve(self, bench, *flags):
        server = bench.kill_at_end(start_guildhall(bench.guildhall, self.folder, "--loops", "1", *flags,
                                                   cpu=bench.server_cpu))
        if not self.channel:
            client = Client(server.port, self.owner)
            _, guilds = client.call("GET", "/users/@me/guilds")
            _, channels = client.call("GET", f"/guilds/{guilds[0]['id']}/channels")
            client.close()
            self.channel = channels[0]["id"]
        return server

    def start_bare_server(self, bench, server, path, *flags):
        """Starts the bare server with the captured bytes of the real one."""
        wire = Wire(server.port, path, self.owner)
        client = Client(server.port, self.owner)
        status, _ = client.call("POST", f"/channels/{self.channel}/messages",
                                {"content": "Who is coming to the workshop tonight?"})
        if status != 200:
            raise Failed(f"the message was answered {status}")
        client.close()
        files = {"answer": wire.handshake, "ready": wire.ready, "fanout": wire.frame()}
        wire.send(HEARTBEAT)
        files["beat"] = wire.frame()
        wire.close()
        command = [bench.tool("floor"), *flags]
        for name, data in files.items():
            at = os.path.join(bench.folder, f"floor-{name}")
            with open(at, "wb") as f:
                f.write(data)
            command += [f"--{name}", at]
        self.ready_size, self.event_size = len(files["ready"]), len(files["fanout"])
        return bench.kill_at_end(Process(command, cpu=bench.server_cpu))


def cpu_ns_of_command(process, group, what):
    """Returns the processor time of the process for a command of the sessions."""
    before, _ = process.cpu_ns()
    group.run_command(what)
    return process.cpu_ns()[0] - before


class Sessions:
    """The benchmark rows, in the order of their dependencies."""

    def __init__(self, bench, quick):
        self.count = ALL_SESSIONS
        self.rounds = 3 if quick else 5
        self.posts = 4 if quick else 8
        self.world = None

    def rows(self):
        return [("sessions: memory", self.row_memory),
                ("sessions: memory, zlib-stream", self.row_memory_compressed),
                ("sessions: memory, TLS", self.row_memory_tls),
                ("sessions: identify", self.row_identify),
                ("sessions: identify, guilds", self.row_identify_guilds),
                ("sessions: resume", self.row_resume),
                ("sessions: events", self.row_events),
                ("sessions: events, zlib-stream", self.row_events_compressed),
                ("sessions: events, TLS", self.row_events_tls),
                ("sessions: events, large guild", self.row_large)]

    def get_world(self, bench):
        if not self.world:
            self.world = LargeGuild(bench, self.count)
        return self.world

    # --- idle sessions ----------------------------------------------------------------------------

    def measure_memory(self, bench, path, name, limit, with_heartbeats):
        world = self.get_world(bench)
        server = world.serve(bench)
        bare_server = group = None
        try:
            if with_heartbeats:
                bare_server = world.start_bare_server(bench, server, path)
            self.connect_all_once(bench, server, path, world)
            before = server.memory("RssAnon")
            group = SessionGroup(bench, server.port, path, self.count, world)
            time.sleep(0.5)
            each = (server.memory("RssAnon") - before) / (self.count - WARM_UP_SESSIONS)
            bench.report.add(f"heap of an idle session{name} (of 10,000)", each / 1024, "KiB",
                             ("<=", limit), {"VmRSS MiB": server.memory("VmRSS") / 2**20})
            if with_heartbeats:
                self.measure_heartbeats(bench, world, (server, group), bare_server)
        finally:
            if group:
                group.close()
            if bare_server:
                bare_server.kill()
            server.kill()

    def connect_all_once(self, bench, server, path, world):
        """Lets all users connect and disconnect in groups, so that caches of accounts up to their limits do
        not count as session memory."""
        with open(world.tokens, encoding="ascii") as f:
            tokens = f.read().split()
        for i in range(0, len(tokens), WARM_UP_SESSIONS):
            with tempfile.NamedTemporaryFile("w", encoding="ascii", dir=bench.folder) as some:
                some.write("\n".join(tokens[i:i + WARM_UP_SESSIONS]) + "\n")
                some.flush()
                SessionGroup(bench, server.port, path, WARM_UP_SESSIONS, world, tokens=some.name).close()
        time.sleep(0.5)

    def measure_heartbeats(self, bench, world, held, bare_server):
        """Measures heartbeats in turn with a bare server that sends as many bytes to as many sockets at
        the same pace."""
        bare = bare_server, SessionGroup(bench, bare_server.port, GATEWAY_PATH, self.count, world)
        ran, waited, count, took = ({held: 0, bare: 0} for _ in range(4))
        for both in (held, bare, bare, held):
            process, group = both
            before, began = process.cpu_ns(), time.monotonic()
            count[both] += group.run_command("beat 5")["messages"]
            took[both] += time.monotonic() - began
            after = process.cpu_ns()
            ran[both] += after[0] - before[0]
            waited[both] += after[1] - before[1]
        bare[1].close()
        each = {both: ran[both] / count[both] / 1e3 for both in (held, bare)}
        # This figure is no ratio: it does not count if other processes took the caches.
        waited_share = waited[held] / ran[held]
        bench.report.add("heartbeats of 10,000 sessions", ran[held] / 1e7 / took[held], "% of a core", ("<=", 1),
                         {"beats/s": count[held] / took[held], "us": each[held],
                          "floor %": ran[bare] / 1e7 / took[bare]},
                         noisy=f"waited {waited_share:.1f} times as long" if waited_share > 0.5 else None)
        # Most of the cost is in the kernel: a wake-up, a read and a write.
        bench.report.add("a heartbeat of one of 10,000 sessions", each[held] / each[bare], "x floor", None,
                         {"server us": each[held], "floor us": each[bare]})

    def row_memory(self, bench):
        self.measure_memory(bench, GATEWAY_PATH, "", 4, True)

    def row_memory_compressed(self, bench):
        self.measure_memory(bench, COMPRESSED_GATEWAY_PATH, ", zlib-stream", 24, False)

    def row_memory_tls(self, bench):
        world, secret = self.get_world(bench), make_certificate(bench)
        server = bench.kill_at_end(start_guildhall(bench.guildhall, world.folder, "--loops", "1",
                                                   "--tls-cert", secret[0], "--tls-key", secret[1],
                                                   cpu=bench.server_cpu))
        with open(world.tokens, encoding="ascii") as f:
            tokens = f.read().split()
        try:
            warm = tls_wires(server, tokens[:20])
            for wire in warm:
                end_session(wire)
            time.sleep(0.5)
            before = server.memory("RssAnon")
            held = tls_wires(server, tokens[:TLS_SESSIONS])
            time.sleep(0.5)
            each = (server.memory("RssAnon") - before) / TLS_SESSIONS
            for wire in held:
                wire.close()
        finally:
            server.kill()
        bench.report.add(f"heap of an idle session over TLS (of {TLS_SESSIONS:,})", each / 1024, "KiB", ("<=", 6), {})

    # --- beginning ------------------------------------------------------------------------------

    def row_identify(self, bench):
        """Measures from the connection to READY, for members of a guild of ten thousand."""
        world = self.get_world(bench)
        server = world.serve(bench)
        bare_server = world.start_bare_server(bench, server, GATEWAY_PATH)
        times = {server: [], bare_server: []}
        count = 500
        try:
            for number in range(self.rounds + 1):
                for process in (server, bare_server) if number % 2 else (bare_server, server):
                    before, _ = process.cpu_ns()
                    group = SessionGroup(bench, process.port, GATEWAY_PATH, count, world)
                    times[process].append((process.cpu_ns()[0] - before) / count)
                    group.close()
                    time.sleep(0.3)
            ours, least = (statistics.median(times[p][1:]) for p in (server, bare_server))
            bench.report.add("Identify to READY", ours / least, "x floor", ("<=", 3),
                             {"server us": ours / 1e3, "floor us": least / 1e3,
                              "READY bytes": world.ready_size})
        finally:
            server.kill()
            bare_server.kill()

    def row_identify_guilds(self, bench):
        """Measures a user without other connected members: permissions are computed each time."""
        for guilds, times, limit in ((1, 200, 0.04), (100, 20, 10)):
            user = UserInGuilds(bench, guilds)
            server = bench.kill_at_end(start_guildhall(bench.guildhall, user.folder, "--loops", "1",
                                                       cpu=bench.server_cpu))
            try:
                rounds = []
                for _ in range(self.rounds + 1):
                    before, _ = server.cpu_ns()
                    for _ in range(times):
                        wire = Wire(server.port, GATEWAY_PATH, user.token)
                        end_session(wire)
                    rounds.append((server.cpu_ns()[0] - before) / times / 1e6)
                bench.report.add(f"Identify to READY, {guilds} guild{'s' if guilds > 1 else ''} of 21",
                                 statistics.median(rounds[1:]), "ms", ("<=", limit),
                                 {"READY bytes": len(wire.ready)})
            finally:
                server.kill()

    def row_resume(self, bench):
        """All sessions lose their sockets at once and resume, including the connection cost."""
        world = self.get_world(bench)
        server = world.serve(bench)
        group = None
        try:
            group = SessionGroup(bench, server.port, GATEWAY_PATH, self.count, world)
            each = [cpu_ns_of_command(server, group, "resume 1") / self.count for _ in range(self.rounds)]
            bench.report.add("a session that resumes (of 10,000 at once)",
                             statistics.median(each) / 1e3, "us", ("<=", 30), {})
        finally:
            if group:
                group.close()
            server.kill()

    # --- events -----------------------------------------------------------------------------------

    def cost_per_event(self, bench, process, path, world, count, posts, alive, tls=False):
        """Returns the processor time of one POST and its event at `count` sessions."""
        group = SessionGroup(bench, process.port, path, count, world, tls)
        rounds = []
        try:
            group.run_command("post 1")
            for _ in range(self.rounds):
                if alive:
                    group.run_command("alive")
                rounds.append(cpu_ns_of_command(process, group, f"post {posts}") / posts)
        finally:
            group.close()
        time.sleep(0.5)
        return statistics.median(rounds)

    def measure_events(self, bench, path, name, limit, secret=None):
        world = self.get_world(bench)
        server = world.serve(bench, *(["--tls-cert", secret[0], "--tls-key", secret[1]] if secret else []))
        flags = ["--cert", secret[0], "--key", secret[1]] if secret else []
        bare_server = world.start_bare_server(bench, server, path, *flags)
        try:
            figures = {}
            for process in (server, bare_server):
                def cost(count, posts):
                    return self.cost_per_event(bench, process, path, world, count, posts, process is server,
                                               bool(secret))
                # The cost of the POST itself is subtracted.
                alone, few, many = cost(1, 200), cost(FEW_SESSIONS, 200), cost(self.count, self.posts)
                figures[process] = ((few - alone) / (FEW_SESSIONS - 1), (many - alone) / (self.count - 1),
                                    alone)
            (few, many, alone), (few_least, least, _) = figures[server], figures[bare_server]
            bench.report.add(f"an event{name}, 10,000 sessions in a guild", many / least,
                             "x write loop", ("<=", limit),
                             {"server us": many / 1e3, "floor us": least / 1e3,
                              "event bytes": world.event_size, "POST us": alone / 1e3})
            bench.report.add(f"an event{name} at one of 10,000 sessions", many / few,
                             "x one of 100", ("<=", 1.2),
                             {"of 10,000 us": many / 1e3, "of 100 us": few / 1e3})
            # The bare loop also slows down, because ten thousand sockets do not fit the caches.
            bench.report.add(f"the same{name}, of the bare write loop", least / few_least,
                             "x one of 100", None,
                             {"of 10,000 us": least / 1e3, "of 100 us": few_least / 1e3})
        finally:
            server.kill()
            bare_server.kill()

    def row_events(self, bench):
        self.measure_events(bench, GATEWAY_PATH, "", 1.12)

    def row_events_compressed(self, bench):
        self.measure_events(bench, COMPRESSED_GATEWAY_PATH, ", zlib-stream", 1.15)

    def row_events_tls(self, bench):
        """Compares with OpenSSL in a loop."""
        self.measure_events(bench, GATEWAY_PATH, " over TLS", 1.3, make_certificate(bench))

    # --- a large guild ----------------------------------------------------------------------------

    def row_large(self, bench):
        """Measures a guild of 100,000 with as many sessions as a process may have sockets."""
        count = min(19_000, resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 1000)
        world = LargeGuild(bench, count)
        world.add_offline_members(LARGE_GUILD_MEMBERS)
        server = world.serve(bench)
        bare_server = world.start_bare_server(bench, server, GATEWAY_PATH)
        try:
            each = {}
            for process in (server, bare_server):
                alone = self.cost_per_event(bench, process, GATEWAY_PATH, world, 1, 50, process is server)
                many = self.cost_per_event(bench, process, GATEWAY_PATH, world, count, self.posts, process is server)
                each[process] = (many - alone) / (count - 1)
            bench.report.add(f"an event, {count:,} sessions of a guild of {LARGE_GUILD_MEMBERS:,}",
                             each[server] / each[bare_server], "x write loop", ("<=", 1.15),
                             {"server us": each[server] / 1e3, "floor us": each[bare_server] / 1e3})
        finally:
            server.kill()
            bare_server.kill()
        self.measure_guild_view(bench, world, self.get_world(bench))

    def measure_guild_view(self, bench, large, small):
        """Returns the memory of the guild's view: servers with one session of each world differ
        only in it."""
        memory = {}
        for world in (large, small):
            server = world.serve(bench)
            try:
                group = SessionGroup(bench, server.port, GATEWAY_PATH, 1, world)
                group.run_command("post 1")
                memory[world] = server.memory("RssAnon")
                group.close()
            finally:
                server.kill()
        each = (memory[large] - memory[small]) / (LARGE_GUILD_MEMBERS - self.count)
        bench.report.add(f"a guild's view, {LARGE_GUILD_MEMBERS:,} members", each, "bytes a member",
                         ("<=", 32), {"MiB": memory[large] / 2**20})

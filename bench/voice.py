"""Benchmark rows about voice: the cost of a join for its listeners, and durable joins per
second."""

import json
import os
import statistics
import struct
import subprocess
import time

from process import Client, Failed, Process, start_guildhall
from sessions import PLAIN, Crowd, Wire

CROWD = 5_000
JOINERS = 8
SESSIONS = 64
TURNS = 100  # per session; the gateway accepts 120 messages per minute


def import_world(bench, folder, world, *flags):
    """Imports a world; returns the tokens of its users in order."""
    done = subprocess.run([bench.guildhall, "import", "-", "--data", folder, "--tokens", *flags],
                          input=json.dumps(world), capture_output=True, text=True, timeout=300)
    if done.returncode:
        raise Failed(done.stderr.strip())
    printed = dict(line.split()[-2:] for line in done.stdout.splitlines() if len(line.split()) == 2)
    return [printed[user["username"]] for user in world["users"]]


def guild_with(name, owner, members=()):
    return {"name": name, "owner": owner, "members": [{"user": m} for m in members],
            "channels": [{"name": "talk"}, {"name": "voice", "type": "voice"}]}


def place_of(port, token):
    """Returns a guild of this account and its voice channel."""
    client = Client(port, token)
    _, guilds = client.call("GET", "/users/@me/guilds")
    _, channels = client.call("GET", f"/guilds/{guilds[0]['id']}/channels")
    client.close()
    return guilds[0]["id"], next(c["id"] for c in channels if c["type"] == 2)


def ask(wire, guild, channel):
    text = json.dumps({"op": 4, "d": {"guild_id": guild, "channel_id": channel}})
    head = struct.pack(">BBH4x", 0x81, 0x80 | 126, len(text)) if len(text) > 125 else \
        struct.pack(">BB4x", 0x81, 0x80 | len(text))
    wire.socket.sendall(head + text.encode())


class Hall:
    """Five thousand members of one guild, and some more who join its voice channel."""

    def __init__(self, bench):
        self.folder = os.path.join(bench.folder, "hall")
        self.tokens = os.path.join(bench.folder, "hall-tokens")
        names = [f"p{i}" for i in range(CROWD + JOINERS)]
        tokens = import_world(bench, self.folder,
                              {"users": [{"username": name} for name in names],
                               "guilds": [guild_with("Hall", names[0], names[1:])]})
        with open(self.tokens, "w", encoding="ascii") as f:
            f.write("\n".join(tokens[:CROWD]) + "\n")
        self.owner, self.joiners, self.channel = tokens[0], tokens[CROWD:], "0"
        self.guild = self.voice = None

    def serve(self, bench):
        server = bench.watch(start_guildhall(bench.guildhall, self.folder, "--loops", "1",
                                             cpu=bench.server_cpu))
        self.guild, self.voice = place_of(server.port, self.owner)
        return server

    def floor(self, bench, server):
        """Starts the bare server with the captured bytes of the real one."""
        listener, joiner = (Wire(server.port, PLAIN, token)
                            for token in (self.owner, self.joiners[0]))
        ask(joiner, self.guild, self.voice)
        event = listener.frame()
        if b'"VOICE_STATE_UPDATE"' not in event:
            raise Failed("the join event was not delivered")
        command = [bench.tool("floor")]
        for name, data in (("answer", listener.handshake), ("ready", listener.ready),
                           ("fanout", event)):
            at = os.path.join(bench.folder, f"voice-{name}")
            with open(at, "wb") as f:
                f.write(data)
            command += [f"--{name}", at]
        self.event_size = len(event)
        ask(joiner, self.guild, None)
        listener.frame()
        listener.close()
        joiner.close()
        return bench.watch(Process(command, cpu=bench.server_cpu))


class Voice:
    """The rows."""

    def __init__(self, bench, quick):
        self.rounds = 3 if quick else 5

    def rows(self):
        return [("voice: joins in a crowd", self.row_crowd), ("voice: durable", self.row_durable),
                ("voice: carried", self.row_carried), ("voice: large rooms", self.row_large),
                ("voice: a camera at its limit", self.row_camera),
                ("voice: browsers join at once", self.row_browsers)]

    # --- the relay -----------------------------------------------------------------------------

    def carry(self, bench, kind, rooms, speakers, listeners, seconds=2, other=()):
        """Runs all participants in one process, with the relay ("ours") or a minimal loop
        ("bare"). other: the load in another room, viewers and packets per second of a camera, or
        "browsers" and how many join."""
        command = [bench.tool("relay"), kind, rooms, speakers, listeners, seconds, *other]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=120, check=False)
        if done.returncode:
            raise Failed(done.stderr.strip())
        return json.loads(done.stdout)

    def row_carried(self, bench):
        for name, shape in (("rooms of 5", (100, 1, 4)), ("a room of 103", (1, 3, 100))):
            rounds = [[self.carry(bench, kind, *shape) for kind in ("ours", "bare")]
                      for _ in range(self.rounds)]
            ours, bare = (statistics.median(r[i]["cpu_ns"] for r in rounds) for i in (0, 1))
            bench.report.add(f"a forwarded packet of voice, {name}", ours / bare, "x bare loop",
                             ("<=", 1.3), {"relay us": ours / 1e3, "bare us": bare / 1e3})
        rooms = max(1, int(0.5 * 1e9 / ours / (50 * 4)))  # half of the capacity of a core
        half = self.carry(bench, "ours", rooms, 1, 4, 3)
        bench.report.add("added delay at half load, p99", half["p99_us"] / 1e3, "ms", ("<=", 2.0),
                         {"p50 ms": half["p50_us"] / 1e3, "rooms of 5": rooms,
                          "busy": half["busy"], "lost": half["lost"]})

    def row_large(self, bench):
        for name, shape in (("3 speakers, 1,000 listeners", (1, 3, 1000)),
                            ("500 rooms of 5", (500, 1, 4))):
            done = self.carry(bench, "ours", *shape, 5)
            bench.report.add(f"packets of {name} that were lost", done["lost"], "packets",
                             ("<=", 0), {"packets": done["out"], "busy": done["busy"],
                                         "p99 ms": done["p99_us"] / 1e3,
                                         "not read by the relay": done["overrun"],
                                         "not taken by the kernel": done["unsent"],
                                         "not read by the load": done["missed"]})
        each = self.carry(bench, "ours", 2000, 0, 5, 1)["bytes_each"]
        bench.report.add("an idle participant of a voice room", each, "bytes", ("<=", 8192), {})
        each = self.carry(bench, "ours", 1, 0, 1003, 1)["bytes_each"]
        bench.report.add("the same in a room of 1,003 that acknowledges nothing", each, "bytes",
                         ("<=", 8192), {})

    def row_camera(self, bench):
        """Rooms next to a camera with 500 viewers that sends as much as a sender may."""
        alone, beside = ([self.carry(bench, "ours", 100, 1, 4, 3, camera)
                          for _ in range(self.rounds)] for camera in ((), (500, 4000)))
        sent = sum(4 * done["in"] for done in beside)
        bench.report.add("packets lost next to a camera at its limit",
                         100 * sum(done["lost"] for done in beside) / sent, "%", ("<=", 0.5),
                         {"packets": sent})
        quiet, busy = (statistics.median(done["p99_us"] for done in runs) / 1e3
                       for runs in (alone, beside))
        bench.report.add("added delay next to it, p99", busy - quiet, "ms", ("<=", 5.0),
                         {"alone ms": quiet, "next to it ms": busy})

    def row_browsers(self, bench):
        """Rooms next to a room that 500 browsers join at once, each with a DTLS handshake."""
        runs = [self.carry(bench, "ours", 100, 1, 4, 3, ("browsers", 500))
                for _ in range(self.rounds)]
        if any(done["browsers"] != 500 or done["lost"] for done in runs):
            raise Failed("a browser was not connected, or packets were lost")
        longest = [20 + done["longest_us"] / 1e3 for done in runs]
        bench.report.add("longest gap in the sound while 500 browsers join, median of runs",
                         statistics.median(longest), "ms", ("<=", 100),
                         {"longest of all runs ms": max(longest), "until all are connected ms":
                          statistics.median(done["connected_ms"] for done in runs)})

    # --- many listeners ------------------------------------------------------------------------

    def joins(self, bench, server, hall, count):
        """Returns the processor time of one join with `count` listening sessions."""
        wires = [Wire(server.port, PLAIN, token) for token in hall.joiners]
        crowd = Crowd(bench, server.port, PLAIN, count, hall)
        rounds = []
        try:
            for number in range(self.rounds + 1):
                crowd.ask("alive")
                for channel in (hall.voice, None):
                    before, _ = server.cpu_ns()
                    for wire in wires:
                        ask(wire, hall.guild, channel)
                    crowd.ask(f"await {JOINERS}")
                    if channel and number:
                        rounds.append((server.cpu_ns()[0] - before) / JOINERS)
                time.sleep(1.3)  # until the voice server event may be sent again
        finally:
            crowd.end()
            for wire in wires:
                wire.close()
        time.sleep(0.5)
        return statistics.median(rounds)

    def posts(self, bench, floor, hall, count, posts):
        crowd = Crowd(bench, floor.port, PLAIN, count, hall)
        rounds = []
        try:
            crowd.ask("post 1")
            for _ in range(self.rounds):
                before, _ = floor.cpu_ns()
                crowd.ask(f"post {posts}")
                rounds.append((floor.cpu_ns()[0] - before) / posts)
        finally:
            crowd.end()
        return statistics.median(rounds)

    def row_crowd(self, bench):
        hall = Hall(bench)
        server = hall.serve(bench)
        floor = None
        try:
            floor = hall.floor(bench, server)
            alone, many = (self.joins(bench, server, hall, count) for count in (1, CROWD))
            one, least = self.posts(bench, floor, hall, 1, 100), \
                self.posts(bench, floor, hall, CROWD, JOINERS)
            ours, least = (many - alone) / (CROWD - 1), (least - one) / (CROWD - 1)
            bench.report.add("a join, heard by 5,000 sessions of a guild", ours / least,
                             "x write loop", ("<=", 1.6),
                             {"server us": ours / 1e3, "floor us": least / 1e3,
                              "event bytes": hall.event_size, "join us": alone / 1e3})
        finally:
            server.kill()
            if floor:
                floor.kill()

    # --- on the disk ----------------------------------------------------------------------------

    def turns(self, bench, port, tokens, count):
        """Returns the joins and leaves per second of sessions that do nothing else."""
        class Places:
            channel, owner = "0", "nobody"
        Places.tokens = tokens
        crowd = Crowd(bench, port, PLAIN, count, Places)
        try:
            began = time.monotonic()
            done = crowd.ask(f"voice {TURNS}")
            return done["messages"], time.monotonic() - began
        finally:
            crowd.end()

    def row_durable(self, bench):
        folder, tokens = (os.path.join(bench.folder, name) for name in ("rooms", "rooms-tokens"))
        names = [f"p{i}" for i in range(SESSIONS)]
        found = import_world(bench, folder, {"users": [{"username": name} for name in names],
                                             "guilds": [guild_with(f"Of {n}", n) for n in names]})
        tally = os.path.join(bench.folder, "voice-tally")
        for slow in (False, True):
            env = {"LD_PRELOAD": bench.tool("slow_sync.so"), "SLOW_SYNC_US": "2000",
                   "SLOW_SYNC_FILE": tally} if slow else None
            server = bench.watch(start_guildhall(bench.guildhall, folder, env=env))
            try:
                with open(tokens, "w", encoding="ascii") as f:
                    for token in found:
                        f.write(" ".join([token, *place_of(server.port, token)]) + "\n")
                if slow:
                    self.slow_syncs(bench, server, tokens, tally)
                else:
                    self.fast_syncs(bench, server, tokens)
            finally:
                server.kill()

    def fast_syncs(self, bench, server, tokens):
        rates, syncs = [], []
        for _ in range(self.rounds):
            done, took = self.turns(bench, server.port, tokens, SESSIONS)
            rates.append(done / took)
            single = subprocess.run([bench.tool("syncs"), bench.data, str(bench.seconds)],
                                    capture_output=True, text=True, check=True)
            syncs.append(json.loads(single.stdout)["per_second"])
        rate, single = statistics.median(rates), statistics.median(syncs)
        bench.report.add("joining and leaving voice, 64 sessions", rate / single, "x syncs/s",
                         (">=", 1.0), {"changes/s": rate, "append+fdatasync/s": single})

    def slow_syncs(self, bench, server, tokens, tally):
        def calls():
            with open(tally, "rb") as f:
                return struct.unpack("=QQ", f.read(16))
        for count in (SESSIONS, 1):
            (before, spent), (done, took) = calls(), self.turns(bench, server.port, tokens, count)
            syncs, each = calls()[0] - before, calls()[1] - spent
            if not syncs:
                raise Failed("voice changed without a single sync")
            if count > 1:
                bench.report.add("changes in voice per sync, syncs 2 ms slower, 64 sessions",
                                 done / syncs, "changes/sync", (">=", 10),
                                 {"changes/s": done / took, "syncs": syncs})
            else:
                bench.report.add("one session alone, syncs 2 ms slower",
                                 took / done / (each / syncs / 1e9), "syncs waited", ("<=", 1.5),
                                 {"change us": took / done * 1e6, "sync us": each / syncs / 1e3,
                                  "syncs/change": syncs / done})

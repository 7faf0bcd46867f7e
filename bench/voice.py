"""Benchmark rows about voice: the cost of a join for its listeners, and durable joins per
second."""

import json
import os
import statistics
import struct
import subprocess
import time

from process import Client, Failed, Process, start_guildhall
from sessions import GATEWAY_PATH, SessionGroup, Wire

LISTENERS = 5_000
JOINERS = 8
SESSIONS = 64
CHANGES_PER_SESSION = 100  # the gateway accepts 120 messages per minute


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


def guild_and_voice_channel_of(port, token):
    """Returns a guild of this account and its voice channel."""
    client = Client(port, token)
    _, guilds = client.call("GET", "/users/@me/guilds")
    _, channels = client.call("GET", f"/guilds/{guilds[0]['id']}/channels")
    client.close()
    return guilds[0]["id"], next(c["id"] for c in channels if c["type"] == 2)


def send_voice_state_update(wire, guild, channel):
    text = json.dumps({"op": 4, "d": {"guild_id": guild, "channel_id": channel}})
    head = struct.pack(">BBH4x", 0x81, 0x80 | 126, len(text)) if len(text) > 125 else \
        struct.pack(">BB4x", 0x81, 0x80 | len(text))
    wire.socket.sendall(head + text.encode())


class VoiceGuild:
    """Five thousand members of one guild, and some more who join its voice channel."""

    def __init__(self, bench):
        self.folder = os.path.join(bench.folder, "voice-guild")
        self.tokens = os.path.join(bench.folder, "voice-guild-tokens")
        names = [f"p{i}" for i in range(LISTENERS + JOINERS)]
        tokens = import_world(bench, self.folder,
                              {"users": [{"username": name} for name in names],
                               "guilds": [guild_with("Hall", names[0], names[1:])]})
        with open(self.tokens, "w", encoding="ascii") as f:
            f.write("\n".join(tokens[:LISTENERS]) + "\n")
        self.owner, self.joiners, self.channel = tokens[0], tokens[LISTENERS:], "0"
        self.guild = self.voice = None

    def serve(self, bench):
        server = bench.kill_at_end(start_guildhall(bench.guildhall, self.folder, "--loops", "1",
                                                   cpu=bench.server_cpu))
        self.guild, self.voice = guild_and_voice_channel_of(server.port, self.owner)
        return server

    def start_bare_server(self, bench, server):
        """Starts the bare server with the captured bytes of the real one."""
        listener, joiner = (Wire(server.port, GATEWAY_PATH, token)
                            for token in (self.owner, self.joiners[0]))
        send_voice_state_update(joiner, self.guild, self.voice)
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
        send_voice_state_update(joiner, self.guild, None)
        listener.frame()
        listener.close()
        joiner.close()
        return bench.kill_at_end(Process(command, cpu=bench.server_cpu))


class Voice:
    """The benchmark rows."""

    def __init__(self, bench, quick):
        self.rounds = 3 if quick else 5

    def rows(self):
        return [("voice: joins with 5,000 listeners", self.row_many_listeners), ("voice: durable", self.row_durable),
                ("voice: forwarded", self.row_forwarded), ("voice: large rooms", self.row_large),
                ("voice: a camera at its limit", self.row_camera),
                ("voice: browsers join at once", self.row_browsers)]

    # --- the relay -----------------------------------------------------------------------------

    def run_relay(self, bench, kind, rooms, speakers, listeners, seconds=2, other=()):
        """Runs all participants in one process, with the relay ("ours") or a minimal loop
        ("bare"). other: the load in another room, viewers and packets per second of a camera, or
        "browsers" and how many join."""
        command = [bench.tool("relay"), kind, rooms, speakers, listeners, seconds, *other]
        done = subprocess.run([str(word) for word in command], capture_output=True, text=True,
                              timeout=120, check=False)
        if done.returncode:
            raise Failed(done.stderr.strip())
        return json.loads(done.stdout)

    def row_forwarded(self, bench):
        for name, shape in (("rooms of 5", (100, 1, 4)), ("a room of 103", (1, 3, 100))):
            rounds = [[self.run_relay(bench, kind, *shape) for kind in ("ours", "bare")]
                      for _ in range(self.rounds)]
            ours, bare = (statistics.median(r[i]["cpu_ns"] for r in rounds) for i in (0, 1))
            bench.report.add(f"a forwarded packet of voice, {name}", ours / bare, "x bare loop",
                             ("<=", 1.3), {"relay us": ours / 1e3, "bare us": bare / 1e3})
        rooms = max(1, int(0.5 * 1e9 / ours / (50 * 4)))  # half of the capacity of a core
        half = self.run_relay(bench, "ours", rooms, 1, 4, 3)
        bench.report.add("added delay at half load, p99", half["p99_us"] / 1e3, "ms", ("<=", 2.0),
                         {"p50 ms": half["p50_us"] / 1e3, "rooms of 5": rooms,
                          "busy": half["busy"], "lost": half["lost"]})

    def row_large(self, bench):
        for name, shape in (("3 speakers, 1,000 listeners", (1, 3, 1000)),
                            ("500 rooms of 5", (500, 1, 4))):
            done = self.run_relay(bench, "ours", *shape, 5)
            bench.report.add(f"packets of {name} that were lost", done["lost"], "packets",
                             ("<=", 0), {"packets": done["out"], "busy": done["busy"],
                                         "p99 ms": done["p99_us"] / 1e3,
                                         "not read by the relay": done["overrun"],
                                         "not taken by the kernel": done["unsent"],
                                         "not read by the load": done["missed"]})
        each = self.run_relay(bench, "ours", 2000, 0, 5, 1)["bytes_each"]
        bench.report.add("an idle participant of a voice room", each, "bytes", ("<=", 8192), {})
        each = self.run_relay(bench, "ours", 1, 0, 1003, 1)["bytes_each"]
        bench.report.add("the same in a room of 1,003 that acknowledges nothing", each, "bytes",
                         ("<=", 8192), {})

    def row_camera(self, bench):
        """Rooms next to a camera with 500 viewers that sends as much as a sender may."""
        alone, during = ([self.run_relay(bench, "ours", 100, 1, 4, 3, camera)
                          for _ in range(self.rounds)] for camera in ((), (500, 4000)))
        sent = sum(4 * done["in"] for done in during)
        bench.report.add("packets lost next to a camera at its limit",
                         100 * sum(done["lost"] for done in during) / sent, "%", ("<=", 0.5),
                         {"packets": sent})
        quiet, busy = (statistics.median(done["p99_us"] for done in runs) / 1e3
                       for runs in (alone, during))
        bench.report.add("added delay next to it, p99", busy - quiet, "ms", ("<=", 5.0),
                         {"alone ms": quiet, "next to it ms": busy})

    def row_browsers(self, bench):
        """Rooms next to a room that 500 browsers join at once, each with a DTLS handshake."""
        runs = [self.run_relay(bench, "ours", 100, 1, 4, 3, ("browsers", 500))
                for _ in range(self.rounds)]
        if any(done["browsers"] != 500 or done["lost"] for done in runs):
            raise Failed("a browser was not connected, or packets were lost")
        longest = [20 + done["longest_us"] / 1e3 for done in runs]
        bench.report.add("longest gap in the sound while 500 browsers join, median of runs",
                         statistics.median(longest), "ms", ("<=", 100),
                         {"longest of all runs ms": max(longest), "until all are connected ms":
                          statistics.median(done["connected_ms"] for done in runs)})

    # --- many listeners ------------------------------------------------------------------------

    def cost_of_join(self, bench, server, voice_guild, count):
        """Returns the processor time of one join with `count` listening sessions."""
        wires = [Wire(server.port, GATEWAY_PATH, token) for token in voice_guild.joiners]
        group = SessionGroup(bench, server.port, GATEWAY_PATH, count, voice_guild)
        rounds = []
        try:
            for number in range(self.rounds + 1):
                group.run_command("alive")
                for channel in (voice_guild.voice, None):
                    before, _ = server.cpu_ns()
                    for wire in wires:
                        send_voice_state_update(wire, voice_guild.guild, channel)
                    group.run_command(f"await {JOINERS}")
                    if channel and number:
                        rounds.append((server.cpu_ns()[0] - before) / JOINERS)
                time.sleep(1.3)  # until the voice server event may be sent again
        finally:
            group.close()
            for wire in wires:
                wire.close()
        time.sleep(0.5)
        return statistics.median(rounds)

    def cost_of_bare_event(self, bench, bare_server, voice_guild, count, posts):
        group = SessionGroup(bench, bare_server.port, GATEWAY_PATH, count, voice_guild)
        rounds = []
        try:
            group.run_command("post 1")
            for _ in range(self.rounds):
                before, _ = bare_server.cpu_ns()
                group.run_command(f"post {posts}")
                rounds.append((bare_server.cpu_ns()[0] - before) / posts)
        finally:
            group.close()
        return statistics.median(rounds)

    def row_many_listeners(self, bench):
        voice_guild = VoiceGuild(bench)
        server = voice_guild.serve(bench)
        bare_server = None
        try:
            bare_server = voice_guild.start_bare_server(bench, server)
            alone, many = (self.cost_of_join(bench, server, voice_guild, count) for count in (1, LISTENERS))
            one, least = self.cost_of_bare_event(bench, bare_server, voice_guild, 1, 100), \
                self.cost_of_bare_event(bench, bare_server, voice_guild, LISTENERS, JOINERS)
            ours, least = (many - alone) / (LISTENERS - 1), (least - one) / (LISTENERS - 1)
            bench.report.add("a join, received by 5,000 sessions of a guild", ours / least,
                             "x write loop", ("<=", 1.6),
                             {"server us": ours / 1e3, "floor us": least / 1e3,
                              "event bytes": voice_guild.event_size, "join us": alone / 1e3})
        finally:
            server.kill()
            if bare_server:
                bare_server.kill()

    # --- on the disk ----------------------------------------------------------------------------

    def change_voice_states(self, bench, port, tokens, count):
        """Returns the joins and leaves per second of sessions that do nothing else."""
        class OnlyTokens:
            channel, owner = "0", "nobody"
        OnlyTokens.tokens = tokens
        group = SessionGroup(bench, port, GATEWAY_PATH, count, OnlyTokens)
        try:
            began = time.monotonic()
            done = group.run_command(f"voice {CHANGES_PER_SESSION}")
            return done["messages"], time.monotonic() - began
        finally:
            group.close()

    def row_durable(self, bench):
        folder, tokens = (os.path.join(bench.folder, name) for name in ("rooms", "rooms-tokens"))
        names = [f"p{i}" for i in range(SESSIONS)]
        found = import_world(bench, folder, {"users": [{"username": name} for name in names],
                                             "guilds": [guild_with(f"Of {n}", n) for n in names]})
        counts_file = os.path.join(bench.folder, "voice-tally")
        for slow in (False, True):
            env = {"LD_PRELOAD": bench.tool("slow_sync.so"), "SLOW_SYNC_US": "2000",
                   "SLOW_SYNC_FILE": counts_file} if slow else None
            server = bench.kill_at_end(start_guildhall(bench.guildhall, folder, env=env))
            try:
                with open(tokens, "w", encoding="ascii") as f:
                    for token in found:
                        f.write(" ".join([token, *guild_and_voice_channel_of(server.port, token)]) + "\n")
                if slow:
                    self.slow_syncs(bench, server, tokens, counts_file)
                else:
                    self.fast_syncs(bench, server, tokens)
            finally:
                server.kill()

    def fast_syncs(self, bench, server, tokens):
        rates, syncs = [], []
        for _ in range(self.rounds):
            done, took = self.change_voice_states(bench, server.port, tokens, SESSIONS)
            rates.append(done / took)
            single = subprocess.run([bench.tool("syncs"), bench.data, str(bench.seconds)],
                                    capture_output=True, text=True, check=True)
            syncs.append(json.loads(single.stdout)["per_second"])
        rate, single = statistics.median(rates), statistics.median(syncs)
        bench.report.add("joining and leaving voice, 64 sessions", rate / single, "x syncs/s",
                         (">=", 1.0), {"changes/s": rate, "append+fdatasync/s": single})

    def slow_syncs(self, bench, server, tokens, counts_file):
        def calls():
            with open(counts_file, "rb") as f:
                return struct.unpack("=QQ", f.read(16))
        for count in (SESSIONS, 1):
            (before, spent), (done, took) = calls(), self.change_voice_states(bench, server.port, tokens, count)
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

"""Counts the instructions per request with callgrind, in one server that gets all kinds of requests
in turn."""

import glob
import itertools
import json
import os
import re
import subprocess
import time
from typing import NamedTuple

from commands import plain_command, rich_command
from flame import LEAST, Graph, call_trees, svg_of
from process import Client, Failed, Process, register, serve_command, start_guildhall
from sessions import GATEWAY_PATH, Wire, end_session

MOST_PARTS = 12  # measure a row that seems slower at most this often


class Effort(NamedTuple):
    warm: int   # requests before the count
    times: int  # requests per part
    parts: int  # minimum number of counted parts


WHOLE = Effort(30, 30, 4)
QUICK = Effort(15, 12, 1)
# The rows that `make test` compares: reads, the most frequent write, a session and a fan-out.
QUICK_ROWS = {"GET /users/@me", "GET messages, 50", "POST message", "IDENTIFY to READY", "POST message, 20 sessions"}
FRIENDS = 20
RECORDED_ROWS = {"GET /gateway", "GET /users/@me"}  # also with --traffic: cost of the console's recording
QUIET = 100_000  # instructions in four seconds of an idle server
FIRST_MESSAGES = 250  # after this many messages, all one-time work of a server is done
# callgrind counts each byte that `rep movsb` copies as an instruction, and glibc copies long texts with it
# on x86: PUT of 128 KB counted 131,000 instructions too much. With these thresholds it uses vectors.
NO_REP = "glibc.cpu.x86_rep_movsb_threshold=1000000000:glibc.cpu.x86_rep_stosb_threshold=1000000000"
SLOW_CLOCK = os.path.join(os.path.dirname(os.path.dirname(os.path.abspath(__file__))),
                          "build/release/bench/slow_clock.so")


def call_checked(client, method, path, body=None):
    status, answer = client.call(method, path, body)
    if status >= 300:
        raise Failed(f"{method} {path} answered {status}: {str(answer)[:300]}")
    return answer


class SampleGuild:
    """A guild with messages, friends of its owner, and an app with commands."""

    def __init__(self, port):
        self.owner = register(port, "owner")
        client = Client(port, self.owner)
        guild = call_checked(client, "POST", "/guilds", {"name": "Counted"})["id"]
        channels = call_checked(client, "GET", f"/guilds/{guild}/channels")
        self.guild = guild
        self.channel = next(c["id"] for c in channels if c["type"] == 0)
        self.second_channel = call_checked(client, "POST", f"/guilds/{guild}/channels", {"name": "other"})["id"]
        for i in range(50):
            call_checked(client, "POST", f"/channels/{self.channel}/messages",
                         {"content": f"Number {i}: who is coming to the workshop tonight?"})
        app = call_checked(client, "POST", "/applications", {"name": "counter"})
        self.app = app["id"]
        self.bot = "Bot " + call_checked(client, "POST", f"/applications/{self.app}/bot/reset", {})["token"]
        client.token = self.bot
        call_checked(client, "PUT", f"/applications/{self.app}/commands",
                     [rich_command(i) for i in range(20)])
        self.friends = [register(port, f"friend{i}") for i in range(FRIENDS)]
        client.token = self.owner
        self.interaction = self.install(client)
        invite = call_checked(client, "POST", f"/channels/{self.channel}/invites", {})["code"]
        client.close()
        for token in self.friends:
            self.befriend(port, token, invite)

    def install(self, client):
        """Installs the app in the guild; returns the body that invokes its command."""
        call_checked(client, "POST", f"/oauth2/authorize?client_id={self.app}&scope=bot+applications.commands",
                     {"authorize": True, "guild_id": self.guild, "permissions": "0"})
        client.token = self.bot
        path = f"/applications/{self.app}/guilds/{self.guild}/commands"
        command = call_checked(client, "POST", path, plain_command(1))
        client.token = self.owner
        return {"type": 2, "application_id": self.app, "guild_id": self.guild, "channel_id": self.channel,
                "data": {"id": command["id"], "version": command["version"], "name": command["name"], "type": 1,
                         "options": []}}

    def befriend(self, port, token, invite):
        friend = Client(port, token)
        call_checked(friend, "POST", f"/invites/{invite}", {})
        call_checked(friend, "POST", "/users/@me/relationships", {"username": "owner"})
        own = call_checked(friend, "GET", "/users/@me")["id"]
        friend.token = self.owner
        call_checked(friend, "PUT", f"/users/@me/relationships/{own}",
                     {"confirm_stranger_request": True})
        friend.close()


class Counter:
    """Reads the instructions that callgrind counted in a process since the last dump."""

    def __init__(self, process, folder, effort, limits):
        self.process, self.folder, self.effort, self.limits = process, folder, effort, limits
        self.seen = set()
        self.written = None  # the file of the last count
        self.least = None    # the file of the smallest part of the last count

    def dump(self):
        subprocess.run(["callgrind_control", "--dump", str(self.process.pid)], check=True,
                       capture_output=True, timeout=120)
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            for path in set(glob.glob(os.path.join(self.folder, "calls.*"))) - self.seen:
                with open(path, encoding="ascii", errors="replace") as f:
                    total = re.search(r"^totals: (\d+)", f.read(), re.M)
                if total:
                    self.seen.add(path)
                    self.written = path
                    return int(total.group(1))
            time.sleep(0.02)
        raise Failed("callgrind wrote nothing")

    def wait_until_idle(self):
        """Waits until the server has no work left."""
        deadline = time.monotonic() + 120
        while self.dump() > QUIET and time.monotonic() < deadline:
            time.sleep(4)  # longer than all idle timers, on the slow clock

    def count_per_request(self, name, send_request):
        """Returns the instructions per request: the minimum of several parts, because periodic work (a
        timer, a checkpoint) falls into one of them. Above the row's limit, more parts are counted."""
        for _ in range(self.effort.warm):
            send_request()
        self.dump()
        counts, limit = [], self.limits.get(name, 0) * self.effort.times
        while len(counts) < self.effort.parts or (limit and min(counts)[0] > limit and len(counts) < MOST_PARTS):
            counts.append((self.count_part(send_request), self.written))
        count, self.least = min(counts)
        return round(count / self.effort.times)

    def count_part(self, send_request):
        for _ in range(self.effort.times):
            send_request()
        return self.dump()


def calls_of_rows(sample):
    """Returns client, method, path and body of each row."""
    talk, commands = f"/channels/{sample.channel}/messages", f"/applications/{sample.app}/commands"
    owner, bot = sample.owner, sample.bot
    return {
        "GET /gateway": (None, "GET", "/gateway"),
        "GET /voice/regions": (owner, "GET", "/voice/regions"),
        "GET /users/@me": (owner, "GET", "/users/@me"),
        "GET /users/@me/relationships, 20": (owner, "GET", "/users/@me/relationships"),
        "GET /users/@me/guilds": (owner, "GET", "/users/@me/guilds"),
        "GET guild": (owner, "GET", f"/guilds/{sample.guild}"),
        "GET channel": (owner, "GET", f"/channels/{sample.channel}"),
        "GET messages, 50": (owner, "GET", talk + "?limit=50"),
        "GET commands, 20 rich ones": (bot, "GET", commands),
        "PUT the same 20 commands": (bot, "PUT", commands, [rich_command(i) for i in range(20)]),
        "POST the same command": (bot, "POST", commands, plain_command(1)),
        "PATCH /users/@me": (owner, "PATCH", "/users/@me", {"global_name": "Owner"}),
        "POST message": (owner, "POST", talk, {"content": "Who is coming?"}),
    }


def post_first_messages(port, sample):
    """Posts the first messages, so that the checkpoint thread has opened the database."""
    client = Client(port, sample.owner, timeout=120)
    for i in range(FIRST_MESSAGES):
        call_checked(client, "POST", f"/channels/{sample.second_channel}/messages", {"content": f"Number {i}"})
    client.close()


def draw_flame(counter, name, folder):
    """Draws a flame graph next to the count."""
    graph = Graph(counter.least)
    nodes = call_trees(graph, sum(graph.own.values()) * LEAST)
    path = os.path.join(folder, re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-") + ".svg")
    with open(path, "w", encoding="utf-8") as f:
        f.write(svg_of(nodes, counter.effort.times, name) + "\n")


def count_calls(counter, port, sample, chosen, flames):
    figures = {}
    for name, (token, *call) in calls_of_rows(sample).items():
        if not chosen(name):
            continue
        client = Client(port, token, timeout=120)
        figures[name] = counter.count_per_request(name, lambda: call_checked(client, *call))
        client.close()
        if flames:
            draw_flame(counter, name, flames)
    return figures


def count_identify(counter, name, port, sample):
    return counter.count_per_request(name, lambda: end_session(Wire(port, GATEWAY_PATH, sample.owner, early=True)))


def count_fan_out(counter, name, port, sample):
    owner = Client(port, sample.owner, timeout=120)
    wires = [Wire(port, GATEWAY_PATH, token, early=True) for token in sample.friends]
    for wire in wires:
        wire.socket.settimeout(120)

    def post():
        answer = call_checked(owner, "POST", f"/channels/{sample.channel}/messages",
                              {"content": "Who is coming?"})
        for wire in wires:
            while answer["id"].encode() not in wire.frame():
                pass

    count = counter.count_per_request(name, post)
    for wire in wires:
        wire.close()
    return count


def count_interaction(counter, name, port, sample):
    """Counts one interaction from the user's request to the received reply message."""
    owner, bot = Client(port, sample.owner, timeout=120), Client(port, None, timeout=120)
    person, app = (Wire(port, GATEWAY_PATH, token, early=True)
                   for token in (sample.owner, sample.bot.removeprefix("Bot ")))
    session = json.loads(person.ready[4:])["d"]["session_id"]
    nonces = itertools.count(10)
    for wire in (person, app):
        wire.socket.settimeout(120)

    def read_event(wire, name):
        while name not in (frame := wire.frame()):
            pass
        return json.loads(frame[frame.index(b"{"):])["d"]

    def run_interaction():
        call_checked(owner, "POST", "/interactions",
                     {**sample.interaction, "session_id": session, "nonce": str(next(nonces))})
        interaction = read_event(app, b'"INTERACTION_CREATE"')
        call_checked(bot, "POST", f"/interactions/{interaction['id']}/{interaction['token']}/callback",
                     {"type": 4, "data": {"content": "It rains."}})
        read_event(person, b'"MESSAGE_CREATE"')
        read_event(app, b'"MESSAGE_CREATE"')

    count = counter.count_per_request(name, run_interaction)
    for wire in (person, app):
        wire.close()
    return count


def count_sessions(counter, port, sample, chosen, flames):
    kinds = {"IDENTIFY to READY": count_identify, f"POST message, {FRIENDS} sessions": count_fan_out,
             "interaction, answered": count_interaction}
    figures = {}
    for name, count in kinds.items():
        if not chosen(name):
            continue
        figures[name] = count(counter, name, port, sample)
        if flames:
            draw_flame(counter, name, flames)
    return figures


def create_sample(binary, data):
    os.mkdir(data)
    server = start_guildhall(binary, data)
    try:
        return SampleGuild(server.port)
    finally:
        server.stop()


def count_all(binary, folder, effort=WHOLE, chosen=lambda name: True, flames=None, limits=None):
    """Counts all rows. chosen: whether a row is counted. flames: the folder for flame graphs. limits:
    for each row, the count up to which it needs no further parts."""
    data = os.path.join(folder, "data")
    sample = create_sample(binary, data)

    def count_rows(counter, port):
        return {**count_calls(counter, port, sample, chosen, flames),
                **count_sessions(counter, port, sample, chosen, flames)}

    def count_recorded_rows(counter, port):
        counter.limits = {name: counter.limits.get(f"{name}, recorded", 0) for name in RECORDED_ROWS}
        small = count_calls(counter, port, sample, lambda name: name in RECORDED_ROWS, None)
        return {f"{name}, recorded": count for name, count in small.items()}

    figures = count_on_server(binary, data, folder, sample, effort, limits or {}, count_rows)
    if any(chosen(f"{name}, recorded") for name in RECORDED_ROWS):
        figures |= count_on_server(binary, data, folder, sample, effort, limits or {}, count_recorded_rows,
                                   "--traffic", "8")
    return figures


def count_on_server(binary, data, folder, sample, effort, limits, count, *flags):
    """Returns the counts of a server with these flags."""
    command = ["valgrind", "--tool=callgrind", "--fair-sched=yes", f"--callgrind-out-file={folder}/calls",
               *serve_command(binary, data, "--loops", "1", *flags)]
    process = Process(command, env={"LD_PRELOAD": SLOW_CLOCK, "GLIBC_TUNABLES": NO_REP})
    try:
        for path in glob.glob(os.path.join(folder, "calls*")):
            os.unlink(path)  # written by an earlier server
        counter = Counter(process, folder, effort, limits)
        post_first_messages(process.port, sample)
        counter.wait_until_idle()
        return count(counter, process.port)
    finally:
        process.kill()

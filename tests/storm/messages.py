#!/usr/bin/env python3
"""messages - sends every opcode of both gateways with random changes, and random datagrams. Users
and a bot send any opcode in any state and reconnect when they are closed. The server must keep
running, send valid JSON, and serve other clients meanwhile."""

import json
import socket
import struct
import time

from calls import QUICK, World
from storm import SECONDS, dice, expect, run_cases, server_for_storm, until_over

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
PATIENCE = 60
MESSAGES = 12  # messages per connection, unless it is closed before
ODD = (None, True, False, 0, 1, -1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -2**63, 0.5, 1e308, "", "0", "x",
       "1" * 40, "18446744073709551615", "-1", "\u0000", "\u202e", "\U0001f600" * 40, "a" * 3000, [], {}, [[]],
       [None] * 30, [{}] * 8, {"": {}})


class Closed(Exception):
    """The server has ended the connection."""


class Line:
    """A minimal WebSocket client."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n".encode())
        self.have = b""
        while b"\r\n\r\n" not in self.have:
            self.more()
        head, _, self.have = self.have.partition(b"\r\n\r\n")
        expect(head.startswith(b"HTTP/1.1 101"), head[:100])

    def more(self):
        try:
            piece = self.socket.recv(65536)
        except ConnectionError:
            piece = b""
        if not piece:
            raise Closed
        self.have += piece

    def need(self, count):
        while len(self.have) < count:
            self.more()

    def read(self):
        """Returns the next message. After a timeout, the next call returns the complete message."""
        self.need(2)
        kind, size = self.have[:2]
        start = 2 + (0 if size < 126 else 2 if size == 126 else 8)
        if size > 125:
            self.need(start)
            size = int.from_bytes(self.have[2:start])
        self.need(start + size)
        body, self.have = self.have[start:start + size], self.have[start + size:]
        if kind & 15 == 8:
            raise Closed
        return json.loads(body)

    def say(self, op, d):
        text = json.dumps({"op": op, "d": d}).encode()
        size = (bytes([0x80 | len(text)]) if len(text) < 126 else
                struct.pack(">BH", 0x80 | 126, len(text)) if len(text) < 1 << 16 else
                struct.pack(">BQ", 0x80 | 127, len(text)))
        try:
            self.socket.sendall(b"\x81" + size + bytes(4) + text)
        except ConnectionError as e:
            raise Closed from e

    def wait(self, op, event=None):
        end = time.monotonic() + PATIENCE
        while time.monotonic() < end:
            message = self.read()
            if message["op"] == op and (not event or message["t"] == event):
                return message["d"]
        raise AssertionError(f"neither opcode {op} {event or ''} nor a close arrived")

    def hear(self):
        """Reads all messages received so far."""
        self.socket.settimeout(0.005)
        try:
            while True:
                self.read()
        except TimeoutError:
            pass
        finally:
            self.socket.settimeout(PATIENCE)


def bent(d, value, depth=0):
    """Returns the data with some parts replaced, removed or added."""
    if d.random() < 0.05:
        return d.choice(ODD)
    if isinstance(value, dict):
        out = {k: bent(d, v, depth + 1) for k, v in value.items() if d.random() > 0.03}
        if d.random() < 0.1:
            out[d.choice(("id", "type", "x" * 300, "guild_id", "token", ""))] = d.choice(ODD)
        return out
    if isinstance(value, list):
        times = (0, 1, 1, 1, 2, 40) if depth < 3 else (1,)
        return [bent(d, v, depth + 1) for v in value for _ in range(d.choice(times))]
    return value


def some_id(world, kind):
    ids = world.known(kind) or ["5"]
    return world.d.choice(ids)


def messages_of(world, me):
    """Returns valid messages of a gateway client."""
    guild, channel, voice = some_id(world, "guild"), some_id(world, "channel"), some_id(world, "voice")
    stream = world.d.choice((f"guild:{guild}:{voice}:{me['id']}", f"call:{channel}:{me['id']}"))
    shown = {"channels": {channel: [[0, 99], [100, 199]]}, "members": [me["id"]], "thread_member_lists": [channel],
             "typing": True, "activities": True, "threads": True, "member_updates": True}
    activity = {"name": "a game", "type": 0, "state": "x", "timestamps": {"start": 1}, "party": {"size": [1, 2]},
                "emoji": {"name": "x", "id": "5"}, "buttons": ["a", "b"], "secrets": {"join": "s"},
                "assets": {"large_image": "x"}}
    return (
        (1, 5), (40, {"seq": 5, "qos": {"ver": 1, "active": True, "reasons": ["x"]}}),
        (2, {"token": me["token"], "properties": {"os": "x"}, "capabilities": 16381, "intents": 53608447}),
        (3, {"since": 0, "activities": [activity], "status": "idle", "afk": False}),
        (4, {"guild_id": guild, "channel_id": voice, "self_mute": False, "self_deaf": False, "self_video": True,
             "flags": 2, "preferred_region": "main"}),
        (6, {"token": me["token"], "session_id": me.get("session", ""), "seq": 2}),
        (8, {"guild_id": guild, "query": "", "limit": 100, "presences": True, "nonce": "n"}),
        (8, {"guild_id": [guild], "user_ids": [me["id"], "5"], "nonce": 7}),
        (13, {"channel_id": channel}), (14, {"guild_id": guild, **shown}),
        (18, {"type": "guild", "guild_id": guild, "channel_id": voice, "preferred_region": "main"}),
        (18, {"type": "call", "guild_id": None, "channel_id": channel}),
        (19, {"stream_key": stream}), (20, {"stream_key": stream}), (21, {"stream_key": stream}),
        (22, {"stream_key": stream, "paused": True}), (31, {"guild_ids": [guild]}),
        (34, {"guild_id": guild, "channel_ids": [channel, voice]}),
        (35, {"guild_id": guild, "query": "p", "continuation_token": None, "nonce": "n"}),
        (36, {"guild_id": guild}), (43, {"guild_id": guild, "fields": ["status", "voice_start_time"]}),
        (37, {"subscriptions": {guild: shown, "5": shown}}), (41, {"initialization_timestamp": 1}),
    )


def voice_messages_of(ready, claim):
    stream = {"type": "video", "rid": "100", "ssrc": ready["ssrc"] + 1, "rtx_ssrc": ready["ssrc"] + 2, "active": True,
              "quality": 100, "max_bitrate": 1, "max_framerate": 30,
              "max_resolution": {"type": "fixed", "width": 1, "height": 1}}
    codec = {"name": "H264", "type": "video", "priority": 1000, "payload_type": 101, "rtx_payload_type": 102,
             "decode": True}
    return (
        (0, claim), (7, {**claim, "seq_ack": 3}), (3, {"t": 5, "seq_ack": 1}), (3, 77), (16, {}), (32, {}), (2, {}),
        (63, {}), (64, {}),
        (1, {"protocol": "udp", "data": {"address": "127.0.0.1", "port": 9, "mode": "aead_xchacha20_poly1305_rtpsize"},
             "codecs": [codec, {**codec, "name": "opus", "type": "audio"}]}),
        (5, {"speaking": 1, "delay": 0, "ssrc": ready["ssrc"]}), (5, {"speaking": True}), (14, {"codecs": [codec]}),
        (12, {"audio_ssrc": ready["ssrc"], "video_ssrc": ready["ssrc"] + 1, "rtx_ssrc": ready["ssrc"] + 2,
              "streams": [stream]}),
        (15, {"any": 100, str(ready["ssrc"]): 50, "streams": {}, "pixelCounts": {"1": 5}}),
    )


def noise_for(d, ready):
    """Returns random datagrams with the first bytes of media, discovery or reports."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        for _ in range(20):
            head = d.choice((struct.pack(">BBHII", 0x80, 120, d.randrange(1 << 16), 5, ready["ssrc"]),
                             struct.pack(">BBHII", 0x90, 0xf8, 1, 2, ready["ssrc"] + 1),
                             struct.pack(">BBHI", 0x81, 201, 7, ready["ssrc"]),
                             struct.pack(">HHI", 1, 70, ready["ssrc"]), b""))
            udp.sendto((head + d.randbytes(d.randrange(80)))[:d.randrange(1, 1400)], (ready["ip"], ready["port"]))


def begin(world, me):
    """Starts or resumes a session."""
    line = Line(world.port, "/gateway?v=10&encoding=json")
    line.wait(10)
    if world.d.random() < 0.3 and "session" in me:
        line.say(6, {"token": me["token"], "session_id": me["session"], "seq": world.d.choice((0, 1, 5, 10**6))})
        line.hear()
        return line
    line.say(2, {"token": me["token"], "intents": 53608447, "capabilities": world.d.choice((0, 125, 16381)),
                 "properties": {"os": "x"}})
    ready = line.wait(0, "READY")
    me["id"], me["session"] = ready["user"]["id"], ready["session_id"]
    return line


def speak(world, line, me):
    """Sends a valid voice connection and then random messages."""
    guild, voice = world.d.choice(me["rooms"])
    # A user who is already connected to voice gets no event, so leave first.
    for channel in (None, voice):
        line.say(4, {"guild_id": guild, "channel_id": channel, "self_mute": False, "self_deaf": False})
    server = line.wait(0, "VOICE_SERVER_UPDATE")
    gate = Line(world.port, f"/voice?v={world.d.choice((4, 7, 8, 9))}")
    claim = {"server_id": guild, "channel_id": voice, "user_id": me["id"], "session_id": me["session"],
             "token": server["token"], "video": True,
             "streams": [{"type": "video", "rid": "100", "quality": 100}]}
    gate.wait(8)
    gate.say(0, claim)
    ready = gate.wait(2)
    gate.say(1, {"protocol": "udp", "data": {"address": "127.0.0.1", "port": 9, "mode": ready["modes"][0]}})
    gate.wait(4)
    noise_for(world.d, ready)
    for _ in range(MESSAGES):
        op, data = world.d.choice(voice_messages_of(ready, claim))
        gate.say(op, bent(world.d, data))
        gate.hear()


def run_one_connection(world, me):
    line = None
    try:
        line = begin(world, me)
        if world.d.random() < 0.4 and not me["bot"]:
            speak(world, line, me)
        for _ in range(MESSAGES):
            op, data = world.d.choice(messages_of(world, me))
            line.say(op, bent(world.d, data))
            line.hear()
        world.through += 1
    except Closed:
        world.closed += 1
    finally:
        if line and world.d.random() < 0.7:
            line.socket.close()


def furnish_rooms(world):
    """Creates users with sessions, and channels."""
    people = []
    for token, home in world.homes:
        me = {"token": token.removeprefix("Bot "), "bot": token.startswith("Bot "), "id": home["user"][0], "rooms": []}
        people.append(me)
        for guild in () if me["bot"] else home["guild"]:
            made = world.must("POST", f"/api/v10/guilds/{guild}/channels", {"name": "talk", "type": 2}, token)
            me["rooms"].append((guild, made["id"]))
            world.note("voice", made["id"])
    return people


def random_gateway_messages_are_answered_or_refused(executable):
    d = dice("messages")
    with server_for_storm(executable, *QUICK, "--voice-port", "0", "--rate-limits", "off") as server:
        world = World(server.port, d)
        world.through = world.closed = 0
        for _ in range(2):
            world.newcomer()
        people = furnish_rooms(world)
        for _ in until_over(int(SECONDS / 2) + 1):
            run_one_connection(world, d.choice(people))
            status, _, _ = world.ask("GET", "/api/v10/gateway")
            expect(status == 200, f"GET /gateway: {status}")
        print(f"{world.through} connections ended normally, {world.closed} were closed", flush=True)
        expect(world.through + world.closed > SECONDS / 2, "there were too few connections")


if __name__ == "__main__":
    run_cases("storm/messages", [random_gateway_messages_are_answered_or_refused])

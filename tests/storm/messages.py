#!/usr/bin/env python3
"""messages - sends every opcode of both gateways with random changes, and random datagrams. Users
and a bot send any opcode in any state and reconnect when they are closed. The server must keep
running, send valid JSON, and serve other clients meanwhile."""

import json
import socket
import struct
import time

from calls import QUICK, RandomCaller
from storm import SECONDS, expect, random_for, run_cases, server_for_storm, until_time_is_over

KEY = "dGhlIHNhbXBsZSBub25jZQ=="
PATIENCE = 60
MESSAGES = 12  # messages per connection, unless it is closed before
ODD_VALUES = (None, True, False, 0, 1, -1, 2**31, 2**32, 2**53, 2**63 - 1, 2**63, 2**64, -2**63, 0.5, 1e308, "", "0",
              "x", "1" * 40, "18446744073709551615", "-1", "\u0000", "\u202e", "\U0001f600" * 40, "a" * 3000, [], {}, [[]],
              [None] * 30, [{}] * 8, {"": {}})


class Closed(Exception):
    """The server has ended the connection."""


class WebSocketClient:
    """A minimal WebSocket client."""

    def __init__(self, port, path):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.socket.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n".encode())
        self.received = b""
        while b"\r\n\r\n" not in self.received:
            self.receive_more()
        head, _, self.received = self.received.partition(b"\r\n\r\n")
        expect(head.startswith(b"HTTP/1.1 101"), head[:100])

    def receive_more(self):
        try:
            piece = self.socket.recv(65536)
        except ConnectionError:
            piece = b""
        if not piece:
            raise Closed
        self.received += piece

    def receive_at_least(self, count):
        while len(self.received) < count:
            self.receive_more()

    def read(self):
        """Returns the next message. After a timeout, the next call returns the complete message."""
        self.receive_at_least(2)
        kind, size = self.received[:2]
        start = 2 + (0 if size < 126 else 2 if size == 126 else 8)
        if size > 125:
            self.receive_at_least(start)
            size = int.from_bytes(self.received[2:start])
        self.receive_at_least(start + size)
        body, self.received = self.received[start:start + size], self.received[start + size:]
        if kind & 15 == 8:
            raise Closed
        return json.loads(body)

    def send(self, op, data):
        text = json.dumps({"op": op, "d": data}).encode()
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

    def read_all(self):
        """Reads all messages received so far."""
        self.socket.settimeout(0.005)
        try:
            while True:
                self.read()
        except TimeoutError:
            pass
        finally:
            self.socket.settimeout(PATIENCE)


def mutate(rng, value, depth=0):
    """Returns the data with some parts replaced, removed or added."""
    if rng.random() < 0.05:
        return rng.choice(ODD_VALUES)
    if isinstance(value, dict):
        out = {k: mutate(rng, v, depth + 1) for k, v in value.items() if rng.random() > 0.03}
        if rng.random() < 0.1:
            out[rng.choice(("id", "type", "x" * 300, "guild_id", "token", ""))] = rng.choice(ODD_VALUES)
        return out
    if isinstance(value, list):
        times = (0, 1, 1, 1, 2, 40) if depth < 3 else (1,)
        return [mutate(rng, v, depth + 1) for v in value for _ in range(rng.choice(times))]
    return value


def some_id(caller, kind):
    ids = caller.known_ids(kind) or ["5"]
    return caller.rng.choice(ids)


def messages_of(caller, me):
    """Returns valid messages of a gateway client."""
    guild, channel, voice = some_id(caller, "guild"), some_id(caller, "channel"), some_id(caller, "voice")
    stream = caller.rng.choice((f"guild:{guild}:{voice}:{me['id']}", f"call:{channel}:{me['id']}"))
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


def send_random_datagrams(rng, ready):
    """Returns random datagrams with the first bytes of media, discovery or reports."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as udp:
        for _ in range(20):
            head = rng.choice((struct.pack(">BBHII", 0x80, 120, rng.randrange(1 << 16), 5, ready["ssrc"]),
                               struct.pack(">BBHII", 0x90, 0xf8, 1, 2, ready["ssrc"] + 1),
                               struct.pack(">BBHI", 0x81, 201, 7, ready["ssrc"]),
                               struct.pack(">HHI", 1, 70, ready["ssrc"]), b""))
            udp.sendto((head + rng.randbytes(rng.randrange(80)))[:rng.randrange(1, 1400)], (ready["ip"], ready["port"]))


def start_session(caller, me):
    """Starts or resumes a session."""
    client = WebSocketClient(caller.port, "/gateway?v=10&encoding=json")
    client.wait(10)
    if caller.rng.random() < 0.3 and "session" in me:
        client.send(6, {"token": me["token"], "session_id": me["session"], "seq": caller.rng.choice((0, 1, 5, 10**6))})
        client.read_all()
        return client
    client.send(2, {"token": me["token"], "intents": 53608447, "capabilities": caller.rng.choice((0, 125, 16381)),
                    "properties": {"os": "x"}})
    ready = client.wait(0, "READY")
    me["id"], me["session"] = ready["user"]["id"], ready["session_id"]
    return client


def use_voice(caller, client, me):
    """Sends a valid voice connection and then random messages."""
    guild, voice = caller.rng.choice(me["rooms"])
    # A user who is already connected to voice gets no event, so leave first.
    for channel in (None, voice):
        client.send(4, {"guild_id": guild, "channel_id": channel, "self_mute": False, "self_deaf": False})
    server = client.wait(0, "VOICE_SERVER_UPDATE")
    voice_client = WebSocketClient(caller.port, f"/voice?v={caller.rng.choice((4, 7, 8, 9))}")
    claim = {"server_id": guild, "channel_id": voice, "user_id": me["id"], "session_id": me["session"],
             "token": server["token"], "video": True,
             "streams": [{"type": "video", "rid": "100", "quality": 100}]}
    voice_client.wait(8)
    voice_client.send(0, claim)
    ready = voice_client.wait(2)
    voice_client.send(1, {"protocol": "udp", "data": {"address": "127.0.0.1", "port": 9, "mode": ready["modes"][0]}})
    voice_client.wait(4)
    send_random_datagrams(caller.rng, ready)
    for _ in range(MESSAGES):
        op, data = caller.rng.choice(voice_messages_of(ready, claim))
        voice_client.send(op, mutate(caller.rng, data))
        voice_client.read_all()


def run_one_connection(caller, me):
    client = None
    try:
        client = start_session(caller, me)
        if caller.rng.random() < 0.4 and not me["bot"]:
            use_voice(caller, client, me)
        for _ in range(MESSAGES):
            op, data = caller.rng.choice(messages_of(caller, me))
            client.send(op, mutate(caller.rng, data))
            client.read_all()
        caller.ended_normally += 1
    except Closed:
        caller.closed += 1
    finally:
        if client and caller.rng.random() < 0.7:
            client.socket.close()


def create_voice_channels(caller):
    """Creates users with sessions, and channels."""
    people = []
    for token, own_ids in caller.users:
        me = {"token": token.removeprefix("Bot "), "bot": token.startswith("Bot "), "id": own_ids["user"][0],
              "rooms": []}
        people.append(me)
        for guild in () if me["bot"] else own_ids["guild"]:
            made = caller.call_checked("POST", f"/api/v10/guilds/{guild}/channels", {"name": "talk", "type": 2}, token)
            me["rooms"].append((guild, made["id"]))
            caller.note_id("voice", made["id"])
    return people


def random_gateway_messages_are_answered_or_refused(executable):
    rng = random_for("messages")
    with server_for_storm(executable, *QUICK, "--voice-port", "0", "--rate-limits", "off") as server:
        caller = RandomCaller(server.port, rng)
        caller.ended_normally = caller.closed = 0
        for _ in range(2):
            caller.create_user()
        people = create_voice_channels(caller)
        for _ in until_time_is_over(int(SECONDS / 2) + 1):
            run_one_connection(caller, rng.choice(people))
            status, _, _ = caller.send_request("GET", "/api/v10/gateway")
            expect(status == 200, f"GET /gateway: {status}")
        print(f"{caller.ended_normally} connections ended normally, {caller.closed} were closed", flush=True)
        expect(caller.ended_normally + caller.closed > SECONDS / 2, "there were too few connections")


if __name__ == "__main__":
    run_cases("storm/messages", [random_gateway_messages_are_answered_or_refused])

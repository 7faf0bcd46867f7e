"""Voice clients: a gateway session, a voice gateway connection and a UDP socket."""

import ctypes
import json
import socket
import struct

from cluster_nodes import PATIENCE, Failed, Session, expect
from sessions import KEY

MODE = "aead_xchacha20_poly1305_rtpsize"
OPUS = 120
TAG = 16

sodium = ctypes.CDLL("libsodium.so.23")
sodium.sodium_init()


def encrypt(key, nonce, clear, plain):
    out, made = ctypes.create_string_buffer(len(plain) + TAG), ctypes.c_ulonglong()
    sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(
        out, ctypes.byref(made), plain, ctypes.c_ulonglong(len(plain)), clear,
        ctypes.c_ulonglong(len(clear)), None, nonce, key)
    return out.raw[:made.value]


def decrypt(key, nonce, clear, body):
    out, made = ctypes.create_string_buffer(len(body)), ctypes.c_ulonglong()
    if sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(
            out, ctypes.byref(made), None, body, ctypes.c_ulonglong(len(body)), clear,
            ctypes.c_ulonglong(len(clear)), nonce, key):
        raise Failed("a packet was not encrypted for its receiver")
    return out.raw[:made.value]


class Closed(Failed):
    """The voice gateway closed the connection, with this code."""

    def __init__(self, code):
        super().__init__(f"closed with {code}")
        self.code = code


class VoiceSocket:
    """A WebSocket to the voice gateway."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.received = b""
        self.socket.sendall(f"GET /voice?v=8 HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
                            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                            f"Sec-WebSocket-Key: {KEY}\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.received:
            self._receive_more()
        self.received = self.received[self.received.index(b"\r\n\r\n") + 4:]
        self.wait(8)

    def _receive_more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise Closed(0)
        self.received += piece

    def _receive(self, count):
        while len(self.received) < count:
            self._receive_more()
        taken, self.received = self.received[:count], self.received[count:]
        return taken

    def send(self, op, d):
        text = json.dumps({"op": op, "d": d}).encode()
        size = (struct.pack(">B", 0x80 | len(text)) if len(text) < 126
                else struct.pack(">BH", 0x80 | 126, len(text)))
        self.socket.sendall(b"\x81" + size + bytes(4) + text)

    def read(self):
        kind, size = self._receive(2)
        if size == 126:
            size = struct.unpack(">H", self._receive(2))[0]
        body = self._receive(size)
        if kind & 15 == 8:
            raise Closed(struct.unpack(">H", body[:2])[0])
        return json.loads(body)

    def wait(self, op):
        """Returns the next message with that opcode; messages before it are skipped."""
        while True:
            message = self.read()
            if message["op"] == op:
                return message["d"]

    def wait_closed(self):
        try:
            while True:
                self.read()
        except Closed as closed:
            return closed.code
        except OSError:
            return 0

    def close(self):
        self.socket.close()


class VoiceClient:
    """A user with a session on one of the nodes."""

    def __init__(self, cluster, node, token):
        self.session = Session(cluster.servers[node].port, token)
        self.user, self.id = self.session.ready["user"]["id"], self.session.ready["session_id"]
        self.voice_socket = self.udp = None
        self.counter = self.sequence = self.seen = 0

    def send_opcode(self, op, d):
        self.session.wire.send(json.dumps({"op": op, "d": d}))

    def next(self, name, true=lambda d: True):
        """Returns the data of the next such event; events before it are not examined again."""
        def find(events):
            for at in range(self.seen, len(events)):
                if events[at][0] == name and true(events[at][1]):
                    return at + 1, events[at][1]
            return None
        self.seen, data = self.session.wait(find, name)
        return data

    def join(self, guild, channel):
        self.send_opcode(4, {"guild_id": guild, "channel_id": channel})
        return self.next("VOICE_SERVER_UPDATE")

    def identify(self, server, server_id):
        """Connects to the given voice server and identifies."""
        self.voice_socket = VoiceSocket(int(server["endpoint"].split("/")[0].rpartition(":")[2]))
        self.voice_socket.send(0, {"server_id": server_id, "user_id": self.user, "session_id": self.id,
                                   "token": server["token"], "video": False})

    def connect(self, server, server_id):
        self.identify(server, server_id)
        ready = self.voice_socket.wait(2)
        self.ssrc, self.server = ready["ssrc"], (ready["ip"], ready["port"])
        if self.udp:
            self.udp.close()
        self.udp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.udp.settimeout(PATIENCE)
        self.udp.sendto(struct.pack(">HHI66x", 1, 70, self.ssrc), self.server)
        expect(len(self.udp.recv(2048)) == 74, "IP discovery got no reply")
        self.voice_socket.send(1, {"protocol": "udp", "data": {"address": "127.0.0.1", "port": 1,
                                                               "mode": MODE}})
        self.key = bytes(self.voice_socket.wait(4)["secret_key"])
        self.counter = self.sequence = 0

    def send_text(self, text):
        clear = struct.pack(">BBHII", 0x80, OPUS, self.sequence, 960 * self.sequence, self.ssrc)
        tail = struct.pack(">I", self.counter)
        body = encrypt(self.key, tail + bytes(20), clear, text.encode())
        self.udp.sendto(clear + body + tail, self.server)
        self.counter, self.sequence = self.counter + 1, self.sequence + 1

    def receive_text(self):
        packet = self.udp.recv(2048)
        return decrypt(self.key, packet[-4:] + bytes(20), packet[:12], packet[12:-4]).decode()


def talk(one, other, words):
    """Checks that each user receives what the other one sends."""
    for speaker, listener in ((one, other), (other, one)):
        speaker.send_text(words)
        received = listener.receive_text()
        expect(received == words, f"received '{received}' instead of '{words}'")

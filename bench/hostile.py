"""Benchmark rows about memory that clients control: slow sessions and malicious sockets."""

import base64
import socket
import time

from process import Failed
from sessions import ALL_SESSIONS, GATEWAY_PATH, SessionGroup, Sessions

SOCKETS = 1000
EVENTS = 4096
KEY = base64.b64encode(b"the sample nonce").decode()

UPGRADE = (f"GET /gateway?v=10&encoding=json HTTP/1.1\r\nHost: x\r\nUpgrade: websocket\r\n"
           f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {KEY}\r\n\r\n")


def headers(size):
    """Returns header lines of `size` bytes, without the final empty line."""
    lines, n = [], 0
    while n + 400 < size:
        lines.append(f"X-{len(lines)}: " + "a" * 380 + "\r\n")
        n += len(lines[-1])
    return "GET /api/v10/gateway HTTP/1.1\r\nHost: x\r\n" + "".join(lines)


def post(path, length, sent, more=""):
    return (f"POST {path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n{more}"
            f"Content-Length: {length}\r\n\r\n" + " " * sent)


# Bytes that are sent on each socket; responses are not read.
SENT_BYTES = {
    "a head that does not end": headers(31 * 1024),
    "many lines": "GET / HTTP/1.1\r\nHost: x\r\n" + "a: b\r\n" * 90,
    "a body that does not end": post("/api/v10/auth/register", 4000, 3900),
    "a large body without a token": post("/api/v10/auth/register", 1 << 20, 1 << 18),
    "a large body with a wrong token": post("/api/v10/users/@me/channels", 1 << 20, 1 << 18,
                                            "Authorization: nobody\r\n"),
    "a chunked body": "POST /api/v10/auth/login HTTP/1.1\r\nHost: x\r\nContent-Type: "
                      "application/json\r\nTransfer-Encoding: chunked\r\n\r\n"
                      + ("1\r\n \r\n" * 16 * 1024),
    "answers that the client does not read": "GET /openapi.json HTTP/1.1\r\nHost: x\r\n\r\n" * 50,
    "many requests at once": "GET /api/v10/gateway HTTP/1.1\r\nHost: x\r\n\r\n" * 2000,
    "a gateway that says nothing": UPGRADE,
    "a message that does not end": UPGRADE.encode() + b"\x01\xfe\x3f\xff\0\0\0\0" + b" " * 16000,
    "pings": UPGRADE.encode() + (b"\x89\xfd\0\0\0\0" + b"p" * 125) * 500,
}


def connect(port):
    """Opens a socket with a small receive buffer, so that unread data stays in the server."""
    s = socket.socket()
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    s.settimeout(10)
    s.connect(("127.0.0.1", port))
    return s


def send_some(s, data):
    """Sends as much as the socket accepts; a refusal is allowed."""
    try:
        s.setblocking(False)
        while data:
            sent = s.send(data[:65536])
            data = data[sent:]
    except OSError:
        pass


class Hostile:
    def __init__(self, bench, quick):
        self.bench, self.quick = bench, quick
        self.sessions = Sessions(bench, quick)

    def rows(self):
        return [("hostile sockets", self.row_sockets), ("busy sessions", self.row_busy)]

    # --- sockets ------------------------------------------------------------------------------

    def peak_memory_of(self, bench, data):
        """Returns the peak memory of a thousand such sockets, in bytes."""
        server = bench.serve()
        sockets = []
        try:
            warm = [connect(server.port) for _ in range(20)]
            for s in warm:
                send_some(s, data)
            time.sleep(0.5)
            for s in warm:
                s.close()
            time.sleep(0.3)
            before = most = server.memory("RssAnon")
            for _ in range(SOCKETS):
                sockets.append(connect(server.port))
                send_some(sockets[-1], data)
            for _ in range(20):
                most = max(most, server.memory("RssAnon"))
                time.sleep(0.1)
            if not server.alive():
                raise Failed("the server ended")
            return most - before
        finally:
            for s in sockets:
                s.close()
            server.kill()

    def row_sockets(self, bench):
        figures = {}
        for name, data in SENT_BYTES.items():
            figures[name] = self.peak_memory_of(bench, data.encode() if isinstance(data, str) else data)
        worst = sorted(figures, key=figures.get, reverse=True)
        bench.report.add("an anonymous socket of a malicious client, of 1,000",
                         figures[worst[0]] / SOCKETS / 1024, "KiB", ("<=", 64),
                         {name: figures[name] / SOCKETS / 1024 for name in worst[:5]})
        bench.report.add("1,000 of them together", figures[worst[0]] / 2**20, "MiB", ("<=", 64))

    # --- sessions -----------------------------------------------------------------------------

    def row_busy(self, bench):
        """Measures ten thousand sessions with full replay buffers."""
        world = self.sessions.get_world(bench)
        events = EVENTS // 16 if self.quick else EVENTS
        server = world.serve(bench)
        group = None
        try:
            SessionGroup(bench, server.port, GATEWAY_PATH, 200, world).close()  # warms up pools and caches
            time.sleep(0.5)
            before = server.memory("RssAnon")
            group = SessionGroup(bench, server.port, GATEWAY_PATH, ALL_SESSIONS, world)
            for _ in range(events // 64):
                group.run_command("post 64")
                group.run_command("alive")
            each = (server.memory("RssAnon") - before) / ALL_SESSIONS
            bench.report.add(f"heap of a busy session, {events:,} events each (of 10,000)",
                             each / 1024, "KiB", ("<=", 100),
                             {"VmRSS MiB": server.memory("VmRSS") / 2**20})
        finally:
            if group:
                group.close()
            server.kill()

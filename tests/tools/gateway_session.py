"""A minimal gateway session for the tests of the tools."""

import base64
import json
import socket
import struct

from process import Failed

PATIENCE = 60


def connect(port, token, **more):
    """Opens a session and reads READY."""
    s = socket.create_connection(("127.0.0.1", port), PATIENCE)
    key = base64.b64encode(b"the sample nonce").decode()
    s.sendall(f"GET /gateway?v=10 HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
              f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
              f"Sec-WebSocket-Key: {key}\r\n\r\n".encode())
    text = json.dumps({"op": 2, "d": {"token": token, "properties": {"os": "linux",
                                                                     "browser": "probe"}, **more}})
    text = text.ljust(126)  # shorter messages have a shorter header
    s.sendall(struct.pack(">BBH4x", 0x81, 0x80 | 126, len(text)) + text.encode())
    seen = b""
    while b'"READY"' not in seen:
        piece = s.recv(65536)
        if not piece:
            raise Failed("the session was closed")
        seen += piece
    return s


def is_closed(s):
    """Waits for the close of a session; returns whether it came."""
    s.settimeout(PATIENCE)
    try:
        while (piece := s.recv(65536)):
            if b"\x88" in piece:  # a close frame; the texts are ASCII
                return True
        return True
    except TimeoutError:
        return False
    except ConnectionError:
        return True

"""A gateway client that reconnects, to the same node or another, as client libraries do."""

import json
import random
import socket
import struct
import threading
import time

from cluster_nodes import PATIENCE, Failed
from sessions import GATEWAY_PATH, KEY

SILENCE_SECONDS = 10  # a client reconnects after this time without a message


class Closed(OSError):
    """The server closed the connection with a code."""

    def __init__(self, code):
        super().__init__(f"closed with {code}")
        self.code = code


class Socket:
    """A WebSocket that is read message by message."""

    def __init__(self, port, silence_seconds=SILENCE_SECONDS):
        self.socket = socket.create_connection(("127.0.0.1", port), silence_seconds)
        self.received = b""
        self.socket.sendall(f"GET {GATEWAY_PATH} HTTP/1.1\r\nHost: 127.0.0.1\r\nUpgrade: websocket\r\n"
                            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                            f"Sec-WebSocket-Key: {KEY}\r\n\r\n".encode())
        while b"\r\n\r\n" not in self.received:
            self._receive_more()
        head, _, self.received = self.received.partition(b"\r\n\r\n")
        if b" 101 " not in head.split(b"\r\n")[0]:
            raise OSError("the server refuses the WebSocket")

    def _receive_more(self):
        piece = self.socket.recv(65536)
        if not piece:
            raise OSError("closed")
        self.received += piece

    def _receive_at_least(self, count):
        while len(self.received) < count:
            self._receive_more()
        return self.received[:count]

    def message(self):
        size, head = self._receive_at_least(2)[1], 2
        if size == 126:
            size, head = struct.unpack(">H", self._receive_at_least(4)[2:])[0], 4
        elif size == 127:
            size, head = struct.unpack(">Q", self._receive_at_least(10)[2:])[0], 10
        frame = self._receive_at_least(head + size)
        self.received = self.received[head + size:]
        if frame[0] & 15 == 8:
            raise Closed(int.from_bytes(frame[2:4], "big"))
        return json.loads(frame[head:])

    def send(self, op, data):
        text = json.dumps({"op": op, "d": data})
        size = (struct.pack(">B", 0x80 | len(text)) if len(text) < 126
                else struct.pack(">BH", 0x80 | 126, len(text)))
        self.socket.sendall(b"\x81" + size + bytes(4) + text.encode())

    def shut(self):
        try:
            self.socket.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    def close(self):
        self.shut()
        self.socket.close()


class ResumingClient:
    """A client that identifies once and then only resumes. ports() are the ports to try."""

    def __init__(self, ports, token):
        self.ports, self.token, self.silence_seconds = ports, token, SILENCE_SECONDS
        self.session_id, self.sequence = None, 0
        self.port = None  # port of the last connection
        self.events, self.resumed, self.identified_again, self.error = [], 0, 0, None
        self.last_error = None
        self.reasons = []  # close codes of the sockets; None: closed without a code
        self.resume_times, self.lost_at = [], None  # seconds from each disconnection to RESUMED
        self.refusal_times = []  # seconds from each RESUME to op 9
        self.session_starts = []  # indexes in `events` at which a new session began, after the first
        self.changed, self.stop_requested, self.socket = threading.Condition(), False, None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()
        self.wait(lambda: self.session_id, "READY")

    def _run(self):
        while not self.stop_requested:
            try:
                self._run_connection(random.choice(self.ports()))
            except (OSError, ValueError, IndexError) as error:
                self.last_error = str(error)
                self.reasons.append(getattr(error, "code", None))
                self.lost_at = self.lost_at or time.monotonic()
                time.sleep(0.02)
            except Failed as error:
                with self.changed:
                    self.error = str(error)
                    self.changed.notify_all()
                return
            finally:
                if self.socket:
                    self.socket.close()
                    self.socket = None

    def _run_connection(self, port):
        self.port = port
        self.socket = Socket(port, self.silence_seconds)
        self.socket.message()
        began = time.monotonic()
        if self.session_id:
            self.socket.send(6, {"token": self.token, "session_id": self.session_id,
                                 "seq": self.sequence})
        else:
            self.socket.send(2, {"token": self.token, "intents": (1 << 29) - 1, "properties": {}})
        while True:
            message = self.socket.message()
            if message["op"] == 1:  # the server requests a heartbeat after a minute
                self.socket.send(1, self.sequence)
            if message["op"] == 7:
                self.lost_at = self.lost_at or time.monotonic()
                return
            if message["op"] == 9:
                with self.changed:
                    self.session_id, self.sequence = None, 0
                    self.identified_again += 1
                    self.refusal_times.append(time.monotonic() - began)
                    self.session_starts.append(len(self.events))
                return
            if message["op"] == 0:
                self._record(message)

    def _record(self, message):
        with self.changed:
            if message["s"] != self.sequence + 1:
                raise Failed(f"number {message['s']} after {self.sequence}: {message['t']}")
            self.sequence = message["s"]
            if message["t"] == "READY":
                self.session_id = message["d"]["session_id"]
                self.lost_at = None
            elif message["t"] == "RESUMED":
                self.resumed += 1
                if self.lost_at:
                    self.resume_times.append(time.monotonic() - self.lost_at)
                self.lost_at = None
            else:
                self.events.append((message["t"], message["d"]))
            self.changed.notify_all()

    def wait(self, true, words):
        deadline = time.monotonic() + PATIENCE
        with self.changed:
            while not true():
                left = deadline - time.monotonic()
                if self.error or left <= 0 or not self.changed.wait(left):
                    raise Failed(f"{words}: received {len(self.events)} events, resumed "
                                 f"{self.resumed} times, {self.error}, last {self.last_error}")

    def wait_for(self, text):
        self.wait(lambda: text in self.contents(), text)

    def contents(self):
        with self.changed:
            return [d["content"] for t, d in self.events if t == "MESSAGE_CREATE"]

    @property
    def longest_resume(self):
        return max(self.resume_times, default=0)

    def events_by_session(self):
        """Returns the events of each session from READY on, and whether it is the last session."""
        with self.changed:
            cuts = [0, *self.session_starts, len(self.events)]
            return [([d["content"] for t, d in self.events[a:b] if t == "MESSAGE_CREATE"],
                     b == len(self.events)) for a, b in zip(cuts, cuts[1:])]

    def lose(self):
        """Breaks the connection. The client's thread closes the descriptor."""
        if current := self.socket:
            current.shut()

    def stay_connected(self):
        """The client waits for the server to close a silent connection."""
        self.silence_seconds = PATIENCE
        if current := self.socket:
            current.socket.settimeout(PATIENCE)

    def close(self):
        self.stop_requested = True
        self.lose()

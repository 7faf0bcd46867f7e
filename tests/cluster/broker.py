"""A NATS server for tests: nats-server if it is installed, otherwise a minimal implementation in
threads of this process."""

import atexit
import json
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import threading
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))

from process import free_port  # noqa: E402

PATIENCE = 120


class Broker:
    """The broker can be killed and started again on the same port. The built-in implementation can
    also drop messages (drops_messages), record them (seen) and inject them (publish)."""

    def __init__(self, password=None, max_payload=1 << 20, stand_in=False, tls=None):
        self.password, self.max_payload, self.tls = password, max_payload, tls
        self.seen = None  # a list in which the built-in broker records forwarded messages
        self.executable = None if stand_in else shutil.which("nats-server")
        self.port = free_port()
        self.child, self.listener, self.drops_messages = None, None, False
        self.lock, self.clients = threading.Lock(), {}
        self.passed = 0
        self.start()
        atexit.register(self.kill)

    @property
    def url(self):
        who = f"guildhall:{self.password}@" if self.password else ""
        return f"{'tls' if self.tls else 'nats'}://{who}127.0.0.1:{self.port}"

    def start(self):
        if self.executable:
            self._start_real()
        else:
            self.listener = socket.create_server(("127.0.0.1", self.port), reuse_port=False)
            threading.Thread(target=self._accept, args=(self.listener,), daemon=True).start()

    def _start_real(self):
        config = tempfile.NamedTemporaryFile("w", suffix=".conf")
        config.write(f"listen: 127.0.0.1:{self.port}\nmax_payload: {self.max_payload}\n")
        if self.tls:
            config.write('tls {{ cert_file: "{}", key_file: "{}" }}\n'.format(*self.tls))
        if self.password:
            config.write(f'authorization {{ user: guildhall, password: "{self.password}" }}\n')
        config.flush()
        self.child = subprocess.Popen([self.executable, "-c", config.name],
                                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                break
            except OSError:
                assert time.monotonic() < deadline, "nats-server does not accept connections"
                time.sleep(0.02)
        config.close()

    def kill(self):
        if self.child:
            self.child.kill()
            self.child.wait()
            self.child = None
        if self.listener:
            self.listener.shutdown(socket.SHUT_RDWR)  # otherwise accept() would keep the port
            self.listener.close()
            self.listener = None
        with self.lock:
            for client in list(self.clients):
                try:
                    client.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    # --- the protocol ----------------------------------------------------------------

    def _accept(self, listener):
        while True:
            try:
                client, _ = listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        info = {"server_id": "test", "version": "2.9.10", "proto": 1, "max_payload":
                self.max_payload, "auth_required": bool(self.password)}
        try:
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client.sendall(b"INFO " + json.dumps(info).encode() + b" \r\n")
            with client.makefile("rb") as lines:
                self._converse(client, lines)
        except (OSError, ValueError, IndexError):
            pass
        with self.lock:
            self.clients.pop(client, None)
        client.close()

    def _converse(self, client, lines):
        while line := lines.readline():
            word, _, rest = line.decode().strip().partition(" ")
            if word == "CONNECT":
                options = json.loads(rest)
                if self.password and options.get("pass") != self.password:
                    client.sendall(b"-ERR 'Authorization Violation'\r\n")
                    return
                assert options["echo"] is False
                with self.lock:
                    self.clients[client] = {}
            elif word == "PING":
                self._send(client, b"PONG\r\n")
            elif word == "SUB":
                subject, number = rest.split()
                with self.lock:
                    self.clients[client][subject] = number
            elif word == "UNSUB":
                with self.lock:
                    subjects = self.clients[client]
                    self.clients[client] = {s: n for s, n in subjects.items() if n != rest}
            elif word == "PUB":
                subject, size = rest.split()
                if int(size) > self.max_payload:
                    client.sendall(b"-ERR 'Maximum Payload Violation'\r\n")
                    return
                payload = lines.read(int(size) + 2)
                if not self.drops_messages:
                    self._pass_on(client, subject, payload)
            elif word != "PONG":
                client.sendall(b"-ERR 'Unknown Protocol Operation'\r\n")
                return

    def _send(self, client, data):
        with self.lock:
            client.sendall(data)

    def _pass_on(self, sender, subject, payload):
        with self.lock:
            if self.seen is not None:
                self.seen.append((subject, payload[:-2]))
            for client, subjects in self.clients.items():
                if client is sender or subject not in subjects:
                    continue
                try:
                    client.sendall(b"MSG %s %s %d\r\n%s" % (subject.encode(),
                                   subjects[subject].encode(), len(payload) - 2, payload))
                    self.passed += 1
                except OSError:
                    pass

    def publish(self, subject, payload):
        """Publishes like an attacker who can reach the broker and has no key."""
        with socket.create_connection(("127.0.0.1", self.port), PATIENCE) as s:
            lines = s.makefile("rb")
            lines.readline()
            options = {"verbose": False, "echo": False, "user": "guildhall", "pass": self.password}
            s.sendall(b"CONNECT " + json.dumps(options).encode() + b"\r\nPUB %s %d\r\n%s\r\nPING\r\n"
                      % (subject.encode(), len(payload), payload))
            lines.readline()

    def subjects(self):
        """Returns the subscribed subjects; only for the built-in broker."""
        with self.lock:
            return sorted({s for subjects in self.clients.values() for s in subjects})

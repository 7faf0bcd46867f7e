"""Runs servers as child processes and reads their kernel statistics. Used by scripts/bench and by
the tests: a server is started on a free port of 127.0.0.1, prints its address, and is ended
here."""

import http.client
import json
import os
import random
import re
import select
import signal
import socket
import subprocess
import tempfile
import time

READY_SECONDS = 120  # enough for a busy machine
STOP_SECONDS = 120


class Failed(Exception):
    """An expected step failed; the text says which."""


def free_port():
    """Returns a free port outside of the ephemeral range: an ephemeral port could be taken by
    another program before its use, or by a client's own connection attempt."""
    while True:
        port = random.randrange(20000, 32000)
        try:
            with socket.create_server(("127.0.0.1", port)):
                return port
        except OSError:
            pass


class Process:
    """A program that prints one line with its address when it is ready."""

    def __init__(self, command, cpu=None, env=None):
        if cpu is not None:
            command = ["taskset", "-c", str(cpu)] + command
        self.log = tempfile.TemporaryFile()
        self.child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=self.log, env={**os.environ, **(env or {})})
        self.pid = self.child.pid
        self.first_line = ""  # the line that it printed when it was ready
        try:
            self.port = self._ready()
        except BaseException:
            self.kill()
            raise

    def _ready(self):
        line = b""
        deadline = time.monotonic() + READY_SECONDS
        while not line.endswith(b"\n"):
            wait = deadline - time.monotonic()
            if wait <= 0 or not select.select([self.child.stdout], [], [], wait)[0]:
                raise Failed(f"the server was not ready after {READY_SECONDS} s\n{self.read_stderr()}")
            byte = os.read(self.child.stdout.fileno(), 512)
            if not byte:
                raise Failed(f"the server ended before it was ready\n{self.read_stderr()}")
            line += byte
        self.first_line = line.decode(errors="replace")
        found = re.search(rb"listening on https?://127\.0\.0\.1:(\d+)", line)
        if not found:
            raise Failed(f"the server's first line has no address: {line!r}")
        return int(found.group(1))

    def read_stderr(self):
        """Returns the last 4,000 bytes of its standard error."""
        size = os.fstat(self.log.fileno()).st_size
        text = os.pread(self.log.fileno(), size, 0)  # keeps the file offset
        return text[-4000:].decode(errors="replace")

    def alive(self):
        return self.child.poll() is None

    def stop(self):
        """Stops the process with SIGTERM and waits for it."""
        if self.alive():
            self.child.send_signal(signal.SIGTERM)
        try:
            status = self.child.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.kill()
            raise Failed(f"the server did not end in {STOP_SECONDS} s\n{self.read_stderr()}") from None
        self.child.stdout.close()
        return status

    def kill(self):
        if self.alive():
            self.child.kill()
        self.child.wait()
        self.child.stdout.close()

    def freeze(self):
        """Pauses the process between two system calls; running calls are completed."""
        self.child.send_signal(signal.SIGSTOP)
        deadline = time.monotonic() + STOP_SECONDS  # a sync on a busy disk takes long
        while set(self._task_states()) != {"T"}:
            if time.monotonic() > deadline:
                raise Failed("the server could not be stopped")
            time.sleep(0.0005)

    def _task_states(self):
        for task in os.listdir(f"/proc/{self.pid}/task"):
            try:
                with open(f"/proc/{self.pid}/task/{task}/stat", encoding="ascii", errors="replace") as f:
                    yield f.read().rpartition(")")[2].split()[0]
            except (FileNotFoundError, ProcessLookupError):
                pass  # the thread has just ended

    def cpu_ns(self):
        """Returns the processor time of all threads so far, and their time waiting for a
        processor."""
        ran = waited = 0
        for task in os.listdir(f"/proc/{self.pid}/task"):
            with open(f"/proc/{self.pid}/task/{task}/schedstat", encoding="ascii") as f:
                fields = f.read().split()
            ran, waited = ran + int(fields[0]), waited + int(fields[1])
        return ran, waited

    def memory(self, field):
        """VmRSS, RssAnon ... of /proc/PID/status, in bytes."""
        with open(f"/proc/{self.pid}/status", encoding="ascii") as f:
            for line in f:
                if line.startswith(field + ":"):
                    return int(line.split()[1]) * 1024
        raise Failed(f"the kernel does not report {field}")


def serve_command(executable, folder, *flags):
    return [executable, "serve", "--listen", "127.0.0.1:0", "--data", str(folder),
            "--rate-limits", "off", "--log-level", "warn", *flags]


def start_guildhall(executable, folder, *flags, cpu=None, env=None):
    return Process(serve_command(executable, folder, *flags), cpu=cpu, env=env)


class OnePieceConnection(http.client.HTTPConnection):
    """Sends head and body in one piece; otherwise the number of reads of the server would depend on the load."""

    def _send_output(self, message_body=None, encode_chunked=False):
        self._buffer.extend((b"", b""))
        self.send(b"\r\n".join(self._buffer) + (message_body or b""))
        del self._buffer[:]


class Client:
    """A keep-alive connection with JSON bodies."""

    def __init__(self, port, token=None, timeout=120):
        self.connection = OnePieceConnection("127.0.0.1", port, timeout=timeout)
        self.token = token

    def call(self, method, path, body=None):
        headers = {"Content-Type": "application/json"} if body is not None else {}
        if self.token:
            headers["Authorization"] = self.token
        text = None if body is None else json.dumps(body)
        if self.connection.sock and select.select([self.connection.sock], [], [], 0)[0]:
            self.connection.close()  # the server closed the idle connection; this opens another
        self.connection.request(method, "/api/v10" + path, text, headers)
        answer = self.connection.getresponse()
        data = answer.read()
        try:
            return answer.status, json.loads(data) if data else None
        except ValueError:
            raise Failed(f"{method} {path} returned no JSON: {data[:200]!r}") from None

    def close(self):
        self.connection.close()


def register(port, name):
    """Registers an account and returns its token."""
    client = Client(port)
    status, answer = client.call("POST", "/auth/register",
                                 {"username": name, "password": "correct horse battery"})
    client.close()
    if status not in (200, 201) or "token" not in answer:
        raise Failed(f"registering '{name}' answered {status}: {answer}")
    return answer["token"]

"""A link to PostgreSQL that delivers bytes after a delay, like a network. The link is a process of
its own that listens on a Unix socket in a folder; libpq connects to it with host=FOLDER."""

import collections
import os
import select
import shutil
import socket
import subprocess
import sys
import tempfile
import time

SOCKET_NAME = ".s.PGSQL.5432"
CHUNK = 256 * 1024


class DelayedLink:
    """Starts the process of a link to the PostgreSQL of the connection string `database`."""

    def __init__(self, database, delay_ms):
        words = dict(word.split("=", 1) for word in database.split())
        self.folder = tempfile.mkdtemp(prefix="guildhall-link.")
        self.database = " ".join([f"host={self.folder}", *(
            f"{name}={value}" for name, value in words.items() if name != "host")])
        self.child = subprocess.Popen(
            [sys.executable, __file__, os.path.join(words["host"], SOCKET_NAME),
             os.path.join(self.folder, SOCKET_NAME), str(delay_ms)], stdout=subprocess.PIPE)
        self.child.stdout.readline()  # the link listens

    def close(self):
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()
        shutil.rmtree(self.folder, ignore_errors=True)


# --- the process of the link --------------------------------------------------------------


class Link:
    """Forwards connections. A chunk that was read at time t is sent at t + delay."""

    def __init__(self, target, delay_s):
        self.target, self.delay_s = target, delay_s
        self.poller = select.epoll()
        self.sources = {}  # file descriptor -> the socket that is read
        self.peers = {}  # socket -> the socket to which its bytes are sent
        self.chunks = collections.deque()  # (time, socket, bytes), in the order of time

    def accept(self, listener):
        client, _ = listener.accept()
        server = socket.socket(socket.AF_UNIX)
        server.connect(self.target)
        for source, target in ((client, server), (server, client)):
            self.peers[source] = target
            self.poller.register(source, select.EPOLLIN)
            self.sources[source.fileno()] = source

    def read(self, source):
        try:
            chunk = source.recv(CHUNK)
        except OSError:
            chunk = b""
        self.chunks.append((time.monotonic() + self.delay_s, self.peers[source], chunk))
        if not chunk:
            self.poller.unregister(source)

    def send_due_chunks(self):
        now = time.monotonic()
        while self.chunks and self.chunks[0][0] <= now:
            _, target, chunk = self.chunks.popleft()
            try:
                if chunk:
                    target.sendall(chunk)
                else:
                    target.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass

    def run(self, listener):
        self.poller.register(listener, select.EPOLLIN)
        while True:
            left = max(0, self.chunks[0][0] - time.monotonic()) if self.chunks else None
            select.select([self.poller], [], [], left)  # epoll would round the time to milliseconds
            for number, _ in self.poller.poll(0):
                if number == listener.fileno():
                    self.accept(listener)
                else:
                    self.read(self.sources[number])
            self.send_due_chunks()


def main():
    target, path, delay_ms = sys.argv[1:]
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(path)
        os.chmod(path, 0o777)
        listener.listen(64)
        print("ready", flush=True)
        Link(target, float(delay_ms) / 1000).run(listener)


if __name__ == "__main__":
    main()

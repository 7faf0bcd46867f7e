"""Separate networks for the database and the broker, with links that can be cut. begin_alone()
starts the program again in its own network namespace, so that nothing is visible outside. The
database and the broker have namespaces too, each with an address per node. A cut drops packets in
both directions."""

import os
import shutil
import socket
import subprocess
import sys
import threading
import time

from cluster_nodes import PATIENCE, Skip, expect

IN_NAMESPACE = "GUILDHALL_TEST_ALONE"
IP = shutil.which("ip") or "/usr/sbin/ip"
SERVERS = (1, 2, 3)
DATABASE_PORT, BROKER_PORT = 15432, 14222


def unshare():
    return ["unshare", "-n"] if os.geteuid() == 0 else ["unshare", "-rn"]


def restart_in_own_namespace():
    """Restarts the program in its own network namespace, or continues without one if that is not
    possible."""
    if os.environ.get(IN_NAMESPACE) or not os.access(IP, os.X_OK) or not shutil.which("unshare"):
        return
    if subprocess.run([*unshare(), "true"], capture_output=True, check=False).returncode == 0:
        os.environ[IN_NAMESPACE] = "1"
        os.execvp("unshare", [*unshare(), "--", *sys.orig_argv])


def ip(*words, inside=None):
    where = ["nsenter", "-t", str(inside), "-n"] if inside else []
    done = subprocess.run([*where, IP, *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise Skip(f"ip {' '.join(words)}: {done.stderr.strip()}")


def own_rules(inside=None):
    """Adds routing rules with a higher priority than those for local addresses."""
    ip("link", "set", "lo", "up", inside=inside)
    ip("rule", "add", "pref", "100", "lookup", "local", inside=inside)
    ip("rule", "del", "pref", "0", inside=inside)


class Machine:
    """A process in its own network namespace."""

    def __init__(self, net, command):
        self.net = net
        self.child = subprocess.Popen(["unshare", "-n", *command], stdout=subprocess.DEVNULL,
                                      stderr=subprocess.DEVNULL)
        pid = self.child.pid
        deadline = time.monotonic() + PATIENCE
        while os.readlink(f"/proc/{pid}/ns/net") == os.readlink("/proc/self/ns/net"):
            expect(time.monotonic() < deadline, "the network namespace was not created")
            time.sleep(0.01)
        own_rules(pid)
        ip("link", "add", f"to{net}", "type", "veth", "peer", "name", "wire", "netns", str(pid))
        for server in SERVERS:
            ip("addr", "add", f"10.{net}.{server}.1/24", "dev", f"to{net}")
            ip("addr", "add", f"10.{net}.{server}.2/24", "dev", "wire", inside=pid)
        ip("link", "set", f"to{net}", "up")
        ip("link", "set", "wire", "up", inside=pid)

    def address(self, server):
        return f"10.{self.net}.{server}.2"

    def wait(self, port):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                socket.create_connection((self.address(1), port), 1).close()
                return
            except OSError:
                expect(time.monotonic() < deadline, "nobody listens there")
                time.sleep(0.02)

    def cut(self, server, word="add"):
        ip("rule", word, "pref", "10", "from", self.address(server), "blackhole")
        ip("rule", word, "pref", "10", "from", f"10.{self.net}.{server}.1", "blackhole",
           inside=self.child.pid)

    def restore(self, server):
        self.cut(server, "del")

    def stop(self):
        ip("link", "del", f"to{self.net}")
        self.child.kill()
        self.child.wait()


class NetworkLinks:
    """The two namespaces, and their addresses for nodes."""

    has_rules = False

    def __init__(self, database):
        if not os.environ.get(IN_NAMESPACE):
            raise Skip("this user cannot create network namespaces")
        nats = shutil.which("nats-server")
        if not nats:
            raise Skip("nats-server is not installed")
        if not NetworkLinks.has_rules:
            own_rules()
        NetworkLinks.has_rules = True
        folder = dict(word.split("=", 1) for word in database.split())["host"]
        self.words = " ".join(w for w in database.split() if not w.startswith("host="))
        self.database = Machine(9, [sys.executable, __file__, folder, str(DATABASE_PORT)])
        self.broker = Machine(8, [nats, "-a", "0.0.0.0", "-p", str(BROKER_PORT)])
        self.database.wait(DATABASE_PORT)
        self.broker.wait(BROKER_PORT)

    def store(self, server):
        return f"host={self.database.address(server)} port={DATABASE_PORT} {self.words}"

    def bus(self, server):
        return f"nats://{self.broker.address(server)}:{BROKER_PORT}"

    def stop(self):
        self.database.stop()
        self.broker.stop()


# --- the database's namespace: forwards connections to PostgreSQL's Unix socket ---------


def forward(source, target):
    try:
        while piece := source.recv(65536):
            target.sendall(piece)
    except OSError:
        pass
    for end in (source, target):
        try:
            end.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass


def relay(folder, port):
    with socket.create_server(("0.0.0.0", port), backlog=64) as listener:
        while True:
            client, _ = listener.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            server = socket.socket(socket.AF_UNIX)
            server.connect(os.path.join(folder, ".s.PGSQL.5432"))
            for pair in ((client, server), (server, client)):
                threading.Thread(target=forward, args=pair, daemon=True).start()


if __name__ == "__main__":
    relay(sys.argv[1], int(sys.argv[2]))

#!/usr/bin/env python3
"""balancer - tests three nodes behind HAProxy and nginx, configured as in docs/CLUSTER.md, while
nodes are killed. Runs only in `make cluster-test`."""

import os
import re
import shutil
import subprocess
import tempfile
import time

from broker import Broker
from killed_nodes import finish_and_check
from resuming_client import ResumingClient
from session_moves import people
from process import free_port
from server_restart import MessageWriter
from cluster_nodes import PATIENCE, Cluster, Skip, expect, guild_and_channel_of
from cases import run_cases

PAGE = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "docs", "CLUSTER.md")
NODES, SESSIONS, KILLS = 3, 12, 3


def page_block(kind):
    with open(PAGE, encoding="utf-8") as f:
        found = re.findall(rf"^```{kind}\n(.*?)^```$", f.read(), re.M | re.S)
    expect(len(found) == 1, f"blocks of {kind}: {len(found)}")
    return found[0]


class Balancer:
    """A load balancer with the configuration of the documentation, between clients and nodes."""

    def __init__(self, name, cluster):
        self.name, self.port = name, free_port()
        program = shutil.which(name) or shutil.which(name, path="/usr/sbin")
        if not program:
            raise Skip(f"{name} is not installed")
        self.folder = tempfile.mkdtemp(prefix="guildhall-balancer.")
        lines = page_block(name)
        for node, server in cluster.servers.items():
            lines = lines.replace(f"10.0.0.{node}:8080", f"127.0.0.1:{server.port}")
        path = os.path.join(self.folder, "conf")
        with open(path, "w", encoding="utf-8") as f:
            f.write(self.around(lines))
        command = ([program, "-db", "-f", path] if name == "haproxy"
                   else [program, "-p", self.folder, "-c", path])
        self.child = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                      stderr=open(os.path.join(self.folder, "log"), "wb"))

    def around(self, lines):
        if self.name == "haproxy":
            return ("global\n    maxconn 1000\n"
                    f"frontend chat\n    mode http\n    bind 127.0.0.1:{self.port}\n"
                    f"    timeout client 90s\n    default_backend guildhall\n{lines}")
        logs = "".join(f"    {kind}_temp_path {self.folder}/{kind};\n"
                       for kind in ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
        return (f"daemon off;\npid {self.folder}/pid;\nerror_log stderr;\n"
                f"events {{ worker_connections 512; }}\nhttp {{\n    access_log off;\n{logs}{lines}"
                f"server {{\n    listen 127.0.0.1:{self.port};\n    location / {{\n"
                "        proxy_pass http://guildhall;\n        proxy_http_version 1.1;\n"
                "        proxy_set_header Host $host;\n        proxy_set_header Upgrade $http_upgrade;\n"
                "        proxy_set_header Connection $http_connection;\n"
                "        proxy_read_timeout 90s;\n    }\n}\n}\n")

    def wait(self, cluster):
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                if cluster._status(self.port) == 200:
                    return
            except OSError:
                pass
            expect(time.monotonic() < deadline and self.child.poll() is None,
                   open(os.path.join(self.folder, "log"), encoding="utf-8").read())
            time.sleep(0.05)

    def stop(self):
        self.child.terminate()
        self.child.wait()
        shutil.rmtree(self.folder, ignore_errors=True)


class Listening(Cluster):
    """A node that is restarted has the same address."""

    ports = None

    def command(self, node):
        self.ports = self.ports or {}
        port = self.ports.setdefault(node, free_port())
        return [*super().command(node), "--listen", f"127.0.0.1:{port}"]


def run_behind_balancer(name, executable):
    broker = Broker()
    with Listening(executable, nodes=NODES, people=people(SESSIONS), bus=broker.url) as cluster:
        cluster.wait_metric("guildhall_nats_connected", 1)
        balancer = Balancer(name, cluster)
        try:
            balancer.wait(cluster)
            _, channel = guild_and_channel_of(cluster.client(1, cluster.tokens[0]))
            sessions = [ResumingClient(lambda: [balancer.port], token) for token in cluster.tokens]
            writers = [MessageWriter(lambda: balancer.port, token, channel, f"w{i}")
                       for i, token in enumerate(cluster.tokens[:4])]
            time.sleep(0.3)
            spread = [cluster.metric(n, "guildhall_sessions") for n in cluster.servers]
            print(f"sessions per node: {spread}")
            expect(all(spread), "the load balancer does not distribute the sessions")
            for turn in range(KILLS):
                node = 1 + turn % NODES
                cluster.servers[node].kill()
                time.sleep(1)
                cluster.start(node)
                for session in sessions:
                    session.wait(lambda s=session: not s.lost_at and s.session_id, "coming back")
            cluster.wait_ready()
            finish_and_check(sessions, writers, lambda: cluster.client(1, cluster.tokens[0]), channel)
        finally:
            balancer.stop()
    broker.kill()


def clients_behind_haproxy_survive_killed_nodes(executable):
    run_behind_balancer("haproxy", executable)


def clients_behind_nginx_survive_killed_nodes(executable):
    run_behind_balancer("nginx", executable)


if __name__ == "__main__":
    run_cases("cluster/balancer", [
        clients_behind_haproxy_survive_killed_nodes,
        clients_behind_nginx_survive_killed_nodes,
    ])

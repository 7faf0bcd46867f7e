"""Benchmark rows about TLS: small requests and resumed handshakes, compared with nginx."""

import os
import shutil
import socket
import ssl
import statistics
import subprocess
import threading
import time

from measure import GATEWAY
from process import Failed

REQUESTS, HANDSHAKES = 4000, 400
CONFIG = """
daemon off;
worker_processes 1;
pid {folder}/nginx.pid;
error_log {folder}/error.log;
events {{ worker_connections 1024; }}
http {{
    access_log off;
    keepalive_requests 1000000;
    client_body_temp_path {folder}/body; proxy_temp_path {folder}/proxy;
    fastcgi_temp_path {folder}/fastcgi; uwsgi_temp_path {folder}/uwsgi; scgi_temp_path {folder}/scgi;
    server {{
        listen 127.0.0.1:{port} ssl;
        ssl_certificate {certificate};
        ssl_certificate_key {key};
        ssl_protocols TLSv1.2 TLSv1.3;
        default_type application/json;
        location / {{ add_header X-Pad "{pad}"; return 200 '{body}'; }}
    }}
}}
"""


class Nginx:
    """An nginx with one worker that returns fixed bytes."""

    def __init__(self, folder, certificate, key, body, pad, cpu):
        self.folder = folder
        os.makedirs(folder, exist_ok=True)
        with socket.socket() as s:
            s.bind(("127.0.0.1", 0))
            self.port = s.getsockname()[1]
        config = os.path.join(folder, "nginx.conf")
        with open(config, "w", encoding="utf-8") as f:
            f.write(CONFIG.format(folder=folder, port=self.port, certificate=certificate, key=key,
                                  body=body, pad=pad))
        command = ["nginx", "-e", os.path.join(folder, "error.log"), "-p", folder, "-c", config]
        if cpu is not None:
            command = ["taskset", "-c", str(cpu)] + command
        self.child = subprocess.Popen(command, stderr=subprocess.PIPE)
        deadline = time.monotonic() + 20
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port), 1).close()
                return
            except OSError:
                if self.child.poll() is not None or time.monotonic() > deadline:
                    self.kill()
                    raise Failed("nginx did not start") from None
                time.sleep(0.02)

    def cpu_ns(self):
        with open(f"/proc/{self.child.pid}/task/{self.child.pid}/children", encoding="ascii") as f:
            workers = f.read().split()
        ran = 0
        for pid in workers:
            with open(f"/proc/{pid}/schedstat", encoding="ascii") as f:
                ran += int(f.read().split()[0])
        return ran, 0

    def kill(self):
        self.child.terminate()
        self.child.wait(20)
        self.child.stderr.close()


def make_certificate(bench):
    """Creates a certificate; returns its path and that of its key."""
    folder = os.path.join(bench.folder, "tls")
    os.makedirs(folder, exist_ok=True)
    certificate, key = (os.path.join(folder, name) for name in ("cert.pem", "key.pem"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                    "-keyout", key, "-out", certificate], check=True, capture_output=True)
    return certificate, key


def context():
    c = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    c.check_hostname = False
    c.verify_mode = ssl.CERT_NONE
    c.minimum_version = ssl.TLSVersion.TLSv1_3
    return c


REQUEST = f"GET {GATEWAY} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode()


def connect(c, port, session=None):
    plain = socket.create_connection(("127.0.0.1", port), 20)
    plain.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return c.wrap_socket(plain, session=session)


def request_once(s):
    """Reads one whole response."""
    s.sendall(REQUEST)
    answer = b""
    while b"\r\n\r\n" not in answer:
        answer += s.recv(65536)
    head, _, body = answer.partition(b"\r\n\r\n")
    lengths = [int(line.split(b":")[1]) for line in head.split(b"\r\n")
               if line.lower().startswith(b"content-length:")]
    if not answer.startswith(b"HTTP/1.1 200") or len(lengths) != 1:
        raise Failed(f"the answer is {answer[:80]!r}")
    while len(body) < lengths[0]:
        body += s.recv(65536)
    return head, body


def repeat_requests(server):
    """Returns the processor time per request on an open connection, in nanoseconds."""
    c, per = context(), REQUESTS // 4
    held = [connect(c, server.port) for _ in range(4)]
    for s in held:
        request_once(s)
    before = server.cpu_ns()[0]
    threads = [threading.Thread(target=lambda s=s: [request_once(s) for _ in range(per)]) for s in held]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    took = (server.cpu_ns()[0] - before) / (per * len(held))
    for s in held:
        s.close()
    return took


def resume_connections(server):
    """Returns the processor time of a resumed TLS connection with one request."""
    c = context()
    s = connect(c, server.port)
    request_once(s)
    session = s.session
    s.close()
    before = server.cpu_ns()[0]
    for _ in range(HANDSHAKES):
        s = connect(c, server.port, session)
        if not s.session_reused:
            raise Failed("a session was not resumed")
        request_once(s)
        session = s.session
        s.close()
    return (server.cpu_ns()[0] - before) / HANDSHAKES


class Tls:
    def __init__(self, bench):
        self.bench = bench

    def rows(self):
        return [("TLS against nginx", self.row_against_nginx)]

    def row_against_nginx(self, bench):
        if not shutil.which("nginx"):
            raise Failed("nginx is not installed")
        certificate, key = make_certificate(bench)
        folder = os.path.dirname(key)
        server = bench.serve("--loops", "1", "--tls-cert", certificate, "--tls-key", key,
                             cpu=bench.server_cpu)
        nginx = None
        try:
            nginx = self.start_comparable_nginx(folder, certificate, key, server)
            for what, measure, limit in (("small GET over TLS", repeat_requests, 1.0),
                                         ("resumed handshake and a GET", resume_connections, 1.1)):
                times = ([], [])
                for number in range(bench.rounds + 1):
                    for which in (0, 1) if number % 2 else (1, 0):
                        times[which].append(measure((server, nginx)[which]))
                ours, theirs = (statistics.median(t[1:]) for t in times)
                bench.report.add(what, ours / theirs, "x nginx", ("<=", limit),
                                 {"server us": ours / 1e3, "nginx us": theirs / 1e3,
                                  "least": min(times[0][1:]) / min(times[1][1:])})
        finally:
            server.kill()
            if nginx:
                nginx.kill()

    def start_comparable_nginx(self, folder, certificate, key, server):
        """Starts an nginx with a response of the same length and the same cipher."""
        ours, cipher = self.sample(server)
        length = sum(map(len, ours))
        nginx = Nginx(os.path.join(folder, "a"), certificate, key, ours[1].decode(), "x",
                      self.bench.server_cpu)
        theirs, other = self.sample(nginx)
        if other != cipher:
            nginx.kill()
            raise Failed(f"nginx chose {other}, the server {cipher}")
        pad = 1 + length - sum(map(len, theirs))
        if pad == 1 or pad < 1:
            return nginx
        nginx.kill()
        return Nginx(os.path.join(folder, "b"), certificate, key, ours[1].decode(), "x" * pad,
                     self.bench.server_cpu)

    @staticmethod
    def sample(server):
        s = connect(context(), server.port)
        answer, cipher = request_once(s), s.cipher()[0]
        s.close()
        return answer, cipher

#!/usr/bin/env python3
"""hosting - tests all commands of docs/HOSTING.md in a folder. Stand-ins replace the machine: apt
installs the tested program, systemctl starts it as the unit does, and the public name leads to the
proxy."""

import os
import re
import shutil
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import expect, run_cases  # noqa: E402
from process import Process, free_port  # noqa: E402

PAGE = os.path.join(HERE, "..", "..", "docs", "HOSTING.md")
PATIENCE = 60


def blocks(kind):
    with open(PAGE, encoding="utf-8") as f:
        return re.findall(rf"^```{kind}\n(.*?)^```$", f.read(), re.M | re.S)


class Machine:
    """A folder with bin, etc and var, and the server that the documentation creates."""

    def __init__(self, executable):
        self.folder = tempfile.TemporaryDirectory()
        self.root = self.folder.name
        self.executable = executable
        self.port = self.metrics = free_port()
        while self.metrics == self.port:
            self.metrics = free_port()
        self.public = f"http://127.0.0.1:{self.port}"
        self.server = None
        self.exported = ""
        for name in ("bin", "etc/guildhall/guildhall.conf.d", "var/lib", "var/backups"):
            os.makedirs(os.path.join(self.root, name))
        shutil.copy(os.path.join(HERE, "..", "..", "packaging", "debian", "guildhall.conf"),
                    os.path.join(self.root, "etc/guildhall"))
        os.symlink(executable, os.path.join(self.root, "bin/guildhall"))
        self.replacements = {
            "/etc/guildhall": f"{self.root}/etc/guildhall",
            "/var/lib/": f"{self.root}/var/lib/",
            "/var/backups/": f"{self.root}/var/backups/",
            "127.0.0.1:8080": f"127.0.0.1:{self.port}",
            "127.0.0.1:9090": f"127.0.0.1:{self.metrics}",
        }

    def replace_paths(self, text):
        for documented, actual in self.replacements.items():
            text = text.replace(documented, actual)
        return text

    def configure(self, lines):
        with open(os.path.join(self.root, "etc/guildhall/guildhall.conf.d/local.conf"), "a",
                  encoding="utf-8") as f:
            f.write(self.replace_paths(lines))

    def restart(self):
        self.stop()
        env, path = dict(os.environ), os.path.join(self.root, "etc/guildhall/environment")
        if os.path.exists(path):
            with open(path, encoding="utf-8") as f:
                env.update(line.strip().split("=", 1) for line in f)
        self.server = Process([self.executable, "serve", "--data",
                               os.path.join(self.root, "var/lib/guildhall"), "--config",
                               os.path.join(self.root, "etc/guildhall/guildhall.conf")], env=env)

    def stop(self):
        if self.server:
            self.server.stop()
        self.server = None

    def run(self, line):
        """Runs one line of the documentation and returns its output."""
        line = re.sub(r"\bsudo ", "", self.replace_paths(line)).replace("https://chat.example", self.public)
        if line.startswith("apt install "):
            expect(line == "apt install ./guildhall_*.deb", line)
            return ""
        if line == "systemctl restart guildhall":
            self.restart()
            return ""
        if line.startswith("systemctl enable --now "):
            expect(os.path.exists(os.path.join(HERE, "..", "..", "packaging", line.split()[-1])), line)
            return ""
        if line.startswith("export "):
            self.exported += line + "\n"
            return ""
        done = subprocess.run(["bash", "-o", "pipefail", "-c", self.exported + line],
                              capture_output=True, text=True, check=False, timeout=PATIENCE, cwd=self.root,
                              env={**os.environ, "HOME": self.root,
                                   "PATH": f"{self.root}/bin:{os.environ['PATH']}",
                                   "GUILDHALL_DATA": f"{self.root}/var/lib/guildhall"})
        expect(done.returncode == 0, f"{line}: {done.stdout}{done.stderr}")
        return done.stdout

    def close(self):
        self.stop()
        self.folder.cleanup()


def documented_hosting_commands_work(executable):
    machine = Machine(executable)
    try:
        for kind, text in re.findall(r"^```(ini|sh)\n(.*?)^```$",
                                     open(PAGE, encoding="utf-8").read(), re.M | re.S):
            if kind == "ini":
                machine.configure(text)
                continue
            for line in text.splitlines():
                output = machine.run(line)
                if line.endswith("/gateway"):
                    expect(output == '{"url":"wss://chat.example"}', output)
                if line.endswith("/metrics"):
                    expect("guildhall_requests_total" in output, output[:300])
                if "invite create" in line:
                    expect("reg-" in output, output)
        for name in ("guildhall-restored", "guildhall-of-last-night"):
            restored = os.path.join(machine.root, "var/lib", name)
            expect(os.path.exists(os.path.join(restored, "pepper.key")), os.listdir(restored))
    finally:
        machine.close()


def certificate(folder):
    cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj", "/CN=chat.example",
                    "-keyout", key, "-out", cert], check=True, capture_output=True, timeout=PATIENCE)
    with open(os.path.join(folder, "both.pem"), "w", encoding="utf-8") as both:
        for path in (cert, key):
            with open(path, encoding="utf-8") as f:
                both.write(f.read())


def find_program(name):
    found = shutil.which(name) or shutil.which(name, path="/usr/sbin:/usr/local/sbin")
    expect(found, f"{name} is not installed; `scripts/setup test` installs it")
    return found


def get(port, path, headers=()):
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    request = urllib.request.Request(f"https://127.0.0.1:{port}{path}",
                                     headers={"Host": "chat.example", **dict(headers)})
    return urllib.request.urlopen(request, timeout=PATIENCE, context=context)


def upgrade(port):
    """Returns the status line of a WebSocket handshake, and the rest."""
    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as plain, \
            context.wrap_socket(plain) as s:
        s.sendall(b"GET /?v=10&encoding=json HTTP/1.1\r\nHost: chat.example\r\n"
                  b"Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\n"
                  b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
        got = b""
        while b"heartbeat_interval" not in got:
            piece = s.recv(4096)
            expect(piece, f"the socket was closed: {got!r}")
            got += piece
        return got


def check_requests_through_proxy(executable, write, command):
    """Tests a server behind a proxy with this configuration."""
    machine = Machine(executable)
    proxy = None
    try:
        machine.configure(blocks("ini")[0])
        machine.restart()
        certificate(machine.root)
        port = free_port()
        path = write(machine, port)
        proxy = subprocess.Popen(command(machine, path), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                output = get(port, "/api/v10/gateway").read()
                break
            except OSError:
                expect(time.monotonic() < deadline and proxy.poll() is None, "the proxy does not reply")
                time.sleep(0.05)
        expect(output == b'{"url":"wss://chat.example"}', str(output))
        expect(upgrade(port).startswith(b"HTTP/1.1 101 "), "no WebSocket")
        # A forged address is ignored: the sixth wrong password is refused.
        codes = []
        for i in range(7):
            request = urllib.request.Request(
                f"https://127.0.0.1:{port}/api/v10/auth/login", method="POST",
                data=b'{"login":"ada","password":"wrong"}',
                headers={"Host": "chat.example", "Content-Type": "application/json",
                         "X-Forwarded-For": f"203.0.113.{i}", "Forwarded": f"for=203.0.113.{i}"})
            context = ssl.create_default_context()
            context.check_hostname = False
            context.verify_mode = ssl.CERT_NONE
            try:
                urllib.request.urlopen(request, timeout=PATIENCE, context=context)
            except urllib.error.HTTPError as refusal:
                codes.append(refusal.code)
        expect(codes[0] == 400 and codes[-1] == 429, str(codes))
    finally:
        if proxy:
            proxy.terminate()
            proxy.wait(PATIENCE)
        machine.close()


def write_nginx(machine, site):
    path = os.path.join(machine.root, "nginx.conf")
    temporary = "".join(f"{kind}_temp_path {machine.root}/{kind};\n" for kind in
                        ("client_body", "proxy", "fastcgi", "uwsgi", "scgi"))
    with open(path, "w", encoding="utf-8") as f:
        f.write(f"daemon off;\npid {machine.root}/nginx.pid;\nevents {{}}\n"
                f"error_log {machine.root}/error.log;\n"
                f"http {{\naccess_log off;\n{temporary}{site}}}\n")
    return path


def nginx_forwards_requests_and_websockets(executable):
    program = find_program("nginx")

    def write(machine, port):
        site = machine.replace_paths(blocks("nginx")[0].replace("listen 443 ", f"listen 127.0.0.1:{port} "))
        return write_nginx(machine, site.replace("/etc/ssl/chat.example", machine.root))

    check_requests_through_proxy(executable, write, lambda m, path: [program, "-p", m.root, "-c", path])


def haproxy_forwards_requests_and_websockets(executable):
    program = find_program("haproxy")

    def write(machine, port):
        text = machine.replace_paths(blocks("haproxy")[0]).replace(":443", f"127.0.0.1:{port}")
        path = os.path.join(machine.root, "haproxy.cfg")
        with open(path, "w", encoding="utf-8") as f:
            f.write(text.replace("/etc/ssl/chat.example", machine.root))
        return path

    check_requests_through_proxy(executable, write, lambda m, path: [program, "-db", "-f", path])


def caddy_forwards_requests_and_websockets(executable):
    program = find_program("caddy")

    def write(machine, port):
        # In the documentation Caddy fetches a certificate and serves only its name.
        site = machine.replace_paths(blocks("caddy")[0]).replace(
            "chat.example {", f"chat.example:{port} {{\n"
            f"bind 127.0.0.1\ntls {machine.root}/cert.pem {machine.root}/key.pem")
        path = os.path.join(machine.root, "Caddyfile")
        with open(path, "w", encoding="utf-8") as f:
            f.write("{\nadmin off\nauto_https off\ndefault_sni chat.example\n"
                    f"storage file_system {machine.root}/caddy\n}}\n{site}")
        return path

    check_requests_through_proxy(executable, write, lambda m, path: [
        "env", f"HOME={m.root}", f"XDG_CONFIG_HOME={m.root}", program, "run", "--adapter",
        "caddyfile", "--config", path])


def status(port, path, body=None, host="chat.example"):
    request = urllib.request.Request(f"http://127.0.0.1:{port}{path}", data=body, headers={
        "Host": host, **({"Content-Type": "application/json"} if body else {})})
    try:
        return urllib.request.urlopen(request, timeout=PATIENCE).status
    except urllib.error.HTTPError as refusal:
        return refusal.code


def check_proxied_clients_are_not_local(executable, write, command, sign=None):
    """Tests a proxy with default settings in front of a server without public-url: its clients do not count as
    local."""
    machine = Machine(executable)
    proxy = None
    try:
        machine.configure("listen = 127.0.0.1:8080\nworkbench = on\n")
        machine.restart()
        port = free_port()
        path = write(machine, port)
        proxy = subprocess.Popen(command(machine, path), stdout=subprocess.DEVNULL,
                                 stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + PATIENCE
        while True:
            try:
                expect(status(port, "/healthz") == 200, "healthz")
                break
            except OSError:
                expect(time.monotonic() < deadline and proxy.poll() is None, "the proxy does not reply")
                time.sleep(0.05)
        person = b'{"username":"eve","password":"correct horse"}'
        got = [status(port, "/metrics"), status(port, "/console/world"),
               status(port, "/api/v10/auth/register", person)]
        expect(got == [401, 401, 400], f"through the proxy: {got}")
        # Without the proxy the same requests are local.
        got = [status(machine.port, "/metrics", host="localhost"),
               status(machine.port, "/console/world", host="localhost"),
               status(machine.port, "/api/v10/auth/register", person, "localhost")]
        expect(got == [200, 200, 200], f"from this machine: {got}")
        warnings = machine.server.read_stderr().count("a proxy on this machine")
        expect(warnings == (1 if sign else 0) and (sign or "") in machine.server.read_stderr(),
               machine.server.read_stderr())
    finally:
        if proxy:
            proxy.terminate()
            proxy.wait(PATIENCE)
        machine.close()


def clients_of_an_unconfigured_nginx_are_not_local(executable):
    program = find_program("nginx")
    check_proxied_clients_are_not_local(executable, lambda m, port: write_nginx(m, f"""
server {{
    listen 127.0.0.1:{port};
    location / {{ proxy_pass http://127.0.0.1:{m.port}; }}
}}
"""), lambda m, path: [program, "-p", m.root, "-c", path], "header: HTTP/1.0")


def clients_of_an_unconfigured_haproxy_are_not_local(executable):
    program = find_program("haproxy")

    def write(machine, port):
        path = os.path.join(machine.root, "haproxy.cfg")
        with open(path, "w", encoding="utf-8") as f:
            f.write("defaults\n mode http\n timeout client 90s\n timeout connect 5s\n timeout server 90s\n"
                    f"listen all\n bind 127.0.0.1:{port}\n server one 127.0.0.1:{machine.port}\n")
        return path

    check_proxied_clients_are_not_local(executable, write, lambda m, path: [program, "-db", "-f", path])


def clients_of_an_unconfigured_caddy_are_not_local(executable):
    program = find_program("caddy")

    def write(machine, port):
        path = os.path.join(machine.root, "Caddyfile")
        with open(path, "w", encoding="utf-8") as f:
            f.write(f"{{\nadmin off\nauto_https off\nstorage file_system {machine.root}/caddy\n}}\n"
                    f"http://:{port} {{\nbind 127.0.0.1\nreverse_proxy 127.0.0.1:{machine.port}\n}}\n")
        return path

    check_proxied_clients_are_not_local(executable, write, lambda m, path: [
        "env", f"HOME={m.root}", f"XDG_CONFIG_HOME={m.root}", program, "run", "--adapter",
        "caddyfile", "--config", path], "header: X-Forwarded-For")


if __name__ == "__main__":
    run_cases("hosting", [documented_hosting_commands_work, nginx_forwards_requests_and_websockets,
                          haproxy_forwards_requests_and_websockets, caddy_forwards_requests_and_websockets,
                          clients_of_an_unconfigured_nginx_are_not_local,
                          clients_of_an_unconfigured_haproxy_are_not_local,
                          clients_of_an_unconfigured_caddy_are_not_local])

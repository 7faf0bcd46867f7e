#!/usr/bin/env python3
"""static - tests the static program, which serves and sends requests without any other file.

    static.py            builds and tests the program for this machine
    static.py arm64      builds the program for 64-bit ARM, and tests it under qemu-user-static

The build takes minutes, so this runs only with `scripts/test static` or `scripts/test static-arm64`.
"""

import http.server
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402
from process import Client, Process  # noqa: E402

ARM = sys.argv[1:] == ["arm64"]
PATIENCE = 1800


class Box:
    """A chroot folder with only the program and a hosts file."""

    def __init__(self, program):
        if os.geteuid() != 0:
            raise Skip("only root may use chroot")
        self.folder = tempfile.TemporaryDirectory()
        self.root = self.folder.name
        for name in ("etc", "data", "tmp"):
            os.mkdir(os.path.join(self.root, name))
        with open(os.path.join(self.root, "etc/hosts"), "w", encoding="ascii") as f:
            f.write("127.0.0.1 localhost\n")
        shutil.copy(program, os.path.join(self.root, "guildhall"))
        self.words = ["chroot", self.root]
        if ARM:
            emulator = shutil.which("qemu-aarch64-static")
            expect(emulator, "qemu-aarch64-static is not installed; `scripts/setup arm64` installs it")
            shutil.copy(emulator, os.path.join(self.root, "qemu"))
            self.words.append("/qemu")
        self.words.append("/guildhall")

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.folder.cleanup()

    def run(self, *words):
        return subprocess.run([*self.words, *words, "--data", "/data"], capture_output=True,
                              text=True, timeout=PATIENCE, check=False)

    def serve(self):
        return Process([*self.words, "serve", "--listen", "127.0.0.1:0", "--data", "/data",
                        "--private-endpoints", "on"])


def static_program_needs_no_library(program):
    output = subprocess.run(["readelf", "-ld", program], capture_output=True, text=True, check=True).stdout
    expect("NEEDED" not in output and "INTERP" not in output, output)


class RecordingHandler(http.server.BaseHTTPRequestHandler):
    paths = []

    def do_POST(self):
        self.paths.append(self.path)
        self.send_error(500)

    def log_message(self, *_):
        pass


def static_program_serves_and_sends_requests_in_an_empty_chroot(program):
    endpoint = http.server.HTTPServer(("127.0.0.1", 0), RecordingHandler)
    threading.Thread(target=endpoint.serve_forever, daemon=True).start()
    with Box(program) as box:
        server = box.serve()
        try:
            done = box.run("user", "add", "ada")
            expect(done.returncode == 0, done.stdout + done.stderr)
            ada = Client(server.port, re.search(r"token +(\S+)", done.stdout)[1], timeout=120)
            expect(ada.call("GET", "/users/@me")[1]["username"] == "ada", "who am I")
            _, app = ada.call("POST", "/applications", {"name": "Weather"})
            url = f"http://localhost:{endpoint.server_port}/hook"
            status, answer = ada.call("PATCH", f"/applications/{app['id']}",
                                      {"interactions_endpoint_url": url})
            expect(status == 400 and RecordingHandler.paths, f"no request was sent: {status} {answer}")
        finally:
            server.stop()
            endpoint.shutdown()


def static_program_reports_missing_postgresql_support(program):
    with Box(program) as box:
        done = box.run("check", "--store", "postgres://127.0.0.1/x")
        expect(done.returncode == 1 and "supports SQLite only" in done.stderr,
               done.stdout + done.stderr)


made = subprocess.run(["scripts/package", "static", *(["arm64"] if ARM else [])], cwd=ROOT, text=True,
                      capture_output=True, timeout=PATIENCE, check=False)
if made.returncode:
    sys.exit(made.stdout + made.stderr)
sys.argv[1:] = [os.path.join(ROOT, made.stdout.split()[-1])]
run_cases("static", [
    static_program_needs_no_library,
    static_program_serves_and_sends_requests_in_an_empty_chroot,
    static_program_reports_missing_postgresql_support,
])

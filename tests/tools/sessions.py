#!/usr/bin/env python3
"""sessions - tests the operator command that lists the sessions of a running server."""

import json
import os
import re
import stat
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))

from cases import expect, run_cases  # noqa: E402
from gateway_session import connect  # noqa: E402
from prepared_data import start_guildhall  # noqa: E402
from process import register  # noqa: E402


def run_sessions(executable, data, *flags):
    return subprocess.run([executable, "sessions", "--data", data, *flags], capture_output=True,
                          text=True, timeout=60, check=False)


def sessions_command_lists_the_sessions_of_a_running_server(executable):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "d" * 120)  # longer than the maximum path of a Unix socket
        server = start_guildhall(executable, data)
        try:
            done = run_sessions(executable, data)
            expect(done.returncode == 0 and done.stdout.endswith("\n0 sessions\n"), done.stdout)
            mode = stat.S_IMODE(os.stat(os.path.join(data, "control")).st_mode)
            expect(mode == 0o600, oct(mode))
            with connect(server.port, register(server.port, "ada")):
                lines = run_sessions(executable, data).stdout.splitlines()
                expect(len(lines) == 3 and lines[0].startswith("account "), str(lines))
                expect(re.search(r" ada +user .* 127\.0\.0\.1 ", lines[1]), lines[1])
                expect(lines[1].endswith("linux|probe|") and lines[2] == "1 session", str(lines))
                session = json.loads(run_sessions(executable, data, "--json").stdout)
                expect(session["name"] == "ada" and session["connected"] and not session["bot"] and
                       session["events"] == 1, str(session))
        finally:
            server.stop()
        expect(not os.path.exists(os.path.join(data, "control")), "the control socket was not deleted")


def sessions_command_fails_without_a_server(executable):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        done = run_sessions(executable, data)
        expect(done.returncode == 1 and "no server runs" in done.stderr, done.stderr)
        server = start_guildhall(executable, data)
        server.kill()  # its control socket remains
        done = run_sessions(executable, data)
        expect(done.returncode == 1 and "no server runs" in done.stderr, done.stderr)
        server = start_guildhall(executable, data)
        try:
            expect(run_sessions(executable, data).returncode == 0, "the next server cannot be queried")
        finally:
            server.stop()


run_cases("sessions", [
    sessions_command_lists_the_sessions_of_a_running_server,
    sessions_command_fails_without_a_server,
])

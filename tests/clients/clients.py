#!/usr/bin/env python3
"""clients - tests unchanged client libraries against a running server: login, resume, shards."""

import fcntl
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402
from prepared_data import copy_prepared_data  # noqa: E402
from process import Client, Failed, start_guildhall  # noqa: E402

PATIENCE = 120
GUILDS = 6
WORLD = {
    "users": [{"username": "ada"}],
    "applications": [{"name": "Helper", "owner": "ada", "bot": "helper"}],
    "guilds": [{"name": f"Guild {i}", "owner": "ada", "channels": [{"name": "talk"}],
                "members": [{"user": "helper"}],
                "applications": [{"application": "Helper", "by": "ada"}]} for i in range(GUILDS)],
}
NAMES = ",".join(f"Guild {i}" for i in range(GUILDS))


class Server:
    """A server with ada, her bot and some guilds."""

    def __init__(self, executable, *flags):
        self.folder = tempfile.mkdtemp()
        world = os.path.join(self.folder, "world.json")
        with open(world, "w", encoding="utf-8") as f:
            json.dump(WORLD, f)
        data = copy_prepared_data(executable, os.path.join(self.folder, "data"))
        done = subprocess.run([executable, "import", "--tokens", world, "--data", data],
                              capture_output=True, text=True, timeout=60, check=False)
        expect(done.returncode == 0, done.stderr)
        tokens = dict(re.findall(r"^(ada|helper) +(.*)$", done.stdout, re.M))
        self.bot_token = tokens["helper"].removeprefix("Bot ")
        self.process = start_guildhall(executable, data, *flags)
        self.api = f"http://127.0.0.1:{self.process.port}/api"
        self.certificate = os.path.join(data, "cert.pem")  # with --tls-self-signed
        self.ada = Client(self.process.port, tokens["ada"])
        guilds = self.ada.call("GET", "/users/@me/guilds")[1]
        self.channels = [self.ada.call("GET", f"/guilds/{g['id']}/channels")[1][0]["id"]
                         for g in guilds]

    def say(self, text, channel=0):
        status, answer = self.ada.call("POST", f"/channels/{self.channels[channel]}/messages",
                                       {"content": text})
        expect(status == 200, f"posting a message got {status}: {answer}")

    def close(self):
        self.ada.close()
        self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


class Library:
    """A bot process that is controlled by lines of text."""

    def __init__(self, command, server, shards, folder=None):
        self.child = subprocess.Popen([*command, server.api, server.bot_token, str(shards)],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, cwd=folder)
        self.lines, self.rest = [], b""

    def send_command(self, command):
        self.child.stdin.write(command.encode() + b"\n")
        self.child.stdin.flush()

    def next(self):
        deadline = time.monotonic() + PATIENCE
        while not self.lines:
            wait = deadline - time.monotonic()
            if wait <= 0 or not select.select([self.child.stdout], [], [], wait)[0]:
                raise Failed("the library prints nothing")
            got = os.read(self.child.stdout.fileno(), 65536)
            if not got:
                raise Failed(f"the library ended: {self.rest.decode(errors='replace')}")
            *whole, self.rest = (self.rest + got).split(b"\n")
            self.lines += [line.decode() for line in whole]
        return self.lines.pop(0)

    def expect(self, *wanted):
        """Expects these lines, in any order, and no others before them."""
        left = list(wanted)
        while left:
            line = self.next()
            expect(line in left, f"the library printed '{line}', not one of {left}")
            left.remove(line)

    def end(self):
        self.send_command("end")
        try:
            self.child.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            raise Failed("the library does not stop") from None

    def close(self):
        self.child.kill()
        self.child.wait()
        self.child.stdin.close()
        self.child.stdout.close()


def put_file(name, folder):
    """Copies a file of this folder; returns whether it changed."""
    with open(os.path.join(HERE, name), "rb") as f:
        wanted = f.read()
    path = os.path.join(folder, name)
    known = os.path.exists(path) and open(path, "rb").read() == wanted
    if not known:
        with open(path, "wb") as f:
            f.write(wanted)
    return not known


def node_command(script="discord_js.js"):
    """Returns the command for node, with the libraries of the lock file, which are installed once
    next to the build."""
    if not shutil.which("node") or not shutil.which("npm"):
        raise Skip("node or npm is not installed")
    folder = os.path.abspath(os.path.join(os.path.dirname(sys.argv[1]), "..", "clients"))
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="utf-8") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # several tests may install at the same time
        fresh = any([put_file(name, folder) for name in ("package.json", "package-lock.json")])
        put_file(script, folder)
        if fresh or not os.path.isdir(os.path.join(folder, "node_modules", "discord.js")):
            done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"],
                                  cwd=folder, capture_output=True, text=True, timeout=240,
                                  check=False)
            if done.returncode:
                raise Skip(f"npm cannot install discord.js: {done.stderr[-300:]}")
    return ["node", script], folder


def python_command(script="discord_py.py"):
    python = "/usr/bin/python3"  # the distribution's Python, which has the library
    has_library = subprocess.run([python, "-c", "import discord"], capture_output=True, check=False)
    if has_library.returncode:
        raise Skip("discord.py is not installed (Debian: python3-discord)")
    return [python, os.path.join(HERE, script)], None


def with_library(executable, make_command, shards, scenario):
    command, folder = make_command()
    server = Server(executable)
    library = None
    try:
        library = Library(command, server, shards, folder)
        scenario(server, library, shards)
        library.end()
    finally:
        if library:
            library.close()
        server.close()


def with_seyfert(executable, shards, scenario):
    """Runs the scenario with seyfert, which supports only TLS."""
    command, folder = node_command("seyfert_js.js")
    server = Server(executable, "--tls-self-signed", "on", "--public-url", "https://127.0.0.1")
    server.api = server.api.replace("http:", "https:")
    os.environ.update(NODE_EXTRA_CA_CERTS=server.certificate, NODE_NO_WARNINGS="1")
    library = None
    try:
        library = Library(command, server, shards, folder)
        scenario(server, library, shards)
        library.end()
    finally:
        del os.environ["NODE_EXTRA_CA_CERTS"]
        if library:
            library.close()
        server.close()


def log_in_and_receive_messages(server, library, _):
    library.expect(f"ready {NAMES}")
    server.say("hello")
    library.expect("heard hello")
    library.send_command("members")
    library.expect("members 2")


def lose_the_socket_and_resume(server, library, shards):
    library.expect(f"ready {NAMES}")
    for turn in range(3):
        server.say(f"before {turn}")
        library.expect(f"heard before {turn}")
        library.send_command("drop")
        missed = [f"missed {turn} {i}" for i in range(5)]
        for text in missed:
            server.say(text)
        library.expect(*[f"heard {text}" for text in missed], *["resumed"] * shards)
    server.say("after")
    library.expect("heard after")


def receive_messages_of_every_guild(server, library, _):
    library.expect(f"ready {NAMES}")
    for i in range(GUILDS):
        server.say(f"in {i}", i)
    library.expect(*[f"heard in {i}" for i in range(GUILDS)])


def discord_js_logs_in(executable):
    with_library(executable, node_command, 1, log_in_and_receive_messages)


def discord_js_resumes(executable):
    with_library(executable, node_command, 1, lose_the_socket_and_resume)


def discord_js_runs_two_shards(executable):
    with_library(executable, node_command, 2, receive_messages_of_every_guild)


def discord_js_resumes_two_shards(executable):
    with_library(executable, node_command, 2, lose_the_socket_and_resume)


def discord_py_logs_in(executable):
    with_library(executable, python_command, 1, log_in_and_receive_messages)


def discord_py_resumes(executable):
    with_library(executable, python_command, 1, lose_the_socket_and_resume)


def discord_py_runs_two_shards(executable):
    with_library(executable, python_command, 2, receive_messages_of_every_guild)


def seyfert_logs_in(executable):
    with_seyfert(executable, 1, log_in_and_receive_messages)


def seyfert_resumes(executable):
    with_seyfert(executable, 1, lose_the_socket_and_resume)


if __name__ == "__main__":
    run_cases("clients", [
        discord_js_logs_in,
        discord_js_resumes,
        discord_js_runs_two_shards,
        discord_js_resumes_two_shards,
        discord_py_logs_in,
        discord_py_resumes,
        discord_py_runs_two_shards,
        seyfert_logs_in,
        seyfert_resumes,
    ])

#!/usr/bin/env python3
"""web_clients - sends the requests that Fermi and Spacebar's client sent in a browser (web_clients.json), and checks
that they succeed and that the fields that these clients read are there. They are no npm packages."""

import base64
import http.client
import json
import os
import socket
import struct
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import expect, run_cases  # noqa: E402
from process import Client, register, start_guildhall  # noqa: E402

ORIGIN = "https://client.example"
PATIENCE = 60


class Gateway:
    """A connection that reads JSON events; the events that nobody asked for are skipped."""

    def __init__(self, port, target):
        self.socket = socket.create_connection(("127.0.0.1", port), PATIENCE)
        self.stream = self.socket.makefile("rb")
        key = base64.b64encode(b"the sample nonce").decode()
        self.socket.sendall(f"GET {target} HTTP/1.1\r\nHost: a\r\nOrigin: {ORIGIN}\r\nUpgrade: websocket\r\n"
                            f"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
                            .encode())
        while self.stream.readline().strip():
            pass

    def send(self, message):
        text = json.dumps(message).ljust(126).encode()  # shorter messages have a shorter header
        self.socket.sendall(struct.pack(">BBH4x", 0x81, 0x80 | 126, len(text)) + text)

    def read(self):
        head = self.stream.read(2)
        expect(len(head) == 2 and head[0] == 0x81, f"the gateway sent {head!r} instead of a text")
        size = head[1]
        if size >= 126:
            size = int.from_bytes(self.stream.read(2 if size == 126 else 8), "big")
        return json.loads(self.stream.read(size))

    def wait_for(self, event):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            message = self.read()
            if message.get("t") == event:
                return message["d"]
        return expect(False, f"{event} did not come")


def filled(value, known):
    """Returns a value whose words in braces are replaced by known ids."""
    text = json.dumps(value)
    for name, word in known.items():
        text = text.replace("{%s}" % name, word)
    return json.loads(text)


def field(value, path):
    for key in path.split("."):
        value = value[int(key)] if isinstance(value, list) else value[key]
    return value


def check_fields(words, value, paths):
    for path in paths:
        try:
            expect(field(value, path) is not None, f"{words}: {path} is null")
        except (KeyError, IndexError, TypeError):
            expect(False, f"{words}: {path} is missing: {json.dumps(value)[:600]}")


class WebClient:
    """A page of another origin. It runs the steps of one client."""

    def __init__(self, port, ada, known):
        self.port, self.ada, self.known, self.gateway = port, ada, known, None

    def send(self, words, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        headers = {"Origin": ORIGIN, "Content-Type": "application/json; charset=UTF-8"}
        if "token" in self.known:
            headers["Authorization"] = self.known["token"]
        connection.request(method, path, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        text = answer.read()
        expect(answer.status in (200, 201, 204), f"{words}: {method} {path} answered {answer.status}: {text[:300]!r}")
        expect(answer.headers["Access-Control-Allow-Origin"] == ORIGIN, f"{words}: a browser hides the answer")
        expect(answer.headers["Access-Control-Allow-Credentials"] == "true", f"{words}: a browser hides the answer")
        connection.close()
        return json.loads(text) if text else None

    def run(self, step, target):
        words, answer = step["do"], None
        if "send" in step:
            answer = self.send(words, *filled(step["send"], self.known))
            check_fields(words, answer, step["reads"])
        elif "ada" in step:
            status, made = self.ada.call(*filled(step["ada"], self.known))
            expect(status == 200, f"{words}: {made}")
            self.known["message"] = made["id"]
        elif "identify" in step:
            self.gateway = Gateway(self.port, target)
            self.gateway.send({"op": 2, "d": {"token": self.known["token"], **step["identify"]}})
        else:
            self.gateway.send(filled(step["opcode"], self.known))
        if "event" in step:
            event = self.gateway.wait_for(step["event"])
            check_fields(f"{words} ({step['event']})", event, step.get("event_reads", step["reads"]))
        for name, path in step.get("keep", {}).items():
            self.known[name] = field(answer, path)


def check_web_client(executable, name):
    with open(os.path.join(HERE, "web_clients.json"), encoding="utf-8") as f:
        recorded = json.load(f)[name]
    with tempfile.TemporaryDirectory() as folder:
        process = start_guildhall(executable, folder, "--rate-limits", "off", "--cors-origin", ORIGIN)
        try:
            ada = Client(process.port, register(process.port, "ada"))
            guild = ada.call("POST", "/guilds", {"name": "Hall"})[1]
            channel = next(c for c in ada.call("GET", f"/guilds/{guild['id']}/channels")[1] if c["type"] == 0)["id"]
            invite = ada.call("POST", f"/channels/{channel}/invites", {})[1]["code"]
            message = ada.call("POST", f"/channels/{channel}/messages", {"content": "welcome"})[1]
            status, made = Client(process.port).call(
                "POST", "/auth/register", {"username": "nina", "email": "nina@example.org", "password": "correct horse"})
            expect(status == 200, made)
            known = {"guild": guild["id"], "channel": channel, "invite": invite, "ada": message["author"]["id"]}
            client = WebClient(process.port, ada, known)
            for step in recorded["steps"]:
                client.run(step, recorded["gateway"])
        finally:
            process.stop()


def fermi_finds_the_fields_that_it_reads(executable):
    check_web_client(executable, "fermi")


def spacebar_client_finds_the_fields_that_it_reads(executable):
    check_web_client(executable, "spacebar_client")


if __name__ == "__main__":
    run_cases("web_clients", [fermi_finds_the_fields_that_it_reads, spacebar_client_finds_the_fields_that_it_reads])

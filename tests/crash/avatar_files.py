#!/usr/bin/env python3
"""avatar_files - tests that avatars acknowledged by a killed server exist, and no others."""

import base64
import os
import random
import struct
import threading
import time
import zlib

from cases import expect, run_cases
from disk_images import TestResources
from process import Client, register, start_guildhall

ROUNDS = 5
PEOPLE = 8
PATIENCE = 120  # seconds


def picture():
    """Returns a PNG of one pixel with random extra bytes."""
    def chunk(kind, data):
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))
    png = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 6, 0, 0, 0)) +
           chunk(b"IDAT", zlib.compress(b"\0" * 5)) + chunk(b"teXt", os.urandom(64)) +
           chunk(b"IEND", b""))
    return "data:image/png;base64," + base64.b64encode(png).decode()


class Person:
    """A user who changes the avatar as fast as possible."""

    def __init__(self, port, name):
        self.token = register(port, name)
        self.acknowledged = None

    def run(self, port):
        client = Client(port, self.token)
        try:
            while True:
                status, answer = client.call("PATCH", "/users/@me", {"avatar": picture()})
                expect(status == 200, f"an avatar upload got {status}: {answer}")
                self.acknowledged = answer["avatar"]
        except Exception:  # pylint: disable=broad-except
            pass  # the server is gone
        finally:
            client.close()

    def shown(self, port):
        client = Client(port, self.token)
        status, answer = client.call("GET", "/users/@me")
        client.close()
        expect(status == 200, f"a user cannot be read: {status} {answer}")
        return answer["id"], answer["avatar"]


def files_below(folder):
    return {os.path.relpath(os.path.join(at, name), folder)
            for at, _, names in os.walk(folder) for name in names}


def wait_until_only_shown_files_exist(blobs, shown):
    deadline = time.monotonic() + PATIENCE
    found = None
    while time.monotonic() < deadline:
        found = files_below(blobs)
        if found == shown:
            return
        time.sleep(0.05)
    expect(False, f"missing: {sorted(shown - found)}; too many: {sorted(found - shown)}")


def killed_server_neither_loses_nor_leaks_avatar_files(executable):
    with TestResources() as resources:
        folder = os.path.join(resources.folder, "data")
        server = resources.kill_at_end(start_guildhall(executable, folder))
        people = [Person(server.port, f"person{i}") for i in range(PEOPLE)]
        for number in range(ROUNDS):
            threads = [threading.Thread(target=p.run, args=(server.port,)) for p in people]
            for thread in threads:
                thread.start()
            time.sleep(random.uniform(0.2, 1))
            server.kill()
            for thread in threads:
                thread.join(60)
            left = len(files_below(os.path.join(folder, "blobs")))

            server = resources.kill_at_end(start_guildhall(executable, folder))
            shown = [p.shown(server.port) for p in people]
            wait_until_only_shown_files_exist(
                os.path.join(folder, "blobs"),
                {f"avatars/{owner}/{avatar}" for owner, avatar in shown if avatar})
            print(f"round {number + 1}: {left} files and records at the kill, {len(shown)} remain")


if __name__ == "__main__":
    run_cases("crash/avatar_files", [killed_server_neither_loses_nor_leaks_avatar_files])

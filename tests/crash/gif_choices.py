#!/usr/bin/env python3
"""gif_choices - tests that a chosen GIF counts exactly once when the server is killed."""

import json
import os
import random
import sqlite3
import subprocess
import threading
import time
from http.client import HTTPException

from cases import expect, run_cases
from disk_images import TestResources
from process import Client, Failed, register, start_guildhall
from writers import check_passes

ROUNDS = 5
PEOPLE = 16
GIFS = 30  # fewer than the limit of one account
PATIENCE = 120


def import_gifs(executable, folder):
    files = folder + "-files"
    os.mkdir(files)
    with open(os.path.join(files, "a.gif"), "wb") as f:
        f.write(b"GIF89a\xf0\x01\x18\x01\0\0\0\x3b")
    path = os.path.join(files, "gifs.jsonl")
    with open(path, "w", encoding="ascii") as f:
        for n in range(GIFS):
            f.write(json.dumps({"id": f"g{n}", "tags": ["cat"], "media": {"gif": "a.gif"}}) + "\n")
    subprocess.run([executable, "gifs", "import", path, "--data", folder], check=True,
                   capture_output=True)


class Person:
    """A user who chooses one GIF after the other and continues after a kill."""

    def __init__(self, port, name):
        self.token, self.chosen = register(port, name), 0

    def choose(self, port):
        client = Client(port, self.token)
        try:
            while self.chosen < GIFS:
                status, answer = client.call("POST", "/gifs/select",
                                             {"id": f"g{self.chosen}", "q": "good cat"})
                if status != 204:
                    raise Failed(f"POST /gifs/select answered {status}: {answer}")
                self.chosen += 1
                time.sleep(random.uniform(0, 0.1))
        except (OSError, HTTPException):
            pass  # killed
        finally:
            client.close()


def number(folder, sql):
    db = sqlite3.connect(os.path.join(folder, "guildhall.db"))
    found = db.execute(sql).fetchone()[0]
    db.close()
    return found


def wait_for_counts(folder):
    deadline = time.monotonic() + PATIENCE
    while number(folder, "select count(*) from gif_choices"):
        expect(time.monotonic() < deadline, f"choices are not counted after {PATIENCE} s")
        time.sleep(0.1)


def gif_choice_counts_once_despite_kills(executable):
    with TestResources() as resources:
        folder = os.path.join(resources.folder, "data")
        server = resources.kill_at_end(start_guildhall(executable, folder))
        people = [Person(server.port, f"person{n}") for n in range(PEOPLE)]
        server.stop()
        import_gifs(executable, folder)
        for n in range(ROUNDS):
            server = resources.kill_at_end(start_guildhall(executable, folder))
            threads = [threading.Thread(target=p.choose, args=(server.port,)) for p in people]
            for t in threads:
                t.start()
            last = n == ROUNDS - 1
            if not last:
                time.sleep(random.uniform(0.1, 0.6))
                server.kill()
            for t in threads:
                t.join()
            print(f"round {n + 1}: {sum(p.chosen for p in people)} acknowledged")
        wait_for_counts(folder)
        # A choice without a reply is sent again, and still counts once.
        expect(all(p.chosen == GIFS for p in people), "not every GIF was chosen")
        clicks = number(folder, "select sum(clicks) from gif_pairs")
        expect(clicks == PEOPLE * GIFS, f"{clicks} choices count, not {PEOPLE * GIFS}")
        server.stop()
        check_passes(executable, folder)


if __name__ == "__main__":
    run_cases("crash/gif_choices", [gif_choice_counts_once_despite_kills])

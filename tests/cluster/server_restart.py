#!/usr/bin/env python3
"""server_restart - tests that sessions resume when the server restarts under load."""

import os
import sys
import threading
import time

from cluster_nodes import Failed, PATIENCE, expect, place_of
from resuming_client import Lasting
from cases import run_cases
from disk_images import Place
from process import Client, start_guildhall
from voice import guild_with, import_world

LONG = "--long" in sys.argv
if LONG:
    sys.argv.remove("--long")
RESTARTS = 20 if LONG else 3
SESSIONS = 60 if LONG else 12


class Pen(threading.Thread):
    """A thread that posts numbered messages to the server's current port."""

    def __init__(self, port, token, channel, name):
        super().__init__(daemon=True)
        self.port, self.token, self.channel, self.name_ = port, token, channel, name
        self.acknowledged, self.ending, self.trouble = [], False, None
        self.start()

    def run(self):
        client, count = None, 0
        while not self.ending:
            text = f"{self.name_}-{count}"
            try:
                client = client or Client(self.port(), self.token)
                status, answer = client.call("POST", f"/channels/{self.channel}/messages",
                                             {"content": text})
            except (OSError, Failed, ValueError):
                client, count = None, count + 1
                time.sleep(0.02)
                continue
            count += 1
            if status == 200:
                self.acknowledged.append(text)
            elif status != 503:
                self.trouble = f"{status} {answer}"
                return
            time.sleep(0.005)


def check_heard(sessions, acknowledged):
    order = sessions[0].contents()
    for session in sessions:
        heard = session.contents()
        expect(session.anew == 0, f"a session had to identify again {session.anew} times")
        expect(len(heard) == len(set(heard)), "an event was received twice")
        missing = set(acknowledged) - set(heard)
        expect(not missing, f"{len(missing)} of {len(acknowledged)} never received")
        expect(heard == order, "two sessions received different orders")


def sessions_resume_when_the_server_restarts_under_load(executable):
    with Place() as place:
        folder = os.path.join(place.folder, "data")
        names = [f"p{i}" for i in range(SESSIONS)]

        class Bench:
            guildhall = executable
        world = {"users": [{"username": name} for name in names],
                 "guilds": [guild_with("Hall", names[0], names[1:])]}
        tokens = import_world(Bench, folder, world)
        now = [place.watch(start_guildhall(executable, folder))]
        _, channel = place_of(Client(now[0].port, tokens[0]))
        sessions = [Lasting(lambda: [now[0].port], token) for token in tokens]
        pens = [Pen(lambda: now[0].port, tokens[i], channel, f"w{i}") for i in range(2)]
        for turn in range(1, RESTARTS + 1):
            time.sleep(0.3)
            now[0].stop()
            now[0] = place.watch(start_guildhall(executable, folder))
            for session in sessions:
                session.wait(lambda s=session, n=turn: s.resumed >= n, "coming back")
        for pen in pens:
            pen.ending = True
            pen.join(PATIENCE)
            expect(not pen.trouble and pen.acknowledged, f"a writer: {pen.trouble}")
        status, _ = Client(now[0].port, tokens[0]).call("POST", f"/channels/{channel}/messages",
                                                        {"content": "the end"})
        expect(status == 200, "the last message")
        for session in sessions:
            session.wait_for("the end")
        acknowledged = [text for pen in pens for text in pen.acknowledged]
        check_heard(sessions, acknowledged)
        print(f"{RESTARTS} restarts, {len(sessions)} sessions, {len(acknowledged)} messages; the "
              f"longest resume took {max(s.longest for s in sessions) * 1000:.0f} ms")
        for session in sessions:
            session.close()


if __name__ == "__main__":
    run_cases("cluster/server_restart", [
        sessions_resume_when_the_server_restarts_under_load,
    ])

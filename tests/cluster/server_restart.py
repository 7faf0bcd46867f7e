#!/usr/bin/env python3
"""server_restart - tests that sessions resume when the server restarts under load."""

import os
import sys
import threading
import time

from cluster_nodes import Failed, PATIENCE, expect, guild_and_channel_of
from resuming_client import ResumingClient
from cases import run_cases
from disk_images import TestResources
from process import Client, start_guildhall
from voice import guild_with, import_world

LONG = "--long" in sys.argv
if LONG:
    sys.argv.remove("--long")
RESTARTS = 20 if LONG else 3
SESSIONS = 60 if LONG else 12


class MessageWriter(threading.Thread):
    """A thread that posts numbered messages to the server's current port."""

    def __init__(self, port, token, channel, name):
        super().__init__(daemon=True)
        self.port, self.token, self.channel, self.name_ = port, token, channel, name
        self.acknowledged, self.stop_requested, self.error = [], False, None
        self.start()

    def run(self):
        client, count = None, 0
        while not self.stop_requested:
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
                self.error = f"{status} {answer}"
                return
            time.sleep(0.005)


def check_received(sessions, acknowledged):
    order = sessions[0].contents()
    for session in sessions:
        received = session.contents()
        expect(session.identified_again == 0, f"a session had to identify again {session.identified_again} times")
        expect(len(received) == len(set(received)), "an event was received twice")
        missing = set(acknowledged) - set(received)
        expect(not missing, f"{len(missing)} of {len(acknowledged)} never received")
        expect(received == order, "two sessions received different orders")


def sessions_resume_when_the_server_restarts_under_load(executable):
    with TestResources() as resources:
        folder = os.path.join(resources.folder, "data")
        names = [f"p{i}" for i in range(SESSIONS)]

        class Bench:
            guildhall = executable
        world = {"users": [{"username": name} for name in names],
                 "guilds": [guild_with("Hall", names[0], names[1:])]}
        tokens = import_world(Bench, folder, world)
        now = [resources.kill_at_end(start_guildhall(executable, folder))]
        _, channel = guild_and_channel_of(Client(now[0].port, tokens[0]))
        sessions = [ResumingClient(lambda: [now[0].port], token) for token in tokens]
        writers = [MessageWriter(lambda: now[0].port, tokens[i], channel, f"w{i}") for i in range(2)]
        for turn in range(1, RESTARTS + 1):
            time.sleep(0.3)
            now[0].stop()
            now[0] = resources.kill_at_end(start_guildhall(executable, folder))
            for session in sessions:
                session.wait(lambda s=session, n=turn: s.resumed >= n, "coming back")
        for writer in writers:
            writer.stop_requested = True
            writer.join(PATIENCE)
            expect(not writer.error and writer.acknowledged, f"a writer: {writer.error}")
        status, _ = Client(now[0].port, tokens[0]).call("POST", f"/channels/{channel}/messages",
                                                        {"content": "the end"})
        expect(status == 200, "the last message")
        for session in sessions:
            session.wait_for("the end")
        acknowledged = [text for writer in writers for text in writer.acknowledged]
        check_received(sessions, acknowledged)
        print(f"{RESTARTS} restarts, {len(sessions)} sessions, {len(acknowledged)} messages; the "
              f"longest resume took {max(s.longest_resume for s in sessions) * 1000:.0f} ms")
        for session in sessions:
            session.close()


if __name__ == "__main__":
    run_cases("cluster/server_restart", [
        sessions_resume_when_the_server_restarts_under_load,
    ])

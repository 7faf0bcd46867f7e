#!/usr/bin/env python3
"""interactions_kill9 - tests that interactions and their callbacks survive a killed server."""

import json
import os
import shutil
import subprocess
import time

from cases import Skip, expect, run_cases
from disk_images import TestResources
from process import Client, register, start_guildhall

from interactions import SampleGuild  # bench/
from sessions import GATEWAY_PATH, Wire  # bench/

PATIENCE = 60  # seconds
LIMIT = 3  # time limit in seconds for an app's callback
ROUNDS = 20


class Session(Wire):
    """A gateway session that waits for events."""

    def __init__(self, port, token):
        super().__init__(port, GATEWAY_PATH, token)
        self.socket.settimeout(PATIENCE)

    def read_event(self, name):
        """The next event of this name."""
        while True:
            whole = self.frame()
            message = json.loads(whole[whole.index(b"{"):])
            if message.get("t") == name:
                return message["d"]


class ServerWithBot:
    """A server that can be killed, with a user who invokes a command and a bot that receives it."""

    def __init__(self, resources, executable, store):
        self.resources, self.store = resources, store
        self.executable, self.folder = executable, os.path.join(resources.folder, "data")
        self.server = self.start()
        self.token = register(self.server.port, "ada")
        self.sample = SampleGuild(self.server.port, self.token)

    def start(self):
        return self.resources.kill_at_end(start_guildhall(self.executable, self.folder, *self.store))

    def start_interaction(self, nonce):
        """Invokes the command and returns the interaction that the bot receives."""
        bot = Session(self.server.port, self.sample.bot)
        self.started_at = time.monotonic()
        status, answer = Client(self.server.port, self.token).call(
            "POST", "/interactions", json.loads(self.sample.body.replace("NONCE", nonce)))
        expect(status == 204, f"POST /interactions answered {status}: {answer}")
        event = bot.read_event("INTERACTION_CREATE")
        bot.close()
        return event

    def kill(self):
        self.server.kill()
        self.server = self.start()

    def call(self, path, body):
        return Client(self.server.port).call("POST", path, body)


def postgres():
    """Returns the options of a server on an empty PostgreSQL schema."""
    database = os.environ.get("GUILDHALL_TEST_POSTGRES")
    if not database or not shutil.which("psql"):
        raise Skip("PostgreSQL is not available (run this with scripts/with-postgres)")
    schema = f"interactions_{os.getpid()}_{time.monotonic_ns()}"
    subprocess.run(["psql", "-qc", f"create schema {schema}", database], check=True, timeout=30)
    return ["--store", f"{database} options=-csearch_path={schema}"]


def unanswered_interaction_fails_after_a_kill(executable, store=()):
    with TestResources() as resources:
        setup = ServerWithBot(resources, executable, store)
        # Only connected clients get the failure event: a start that takes longer than the limit is
        # too late.
        for number in range(ROUNDS):
            interaction = setup.start_interaction(f"first {number}")
            setup.kill()
            ada = Session(setup.server.port, setup.token)
            if time.monotonic() - setup.started_at < LIMIT:
                break
            ada.close()
        else:
            raise Skip("a start takes longer than an app's time limit")
        while (failed := ada.read_event("INTERACTION_FAILURE"))["nonce"] != f"first {number}":
            pass  # from a round that was too late
        took = time.monotonic() - setup.started_at
        expect(failed == {"id": interaction["id"], "nonce": f"first {number}", "reason_code": 2},
               f"the event is {failed}")
        expect(took > LIMIT - 0.1, f"the failure event came after {took:.1f} s")
        path = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
        status, answer = setup.call(path, {"type": 5})
        expect((status, answer["code"]) == (404, 10062), f"a late callback got {status}: {answer}")
        ada.close()


def acknowledged_interaction_continues_after_a_kill(executable, store=()):
    with TestResources() as resources:
        setup = ServerWithBot(resources, executable, store)
        for number in range(ROUNDS):
            interaction = setup.start_interaction(f"second {number}")
            path = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
            status, answer = setup.call(path, {"type": 5})
            if status == 204:
                break
            expect(time.monotonic() - setup.started_at > LIMIT,
                   f"the callback was answered {status}: {answer}")
        else:
            raise Skip("a callback takes longer than an app's time limit")
        setup.kill()
        ada = Session(setup.server.port, setup.token)
        status, answer = setup.call(path, {"type": 5})
        expect((status, answer["code"]) == (400, 40060), f"a second callback got {status}: {answer}")
        status, answer = setup.call(f"/webhooks/{interaction['application_id']}/{interaction['token']}",
                                    {"content": "Here it is"})
        expect(status == 200, f"the follow-up was answered {status}: {answer}")
        expect(not answer["flags"] & 128, "the message is still loading")
        event = ada.read_event("MESSAGE_UPDATE")
        expect(event["content"] == "Here it is", f"the event is {event}")
        ada.close()


def unanswered_interaction_fails_after_a_kill_on_postgres(executable):
    unanswered_interaction_fails_after_a_kill(executable, postgres())


def acknowledged_interaction_continues_after_a_kill_on_postgres(executable):
    acknowledged_interaction_continues_after_a_kill(executable, postgres())


if __name__ == "__main__":
    run_cases("crash/interactions", [unanswered_interaction_fails_after_a_kill,
                                     acknowledged_interaction_continues_after_a_kill,
                                     unanswered_interaction_fails_after_a_kill_on_postgres,
                                     acknowledged_interaction_continues_after_a_kill_on_postgres])

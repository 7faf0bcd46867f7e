#!/usr/bin/env python3
"""interactions_kill9 - what was asked of an app, and what it answered, outlive the process."""

import json
import os
import shutil
import subprocess
import time

from cases import Skip, expect, run_cases
from disk import Place
from process import Client, register, start_guildhall

from interactions import Scene  # bench/
from sessions import PLAIN, Wire  # bench/

PATIENCE = 60  # seconds
LIMIT = 3  # seconds in which an app has to answer
ROUNDS = 20


class Session(Wire):
    """Waits for what it is told."""

    def __init__(self, port, token):
        super().__init__(port, PLAIN, token)
        self.socket.settimeout(PATIENCE)

    def told(self, name):
        """The next event of this name."""
        while True:
            whole = self.frame()
            message = json.loads(whole[whole.index(b"{"):])
            if message.get("t") == name:
                return message["d"]


class Stage:
    """A server that can be killed, with somebody who asks and a bot that hears of it."""

    def __init__(self, place, executable, store):
        self.place, self.store = place, store
        self.executable, self.folder = executable, os.path.join(place.folder, "data")
        self.server = self.start()
        self.token = register(self.server.port, "ada")
        self.scene = Scene(self.server.port, self.token)

    def start(self):
        return self.place.watch(start_guildhall(self.executable, self.folder, *self.store))

    def ask(self, nonce):
        """Uses the command; what the bot hears of it."""
        bot = Session(self.server.port, self.scene.bot)
        self.asked_at = time.monotonic()
        status, answer = Client(self.server.port, self.token).call(
            "POST", "/interactions", json.loads(self.scene.body.replace("NONCE", nonce)))
        expect(status == 204, f"POST /interactions answered {status}: {answer}")
        told = bot.told("INTERACTION_CREATE")
        bot.close()
        return told

    def kill(self):
        self.server.kill()
        self.server = self.start()

    def call(self, path, body):
        return Client(self.server.port).call("POST", path, body)


def postgres():
    """The options of a server whose rows are in an empty schema of PostgreSQL."""
    database = os.environ.get("GUILDHALL_TEST_POSTGRES")
    if not database or not shutil.which("psql"):
        raise Skip("there is no PostgreSQL (run it with scripts/with-postgres)")
    schema = f"interactions_{os.getpid()}_{time.monotonic_ns()}"
    subprocess.run(["psql", "-qc", f"create schema {schema}", database], check=True, timeout=30)
    return ["--store", f"{database} options=-csearch_path={schema}"]


def what_nobody_answers_fails_after_a_kill(executable, store=()):
    with Place() as place:
        stage = Stage(place, executable, store)
        # Only who is there is told: a start that takes longer than the limit is too late for it.
        for number in range(ROUNDS):
            asked = stage.ask(f"first {number}")
            stage.kill()
            ada = Session(stage.server.port, stage.token)
            if time.monotonic() - stage.asked_at < LIMIT:
                break
            ada.close()
        else:
            raise Skip("a start takes longer than an app may take to answer")
        while (failed := ada.told("INTERACTION_FAILURE"))["nonce"] != f"first {number}":
            pass  # of one that was too late
        took = time.monotonic() - stage.asked_at
        expect(failed == {"id": asked["id"], "nonce": f"first {number}", "reason_code": 2},
               f"told {failed}")
        expect(took > LIMIT - 0.1, f"told after {took:.1f} s")
        path = f"/interactions/{asked['id']}/{asked['token']}/callback"
        status, answer = stage.call(path, {"type": 5})
        expect((status, answer["code"]) == (404, 10062), f"a late answer got {status}: {answer}")
        ada.close()


def what_was_acknowledged_goes_on_after_a_kill(executable, store=()):
    with Place() as place:
        stage = Stage(place, executable, store)
        for number in range(ROUNDS):
            asked = stage.ask(f"second {number}")
            path = f"/interactions/{asked['id']}/{asked['token']}/callback"
            status, answer = stage.call(path, {"type": 5})
            if status == 204:
                break
            expect(time.monotonic() - stage.asked_at > LIMIT,
                   f"the callback was answered {status}: {answer}")
        else:
            raise Skip("an answer takes longer than an app may take")
        stage.kill()
        ada = Session(stage.server.port, stage.token)
        status, answer = stage.call(path, {"type": 5})
        expect((status, answer["code"]) == (400, 40060), f"a second answer got {status}: {answer}")
        status, answer = stage.call(f"/webhooks/{asked['application_id']}/{asked['token']}",
                                    {"content": "Here it is"})
        expect(status == 200, f"the follow-up was answered {status}: {answer}")
        expect(not answer["flags"] & 128, "the answer is still loading")
        told = ada.told("MESSAGE_UPDATE")
        expect(told["content"] == "Here it is", f"told {told}")
        ada.close()


def what_nobody_answers_fails_on_postgres_too(executable):
    what_nobody_answers_fails_after_a_kill(executable, postgres())


def what_was_acknowledged_goes_on_on_postgres_too(executable):
    what_was_acknowledged_goes_on_after_a_kill(executable, postgres())


if __name__ == "__main__":
    run_cases("crash/interactions", [what_nobody_answers_fails_after_a_kill,
                                     what_was_acknowledged_goes_on_after_a_kill,
                                     what_nobody_answers_fails_on_postgres_too,
                                     what_was_acknowledged_goes_on_on_postgres_too])

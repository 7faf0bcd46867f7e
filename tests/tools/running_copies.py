#!/usr/bin/env python3
"""running_copies - tests copies of a guild into a server that runs meanwhile."""

import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))

from busy_server import BusyServer  # noqa: E402
from cases import Skip, expect, run_cases  # noqa: E402
from copy_guild import (Source, Target, compare, copy, copy_busy, expect_complete,  # noqa: E402
                        post_claim, run)
from gateway_session import connect  # noqa: E402
from prepared_data import copy_prepared_data, start_guildhall  # noqa: E402
from process import Client, Failed  # noqa: E402

IN_STEPS = r"^the running server imported it in steps of at most [0-9.]+ ms$"


def read_until(session, text, seen=b""):
    """Reads a session until it has received a text."""
    while text not in seen:
        piece = session.recv(65536)
        if not piece:
            raise Failed(f"the session was closed before {text}")
        seen += piece
    return seen


class Running:
    """A server without guilds that stays up during a copy."""

    def __init__(self, executable, folder):
        self.data = copy_prepared_data(executable, os.path.join(folder, "target"))
        self.server = start_guildhall(executable, self.data)


def guild_is_copied_into_a_running_server(executable):
    with tempfile.TemporaryDirectory() as folder:
        source = Source(executable, folder)
        target = Running(executable, folder)
        try:
            source.use_more_features()
            done = copy(executable, source, target.data, "--send-claims", "https://chat.example")
            expect(re.search(IN_STEPS, done.stdout, re.M), done.stdout)
            expect(re.search(r"^messages +(\d+) of \1$", done.stdout, re.M), done.stdout)
            expect("sent 3 claim codes" in done.stdout, done.stdout)
            client = Client(source.server.port, "cleo_token_0123456789")
            channel = client.call("GET", "/users/@me/channels")[1][0]["id"]
            text = client.call("GET", f"/channels/{channel}/messages")[1][0]["content"]
            status, answer = post_claim(target, re.search(r"#token=(\S+)", text)[1])
            expect(status == 200, str(answer))
            cleo = Client(target.server.port, answer["token"])
            found = compare(client, cleo, source.guild, least=20)
            expect(not found, f"{len(found)} differences\n" + "\n".join(found[:60]))
            # A session that is connected during the next copy receives the guild again.
            session = connect(target.server.port, answer["token"], intents=0x3FFFFFF)
            made = source.ada.call("POST", f"/guilds/{source.guild}/channels", {"name": "fresh"})[1]
            source.ada.call("POST", f"/channels/{made['id']}/messages", {"content": "New here"})
            copy(executable, source, target.data)
            seen = read_until(session, b'"GUILD_DELETE"')
            seen = read_until(session, b'"unavailable":true', seen[seen.index(b'"GUILD_DELETE"'):])
            seen = read_until(session, b'"GUILD_CREATE"', seen)
            seen = read_until(session, b'"fresh"', seen[seen.index(b'"GUILD_CREATE"'):])
            messages = cleo.call("GET", f"/channels/{made['id']}/messages")[1]
            expect([m["content"] for m in messages] == ["New here"], str(messages))
            # The session receives events of the new channel.
            status, sent = cleo.call("POST", f"/channels/{made['id']}/messages", {"content": "Hi all"})
            expect(status == 200, str(sent))
            read_until(session, b'"Hi all"', seen)
            session.close()
            target.server.stop()
            target = Target(executable, folder, target.data)
            found = [text for text in compare(source.bot, target.bot, source.guild)
                     if made["id"] not in text and "last_message_id" not in text]
            expect(not found, f"{len(found)} differences\n" + "\n".join(found[:60]))
        finally:
            source.server.kill()
            target.server.kill()


def large_copy_into_a_running_server_is_complete(executable):
    busy = BusyServer(trouble=0)
    with tempfile.TemporaryDirectory() as folder:
        target = Running(executable, folder)
        try:
            for _ in range(2):
                done = run(executable, *copy_busy(executable, folder, busy, target.data)[1:])
                expect(re.search(IN_STEPS, done.stdout, re.M), done.stdout)
                expect_complete(busy, target.data)
        finally:
            busy.stop()
            target.server.kill()


def copy_into_a_running_server_with_postgres_is_complete(executable):
    store = os.environ.get("GUILDHALL_TEST_POSTGRES")
    if not store or not shutil.which("psql"):
        raise Skip("PostgreSQL is not available; run this with scripts/with-postgres")
    name = f"running_{os.getpid()}"
    subprocess.run(["psql", store, "-qc", f"create database {name}"], check=True, timeout=60)
    database = re.sub(r"dbname=\S+", f"dbname={name}", store)
    busy = BusyServer(trouble=0)
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        os.mkdir(data, 0o700)
        server = start_guildhall(executable, data, "--store", database)
        try:
            command = copy_busy(executable, folder, busy, data, "--store", database)
            done = run(executable, *command[1:])
            expect(re.search(IN_STEPS, done.stdout, re.M), done.stdout)
            expect(re.search("^messages +500 of 500$", done.stdout, re.M), done.stdout)
            expect(re.search("^members +50 of 50$", done.stdout, re.M), done.stdout)
        finally:
            busy.stop()
            server.kill()


if __name__ == "__main__":
    run_cases("running_copies", [guild_is_copied_into_a_running_server,
                                 large_copy_into_a_running_server_is_complete,
                                 copy_into_a_running_server_with_postgres_is_complete])

#!/usr/bin/env python3
"""data_packages - tests copy-guild with personal data packages, and that exports do not change guilds
that exist already."""

import os
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402
from copy_guild import chat_export, chat_message, import_world, put, run  # noqa: E402
from prepared_data import copy_prepared_data  # noqa: E402

GUILD, OTHER_GUILD, ADA = "1600000000000000001", "1600000000000000009", "1500000000000000001"
GENERAL, HIDDEN, THREAD = "1600000000000000002", "1600000000000000003", "1600000000000000004"


def write_package(folder, messages, capital=False, user=ADA):
    """Writes a package. messages: channel id to a list of (number, text, addresses of files)."""
    def name(text):
        return text.capitalize() if capital else text

    def folders(*parts):
        path = os.path.join(folder, *parts)
        os.makedirs(path, exist_ok=True)
        return path

    put(folders(name("account")), "user.json", {
        "id": user, "username": "ada", "global_name": "Ada", "email": "ada@private.example",
        "phone": "+15550100"})
    kinds = {GENERAL: ("GUILD_TEXT", "general", GUILD), HIDDEN: (0, "hidden", GUILD),
             THREAD: ("PUBLIC_THREAD", "A bench", GUILD), "1": ("DM", None, None),
             "1600000000000000010": ("GUILD_TEXT", "elsewhere", OTHER_GUILD)}
    put(folders(name("messages")), "index.json", {c: kinds[c][1] for c in messages})
    for channel, lines in messages.items():
        kind, title, guild = kinds[channel]
        path = folders(name("messages"), f"c{channel}")
        about = {"id": channel, "type": kind, "name": title}
        if guild:
            about["guild"] = {"id": guild, "name": "Old name"}
        else:
            about["recipients"] = [user, "5"]
        put(path, "channel.json", about)
        put(path, "messages.json", [
            {"ID": 1600000000000000100 + number, "Timestamp": "2020-09-13 12:26:40",
             "Contents": text, "Attachments": files} for number, text, files in lines])
    return folder


MESSAGES = {  # newest first, as packages are
    GENERAL: [(3, "third ü \"quoted\"", ""), (2, "", "https://cdn.discordapp.com/attachments/1/2/a.png"),
              (1, "first", "https://cdn.discordapp.com/attachments/1/3/b.png")],
    HIDDEN: [(5, "a secret", "")], THREAD: [(6, "in a thread", "")], "1": [(7, "direct", "")],
    "1600000000000000010": [(8, "elsewhere", "")]}


def query(data, sql):
    with sqlite3.connect(f"file:{data}/guildhall.db?mode=ro", uri=True) as db:
        return db.execute(sql).fetchall()


def not_taken(data):
    with open(os.path.join(data, "copies", f"{GUILD}-{ADA}", "not-taken.jsonl"),
              encoding="utf-8") as f:
        return f.read()


def package_adds_messages_to_a_guild_that_exists(executable):
    with tempfile.TemporaryDirectory() as folder:
        data = copy_prepared_data(executable, os.path.join(folder, "data"))
        import_world(executable, folder, data, {
            "users": [{"username": "owner"}],
            "guilds": [{"id": GUILD, "name": "New name", "owner": "owner", "channels": [
                {"id": GENERAL, "name": "renamed", "topic": "Talk",
                 "overwrites": [{"role": "@everyone", "deny": ["VIEW_CHANNEL"]}],
                 "messages": [{"id": "1600000000000000103", "author": "owner", "content": "known"}]},
                {"id": THREAD, "name": "Renamed bench", "type": "thread", "parent": "renamed",
                 "owner": "owner"}]}]})
        before = query(data, "select * from overwrites"), query(data, "select * from guilds")
        package = write_package(os.path.join(folder, "package"), MESSAGES, capital=True)
        done = run(executable, "copy-guild", package, "--dry-run")
        expect(re.search(rf"^{GUILD} +5 messages in +3 channels +Old name$", done.stdout, re.M) and
               re.search(rf"^{OTHER_GUILD} +1 messages in +1 channels", done.stdout, re.M), done.stdout)
        for _ in range(2):
            done = run(executable, "copy-guild", package, "--guild", GUILD, "--data", data)
            found = query(data, "select id, channel_id, author_id, content from messages order by id")
            owner = query(data, "select id from users where username = 'owner'")[0][0]
            expect(found == [
                (1600000000000000101, int(GENERAL), int(ADA), "first"),
                (1600000000000000103, int(GENERAL), owner, "known"),
                (1600000000000000106, int(THREAD), int(ADA), "in a thread")], f"{found}")
            names = query(data, "select name from channels order by id")
            expect(names == [("renamed",), ("Renamed bench",)], f"{names}")
            after = query(data, "select * from overwrites"), query(data, "select * from guilds")
            expect(before == after, f"{before}\n{after}")
        report = not_taken(data)
        expect(f"channel {HIDDEN}" in report, report)  # a channel that could be secret is not created
        expect("message 1600000000000000102" in report and
               "files of message 1600000000000000101" in report, report)
        placeholder = query(data, "select u.email, u.password_hash from users u join "
                                  "placeholder_accounts p on p.user_id = u.id")
        expect(placeholder == [(None, None)], f"{placeholder}")
        for top, _, names in os.walk(os.path.join(data, "copies")):
            for name in names:
                with open(os.path.join(top, name), encoding="utf-8") as f:
                    expect("private.example" not in f.read(), f"{name} has the email address")


def package_creates_a_guild_that_does_not_exist(executable):
    with tempfile.TemporaryDirectory() as folder:
        data = copy_prepared_data(executable, os.path.join(folder, "data"))
        package = write_package(os.path.join(folder, "package"), MESSAGES)
        run(executable, "copy-guild", package, "--guild", OTHER_GUILD, "--data", data)
        expect(query(data, "select g.name, u.username from guilds g join users u on u.id = "
                           "g.owner_id") == [("Old name", "ada")], "the guild")
        expect(query(data, "select content from messages") == [("elsewhere",)], "the messages")


def wrong_packages_are_refused(executable):
    with tempfile.TemporaryDirectory() as folder:
        data = copy_prepared_data(executable, os.path.join(folder, "data"))
        package = write_package(os.path.join(folder, "package"), MESSAGES)
        for words, problem in (
                ([package], "copy-guild PACKAGE --guild ID"),
                ([package, "--guild", "x"], "copy-guild PACKAGE --guild ID"),
                ([package, "--guild", "77"], "the package has no messages of this guild")):
            done = run(executable, "copy-guild", *words, "--data", data, check=False)
            expect(done.returncode != 0 and problem in done.stderr, f"{words}: {done.stderr}")
        os.remove(os.path.join(package, "messages", f"c{GENERAL}", "messages.json"))
        done = run(executable, "copy-guild", package, "--guild", GUILD, "--data", data, check=False)
        expect(done.returncode == 1 and "has no messages.json" in done.stderr, done.stderr)
        os.remove(os.path.join(package, "account", "user.json"))
        done = run(executable, "copy-guild", package, "--guild", GUILD, "--data", data, check=False)
        expect(done.returncode == 1 and "no account/user.json" in done.stderr, done.stderr)
        expect(not query(data, "select * from guilds"), "something was imported")


def chat_export_does_not_change_channels_that_exist(executable):
    with tempfile.TemporaryDirectory() as folder:
        data = copy_prepared_data(executable, os.path.join(folder, "data"))
        import_world(executable, folder, data, {
            "users": [{"username": "owner"}],
            "guilds": [{"id": GUILD, "name": "New name", "owner": "owner", "channels": [
                {"id": GENERAL, "name": "renamed", "topic": "Talk", "overwrites": [
                    {"role": "@everyone", "deny": ["VIEW_CHANNEL"]}]}]}]})
        channels = query(data, "select * from channels where id = " + GENERAL)
        before = query(data, "select * from overwrites"), query(data, "select name from guilds")
        export = put(folder, "general.json", chat_export([chat_message(1)]))
        run(executable, "copy-guild", export, "--data", data)
        expect(query(data, "select content from messages") == [("message 1",)], "the message")
        after = query(data, "select * from overwrites"), query(data, "select name from guilds")
        expect(before == after and len(before[0]) == 1, f"{before}\n{after}")
        expect(query(data, "select name, topic from channels where id = " + GENERAL) ==
               [("renamed", "Talk")], f"{channels}")


def package_is_imported_into_postgres(executable):
    store = os.environ.get("GUILDHALL_TEST_POSTGRES")
    if not store or not shutil.which("psql"):
        raise Skip("PostgreSQL is not available; run this with scripts/with-postgres")
    name = f"package_{os.getpid()}"
    subprocess.run(["psql", store, "-qc", f"create database {name}"], check=True, timeout=60)
    with tempfile.TemporaryDirectory() as folder:
        package = write_package(os.path.join(folder, "package"), MESSAGES)
        database = re.sub(r"dbname=\S+", f"dbname={name}", store)
        for _ in range(2):
            run(executable, "copy-guild", package, "--guild", OTHER_GUILD, "--data",
                os.path.join(folder, "data"), "--store", database)
        rows = subprocess.run(["psql", database, "-qAtc", "select content from messages"], check=True,
                              timeout=60, capture_output=True, text=True).stdout
        expect(rows.strip() == "elsewhere", rows)


if __name__ == "__main__":
    run_cases("data_packages", [package_adds_messages_to_a_guild_that_exists,
                                package_creates_a_guild_that_does_not_exist,
                                wrong_packages_are_refused,
                                chat_export_does_not_change_channels_that_exist,
                                package_is_imported_into_postgres])

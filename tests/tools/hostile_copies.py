#!/usr/bin/env python3
"""hostile_copies - tests copies of guilds whose server or archive was made by an attacker, and what
a repeated import must not change."""

import json
import os
import sqlite3
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))

from busy_server import BusyServer, snowflake  # noqa: E402
from cases import expect, run_cases  # noqa: E402
from copy_guild import (chat_export, chat_message, copy_busy, expect_complete, import_world,  # noqa: E402
                        not_taken, put, rows_of, run)
from prepared_data import copy_prepared_data  # noqa: E402


class PrivateServer:
    """A server of the private network that a copy must not contact. Counts connections."""

    def __init__(self):
        self.paths = []
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):  # pylint: disable=invalid-name
                outer.paths.append(self.path)
                self.send_response(200)
                self.send_header("Content-Length", "6")
                self.end_headers()
                self.wfile.write(b"secret")

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        self.http = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.port = self.http.server_address[1]
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def stop(self):
        self.http.shutdown()
        self.http.server_close()


class HostileServer(BusyServer):
    """Sends names of files that leave the archive, addresses of another server, and pages that do
    not end. `private` is the port of a server that must not be contacted."""

    def __init__(self, private):
        super().__init__(messages=60, trouble=0, window=0.01, per_window=50)
        self.private = private
        self.names = ["../../../outside", "..", ".", "a/../../outside", "/tmp/outside", "%2e%2e"]
        for i, name in enumerate(self.names):
            self.users[i]["avatar"] = name
        first = self.messages[self.channels[0]["id"]]
        urls = [f"@127.0.0.1:{private}/attachments/1/2/x", f"http://127.0.0.1:{private}/attachments/1/2/x",
                f"//127.0.0.1:{private}/x", "file:///etc/passwd", "http://elsewhere.invalid/redirect",
                "../../etc/passwd", f"x://y@127.0.0.1:{private}"]
        first[0]["attachments"] = [
            {"id": snowflake(1600000100000, 10 + i), "filename": "../../outside", "size": 6, "url": url}
            for i, url in enumerate(urls)]

    def send_file(self, handler, path, query):
        if path != "/redirect":
            return super().send_file(handler, path, query)
        handler.send_response(302)
        handler.send_header("Location", f"http://127.0.0.1:{self.private}/redirected")
        handler.send_header("Content-Length", "0")
        handler.end_headers()
        return None

    def find(self, path, query, body):
        guild = f"/guilds/{self.guild_id}"
        status, value = super().find(path, query, body)
        if path == guild:
            value["icon"] = value["banner"] = "../../../outside"
        if path == guild + "/emojis":
            return 200, [{"id": name, "name": f"emoji{i}"} for i, name in enumerate(self.names)]
        if path == guild + "/stickers":
            return 200, [{"id": "1/../../../outside", "name": "sticker", "tags": "x", "format_type": 1}]
        if path == guild + "/soundboard-sounds":
            return 200, {"items": [{"sound_id": "../outside", "name": "sound", "volume": 1}]}
        if path == guild + "/scheduled-events":
            return 200, [{"id": "5", "name": "Event", "status": 1, "entity_type": 3,
                          "scheduled_start_time": "2031-01-01T10:00:00Z",
                          "scheduled_end_time": "2031-01-01T11:00:00Z",
                          "entity_metadata": {"location": "Here"}}]
        if path == guild + "/scheduled-events/5/users":
            return 200, [{"user": self.users[0]}] * 100
        if path.endswith("/threads/archived/public"):
            return 200, {"has_more": True, "members": [], "threads": [
                {"id": snowflake(1600000050000), "type": 11, "name": "thread",
                 "parent_id": self.channels[0]["id"], "owner_id": self.users[0]["id"],
                 "thread_metadata": {"archived": True, "auto_archive_duration": 60,
                                     "archive_timestamp": "2026-01-01T00:00:00Z"}}]}
        if path.endswith("/messages/pins") and status == 200:
            return 200, {"has_more": True, "items": [
                {"pinned_at": "2026-01-01T00:00:00Z", "message": {"id": "7"}}]}
        if path == f"/channels/{self.channels[1]['id']}/messages":
            return 200, (self.messages[self.channels[1]["id"]] * 10)[:100][::-1]
        if path == "/attachments/refresh-urls":
            return 200, {"refreshed_urls": [{"refreshed": f"@127.0.0.1:{self.private}/refreshed"}]}
        return status, value


def files_below(folder):
    return {os.path.join(top, name) for top, _, names in os.walk(folder) for name in names}


def hostile_server_cannot_write_outside_its_archive_or_connect_to_other_servers(executable):
    private = PrivateServer()
    server = HostileServer(private.port)
    try:
        with tempfile.TemporaryDirectory() as folder:
            archive = os.path.join(folder, "deep", "er", "archive")
            token = put(folder, "token", "token")
            before = files_below(folder)
            done = run(executable, "export-guild", archive, "--from", server.url, "--token-file", token,
                       "--guild", server.guild_id, "--requests-per-second", "2000")
            expect(private.paths == [], f"the copy read {private.paths}")
            outside = {p for p in files_below(folder) - before if not p.startswith(archive + "/")}
            expect(not outside, f"the copy wrote {outside}")
            files = {os.path.relpath(p, archive) for p in files_below(os.path.join(archive, "files"))}
            expected = {f"files/attachments/{file_id}" for file_id in server.files}
            expect(files <= expected, f"{files} {expected}\n{done.stdout}")
            why = {r["what"]: r["why"] for r in not_taken_of(archive)}
            again = f"messages/{server.channels[1]['id']}"
            expect(why[again] == "the server sends the same messages again", str(why))
            expect("HTTP 302" in why.values(), str(why))
            # The hostile archive is imported, too: nothing outside of it is read.
            put(folder, "outside", "secret")
            data = copy_prepared_data(executable, os.path.join(folder, "data"))
            run(executable, "copy-guild", "--from", archive, "--data", data, check=False)
            for path in files_below(data):
                with open(path, "rb") as f:
                    expect(f.read() != b"secret", f"{path} is a file from outside of the archive")
    finally:
        server.stop()
        private.stop()


def not_taken_of(archive):
    with open(os.path.join(archive, "not-taken.jsonl"), encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def name_of_digits_does_not_take_references_of_an_id(executable):
    server = BusyServer(messages=60, trouble=0)
    server.users[1]["username"] = server.users[2]["id"]
    server.channels[1]["name"] = server.channels[2]["id"]
    try:
        with tempfile.TemporaryDirectory() as folder:
            data = copy_prepared_data(executable, os.path.join(folder, "data"))
            for _ in range(2):
                run(executable, *copy_busy(executable, folder, server, data)[1:])
                stored = {row[0]: row[1:3] for row in rows_of(data)["messages"]}
                expected = {int(m["id"]): (int(c), int(m["author"]["id"]))
                            for c, messages in server.messages.items() for m in messages
                            if c not in server.forbidden}
                expect(stored == expected, f"{stored}\n{expected}")
    finally:
        server.stop()


def repeated_import_changes_neither_owner_nor_bans(executable):
    server = BusyServer(messages=60, trouble=0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            data = copy_prepared_data(executable, os.path.join(folder, "data"))
            command = copy_busy(executable, folder, server, data)[1:]
            run(executable, *command)
            import_world(executable, folder, data, {"guilds": [
                {"id": server.guild_id, "name": "Busy", "owner": "person3",
                 "bans": [{"user": "person0"}, {"user": "person4"}]}]})
            run(executable, *command)
            with sqlite3.connect(f"file:{data}/guildhall.db?mode=ro", uri=True) as db:
                owner = db.execute("select owner_id from guilds where id = ?",
                                   [int(server.guild_id)]).fetchone()[0]
            expect(owner == int(server.users[3]["id"]), f"the owner is {owner}")
            members = {m[1] for m in rows_of(data)["members"]}
            for number in (0, 4):  # also the owner on the other server
                expect(int(server.users[number]["id"]) not in members, f"person{number} came back")
            with sqlite3.connect(f"file:{data}/guildhall.db?mode=ro", uri=True) as db:
                count = db.execute("select member_count from guilds").fetchone()[0]
            expect(len(members) == 48 and count == 48, f"{len(members)}, counted {count}")
    finally:
        server.stop()


def refused_pins_are_reported_and_messages_are_copied(executable):
    server = BusyServer(messages=60, trouble=0)
    channel = server.channels[0]["id"]
    find = server.find_in_channel
    server.find_in_channel = lambda path, values: (
        (403, {"message": "Missing Permissions", "code": 50013})
        if path == f"/channels/{channel}/messages/pins" else find(path, values))
    try:
        with tempfile.TemporaryDirectory() as folder:
            data = copy_prepared_data(executable, os.path.join(folder, "data"))
            run(executable, *copy_busy(executable, folder, server, data)[1:])
            expect_complete(server, data)
            refused = {r["what"]: r["why"] for r in not_taken(data, server.guild_id)}
            expect(refused.get(f"pins of {channel}") == "HTTP 403: Missing Permissions (code 50013)",
                   str(refused))
    finally:
        server.stop()


def chat_export_reads_only_files_of_its_own_folder(executable):
    names = ["secret.txt", ".ssh/key", "general_Files/.env", "general_Files/../secret.txt",
             "../outside/secret.txt", "%2e%2e/outside/secret.txt", "/etc/passwd",
             "general_Files/link", "https://elsewhere.invalid/x", ""]
    with tempfile.TemporaryDirectory() as folder:
        data = copy_prepared_data(executable, os.path.join(folder, "data"))
        top = os.path.join(folder, "export")
        for name in ("outside", "export", "export/.ssh", "export/general_Files"):
            os.mkdir(os.path.join(folder, name))
        for name in ("outside/secret.txt", "export/secret.txt", "export/.ssh/key",
                     "export/general_Files/.env"):
            put(folder, name, "a secret")
        os.symlink(os.path.join(folder, "outside/secret.txt"),
                   os.path.join(top, "general_Files/link"))
        put(top, "general_Files/ok.txt", "saved")
        files = [{"id": str(1600000000000000300 + i), "url": name, "fileName": "x",
                  "fileSizeBytes": 8} for i, name in enumerate([*names, "general_Files/ok.txt"])]
        export = put(top, "general.json", chat_export([chat_message(1, attachments=files)]))
        run(executable, "copy-guild", export, "--data", data)
        archive = os.path.join(data, "copies", "1600000000000000001")
        saved = os.listdir(os.path.join(archive, "files/attachments"))
        expect(saved == [files[-1]["id"]], f"{saved}")
        refused = [r["what"] for r in not_taken_of(archive)]
        expect(refused == [f"file attachments/{f['id']}" for f in files[:-1]], f"{refused}")


if __name__ == "__main__":
    run_cases("hostile_copies", [
        hostile_server_cannot_write_outside_its_archive_or_connect_to_other_servers,
        name_of_digits_does_not_take_references_of_an_id,
        repeated_import_changes_neither_owner_nor_bans,
        refused_pins_are_reported_and_messages_are_copied,
        chat_export_reads_only_files_of_its_own_folder])

#!/usr/bin/env python3
"""copy_guild - tests the commands copy-guild and export-guild: from one server to another, and from
a server that refuses, delays and fails like a busy one."""

import base64
import http.client
import json
import os
import random
import re
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import time
import urllib.parse
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))

from busy_server import BusyServer  # noqa: E402
from cases import Skip, expect, run_cases  # noqa: E402
from prepared_data import copy_prepared_data, start_guildhall  # noqa: E402
from process import Client  # noqa: E402

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
PIXEL = ("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
         "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
PIXEL_URI = "data:image/png;base64," + PIXEL

# The nightly step copies more and kills more often.
MESSAGES = int(os.environ.get("COPY_MESSAGES", "600"))
KILLS = int(os.environ.get("COPY_KILLS", "5"))
MAX_MEMORY = 100 * 1024 * 1024

WORLD = {
    "users": [{"username": "ada", "global_name": "Ada", "token": "ada_token_0123456789"},
              {"username": "bob", "token": "bob_token_0123456789"},
              {"username": "cleo", "global_name": "Cléo", "token": "cleo_token_0123456789"},
              {"username": "mallory"}],
    "applications": [{"name": "Copier", "owner": "ada", "bot": "copier", "flags": 565248}],
    "guilds": [{
        "name": "The Workshop", "owner": "ada", "description": "A place to build things",
        "system_channel": "general", "verification_level": 1,
        "roles": [{"name": "Copier", "bot": "copier", "permissions": "ALL"},
                  {"name": "Keepers", "color": 15844367, "hoist": True,
                   "permissions": ["KICK_MEMBERS", "MANAGE_MESSAGES"]},
                  {"name": "Makers", "mentionable": True, "permissions": "DEFAULT"}],
        "members": [{"user": "bob", "nick": "Bob the builder", "roles": ["Keepers"]},
                    {"user": "cleo", "roles": ["Makers"]}, {"user": "copier", "roles": ["Copier"]}],
        "bans": [{"user": "mallory", "reason": "spam"}],
        "applications": [{"application": "Copier", "by": "ada"}],
        "emojis": [{"name": "hammer", "by": "bob", "image": PIXEL_URI}],
        "stickers": [{"name": "saw", "tags": "tool", "by": "ada", "image": PIXEL_URI}],
        "sounds": [{"name": "anvil", "emoji": "hammer", "by": "ada"}],
        "webhooks": [{"name": "builds", "channel": "general", "by": "ada"}],
        "automod": [{"name": "words", "by": "ada", "trigger_type": 1, "exempt_roles": ["Keepers"],
                     "trigger_metadata": {"keyword_filter": ["spam"]},
                     "actions": [{"type": 1}]}],
        "scheduled_events": [{"name": "Open day", "scheduled_start_time": "2031-01-01T10:00:00Z",
                              "scheduled_end_time": "2031-01-01T12:00:00Z", "location": "Here",
                              "by": "ada", "users": ["bob"]}],
        "channels": [
            {"name": "Work", "type": "category"},
            {"name": "general", "parent": "Work", "topic": "Everything else",
             "rate_limit_per_user": 5,
             "overwrites": [{"role": "Makers", "deny": ["ADD_REACTIONS"]},
                            {"member": "bob", "allow": ["MANAGE_MESSAGES"]}],
             "messages": [
                 {"author": "bob", "minutes_ago": 50, "content": "First!", "pinned": True,
                  "reactions": [{"emoji": "hammer", "users": ["ada", "cleo"]},
                                {"emoji": "👍", "users": ["bob"]}]},
                 {"author": "copier", "minutes_ago": 49, "content": "",
                  "embeds": [{"type": "rich", "title": "Hours", "color": 3066993}]},
                 {"author": "ada", "minutes_ago": 48, "content": "Which?",
                  "poll": {"question": "Oak or larch?", "hours": 100,
                           "answers": [{"text": "Oak", "users": ["bob"]},
                                       {"text": "Larch", "users": ["ada", "cleo"]}]}},
                 {"webhook": "builds", "minutes_ago": 47, "content": "Build 7 passed",
                  "username": "Builder"}]},
            {"name": "hidden", "overwrites": [{"role": "@everyone", "deny": ["VIEW_CHANNEL"]}],
             "messages": [{"author": "ada", "minutes_ago": 3, "content": "secret"}]},
            {"name": "projects", "type": "forum", "parent": "Work",
             "tags": [{"name": "wood", "emoji": "hammer"}, {"name": "done", "moderated": True}],
             "default_reaction": "👍"},
            {"name": "A bench", "type": "thread", "parent": "projects", "owner": "cleo",
             "applied_tags": ["wood"],
             "messages": [{"author": "cleo", "minutes_ago": 40, "content": "Oak?"},
                          {"author": "ada", "minutes_ago": 30, "content": "Larch."}]},
            {"name": "Old", "type": "thread", "parent": "general", "owner": "bob",
             "archived": True, "archived_at": "2026-01-01T00:00:00Z",
             "messages": [{"author": "bob", "minutes_ago": 20, "content": "Done"}]},
            {"name": "Secret plan", "type": "private_thread", "parent": "general", "owner": "ada",
             "people": ["ada", "bob"],
             "messages": [{"author": "bob", "minutes_ago": 10, "content": "Psst"}]},
            {"name": "Tea table", "type": "voice", "parent": "Work", "user_limit": 8}],
    }],
}


def run(executable, *words, check=True, env=None):
    done = subprocess.run([executable, *words], capture_output=True, text=True,
                          timeout=300 if MESSAGES <= 10000 else 7200, check=False,
                          env={**os.environ, **(env or {})})
    if check:
        expect(done.returncode == 0, f"{words}: {done.returncode}\n{done.stdout}\n{done.stderr}")
    return done


def run_and_measure(*command):
    """Runs a command; returns its result and the most memory that it used, in bytes. The result of
    wait4 also counts the memory of this program, which starts the command with vfork."""
    most = 0
    with tempfile.TemporaryFile("w+") as out:
        with subprocess.Popen(command, stdout=out, stderr=out, text=True) as child:
            while child.poll() is None:
                try:
                    with open(f"/proc/{child.pid}/status", encoding="utf-8") as f:
                        found = re.search(r"^VmHWM:\s+(\d+) kB$", f.read(), re.M)
                    most = max(most, int(found[1]) * 1024 if found else 0)
                except OSError:
                    pass  # the command has ended
                time.sleep(0.02)
        out.seek(0)
        output = out.read()
    expect(child.returncode == 0, f"{command}: {child.returncode}\n{output}")
    return output, most


def put(folder, name, value):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        f.write(value if isinstance(value, str) else json.dumps(value))
    return path


def import_world(executable, folder, data, world):
    """Imports a world file and returns the tokens of its accounts."""
    if not os.path.exists(data):
        copy_prepared_data(executable, data)
    done = run(executable, "import", "--tokens", put(folder, "w.json", world), "--data", data)
    return dict(re.findall(r"^(\w+) +((?:Bot )?[\w.-]+)$", done.stdout, re.M))


class Source:
    """A server with a guild in which every feature is used, and the token of a bot."""

    def __init__(self, executable, folder):
        self.folder, self.data = folder, os.path.join(folder, "source")
        self.tokens = import_world(executable, folder, self.data, WORLD)
        self.server = start_guildhall(executable, self.data)
        self.bot = Client(self.server.port, self.tokens["copier"])
        self.ada = Client(self.server.port, "ada_token_0123456789")
        self.bob = Client(self.server.port, "bob_token_0123456789")
        self.guild = self.bot.call("GET", "/users/@me/guilds")[1][0]["id"]
        channels = self.bot.call("GET", f"/guilds/{self.guild}/channels")[1]
        self.channels = {c["name"]: c["id"] for c in channels}
        self.token_file = put(folder, "token", self.tokens["copier"] + "\n")
        self.url = f"http://127.0.0.1:{self.server.port}"

    def use_more_features(self):
        """Adds what world files cannot: replies, files, components, mentions, invites, pictures."""
        general = self.channels["general"]
        post = f"/channels/{general}/messages"
        first = self.ada.call("POST", post, {"content": "Hello <@" + self.id_of("bob") + ">"})[1]
        expect("id" in first, str(first))
        self.bob.call("POST", post, {"content": "A reply", "message_reference":
                                     {"message_id": first["id"]}})
        edited = self.ada.call("POST", post, {"content": "Typo"})[1]
        self.ada.call("PATCH", f"{post}/{edited['id']}", {"content": "No typo"})
        button = {"type": 1, "components": [{"type": 2, "style": 1, "label": "Go",
                                             "custom_id": "go"}]}
        self.bot.call("POST", post, {"content": "Press", "components": [button]})
        self.upload(general, "notes.txt", b"some notes")
        self.ada.call("PATCH", "/users/@me", {"avatar": PIXEL_URI})
        self.ada.call("POST", f"/channels/{general}/invites", {"max_age": 0})
        self.add_pictures()
        self.add_settings()

    def change(self, method, path, body, client=None):
        status, answer = (client or self.ada).call(method, path, body)
        expect(status in (200, 204), f"{method} {path}: {status} {answer}")
        return answer

    def add_pictures(self):
        top = f"/guilds/{self.guild}"
        self.change("PATCH", top, {name: PIXEL_URI for name in
                                   ("icon", "banner", "splash", "discovery_splash")})
        roles = {r["name"]: r["id"] for r in self.bot.call("GET", top + "/roles")[1]}
        self.change("PATCH", f"{top}/roles/{roles['Keepers']}", {"icon": PIXEL_URI})
        self.change("PATCH", f"{top}/members/@me", {"avatar": PIXEL_URI, "banner": PIXEL_URI},
                    self.bob)
        event = self.bot.call("GET", top + "/scheduled-events")[1][0]
        self.change("PATCH", f"{top}/scheduled-events/{event['id']}", {"image": PIXEL_URI})
        webhook = self.bot.call("GET", top + "/webhooks")[1][0]
        self.change("PATCH", f"/webhooks/{webhook['id']}", {"avatar": PIXEL_URI})

    def add_settings(self):
        top, general, makers = f"/guilds/{self.guild}", self.channels["general"], next(
            r["id"] for r in self.bot.call("GET", f"/guilds/{self.guild}/roles")[1]
            if r["name"] == "Makers")
        emoji = self.bot.call("GET", top + "/emojis")[1][0]
        self.change("PATCH", top, {"features": ["COMMUNITY"], "rules_channel_id": general,
                                   "public_updates_channel_id": self.channels["hidden"],
                                   "explicit_content_filter": 2})
        self.change("PATCH", top + "/welcome-screen", {
            "enabled": True, "description": "Come in", "welcome_channels": [
                {"channel_id": general, "description": "Talk", "emoji_name": "👋"},
                {"channel_id": self.channels["projects"], "description": "Build",
                 "emoji_id": emoji["id"], "emoji_name": emoji["name"]}]})
        self.change("PUT", top + "/onboarding", {
            "enabled": False, "mode": 1, "default_channel_ids": [general], "prompts": [
                {"id": "0", "type": 0, "title": "Which?", "single_select": True, "required": False,
                 "in_onboarding": True, "options": [
                     {"title": "Wood", "description": "Oak", "role_ids": [makers],
                      "channel_ids": [general], "emoji_name": "🪵"},
                     {"title": "Iron", "description": None, "role_ids": [],
                      "channel_ids": [general], "emoji_id": emoji["id"],
                      "emoji_name": emoji["name"]}]}]})
        self.change("PATCH", top + "/widget", {"enabled": True, "channel_id": general})

    def upload(self, channel, name, content):
        status, message = upload(self.server.port, "Bot " + self.bot_token(), channel, name, content)
        expect(status == 200, str(message))

    def bot_token(self):
        return self.tokens["copier"].removeprefix("Bot ")

    def id_of(self, name):
        members = self.bot.call("GET", f"/guilds/{self.guild}/members?limit=1000")[1]
        return next(m["user"]["id"] for m in members if m["user"]["username"] == name)


def upload(port, token, channel, name, content):
    boundary = "a-boundary"
    body = (f"--{boundary}\r\nContent-Disposition: form-data; name=\"files[0]\"; "
            f"filename=\"{name}\"\r\nContent-Type: text/plain\r\n\r\n").encode() + content + \
        f"\r\n--{boundary}--\r\n".encode()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("POST", f"/api/v10/channels/{channel}/messages", body,
                       {"Authorization": token,
                        "Content-Type": f"multipart/form-data; boundary={boundary}"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


# --- comparison ------------------------------------------------------------------------


def routes_of(client, guild):
    """Yields the GET routes of a guild that bots may use."""
    top = f"/guilds/{guild}"
    for path in ("", "/roles", "/channels", "/emojis", "/stickers", "/soundboard-sounds",
                 "/scheduled-events?with_user_count=true", "/auto-moderation/rules", "/webhooks",
                 "/invites", "/bans", "/members?limit=1000", "/threads/active", "/welcome-screen",
                 "/onboarding", "/widget"):
        yield top + path
    for event in client.call("GET", top + "/scheduled-events")[1]:
        yield f"{top}/scheduled-events/{event['id']}/users"
    channels = client.call("GET", top + "/channels")[1]
    threads = list(client.call("GET", top + "/threads/active")[1].get("threads", []))
    for channel in channels:
        yield f"/channels/{channel['id']}"
        if channel["type"] in (0, 5, 15, 16):
            for kind in ("public", "private") if channel["type"] == 0 else ("public",):
                path = f"/channels/{channel['id']}/threads/archived/{kind}"
                yield path
                threads += client.call("GET", path)[1].get("threads", [])
    for thread in threads:
        yield f"/channels/{thread['id']}"
        yield f"/channels/{thread['id']}/thread-members"
    for channel in [c for c in channels if c["type"] not in (4, 15, 16)] + threads:
        yield f"/channels/{channel['id']}/messages?limit=100"
        yield f"/channels/{channel['id']}/messages/pins"
        status, messages = client.call("GET", f"/channels/{channel['id']}/messages?limit=100")
        for message in messages if status == 200 else []:
            base = f"/channels/{channel['id']}/messages/{message['id']}"
            for reaction in message.get("reactions", []):
                emoji = reaction["emoji"]
                name = f"{emoji['name']}:{emoji['id']}" if emoji["id"] else emoji["name"]
                yield f"{base}/reactions/{urllib.parse.quote(name)}"
            for answer in (message.get("poll") or {}).get("answers", []):
                yield f"/channels/{channel['id']}/polls/{message['id']}/answers/{answer['answer_id']}"


# Members that differ on purpose; docs/MOVE-HERE.md lists them.
DIFFERENT = {"token", "url", "proxy_url", "application_id", "join_timestamp", "version",
             "integration_id"}


def without_differences(value, port):
    if isinstance(value, dict):
        return {k: without_differences(v, port) for k, v in value.items() if k not in DIFFERENT}
    if isinstance(value, list):
        return [without_differences(v, port) for v in value]
    return value


def differences(a, b, path=""):
    if isinstance(a, dict) and isinstance(b, dict):
        for key in sorted(set(a) | set(b)):
            yield from differences(a.get(key, "absent"), b.get(key, "absent"), f"{path}.{key}")
    elif isinstance(a, list) and isinstance(b, list) and len(a) == len(b):
        for i, (x, y) in enumerate(zip(a, b)):
            yield from differences(x, y, f"{path}.{i}")
    elif a != b:
        yield f"{path}: {a!r} is {b!r}"


def compare(old, new, guild, least=40):
    """Reads all routes of both servers and returns what differs."""
    found = []
    routes = list(routes_of(old, guild))
    for path in routes:
        status, before = old.call("GET", path)
        again, after = new.call("GET", path)
        if status != again:
            found.append(f"{path}: status {status}, {again} {after}")
        else:
            found += [f"{path}{text}" for text in differences(
                without_differences(before, 0), without_differences(after, 0))]
    expect(len(routes) > least, f"only {len(routes)} routes")
    return found


class Target:
    """The server to which the guild was copied, with a token of the same bot."""

    def __init__(self, executable, folder, data):
        tokens = import_world(executable, folder, data, {"applications": [
            {"name": "Copier", "owner": "ada", "bot": "copier", "flags": 565248}]})
        self.server = start_guildhall(executable, data)
        self.bot = Client(self.server.port, tokens["copier"])


def copy(executable, source, data, *flags, check=True):
    return run(executable, "copy-guild", "--from", source.url, "--token-file", source.token_file,
               "--guild", source.guild, "--data", data, "--requests-per-second", "2000", *flags,
               check=check)


def read_file(target, url):
    path = re.sub("^https?://[^/]+", "", url)
    with urllib.request.urlopen(f"http://127.0.0.1:{target.server.port}{path}") as answer:
        return answer.read()


def paths_of_pictures(client, guild):
    """Lists the addresses of the pictures of a guild that are not in a list of their own."""
    top = f"/guilds/{guild}"
    value = client.call("GET", top)[1]
    found = [f"/{folder}/{guild}/{value[name]}.png" for folder, name in (
        ("icons", "icon"), ("banners", "banner"), ("splashes", "splash"),
        ("discovery-splashes", "discovery_splash"))]
    found += [f"/role-icons/{r['id']}/{r['icon']}.png" for r in value["roles"] if r.get("icon")]
    for member in client.call("GET", top + "/members?limit=1000")[1]:
        base = f"{top}/users/{member['user']['id']}"
        found += [f"{base}/{name}s/{member[name]}.png" for name in ("avatar", "banner")
                  if member.get(name)]
    found += [f"/guild-events/{e['id']}/{e['image']}.png"
              for e in client.call("GET", top + "/scheduled-events")[1]]
    found += [f"/avatars/{w['id']}/{w['avatar']}.png"
              for w in client.call("GET", top + "/webhooks")[1]]
    expect(len(found) == 9 and not any("None" in path for path in found), f"{found}")
    return found


def not_taken(data, guild):
    with open(f"{data}/copies/{guild}/not-taken.jsonl", encoding="utf-8") as f:
        return [json.loads(line) for line in f]


def copied_guild_is_equal_to_its_source(executable):
    with tempfile.TemporaryDirectory() as folder:
        source = Source(executable, folder)
        target = None
        try:
            source.use_more_features()
            data = copy_prepared_data(executable, os.path.join(folder, "target"))
            done = copy(executable, source, data)
            expect(re.search(r"^messages +(\d+) of \1$", done.stdout, re.M), done.stdout)
            refused = not_taken(data, source.guild)  # the sound has no file
            expect([r["why"] for r in refused] == ["HTTP 404"] and
                   refused[0]["what"].startswith("file sounds/"), str(refused))
            target = Target(executable, folder, data)
            found = compare(source.bot, target.bot, source.guild)
            expect(not found, f"{len(found)} differences\n" + "\n".join(found[:60]) + done.stdout)
            messages = target.bot.call(
                "GET", f"/channels/{source.channels['general']}/messages?limit=100")[1]
            files = [a for m in messages for a in m["attachments"]]
            expect([read_file(target, f["url"]) for f in files] == [b"some notes"], str(files))
            ada = next(m for m in messages if m["author"]["username"] == "ada")["author"]
            picture = read_file(target, f"/avatars/{ada['id']}/{ada['avatar']}.png")
            expect(picture == base64.b64decode(PIXEL), f"{len(picture)} bytes")
            for path in paths_of_pictures(target.bot, source.guild):
                expect(read_file(target, path) == base64.b64decode(PIXEL), path)
        finally:
            source.server.kill()
            if target:
                target.server.kill()


# --- claims -------------------------------------------------------------------------------


def post_claim(target, code):
    return Client(target.server.port).call("POST", "/auth/claim",
                                           {"code": code, "password": "correct horse"})


def members_claim_their_accounts_by_a_direct_message(executable):
    with tempfile.TemporaryDirectory() as folder:
        source = Source(executable, folder)
        target = None
        try:
            source.use_more_features()
            data = copy_prepared_data(executable, os.path.join(folder, "target"))
            done = copy(executable, source, data, "--send-claims", "https://chat.example")
            expect("sent 3 claim codes; 0 people" in done.stdout, done.stdout)
            codes = {}
            for name in ("ada", "bob", "cleo"):
                client = Client(source.server.port, f"{name}_token_0123456789")
                channel = client.call("GET", "/users/@me/channels")[1][0]["id"]
                text = client.call("GET", f"/channels/{channel}/messages")[1][0]["content"]
                codes[name] = re.search(r"https://chat\.example/claim#token=(\S+)", text)[1]
            again = copy(executable, source, data, "--send-claims", "https://chat.example")
            expect("sent 0 claim codes; 0 people" in again.stdout, again.stdout)
            stored = [os.path.join(top, name) for top, _, names in os.walk(data) for name in names]
            for code in codes.values():
                expect(code not in done.stdout + done.stderr, "a code was printed")
                for path in stored:
                    with open(path, "rb") as f:
                        expect(code.encode() not in f.read(), f"{path} has a code in plain text")
            target = Target(executable, folder, data)
            # The operator ends the code of ada by revoking tokens, and that of bob by a password.
            run(executable, "token", "revoke", "ada", "--yes", "--data", data)
            subprocess.run([executable, "user", "passwd", "bob", "--yes", "--data", data],
                           input="battery staple\n", text=True, check=True, capture_output=True)
            for name in ("ada", "bob"):
                status, answer = post_claim(target, codes[name])
                expect(status == 400, f"{name}: {status} {answer}")
            status, answer = post_claim(target, codes["cleo"])
            expect(status == 200, str(answer))
            cleo = Client(target.server.port, answer["token"])
            expect(cleo.call("GET", "/users/@me")[1]["id"] == source.id_of("cleo"), "another id")
            before = Client(source.server.port, "cleo_token_0123456789")
            found = compare(before, cleo, source.guild, least=20)
            expect(not found, f"{len(found)} differences\n" + "\n".join(found[:60]))
            expect(post_claim(target, codes["cleo"])[0] == 400, "a code works twice")
        finally:
            source.server.kill()
            if target:
                target.server.kill()


def documented_copy_commands_work(executable):
    with open(os.path.join(ROOT, "docs/MOVE-HERE.md"), encoding="utf-8") as f:
        blocks = re.findall(r"^ *```sh\n(.*?)^ *```$", f.read(), re.M | re.S)
    expect(len(blocks) == 3, f"{len(blocks)} blocks")
    with tempfile.TemporaryDirectory() as folder:
        source = Source(executable, folder)
        try:
            copy_prepared_data(executable, os.path.join(folder, "data"))
            wanted = ["^members +4$", "^messages +9 of 9$", "^sent 3 claim codes"]
            for block, line in zip(blocks, wanted):
                expect("https://discord.com/api/v10" in block, block)
                script = block.replace("https://discord.com/api/v10", source.url + "/api/v10") \
                    .replace("81384788765712384", source.guild).replace("TOKEN", source.bot_token())
                done = subprocess.run(["sh", "-euc", script], cwd=folder, text=True, check=False,
                                      capture_output=True, timeout=120, env={
                                          **os.environ, "PATH": os.path.dirname(executable) +
                                          os.pathsep + os.environ["PATH"]})
                expect(done.returncode == 0 and re.search(line, done.stdout, re.M),
                       f"{script}\n{done.stdout}\n{done.stderr}")
        finally:
            source.server.kill()


# --- a busy server ------------------------------------------------------------------------


def copy_busy(executable, folder, busy, data, *flags):
    return [executable, "copy-guild", "--from", busy.url, "--token-file",
            put(folder, "busy-token", "token\n"), "--guild", busy.guild_id, "--data", data,
            "--requests-per-second", "450", *flags]


def rows_of(data):
    """Returns the rows that a copy wrote, without those of the prepared folder."""
    with sqlite3.connect(f"file:{data}/guildhall.db?mode=ro", uri=True) as db:
        return {"messages": db.execute("select id, channel_id, author_id, content, attachment_count,"
                                       " reactions is null from messages order by id").fetchall(),
                "members": db.execute("select guild_id, user_id from members "
                                      "order by user_id").fetchall(),
                "users": db.execute("select id, username, global_name from users "
                                    "order by id").fetchall(),
                "attachments": db.execute("select id, message_id, size from attachments "
                                          "order by id").fetchall(),
                "reactions": db.execute("select r.message_id, u.user_id from reactions r join "
                                        "reaction_users u on u.reaction_id = r.id order by "
                                        "r.message_id, u.user_id").fetchall()}


def expect_complete(busy, data):
    rows = rows_of(data)
    readable = [m for c, all in busy.messages.items() if c not in busy.forbidden for m in all]
    expect([r[0] for r in rows["messages"]] == sorted(int(m["id"]) for m in readable),
           f"{len(rows['messages'])} of {len(readable)} messages")
    files = sorted(int(a["id"]) for m in readable for a in m["attachments"])
    expect([r[0] for r in rows["attachments"]] == files, f"{rows['attachments']}, {files}")
    expect(len(rows["members"]) == len(busy.users), f"{len(rows['members'])} members")
    expect(len(rows["reactions"]) == 2 * sum("reactions" in m for m in readable),
           f"{len(rows['reactions'])} reactions")


def copy_from_a_busy_server_ends_and_reports_what_was_refused(executable):
    busy = BusyServer(messages=MESSAGES, members=max(50, MESSAGES // 100), slow=0.01)
    try:
        with tempfile.TemporaryDirectory() as folder:
            data = copy_prepared_data(executable, os.path.join(folder, "data"))
            began = time.monotonic()
            output, used = run_and_measure(*copy_busy(executable, folder, busy, data))
            if MESSAGES > 10000:  # sanitizers need more memory, and run only the short form
                print(f"{busy.requests} requests, {busy.downloads} files, "
                      f"{time.monotonic() - began:.0f} s, {used // 2**20} MiB")
                expect(used < MAX_MEMORY, f"{used} bytes of memory")
            expect_complete(busy, data)
            refused = {r["what"]: r["why"] for r in not_taken(data, busy.guild_id)}
            hidden = "messages/" + next(iter(busy.forbidden))
            expect(refused == {"bans": "HTTP 403: Missing Permissions (code 50013)",
                               hidden: "HTTP 403: Missing Access (code 50001)"}, str(refused))
            expect(busy.injected > 0 and busy.refreshed > 0, f"{busy.injected} {busy.refreshed}")
            caused = {}
            for _, path, everywhere in busy.exceeded:
                caused[everywhere or path] = caused.get(everywhere or path, 0) + 1
            expect(all(n <= 1 for n in caused.values()), f"429: {caused}\n{output}")
    finally:
        busy.stop()


def copy_uses_the_limits_of_a_server(executable):
    """Each bucket has five requests per window. The busiest buckets, of users who reacted, decide how
    long a copy takes at least."""
    nightly = MESSAGES > 10000
    window = 1.0 if nightly else 0.5
    busy = BusyServer(channels=4, messages=8000 if nightly else 2000, window=window, trouble=0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            data = copy_prepared_data(executable, os.path.join(folder, "data"))
            run(executable, *copy_busy(executable, folder, busy, data)[1:])
            expect(not busy.exceeded, f"429: {busy.exceeded}")
            shares = []
            for key, (requests, windows, first, last) in busy.windows.items():
                if not key.endswith("reactions"):
                    continue
                least = -(-requests // busy.per_window)
                # Independent of the load of this machine: no window has unused requests.
                expect(windows <= least + 1, f"{key}: {requests} requests in {windows} windows")
                shares.append((least - 1) * window / (last - first))
            expect(len(shares) == 2, f"{busy.windows}")
            # Expired addresses are refreshed together, not with one request each.
            expired = sum("?old" in a["url"] for all in busy.messages.values() for m in all
                          for a in m["attachments"])
            expect(0 < busy.refreshed < expired, f"{busy.refreshed} requests for {expired} files")
            print("share of the limits:", ", ".join(f"{share:.0%}" for share in shares))
            if nightly:  # on a machine that runs nothing else
                expect(min(shares) >= 0.8, f"{shares}")
    finally:
        busy.stop()


def copy_run_again_reads_only_what_is_new(executable):
    busy = BusyServer(trouble=0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            data = copy_prepared_data(executable, os.path.join(folder, "data"))
            command = copy_busy(executable, folder, busy, data)[1:]
            run(executable, *command)
            first, downloads = busy.requests, busy.downloads
            for i in range(600, 610):
                busy.add_message(i)
            run(executable, *command)
            expect_complete(busy, data)
            expect(busy.requests - first < first * 0.6, f"{first}, then {busy.requests - first}")
            expect(busy.downloads - downloads == 1, f"{busy.downloads - downloads} files again")
    finally:
        busy.stop()


EDITED = "2031-01-01T00:00:00+00:00"


def next_run_takes_edits_and_pins_of_older_messages(executable):
    busy = BusyServer(messages=60, trouble=0)
    now = int(time.time() * 1000)
    recent = [busy.add_message(0, now - 60000 + i * 1000) for i in range(3)]
    recent[2]["attachments"] = []
    old = busy.messages[busy.channels[1]["id"]][0]
    try:
        with tempfile.TemporaryDirectory() as folder:
            data = copy_prepared_data(executable, os.path.join(folder, "data"))
            command = copy_busy(executable, folder, busy, data)[1:]
            run(executable, *command)
            recent[0].update(content="edited", edited_timestamp=EDITED, mentions=[busy.users[5]])
            recent[2].update(content="edited there", edited_timestamp=EDITED)
            busy.messages[recent[1]["channel_id"]].remove(recent[1])
            busy.pin(old, "2030-01-01T00:00:00+00:00")
            # An edit that was made here is newer.
            with sqlite3.connect(f"{data}/guildhall.db") as db:
                db.execute("update messages set content = 'edited here', edited_at = 1956528000000000"
                           " where id = ?", [int(recent[2]["id"])])
            run(executable, *command)
            with sqlite3.connect(f"file:{data}/guildhall.db?mode=ro", uri=True) as db:
                found = {str(row[0]): row[1:] for row in db.execute(
                    "select id, content, pinned, pinned_at, attachment_count, edited_at from messages")}
            expect(found[recent[0]["id"]][0] == "edited", f"{found[recent[0]['id']]}")
            expect(found[recent[0]["id"]][3] == 1, "the file of an edited message was lost")
            expect(found[recent[1]["id"]][0] == "message 0", "a message was deleted here")
            expect(found[recent[2]["id"]][0] == "edited here", f"{found[recent[2]['id']]}")
            expect(found[old["id"]][:3] == ("message 1", 1, 1893456000000000), f"{found[old['id']]}")
            name = f"{data}/copies/{busy.guild_id}/messages/{recent[0]['channel_id']}.jsonl"
            with open(name, encoding="utf-8") as f:
                lines = [json.loads(line) for line in f]
            expect([m["id"] for m in lines] ==
                   [m["id"] for m in busy.messages[recent[0]["channel_id"]]], f"{len(lines)} lines")
            # Nothing changes any more, so only the window and the lists are read.
            before = busy.requests
            run(executable, *command, "--read-again-days", "0")
            expect(busy.requests - before < 30, f"{busy.requests - before} requests")
    finally:
        busy.stop()


def copy_continues_after_being_killed_at_any_moment(executable):
    seed = int(os.environ.get("COPY_SEED", str(random.randrange(1000000))))
    chance = random.Random(seed)
    busy = BusyServer(messages=min(MESSAGES, 20000), trouble=0.01)
    try:
        with tempfile.TemporaryDirectory() as folder:
            data = copy_prepared_data(executable, os.path.join(folder, "data"))
            command = copy_busy(executable, folder, busy, data)
            longest = 1.5 if MESSAGES <= 10000 else 6
            for _ in range(KILLS):
                child = subprocess.Popen(command, stdout=subprocess.DEVNULL,
                                         stderr=subprocess.DEVNULL)
                try:
                    child.wait(chance.random() * longest)
                except subprocess.TimeoutExpired:
                    child.kill()
                    child.wait()
            run(executable, *command[1:])
            expect_complete(busy, data)
            expect(run(executable, "check", "--data", data).returncode == 0, "check")
            for name in os.listdir(f"{data}/copies/{busy.guild_id}/messages"):
                with open(f"{data}/copies/{busy.guild_id}/messages/{name}", encoding="utf-8") as f:
                    ids = [int(json.loads(line)["id"]) for line in f]
                expect(ids == sorted(set(ids)), f"{name} has a message twice, seed {seed}")
    finally:
        busy.stop()


def copy_into_postgres_is_complete(executable):
    store = os.environ.get("GUILDHALL_TEST_POSTGRES")
    if not store or not shutil.which("psql"):
        raise Skip("PostgreSQL is not available; run this with scripts/with-postgres")
    name = f"copy_{os.getpid()}"
    subprocess.run(["psql", store, "-qc", f"create database {name}"], check=True, timeout=60)
    busy = BusyServer(trouble=0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            command = copy_busy(executable, folder, busy, os.path.join(folder, "data"), "--store",
                                re.sub(r"dbname=\S+", f"dbname={name}", store))
            message = busy.messages[busy.channels[0]["id"]][0]
            for text in ("message 0", "edited"):
                message.update(content=text, edited_timestamp=EDITED if text == "edited" else None)
                done = run(executable, *command[1:], "--read-again-days", "3650")
                expect(re.search("^messages +500 of 500$", done.stdout, re.M), done.stdout)
                rows = subprocess.run(["psql", re.sub(r"dbname=\S+", f"dbname={name}", store), "-qAtc",
                                       f"select content from messages where id = {message['id']}"],
                                      check=True, timeout=60, capture_output=True, text=True).stdout
                expect(rows.strip() == text, rows)
                expect(re.search("^members +50 of 50$", done.stdout, re.M), done.stdout)
    finally:
        busy.stop()


def wrong_token_ends_a_copy_at_once(executable):
    busy = BusyServer(trouble=0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            command = copy_busy(executable, folder, busy, os.path.join(folder, "data"))
            put(folder, "busy-token", "wrong\n")
            done = run(executable, *command[1:], check=False)
            expect(done.returncode == 1 and busy.requests == 1, f"{done}, {busy.requests}")
            expect("cannot read the guild: HTTP 401" in done.stderr, done.stderr)
    finally:
        busy.stop()


def archive_of_a_server_is_imported_elsewhere(executable):
    busy = BusyServer(trouble=0)
    try:
        with tempfile.TemporaryDirectory() as folder:
            archive, data = os.path.join(folder, "archive"), os.path.join(folder, "data")
            token = put(folder, "token", "token")
            run(executable, "export-guild", archive, "--from", busy.url, "--token-file", token,
                "--guild", busy.guild_id, "--requests-per-second", "450")
            busy_requests = busy.requests
            copy_prepared_data(executable, data)
            for _ in range(2):
                run(executable, "copy-guild", "--from", archive, "--data", data)
                expect_complete(busy, data)
            expect(busy.requests == busy_requests, "an archive was read from the server")
            names = copy_prepared_data(executable, os.path.join(folder, "names"))
            run(executable, "copy-guild", "--from", archive, "--data", names, "--people", "names")
            rows = rows_of(names)
            expect(len(rows["messages"]) == 500 and not rows["reactions"], str(len(rows)))
            expect([m[1] for m in rows["members"]] == [int(busy.users[0]["id"])], "members")
    finally:
        busy.stop()


def chat_export(messages, channel=None):
    return {"guild": {"id": "1600000000000000001", "name": "Old guild", "iconUrl": ""},
            "channel": channel or {"id": "1600000000000000002", "type": "GuildTextChat",
                                   "categoryId": "1600000000000000003", "category": "Talk",
                                   "name": "general", "topic": "Everything"},
            "dateRange": {"after": None, "before": None}, "messages": messages,
            "messageCount": len(messages)}


def chat_message(number, **more):
    author = {"id": "1500000000000000001", "name": "ada", "discriminator": "0000",
              "nickname": "Ada", "color": None, "isBot": False, "roles": [], "avatarUrl": ""}
    return {"id": str(1600000000000000100 + number), "type": "Default",
            "timestamp": "2020-09-13T12:26:40+00:00", "timestampEdited": None, "isPinned": False,
            "content": f"message {number}", "author": author, "attachments": [], "embeds": [],
            "stickers": [], "reactions": [], "mentions": [], **more}


def exports_of_channels_are_imported(executable):
    with tempfile.TemporaryDirectory() as folder:
        data = copy_prepared_data(executable, os.path.join(folder, "data"))
        os.mkdir(os.path.join(folder, "general.json_Files"))
        put(folder, "general.json_Files/a b.txt", "saved")
        bob = {"id": "1500000000000000002", "name": "bob", "nickname": "Bob", "isBot": False}
        reply = chat_message(
            2, type="Reply", isPinned=True, mentions=[bob],
            reference={"messageId": "1600000000000000101", "channelId": "1600000000000000002",
                       "guildId": "1600000000000000001"},
            attachments=[{"id": "1600000000000000200", "url": "general.json_Files/a%20b.txt",
                          "fileName": "a b.txt", "fileSizeBytes": 5},
                         {"id": "1600000000000000201", "url": "../../etc/passwd",
                          "fileName": "x", "fileSizeBytes": 5}],
            embeds=[{"title": "Hours", "url": None, "timestamp": None, "description": "",
                     "color": "#2ECC71", "images": [], "fields": [
                         {"name": "Monday", "value": "9", "isInline": True}]}],
            reactions=[{"emoji": {"id": "", "name": "👍", "code": "thumbsup", "isAnimated": False},
                        "count": 1, "users": [bob]}])
        general = put(folder, "general.json", chat_export([chat_message(1), reply]))
        thread = put(folder, "thread.json", chat_export([chat_message(3)], {
            "id": "1600000000000000004", "type": "GuildPublicThread", "name": "A bench",
            "categoryId": "1600000000000000002", "category": "general", "topic": None}))
        run(executable, "copy-guild", general, thread, "--data", data)
        refused = not_taken(data, "1600000000000000001")
        expect(refused == [{"what": "file attachments/1600000000000000201",
                            "why": "the file is not next to the export"}], str(refused))
        put(folder, "general.json", chat_export([chat_message(1), reply, chat_message(9)]))
        done = run(executable, "copy-guild", general, "--data", data)
        expect("1 messages, 2 known" in done.stdout, done.stdout)
        backwards = put(folder, "back.json", chat_export([chat_message(20), chat_message(19)]))
        done = run(executable, "copy-guild", backwards, "--data", data, check=False)
        expect(done.returncode == 1 and "oldest first" in done.stderr, done.stderr)
        tokens = import_world(executable, folder, data, {
            "users": [{"username": "eve"}], "applications": [
                {"name": "Reader", "owner": "eve", "bot": "reader"}], "guilds": [
                {"id": "1600000000000000001", "name": "Old guild", "owner": "ada",
                 "members": [{"user": "reader"}],
                 "applications": [{"application": "Reader", "by": "eve"}]}]})
        server = start_guildhall(executable, data)
        try:
            bot = Client(server.port, tokens["reader"])
            messages = bot.call("GET", "/channels/1600000000000000002/messages")[1]
            expect([m["content"] for m in messages] == ["message 9", "message 2", "message 1"],
                   str(messages))
            found = next(m for m in messages if m["content"] == "message 2")
            expect(found["type"] == 19 and found["pinned"] and
                   found["referenced_message"]["content"] == "message 1", str(found))
            expect([a["filename"] for a in found["attachments"]] == ["a_b.txt"], str(found))
            expect(found["embeds"][0]["color"] == 0x2ECC71 and
                   found["embeds"][0]["fields"][0]["inline"], str(found["embeds"]))
            expect(found["reactions"][0]["count"] == 1 and
                   found["mentions"][0]["username"] == "bob", str(found))
            posts = bot.call("GET", "/channels/1600000000000000004/messages")[1]
            expect([m["content"] for m in posts] == ["message 3"], str(posts))
        finally:
            server.kill()


if __name__ == "__main__":
    run_cases("copy_guild", [copied_guild_is_equal_to_its_source,
                             members_claim_their_accounts_by_a_direct_message,
                             documented_copy_commands_work,
                             copy_from_a_busy_server_ends_and_reports_what_was_refused,
                             copy_uses_the_limits_of_a_server,
                             copy_run_again_reads_only_what_is_new,
                             next_run_takes_edits_and_pins_of_older_messages,
                             copy_continues_after_being_killed_at_any_moment,
                             copy_into_postgres_is_complete,
                             wrong_token_ends_a_copy_at_once,
                             archive_of_a_server_is_imported_elsewhere,
                             exports_of_channels_are_imported])

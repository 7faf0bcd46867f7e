#!/usr/bin/env python3
"""mistakes - plants typical mistakes in bots on unchanged libraries; the traffic log and `guildhall
watch` have to name the cause and the fix of each."""

import json
import os
import re
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import expect, run_cases  # noqa: E402

sys.path.insert(0, HERE)  # bench has a module with the same name

from clients import node_command, python_command  # noqa: E402
from interactions import App  # noqa: E402
from prepared_data import copy_prepared_data  # noqa: E402
from process import Client, start_guildhall  # noqa: E402

WORLD = {
    "users": [{"username": "ada"}, {"username": "bob"}, {"username": "cleo"}],
    "applications": [
        {"name": "Helper", "owner": "ada", "bot": "helper"},
        {"name": "Snake", "owner": "ada", "bot": "snake", "flags": 0},
    ],
    "guilds": [
        {"name": "Home", "owner": "ada",
         "roles": [{"name": "High"}, {"name": "Robots", "permissions": ["MANAGE_ROLES"]},
                   {"name": "@everyone", "permissions": ["VIEW_CHANNEL", "SEND_MESSAGES",
                                                         "READ_MESSAGE_HISTORY", "ADD_REACTIONS",
                                                         "EMBED_LINKS", "USE_APPLICATION_COMMANDS"]}],
         "channels": [{"name": "talk"},
                      {"name": "readonly",
                       "overwrites": [{"role": "Robots", "deny": ["SEND_MESSAGES"]}]},
                      {"name": "hidden",
                       "overwrites": [{"role": "@everyone", "deny": ["VIEW_CHANNEL"]}]}],
         "members": [{"user": "helper", "roles": ["Robots"]}, {"user": "snake", "roles": ["Robots"]},
                     {"user": "bob"}, {"user": "cleo"}],
         "applications": [{"application": "Helper", "by": "ada"},
                          {"application": "Snake", "by": "ada"}]},
        {"name": "Other", "owner": "bob", "channels": [{"name": "talk"}]},
    ],
}

# Mistake: account of the record, code in docs/errors.md, parts of the sentence (cause and fix).
MISTAKES = [
    # discord.js
    ("writes where an overwrite denies it", "helper", 50013,
     "lacks SEND_MESSAGES in #readonly", "the overwrite of Robots in #readonly denies", "remove this deny"),
    ("deletes a message of others", "helper", 50013, "lacks MANAGE_MESSAGES in #talk",
     "none of its roles (@everyone, Robots) grants", "grant it to one of them"),
    ("reads a hidden channel", "helper", 50001, "lacks VIEW_CHANNEL in #hidden",
     "the overwrite of @everyone in #hidden denies", "allow it in the channel"),
    ("fetches a guild that it is not in", "helper", 50001, "not a member of this server",
     "/oauth2/authorize?client_id="),
    ("assigns a role above its own", "helper", 50013, "the highest role of helper, Robots, is not above",
     "move the role up"),
    ("sends an empty message", "helper", 50006, "no content, embed", "Check the text"),
    ("sends 2100 characters", "helper", 50035, "content: Must be 2000 or fewer",
     "the value has 2100 characters"),
    ("sends a long title", "helper", 50035, "embeds.0.title: Must be 256 or fewer",
     "the value has 257 characters"),
    ("edits a message of others", "helper", 50005, "can be deleted, but not edited", "send a new one"),
    ("reacts with an unknown emoji", "helper", 10014, "its name is wrong", "name:id"),
    ("writes to a channel that does not exist", "helper", 10003, "is not that of a channel", "Read the id again"),
    ("has undefined as an id", "helper", 50035, "channel_id: ", "\"undefined\" is not snowflake", "variable with the id is not set"),
    ("registers a command with a bad name", "helper", 50035, "name: ", "\"Upper Case\""),
    ("uses another application's id", "helper", 20012, "but the token belongs to the bot of",
     "use the id of the bot's own application"),
    ("calls a route for users", "helper", 20001, "the token of a bot was sent", "only tokens of users"),
    ("uses a webhook with a wrong token", None, 50027, "token of the webhook is wrong", "Use the URL"),
    ("has the version twice in its base URL", None, 404, "the API version twice", "does your library add it"),
    ("has a wrong token", None, 401, "no bot has this token", "was it replaced"),
    ("uses the id of the guild as that of a channel", "helper", 10003, "is the id of a guild (Home), not of a channel"),
    ("rounds an id", "helper", 10003, "may have been rounded", "keep ids as strings"),
    ("has no token", None, 401, "the variable with the token is not set"),
    ("requests all members without the intent", "helper", None, "needs the intent GUILD_MEMBERS (1 << 1)"),
    ("ignores the rate limit", "helper", 429, "the bucket '", "calls per", "did not wait", "Retry-After"),
    ("lacks the intent for content", "helper", None, "content, embeds, attachments", "MESSAGE_CONTENT (1 << 15)",
     "add it to the intents"),
    ("answers too late", "helper", 10062, "ms too late (limit 3000 ms)", "defer it at once"),
    ("answers twice", "helper", 40060, "already answered with callback type 4", "followUp"),
    ("edits before it answers", "helper", 10015, "has no response yet", "first answer it"),
    ("answers with 2100 characters", "helper", 50035, "data.content: Must be 2000 or fewer",
     "the value has 2100 characters: \"ccc"),
    # discord.py
    ("lacks the intents for messages", "snake", None, "gets no messages", "(GUILDS) lack GUILD_MESSAGES"),
    ("pins without the permission", "snake", 50013, "lacks MANAGE_MESSAGES in #talk",
     "instead, PIN_MESSAGES would suffice"),
    ("invites without the permission", "snake", 50013, "lacks CREATE_INSTANT_INVITE in #talk", "grant it"),
    ("creates a webhook without the permission", "snake", 50013, "lacks MANAGE_WEBHOOKS in #talk", "grant it"),
    ("bans without the permission", "snake", 50013, "lacks BAN_MEMBERS in the server", "grant it"),
    ("edits a channel without the permission", "snake", 50013, "lacks MANAGE_CHANNELS in #talk", "grant it"),
    ("lists members without the intent", "snake", 50001, "intent GUILD_MEMBERS", "enable it"),
    ("answers an interaction again", "snake", 40060, "already answered", "edit_original_response"),
    ("answers after its sleep", "snake", 10062, "ms too late (limit 3000 ms)", "defer it at once"),
    # the gateway, without a library
    ("asks for an intent that is not enabled", "snake", 4014, "asks for GUILD_MEMBERS", "enable the privileged intents"),
]


class ServerWithApp:
    def __init__(self, executable):
        self.executable = executable
        self.folder = tempfile.TemporaryDirectory()
        self.data = copy_prepared_data(executable, os.path.join(self.folder.name, "data"))
        world = os.path.join(self.folder.name, "world.json")
        with open(world, "w", encoding="utf-8") as f:
            json.dump(WORLD, f)
        done = self.run("import", "--tokens", world)
        expect(done.returncode == 0, done.stderr)
        self.tokens = dict(re.findall(r"^(ada|bob|helper|snake) +(.*)$", done.stdout, re.M))
        self.process = start_guildhall(executable, self.data, "--workbench", "on", "--traffic", "8",
                                       "--rate-limits", "on")
        self.api = f"http://127.0.0.1:{self.process.port}/api"
        self.ada = Client(self.process.port, self.tokens["ada"])
        self.bob = Client(self.process.port, self.tokens["bob"])
        self.apps = []

    def run(self, *words, **more):
        return subprocess.run([self.executable, *words, "--data", self.data], capture_output=True,
                              text=True, timeout=60, check=False, **more)

    def facts(self):
        guild = self.ada.call("GET", "/users/@me/guilds")[1][0]["id"]
        channels = {c["name"]: c["id"] for c in self.ada.call("GET", f"/guilds/{guild}/channels")[1]}
        roles = {r["name"]: r["id"] for r in self.ada.call("GET", f"/guilds/{guild}/roles")[1]}
        applications = {a["name"]: a["id"] for a in self.ada.call("GET", "/applications")[1]}
        talk = channels["talk"]
        return {
            "guild": guild, **channels, "high_role": roles["High"],
            "other_guild": self.bob.call("GET", "/users/@me/guilds")[1][-1]["id"],
            "bob": self.bob.call("GET", "/users/@me")[1]["id"],
            "message": self.ada.call("POST", f"/channels/{talk}/messages", {"content": "Hello"})[1]["id"],
            "webhook": self.ada.call("POST", f"/channels/{talk}/webhooks", {"name": "x"})[1]["id"],
            "application": applications["Helper"], "other_application": applications["Snake"],
        }

    def start_bot(self, command, name, facts):
        command, folder = command
        self.apps.append(App([*command, self.api, self.tokens[name].removeprefix("Bot "),
                              json.dumps(facts)], folder))

    def invoke(self, by, command, app):
        return subprocess.Popen([self.executable, "invoke", "--as", by, "--channel", "Home/talk",
                                 "--app", app, command, "--data", self.data],
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def records(self):
        found, after = [], 0
        while True:
            page = json.loads(console(self.process.port, f"/console/traffic?limit=200&after={after}"))
            found += page["records"]
            if page["last"] >= page["newest"]:
                return found
            after = page["last"]

    def close(self):
        for app in self.apps:
            app.close()
        self.ada.close()
        self.bob.close()
        self.process.kill()
        self.folder.cleanup()


def console(port, path):
    with socket.create_connection(("127.0.0.1", port), timeout=30) as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\r\n".encode())
        got = b"".join(iter(lambda: s.recv(65536), b""))
    head, body = got.split(b"\r\n\r\n", 1)
    if b"chunked" in head.lower():
        body = b"".join(part for part in re.split(rb"\r?\n?[0-9a-fA-F]+\r\n", body))
    return body


def ask_for_forbidden_intent(server):
    """Sends IDENTIFY with a privileged intent of an application that has none."""
    code = (
        "import sys, asyncio, aiohttp\n"
        "async def main(port, token):\n"
        "    async with aiohttp.ClientSession() as s, s.ws_connect(f'ws://127.0.0.1:{port}/?v=10&encoding=json') as w:\n"
        "        await w.receive()\n"
        "        await w.send_json({'op': 2, 'd': {'token': token, 'intents': 3, 'properties': {}}})\n"
        "        print((await w.receive()).data, w.close_code)\n"
        "asyncio.run(main(*sys.argv[1:]))\n")
    return subprocess.Popen(["/usr/bin/python3", "-c", code, str(server.process.port),
                             server.tokens["snake"].removeprefix("Bot ")],
                            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def is_named(record, account, code, parts):
    return ("hint" in record and all(part in record["line"] for part in parts)
            and (code is None or record.get("docs") == f"docs/errors.md#{code}")
            and (account is None or (record["user"] or {}).get("username") == account))


def make_all_mistakes(server):
    facts = server.facts()
    server.start_bot(node_command("mistakes_js.js"), "helper", facts)
    server.start_bot(python_command("mistakes_py.py"), "snake", facts)
    gateway = ask_for_forbidden_intent(server)
    for app in server.apps:
        line = app.line()
        expect(line == "ready", f"the bot printed {line}")
    gateway.communicate(timeout=30)
    server.ada.call("POST", f"/channels/{facts['talk']}/messages", {"content": "!ping"})
    # An account may start only a few sessions at once.
    calls = [server.invoke(by, f"/{name}", app) for by, name, app in (
        ("ada", "late", "Helper"), ("ada", "twice", "Helper"), ("bob", "early", "Helper"),
        ("bob", "long", "Helper"), ("cleo", "again", "Snake"), ("cleo", "slow", "Snake"))]
    output = [call.communicate(timeout=60)[0] for call in calls]
    expect("ms too late" in output[0] and "docs/errors.md#10062" in output[0], output[0])
    expect("the value has 2100 characters" in output[3], output[3])


def typical_mistakes_are_named_with_cause_and_fix(executable):
    server = ServerWithApp(executable)
    began = time.monotonic()
    try:
        make_all_mistakes(server)
        records = server.records()
        took = time.monotonic() - began
        missing = [name for name, account, code, *parts in MISTAKES
                   if not any(is_named(r, account, code, parts) for r in records)]
        expect(len(MISTAKES) >= 24 and not missing,
               f"not named: {missing}\n" + "\n".join(r["line"] for r in records if r.get("hint")))
        watched = server.run("watch", "--after", "0", "--seconds", "1").stdout
        for name, _, code, *parts in MISTAKES:
            link = f"(docs/errors.md#{code})" if code else ""
            expect(any(all(part in line for part in [*parts, link]) for line in watched.splitlines()),
                   f"guildhall watch does not name it: {name}")
        print(f"{len(MISTAKES)} mistakes in {took:.1f} s", flush=True)
    finally:
        server.close()


def every_error_code_of_the_libraries_is_sent_or_explained(_executable):
    """Compares the codes of discord-api-types, which discord.js uses, with errors.def and
    docs/unused-error-codes.md."""
    _, folder = node_command()
    root = os.path.join(HERE, "..", "..")

    def numbers(path, pattern):
        with open(path, encoding="utf-8") as f:
            return {int(code) for code in re.findall(pattern, f.read(), re.M)}

    types = os.path.join(folder, "node_modules", "discord-api-types", "rest", "common.d.ts")
    with open(types, encoding="utf-8") as f:
        official = re.search(r"enum RESTJSONErrorCodes \{(.*?)^\}", f.read(), re.M | re.S)[1]
    official = {int(code) for code in re.findall(r"^ +\w+ = (\d+)", official, re.M)}
    sent = numbers(os.path.join(root, "src", "base", "errors.def"), r"^ERROR\(\w+, +\d+, +(\d+)")
    sent.add(110000)  # an answer with status 202, not an error
    unused = numbers(os.path.join(root, "docs", "unused-error-codes.md"), r"^\| (\d+) \|")
    expect(len(official) > 200, f"only {len(official)} codes were found")
    expect(official <= sent | unused, f"neither sent nor explained: {sorted(official - sent - unused)}")
    expect(not sent & unused, f"sent, and listed as unused: {sorted(sent & unused)}")
    expect(unused <= official, f"not a known code: {sorted(unused - official)}")


def every_error_of_the_table_is_used(_executable):
    """A code that no function returns belongs to docs/unused-error-codes.md."""
    source = os.path.join(HERE, "..", "..", "src")
    with open(os.path.join(source, "base", "errors.def"), encoding="utf-8") as f:
        names = set(re.findall(r"^ERROR\((\w+),", f.read(), re.M))
    for top, _, files in os.walk(source):
        for file in files:
            if file.endswith((".c", ".h")):
                with open(os.path.join(top, file), encoding="utf-8") as f:
                    text = f.read()
                names -= set(re.findall(r"\b(?:ERR_|REFUSED\()(\w+)", text))
    expect(not names, f"no function returns: {sorted(names)}")


if __name__ == "__main__":
    run_cases("mistakes", [typical_mistakes_are_named_with_cause_and_fix,
                           every_error_code_of_the_libraries_is_sent_or_explained,
                           every_error_of_the_table_is_used])

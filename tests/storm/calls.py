#!/usr/bin/env python3
"""calls - sends random requests to every operation of the server's OpenAPI document, with values at
and beyond their limits. Users and a bot call all operations, including deletions and logouts. The
server must keep running and answer each request soon, with a 2xx that fits the document or with a
4xx; afterwards the store must be consistent."""

import collections
import http.client
import json
import os
import subprocess
import time
import urllib.parse

from document import PICTURE, PNG, SOUND, Document
from storm import SECONDS, dice, expect, run_cases, server_for_storm, until_over

SLOWEST = 20  # seconds, with sanitizers on a busy machine
QUICK = ("--password-memory", "1", "--password-passes", "1")
# Operations that wait for another client, or delete what the others need.
RARE = {"POST /api/v10/auth/logout": 0.05, "DELETE /api/v10/guilds/{guild.id}": 0.2,
        "POST /api/v10/users/@me/delete": 0.1, "POST /api/v10/users/@me/disable": 0.1}
# Multipart forms whose plain parts are members of the body.
PARTS = {"create_guild_sticker"}


class World:
    """Users, a bot, and the ids seen in replies."""

    def __init__(self, port, d):
        self.port, self.d = port, d
        self.connection = None
        self.ids = {}      # ids of all users
        self.homes = []    # (token, ids of its user)
        self.home = {}     # ids of the current caller
        self.born = 0
        self.problems = {}  # the first problem of each operation
        self.statuses = collections.Counter()

    def ask(self, method, path, body=None, headers=None):
        if isinstance(body, (dict, list)):
            body, headers = json.dumps(body), {"Content-Type": "application/json", **(headers or {})}
        for _ in range(2):
            if not self.connection:
                self.connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SLOWEST)
            try:
                self.connection.request(method, path, body, headers or {})
                answer = self.connection.getresponse()
                return answer.status, answer.getheader("Content-Type", ""), answer.read()
            except (http.client.RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                self.connection.close()
                self.connection = None  # a refused form closes the connection
        raise AssertionError(f"{method} {path}: no answer")

    def must(self, method, path, body, token=None):
        status, _, text = self.ask(method, path, body, {"Authorization": token} if token else {})
        expect(status < 300, f"{method} {path}: {status} {text[:300]}")
        return json.loads(text) if text else None

    def note(self, kind, id_):
        for ids in (self.ids, self.home):
            known = ids.setdefault(kind, [])
            if id_ not in known:
                known.append(id_)
                del known[:-30]

    def known(self, kind):
        """Returns an id of this kind, mostly the caller's own, because others are refused early."""
        ids = self.home if self.d.random() < 0.8 else self.ids
        return ids.get(kind) or self.ids.get(kind) or self.ids.get("user")

    def gather(self, value, kind=""):
        """Collects the ids of a reply, by the field that contains them."""
        if isinstance(value, list):
            for v in value[:20]:
                self.gather(v, kind)
        elif isinstance(value, dict):
            for key, v in value.items():
                if isinstance(v, str) and v.isdigit() and (key == "id" or key.endswith("_id")):
                    self.note(kind if key == "id" else key.removesuffix("_id"), v)
                elif isinstance(v, (dict, list)):
                    self.gather(v, key.removesuffix("s"))
                elif key in ("code", "token", "custom_id", "stream_key") and isinstance(v, str):
                    self.note(key, v)

    def newcomer(self):
        """Creates a user with a guild, an app and its bot."""
        self.born += 1
        self.home = {}
        name = f"p{self.born}_{self.d.randrange(10**6)}"
        token = self.must("POST", "/api/v10/auth/register",
                          {"username": name, "password": "a good password", "email": f"{name}@example.org"})["token"]
        me = self.must("GET", "/api/v10/users/@me", None, token)
        guild = self.must("POST", "/api/v10/guilds", {"name": name}, token)
        app = self.must("POST", "/api/v10/applications", {"name": name}, token)
        bot = self.must("POST", f"/api/v10/applications/{app['id']}/bot/reset", {}, token)["token"]
        ask = f"client_id={app['id']}&scope=bot%20applications.commands"
        self.must("POST", f"/api/v10/oauth2/authorize?{ask}", {"authorize": True, "guild_id": guild["id"], "permissions": "8"}, token)
        channels = self.must("GET", f"/api/v10/guilds/{guild['id']}/channels", None, token)
        text = next(c for c in channels if c["type"] == 0)
        message = self.must("POST", f"/api/v10/channels/{text['id']}/messages", {"content": "hello"}, f"Bot {bot}")
        for kind, id_ in (("user", me["id"]), ("guild", guild["id"]), ("application", app["id"]),
                          ("message", message["id"])):
            self.note(kind, id_)
        for c in channels:
            self.note("channel", c["id"])
        self.furnish(guild["id"], text["id"], token)
        self.homes = [*self.homes[-6:], (token, self.home), (f"Bot {bot}", self.home)]

    def furnish(self, guild, channel, token):
        """Creates objects with routes of their own, so that these routes find something."""
        place = f"/api/v10/guilds/{guild}"
        form, kind = parts_of({"name": "words", "tags": "a", "description": ""}, ("file", "a.png", PICTURE))
        status, _, text = self.ask("POST", f"{place}/stickers", form, {"Content-Type": kind, "Authorization": token})
        expect(status == 201, f"{status} {text[:300]}")
        self.note("sticker", json.loads(text)["id"])
        begin, end = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + h * 3600)) for h in (24, 25))
        for kind, path, body in (
                ("emoji", f"{place}/emojis", {"name": "words", "image": PNG}),
                ("sound", f"{place}/soundboard-sounds", {"name": "words", "sound": SOUND}),
                ("rule", f"{place}/auto-moderation/rules",
                 {"name": "words", "event_type": 1, "trigger_type": 1, "enabled": True, "actions": [{"type": 1}],
                  "trigger_metadata": {"keyword_filter": ["roll*"], "regex_patterns": ["b+"]}}),
                ("event", f"{place}/scheduled-events",
                 {"name": "words", "entity_type": 3, "privacy_level": 2, "scheduled_start_time": begin,
                  "scheduled_end_time": end, "entity_metadata": {"location": "here"},
                  "recurrence_rule": {"start": begin, "frequency": 3, "interval": 1}}),
                ("channel", f"/api/v10/channels/{channel}/threads", {"name": "words", "type": 11}),
                ("channel", f"{place}/channels", {"name": "words", "type": 15}),
                ("channel", f"{place}/channels", {"name": "words", "type": 5}),
                ("message", f"/api/v10/channels/{channel}/messages",
                 {"poll": {"question": {"text": "words"}, "answers": [{"poll_media": {"text": "a"}}] * 2}})):
            made = self.must("POST", path, body, token)
            self.note(kind, made.get("id") or made["sound_id"])
        self.note("answer", "1")

    def credential(self):
        token, self.home = self.d.choice(self.homes)
        if self.d.random() < 0.02:
            return self.d.choice([None, "x", "Bot x.y.z", "Bearer z"])
        return token


def parts_of(fields, file):
    """Returns a multipart body of plain parts and one file, and its content type."""
    part = b'--b\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
    name, filename, data = file
    form = b"".join(part % (k.encode(), b"", str(v).encode("utf-8", "replace")) for k, v in fields.items())
    form += part % (name.encode(), b'; filename="%s"' % filename.encode(), data)
    return form + b"--b--\r\n", "multipart/form-data; boundary=b"


def path_of(world, doc, path, operation):
    """Returns the path with ids filled in, and a query."""
    query = []
    for p in operation.get("parameters", []):
        if p["in"] == "path":
            kind = p["name"].removesuffix(".id").rpartition(".")[2]
            kind = {"member": "user", "home": "guild", "app_guild": "guild", "place": "channel"}.get(kind, kind)
            value = doc.an_id({"invite.code": "code", "webhook.token": "token"}.get(p["name"], kind))
            path = path.replace("{" + p["name"] + "}", urllib.parse.quote(str(value), safe=""))
        elif p["in"] == "query" and world.d.random() < (0.95 if p.get("required") else 0.4):
            value = doc.value(p["schema"], p["name"])
            value = value if isinstance(value, str) else json.dumps(value)
            query.append((p["name"], value.encode("utf-8", "replace")))
    return path + ("?" + urllib.parse.urlencode(query) if query else "")


def body_of(world, doc, operation):
    contents = operation.get("requestBody", {}).get("content", {})
    if not contents or world.d.random() < 0.01:
        return (b"", {}) if world.d.random() < 0.9 else (b"{", {"Content-Type": "application/json"})
    kind = world.d.choice(list(contents))
    value = doc.value(contents[kind]["schema"])
    text = json.dumps(value).encode()
    if kind == "application/x-www-form-urlencoded" and isinstance(value, dict):
        return urllib.parse.urlencode({k: str(v).encode("utf-8", "replace") for k, v in value.items()}).encode(), {
            "Content-Type": kind}
    if kind == "multipart/form-data" and isinstance(value, dict) and operation["operationId"] in PARTS:
        form, kind = parts_of(value, ("file", "a.png", world.d.choice([PICTURE, b"", b"{}", PICTURE[:40]])))
        return form, {"Content-Type": kind}
    if kind == "multipart/form-data":
        part = b'--b\r\nContent-Disposition: form-data; name="%s"\r\n%s\r\n%s\r\n'
        text = (part % (b"payload_json", b"Content-Type: application/json\r\n", text)
                + part % (b'files[0]"; filename="a.txt', b"", b"some bytes") + b"--b--\r\n")
        return text, {"Content-Type": "multipart/form-data; boundary=b"}
    return text, {"Content-Type": "application/json"}


def problem_with(doc, operation, answer, seconds):
    """Returns the reason why this reply does not fit the operation, or None; and the value of a
    successful reply."""
    status, kind, text = answer
    if status >= 500:
        return f"{status} {text[:300]}", None
    if seconds >= SLOWEST:
        return f"answered after {seconds:.1f} s", None
    if not kind.startswith("application/json"):
        return None, None
    try:
        value = json.loads(text)
    except ValueError:
        return f"{status} with broken JSON: {text[:200]} ... {text[-200:]}", None
    if status >= 400:
        ok = isinstance(value, dict) and ("message" in value or "error" in value)
        return None if ok else f"{status} {text[:300]}", None
    schema = operation["responses"].get(str(status), {}).get("content", {}).get(kind, {}).get("schema")
    why = schema and doc.misfit(schema, value)
    return why and f"{status}: {why}", value


def one_call(world, doc, operation):
    path, method, row = operation
    token = world.credential()
    doc.wild = world.d.random() < 0.5
    target = path_of(world, doc, path, row)
    body, headers = body_of(world, doc, row) if method not in ("GET", "HEAD") else (None, {})
    if token:
        headers["Authorization"] = token
    began = time.monotonic()
    answer = world.ask(method, target, body, headers)
    world.statuses[answer[0]] += 1
    why, value = problem_with(doc, row, answer, time.monotonic() - began)
    if why:
        what = f"{method} {target} {body[:1500] if body else ''} as {str(token)[:4]}"
        world.problems.setdefault(row["operationId"], f"{what}: {why}")
    if value is not None:
        kind = path.rpartition("}")[0].rpartition("{")[2] if path.endswith("}") else path.rpartition("/")[2]
        kind = kind.removesuffix(".id").removesuffix("s")
        world.gather(value, {"soundboard-sound": "sound", "scheduled-event": "event"}.get(kind, kind))
    if (answer[0] == 401 and token and len(token) > 20) or world.d.random() < 0.004:
        world.newcomer()  # the token was revoked


def storm(executable, name, *flags):
    d = dice(name)
    with server_for_storm(executable, *QUICK, *flags) as server:
        world = World(server.port, d)
        _, _, text = world.ask("GET", "/openapi.json")
        doc = Document(json.loads(text), d, world.known)
        for _ in range(3):
            world.newcomer()
        done = set()
        enough = min(len(doc.operations), int(SECONDS * 5))
        for n in until_over(enough):
            operation = doc.operations[n % len(doc.operations)] if n < len(doc.operations) else d.choice(
                doc.operations)
            key = f"{operation[1]} {operation[0]}"
            if d.random() < RARE.get(key, 1):
                one_call(world, doc, operation)
                done.add(key)
        print(f"{sum(world.statuses.values())} calls:", dict(world.statuses.most_common()), flush=True)
        expect(not world.problems, "\n".join(world.problems.values()))
        # With enough time, most operations were called.
        expect(len(done) > enough * 0.8, f"only {len(done)} operations were called")


def every_operation_replies_as_documented_on_sqlite(executable):
    storm(executable, "calls")


def every_operation_replies_as_documented_on_postgres(executable):
    where = os.environ.get("GUILDHALL_TEST_POSTGRES")
    if not where:
        from cases import Skip  # pylint: disable=import-outside-toplevel
        raise Skip("GUILDHALL_TEST_POSTGRES is not set")
    schema = f"storm_{os.getpid()}"
    subprocess.run(["psql", "-q", where, "-c", f"create schema {schema}"], check=True, capture_output=True)
    try:
        storm(executable, "calls on postgres", "--store", f"{where} options='-c search_path={schema}'")
    finally:
        subprocess.run(["psql", "-q", where, "-c", f"drop schema {schema} cascade"], check=False, capture_output=True)


if __name__ == "__main__":
    run_cases("storm/calls", [
        every_operation_replies_as_documented_on_sqlite,
        every_operation_replies_as_documented_on_postgres,
    ])

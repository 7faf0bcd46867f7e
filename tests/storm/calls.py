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
from storm import SECONDS, expect, random_for, run_cases, server_for_storm, until_time_is_over

SLOWEST = 20  # seconds, with sanitizers on a busy machine
QUICK = ("--password-memory", "1", "--password-passes", "1")
# Operations that wait for another client, or delete what the others need.
RARE = {"POST /api/v10/auth/logout": 0.05, "DELETE /api/v10/guilds/{guild.id}": 0.2,
        "POST /api/v10/users/@me/delete": 0.1, "POST /api/v10/users/@me/disable": 0.1}
# Multipart forms whose plain parts are members of the body.
PARTS = {"create_guild_sticker"}


class RandomCaller:
    """Sends requests as one of several users and their bots, and collects the ids in replies."""

    def __init__(self, port, rng):
        self.port, self.rng = port, rng
        self.connection = None
        self.ids = {}      # ids of all users
        self.users = []    # (token, ids of its user)
        self.own_ids = {}  # ids of the user who sends the next request
        self.created_users = 0
        self.problems = {}  # the first problem of each operation
        self.statuses = collections.Counter()

    def send_request(self, method, path, body=None, headers=None):
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

    def call_checked(self, method, path, body, token=None):
        status, _, text = self.send_request(method, path, body, {"Authorization": token} if token else {})
        expect(status < 300, f"{method} {path}: {status} {text[:300]}")
        return json.loads(text) if text else None

    def note_id(self, kind, id_):
        for ids in (self.ids, self.own_ids):
            known = ids.setdefault(kind, [])
            if id_ not in known:
                known.append(id_)
                del known[:-30]

    def known_ids(self, kind):
        """Returns ids of this kind, mostly the user's own, because requests with others are refused early."""
        ids = self.own_ids if self.rng.random() < 0.8 else self.ids
        return ids.get(kind) or self.ids.get(kind) or self.ids.get("user")

    def collect_ids(self, value, kind=""):
        """Collects the ids of a reply, by the field that contains them."""
        if isinstance(value, list):
            for v in value[:20]:
                self.collect_ids(v, kind)
        elif isinstance(value, dict):
            for key, v in value.items():
                if isinstance(v, str) and v.isdigit() and (key == "id" or key.endswith("_id")):
                    self.note_id(kind if key == "id" else key.removesuffix("_id"), v)
                elif isinstance(v, (dict, list)):
                    self.collect_ids(v, key.removesuffix("s"))
                elif key in ("code", "token", "custom_id", "stream_key") and isinstance(v, str):
                    self.note_id(key, v)

    def create_user(self):
        """Creates a user with a guild, an app and its bot."""
        self.created_users += 1
        self.own_ids = {}
        name = f"p{self.created_users}_{self.rng.randrange(10**6)}"
        token = self.call_checked("POST", "/api/v10/auth/register",
                                  {"username": name, "password": "a good password",
                                   "email": f"{name}@example.org"})["token"]
        me = self.call_checked("GET", "/api/v10/users/@me", None, token)
        guild = self.call_checked("POST", "/api/v10/guilds", {"name": name}, token)
        app = self.call_checked("POST", "/api/v10/applications", {"name": name}, token)
        bot = self.call_checked("POST", f"/api/v10/applications/{app['id']}/bot/reset", {}, token)["token"]
        query = f"client_id={app['id']}&scope=bot%20applications.commands"
        self.call_checked("POST", f"/api/v10/oauth2/authorize?{query}",
                          {"authorize": True, "guild_id": guild["id"], "permissions": "8"}, token)
        channels = self.call_checked("GET", f"/api/v10/guilds/{guild['id']}/channels", None, token)
        text = next(c for c in channels if c["type"] == 0)
        message = self.call_checked("POST", f"/api/v10/channels/{text['id']}/messages", {"content": "hello"},
                                    f"Bot {bot}")
        for kind, id_ in (("user", me["id"]), ("guild", guild["id"]), ("application", app["id"]),
                          ("message", message["id"])):
            self.note_id(kind, id_)
        for c in channels:
            self.note_id("channel", c["id"])
        self.create_objects(guild["id"], text["id"], token)
        self.users = [*self.users[-6:], (token, self.own_ids), (f"Bot {bot}", self.own_ids)]

    def create_objects(self, guild, channel, token):
        """Creates objects with routes of their own, so that these routes find something."""
        guild_path = f"/api/v10/guilds/{guild}"
        form, kind = multipart_form({"name": "words", "tags": "a", "description": ""}, ("file", "a.png", PICTURE))
        status, _, text = self.send_request("POST", f"{guild_path}/stickers", form,
                                            {"Content-Type": kind, "Authorization": token})
        expect(status == 201, f"{status} {text[:300]}")
        self.note_id("sticker", json.loads(text)["id"])
        begin, end = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(time.time() + h * 3600)) for h in (24, 25))
        for kind, path, body in (
                ("emoji", f"{guild_path}/emojis", {"name": "words", "image": PNG}),
                ("sound", f"{guild_path}/soundboard-sounds", {"name": "words", "sound": SOUND}),
                ("rule", f"{guild_path}/auto-moderation/rules",
                 {"name": "words", "event_type": 1, "trigger_type": 1, "enabled": True, "actions": [{"type": 1}],
                  "trigger_metadata": {"keyword_filter": ["roll*"], "regex_patterns": ["b+"]}}),
                ("event", f"{guild_path}/scheduled-events",
                 {"name": "words", "entity_type": 3, "privacy_level": 2, "scheduled_start_time": begin,
                  "scheduled_end_time": end, "entity_metadata": {"location": "here"},
                  "recurrence_rule": {"start": begin, "frequency": 3, "interval": 1}}),
                ("channel", f"/api/v10/channels/{channel}/threads", {"name": "words", "type": 11}),
                ("channel", f"{guild_path}/channels", {"name": "words", "type": 15}),
                ("channel", f"{guild_path}/channels", {"name": "words", "type": 5}),
                ("message", f"/api/v10/channels/{channel}/messages",
                 {"poll": {"question": {"text": "words"}, "answers": [{"poll_media": {"text": "a"}}] * 2}})):
            made = self.call_checked("POST", path, body, token)
            self.note_id(kind, made.get("id") or made["sound_id"])
        self.note_id("answer", "1")

    def choose_token(self):
        token, self.own_ids = self.rng.choice(self.users)
        if self.rng.random() < 0.02:
            return self.rng.choice([None, "x", "Bot x.y.z", "Bearer z"])
        return token


def multipart_form(fields, file):
    """Returns a multipart body of plain parts and one file, and its content type."""
    part = b'--b\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'
    name, filename, data = file
    form = b"".join(part % (k.encode(), b"", str(v).encode("utf-8", "replace")) for k, v in fields.items())
    form += part % (name.encode(), b'; filename="%s"' % filename.encode(), data)
    return form + b"--b--\r\n", "multipart/form-data; boundary=b"


def fill_path(caller, doc, path, operation):
    """Returns the path with ids filled in, and a query."""
    query = []
    for p in operation.get("parameters", []):
        if p["in"] == "path":
            kind = p["name"].removesuffix(".id").rpartition(".")[2]
            kind = {"member": "user", "home": "guild", "app_guild": "guild", "place": "channel"}.get(kind, kind)
            value = doc.an_id({"invite.code": "code", "webhook.token": "token"}.get(p["name"], kind))
            path = path.replace("{" + p["name"] + "}", urllib.parse.quote(str(value), safe=""))
        elif p["in"] == "query" and caller.rng.random() < (0.95 if p.get("required") else 0.4):
            value = doc.value(p["schema"], p["name"])
            value = value if isinstance(value, str) else json.dumps(value)
            query.append((p["name"], value.encode("utf-8", "replace")))
    return path + ("?" + urllib.parse.urlencode(query) if query else "")


def make_body(caller, doc, operation):
    contents = operation.get("requestBody", {}).get("content", {})
    if not contents or caller.rng.random() < 0.01:
        return (b"", {}) if caller.rng.random() < 0.9 else (b"{", {"Content-Type": "application/json"})
    kind = caller.rng.choice(list(contents))
    value = doc.value(contents[kind]["schema"])
    text = json.dumps(value).encode()
    if kind == "application/x-www-form-urlencoded" and isinstance(value, dict):
        return urllib.parse.urlencode({k: str(v).encode("utf-8", "replace") for k, v in value.items()}).encode(), {
            "Content-Type": kind}
    if kind == "multipart/form-data" and isinstance(value, dict) and operation["operationId"] in PARTS:
        form, kind = multipart_form(value, ("file", "a.png", caller.rng.choice([PICTURE, b"", b"{}", PICTURE[:40]])))
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
    why = schema and doc.mismatch(schema, value)
    return why and f"{status}: {why}", value


def one_call(caller, doc, operation):
    path, method, row = operation
    token = caller.choose_token()
    doc.wild = caller.rng.random() < 0.5
    target = fill_path(caller, doc, path, row)
    body, headers = make_body(caller, doc, row) if method not in ("GET", "HEAD") else (None, {})
    if token:
        headers["Authorization"] = token
    began = time.monotonic()
    answer = caller.send_request(method, target, body, headers)
    caller.statuses[answer[0]] += 1
    why, value = problem_with(doc, row, answer, time.monotonic() - began)
    if why:
        what = f"{method} {target} {body[:1500] if body else ''} as {str(token)[:4]}"
        caller.problems.setdefault(row["operationId"], f"{what}: {why}")
    if value is not None:
        kind = path.rpartition("}")[0].rpartition("{")[2] if path.endswith("}") else path.rpartition("/")[2]
        kind = kind.removesuffix(".id").removesuffix("s")
        caller.collect_ids(value, {"soundboard-sound": "sound", "scheduled-event": "event"}.get(kind, kind))
    if (answer[0] == 401 and token and len(token) > 20) or caller.rng.random() < 0.004:
        caller.create_user()  # the token was revoked


def storm(executable, name, *flags):
    rng = random_for(name)
    with server_for_storm(executable, *QUICK, *flags) as server:
        caller = RandomCaller(server.port, rng)
        _, _, text = caller.send_request("GET", "/openapi.json")
        doc = Document(json.loads(text), rng, caller.known_ids)
        for _ in range(3):
            caller.create_user()
        done = set()
        enough = min(len(doc.operations), int(SECONDS * 5))
        for n in until_time_is_over(enough):
            operation = doc.operations[n % len(doc.operations)] if n < len(doc.operations) else rng.choice(
                doc.operations)
            key = f"{operation[1]} {operation[0]}"
            if rng.random() < RARE.get(key, 1):
                one_call(caller, doc, operation)
                done.add(key)
        print(f"{sum(caller.statuses.values())} calls:", dict(caller.statuses.most_common()), flush=True)
        expect(not caller.problems, "\n".join(caller.problems.values()))
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

#!/usr/bin/env python3
"""operator_commands - tests the operator commands on a running server, and the registration modes."""

import functools
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from cases import Skip, expect, run_cases  # noqa: E402
from prepared_data import start_guildhall  # noqa: E402
from process import Client, Process, register, serve_command  # noqa: E402
from gateway_session import connect, is_closed  # noqa: E402

PASSWORD = "correct horse battery"


def new_database(template="template1"):
    """Creates a database on the PostgreSQL of scripts/with-postgres; returns its URL for
    --store."""
    line = os.environ.get("GUILDHALL_TEST_POSTGRES")
    if not line or not shutil.which("psql"):
        raise Skip("PostgreSQL is not available; run this with scripts/with-postgres")
    name = f"orders_{os.getpid()}_{time.monotonic_ns()}"
    subprocess.run(["psql", line, "-qc", f"create database {name} template {template}"], check=True,
                   timeout=60)
    return re.sub(r"dbname=\S+", f"dbname={name}", line)


@functools.cache
def fresh_database(executable):
    """Returns a database and a folder with its key, as after a first start."""
    folder = tempfile.TemporaryDirectory()
    store = new_database()
    Process(serve_command(executable, folder.name, "--store", store)).stop()
    return re.search(r"dbname=(\S+)", store)[1], folder


class Server:
    """A server and its operator commands."""

    def __init__(self, executable, *flags):
        self.executable = executable
        self.folder = tempfile.TemporaryDirectory()
        more = []
        if os.environ.get("ORDERS_STORE") == "postgres":
            template, keys = fresh_database(executable)
            shutil.copy(os.path.join(keys.name, "pepper.key"), self.folder.name)
            more = ["--store", new_database(template)]
        self.process = start_guildhall(executable, self.folder.name, *more, *flags)
        self.port = self.process.port

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stop()
        self.folder.cleanup()

    def run(self, *words, stdin=None):
        return subprocess.run([self.executable, *words, "--data", self.folder.name], input=stdin,
                              capture_output=True, text=True, timeout=60, check=False)

    def run_json(self, *words, stdin=None):
        """Runs a command and returns its output, one dictionary per line."""
        done = self.run(*words, "--json", stdin=stdin)
        expect(done.returncode == 0, f"{words}: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def refusal(self, *words, stdin=None):
        done = self.run(*words, stdin=stdin)
        expect(done.returncode != 0 and not done.stdout, f"{words}: {done.stdout}")
        return done.stderr


def log_in(port, name, password=PASSWORD):
    client = Client(port)
    answer = client.call("POST", "/auth/login", {"login": name, "password": password})
    client.close()
    return answer


def status_of(port, token):
    client = Client(port, token)
    status, _ = client.call("GET", "/users/@me")
    client.close()
    return status


def accounts_are_listed_and_shown(executable):
    with Server(executable) as s:
        for name in ("ada", "bob", "cyd"):
            register(s.port, name)
        listed = s.run_json("user", "list")
        expect([u["name"] for u in listed] == ["ada", "bob", "cyd"], str(listed))
        expect(listed[0]["state"] == "active" and listed[0]["bot"] is False, str(listed))
        page = s.run_json("user", "list", "--limit", "2")
        expect([u["name"] for u in page] == ["ada", "bob"], str(page))
        page = s.run_json("user", "list", "--after", page[1]["id"])
        expect([u["name"] for u in page] == ["cyd"], str(page))
        table = s.run("user", "list").stdout.splitlines()
        expect(table[0].split() == ["id", "name", "email", "bot", "premium", "state"], table[0])
        expect(len(table) == 4, str(table))
        shown = s.run_json("user", "show", "bob")[0]
        expect(shown == s.run_json("user", "show", shown["id"])[0], "the account differs by name and by id")
        expect(shown["tokens"] == 1 and shown["guilds"] == 0, str(shown))
        expect("no such account" in s.refusal("user", "show", "no account"), "an unknown name was accepted")
        refusal = s.refusal("guild", "frobnicate")
        expect("there is no command 'guild frobnicate'\n" in refusal and "the forms of guild are" in refusal, refusal)
        expect("refresh" not in refusal, f"a command of the pages is listed: {refusal}")
        expect(s.run_json("stats")[0]["people"] == 3, "stats")


def disabled_account_is_logged_out_immediately(executable):
    with Server(executable) as s:
        token = register(s.port, "ada")
        with connect(s.port, token) as session:
            expect(s.run_json("user", "disable", "ada")[0]["state"] == "disabled", "disable")
            expect(is_closed(session), "the session continues")
        expect(status_of(s.port, token) == 401, "the token is still valid")
        status, answer = log_in(s.port, "ada")
        expect(status == 403 and answer["code"] == 20013, f"{status} {answer}")
        s.run_json("user", "enable", "ada")
        expect(status_of(s.port, token) == 401, "the old token is valid again")
        status, answer = log_in(s.port, "ada")
        expect(status == 200 and status_of(s.port, answer["token"]) == 200, f"{status} {answer}")


def account_data_is_exported_to_a_file(executable):
    with Server(executable) as s:
        register(s.port, "ada")
        answer = s.run_json("user", "export", "ada")[0]
        for _ in range(600):
            if answer["state"] == "ready":
                break
            time.sleep(0.05)
            answer = s.run_json("user", "export", "ada")[0]
        expect(answer["bytes"] == os.path.getsize(answer["file"]), str(answer))
        with tarfile.open(answer["file"]) as tar:
            content = tar.extractfile("account-0001.jsonl").read()
        expect(json.loads(content)["username"] == "ada", str(content))


def operator_can_remove_a_lost_second_factor(executable):
    with Server(executable) as s:
        register(s.port, "ada")
        expect(s.run_json("user", "mfa-off", "ada")[0]["state"] == "has no second factor", "mfa-off")
        expect("no such account" in s.refusal("user", "mfa-off", "nobody"), "an unknown name was accepted")
        expect([n["command"] for n in s.run_json("log")] == ["user mfa-off ada"], "the log")


def new_password_ends_sessions_and_tokens(executable):
    with Server(executable) as s:
        token = register(s.port, "ada")
        expect("8-72" in s.refusal("user", "passwd", "ada", stdin="short\n"), "a short one")
        expect(status_of(s.port, token) == 200, "a refused command had an effect")
        with connect(s.port, token) as session:
            s.run_json("user", "passwd", "ada", stdin="another password\n")
            expect(is_closed(session), "the session continues")
        expect(status_of(s.port, token) == 401, "the token is still valid")
        expect(log_in(s.port, "ada")[0] == 400, "the old password is still valid")
        expect(log_in(s.port, "ada", "another password")[0] == 200, "the new password is not valid")
        notes = s.run_json("log")
        expect([n["command"] for n in notes] == ["user passwd ada"], str(notes))
        expect(notes[0]["uid"] == os.getuid(), str(notes))


def invalid_operator_commands_give_error_messages(executable):
    with Server(executable) as s:
        ada = Client(s.port, register(s.port, "ada"))
        digits = "123456789012345678"
        register(s.port, digits)
        _, guild = ada.call("POST", "/guilds", {"name": "\u00e9\u4e2d"})
        channel = ada.call("GET", f"/guilds/{guild['id']}/channels")[1][0]["id"]
        expect(s.run_json("user", "show", digits)[0]["name"] == digits, "a name of digits was not found")
        huge = "9" * 19
        for words, problem, status in (
                (["user", "show", ""], "an argument is empty", 2),
                (["user", "show", "a\tb"], "a tab or a line break", 2),
                (["user", "show", "a\nb"], "a tab or a line break", 2),
                (["user", "show", "x" * 3000], "too long", 2),
                (["user", "show"], "an argument is missing; the form is\n  user show NAME", 2),
                (["user", "show", "ada", "bob"], "too many arguments; the form is\n  user show NAME", 2),
                (["user", "show", guild["id"]], "no such account", 1),
                (["user", "show", huge], "no such account", 1),
                (["user", "show", "99999999999999999999999"], "no such account", 1),
                (["user", "show", "'; drop table users; --"], "no such account", 1),
                (["user", "add", "ada", "admin"], "user add NAME [bot]", 1),
                (["user", "list", "--after", "ada"], "--after must be an id", 2),
                (["user", "list", "--limit", "0"], "limit", 2),
                (["user", "list", "--frob"], "frob", 2),
                (["user", "premium", "ada", "4"], "0, 1, 2 or 3", 1),
                (["user", "passwd", "ada"], "no password was entered", 2),
                (["guild", "show", huge], "no guild", 1),
                (["guild", "show", "ada"], "no guild", 1),
                (["guild", "owner", guild["id"], guild["id"]], "no such account", 1),
                (["guild", "delete"], "an argument is missing; the form is\n  guild delete ID", 2),
                (["guild", "delete", guild["id"]], "--yes", 2),
                (["guild", "delete", "1", "--yes"], "no guild", 1),
                (["app", "show", guild["id"]], "no application", 1),
                (["app", "token", "x", "--yes"], "no application", 1),
                (["token", "revoke", "nobody"], "no such account", 1),
                (["invite", "create", "many"], "from 1 to 100000", 1),
                (["invite", "revoke", "reg-nothing"], "no such code", 1),
                (["message", "show", "x"], "no such message", 1),
                (["message", "delete", channel, channel, "--yes"], "no such message", 1),
                (["message", "purge", "nobody", "--yes"], "no such account", 1),
                (["message", "purge", "ada"], "--yes", 2),
                (["file", "delete", "1", "--yes"], "no message has this file", 1),
                (["report", "show", "1"], "no report", 1),
                (["ban", "add", "evil.example"], "write a range as", 1),
                (["ban", "lift", "1"], "no ban", 1),
                (["user", "list", "all"], "too many arguments; the form is\n  user list", 2),
                (["user", "lst"], "there is no command 'user lst'; did you mean 'user list'?\n", 2),
                (["guild"], "guildhall: the forms of guild are\n", 2),
                (["stats", "all"], "stats accepts only options, not 'all'", 2),
                (["log", "all"], "log accepts only options, not 'all'", 2),
                (["frobnicate"], "there is no command 'frobnicate'\n", 2)):
            done = s.run(*words, stdin="")
            expect(done.returncode == status and problem in done.stderr and not done.stdout,
                   f"{words}: {done.returncode} {done.stdout}{done.stderr}")
        for words in (["user", "list"], ["sessions"], ["check"], ["serve"], ["user", "add", "eve"]):
            done = subprocess.run([s.executable, *words, "--data", ""], capture_output=True, text=True,
                                  timeout=60, check=False)
            expect(done.returncode == 2 and "--data must not be empty" in done.stderr,
                   f"{words}: {done.returncode} {done.stderr}")
        bytes_done = subprocess.run([s.executable, "user", "show", b"\xff\xfe", "--data",
                                     s.folder.name], capture_output=True, timeout=60, check=False)
        expect(bytes_done.returncode == 1 and b"not valid UTF-8" in bytes_done.stderr,
               str(bytes_done.stderr))
        done = s.run("user", "passwd", "ada", stdin="tab\there and more\n")
        expect(done.returncode == 2 and "must not contain a tab" in done.stderr, done.stderr)
        table = s.run("guild", "list").stdout.splitlines()
        expect(table[0].index("owner") == table[1].index("ada"), repr(table))
        expect(s.run_json("log") == [], "an invalid command is in the log")


def long_lists_are_complete_and_have_one_header(executable):
    with Server(executable) as s:
        for name in ("ada", "bob", "cyd", "dan", "eve"):  # each may have 50 guilds
            client = Client(s.port, register(s.port, name))
            for i in range(41):
                client.call("POST", "/applications", {"name": f"App {i}"})
        done = s.run("app", "list", "--limit", "1000")
        lines = done.stdout.splitlines()
        expect(len(lines) == 206 and done.stderr == "", f"{len(lines)} lines; {done.stderr}")
        expect(sum("owner" in line for line in lines) == 1, "several heads")
        ids = [a["id"] for a in s.run_json("app", "list", "--limit", "1000")]
        expect(len(set(ids)) == 205 and ids == sorted(ids, key=int),
               "the list has duplicates or is not in order")
        done = s.run("app", "list", "--limit", "200")
        expect(f"--after {ids[199]}" in done.stderr, done.stderr)


def concurrent_operator_commands_all_succeed(executable):
    with Server(executable) as s:
        register(s.port, "ada")
        words = [s.executable, "invite", "create", "--json", "--data", s.folder.name]
        children = [subprocess.Popen(words, stdout=subprocess.PIPE, text=True) for _ in range(24)]
        codes = {json.loads(child.communicate(timeout=60)[0])["code"] for child in children}
        expect(len(codes) == 24, f"{len(codes)} codes")
        expect(len(s.run_json("log", "--limit", "1000")) == 24, "the log")


def user_without_permission_gets_an_error_message(executable):
    if os.geteuid() != 0:
        raise Skip("only root can change the user")

    def become_nobody():
        os.setgid(65534)
        os.setuid(65534)
    with Server(executable) as s:
        open_path = os.path.join(s.folder.name, "program")
        shutil.copy(executable, open_path)
        os.chmod(s.folder.name, 0o755)  # the folder is readable; the socket belongs to another user
        for closed in (False, True):
            where = os.path.join(s.folder.name, "closed") if closed else s.folder.name
            if closed:
                os.makedirs(where, 0o700)
            for words in (["user", "list"], ["user", "add", "eve"], ["stats"], ["sessions"]):
                done = subprocess.run([open_path, *words, "--data", where], capture_output=True,
                                      text=True, timeout=60, check=False, preexec_fn=become_nobody)
                expect(done.returncode == 1 and "you may not use" in done.stderr,
                       f"{words}: {done.returncode} {done.stderr}")
        expect(s.run_json("user", "list") == [], "somebody was added")


def files_created_by_root_belong_to_the_server_user(executable):
    """A service runs as its own user, and its operator as root."""
    if os.geteuid() != 0:
        raise Skip("only root can change the user")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        data, saved, back = (os.path.join(folder, n) for n in ("data", "saved", "back"))
        world = os.path.join(folder, "world.json")
        with open(world, "w", encoding="utf-8") as f:
            json.dump({"users": [{"username": "bob"}]}, f)
        for name in (data, back):
            os.mkdir(name)
            os.chown(name, 65534, 65534)
        for words in (["user", "add", "ada", "--data", data], ["import", world, "--data", data],
                      ["check", "--data", data], ["backup", saved, "--data", data],
                      ["export", os.path.join(folder, "copy"), "--data", data],
                      ["restore", saved, "--data", back]):
            done = subprocess.run([executable, *words], capture_output=True, text=True, timeout=60,
                                  check=False)
            expect(done.returncode == 0, f"{words}: {done.stderr}")
        for name in (data, back):
            for top, folders, files in os.walk(name):
                for entry in folders + files:
                    expect(os.lstat(os.path.join(top, entry)).st_uid == 65534,
                           f"{os.path.join(top, entry)} is root's")
        expect(os.stat(saved).st_uid == 0 and os.stat(saved).st_mode & 0o777 == 0o600, "the backup")


def every_changing_operator_command_is_logged(executable):
    """The help lists all commands, and each is either tested here or read-only."""
    with Server(executable) as s:
        ada, bob = (Client(s.port, register(s.port, name)) for name in ("ada", "bob"))
        _, guild = ada.call("POST", "/guilds", {"name": "Here"})
        _, channels = ada.call("GET", f"/guilds/{guild['id']}/channels")
        channel = next(c["id"] for c in channels if c["type"] == 0)
        _, invite = ada.call("POST", f"/channels/{channel}/invites", {})
        bob.call("POST", f"/invites/{invite['code']}", {})
        _, app = ada.call("POST", "/applications", {"name": "Helper"})
        ada.call("POST", f"/applications/{app['id']}/bot", {})
        _, message = ada.call("POST", f"/channels/{channel}/messages", {"content": "hello"})
        message_words = [channel, message["id"]]
        _, report = bob.call("POST", "/report", {"channel_id": channel, "message_id": message["id"],
                                                 "reason": 5})
        code = s.run_json("invite", "create")[0]
        ban = s.run_json("ban", "add", "192.0.2.0/24")[0]
        before = len(s.run_json("log"))
        changes = [["ban", "add", "2001:db8::/32", "spam"], ["ban", "lift", ban["id"]],
                   ["invite", "revoke", code["id"]], ["report", "close", report["id"], "nothing"],
                   ["message", "show", *message_words], ["message", "delete", *message_words],
                   ["message", "purge", "bob"],
                   ["user", "add", "cyd"], ["user", "premium", "cyd", "2"], ["user", "export", "cyd"],
                   ["user", "mfa-off", "cyd"], ["user", "disable", "cyd"], ["user", "enable", "cyd"],
                   ["user", "delete", "cyd"], ["user", "restore", "cyd"], ["user", "passwd", "cyd"],
                   ["token", "revoke", "cyd"], ["user", "erase", "cyd"], ["invite", "create", "3"],
                   ["guild", "owner", guild["id"], "bob"], ["app", "token", app["id"]],
                   ["guild", "delete", guild["id"]]]
        reads = [["user", "list"], ["user", "show", "ada"], ["guild", "list"],
                 ["guild", "show", guild["id"]], ["app", "list"], ["app", "show", app["id"]],
                 ["report", "list"], ["report", "show", report["id"]], ["ban", "list"],
                 ["invite", "list"], ["message", "purging", "bob"], ["stats"], ["log"]]
        files = {("file", "show"), ("file", "delete")}  # tests/http/service/operator_moderation.c tests these
        for words in reads:
            s.run_json(*words)
        for words in changes:
            s.run_json(*words, "--yes", stdin="another password\n")
            if words[1] == "premium":
                expect(s.run_json("user", "show", "cyd")[0]["premium"] == 2, "premium")
        noted = s.run_json("log")[before:]
        expect([n["command"] for n in noted] == [" ".join(words) for words in changes], str(noted))
        expect(all(n["uid"] == os.getuid() for n in noted), str(noted))
        tried = {tuple(words[:2]) for words in changes + reads} | files
        for noun in ("user", "guild", "app", "token", "invite", "message", "file", "report", "ban"):
            verbs = re.findall(r"^  ([a-z][a-z-]*)\b", s.run(noun, "--help").stdout.split("Examples")[0],
                               re.M)
            expect(verbs and {(noun, verb) for verb in verbs} <= tried, f"{noun}: {verbs}")


def operator_can_revoke_tokens(executable):
    with Server(executable) as s:
        token = register(s.port, "ada")
        s.run_json("token", "revoke", "ada")
        expect(status_of(s.port, token) == 401, "the token is still valid")
        made = s.run_json("user", "add", "helper", "bot")[0]
        expect(made["token"].startswith("Bot ") and status_of(s.port, made["token"]) == 200, "a bot")
        expect("taken" in s.refusal("user", "add", "helper"), "a name twice")
        expect("2-32" in s.refusal("user", "add", "No Name"), "no name")


def deleted_account_keeps_the_data_of_others(executable):
    with Server(executable) as s:
        ada, bob = (Client(s.port, register(s.port, name)) for name in ("ada", "bob"))
        _, bob_user = bob.call("GET", "/users/@me")
        _, guild = ada.call("POST", "/guilds", {"name": "Here"})
        _, channels = ada.call("GET", f"/guilds/{guild['id']}/channels")
        channel = next(c["id"] for c in channels if c["type"] == 0)
        _, invite = ada.call("POST", f"/channels/{channel}/invites", {})
        bob.call("POST", f"/invites/{invite['code']}", {})
        _, message = bob.call("POST", f"/channels/{channel}/messages", {"content": "I was here"})
        ada.call("POST", "/users/@me/relationships", {"username": "bob"})
        bob.call("PUT", "/users/@me/relationships/" + s.run_json("user", "show", "ada")[0]["id"], {})
        expect(len(ada.call("GET", "/users/@me/relationships")[1]) == 1, "they are friends")

        expect("owns guilds" in s.refusal("user", "delete", "ada"), "an owner")
        s.run_json("user", "delete", "bob")
        expect(s.run_json("user", "show", "bob")[0]["state"] == "deleting", "not deleting")
        expect(log_in(s.port, "bob")[1]["code"] == 20011, "bob logs in")
        s.run_json("user", "restore", "bob")
        expect("not going to be deleted" in s.refusal("user", "restore", "bob"), "restored twice")
        expect(log_in(s.port, "bob")[0] == 200, "bob cannot log in")
        expect("--yes" in s.refusal("user", "erase", "bob", stdin=""), "the deletion needed no confirmation")
        expect("owns guilds" in s.refusal("user", "erase", "ada", "--yes"), "an owner")
        s.run_json("user", "erase", "bob", "--yes")
        expect(s.run_json("guild", "show", guild["id"])[0]["members"] == 1, "still a member")
        expect(ada.call("GET", "/users/@me/relationships")[1] == [], "still friends")
        status, content = ada.call("GET", f"/channels/{channel}/messages/{message['id']}")
        expect(status == 200 and content["content"] == "I was here", str(content))
        expect(content["author"]["username"] == "deleted_" + bob_user["id"], str(content["author"]))
        expect(log_in(s.port, "bob")[0] == 400, "bob logs in")
        expect("deleted" in s.refusal("user", "enable", bob_user["id"]), "it came back")
        expect("deleted" in s.refusal("user", "restore", bob_user["id"]), "it was restored")
        register(s.port, "bob")  # the name is free again


def operator_can_transfer_and_delete_guilds(executable):
    with Server(executable) as s:
        ada, bob = (Client(s.port, register(s.port, name)) for name in ("ada", "bob"))
        _, guild = ada.call("POST", "/guilds", {"name": "Here"})
        listed = s.run_json("guild", "list")
        expect(listed == [{"id": guild["id"], "name": "Here", "owner": "ada", "members": 1}],
               str(listed))
        expect("not a member of the guild" in s.refusal("guild", "owner", guild["id"], "bob"),
               "a user outside the guild became its owner")
        _, channels = ada.call("GET", f"/guilds/{guild['id']}/channels")
        channel = next(c["id"] for c in channels if c["type"] == 0)
        _, invite = ada.call("POST", f"/channels/{channel}/invites", {})
        bob.call("POST", f"/invites/{invite['code']}", {})
        s.run_json("guild", "owner", guild["id"], "bob")
        expect(s.run_json("guild", "show", guild["id"])[0]["owner"] == "bob", "the owner")
        expect(ada.call("GET", f"/guilds/{guild['id']}")[1]["owner_id"] ==
               bob.call("GET", "/users/@me")[1]["id"], "members see it")
        s.run_json("guild", "delete", guild["id"], "--yes")
        expect(s.run_json("guild", "list") == [], "it is listed")
        expect(ada.call("GET", f"/guilds/{guild['id']}")[0] in (403, 404), "it is there")
        expect("no guild" in s.refusal("guild", "show", guild["id"]), "it is shown")
        expect("no guild" in s.refusal("guild", "show", "x"), "no id")


def mirror_commands_change_only_the_guild_that_they_name(executable):
    """copy-guild --follow takes the ids from the other server, which may be hostile."""
    with Server(executable) as s:
        register(s.port, "ada")
        client = Client(s.port, log_in(s.port, "ada")[1]["token"])
        guilds = [client.call("POST", "/guilds", {"name": name})[1]["id"] for name in ("One", "Two")]
        ada = client.call("GET", "/users/@me")[1]["id"]
        own, channel = [next(c["id"] for c in client.call("GET", f"/guilds/{guild}/channels")[1]
                             if c["type"] == 0) for guild in guilds]
        post = f"/channels/{channel}/messages"
        first, second, third = [client.call("POST", post, {"content": "here"})[1]["id"]
                                for _ in range(3)]
        changes = [("mirror-message", channel, first, "edited"),
                   ("mirror-reaction", channel, first, ada, "👍", "added"),
                   ("mirror-deletion", channel, first),
                   ("mirror-deletion", channel, f"{second},{third}"),
                   ("mirror-role", guilds[1], "deleted"),
                   ("mirror-channel", channel, "deleted")]

        def apply(guild, verb, *words):
            return s.run_json("guild", verb, guild, *words)[0]["state"]

        for change in changes:
            expect(apply(guilds[0], *change) == "absent", str(change))
        # A message is not sent to the members of another channel either.
        for change in (("mirror-message", own, first, "created"), ("mirror-deletion", own, first)):
            expect(apply(guilds[0], *change) == "absent", str(change))
        expect(len(client.call("GET", post)[1]) == 3, "messages of another guild were deleted")
        for change in changes:
            # The role @everyone is never deleted.
            wanted = "absent" if change[0] == "mirror-role" else "done"
            expect(apply(guilds[1], *change) == wanted, str(change))
        expect(client.call("GET", post)[0] == 404, "the channel was not deleted")
        client.close()


def operator_can_reset_an_application_token(executable):
    with Server(executable) as s:
        ada = Client(s.port, register(s.port, "ada"))
        _, app = ada.call("POST", "/applications", {"name": "Helper"})
        _, made = ada.call("POST", f"/applications/{app['id']}/bot", {})
        shown = s.run_json("app", "list")
        expect(shown[0]["id"] == app["id"] and shown[0]["owner"] == "ada", str(shown))
        token = s.run_json("app", "token", app["id"], "--yes")[0]["token"]
        expect(status_of(s.port, token) == 200, "the new one")
        if made.get("token"):
            expect(status_of(s.port, "Bot " + made["token"]) == 401, "the old one")
        expect("no application" in s.refusal("app", "show", "1"), "there is none")


def registration_requires_an_invitation(executable):
    with Server(executable, "--registration", "invite") as s:
        client = Client(s.port)

        def attempt(name, **more):
            return client.call("POST", "/auth/register",
                               {"username": name, "password": PASSWORD, **more})
        status, answer = attempt("ada")
        expect(status == 400 and answer["code"] == 50035, f"{status} {answer}")
        expect(answer["errors"]["invite"]["_errors"][0]["code"] == "INVITE_REQUIRED", str(answer))
        status, answer = attempt("ada", invite="reg-nothing")
        expect(answer["errors"]["invite"]["_errors"][0]["code"] == "INVITE_INVALID", str(answer))
        code = s.run_json("invite", "create", "2")[0]["code"]
        for name in ("ada", "bob"):
            status, answer = attempt(name, invite=code)
            expect(status in (200, 201) and answer["token"], f"{status} {answer}")
        status, answer = attempt("cyd", invite=code)
        expect(status == 400, "the invitation was accepted twice")
        # A registration with a taken name does not use up the invitation.
        code = s.run_json("invite", "create")[0]["code"]
        expect(attempt("ada", invite=code)[0] == 400, "a taken name was accepted")
        expect(attempt("cyd", invite=code)[0] in (200, 201), "the invitation was used up")
        expect("from 1 to 100000" in s.refusal("invite", "create", "0"), "an invitation without uses was created")
    with Server(executable, "--registration", "closed") as s:
        client = Client(s.port)
        status, answer = client.call("POST", "/auth/register", {"username": "ada"})
        expect(status == 403 and answer["code"] == 40006, f"{status} {answer}")
        expect(s.run_json("user", "add", "ada")[0]["token"], "the operator could not create an account")


def public_server_has_no_open_registration(executable):
    with Server(executable, "--public-url", "https://chat.example") as s:
        status, answer = Client(s.port).call("POST", "/auth/register", {"username": "ada"})
        expect(status == 400 and "invite" in answer["errors"], f"{status} {answer}")


def first_start_prints_how_to_create_an_account(executable):
    with tempfile.TemporaryDirectory() as folder:
        process = Process(serve_command(executable, folder))
        process.stop()
        expect(f"guildhall user add NAME --data {folder}" in process.first_line, process.first_line)
        subprocess.run([executable, "user", "add", "zoe", "--data", folder], check=True,
                       capture_output=True, timeout=60)
        process = Process(serve_command(executable, folder))
        process.stop()
        expect("no accounts" not in process.first_line, process.first_line)


def documented_operator_commands_work(executable):
    manual = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/OPERATING.md")
    with open(manual, encoding="utf-8") as f:
        block = re.search(r"```sh\n( *guildhall user add .*?)```", f.read(), re.S).group(1)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(executable, os.path.join(folder, "guildhall"))
        server = start_guildhall(executable, os.path.join(folder, "data"))
        try:
            done = subprocess.run(["sh", "-ec", block], capture_output=True, text=True, timeout=60,
                                  cwd=folder, check=False,
                                  env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]})
            expect(done.returncode == 0 and "user disable ada" in done.stdout, done.stderr)
        finally:
            server.stop()


def operator_commands_apply_to_every_node(executable):
    if os.environ.get("ORDERS_STORE") != "postgres":
        return  # SQLite is used by one server only
    store = new_database()
    flags = ["--store", store, "--bus", "poll", "--blobs", "postgres"]
    with tempfile.TemporaryDirectory() as root:
        # Two nodes share the database and the key; commands are given on either.
        first_folder, second_folder = os.path.join(root, "here"), os.path.join(root, "there")
        one = start_guildhall(executable, first_folder, *flags, "--node", "1")
        os.mkdir(second_folder)
        shutil.copy(os.path.join(first_folder, "pepper.key"), second_folder)
        two = start_guildhall(executable, second_folder, *flags, "--node", "2")
        try:
            def run_json(folder, *words, **more):
                done = subprocess.run([executable, *words, "--data", folder], capture_output=True,
                                      text=True, timeout=60, check=False, **more)
                expect(done.returncode == 0, f"{words}: {done.stderr}")
                return done.stdout
            for folder, words, more in (
                    (first_folder, ["user", "disable", "ada"], {}), (second_folder, ["token", "revoke", "bob"], {}),
                    (second_folder, ["user", "passwd", "cyd"], {"input": "another password\n"}),
                    (first_folder, ["user", "erase", "dan", "--yes"], {}),
                    (second_folder, ["user", "disable", "eve"], {})):
                token = register(one.port, next(w for w in words[2:]))
                with connect(one.port, token) as first, connect(two.port, token) as second:
                    run_json(folder, *words, **more)
                    expect(is_closed(first) and is_closed(second), f"{words}: a session continues")
                for server in (one, two):
                    expect(status_of(server.port, token) == 401, f"{words}: the token is still valid")
            logs = [run_json(folder, "log", "--json") for folder in (first_folder, second_folder)]
            expect(logs[0] == logs[1] and logs[0].count("\n") == 5, str(logs))
        finally:
            one.stop()
            two.stop()


def paused_node_is_reported(executable):
    with Server(executable) as s:
        s.process.freeze()
        try:
            done = s.run("user", "list", "--wait", "1")
        finally:
            os.kill(s.process.pid, signal.SIGCONT)
        expect(done.returncode == 1 and "does not respond" in done.stderr, done.stderr)


def only_account_creation_works_without_a_server(executable):
    with tempfile.TemporaryDirectory() as folder:
        made = subprocess.run([executable, "user", "add", "ada", "--json", "--data", folder],
                              check=False, capture_output=True, text=True, timeout=60)
        expect(json.loads(made.stdout)["token"], made.stdout)
        done = subprocess.run([executable, "user", "add", "eve", "admin", "--data", folder],
                              check=False, capture_output=True, text=True, timeout=60)
        expect(done.returncode == 2 and "user add NAME [bot]" in done.stderr, done.stderr)
        server = start_guildhall(executable, folder)
        try:
            noted = subprocess.run([executable, "log", "--json", "--data", folder], check=True,
                                   capture_output=True, text=True, timeout=60).stdout
            expect(json.loads(noted)["command"] == "user add ada", noted)
        finally:
            server.stop()
        done = subprocess.run([executable, "guild", "list", "--data", folder], check=False,
                              capture_output=True, text=True, timeout=60)
        expect(done.returncode == 1 and "no server runs" in done.stderr, done.stderr)


if __name__ == "__main__":
    run_cases("operator_commands", [
        accounts_are_listed_and_shown,
        disabled_account_is_logged_out_immediately,
        new_password_ends_sessions_and_tokens,
        operator_can_remove_a_lost_second_factor,
        account_data_is_exported_to_a_file,
        every_changing_operator_command_is_logged,
        operator_can_revoke_tokens,
        invalid_operator_commands_give_error_messages,
        long_lists_are_complete_and_have_one_header,
        concurrent_operator_commands_all_succeed,
        user_without_permission_gets_an_error_message,
        files_created_by_root_belong_to_the_server_user,
        operator_commands_apply_to_every_node,
        paused_node_is_reported,
        deleted_account_keeps_the_data_of_others,
        operator_can_transfer_and_delete_guilds,
        mirror_commands_change_only_the_guild_that_they_name,
        operator_can_reset_an_application_token,
        registration_requires_an_invitation,
        public_server_has_no_open_registration,
        first_start_prints_how_to_create_an_account,
        documented_operator_commands_work,
        only_account_creation_works_without_a_server,
    ])

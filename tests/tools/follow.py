#!/usr/bin/env python3
"""follow - tests `copy-guild --follow`: the copy of a guild in a running server follows its source,
and messages that are written in the copy are posted back."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))

from cases import expect, run_cases  # noqa: E402
from copy_guild import Source, compare, copy, import_world, post_claim, run, upload  # noqa: E402
from gateway_session import connect  # noqa: E402
from prepared_data import copy_prepared_data, start_guildhall  # noqa: E402
from process import Client, Failed  # noqa: E402
from running_copies import read_until  # noqa: E402

PATIENCE = 180
# The time of a pin is that of its arrival here (docs/MOVE-HERE.md); invites and webhooks have secrets.
LOCAL = ("last_message_id", "approximate_", "/invites", "/webhooks", ".permissions", "pinned_at",
         "last_pin_timestamp")


# Both servers generate ids; those of the same millisecond must differ.
NODE = ("--node", "7")


class Running:
    """A server without guilds that stays up during a copy."""

    def __init__(self, executable, folder):
        self.data = copy_prepared_data(executable, os.path.join(folder, "target"))
        self.server = start_guildhall(executable, self.data, *NODE)


class Follower:
    """A running `copy-guild --follow`."""

    def __init__(self, executable, source, data, *flags):
        self.words = [executable, "copy-guild", "--from", source.url, "--token-file",
                      source.token_file, "--guild", source.guild, "--data", data,
                      "--requests-per-second", "2000", "--follow", *flags]
        self.path = data + ".follow.log"
        self.process = None
        self.start()

    def start(self):
        with open(self.path, "ab") as log:
            self.process = subprocess.Popen(self.words, stdout=log, stderr=log)

    def log(self):
        with open(self.path, encoding="utf-8", errors="replace") as f:
            return f.read()

    def wait_until_following(self):
        wait_for(lambda: "following the guild" in self.log(), lambda: self.log())

    def kill(self):
        self.process.kill()
        self.process.wait()

    def stop(self):
        self.process.terminate()
        return self.process.wait(timeout=PATIENCE)


def wait_for(condition, describe=lambda: ""):
    """Waits for a condition; the time limit only ends a test that hangs."""
    until = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > until:
            raise Failed(f"the condition did not become true: {describe()}")
        time.sleep(0.05)


def call(client, method, path, body=None):
    status, answer = client.call(method, path, body)
    expect(status in (200, 201, 204), f"{method} {path}: {status} {answer}")
    return answer


def messages_of(client, channel):
    status, answer = client.call("GET", f"/channels/{channel}/messages?limit=100")
    return answer if status == 200 else []


def contents(client, channel):
    return [m["content"] for m in messages_of(client, channel)]


def differences_of(old, new, guild):
    return [text for text in compare(old, new, guild, least=20)
            if not any(word in text for word in LOCAL)]


def wait_until_equal(old, new, guild, log=lambda: ""):
    wait_for(lambda: not differences_of(old, new, guild),
             lambda: "\n".join(differences_of(old, new, guild)[:40]) + log())


def claim_cleo(source, target):
    """Returns the token of cleo on the target, with the code that the bot has sent."""
    client = Client(source.server.port, "cleo_token_0123456789")
    wait_for(lambda: client.call("GET", "/users/@me/channels")[1])
    channel = client.call("GET", "/users/@me/channels")[1][0]["id"]
    wait_for(lambda: messages_of(client, channel))
    text = messages_of(client, channel)[0]["content"]
    status, answer = post_claim(target, re.search(r"#token=(\S+)", text)[1])
    expect(status == 200, str(answer))
    return answer["token"]


def change_messages(source):
    """Creates, edits, deletes, pins and reacts."""
    general = source.channels["general"]
    post = f"/channels/{general}/messages"
    message = call(source.ada, "POST", post, {"content": "fresh message"})
    edited = call(source.ada, "POST", post, {"content": "with a typo"})
    call(source.ada, "PATCH", f"{post}/{edited['id']}", {"content": "without a typo"})
    call(source.bob, "POST", post, {"content": "an answer",
                                    "message_reference": {"message_id": message["id"]}})
    deleted = [call(source.ada, "POST", post, {"content": f"deleted {i}"})["id"] for i in range(4)]
    call(source.ada, "DELETE", f"{post}/{deleted[0]}")
    call(source.bot, "POST", f"{post}/bulk-delete", {"messages": deleted[1:3]})
    source.upload(general, "plan.txt", b"the plan")
    emoji = call(source.bot, "GET", f"/guilds/{source.guild}/emojis")[0]
    for name in ("👍", f"hammer:{emoji['id']}", "🪵"):
        reaction = f"{post}/{message['id']}/reactions/{urllib.parse.quote(name)}"
        for who in (source.ada, source.bob):
            call(who, "PUT", f"{reaction}/@me")
        if name == "🪵":
            call(source.bot, "DELETE", reaction)
    call(source.bob, "DELETE", f"{post}/{message['id']}/reactions/{urllib.parse.quote('👍')}/@me")
    call(source.ada, "PUT", f"/channels/{general}/pins/{message['id']}")
    call(source.ada, "PUT", f"/channels/{general}/pins/{edited['id']}")
    call(source.ada, "DELETE", f"/channels/{general}/pins/{edited['id']}")
    return {"kept": message["id"], "deleted": deleted}


def change_guild(source):
    """Creates, changes and deletes channels, roles and members."""
    top = f"/guilds/{source.guild}"
    role = call(source.ada, "POST", top + "/roles", {"name": "Visitors", "color": 255})
    gone = call(source.ada, "POST", top + "/roles", {"name": "Short-lived"})
    call(source.ada, "PATCH", f"{top}/roles/{role['id']}", {"name": "Guests"})
    call(source.ada, "DELETE", f"{top}/roles/{gone['id']}")
    channel = call(source.ada, "POST", top + "/channels", {
        "name": "fresh", "topic": "New things", "permission_overwrites": [
            {"id": role["id"], "type": 0, "allow": "8192", "deny": "0"}]})
    call(source.ada, "PATCH", f"/channels/{channel['id']}", {"name": "fresher"})
    gone = call(source.ada, "POST", top + "/channels", {"name": "short-lived"})
    call(source.ada, "DELETE", f"/channels/{gone['id']}")
    call(source.ada, "POST", f"/channels/{channel['id']}/messages", {"content": "first here"})
    thread = call(source.ada, "POST", f"/channels/{channel['id']}/threads",
                  {"name": "A thread", "type": 11})
    call(source.ada, "POST", f"/channels/{thread['id']}/messages", {"content": "in the thread"})
    bob = source.id_of("bob")
    call(source.ada, "PATCH", f"{top}/members/{bob}", {"nick": None, "roles": [role["id"]]})
    code = call(source.ada, "POST", f"/channels/{channel['id']}/invites", {"max_age": 0})["code"]
    call(source.ada, "DELETE", f"{top}/members/{bob}")
    call(source.bob, "POST", f"/invites/{code}", {})
    call(source.ada, "PATCH", f"{top}/members/{bob}", {"nick": "Bob again"})
    return channel["id"]


def copy_follows_its_source(executable):
    with tempfile.TemporaryDirectory() as folder:
        source = Source(executable, folder)
        target = Running(executable, folder)
        follower = None
        try:
            source.use_more_features()
            follower = Follower(executable, source, target.data, "--send-claims",
                                "https://chat.example")
            follower.wait_until_following()
            token = claim_cleo(source, target)
            old = Client(source.server.port, "cleo_token_0123456789")
            cleo = Client(target.server.port, token)
            session = connect(target.server.port, token, intents=0x3FFFFFF)
            done = change_messages(source)
            # A session on this side receives the events.
            seen = read_until(session, b'"MESSAGE_CREATE"')
            seen = read_until(session, b'fresh message', seen)
            seen = read_until(session, b'"MESSAGE_UPDATE"', seen)
            seen = read_until(session, b'"MESSAGE_DELETE"', seen)
            seen = read_until(session, b'"MESSAGE_DELETE_BULK"', seen)
            seen = read_until(session, b'"MESSAGE_REACTION_ADD"', seen)
            seen = read_until(session, b'"MESSAGE_REACTION_REMOVE"', seen)
            seen = read_until(session, b'"MESSAGE_REACTION_REMOVE_EMOJI"', seen)
            read_until(session, b'"CHANNEL_PINS_UPDATE"', seen)
            fresh = change_guild(source)
            seen = read_until(session, b'"GUILD_ROLE_CREATE"')
            seen = read_until(session, b'"GUILD_ROLE_DELETE"', seen)
            seen = read_until(session, b'"CHANNEL_CREATE"', seen)
            seen = read_until(session, b'"CHANNEL_DELETE"', seen)
            seen = read_until(session, b'"THREAD_CREATE"', seen)
            seen = read_until(session, b'"GUILD_MEMBER_REMOVE"', seen)
            read_until(session, b'"GUILD_MEMBER_ADD"', seen)
            wait_until_equal(old, cleo, source.guild, follower.log)
            expect(done["kept"] in [m["id"] for m in messages_of(cleo, source.channels["general"])],
                   "the message has another id")
            expect(contents(cleo, fresh)[-1:] == ["first here"], str(contents(cleo, fresh)))
            # A deletion stays when the archive is imported again: an emoji makes the lists change.
            call(source.ada, "PATCH", f"/guilds/{source.guild}", {"name": "The other workshop"})
            wait_until_equal(old, cleo, source.guild, follower.log)
            session.close()
            expect(follower.stop() == 0, follower.log())
            again = run(executable, "copy-guild", "--from",
                        f"{target.data}/copies/{source.guild}", "--data", target.data)
            expect(re.search(r"^messages +(\d+) of \1$", again.stdout, re.M), again.stdout)
            wait_until_equal(old, cleo, source.guild)
        finally:
            if follower:
                follower.kill()
            source.server.kill()
            target.server.kill()


def restart(server_of, executable, data):
    """Kills a server and starts it again on the same port."""
    port = server_of.server.port
    server_of.server.kill()
    server_of.server = start_guildhall(executable, data, "--listen", f"127.0.0.1:{port}")


def follower_continues_after_kills_and_restarts(executable):
    with tempfile.TemporaryDirectory() as folder:
        source = Source(executable, folder)
        target = Running(executable, folder)
        follower = None
        try:
            general = source.channels["general"]
            post = f"/channels/{general}/messages"
            follower = Follower(executable, source, target.data, "--send-claims",
                                "https://chat.example")
            follower.wait_until_following()
            old = Client(source.server.port, "cleo_token_0123456789")
            cleo = Client(target.server.port, claim_cleo(source, target))
            sent = []

            def post_numbers(count):
                for _ in range(count):
                    sent.append(f"number {len(sent)}")
                    call(source.ada, "POST", post, {"content": sent[-1]})

            call(source.ada, "PATCH", f"/channels/{general}", {"rate_limit_per_user": 0})
            post_numbers(10)
            follower.kill()  # at any moment of these ten messages
            post_numbers(5)
            gone = call(source.ada, "POST", post, {"content": "deleted while nobody follows"})
            follower.start()
            post_numbers(5)
            call(source.ada, "DELETE", f"{post}/{gone['id']}")
            target.server.kill()
            post_numbers(5)
            follower.kill()
            post_numbers(5)
            follower.start()
            target.server = start_guildhall(executable, target.data, *NODE, "--listen",
                                            f"127.0.0.1:{target.server.port}")
            post_numbers(5)
            restart(source, executable, source.data)
            post_numbers(5)
            wait_until_equal(old, cleo, source.guild, follower.log)
            copied_texts = [text for text in reversed(contents(cleo, general)) if text.startswith("number")]
            expect(copied_texts == sent, f"{copied_texts}\n{follower.log()}")
            # Opcodes 7 and 9 with true resume the session, 9 with false begins another one.
            for action in ("reconnect", "resumable", "invalidate"):
                wait_for(lambda: sessions_of(executable, source.data, "copier"), follower.log)
                run(executable, "sessions", action, "copier", "--data", source.data)
                post_numbers(3)
                wait_until_equal(old, cleo, source.guild, follower.log)
            # Without a session to resume (op 9), what was missed is fetched.
            before = follower.log().count("following the guild")
            follower.kill()
            post_numbers(3)
            edited = messages_of(source.ada, general)[5]
            call(source.ada, "PATCH", f"{post}/{edited['id']}", {"content": "number x"})
            call(source.ada, "DELETE", f"{post}/{messages_of(source.ada, general)[8]['id']}")
            channel = call(source.ada, "POST", f"/guilds/{source.guild}/channels",
                           {"name": "gone"})["id"]
            call(source.ada, "DELETE", f"/channels/{channel}")
            state = f"{target.data}/copies/{source.guild}/follow.jsonl"
            with open(state, encoding="utf-8") as f:
                lines = f.read().splitlines()
            with open(state, "w", encoding="utf-8") as f:
                f.writelines(re.sub(r'"session":"[^"]*"', '"session":"0123456789abcdef"', line) +
                             "\n" for line in lines)
            follower.start()
            wait_for(lambda: follower.log().count("following the guild") > before, follower.log)
            wait_until_equal(old, cleo, source.guild, follower.log)
        finally:
            if follower:
                follower.kill()
            source.server.kill()
            target.server.kill()


class Mirror:
    """A target whose guild has a bot that posts back, and an account that was claimed."""

    def __init__(self, executable, folder, source):
        self.data = copy_prepared_data(executable, os.path.join(folder, "target"))
        copy(executable, source, self.data, "--send-claims", "https://chat.example")
        owner = source.id_of("ada")
        tokens = import_world(executable, folder, self.data, {
            "users": [{"username": "dora", "global_name": "Dora", "token": "dora_token_0123456789"}],
            "applications": [{"name": "Mirror", "owner": "dora", "bot": "mirror",
                              "flags": 565248}],
            "guilds": [{"id": source.guild, "name": "The Workshop", "owner": owner,
                        "roles": [{"name": "Mirror", "bot": "mirror", "permissions": "ALL"}],
                        "members": [{"user": "mirror", "roles": ["Mirror"]}, {"user": "dora"}]}]})
        self.server = start_guildhall(executable, self.data, *NODE)
        self.token_file = os.path.join(folder, "mirror-token")
        with open(self.token_file, "w", encoding="utf-8") as f:
            f.write(tokens["mirror"])
        self.dora = Client(self.server.port, "dora_token_0123456789")
        self.bot = Client(self.server.port, tokens["mirror"])


def both_sides_see_each_other(executable):
    with tempfile.TemporaryDirectory() as folder:
        source = Source(executable, folder)
        target = None
        follower = None
        try:
            general = source.channels["general"]
            call(source.ada, "PATCH", f"/channels/{general}", {"rate_limit_per_user": 0})
            target = Mirror(executable, folder, source)
            post = f"/channels/{general}/messages"
            thread = next(t["id"] for t in call(source.bot, "GET",
                                                f"/guilds/{source.guild}/threads/active")["threads"]
                          if t["name"] == "A bench")
            follower = Follower(executable, source, target.data, "--post-back-token-file",
                                target.token_file, "--public-url",
                                f"http://127.0.0.1:{target.server.port}")
            follower.wait_until_following()
            cleo = Client(target.server.port, claim_cleo(source, target))
            wait_for(lambda: sessions_of(executable, target.data, "mirror"), follower.log)

            def messages_in_source(text, channel=general):
                return [m for m in messages_of(source.bot, channel) if text in m["content"]]

            def messages_in_target(text, channel=general):
                return [m for m in messages_of(target.bot, channel) if text in m["content"]]

            # From the target to the source, with the name of the author, in threads, with files and replies.
            message = call(target.dora, "POST", post, {"content": "hello from here @everyone"})
            wait_for(lambda: messages_in_source("hello from here"), follower.log)
            copied = messages_in_source("hello from here")[0]
            expect(copied["author"]["username"] == "Dora" and copied["webhook_id"] and
                   not copied["mention_everyone"], str(copied))
            call(cleo, "POST", f"/channels/{thread}/messages", {"content": "in the bench"})
            wait_for(lambda: messages_in_source("in the bench", thread), follower.log)
            status, file = upload(target.server.port, "dora_token_0123456789", general, "saw.txt",
                                  b"teeth")
            expect(status == 200, str(file))
            wait_for(lambda: messages_in_source("/saw.txt"), follower.log)
            # Answers, in both directions.
            call(source.bob, "POST", post, {"content": "hello from there", "message_reference":
                                            {"message_id": copied["id"]}})
            wait_for(lambda: messages_in_target("hello from there"), follower.log)
            call(target.dora, "POST", post, {"content": "seen", "message_reference": {
                "message_id": messages_in_target("hello from there")[0]["id"]}})
            wait_for(lambda: messages_in_source("-# ↪ Bob the builder: hello from there\nseen") or
                     messages_in_source("-# ↪ bob: hello from there\nseen"), follower.log)
            # Edits, reactions and deletions.
            call(target.dora, "PATCH", f"{post}/{message['id']}", {"content": "edited here"})
            wait_for(lambda: messages_in_source("edited here"), follower.log)
            wood = urllib.parse.quote("🪵")
            call(source.bob, "PUT", f"{post}/{copied['id']}/reactions/{wood}/@me")
            wait_for(lambda: messages_in_target("edited here")[0].get("reactions"), follower.log)
            bob = call(target.bot, "GET", f"{post}/{message['id']}/reactions/{wood}")
            expect([u["username"] for u in bob] == ["bob"], str(bob))
            answer = messages_in_target("hello from there")[0]["id"]
            call(target.dora, "PUT", f"{post}/{answer}/reactions/{wood}/@me")
            wait_for(lambda: messages_in_source("hello from there")[-1].get("reactions"), follower.log)
            users = call(source.bot, "GET", f"{post}/{answer}/reactions/{wood}")
            expect([u["username"] for u in users] == ["copier"], str(users))
            call(target.dora, "DELETE", f"{post}/{answer}/reactions/{wood}/@me")
            wait_for(lambda: not messages_in_source("hello from there")[-1].get("reactions"), follower.log)
            call(target.dora, "DELETE", f"{post}/{message['id']}")
            wait_for(lambda: not messages_in_source("edited here"), follower.log)
            # A moderator of the other side deletes what was posted: the original goes, too.
            call(target.dora, "POST", post, {"content": "rude words"})
            wait_for(lambda: messages_in_source("rude words"), follower.log)
            call(source.ada, "DELETE", f"{post}/{messages_in_source('rude words')[0]['id']}")
            wait_for(lambda: not messages_in_target("rude words"), follower.log)
            # Nothing is posted twice or comes back, also after kills at any moment.
            total = []
            for i in range(12):
                total += [f"from here {i}.", f"from there {i}."]
                call(target.dora, "POST", post, {"content": total[-2]})
                call(source.bob, "POST", post, {"content": total[-1]})
                if i % 4 == 3:
                    follower.kill()
                    follower.start()
            wait_for(lambda: all(messages_in_target(text) and messages_in_source(text) for text in total), lambda: str(
                [text for text in total
                 if not messages_in_target(text) or not messages_in_source(text)]) + follower.log())
            call(target.dora, "POST", post, {"content": "the last one"})
            wait_for(lambda: messages_in_source("the last one"), follower.log)
            for find, side in ((messages_in_target, "in the target"), (messages_in_source, "in the source")):
                for text in total:
                    expect(len(find(text)) == 1, f"{text} {side}: {len(find(text))}\n" +
                           follower.log())
            # A later copy does not import what was posted back.
            follower.kill()
            copy(executable, source, target.data)
            expect(all(len(messages_in_target(text)) == 1 for text in total), "imported twice")
            hooks = call(target.bot, "GET", f"/guilds/{source.guild}/webhooks")
            expect("Guildhall mirror" not in [h["name"] for h in hooks], str(hooks))
        finally:
            if follower:
                follower.kill()
            source.server.kill()
            if target:
                target.server.kill()


def sessions_of(executable, data, name):
    done = run(executable, "sessions", "--data", data, "--json")
    return [s for s in map(json.loads, done.stdout.splitlines()) if s.get("name") == name]


def wrong_options_are_refused(executable):
    with tempfile.TemporaryDirectory() as folder:
        source = Source(executable, folder)
        data = copy_prepared_data(executable, os.path.join(folder, "target"))
        try:
            done = copy(executable, source, data, "--follow", check=False)
            expect(done.returncode == 1 and "--follow needs a server that runs" in done.stderr,
                   done.stderr)
            done = copy(executable, source, data, "--post-back-token-file", source.token_file,
                        check=False)
            expect(done.returncode == 2 and "--post-back-token-file needs --follow" in done.stderr,
                   f"{done.returncode} {done.stderr}")
            target = Running(executable, folder)
            try:
                # The bot of the other side is no account here.
                done = copy(executable, source, data, "--follow", "--post-back-token-file",
                            source.token_file, check=False)
                expect(done.returncode == 1 and "cannot read the guild here" in done.stderr,
                       f"{done.returncode} {done.stderr}")
            finally:
                target.server.kill()
        finally:
            source.server.kill()


if __name__ == "__main__":
    run_cases("follow", [copy_follows_its_source, follower_continues_after_kills_and_restarts,
                         both_sides_see_each_other, wrong_options_are_refused])

"""Tests that hours of use do not increase memory and disk usage.

    python3 tests/day/day.py build/release/src/guildhall

Users register, create guilds, join, write, upload, ban, leave, delete, speak, connect and disconnect.
Between two rounds the server's clock moves ahead by 15 minutes (bench/jump_clock.c), so that everything
with a time limit expires. Memory and rows at the end must not exceed those after the first hours.

    DAY_ROUNDS      number of measured rounds of 15 minutes (24; a day has 96)
"""

import base64
import contextlib
import json
import os
import sqlite3
import struct
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path += [os.path.join(HERE, "..", "crash"), os.path.join(HERE, "..", "cluster")]

from cases import expect, run_cases  # noqa: E402
from voice_phone import VoiceClient, talk as talk_by_voice  # noqa: E402
from process import Client, Failed, Process, register, serve_command  # noqa: E402
from sessions import Wire  # noqa: E402

ROUNDS = int(os.environ.get("DAY_ROUNDS", "24"))
WARM_UP = 8
QUARTER_S = 15 * 60
WEEKS_S = 16 * 86400
USERS = 4
MOST_MIB = 4  # allowed growth of memory: the allocator's own, and cached rows
KIB_OF_ACCOUNT = 16  # allowed memory per remaining account
JOBS_S = 60

PICTURE = "data:image/png;base64," + (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
SOUND = "data:audio/mpeg;base64," + base64.b64encode((b"\xff\xfb\x90\x64" + bytes(413)) * 10).decode()

# Accounts and their identifying data remain, and how many messages with a search term there were.
RETAINED_TABLES = {"users", "known_addresses", "user_settings", "file_owners", "message_index_terms"}
# Segments of a full-text index: deleted entries disappear when segments are merged. Pages and bytes
# are checked anyway.
INDEX_SEGMENT_TABLES = {"message_index_data", "message_index_idx"}


class Clock:
    """The offset of the server's clock in nanoseconds."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "clock")
        self.ahead = 0
        with open(self.path, "wb") as f:
            f.write(bytes(8))

    def move_clock(self, seconds):
        self.ahead += int(seconds * 1e9)
        with open(self.path, "r+b") as f:
            f.write(struct.pack("=q", self.ahead))


class DayTest:
    """The server, its users, and its observable state."""

    def __init__(self, executable, folder):
        self.executable, self.folder = executable, folder
        self.data = os.path.join(folder, "data")
        self.clock = Clock(folder)
        shim = os.path.join(os.path.dirname(executable), "..", "bench", "jump_clock.so")
        expect(os.path.exists(shim), f"{shim} is not built")
        # The server has one loop: every request wakes it, and it reads the moved clock.
        self.server = Process(serve_command(executable, self.data, "--loops", "1", "--voice-port", "0"),
                              env={"LD_PRELOAD": shim, "JUMP_CLOCK_FILE": self.clock.path})
        self.servers = {1: self.server}  # the attribute that VoiceClient expects
        self.accounts = 0
        self.users = [self.create_user() for _ in range(USERS)]

    def create_user(self):
        self.accounts += 1
        return Client(self.server.port, register(self.server.port, f"person{self.accounts}"))

    def call(self, client, method, path, body=None):
        status, answer = client.call(method, path, body)
        expect(status < 300, f"{method} {path} answered {status}: {answer}")
        return answer

    # --- observable state --------------------------------------------------------------------

    def rows(self, sql):
        with contextlib.closing(sqlite3.connect(f"file:{self.data}/guildhall.db?mode=ro",
                                                uri=True)) as db:
            return db.execute(sql).fetchall()

    def counts(self):
        """Returns the number of rows of each table."""
        names = [name for (name,) in self.rows("select name from sqlite_master where type = 'table' "
                                               "and name not like 'sqlite_%'")]
        return {name: self.rows(f"select count(*) from {name}")[0][0] for name in names}

    def files(self):
        found = []
        for folder, _, names in os.walk(os.path.join(self.data, "blobs")):
            found += [os.path.join(folder, name) for name in names]
        return found

    def other_files(self):
        """Returns the files in the data folder except blobs."""
        return {name for name in os.listdir(self.data) if name != "blobs"}

    def pages(self):
        """Returns the number of used pages of the database."""
        return self.rows("pragma page_count")[0][0] - self.rows("pragma freelist_count")[0][0]

    def jobs_are_done(self, *kinds):
        """Returns whether no cleanup job is pending, and no job of these kinds."""
        words = ", ".join(f"'{kind}'" for kind in ("message-purge", "account-spread", *kinds))
        return (self.rows("select count(*) from jobs where kind like '%-leftovers' or kind in "
                          f"({words})")[0][0] == 0
                and self.rows("select count(*) from files where gone = 1")[0][0] == 0)

    def wait_for_jobs(self, *kinds):
        """Waits until no cleanup job and no job of these kinds is pending."""
        end = time.monotonic() + JOBS_S
        while True:
            self.call(self.users[0], "GET", "/gateway")
            if self.jobs_are_done(*kinds):
                return
            expect(time.monotonic() < end,
                   f"cleanup jobs are pending: {self.rows('select kind, due from jobs')}")
            time.sleep(0.02)

    def move_clock(self, seconds):
        """Moves the clock; idle connections time out, also one that is opened while the clock moves."""
        end = time.monotonic() + JOBS_S
        self.clock.move_clock(seconds)
        while True:
            for client in self.users:
                client.close()
            try:
                self.call(self.users[0], "GET", "/gateway")
                return
            except OSError as e:
                expect(time.monotonic() < end, f"the server does not reply since the clock was moved: {e}")

    def pass_time(self):
        self.wait_for_jobs()
        self.move_clock(QUARTER_S)
        self.wait_for_jobs()


# --- use in a quarter of an hour --------------------------------------------------------------------


def send_parts(client, path, *parts):
    """Sends a multipart form of parts: (text after form-data, bytes)."""
    body = b"".join(b"--edge\r\nContent-Disposition: form-data; " + head + b"\r\n\r\n" + data + b"\r\n"
                    for head, data in parts) + b"--edge--\r\n"
    client.connection.request("POST", f"/api/v10{path}", body, {
        "Authorization": client.token, "Content-Type": "multipart/form-data; boundary=edge"})
    answer = client.connection.getresponse()
    text = answer.read()
    expect(answer.status in (200, 201), f"{path} answered {answer.status}: {text[:200]!r}")
    return json.loads(text)


def upload(client, channel):
    send_parts(client, f"/channels/{channel}/messages",
               (b'name="files[0]"; filename="a.txt"', base64.b64encode(os.urandom(30000))))


def write_messages(test, channel):
    """All users write; some messages are changed, pinned, uploaded and deleted."""
    for client in test.users:
        ids = [test.call(client, "POST", f"/channels/{channel}/messages", {"content": "hello " * 20})
               ["id"] for _ in range(6)]
        upload(client, channel)
        test.call(client, "PATCH", f"/channels/{channel}/messages/{ids[0]}", {"content": "changed"})
        test.call(client, "DELETE", f"/channels/{channel}/messages/{ids[1]}")
    test.call(test.users[0], "PUT", f"/channels/{channel}/messages/pins/{ids[2]}")
    test.call(test.users[0], "POST", f"/channels/{channel}/messages/bulk-delete",
              {"messages": ids[3:5]})


def moderate(test, guild):
    owner, *_, last = test.users
    user_id = test.call(last, "GET", "/users/@me")["id"]
    role = test.call(owner, "POST", f"/guilds/{guild}/roles", {"name": "role"})["id"]
    test.call(owner, "PUT", f"/guilds/{guild}/members/{user_id}/roles/{role}")
    test.call(owner, "DELETE", f"/guilds/{guild}/roles/{role}")
    test.call(owner, "PUT", f"/guilds/{guild}/bans/{user_id}", {"delete_message_seconds": 3600})
    test.call(owner, "DELETE", f"/guilds/{guild}/bans/{user_id}")


def connect(test):
    """Opens sessions that are closed normally, and sessions that just disconnect."""
    wires = [Wire(test.server.port, "/gateway?v=10&encoding=json", client.token)
             for client in test.users for _ in range(2)]
    for wire in wires[::2]:
        wire.socket.sendall(b"\x88\x82\0\0\0\0\x03\xe8")
    return wires


def create_guild_objects(test, guild):
    """Creates and changes other objects of a guild, and deletes half of them."""
    owner = test.users[0]
    guild_path = f"/guilds/{guild}"
    picture = base64.b64decode(PICTURE.partition(",")[2])
    for number in range(2):
        begin, end = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(
            time.time() + test.clock.ahead / 1e9 + hours * 3600)) for hours in (24, 25))
        made = [
            f"{guild_path}/emojis/" + test.call(owner, "POST", f"{guild_path}/emojis",
                                                {"name": "wave", "image": PICTURE})["id"],
            f"{guild_path}/stickers/" + send_parts(
                owner, f"{guild_path}/stickers", (b'name="name"', b"wave"), (b'name="tags"', b"wave"),
                (b'name="description"', b""), (b'name="file"; filename="a.png"', picture))["id"],
            f"{guild_path}/soundboard-sounds/" + test.call(owner, "POST", f"{guild_path}/soundboard-sounds",
                                                           {"name": "honk", "sound": SOUND})["sound_id"],
            f"{guild_path}/auto-moderation/rules/" + test.call(
                owner, "POST", f"{guild_path}/auto-moderation/rules",
                {"name": "words", "event_type": 1, "trigger_type": 1, "enabled": True,
                 "actions": [{"type": 1}], "trigger_metadata": {"keyword_filter": [f"bad{number}*"]}})["id"],
            f"{guild_path}/scheduled-events/" + test.call(
                owner, "POST", f"{guild_path}/scheduled-events",
                {"name": "fair", "entity_type": 3, "privacy_level": 2, "scheduled_start_time": begin,
                 "scheduled_end_time": end, "entity_metadata": {"location": "here"}, "image": PICTURE})["id"],
        ]
        for client in test.users[1:]:
            test.call(client, "PUT", f"{made[-1]}/users/@me")
        if number:
            for path in made:
                test.call(owner, "DELETE", path)


def use_message_features(test, guild, channel):
    """Creates reactions, polls, threads, posts, forwards, announcements and webhooks; some are deleted, the
    rest with the guild."""
    owner, *others = test.users
    message = test.call(owner, "POST", f"/channels/{channel}/messages", {"content": "look"})["id"]
    poll = test.call(owner, "POST", f"/channels/{channel}/messages", {"poll": {
        "question": {"text": "which"}, "answers": [{"poll_media": {"text": "a"}}, {"poll_media": {"text": "b"}}],
        "duration": 1}})["id"]
    forum, announcements, target = (
        test.call(owner, "POST", f"/guilds/{guild}/channels", {"name": "c", "type": kind})["id"] for kind in (15, 5, 0))
    thread = test.call(owner, "POST", f"/channels/{channel}/messages/{message}/threads", {"name": "more"})["id"]
    post = test.call(owner, "POST", f"/channels/{forum}/threads", {"name": "post", "message": {"content": "x"}})["id"]
    test.call(owner, "POST", f"/channels/{announcements}/followers", {"webhook_channel_id": target})
    announcement = test.call(owner, "POST", f"/channels/{announcements}/messages", {"content": "news"})["id"]
    test.call(owner, "POST", f"/channels/{announcements}/messages/{announcement}/crosspost", {})
    hook = test.call(owner, "POST", f"/channels/{channel}/webhooks", {"name": "hook"})
    test.call(owner, "POST", f"/webhooks/{hook['id']}/{hook['token']}?wait=true", {"content": "hook"})
    for client in others:
        test.call(client, "PUT", f"/channels/{channel}/messages/{message}/reactions/%F0%9F%91%8D/@me")
        test.call(client, "PUT", f"/channels/{channel}/polls/{poll}/answers/@me", {"answer_ids": [1]})
        test.call(client, "POST", f"/channels/{thread}/messages", {"content": "in it"})
        test.call(client, "PUT", f"/channels/{post}/thread-members/@me")
        test.call(client, "POST", f"/channels/{channel}/messages/{poll}/ack", {})
        test.call(client, "POST", f"/channels/{channel}/messages", {
            "message_reference": {"type": 1, "channel_id": channel, "message_id": message}})
        test.call(client, "PATCH", f"/users/@me/guilds/{guild}/settings", {"muted": True})
        test.call(client, "PATCH", "/users/@me/settings-proto/1", {"settings": "EgJhYg=="})
    test.call(owner, "DELETE", f"/channels/{channel}/messages/{message}")
    test.call(owner, "POST", f"/channels/{channel}/polls/{poll}/expire", {})
    test.call(owner, "DELETE", f"/channels/{post}")
    test.call(owner, "DELETE", f"/webhooks/{hook['id']}")


def use_direct_messages(test):
    """Users write direct messages and change their avatars."""
    one, two = test.users[:2]
    other = test.call(two, "GET", "/users/@me")["id"]
    channel = test.call(one, "POST", "/users/@me/channels", {"recipient_id": other})["id"]
    message = test.call(one, "POST", f"/channels/{channel}/messages", {"content": "psst"})["id"]
    test.call(one, "DELETE", f"/channels/{channel}/messages/{message}")
    test.call(one, "PATCH", "/users/@me", {"avatar": PICTURE})
    test.call(one, "PATCH", "/users/@me", {"avatar": None})


def use_application(test):
    owner = test.users[0]
    app = test.call(owner, "POST", "/applications", {"name": "App"})["id"]
    bot = Client(test.server.port, "Bot " + test.call(
        owner, "POST", f"/applications/{app}/bot/reset", {})["token"])
    test.call(bot, "PUT", f"/applications/{app}/commands",
              [{"name": f"c{i}", "description": "d"} for i in range(5)])
    bot.close()
    test.accounts += 1
    test.call(owner, "POST", f"/applications/{app}/delete", {})


def create_and_delete_accounts(test):
    """Creates two accounts: the first logs out, the second requests its data and is deleted."""
    guest, leaver = test.create_user(), test.create_user()
    test.call(guest, "GET", "/users/@me")
    test.call(guest, "POST", "/auth/logout", {})
    test.call(leaver, "POST", "/users/@me/harvest", {})
    test.call(leaver, "POST", "/users/@me/delete", {"password": "correct horse battery"})
    guest.close()
    leaver.close()


def configure_guild(test, guild, channel):
    """Configures onboarding, and a guild created from a template of this guild."""
    owner, *others = test.users
    guild_path = f"/guilds/{guild}"
    role = test.call(owner, "POST", f"{guild_path}/roles", {"name": "reader"})["id"]
    test.call(owner, "PUT", f"{guild_path}/onboarding", {"enabled": False, "default_channel_ids": [], "prompts": [
        {"id": "0", "title": "which", "type": 0, "single_select": False, "required": False, "in_onboarding": True,
         "options": [{"title": "reader", "role_ids": [role], "channel_ids": []}]}]})
    test.call(owner, "PATCH", f"{guild_path}/welcome-screen", {"enabled": False, "description": "hello",
                                                         "welcome_channels": []})
    test.call(owner, "PATCH", f"{guild_path}/widget", {"enabled": True, "channel_id": channel})
    test.call(others[0], "GET", f"{guild_path}/widget.json")
    test.call(owner, "PUT", f"{guild_path}/incident-actions", {"invites_disabled_until": None})
    code = test.call(owner, "POST", f"{guild_path}/templates", {"name": "like this"})["code"]
    new_guild = test.call(owner, "POST", f"/guilds/templates/{code}", {"name": "Another"})["id"]
    test.call(owner, "PUT", f"{guild_path}/templates/{code}")
    test.call(owner, "DELETE", f"/guilds/{new_guild}")


def show_lists(wires, guild, channel):
    """Clients request rows of the member list, open threads and last messages."""
    lists = {channel: [[0, 99], [100, 199]]}
    for wire in wires[1::2]:
        wire.send(json.dumps({"op": 14, "d": {"guild_id": guild, "channels": lists, "threads": True}}))
        wire.send(json.dumps({"op": 37, "d": {"subscriptions": {guild: {"channels": lists}}}}))
        wire.send(json.dumps({"op": 34, "d": {"guild_id": guild, "channel_ids": [channel]}}))
        wire.send(json.dumps({"op": 8, "d": {"guild_id": guild, "query": "", "limit": 100}}))


def speak(test, guild):
    """Two users speak in a room, one streams; one leaves, and the other loses the connection."""
    room = test.call(test.users[0], "POST", f"/guilds/{guild}/channels", {"name": "room", "type": 2})["id"]
    voice_clients = [VoiceClient(test, 1, client.token) for client in test.users[:2]]
    for voice_client in voice_clients:
        voice_client.connect(voice_client.join(guild, room), guild)
    talk_by_voice(*voice_clients, "hello")
    voice_clients[0].send_opcode(18, {"type": "guild", "guild_id": guild, "channel_id": room, "preferred_region": None})
    key = voice_clients[0].next("STREAM_CREATE")["stream_key"]
    voice_clients[1].send_opcode(20, {"stream_key": key})
    voice_clients[1].next("STREAM_CREATE")
    voice_clients[0].send_opcode(4, {"guild_id": guild, "channel_id": None})
    for voice_client in voice_clients:
        voice_client.voice_socket.close()
        voice_client.udp.close()
        voice_client.session.wire.close()
    test.call(test.users[0], "DELETE", f"/channels/{room}")


def read_mentions(test, guild, channel):
    """Users are mentioned, read, search and mark messages as read."""
    owner, reader = test.users[:2]
    user_id = test.call(reader, "GET", "/users/@me")["id"]
    message = test.call(owner, "POST", f"/channels/{channel}/messages", {"content": f"<@{user_id}> needle"})["id"]
    test.call(reader, "GET", "/users/@me/mentions")
    test.call(reader, "GET", f"/guilds/{guild}/messages/search?content=needle")
    test.call(reader, "POST", f"/channels/{channel}/messages/{message}/ack", {})
    test.call(reader, "POST", f"/guilds/{guild}/ack", {})
    test.call(reader, "DELETE", f"/users/@me/mentions/{message}")


def back_up(test):
    """The operator creates a backup and a world file while the server runs."""
    for command, name in (("backup", "all.backup"), ("export", "world.json")):
        path = os.path.join(test.folder, name)
        with open(path, "wb") as out:
            done = subprocess.run([test.executable, command, "--data", test.data,
                                   *([path, "--force"] if command == "backup" else [])],
                                  stdout=out if command == "export" else subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, check=False, timeout=60)
        expect(done.returncode == 0, f"{command}: {done.stderr}")
        expect(os.path.getsize(path) > 1000, f"{command} wrote almost nothing")
        os.unlink(path)


def run_quarter_hour(test):
    owner = test.users[0]
    guild = test.call(owner, "POST", "/guilds", {"name": "Hall", "icon": PICTURE})["id"]
    channel = test.call(owner, "POST", f"/guilds/{guild}/channels", {"name": "talk"})["id"]
    invite = test.call(owner, "POST", f"/channels/{channel}/invites", {})["code"]
    for client in test.users[1:]:
        test.call(client, "POST", f"/invites/{invite}", {})
    wires = connect(test)
    write_messages(test, channel)
    create_guild_objects(test, guild)
    show_lists(wires, guild, channel)
    use_message_features(test, guild, channel)
    read_mentions(test, guild, channel)
    configure_guild(test, guild, channel)
    speak(test, guild)
    use_direct_messages(test)
    moderate(test, guild)
    use_application(test)
    create_and_delete_accounts(test)
    test.call(test.users[1], "DELETE", f"/users/@me/guilds/{guild}")
    test.call(owner, "DELETE", f"/channels/{channel}")
    test.call(owner, "DELETE", f"/guilds/{guild}")
    for wire in wires:
        wire.close()
    test.pass_time()


# --- the day ---------------------------------------------------------------------------------


class Measurement:
    def __init__(self, test):
        # Objects with a retention time, such as accounts to be deleted, get two weeks, and
        # everything else another hour.
        test.wait_for_jobs()
        test.move_clock(WEEKS_S)
        test.wait_for_jobs("account-deletion")
        for _ in range(4):
            test.pass_time()
        self.counts = test.counts()
        self.accounts = test.accounts
        back_up(test)
        self.files = len(test.files())
        self.other_files = test.other_files()
        self.pages = test.pages()
        self.memory = test.server.memory("RssAnon")


def compare_rows(before, after):
    new = after.accounts - before.accounts
    wrong = [f"{name}: {before.counts[name]} -> {after.counts[name]}" for name in after.counts
             if name not in RETAINED_TABLES | INDEX_SEGMENT_TABLES and after.counts[name] > before.counts[name]]
    expect(not wrong, "rows stayed behind: " + "; ".join(wrong))
    expect(after.counts["users"] - before.counts["users"] <= new, "there are more accounts than were created")


def memory_and_disk_usage_do_not_grow(executable):
    with tempfile.TemporaryDirectory() as folder:
        test = DayTest(executable, folder)
        try:
            for _ in range(WARM_UP):
                run_quarter_hour(test)
            before = Measurement(test)
            for _ in range(ROUNDS):
                run_quarter_hour(test)
            after = Measurement(test)
            grown = (after.memory - before.memory) / 2**20
            print(f"{ROUNDS} quarters of an hour: memory {before.memory >> 10} -> "
                  f"{after.memory >> 10} KiB, pages {before.pages} -> {after.pages}, "
                  f"files {before.files} -> {after.files}")
            compare_rows(before, after)
            expect(after.files <= before.files, f"files were not deleted: {test.files()[:10]}")
            expect(after.other_files <= before.other_files,
                   f"stayed behind: {after.other_files - before.other_files}")
            # An account takes a few rows in tables and indexes.
            expect(after.pages - before.pages <= 2 + (after.accounts - before.accounts),
                   f"the database grew by {after.pages - before.pages} pages")
            most = MOST_MIB + (after.accounts - before.accounts) * KIB_OF_ACCOUNT / 1024
            expect(grown <= most, f"memory grew by {grown:.1f} MiB")
            expect(test.server.stop() == 0, test.server.read_stderr())
        except BaseException as e:
            words = test.server.read_stderr()
            test.server.kill()
            raise Failed(f"{e}\n{words}") from e


run_cases("day", [memory_and_disk_usage_do_not_grow])

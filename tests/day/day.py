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
from voice_phone import Phone, talk as talk_by_phone  # noqa: E402
from process import Client, Failed, Process, register, serve_command  # noqa: E402
from sessions import Wire  # noqa: E402

ROUNDS = int(os.environ.get("DAY_ROUNDS", "24"))
WARM_UP = 8
QUARTER_S = 15 * 60
WEEKS_S = 16 * 86400
CREW = 4
MOST_MIB = 4  # allowed growth of memory: the allocator's own, and cached rows
KIB_OF_ACCOUNT = 16  # allowed memory per remaining account
SETTLE_S = 60

PICTURE = "data:image/png;base64," + (
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
SOUND = "data:audio/mpeg;base64," + base64.b64encode((b"\xff\xfb\x90\x64" + bytes(413)) * 10).decode()

# Accounts and their identifying data remain.
STAYS = {"users", "known_addresses", "user_settings", "file_owners"}
# Segments of a full-text index: deleted entries disappear when segments are merged. Pages and bytes
# are checked anyway.
PIECES = {"message_index_data", "message_index_idx"}


class Clock:
    """The offset of the server's clock in nanoseconds."""

    def __init__(self, folder):
        self.path = os.path.join(folder, "clock")
        self.ahead = 0
        with open(self.path, "wb") as f:
            f.write(bytes(8))

    def jump(self, seconds):
        self.ahead += int(seconds * 1e9)
        with open(self.path, "r+b") as f:
            f.write(struct.pack("=q", self.ahead))


class Scene:
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
        self.servers = {1: self.server}  # the attribute that Phone expects
        self.accounts = 0
        self.crew = [self.newcomer() for _ in range(CREW)]

    def newcomer(self):
        self.accounts += 1
        return Client(self.server.port, register(self.server.port, f"person{self.accounts}"))

    def ask(self, client, method, path, body=None):
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

    def leftovers(self):
        """Returns the files in the data folder except blobs."""
        return {name for name in os.listdir(self.data) if name != "blobs"}

    def pages(self):
        """Returns the number of used pages of the database."""
        return self.rows("pragma page_count")[0][0] - self.rows("pragma freelist_count")[0][0]

    def settled(self, *kinds):
        """Returns whether no cleanup job is pending, and no job of these kinds."""
        words = ", ".join(f"'{kind}'" for kind in ("message-purge", "account-spread", *kinds))
        return (self.rows("select count(*) from jobs where kind like '%-leftovers' or kind in "
                          f"({words})")[0][0] == 0
                and self.rows("select count(*) from files where gone = 1")[0][0] == 0)

    def settle(self, *kinds):
        """Waits until all cleanup jobs are done; some of them need more time to pass."""
        end = time.monotonic() + SETTLE_S
        while True:
            self.ask(self.crew[0], "GET", "/gateway")
            if self.settled(*kinds):
                return
            expect(time.monotonic() < end,
                   f"cleanup jobs are pending: {self.rows('select kind, due from jobs')}")
            time.sleep(0.02)

    def jump(self, seconds):
        """Moves the clock; idle connections time out, also one that is opened while the clock moves."""
        end = time.monotonic() + SETTLE_S
        self.clock.jump(seconds)
        while True:
            for client in self.crew:
                client.close()
            try:
                self.ask(self.crew[0], "GET", "/gateway")
                return
            except OSError as e:
                expect(time.monotonic() < end, f"the server does not reply since the clock was moved: {e}")

    def pass_time(self):
        self.settle()
        self.jump(QUARTER_S)
        self.settle()


# --- a quarter of an hour --------------------------------------------------------------------


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


def talk(scene, channel):
    """All users write; some messages are changed, pinned, uploaded and deleted."""
    for client in scene.crew:
        ids = [scene.ask(client, "POST", f"/channels/{channel}/messages", {"content": "hello " * 20})
               ["id"] for _ in range(6)]
        upload(client, channel)
        scene.ask(client, "PATCH", f"/channels/{channel}/messages/{ids[0]}", {"content": "changed"})
        scene.ask(client, "DELETE", f"/channels/{channel}/messages/{ids[1]}")
    scene.ask(scene.crew[0], "PUT", f"/channels/{channel}/messages/pins/{ids[2]}")
    scene.ask(scene.crew[0], "POST", f"/channels/{channel}/messages/bulk-delete",
              {"messages": ids[3:5]})


def moderate(scene, guild):
    owner, *_, last = scene.crew
    who = scene.ask(last, "GET", "/users/@me")["id"]
    role = scene.ask(owner, "POST", f"/guilds/{guild}/roles", {"name": "role"})["id"]
    scene.ask(owner, "PUT", f"/guilds/{guild}/members/{who}/roles/{role}")
    scene.ask(owner, "DELETE", f"/guilds/{guild}/roles/{role}")
    scene.ask(owner, "PUT", f"/guilds/{guild}/bans/{who}", {"delete_message_seconds": 3600})
    scene.ask(owner, "DELETE", f"/guilds/{guild}/bans/{who}")


def connect(scene):
    """Opens sessions that are closed normally, and sessions that just disconnect."""
    wires = [Wire(scene.server.port, "/gateway?v=10&encoding=json", client.token)
             for client in scene.crew for _ in range(2)]
    for wire in wires[::2]:
        wire.socket.sendall(b"\x88\x82\0\0\0\0\x03\xe8")
    return wires


def furnish(scene, guild):
    """Creates and changes other objects of a guild, and deletes half of them."""
    owner = scene.crew[0]
    place = f"/guilds/{guild}"
    picture = base64.b64decode(PICTURE.partition(",")[2])
    for number in range(2):
        begin, end = (time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(
            time.time() + scene.clock.ahead / 1e9 + hours * 3600)) for hours in (24, 25))
        made = [
            f"{place}/emojis/" + scene.ask(owner, "POST", f"{place}/emojis",
                                           {"name": "wave", "image": PICTURE})["id"],
            f"{place}/stickers/" + send_parts(
                owner, f"{place}/stickers", (b'name="name"', b"wave"), (b'name="tags"', b"wave"),
                (b'name="description"', b""), (b'name="file"; filename="a.png"', picture))["id"],
            f"{place}/soundboard-sounds/" + scene.ask(owner, "POST", f"{place}/soundboard-sounds",
                                                      {"name": "honk", "sound": SOUND})["sound_id"],
            f"{place}/auto-moderation/rules/" + scene.ask(
                owner, "POST", f"{place}/auto-moderation/rules",
                {"name": "words", "event_type": 1, "trigger_type": 1, "enabled": True,
                 "actions": [{"type": 1}], "trigger_metadata": {"keyword_filter": [f"bad{number}*"]}})["id"],
            f"{place}/scheduled-events/" + scene.ask(
                owner, "POST", f"{place}/scheduled-events",
                {"name": "fair", "entity_type": 3, "privacy_level": 2, "scheduled_start_time": begin,
                 "scheduled_end_time": end, "entity_metadata": {"location": "here"}, "image": PICTURE})["id"],
        ]
        for client in scene.crew[1:]:
            scene.ask(client, "PUT", f"{made[-1]}/users/@me")
        if number:
            for path in made:
                scene.ask(owner, "DELETE", path)


def chat(scene, guild, channel):
    """Creates reactions, polls, threads, posts, forwards, announcements and webhooks; some are deleted, the
    rest with the guild."""
    owner, *others = scene.crew
    said = scene.ask(owner, "POST", f"/channels/{channel}/messages", {"content": "look"})["id"]
    poll = scene.ask(owner, "POST", f"/channels/{channel}/messages", {"poll": {
        "question": {"text": "which"}, "answers": [{"poll_media": {"text": "a"}}, {"poll_media": {"text": "b"}}],
        "duration": 1}})["id"]
    forum, news, target = (scene.ask(owner, "POST", f"/guilds/{guild}/channels", {"name": "c", "type": kind})["id"]
                           for kind in (15, 5, 0))
    thread = scene.ask(owner, "POST", f"/channels/{channel}/messages/{said}/threads", {"name": "more"})["id"]
    post = scene.ask(owner, "POST", f"/channels/{forum}/threads", {"name": "post", "message": {"content": "x"}})["id"]
    scene.ask(owner, "POST", f"/channels/{news}/followers", {"webhook_channel_id": target})
    told = scene.ask(owner, "POST", f"/channels/{news}/messages", {"content": "news"})["id"]
    scene.ask(owner, "POST", f"/channels/{news}/messages/{told}/crosspost", {})
    hook = scene.ask(owner, "POST", f"/channels/{channel}/webhooks", {"name": "hook"})
    scene.ask(owner, "POST", f"/webhooks/{hook['id']}/{hook['token']}?wait=true", {"content": "hook"})
    for client in others:
        scene.ask(client, "PUT", f"/channels/{channel}/messages/{said}/reactions/%F0%9F%91%8D/@me")
        scene.ask(client, "PUT", f"/channels/{channel}/polls/{poll}/answers/@me", {"answer_ids": [1]})
        scene.ask(client, "POST", f"/channels/{thread}/messages", {"content": "in it"})
        scene.ask(client, "PUT", f"/channels/{post}/thread-members/@me")
        scene.ask(client, "POST", f"/channels/{channel}/messages/{poll}/ack", {})
        scene.ask(client, "POST", f"/channels/{channel}/messages", {
            "message_reference": {"type": 1, "channel_id": channel, "message_id": said}})
        scene.ask(client, "PATCH", f"/users/@me/guilds/{guild}/settings", {"muted": True})
        scene.ask(client, "PATCH", "/users/@me/settings-proto/1", {"settings": "EgJhYg=="})
    scene.ask(owner, "DELETE", f"/channels/{channel}/messages/{said}")
    scene.ask(owner, "POST", f"/channels/{channel}/polls/{poll}/expire", {})
    scene.ask(owner, "DELETE", f"/channels/{post}")
    scene.ask(owner, "DELETE", f"/webhooks/{hook['id']}")


def use_private(scene):
    """Users write direct messages and change their avatars."""
    one, two = scene.crew[:2]
    other = scene.ask(two, "GET", "/users/@me")["id"]
    channel = scene.ask(one, "POST", "/users/@me/channels", {"recipient_id": other})["id"]
    said = scene.ask(one, "POST", f"/channels/{channel}/messages", {"content": "psst"})["id"]
    scene.ask(one, "DELETE", f"/channels/{channel}/messages/{said}")
    scene.ask(one, "PATCH", "/users/@me", {"avatar": PICTURE})
    scene.ask(one, "PATCH", "/users/@me", {"avatar": None})


def use_application(scene):
    owner = scene.crew[0]
    app = scene.ask(owner, "POST", "/applications", {"name": "App"})["id"]
    bot = Client(scene.server.port, "Bot " + scene.ask(
        owner, "POST", f"/applications/{app}/bot/reset", {})["token"])
    scene.ask(bot, "PUT", f"/applications/{app}/commands",
              [{"name": f"c{i}", "description": "d"} for i in range(5)])
    bot.close()
    scene.accounts += 1
    scene.ask(owner, "POST", f"/applications/{app}/delete", {})


def come_and_go(scene):
    """Creates two accounts: one logs out, one requests its data and is deleted."""
    guest, leaver = scene.newcomer(), scene.newcomer()
    scene.ask(guest, "GET", "/users/@me")
    scene.ask(guest, "POST", "/auth/logout", {})
    scene.ask(leaver, "POST", "/users/@me/harvest", {})
    scene.ask(leaver, "POST", "/users/@me/delete", {"password": "correct horse battery"})
    guest.close()
    leaver.close()


def arrange(scene, guild, channel):
    """Configures onboarding, and a guild created from a template of this guild."""
    owner, *others = scene.crew
    place = f"/guilds/{guild}"
    role = scene.ask(owner, "POST", f"{place}/roles", {"name": "reader"})["id"]
    scene.ask(owner, "PUT", f"{place}/onboarding", {"enabled": False, "default_channel_ids": [], "prompts": [
        {"id": "0", "title": "which", "type": 0, "single_select": False, "required": False, "in_onboarding": True,
         "options": [{"title": "reader", "role_ids": [role], "channel_ids": []}]}]})
    scene.ask(owner, "PATCH", f"{place}/welcome-screen", {"enabled": False, "description": "hello",
                                                         "welcome_channels": []})
    scene.ask(owner, "PATCH", f"{place}/widget", {"enabled": True, "channel_id": channel})
    scene.ask(others[0], "GET", f"{place}/widget.json")
    scene.ask(owner, "PUT", f"{place}/incident-actions", {"invites_disabled_until": None})
    code = scene.ask(owner, "POST", f"{place}/templates", {"name": "like this"})["code"]
    founded = scene.ask(owner, "POST", f"/guilds/templates/{code}", {"name": "Another"})["id"]
    scene.ask(owner, "PUT", f"{place}/templates/{code}")
    scene.ask(owner, "DELETE", f"/guilds/{founded}")


def show_lists(wires, guild, channel):
    """Clients request rows of the member list, open threads and last messages."""
    lists = {channel: [[0, 99], [100, 199]]}
    for wire in wires[1::2]:
        wire.send(json.dumps({"op": 14, "d": {"guild_id": guild, "channels": lists, "threads": True}}))
        wire.send(json.dumps({"op": 37, "d": {"subscriptions": {guild: {"channels": lists}}}}))
        wire.send(json.dumps({"op": 34, "d": {"guild_id": guild, "channel_ids": [channel]}}))
        wire.send(json.dumps({"op": 8, "d": {"guild_id": guild, "query": "", "limit": 100}}))


def speak(scene, guild):
    """Two users speak in a room, one streams; one leaves, and the other loses the connection."""
    room = scene.ask(scene.crew[0], "POST", f"/guilds/{guild}/channels", {"name": "room", "type": 2})["id"]
    phones = [Phone(scene, 1, client.token) for client in scene.crew[:2]]
    for phone in phones:
        phone.connect(phone.join(guild, room), guild)
    talk_by_phone(*phones, "hello")
    phones[0].ask(18, {"type": "guild", "guild_id": guild, "channel_id": room, "preferred_region": None})
    key = phones[0].next("STREAM_CREATE")["stream_key"]
    phones[1].ask(20, {"stream_key": key})
    phones[1].next("STREAM_CREATE")
    phones[0].ask(4, {"guild_id": guild, "channel_id": None})
    for phone in phones:
        phone.gate.close()
        phone.udp.close()
        phone.session.wire.close()
    scene.ask(scene.crew[0], "DELETE", f"/channels/{room}")


def look_back(scene, guild, channel):
    """Users are mentioned, read, search and mark messages as read."""
    owner, reader = scene.crew[:2]
    who = scene.ask(reader, "GET", "/users/@me")["id"]
    said = scene.ask(owner, "POST", f"/channels/{channel}/messages", {"content": f"<@{who}> needle"})["id"]
    scene.ask(reader, "GET", "/users/@me/mentions")
    scene.ask(reader, "GET", f"/guilds/{guild}/messages/search?content=needle")
    scene.ask(reader, "POST", f"/channels/{channel}/messages/{said}/ack", {})
    scene.ask(reader, "POST", f"/guilds/{guild}/ack", {})
    scene.ask(reader, "DELETE", f"/users/@me/mentions/{said}")


def keep(scene):
    """The operator creates a backup and a world file while the server runs."""
    for command, name in (("backup", "all.backup"), ("export", "world.json")):
        path = os.path.join(scene.folder, name)
        with open(path, "wb") as out:
            done = subprocess.run([scene.executable, command, "--data", scene.data,
                                   *([path, "--force"] if command == "backup" else [])],
                                  stdout=out if command == "export" else subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True, check=False, timeout=60)
        expect(done.returncode == 0, f"{command}: {done.stderr}")
        expect(os.path.getsize(path) > 1000, f"{command} wrote almost nothing")
        os.unlink(path)


def quarter_of_an_hour(scene):
    owner = scene.crew[0]
    guild = scene.ask(owner, "POST", "/guilds", {"name": "Hall", "icon": PICTURE})["id"]
    channel = scene.ask(owner, "POST", f"/guilds/{guild}/channels", {"name": "talk"})["id"]
    invite = scene.ask(owner, "POST", f"/channels/{channel}/invites", {})["code"]
    for client in scene.crew[1:]:
        scene.ask(client, "POST", f"/invites/{invite}", {})
    wires = connect(scene)
    talk(scene, channel)
    furnish(scene, guild)
    show_lists(wires, guild, channel)
    chat(scene, guild, channel)
    look_back(scene, guild, channel)
    arrange(scene, guild, channel)
    speak(scene, guild)
    use_private(scene)
    moderate(scene, guild)
    use_application(scene)
    come_and_go(scene)
    scene.ask(scene.crew[1], "DELETE", f"/users/@me/guilds/{guild}")
    scene.ask(owner, "DELETE", f"/channels/{channel}")
    scene.ask(owner, "DELETE", f"/guilds/{guild}")
    for wire in wires:
        wire.close()
    scene.pass_time()


# --- the day ---------------------------------------------------------------------------------


class Measured:
    def __init__(self, scene):
        # Objects with a retention time, such as accounts to be deleted, get two weeks, and
        # everything else another hour.
        scene.settle()
        scene.jump(WEEKS_S)
        scene.settle("account-deletion")
        for _ in range(4):
            scene.pass_time()
        self.counts = scene.counts()
        self.accounts = scene.accounts
        keep(scene)
        self.files = len(scene.files())
        self.leftovers = scene.leftovers()
        self.pages = scene.pages()
        self.memory = scene.server.memory("RssAnon")


def compare_rows(before, after):
    new = after.accounts - before.accounts
    wrong = [f"{name}: {before.counts[name]} -> {after.counts[name]}" for name in after.counts
             if name not in STAYS | PIECES and after.counts[name] > before.counts[name]]
    expect(not wrong, "rows stayed behind: " + "; ".join(wrong))
    expect(after.counts["users"] - before.counts["users"] <= new, "there are more accounts than were created")


def memory_and_disk_usage_do_not_grow(executable):
    with tempfile.TemporaryDirectory() as folder:
        scene = Scene(executable, folder)
        try:
            for _ in range(WARM_UP):
                quarter_of_an_hour(scene)
            before = Measured(scene)
            for _ in range(ROUNDS):
                quarter_of_an_hour(scene)
            after = Measured(scene)
            grown = (after.memory - before.memory) / 2**20
            print(f"{ROUNDS} quarters of an hour: memory {before.memory >> 10} -> "
                  f"{after.memory >> 10} KiB, pages {before.pages} -> {after.pages}, "
                  f"files {before.files} -> {after.files}")
            compare_rows(before, after)
            expect(after.files <= before.files, f"files were not deleted: {scene.files()[:10]}")
            expect(after.leftovers <= before.leftovers,
                   f"stayed behind: {after.leftovers - before.leftovers}")
            # An account takes a few rows in tables and indexes.
            expect(after.pages - before.pages <= 2 + (after.accounts - before.accounts),
                   f"the database grew by {after.pages - before.pages} pages")
            most = MOST_MIB + (after.accounts - before.accounts) * KIB_OF_ACCOUNT / 1024
            expect(grown <= most, f"memory grew by {grown:.1f} MiB")
            expect(scene.server.stop() == 0, scene.server.read_stderr())
        except BaseException as e:
            words = scene.server.read_stderr()
            scene.server.kill()
            raise Failed(f"{e}\n{words}") from e


run_cases("day", [memory_and_disk_usage_do_not_grow])

"""Creates the largest supported worlds offline, directly in the store."""

import os
import sqlite3

from one_channel import call_checked
from process import Client, register, start_guildhall

# The lowest ids of the inserted rows.
FIRST_USER, FIRST_THREAD, FIRST_CHANNEL, FIRST_ENTRY = 10, 10_000_000, 30_000_000, 40_000_000
FIRST_DIRECT_CHANNEL = 20_000_000
MEMBERS, THREADS, DIRECT_CHANNELS, CHANNELS = 500_000, 100_000, 100_000, 500
OVERWRITES = 100  # per channel: a guild has at most 50,000
MESSAGES = 100_000

NUMBERS = "with recursive n (i) as (select 0 union all select i + 1 from n where i < {0} - 1) "


class Largest:
    """One bot with very many direct channels; a guild ("members") with very many members, archived
    threads, messages and audit log entries; a guild ("overwrites") with very many overwrites."""

    def __init__(self, bench, quick):
        # With a tenth of the rows, the quick run only checks that everything works.
        self.divisor = 10 if quick else 1
        self.folder = os.path.join(bench.folder, "largest")
        server = bench.kill_at_end(start_guildhall(bench.guildhall, self.folder))
        self._create_objects(server.port)
        server.stop()
        self._insert_rows()
        self._sync_file()

    def _sync_file(self):
        """Writes the inserted rows to the disk, so that the server's first sync does not write them."""
        with open(os.path.join(self.folder, "guildhall.db"), "rb") as f:
            os.fsync(f.fileno())

    def _create_objects(self, port):
        """Creates objects with secrets through the API."""
        self.owner = register(port, "owner")
        self.writer = register(port, "writer")
        self.member = register(port, "member")
        ada = Client(port, self.owner)
        self.guilds = {name: call_checked(ada, "POST", "/guilds", {"name": name})["id"]
                       for name in ("members", "overwrites")}
        self.channels = {name: next(c["id"] for c in call_checked(ada, "GET", f"/guilds/{guild}/channels")
                                    if c["type"] == 0)
                         for name, guild in self.guilds.items()}
        self.roles = {name: call_checked(ada, "POST", f"/guilds/{guild}/roles", {"name": "many"})["id"]
                      for name, guild in self.guilds.items()}
        self.app = call_checked(ada, "POST", "/applications", {"name": "Robot"})["id"]
        self.bot = "Bot " + call_checked(ada, "POST", f"/applications/{self.app}/bot/reset", {})["token"]
        for guild in self.guilds.values():
            call_checked(ada, "POST", f"/oauth2/authorize?client_id={self.app}&scope=bot",
                         {"authorize": True, "guild_id": guild, "permissions": "8"})
        self.bot_id = call_checked(Client(port, self.bot), "GET", "/users/@me")["id"]
        for name in self.channels:
            invite = call_checked(ada, "POST", f"/channels/{self.channels[name]}/invites", {})["code"]
            for token in (self.member, self.writer):
                call_checked(Client(port, token), "POST", f"/invites/{invite}", {})
        ada.close()

    def _insert_rows(self):
        db = sqlite3.connect(os.path.join(self.folder, "guildhall.db"))
        db.execute("pragma synchronous = off")

        def insert(into, count, what):
            count //= self.divisor
            db.execute(f"insert into {into} " + NUMBERS.format(count) + f"select {what} from n")

        member_guild, overwrite_guild = self.guilds["members"], self.guilds["overwrites"]
        channel = self.channels["members"]
        owner = f"(select owner_id from guilds where id = {member_guild})"
        insert("users (id, username)", MEMBERS, f"{FIRST_USER} + i, 'person' || i")
        insert("members (guild_id, user_id, joined_at)", MEMBERS, f"{member_guild}, {FIRST_USER} + i, i")
        insert("member_roles (guild_id, user_id, role_id)", MEMBERS,
               f"{member_guild}, {FIRST_USER} + i, {self.roles['members']}")
        insert("channels (id, type, guild_id, parent_id, name, thread_archived, thread_archived_at)",
               THREADS, f"{FIRST_THREAD} + i, 11, {member_guild}, {channel}, 'thread', 1, i")
        insert("messages (id, channel_id, author_id, content)", MESSAGES,
               f"{channel} + 1 + i, {channel}, {owner}, 'hello'")
        insert("audit_log (id, guild_id, user_id, target_id, action)", THREADS,
               f"{FIRST_ENTRY} + i, {member_guild}, {owner}, {FIRST_USER} + i, 22")
        insert("channels (id, type)", DIRECT_CHANNELS, f"{FIRST_DIRECT_CHANNEL} + i, 1")
        insert("recipients (channel_id, user_id, since)", DIRECT_CHANNELS,
               f"{FIRST_DIRECT_CHANNEL} + i, {FIRST_USER} + i, 0")
        insert("recipients (channel_id, user_id, since)", DIRECT_CHANNELS,
               f"{FIRST_DIRECT_CHANNEL} + i, {self.bot_id}, 0")
        insert("direct_channels (low_id, high_id, channel_id)", DIRECT_CHANNELS,
               f"{FIRST_USER} + i, {self.bot_id}, {FIRST_DIRECT_CHANNEL} + i")
        insert("channels (id, type, guild_id, name, position)", CHANNELS,
               f"{FIRST_CHANNEL} + i, 0, {overwrite_guild}, 'room', i")
        insert("members (guild_id, user_id, joined_at)", OVERWRITES, f"{overwrite_guild}, {FIRST_USER} + i, i")
        insert("overwrites (channel_id, target_id, type, allow, deny)", CHANNELS * OVERWRITES,
               f"{FIRST_CHANNEL} + i / {OVERWRITES}, {FIRST_USER} + i % {OVERWRITES}, 1, 1024, 2048")
        db.execute("update guilds set member_count = (select count(*) from members "
                   "where guild_id = guilds.id)")
        db.commit()
        db.execute("pragma wal_checkpoint(truncate)")
        db.close()

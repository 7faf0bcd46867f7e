"""Creates the largest supported worlds offline, directly in the store."""

import os
import sqlite3

from one_channel import ask
from process import Client, register, start_guildhall

PERSON, THREAD, DIRECT, CHANNEL, ENTRY = 10, 10_000_000, 20_000_000, 30_000_000, 40_000_000
MEMBERS, THREADS, DIRECTS, CHANNELS = 500_000, 100_000, 100_000, 500
OVERWRITES = 100  # per channel: a guild has at most 50,000
MESSAGES = 100_000

NUMBERS = "with recursive n (i) as (select 0 union all select i + 1 from n where i < {0} - 1) "


class Largest:
    """One bot with very many direct channels; a guild ("crowd") with very many members, archived
    threads, messages and audit log entries; a guild ("maze") with very many overwrites."""

    def __init__(self, bench, quick):
        # With a tenth of the rows, the quick run only checks that everything works.
        self.divisor = 10 if quick else 1
        self.folder = os.path.join(bench.folder, "largest")
        server = bench.watch(start_guildhall(bench.guildhall, self.folder))
        self._declare(server.port)
        server.stop()
        self._fill()
        self._settle()

    def _settle(self):
        """Checkpoints the inserted rows, so that the server's first sync does not write them."""
        with open(os.path.join(self.folder, "guildhall.db"), "rb") as f:
            os.fsync(f.fileno())

    def _declare(self, port):
        """Creates objects with secrets through the API."""
        self.owner = register(port, "owner")
        self.writer = register(port, "writer")
        self.member = register(port, "member")
        ada = Client(port, self.owner)
        self.guilds = {name: ask(ada, "POST", "/guilds", {"name": name})["id"]
                       for name in ("crowd", "maze")}
        self.channels = {name: next(c["id"] for c in ask(ada, "GET", f"/guilds/{guild}/channels")
                                    if c["type"] == 0)
                         for name, guild in self.guilds.items()}
        self.roles = {name: ask(ada, "POST", f"/guilds/{guild}/roles", {"name": "many"})["id"]
                      for name, guild in self.guilds.items()}
        self.app = ask(ada, "POST", "/applications", {"name": "Robot"})["id"]
        self.bot = "Bot " + ask(ada, "POST", f"/applications/{self.app}/bot/reset", {})["token"]
        for guild in self.guilds.values():
            ask(ada, "POST", f"/oauth2/authorize?client_id={self.app}&scope=bot",
                {"authorize": True, "guild_id": guild, "permissions": "8"})
        self.bot_id = ask(Client(port, self.bot), "GET", "/users/@me")["id"]
        for name in self.channels:
            invite = ask(ada, "POST", f"/channels/{self.channels[name]}/invites", {})["code"]
            for token in (self.member, self.writer):
                ask(Client(port, token), "POST", f"/invites/{invite}", {})
        ada.close()

    def _fill(self):
        db = sqlite3.connect(os.path.join(self.folder, "guildhall.db"))
        db.execute("pragma synchronous = off")

        def insert(into, count, what):
            count //= self.divisor
            db.execute(f"insert into {into} " + NUMBERS.format(count) + f"select {what} from n")

        crowd, maze = self.guilds["crowd"], self.guilds["maze"]
        hall = self.channels["crowd"]
        owner = f"(select owner_id from guilds where id = {crowd})"
        insert("users (id, username)", MEMBERS, f"{PERSON} + i, 'person' || i")
        insert("members (guild_id, user_id, joined_at)", MEMBERS, f"{crowd}, {PERSON} + i, i")
        insert("member_roles (guild_id, user_id, role_id)", MEMBERS,
               f"{crowd}, {PERSON} + i, {self.roles['crowd']}")
        insert("channels (id, type, guild_id, parent_id, name, thread_archived, thread_archived_at)",
               THREADS, f"{THREAD} + i, 11, {crowd}, {hall}, 'thread', 1, i")
        insert("messages (id, channel_id, author_id, content)", MESSAGES,
               f"{hall} + 1 + i, {hall}, {owner}, 'hello'")
        insert("audit_log (id, guild_id, user_id, target_id, action)", THREADS,
               f"{ENTRY} + i, {crowd}, {owner}, {PERSON} + i, 22")
        insert("channels (id, type)", DIRECTS, f"{DIRECT} + i, 1")
        insert("recipients (channel_id, user_id, since)", DIRECTS, f"{DIRECT} + i, {PERSON} + i, 0")
        insert("recipients (channel_id, user_id, since)", DIRECTS,
               f"{DIRECT} + i, {self.bot_id}, 0")
        insert("direct_channels (low_id, high_id, channel_id)", DIRECTS,
               f"{PERSON} + i, {self.bot_id}, {DIRECT} + i")
        insert("channels (id, type, guild_id, name, position)", CHANNELS,
               f"{CHANNEL} + i, 0, {maze}, 'room', i")
        insert("members (guild_id, user_id, joined_at)", OVERWRITES, f"{maze}, {PERSON} + i, i")
        insert("overwrites (channel_id, target_id, type, allow, deny)", CHANNELS * OVERWRITES,
               f"{CHANNEL} + i / {OVERWRITES}, {PERSON} + i % {OVERWRITES}, 1, 1024, 2048")
        db.execute("update guilds set member_count = (select count(*) from members "
                   "where guild_id = guilds.id)")
        db.commit()
        db.execute("pragma wal_checkpoint(truncate)")
        db.close()

#!/usr/bin/python3
"""discord_py - a discord.py bot that is controlled by the same lines as discord_js.js."""

import asyncio
import sys
import threading

import discord
import yarl

api, token, shards = sys.argv[1:4]
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(
    api.replace("http://", "ws://").replace("/api", "/"))


def say(*words):
    print(*words, flush=True)


class Bot(discord.AutoShardedClient if int(shards) > 1 else discord.Client):
    async def on_ready(self):
        say("ready", ",".join(sorted(g.name for g in self.guilds)))
        loop = asyncio.get_running_loop()
        threading.Thread(target=self.read_commands, args=(loop,), daemon=True).start()

    def read_commands(self, loop):
        for line in sys.stdin:
            asyncio.run_coroutine_threadsafe(self.obey(line.strip()), loop)

    async def obey(self, command):
        if command == "drop":
            # Aborts the sockets like a broken network.
            sockets = [s.ws for s in self._AutoShardedClient__shards.values()] \
                if int(shards) > 1 else [self.ws]
            for ws in sockets:
                ws.socket._response.connection.transport.abort()
        elif command == "members":
            members = [m async for m in self.guilds[0].fetch_members()]
            say("members", len(members))
        else:
            await self.close()

    async def on_message(self, message):
        say("heard", message.content)

    async def on_resumed(self):
        say("resumed")

    async def on_shard_resumed(self, _):
        if int(shards) > 1:
            say("resumed")


intents = discord.Intents.default()
intents.members = intents.message_content = True
options = {"shard_count": int(shards)} if int(shards) > 1 else {}
Bot(intents=intents, **options).run(token, log_handler=None)

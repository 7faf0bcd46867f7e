#!/usr/bin/python3
"""discord_py_commands - a discord.py bot that registers commands, controlled by the same lines as
discord_js_commands.js."""

import asyncio
import json
import sys
import threading
import traceback

import discord
import yarl
from discord import app_commands

api, token = sys.argv[1:3]
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(
    api.replace("http://", "ws://").replace("/api", "/"))


def say(*words):
    print(*words, flush=True)


class German(app_commands.Translator):
    words = {"paint": "malen", "Red": "Rot"}

    async def translate(self, string, locale, _):
        return self.words.get(string.message) if locale is discord.Locale.german else None


@app_commands.default_permissions(manage_guild=True)
class Paint(app_commands.Group):
    more = app_commands.Group(name="more", description="More")

    @app_commands.command(description="A wall")
    @app_commands.choices(color=[app_commands.Choice(name=app_commands.locale_str("Red"), value="red"),
                                 app_commands.Choice(name="Blue", value="blue")])
    async def wall(self, interaction: discord.Interaction, color: str,
                   size: app_commands.Range[float, 0.5] = 1.0):
        pass

    @more.command(description="A thing")
    async def thing(self, interaction: discord.Interaction, where: discord.TextChannel,
                    n: int = 1, file: discord.Attachment = None):
        pass


@app_commands.context_menu(name="Wave At")
async def wave(interaction: discord.Interaction, user: discord.Member):
    pass


@app_commands.context_menu(name="Quote It")
async def quote(interaction: discord.Interaction, message: discord.Message):
    pass


@app_commands.command(description="Here", nsfw=True)
async def local(interaction: discord.Interaction):
    pass


class Bot(discord.Client):
    def __init__(self):
        super().__init__(intents=discord.Intents.default())
        self.tree = app_commands.CommandTree(self)
        self.extra = None

    async def setup_hook(self):
        await self.tree.set_translator(German())
        self.tree.add_command(Paint(name=app_commands.locale_str("paint"), description="Paints"))
        self.tree.add_command(wave)
        self.tree.add_command(quote)

    async def on_ready(self):
        say("ready", ",".join(sorted(g.name for g in self.guilds)))
        loop = asyncio.get_running_loop()
        threading.Thread(target=self.read_commands, args=(loop,), daemon=True).start()

    async def on_raw_app_command_permissions_update(self, payload):
        say("told", payload.target_id)

    def read_commands(self, loop):
        for line in sys.stdin:
            asyncio.run_coroutine_threadsafe(self.obey(*line.split()), loop)

    async def obey(self, name, *rest):
        if name == "end":
            await self.close()
            return
        try:
            say("saw", json.dumps(await getattr(self, "do_" + name)(*rest)))
        except Exception:  # pylint: disable=broad-except
            say("error", traceback.format_exc().replace("\n", " "))

    async def raw(self):
        """discord.py does not store versions, so its HTTP call is used."""
        return await self.http.get_global_commands(self.application_id)

    async def one(self, command):
        version = next(c["version"] for c in await self.raw() if c["id"] == str(command.id))
        return {"id": str(command.id), "name": command.name, "description": command.description,
                "version": version}

    async def do_set(self):
        commands = await self.tree.sync()
        versions = {c["id"]: c["version"] for c in await self.raw()}
        return {"names": [c.name for c in commands],
                "versions": [versions[str(c.id)] for c in commands]}

    async def do_create(self):
        data = await self.http.upsert_global_command(
            self.application_id, {"name": "extra", "description": "Extra"})
        self.extra = await self.tree.fetch_command(int(data["id"]))
        return await self.one(self.extra)

    async def do_edit(self):
        self.extra = await self.extra.edit(description="Changed")
        return await self.one(self.extra)

    async def do_fetch(self):
        return await self.one(await self.tree.fetch_command(self.extra.id))

    async def do_delete(self):
        await self.extra.delete()
        return len(await self.tree.fetch_commands())

    async def do_guild(self, guild_id):
        guild = discord.Object(int(guild_id))
        self.tree.copy_global_to(guild=guild)
        self.tree.add_command(local, guild=guild)
        await self.tree.sync(guild=guild)
        return {"names": [c.name for c in await self.tree.fetch_commands(guild=guild)]}

    async def do_permissions(self, guild_id):
        guild = discord.Object(int(guild_id))
        rows = []
        for command in await self.tree.fetch_commands():
            try:
                found = await command.fetch_permissions(guild)
            except discord.NotFound as e:
                if e.code != 10066:
                    raise
                continue
            rows += [{"id": str(p.id), "type": p.type.value, "permission": p.permission}
                     for p in found.permissions]
        return rows

    async def do_refuse(self):
        try:
            await self.http.upsert_global_command(self.application_id,
                                                  {"name": "Not Good", "description": "x"})
        except discord.HTTPException as e:
            return {"status": e.status, "code": e.code, "text": str(e)}
        return None


Bot().run(token, log_handler=None)

#!/usr/bin/python3
"""mistakes_py - a discord.py bot with mistakes: no message intents, missing permissions, late answers.

    mistakes_py.py API TOKEN FACTS
"""

import asyncio
import json
import sys

import discord
import yarl
from discord import app_commands

api, token, facts = sys.argv[1:4]
world = json.loads(facts)
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(
    api.replace("http://", "ws://").replace("/api", "/"))


async def refused(call):
    try:
        await call
        print("not refused", call, flush=True)
    except discord.HTTPException:
        pass


class Bot(discord.Client):
    async def on_ready(self):
        await tree.sync()
        talk, readonly = self.get_channel(int(world["talk"])), self.get_channel(int(world["readonly"]))
        message = talk.get_partial_message(int(world["message"]))
        await asyncio.gather(
            refused(message.pin()),
            refused(talk.create_invite()),
            refused(talk.create_webhook(name="x")),
            refused(readonly.send("x", tts=True)),
            refused(talk.guild.ban(discord.Object(int(world["bob"])))),
            refused(talk.edit(name="new")),
            refused(self.fetch_channel(int(world["hidden"]))),
            refused(self.http.request(discord.http.Route("GET", "/guilds/{guild_id}/members?limit=10",
                                                         guild_id=int(world["guild"])))),
        )
        print("ready", flush=True)


client = Bot(intents=discord.Intents(guilds=True))
tree = app_commands.CommandTree(client)


@tree.error
async def on_error(_, error):
    pass


@tree.command(description="Answers a second time instead of following up")
async def again(i: discord.Interaction):
    await i.response.send_message("one")
    i.response._response_type = None  # another handler does not know of the first one
    await i.response.send_message("two")


@tree.command(description="Answers too late")
async def slow(i: discord.Interaction):
    await asyncio.sleep(3.1)
    await i.response.send_message("late")


client.run(token, log_handler=None)

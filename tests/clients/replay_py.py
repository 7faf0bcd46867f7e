#!/usr/bin/python3
"""replay_py - a small discord.py bot that the replay test records and replays.

    replay_py.py API TOKEN [changed]

With "changed" it answers differently, leaves out a call and makes another one. The id of its button
is chosen at random in each run.
"""

import sys

import discord
import yarl
from discord import app_commands, ui

api, token, *changed = sys.argv[1:]
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(
    api.replace("http://", "ws://").removesuffix("/api"))


class Bot(discord.Client):
    async def setup_hook(self):
        await tree.sync()

    async def on_message(self, message):
        if message.content != "ping":
            return
        await message.reply("PONG" if changed else "pong")
        if changed:
            await message.channel.typing()
        else:
            await message.add_reaction("👍")


intents = discord.Intents(guilds=True, guild_messages=True, message_content=True)
client = Bot(intents=intents)
tree = app_commands.CommandTree(client)


class Tea(ui.View):
    @ui.button(label="Yes")
    async def yes(self, i, button):
        await i.response.edit_message(content=f"{i.user.name} says {button.label}", view=None)


@tree.command(description="Ask")
async def tea(i: discord.Interaction):
    await i.response.defer()
    await i.edit_original_response(content="Tea?", view=Tea())


client.run(token, log_handler=None)

#!/usr/bin/python3
"""as_discord_py - a discord.py bot that knows nothing but its token; see as_discord.js."""

import io
import os

import discord


def say(*words):
    print(*words, flush=True)


class Bot(discord.Client):
    async def on_ready(self):
        say("ready", ",".join(g.name for g in self.guilds))

    async def on_message(self, message):
        if message.author.bot:
            return
        say("heard", message.content)
        embed = discord.Embed(title="pong")
        sent = await message.channel.send(
            embed=embed, file=discord.File(io.BytesIO(b"discord.py"), "library.txt"))
        await sent.add_reaction("👍")
        say("file", 200, (await sent.attachments[0].read()).decode())


intents = discord.Intents.default()
intents.message_content = True
Bot(intents=intents).run(os.environ["TOKEN"], log_handler=None)

#!/usr/bin/python3
"""reactions_py - reactions and emoji on an unchanged discord.py, a line for each step."""

import asyncio
import base64
import sys

import discord
import yarl

api, token = sys.argv[1:3]
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(
    api.replace("http://", "ws://").replace("/api", "/"))
PNG = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")


def say(*words):
    print(*words, flush=True)


class Bot(discord.Client):
    async def told(self, event):
        return await self.wait_for(event, timeout=20)

    async def on_ready(self):
        say("ready")
        try:
            await self.go_through()
        except Exception as error:  # the test shows it
            say("error", repr(error))
        await self.close()

    async def go_through(self):
        guild = self.guilds[0]
        heard = asyncio.ensure_future(self.told("guild_emojis_update"))
        emoji = await guild.create_custom_emoji(name="party", image=PNG)
        _, before, after = await heard
        say("emojis", len(before), len(after), after[0].name)
        message = await guild.text_channels[0].send("hello")
        for one in ("\N{THUMBS UP SIGN}", emoji):
            heard = asyncio.ensure_future(self.told("raw_reaction_add"))
            await message.add_reaction(one)
            payload = await heard
            say("added", payload.emoji.name, payload.member.name)
        message = await message.channel.fetch_message(message.id)
        say("shown", *[f"{r.emoji if isinstance(r.emoji, str) else r.emoji.name}={r.count}{r.me}"
                       for r in message.reactions])
        say("users", *[u.name async for u in message.reactions[1].users()])
        heard = asyncio.ensure_future(self.told("raw_reaction_remove"))
        await message.remove_reaction(emoji, self.user)
        say("removed", (await heard).emoji.name)
        heard = asyncio.ensure_future(self.told("raw_reaction_clear_emoji"))
        await message.clear_reaction("\N{THUMBS UP SIGN}")
        say("cleared", (await heard).emoji.name)
        await message.add_reaction(emoji)
        heard = asyncio.ensure_future(self.told("raw_reaction_clear"))
        await message.clear_reactions()
        say("empty", (await heard).message_id == message.id)
        heard = asyncio.ensure_future(self.told("guild_emojis_update"))
        renamed = await emoji.edit(name="parties")
        await heard  # or it would be taken for the next one
        say("renamed", renamed.name)
        heard = asyncio.ensure_future(self.told("guild_emojis_update"))
        await renamed.delete()
        say("left", len((await heard)[2]))


Bot(intents=discord.Intents.default()).run(token, log_handler=None)

"""The bot that the examples test."""

import os

import discord
import yarl

api = os.environ["API"]
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(
    api.replace("http://", "ws://").removesuffix("/api"))

client = discord.Client(intents=discord.Intents(guilds=True, guild_messages=True, message_content=True))


@client.event
async def on_message(message):
    if message.content == "ping":
        await message.reply("pong", embed=discord.Embed(title="Answer"))


client.run(os.environ["TOKEN"], log_handler=None)

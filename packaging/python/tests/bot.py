"""The bot under test."""

import os

import discord
import yarl
from discord import app_commands, ui

# The lines that differ from a bot elsewhere.
api = os.environ["API"]
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(
    api.replace("http://", "ws://").removesuffix("/api"))


class Bot(discord.Client):
    async def setup_hook(self):
        await tree.sync()

    async def on_message(self, message):
        if message.content == "ping":
            await message.reply("pong")


intents = discord.Intents.default()
intents.message_content = True
client = Bot(intents=intents)
tree = app_commands.CommandTree(client)


@tree.command(description="Roll a die")
async def roll(i: discord.Interaction, sides: int):
    await i.response.send_message(f"A die of {sides}")


class Tea(ui.View):
    @ui.button(label="Yes", custom_id="yes")
    async def yes(self, i, _):
        await i.response.edit_message(content=f"{i.user.name} says yes", view=None)


@tree.command(description="Ask for tea")
async def tea(i: discord.Interaction):
    await i.response.send_message("Tea?", view=Tea())


class Form(ui.Modal, title="Form"):
    text = ui.TextInput(label="Text", custom_id="text", min_length=5)

    async def on_submit(self, i):
        await i.response.send_message(self.text.value, ephemeral=True)


@tree.command(description="Show a form")
async def ask(i: discord.Interaction):
    await i.response.send_modal(Form())


client.run(os.environ["TOKEN"])

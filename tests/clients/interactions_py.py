#!/usr/bin/python3
"""interactions_py - a discord.py app with the same commands as interactions_js.js."""

import sys
import typing

import discord
import yarl
from discord import app_commands, ui

api, token = sys.argv[1:3]
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(
    api.replace("http://", "ws://").replace("/api", "/"))
CITIES = ["Oslo", "Osaka", "Lima"]


def say(*words):
    print(*words, flush=True)


class Bot(discord.Client):
    async def on_ready(self):
        await tree.sync()
        say("ready")


client = Bot(intents=discord.Intents(guilds=True))
tree = app_commands.CommandTree(client)


@tree.error
async def on_error(_, error):
    say("error", str(error).replace("\n", " "))


@tree.command(description="Tests reply")
async def reply(i: discord.Interaction, text: str):
    await i.response.send_message(f"You said {text}")


@tree.command(description="Tests regret")
async def regret(i: discord.Interaction):
    await i.response.defer()
    await i.delete_original_response()


@tree.command(description="Tests defer")
async def defer(i: discord.Interaction):
    await i.response.defer()
    await i.edit_original_response(content="Done")


@tree.command(description="Tests follow")
async def follow(i: discord.Interaction):
    await i.response.send_message("One")
    one = await i.original_response()
    two = await i.followup.send("Two", wait=True)
    await i.followup.send(f"Three after {one.content}", ephemeral=True)
    await two.edit(content="Two, edited")


@tree.command(description="Tests secret")
async def secret(i: discord.Interaction):
    await i.response.send_message("Only for you", ephemeral=True)


@tree.command(description="Tests silent")
async def silent(_: discord.Interaction):
    pass


@tree.command(description="Tests broken")
async def broken(i: discord.Interaction):
    try:
        await i.response.send_message("")
    except discord.HTTPException as e:
        await i.response.send_message(f"Refused with {e.code}, then answered")


class Form(ui.Modal, title="A form"):
    name = ui.TextInput(label="Name", custom_id="name")

    def __init__(self):
        super().__init__(custom_id="form")

    async def on_submit(self, i):
        text = f"Hello {self.name.value}"
        if i.message:
            await i.response.edit_message(content=text, view=None)
        else:
            await i.response.send_message(text)


@tree.command(description="Tests form")
async def form(i: discord.Interaction):
    await i.response.send_modal(Form())


class Choices(ui.View):
    @ui.button(label="OK", custom_id="ok", style=discord.ButtonStyle.primary)
    async def ok(self, i, _):
        await i.response.edit_message(content=f"Pressed by {i.user.name}", view=None)

    @ui.button(label="Ask", custom_id="ask")
    async def ask(self, i, _):
        await i.response.send_modal(Form())

    @ui.button(label="Later", custom_id="later")
    async def later(self, i, _):
        await i.response.defer()
        await i.edit_original_response(content="Changed later")

    @ui.select(custom_id="pick", max_values=2, options=[
        discord.SelectOption(label="A", value="a"), discord.SelectOption(label="B", value="b")])
    async def pick(self, i, select):
        await i.response.send_message(f"Chose {','.join(select.values)}")


@tree.command(description="Tests buttons")
async def buttons(i: discord.Interaction):
    await i.response.send_message("Choose", view=Choices())


@tree.command(description="Tests find")
async def find(i: discord.Interaction, city: str):
    await i.response.send_message(f"Found {city}")


@find.autocomplete("city")
async def find_city(_, typed: str):
    return [app_commands.Choice(name=c, value=c.lower()) for c in CITIES if c.startswith(typed)]


@tree.context_menu(name="Wave")
async def wave(i: discord.Interaction, who: discord.Member):
    await i.response.send_message(f"Waves at {who.name}, a member: "
                                  f"{str(isinstance(who, discord.Member)).lower()}")


@tree.context_menu(name="Quote this")
async def quote(i: discord.Interaction, message: discord.Message):
    await i.response.send_message(f"> {message.content}")


class Everything(app_commands.Group, name="all", description="Tests all"):
    kinds = app_commands.Group(name="kinds", description="Kinds")

    @kinds.command(name="of", description="Of options")
    @app_commands.choices(pick=[app_commands.Choice(name="First", value="1st"),
                                app_commands.Choice(name="Second", value="2nd")])
    async def of(self, i: discord.Interaction, text: str,
                 whole: typing.Optional[app_commands.Range[int, 1]],
                 truth: typing.Optional[bool], who: typing.Optional[discord.Member],
                 where: typing.Optional[discord.TextChannel],
                 role: typing.Optional[discord.Role],
                 any: typing.Optional[typing.Union[discord.Member, discord.Role]],
                 number: typing.Optional[float], pick: typing.Optional[str],
                 file: typing.Optional[discord.Attachment]):
        del self
        values = [i.command.qualified_name.removeprefix("all "), text, whole, truth,
                  who and who.name, isinstance(who, discord.Member), where and where.name,
                  role and role.name, any and any.name, number, pick, file and file.filename]
        shown = [str(v).lower() if isinstance(v, bool) else "" if v is None else str(v)
                 for v in values]
        await i.response.send_message("|".join(shown))


tree.add_command(Everything())
client.run(token, log_handler=None)

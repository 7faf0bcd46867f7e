#!/usr/bin/python3
"""integrations_py - a discord.py bot that is controlled by the same lines as integrations_js.js.
With --words it only prints the library's names of the integration types."""

import asyncio
import sys
import threading

import discord
import discord.integrations
import yarl


def say(*words):
    print(*words, flush=True)


def describe(i):
    kind = type(i).__name__
    if isinstance(i, discord.StreamIntegration):
        more = (i.syncing, i.expire_behaviour.value, i.expire_grace_period, i.enable_emoticons,
                i.synced_at is not None, i.role.name if i.role else "none")
    elif isinstance(i, discord.BotIntegration):
        more = (i.application.name,)
    else:
        more = ()
    say("listed", kind, i.name, i.account.id, i.user.name if i.user else "nobody",
        "/".join(map(str, more)))


class Bot(discord.Client):
    async def on_ready(self):
        say("ready")
        loop = asyncio.get_running_loop()
        threading.Thread(target=self.read_commands, args=(loop,), daemon=True).start()

    def read_commands(self, loop):
        for line in sys.stdin:
            asyncio.run_coroutine_threadsafe(self.obey(*line.strip().split(" ", 1)), loop)

    async def obey(self, command, name=""):
        try:
            if command == "end":
                await self.close()
                return
            integrations = await self.guilds[0].integrations()
            if command == "list":
                for i in integrations:
                    describe(i)
                say("end of list")
            else:
                await next(i for i in integrations if i.name == name).delete(reason="not needed")
                say("deleted", name)
        except Exception as e:  # pylint: disable=broad-except
            say("error", repr(e))

    async def on_guild_integrations_update(self, _):
        say("changed")

    async def on_integration_update(self, integration):
        say("updated", integration.name)

    async def on_raw_integration_delete(self, payload):
        say("gone", "app" if payload.application_id else "account")


if sys.argv[1] == "--words":
    app, accounts = discord.integrations._integration_factory.__code__.co_consts[1:3]
    say(*accounts, app)
    sys.exit(0)
api, token = sys.argv[1:3]
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(
    api.replace("http://", "ws://").replace("/api", "/"))
intents = discord.Intents.none()
intents.guilds = intents.integrations = True
Bot(intents=intents).run(token, log_handler=None)

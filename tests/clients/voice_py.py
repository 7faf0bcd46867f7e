#!/usr/bin/python3
"""voice_py - a discord.py bot that reads voice states, controlled by lines."""

import asyncio
import sys
import threading

import discord
import yarl

api, token = sys.argv[1:3]
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(
    api.replace("http://", "ws://").replace("/api", "/"))


def say(*words):
    print(*words, flush=True)


def channel_name(state):
    return state.channel.name if state and state.channel else "none"


class Bot(discord.Client):
    async def on_ready(self):
        names = [c.name for c in self.guilds[0].voice_channels for _ in c.voice_states]
        say("ready", ",".join(names) or "nobody")
        loop = asyncio.get_running_loop()
        threading.Thread(target=self.read_commands, args=(loop,), daemon=True).start()

    def read_commands(self, loop):
        for line in sys.stdin:
            asyncio.run_coroutine_threadsafe(self.obey(*line.split()), loop)

    def member(self, name):
        return discord.utils.get(self.guilds[0].members, name=name)

    async def obey(self, command, *rest):
        try:
            await getattr(self, "do_" + command)(*rest)
        except Exception as e:  # pylint: disable=broad-except
            say("error", e)

    async def do_regions(self):
        answer = await self.http.request(discord.http.Route("GET", "/voice/regions"))
        say("regions", ",".join(r["id"] for r in answer))

    async def do_state(self, name):
        member, guild = self.member(name), self.guilds[0]
        route = discord.http.Route("GET", "/guilds/{guild_id}/voice-states/{user_id}",
                                   guild_id=guild.id, user_id=member.id)
        data = await self.http.request(route)
        state = discord.VoiceState(data=data, channel=guild.get_channel(int(data["channel_id"])))
        say("state", channel_name(state), f"mute={state.mute}", f"self={state.self_mute}")

    async def do_move(self, name, channel):
        await self.member(name).move_to(discord.utils.get(self.guilds[0].channels, name=channel))

    async def do_end(self):
        await self.close()

    async def on_voice_state_update(self, member, before, after):
        say("voice", member.name, channel_name(before), channel_name(after), f"mute={after.mute}")


intents = discord.Intents(guilds=True, members=True, voice_states=True)
Bot(intents=intents).run(token, log_handler=None)

#!/usr/bin/env python3
"""voice_clients - tests voice states with unchanged client libraries."""

import os
import shutil

import clients
from cases import run_cases
from clients import HERE, Library, Server, node_command, python_command
from sessions import GATEWAY_PATH, Wire
from voice import send_voice_state_update

WORLD = {
    "users": [{"username": "ada"}],
    "applications": [{"name": "Helper", "owner": "ada", "bot": "helper"}],
    "guilds": [{"name": "Hall", "owner": "ada",
                "channels": [{"name": "talk"}, {"name": "red", "type": "voice"},
                             {"name": "blue", "type": "voice"}],
                "roles": [{"name": "Keeper", "permissions": ["ADMINISTRATOR"]}],
                "members": [{"user": "helper", "roles": ["Keeper"]}],
                "applications": [{"application": "Helper", "by": "ada"}]}],
}


class VoiceGuild:
    """A server with ada, who has a session, and the channels of her guild by name."""

    def __init__(self, executable):
        clients.WORLD = WORLD
        self.server = Server(executable)
        self.ada = Wire(self.server.process.port, GATEWAY_PATH, self.server.ada.token)
        self.guild = self.server.ada.call("GET", "/users/@me/guilds")[1][0]["id"]
        channels = self.server.ada.call("GET", f"/guilds/{self.guild}/channels")[1]
        self.channels = {c["name"]: c["id"] for c in channels}

    def join(self, name):
        send_voice_state_update(self.ada, self.guild, self.channels.get(name))

    def close(self):
        self.ada.close()
        self.server.close()


def with_bot(executable, command, folder, scenario):
    voice_guild = VoiceGuild(executable)
    bot = None
    try:
        voice_guild.join("red")
        while b'"VOICE_STATE_UPDATE"' not in voice_guild.ada.frame():
            pass
        bot = Library(command, voice_guild.server, 1, folder)
        bot.expect("ready red")
        scenario(voice_guild, bot)
        bot.end()
    finally:
        if bot:
            bot.close()
        voice_guild.close()


def watch_and_move(voice_guild, bot):
    voice_guild.join("blue")
    bot.expect("voice ada red blue mute=false")
    bot.send_command("move ada red")
    bot.expect("voice ada blue red mute=false")
    bot.send_command("mute ada")
    bot.expect("voice ada red red mute=true")
    bot.send_command("state ada")
    bot.expect("state red mute=true self=false")
    bot.send_command("regions")
    bot.expect("regions main")
    bot.send_command("disconnect ada")
    bot.expect("voice ada red none mute=true")
    bot.send_command("join blue")
    bot.expect("voice helper none blue mute=false", "server 32 null")


def watch_and_fetch(voice_guild, bot):
    voice_guild.join("blue")
    bot.expect("voice ada red blue mute=False")
    bot.send_command("regions")
    bot.expect("regions main")
    bot.send_command("state ada")
    bot.expect("state blue mute=False self=False")
    bot.send_command("move ada red")
    bot.expect("voice ada blue red mute=False")
    voice_guild.join(None)
    bot.expect("voice ada red none mute=False")


def discord_js_reads_voice_states_and_moves_members(executable):
    command, folder = node_command()
    shutil.copy(os.path.join(HERE, "voice_js.js"), folder)
    with_bot(executable, [command[0], "voice_js.js"], folder, watch_and_move)


def discord_py_reads_and_fetches_voice_states(executable):
    command, folder = python_command()
    with_bot(executable, [command[0], os.path.join(HERE, "voice_py.py")], folder, watch_and_fetch)


if __name__ == "__main__":
    run_cases("clients/voice", [discord_js_reads_voice_states_and_moves_members, discord_py_reads_and_fetches_voice_states])

#!/usr/bin/python3
"""voice_audio_py - a discord.py voice bot that is controlled by the same lines as voice_audio_js.js. The library
only sends; received packets are read from its socket here."""

import asyncio
import sys
import threading

import discord
import nacl.secret
import yarl

api, token = sys.argv[1:3]
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(
    api.replace("https://", "wss://").replace("/api", "/"))


def say(*words):
    print(*words, flush=True)


class Voice(discord.VoiceClient):
    """The library removes the port of the endpoint, which is needed here."""

    async def on_voice_server_update(self, data):
        await super().on_voice_server_update({**data, "endpoint": data["endpoint"] + ":443"})


class Bot(discord.Client):
    voice, names = None, {}

    async def on_ready(self):
        say("ready")
        loop = asyncio.get_running_loop()
        threading.Thread(target=self.read_commands, args=(loop,), daemon=True).start()

    def read_commands(self, loop):
        for line in sys.stdin:
            asyncio.run_coroutine_threadsafe(self.obey(*line.split()), loop)

    async def obey(self, command, *rest):
        try:
            await getattr(self, "do_" + command)(*rest)
        except Exception as e:  # pylint: disable=broad-except
            say("error", repr(e))

    async def do_join(self, name):
        channel = discord.utils.get(self.guilds[0].voice_channels, name=name)
        self.voice = await channel.connect(cls=Voice, timeout=120)
        asyncio.create_task(self.watch())

    async def watch(self):
        """Prints when the library is connected or reconnected, and then reads received packets."""
        seen = None
        while True:
            if self.voice.is_connected() and self.voice.ws is not seen:
                seen = self.voice.ws
                listener = asyncio.create_task(self.listen())
                say("connection ready")
            elif seen and not self.voice.is_connected():
                seen = None
                listener.cancel()
            await asyncio.sleep(0.02)

    async def do_hear(self, name):
        say("hears", name)

    async def do_say(self, word, count):
        await self.voice.ws.speak()
        for i in range(int(count)):
            self.voice.send_audio_packet(f"{word}-{i}".encode(), encode=False)
            await asyncio.sleep(0.005)
        say("said", word)

    async def listen(self):
        box = nacl.secret.SecretBox(bytes(self.voice.secret_key))
        while True:
            packet = await self.loop.sock_recv(self.voice.socket, 2048)
            if len(packet) > 12 and packet[1] == 120:
                frame = box.decrypt(packet[12:], packet[:12] + bytes(12))
                if len(frame) > 3:
                    say("heard", "other", frame.decode())

    async def do_end(self):
        await self.voice.disconnect()
        await self.close()


Bot(intents=discord.Intents(guilds=True, voice_states=True)).run(token, log_handler=None)

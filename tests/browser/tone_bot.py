#!/usr/bin/python3
"""tone_bot - a bot on unchanged discord.py that plays a tone in a voice channel and measures the tones that it
receives, with the arguments and lines of tone_bot.js. The library only sends; received packets are read from its
socket here."""

import array
import asyncio
import math
import sys
import threading

import discord
import nacl.secret
import yarl

RATE, FRAME, LOUD = 48000, 960, 1600
api, token, channel_id, hertz = sys.argv[1:5]
discord.http.Route.BASE = api + "/v10"
discord.gateway.DiscordWebSocket.DEFAULT_GATEWAY = yarl.URL(api.replace("http://", "ws://").replace("/api", "/"))


class Tone(discord.AudioSource):
    at = 0

    def read(self):
        """Returns the next 20 ms: 16 bits, stereo."""
        self.at += FRAME
        wave = (round(10000 * math.sin(2 * math.pi * int(hertz) * (self.at + i) / RATE)) for i in range(FRAME))
        return array.array("h", (x for value in wave for x in (value, value))).tobytes()


def frequency_of(samples):
    """Returns the frequency of a tone by its zero crossings."""
    ups = [i for i in range(1, len(samples)) if samples[i - 1] < 0 <= samples[i]]
    return round((len(ups) - 1) * RATE / (ups[-1] - ups[0])) if len(ups) > 1 else 0


class Bot(discord.Client):
    async def on_ready(self):
        voice = await self.get_channel(int(channel_id)).connect(timeout=60)
        voice.play(Tone())
        print("connected", flush=True)
        box, decoder = nacl.secret.SecretBox(bytes(voice.secret_key)), discord.opus.Decoder()
        samples = array.array("h")
        while True:
            packet = await self.loop.sock_recv(voice.socket, 2048)
            if len(packet) <= 12 or packet[1] & 127 != 120:
                continue
            frame = box.decrypt(packet[12:], packet[:12] + bytes(12))
            samples.frombytes(decoder.decode(frame, fec=False))
            if len(samples) >= RATE:
                left = samples[::2]
                if max(left) > LOUD:
                    print("received", frequency_of(left), flush=True)
                samples = array.array("h")


def end_with_input(bot):
    sys.stdin.read()
    asyncio.run_coroutine_threadsafe(bot.close(), bot.loop)


bot = Bot(intents=discord.Intents(guilds=True, voice_states=True))
threading.Thread(target=end_with_input, args=(bot,), daemon=True).start()
bot.run(token, log_handler=None)

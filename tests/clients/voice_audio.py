#!/usr/bin/env python3
"""voice_audio - tests that unchanged libraries exchange audio through a server with the voice relay."""

import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from types import SimpleNamespace

from clients import HERE, Library, node_command, put_file, python_command
from cases import Skip, expect, run_cases
from process import Client, start_guildhall
from voice_proxy import Faults, Proxy

FRAMES = 21
BACK_S = 5  # seconds until all bots are connected after a restart
BACK_PY_S = 20  # seconds with discord.py, which waits up to 2, 4, 8 s between its attempts


def world_of(bots):
    """A world in which ada owns a guild with these bots."""
    return {
        "users": [{"username": "ada"}],
        "applications": [{"name": b.title(), "owner": "ada", "bot": b} for b in bots],
        "guilds": [{"name": "Hall", "owner": "ada",
                    "channels": [{"name": "talk"}, {"name": "red", "type": "voice"},
                                 {"name": "blue", "type": "voice"}],
                    "members": [{"user": b} for b in bots],
                    "applications": [{"application": b.title(), "by": "ada"} for b in bots]}],
    }


class VoiceServer:
    """A server with the voice relay behind a proxy line; ada owns its guild, which has these bots."""

    def __init__(self, executable, names=("helper", "other"), flags=()):
        self.folder = tempfile.mkdtemp()
        data = os.path.join(self.folder, "data")
        done = subprocess.run([executable, "import", "--tokens", "-", "--data", data],
                              input=json.dumps(world_of(names)), capture_output=True, text=True, timeout=60,
                              check=False)
        expect(done.returncode == 0, done.stderr)
        self.tokens = dict(re.findall(rf"^(ada|{'|'.join(names)}) +(.*)$", done.stdout, re.M))
        self.proxy = Proxy(self.folder)
        self.command = [executable, data, "--voice-port", "0", "--public-url",
                        f"https://127.0.0.1:{self.proxy.port}", *flags]
        self.start()
        os.environ.update(NODE_EXTRA_CA_CERTS=self.proxy.cert, SSL_CERT_FILE=self.proxy.cert,
                          NODE_NO_WARNINGS="1")
        self.guild = self.call("GET", "/users/@me/guilds")[0]["id"]
        self.channels = {c["name"]: c["id"]
                         for c in self.call("GET", f"/guilds/{self.guild}/channels")}
        self.ids = {name: self.id_of(name) for name in names}
        self.bots = []

    def start(self):
        self.process = start_guildhall(*self.command)
        self.proxy.server_port = self.process.port
        self.ada = Client(self.process.port, self.tokens["ada"])

    def kill_and_start(self):
        """Kills and restarts the server; clients find it at the same address."""
        self.ada.close()
        self.process.kill()
        self.start()

    def stop_and_start(self):
        """Stops and restarts the server."""
        self.ada.close()
        self.process.stop()
        self.start()

    def id_of(self, name):
        bot = Client(self.process.port, self.tokens[name])
        account = bot.call("GET", "/users/@me")[1]
        bot.close()
        return account["id"]

    def call(self, method, path, body=None):
        status, answer = self.ada.call(method, path, body)
        expect(status in (200, 204), f"{method} {path} answered {status}: {answer}")
        return answer

    def change(self, name, **change):
        self.call("PATCH", f"/guilds/{self.guild}/members/{self.ids[name]}", change)

    def bot(self, name, make_command):
        command, folder = make_command()
        token = self.tokens[name].removeprefix("Bot ")
        api = f"https://127.0.0.1:{self.proxy.port}/api"
        bot = Library(command, SimpleNamespace(api=api, bot_token=token), 1, folder)
        bot.proxy = self.proxy
        self.bots.append(bot)
        return bot

    def close(self):
        for bot in self.bots:
            bot.close()
        self.ada.close()
        self.process.kill()
        self.proxy.close()
        shutil.rmtree(self.folder, ignore_errors=True)


def js_command():
    return node_command("voice_audio_js.js")


def eris_command():
    command, folder = node_command("voice_audio_js.js")
    put_file("voice_audio_eris.js", folder)
    return [command[0], "voice_audio_eris.js"], folder


def py_command():
    command, _ = python_command()
    has_nacl = subprocess.run([command[0], "-c", "import nacl"], capture_output=True, check=False)
    if has_nacl.returncode:
        raise Skip("PyNaCl is not installed (Debian: python3-nacl)")
    return [command[0], os.path.join(HERE, "voice_audio_py.py")], None


def await_line(bot, wanted):
    """Waits for a line; other lines are ignored except received frames and errors."""
    while (line := bot.next()) != wanted:
        expect(not line.startswith(("heard", "error")), f"the bot printed '{line}' before '{wanted}'")


def join(bot, channel):
    bot.send_command(f"join {channel}")
    await_line(bot, "connection ready")


def wait_for_ssrcs(helper, other):
    """Waits until both bots know the other's SSRC, because libraries drop unannounced audio."""
    for bot, name in ((helper, "other"), (other, "helper")):
        bot.send_command(f"hear {name}")
        await_line(bot, f"hears {name}")


def expect_frame(listener, name, frame):
    """Expects this frame as the next line, or a known misreading of a library."""
    line = listener.next()
    if line == f"heard {name} {frame}":
        return
    misread = line.startswith(f"heard {name}") and listener.proxy.misread
    expect(misread, f"the bot printed '{line}', not {frame}")
    misread.pop()


def expect_frames(speaker, name, listener, word, indexes=range(FRAMES)):
    """Expects exactly these frames in this order."""
    for i in indexes:
        expect_frame(listener, name, f"{word}-{i}")
    await_line(speaker, f"said {word}")


def talk(speaker, name, listener, word):
    speaker.send_command(f"say {word} {FRAMES}")
    expect_frames(speaker, name, listener, word)


def with_pair(executable, first, second, *scenarios):
    """Runs helper on the first library and other on the second, both in one room."""
    server = VoiceServer(executable)
    try:
        helper, other = server.bot("helper", first), server.bot("other", second)
        helper.expect("ready")
        other.expect("ready")
        join(helper, "red")
        join(other, "red")
        wait_for_ssrcs(helper, other)
        for scenario in scenarios:
            scenario(server, helper, other)
        helper.end()
        other.end()
    finally:
        server.close()


def talk_to_each_other(_, helper, other):
    talk(helper, "helper", other, "hello")
    talk(other, "other", helper, "yes")


def reconnect_after(restart, server, helper, other, most=BACK_S):
    """Expects that the libraries reconnect by themselves, and that their voice states stay
    visible."""
    talk(helper, "helper", other, "before")
    restart()
    began = time.monotonic()
    for name in ("helper", "other"):
        state = server.call("GET", f"/guilds/{server.guild}/voice-states/{server.ids[name]}")
        expect(state["channel_id"] == server.channels["red"], f"{name} is not in the channel: {state}")
    await_line(helper, "connection ready")
    await_line(other, "connection ready")
    took = time.monotonic() - began
    print(f"all bots were connected {took:.1f} s after the server", flush=True)
    expect(took < most, f"the reconnection took {took:.1f} s")
    wait_for_ssrcs(helper, other)
    talk_to_each_other(server, helper, other)


def reconnect_after_kill(server, helper, other):
    reconnect_after(server.kill_and_start, server, helper, other)


def reconnect_after_stop(server, helper, other):
    reconnect_after(server.stop_and_start, server, helper, other)


def reconnect_py_after_stop(server, helper, other):
    reconnect_after(server.stop_and_start, server, helper, other, BACK_PY_S)


def listed(server, helper, other):
    talk(helper, "helper", other, "listed")
    done = subprocess.run([server.command[0], "sessions", "voice", "--data", server.command[1], "--json"],
                          capture_output=True, text=True, timeout=60, check=False)
    states = {s["user_id"]: s for s in map(json.loads, done.stdout.splitlines())}
    expect(set(states) == set(server.ids.values()), done.stdout + done.stderr)
    state = states[server.ids["helper"]]
    expect(state["connected"] and state["channel_id"] == server.channels["red"] and
           state["mode"] == "aead_aes256_gcm_rtpsize" and state["address"] == "127.0.0.1" and
           state["version"] == 8 and state["dave"] == 1 and state["packets"] >= FRAMES, str(state))
    done = subprocess.run([server.command[0], "sessions", "voice", "--data", server.command[1]],
                          capture_output=True, text=True, timeout=60, check=False)
    expect(done.stdout.endswith("\n2 in voice\n"), done.stdout)
    expect(" udp " in done.stdout and " aead_aes256_gcm_rtpsize " in done.stdout, done.stdout)


def reconnect_after_cut(server, helper, other):
    talk(helper, "helper", other, "before")
    server.proxy.cut_voice()
    await_line(helper, "connection ready")
    await_line(other, "connection ready")
    expect(server.proxy.resumed == 2, f"{server.proxy.resumed} sessions were resumed, not two")
    talk_to_each_other(server, helper, other)


def moderated(server, helper, other):
    talk(helper, "helper", other, "free")
    server.change("helper", mute=True)
    helper.send_command(f"say muted {FRAMES}")
    await_line(helper, "said muted")
    server.change("helper", mute=False)
    talk(helper, "helper", other, "again")
    server.change("other", deaf=True)
    helper.send_command(f"say unheard {FRAMES}")
    await_line(helper, "said unheard")
    server.change("other", deaf=False)
    talk(helper, "helper", other, "heard")
    server.change("helper", channel_id=server.channels["blue"])
    await_line(helper, "connection ready")
    helper.send_command(f"say alone {FRAMES}")
    await_line(helper, "said alone")
    server.change("other", channel_id=server.channels["blue"])
    await_line(other, "connection ready")
    wait_for_ssrcs(helper, other)
    talk_to_each_other(server, helper, other)
    server.change("helper", channel_id=None)
    await_line(helper, "connection disconnected")


def lose_packets(server, helper, other):
    talk(helper, "helper", other, "good")
    faults = server.proxy.faults = Faults()
    helper.send_command(f"say garbled {FRAMES}")
    await_line(helper, "said garbled")
    until = time.monotonic() + 60
    while faults.count < FRAMES and time.monotonic() < until:
        time.sleep(0.01)  # the last packets may still be under way
    server.proxy.faults = None
    indexes = faults.received_indexes()
    expect(indexes != sorted(indexes) and len(indexes) < FRAMES == faults.count, f"{indexes}")
    for i in indexes:
        expect_frame(other, "helper", f"garbled-{i}")
    talk_to_each_other(server, helper, other)


def discord_js_bots_exchange_audio_despite_faults_and_reconnects(executable):
    with_pair(executable, js_command, js_command, talk_to_each_other, listed, lose_packets,
              reconnect_after_cut, reconnect_after_stop, reconnect_after_kill, moderated)


def eris_exchanges_audio_with_discord_js(executable):
    with_pair(executable, eris_command, js_command, talk_to_each_other, lose_packets)


def discord_py_exchanges_audio_with_discord_js(executable):
    with_pair(executable, py_command, js_command, talk_to_each_other, lose_packets,
              reconnect_py_after_stop)


if __name__ == "__main__":
    run_cases("clients/voice_audio", [
        discord_js_bots_exchange_audio_despite_faults_and_reconnects,
        eris_exchanges_audio_with_discord_js,
        discord_py_exchanges_audio_with_discord_js,
    ])

#!/usr/bin/env python3
"""voice_dave - tests end-to-end encrypted calls (DAVE) of unchanged @discordjs/voice bots."""

import json
import re
import subprocess
import time
import urllib.request

from clients import expect, run_cases
from voice_audio import FRAMES, VoiceServer, await_line, expect_frame, join, js_command

NAMES = ("first", "second", "third", "fourth")
AGREE_S = 20  # seconds until all members have the same code
LONG = 250  # frames, five seconds
# A sender uses the keys of a new epoch as soon as it has processed the commit. A listener that is
# slower, on a busy machine, cannot decrypt the frames until then.
UNDECRYPTED = 5  # frames per change of members, 100 ms
METRICS_TOKEN = "metrics-of-this-test"


def code_of(bot):
    bot.send_command("code")
    while not (line := bot.next()).startswith("code"):
        expect(line.startswith("connection"), f"the bot printed '{line}', not its code")
    return line.removeprefix("code ")


def await_codes(bots, good):
    until = time.monotonic() + AGREE_S
    while not good(codes := [code_of(b) for b in bots]):
        expect(time.monotonic() < until, f"the codes are {codes}")
        time.sleep(0.1)
    return codes[0]


def agree(bots, before=None):
    """Waits until all have the same new code."""
    code = await_codes(bots, lambda codes: len(set(codes)) == 1 and codes[0] not in ("null", before))
    expect(re.fullmatch("[0-9]+", code), f"the code is {code}")
    return code


class Call:
    """Bots by name; those in `members` are in the channel."""

    def __init__(self, server):
        self.server, self.bots, self.members = server, {}, []

    def start(self, name):
        self.bots[name] = self.server.bot(name, js_command)
        self.bots[name].expect("ready")

    def listeners(self, name):
        return [self.bots[m] for m in self.members if m != name]

    def all(self):
        return [self.bots[m] for m in self.members]

    def join(self, name, how=""):
        join(self.bots[name], f"red {how}".strip())
        self.members.append(name)

    def wait_for_ssrcs(self):
        """Waits until each member knows the SSRCs of the others."""
        for listener in self.members:
            for name in self.members:
                if name != listener:
                    self.bots[listener].send_command(f"hear {name}")
                    await_line(self.bots[listener], f"hears {name}")

    def leave(self, name):
        self.bots[name].send_command("leave")
        await_line(self.bots[name], "connection destroyed")
        self.members.remove(name)

    def begin(self, name, word, count):
        self.bots[name].send_command(f"say {word} {count}")

    def expect_received(self, name, word, count, listeners):
        for listener in listeners:
            for i in range(count):
                expect_frame(listener, name, f"{word}-{i}")
        await_line(self.bots[name], f"said {word}")

    def expect_received_during_change(self, name, word, listeners):
        """Expects LONG frames in their order, of which at most UNDECRYPTED are missing."""
        for listener in listeners:
            wanted = [f"heard {name} {word}-{i}" for i in range(LONG)]
            missing = 0
            while wanted:
                line = listener.next()
                if line not in wanted and line.startswith(f"heard {name}") and listener.proxy.misread:
                    listener.proxy.misread.pop()
                    line = wanted[0]
                expect(line in wanted, f"the bot printed '{line}', not '{wanted[0]}'")
                missing += wanted.index(line)
                expect(missing <= UNDECRYPTED, f"{missing} frames are missing before '{line}'")
                del wanted[:wanted.index(line) + 1]
        await_line(self.bots[name], f"said {word}")

    def talk_in_turn(self, word):
        self.wait_for_ssrcs()
        for name in self.members:
            self.begin(name, f"{word}-{name}", FRAMES)
            self.expect_received(name, f"{word}-{name}", FRAMES, self.listeners(name))


def metric(server, name):
    request = urllib.request.Request(f"http://127.0.0.1:{server.process.port}/metrics",
                                     headers={"Authorization": f"Bearer {METRICS_TOKEN}"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return int(re.search(rf"^guildhall_voice_{name} (\d+)$", answer.read().decode(), re.M)[1])


def versions(server):
    done = subprocess.run([server.command[0], "sessions", "voice", "--data", server.command[1], "--json"],
                          capture_output=True, text=True, timeout=60, check=False)
    return [json.loads(line)["dave"] for line in done.stdout.splitlines()]


def members_join_leave_and_return(call):
    """Members receive the audio of each other while others join and leave."""
    for name in ("first", "second"):
        call.join(name)
    code = agree(call.all())
    call.talk_in_turn("two")
    second = call.listeners("first")
    call.begin("first", "joins", LONG)
    call.join("third")
    call.expect_received_during_change("first", "joins", second)
    code = agree(call.all(), code)
    call.join("fourth")
    code = agree(call.all(), code)
    call.talk_in_turn("four")
    expect(versions(call.server) == [1] * 4, "all four are encrypted")
    stay = [call.bots["second"], call.bots["fourth"]]
    call.begin("first", "leaves", LONG)
    call.leave("third")
    call.expect_received_during_change("first", "leaves", stay)
    code = agree(call.all(), code)
    call.join("third")
    agree(call.all(), code)
    call.talk_in_turn("returned")


def a_plain_client_joins_and_leaves(call):
    """The fourth bot returns without DAVE: the call is downgraded, and upgraded when it leaves."""
    before = agree(call.all())
    call.leave("fourth")
    call.join("fourth", "plain")
    await_codes(call.all(), lambda codes: set(codes) == {"null"})
    expect(metric(call.server, "dave_downgrades_total") == 1, "the call was downgraded once")
    expect(versions(call.server) == [0] * 4, "nobody is encrypted")
    call.talk_in_turn("plain")
    call.leave("fourth")
    code = agree(call.all(), before)
    call.talk_in_turn("upgraded")
    call.join("fourth")
    agree(call.all(), code)
    call.talk_in_turn("encrypted")


def four_discord_js_bots_share_an_encrypted_call(executable):
    server = VoiceServer(executable, NAMES, ("--metrics-token", METRICS_TOKEN))
    try:
        call = Call(server)
        for name in NAMES:
            call.start(name)
        members_join_leave_and_return(call)
        a_plain_client_joins_and_leaves(call)
        expect(metric(server, "dave_refused_commits_total") == 0, "no commit was refused")
        expect(metric(server, "dave_refused_key_packages_total") == 0, "no key package was refused")
        expect(metric(server, "dave_resets_total") == 0, "no group was reset")
        for bot in call.bots.values():
            bot.end()
    finally:
        server.close()


if __name__ == "__main__":
    run_cases("clients/voice_dave", [four_discord_js_bots_share_an_encrypted_call])

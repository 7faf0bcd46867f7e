#!/usr/bin/env python3
"""carried - voice that several servers carry: a room is one's, and everybody finds it there."""

import signal
import subprocess
import threading
import time

from phones import Phone, talk
from ring import PATIENCE, Ring, expect
from round import LONG
from voice import place_of
from cases import run_cases

FLAGS = ("--voice-port", "0", "--shutdown-seconds", "2")


class Room:
    """Ada at the first server and Bob at the second, in one voice channel of the first."""

    def __init__(self, executable):
        self.ring = Ring(executable, flags=FLAGS)
        self.ring.wait_ready()
        self.guild, self.channel = place_of(self.ring.servers[1].port, self.ring.tokens[0])
        self.ada, self.bob = (Phone(self.ring, 1 + i, t) for i, t in enumerate(self.ring.tokens))
        self.servers = [p.join(self.guild, self.channel) for p in (self.ada, self.bob)]

    def port(self, node):
        return self.ring.servers[node].port

    def connect(self):
        for phone, server in zip((self.ada, self.bob), self.servers):
            phone.connect(server, self.guild)


def endpoint_of(port):
    return f"127.0.0.1:{port}/voice"


def rooms_shown(ring):
    """How many rooms each server has, as the operator sees it."""
    done = subprocess.run([ring.executable, "nodes", "--store", ring.store], capture_output=True,
                          text=True, check=True, timeout=PATIENCE)
    return {line.split()[0]: line.split()[-2] for line in done.stdout.splitlines()[1:]}


def a_server_behind_a_balancer_needs_a_name_of_its_own(executable):
    done = subprocess.run([executable, "serve", "--bus", "poll", "--store", "host=nowhere",
                           "--voice-port", "0", "--public-url", "https://chat.example"],
                          capture_output=True, text=True, check=False, timeout=PATIENCE)
    expect(done.returncode and "voice-endpoint" in done.stderr, f"it said {done.stderr}")


def people_of_two_servers_hear_each_other_and_go_on_at_one_that_stays(executable):
    room = Room(executable)
    with room.ring:
        for server in room.servers:
            expect(server["endpoint"] == endpoint_of(room.port(1)), f"told {server['endpoint']}")
        # Who comes to a server that does not have the room is sent away, whatever it knows.
        room.bob.dial({**room.servers[1], "endpoint": endpoint_of(room.port(2))}, room.guild)
        expect(room.bob.gate.wait_closed() == 4011, "the wrong server took it")
        expect(rooms_shown(room.ring) == {"1": "1", "2": "0"}, "guildhall nodes counts otherwise")
        room.connect()
        talk(room.ada, room.bob, "hello")
        silence_is_told_from_server_to_server(room)
        streams_have_a_home(room)
        a_server_that_stops_gives_its_rooms_away(room)


def silence_is_told_from_server_to_server(room):
    owner = room.ring.client(2, room.ring.tokens[0])
    for mute, words in ((True, "unheard"), (False, "heard")):
        status, _ = owner.call("PATCH", f"/guilds/{room.guild}/members/{room.bob.user}",
                               {"mute": mute})
        expect(status == 200, f"mute: {status}")
        # What carries voice knows before the sessions of its server do.
        room.ada.next("VOICE_STATE_UPDATE", lambda d: d["mute"] == mute)
        room.bob.say(words)
    expect(room.ada.hear() == "heard", "who is muted was heard")


def streams_have_a_home(room):
    key = f"guild:{room.guild}:{room.channel}:{room.bob.user}"
    room.bob.ask(18, {"type": "guild", "guild_id": room.guild, "channel_id": room.channel})
    created, server = room.bob.next("STREAM_CREATE"), room.bob.next("STREAM_SERVER_UPDATE")
    expect(server["endpoint"] == endpoint_of(room.port(2)), "where the stream began")
    room.ada.ask(20, {"stream_key": key})
    server = room.ada.next("STREAM_SERVER_UPDATE")
    expect(server["endpoint"] == endpoint_of(room.port(2)), "the viewer is sent elsewhere")
    gate = room.ada.gate
    room.ada.dial(server, created["rtc_server_id"])
    room.ada.gate.wait(2)
    room.ada.gate.close()
    room.ada.gate = gate
    room.bob.ask(19, {"stream_key": key})
    room.ada.next("STREAM_DELETE")
    expect(room.ring.sql("select count(*) from voice_homes") == "1", "the stream's home is left")


def who_comes_to_a_lost_room_does_not_hide_that_from_the_others(executable):
    """Ada joins before anybody has seen that the room's server is gone; Bob is told all the same."""
    room = Room(executable)
    with room.ring:
        for _ in range(3):
            room.ada.ask(4, {"guild_id": room.guild, "channel_id": None})
            room.bob.next("VOICE_STATE_UPDATE",
                          lambda d: d["user_id"] == room.ada.user and d["channel_id"] is None)
            room.ring.sql("update voice_homes set identity = 77")
            room.ada.ask(4, {"guild_id": room.guild, "channel_id": room.channel})
            lost, found = (room.bob.next("VOICE_SERVER_UPDATE")["endpoint"] for _ in range(2))
            expect(lost is None and found, f"told {lost}, then {found}")
            room.ada.next("VOICE_SERVER_UPDATE", lambda d, e=found: d["endpoint"] == e)


def a_server_that_stood_still_has_no_rooms_when_it_goes_on(executable):
    room = Room(executable)
    with room.ring:
        room.connect()
        talk(room.ada, room.bob, "before")
        room.ring.servers[1].freeze()
        found = room.bob.next("VOICE_SERVER_UPDATE", lambda d: d["endpoint"])
        expect(found["endpoint"] == endpoint_of(room.port(2)), f"told {found['endpoint']}")
        room.bob.connect(found, room.guild)
        room.ring.servers[1].child.send_signal(signal.SIGCONT)
        expect(room.ada.gate.wait_closed() == 4014, "the old connection")
        expect(room.ring.sql("select count(*) from voice_homes") == "1", "one room, one home")


def a_server_that_stops_gives_its_rooms_away(room):
    stopper = threading.Thread(target=room.ring.servers[1].stop)
    stopper.start()
    found = room.bob.next("VOICE_SERVER_UPDATE")
    expect(found["endpoint"] == endpoint_of(room.port(2)), f"told {found['endpoint']}")
    expect(room.bob.gate.wait_closed() == 4014, "the old connection")
    room.bob.connect(found, room.guild)
    stopper.join(PATIENCE)
    # The last one who leaves takes the room's home along.
    room.bob.ask(4, {"guild_id": room.guild, "channel_id": None})
    room.bob.next("VOICE_STATE_UPDATE",
                  lambda d: d["user_id"] == room.bob.user and d["channel_id"] is None)
    deadline = time.monotonic() + PATIENCE
    while room.ring.sql("select count(*) from voice_homes") != "0":
        expect(time.monotonic() < deadline, "the room's home is left")
        time.sleep(0.1)


def a_room_waits_for_a_server_that_carries_voice(executable):
    with Ring(executable, nodes=1, flags=FLAGS) as ring:
        ring.flags.clear()
        ring.start(2)
        ring.wait_ready()
        guild, channel = place_of(ring.servers[2].port, ring.tokens[1])
        bob = Phone(ring, 2, ring.tokens[1])
        expect(bob.join(guild, channel)["endpoint"] == endpoint_of(ring.servers[1].port),
               "the only one that carries voice was not found")
        ring.servers[1].kill()
        ring.flags[:] = FLAGS
        ring.start(1)  # at once: its rooms are lost all the same
        found = bob.next("VOICE_SERVER_UPDATE", lambda d: d["endpoint"])
        expect(found["endpoint"] == endpoint_of(ring.servers[1].port), f"told {found['endpoint']}")
        bob.connect(found, guild)


if __name__ == "__main__":
    run_cases("cluster/carried", [
        a_server_behind_a_balancer_needs_a_name_of_its_own,
        people_of_two_servers_hear_each_other_and_go_on_at_one_that_stays,
        who_comes_to_a_lost_room_does_not_hide_that_from_the_others,
        a_room_waits_for_a_server_that_carries_voice,
    ] + ([a_server_that_stood_still_has_no_rooms_when_it_goes_on] if LONG else []))

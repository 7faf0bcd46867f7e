#!/usr/bin/env python3
"""rooms_of_killed_node - tests that the rooms of a killed node move to another, where their users reconnect.

    rooms_of_killed_node.py [--long] GUILDHALL

Each room has one user on the killed node and one on another. All of them learn the new voice
server and connect there.
"""

from concurrent.futures import ThreadPoolExecutor
import contextlib
import threading
import time

from voice_phone import Phone, talk
from cluster_nodes import PATIENCE, Ring, expect
from guarantees import LONG
from voice import guild_and_voice_channel_of
from cases import run_cases

ROOMS = 500 if LONG else 40
OF_A_GUILD = 10
PEOPLE = 400 if LONG else 100  # users who do not reconnect
FLAGS = ("--voice-port", "0")
AT_ONCE = 8  # number of threads that connect


def world():
    """Creates rooms in guilds of ten, so that few receive each other's events; two users per
    room."""
    names = [f"p{i}" for i in range(2 * ROOMS)]
    guilds = []
    for first in range(0, ROOMS, OF_A_GUILD):
        here = names[2 * first:2 * (first + OF_A_GUILD)]
        guilds.append({"name": f"Hall {first}", "owner": here[0],
                       "members": [{"user": name} for name in here[1:]],
                       "channels": [{"name": f"voice {i}", "type": "voice"}
                                    for i in range(len(here) // 2)]})
    return {"users": [{"username": name} for name in names], "guilds": guilds}


class Pulse(threading.Thread):
    """Sends the heartbeats of waiting sessions."""

    def __init__(self):
        super().__init__(daemon=True)
        self.sessions, self.over = [], threading.Event()
        self.start()

    def run(self):
        while not self.over.wait(15):
            for session in list(self.sessions):
                with contextlib.suppress(OSError):
                    session.wire.send('{"op": 1, "d": null}')


PULSE = Pulse()


class Caller(Phone):
    def __init__(self, ring, node, token):
        super().__init__(ring, node, token)
        self.told_at, note = 0, self.session.note

        def stamp(name, data):
            if name == "VOICE_SERVER_UPDATE":
                self.told_at = time.monotonic()
            note(name, data)
        self.session.note = stamp
        PULSE.sessions.append(self.session)

    def close(self):
        PULSE.sessions.remove(self.session)
        self.session.close()
        for socket in (self.gate, self.udp):
            if socket:
                socket.close()


class Room:
    """A room with one user on the killed node and one on another."""

    def __init__(self, ring, number):
        self.ring, self.tokens = ring, ring.tokens[2 * number:2 * number + 2]
        self.phones = [Caller(ring, 1 + i, token) for i, token in enumerate(self.tokens)]
        self.guild, self.channel = self._place(number)
        for phone in self.phones:
            phone.join(self.guild, self.channel)

    def _place(self, number):
        guild = self.phones[0].session.ready["guilds"][0]
        voices = sorted((c for c in guild["channels"] if c["type"] == 2),
                        key=lambda c: int(c["id"]))
        return guild["id"], voices[number % OF_A_GUILD]["id"]

    def join_anew(self):
        """A user who lost the session identifies again and learns that the voice server is gone."""
        self.phones[0].close()
        self.phones[0] = Caller(self.ring, 2, self.tokens[0])
        self.phones[0].ask(4, {"guild_id": self.guild, "channel_id": self.channel})

    def await_told(self, endpoint):
        """A user with an intact session first learns that the voice server is gone."""
        lost = self.phones[1].next("VOICE_SERVER_UPDATE")
        expect(lost["endpoint"] is None, f"told {lost['endpoint']}")
        self.servers = [phone.next("VOICE_SERVER_UPDATE", lambda d: d["endpoint"] == endpoint)
                        for phone in self.phones]

    def connect(self):
        for phone, server in zip(self.phones, self.servers):
            phone.connect(server, self.guild)


def rooms_of_a_killed_node_move_to_another(executable):
    with Ring(executable, flags=FLAGS, world=world()) as ring, ThreadPoolExecutor(AT_ONCE) as pool:
        ring.wait_ready()
        rooms = list(pool.map(lambda i: Room(ring, i), range(ROOMS)))
        expect(ring.sql("select count(*), count(distinct identity) from voice_homes") ==
               f"{ROOMS}|1", "not every room is on the first node")
        killed = time.monotonic()
        ring.servers[1].kill()
        list(pool.map(Room.join_anew, rooms))
        joined = time.monotonic() - killed
        for room in rooms:
            room.await_told(f"127.0.0.1:{ring.servers[2].port}/voice")
        told = max(room.phones[1].told_at for room in rooms) - killed
        list(pool.map(Room.connect, rooms))
        back = time.monotonic() - killed
        print(f"{ROOMS} rooms: intact sessions were notified after {told:.1f} s, lost sessions joined again "
              f"after {joined:.1f} s, all were connected after {back:.1f} s")
        for room in (rooms[0], rooms[-1]):
            talk(*room.phones, "again")
        for room in rooms:
            for phone in room.phones:
                phone.close()
        expect(not LONG or back < 10, "that took too long")


def users_who_do_not_reconnect_are_removed_from_voice(executable):
    """The users are removed in batches; every observer receives each removal."""
    names = [f"p{i}" for i in range(PEOPLE + 1)]
    people = {"users": [{"username": name} for name in names],
              "guilds": [{"name": "Hall", "owner": names[0],
                          "members": [{"user": name} for name in names[1:]],
                          "channels": [{"name": "voice", "type": "voice"}]}]}
    with Ring(executable, flags=FLAGS, world=people) as ring:
        ring.wait_ready()
        watcher = Caller(ring, 2, ring.tokens[0])
        guild, channel = guild_and_voice_channel_of(ring.servers[2].port, ring.tokens[0])
        phones = [Caller(ring, 1, token) for token in ring.tokens[1:]]
        for phone in phones:
            phone.join(guild, channel)
        gone = {phone.user for phone in phones}
        killed = time.monotonic()
        ring.servers[1].kill()
        ring.start(1)  # immediately, with the same node number: the users' sessions may still resume
        ring.wait_ready()
        expect(ring.sql("select count(*) from voice_states where node = -1") == str(PEOPLE),
               "a user was removed whose session may still resume")
        ring.sql("update voice_states set held_until = 1")  # the time to resume is over
        while gone:
            left = watcher.next("VOICE_STATE_UPDATE", lambda d: d["channel_id"] is None)
            gone.discard(left["user_id"])
        print(f"{PEOPLE} users were removed {time.monotonic() - killed:.1f} s after the kill")
        expect(ring.sql("select count(*) from voice_states") == "0", "a user is still in voice")
        deadline = time.monotonic() + PATIENCE
        while ring.sql("select count(*) from voice_homes") != "0":
            expect(time.monotonic() < deadline, "the owner row of the room was not deleted")
            time.sleep(0.1)


if __name__ == "__main__":
    run_cases("cluster/rooms_of_killed_node", [rooms_of_a_killed_node_move_to_another,
                                     users_who_do_not_reconnect_are_removed_from_voice])

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

from voice_phone import VoiceClient, talk
from cluster_nodes import PATIENCE, Cluster, expect
from guarantees import LONG
from voice import guild_and_voice_channel_of
from cases import run_cases

ROOMS = 500 if LONG else 40
ROOMS_PER_GUILD = 10
PEOPLE = 400 if LONG else 100  # users who do not reconnect
FLAGS = ("--voice-port", "0")
THREADS = 8  # number of threads that connect


def world():
    """Creates rooms in guilds of ten, so that few receive each other's events; two users per
    room."""
    names = [f"p{i}" for i in range(2 * ROOMS)]
    guilds = []
    for first in range(0, ROOMS, ROOMS_PER_GUILD):
        members = names[2 * first:2 * (first + ROOMS_PER_GUILD)]
        guilds.append({"name": f"Hall {first}", "owner": members[0],
                       "members": [{"user": name} for name in members[1:]],
                       "channels": [{"name": f"voice {i}", "type": "voice"}
                                    for i in range(len(members) // 2)]})
    return {"users": [{"username": name} for name in names], "guilds": guilds}


class HeartbeatSender(threading.Thread):
    """Sends the heartbeats of waiting sessions."""

    def __init__(self):
        super().__init__(daemon=True)
        self.sessions, self.stopped = [], threading.Event()
        self.start()

    def run(self):
        while not self.stopped.wait(15):
            for session in list(self.sessions):
                with contextlib.suppress(OSError):
                    session.wire.send('{"op": 1, "d": null}')


HEARTBEATS = HeartbeatSender()


class TimedVoiceClient(VoiceClient):
    def __init__(self, cluster, node, token):
        super().__init__(cluster, node, token)
        self.notified_at, record = 0, self.session.record

        def record_time(name, data):
            if name == "VOICE_SERVER_UPDATE":
                self.notified_at = time.monotonic()
            record(name, data)
        self.session.record = record_time
        HEARTBEATS.sessions.append(self.session)

    def close(self):
        HEARTBEATS.sessions.remove(self.session)
        self.session.close()
        for socket in (self.voice_socket, self.udp):
            if socket:
                socket.close()


class Room:
    """A room with one user on the killed node and one on another."""

    def __init__(self, cluster, number):
        self.cluster, self.tokens = cluster, cluster.tokens[2 * number:2 * number + 2]
        self.clients = [TimedVoiceClient(cluster, 1 + i, token) for i, token in enumerate(self.tokens)]
        self.guild, self.channel = self._find_voice_channel(number)
        for client in self.clients:
            client.join(self.guild, self.channel)

    def _find_voice_channel(self, number):
        guild = self.clients[0].session.ready["guilds"][0]
        voices = sorted((c for c in guild["channels"] if c["type"] == 2),
                        key=lambda c: int(c["id"]))
        return guild["id"], voices[number % ROOMS_PER_GUILD]["id"]

    def join_with_new_session(self):
        """A user who lost the session identifies again and learns that the voice server is gone."""
        self.clients[0].close()
        self.clients[0] = TimedVoiceClient(self.cluster, 2, self.tokens[0])
        self.clients[0].send_opcode(4, {"guild_id": self.guild, "channel_id": self.channel})

    def wait_for_new_server(self, endpoint):
        """A user with an intact session first learns that the voice server is gone."""
        lost = self.clients[1].next("VOICE_SERVER_UPDATE")
        expect(lost["endpoint"] is None, f"the event has {lost['endpoint']}")
        self.servers = [client.next("VOICE_SERVER_UPDATE", lambda d: d["endpoint"] == endpoint)
                        for client in self.clients]

    def connect(self):
        for client, server in zip(self.clients, self.servers):
            client.connect(server, self.guild)


def rooms_of_a_killed_node_move_to_another(executable):
    with Cluster(executable, flags=FLAGS, world=world()) as cluster, ThreadPoolExecutor(THREADS) as pool:
        cluster.wait_ready()
        rooms = list(pool.map(lambda i: Room(cluster, i), range(ROOMS)))
        expect(cluster.sql("select count(*), count(distinct identity) from voice_homes") ==
               f"{ROOMS}|1", "not every room is on the first node")
        killed = time.monotonic()
        cluster.servers[1].kill()
        list(pool.map(Room.join_with_new_session, rooms))
        joined = time.monotonic() - killed
        for room in rooms:
            room.wait_for_new_server(f"127.0.0.1:{cluster.servers[2].port}/voice")
        notified = max(room.clients[1].notified_at for room in rooms) - killed
        list(pool.map(Room.connect, rooms))
        back = time.monotonic() - killed
        print(f"{ROOMS} rooms: intact sessions were notified after {notified:.1f} s, lost sessions joined again "
              f"after {joined:.1f} s, all were connected after {back:.1f} s")
        for room in (rooms[0], rooms[-1]):
            talk(*room.clients, "again")
        for room in rooms:
            for client in room.clients:
                client.close()
        expect(not LONG or back < 10, "that took too long")


def users_who_do_not_reconnect_are_removed_from_voice(executable):
    """The users are removed in batches; every observer receives each removal."""
    names = [f"p{i}" for i in range(PEOPLE + 1)]
    people = {"users": [{"username": name} for name in names],
              "guilds": [{"name": "Hall", "owner": names[0],
                          "members": [{"user": name} for name in names[1:]],
                          "channels": [{"name": "voice", "type": "voice"}]}]}
    with Cluster(executable, flags=FLAGS, world=people) as cluster:
        cluster.wait_ready()
        watcher = TimedVoiceClient(cluster, 2, cluster.tokens[0])
        guild, channel = guild_and_voice_channel_of(cluster.servers[2].port, cluster.tokens[0])
        clients = [TimedVoiceClient(cluster, 1, token) for token in cluster.tokens[1:]]
        for client in clients:
            client.join(guild, channel)
        gone = {client.user for client in clients}
        killed = time.monotonic()
        cluster.servers[1].kill()
        cluster.start(1)  # immediately, with the same node number: the users' sessions may still resume
        cluster.wait_ready()
        expect(cluster.sql("select count(*) from voice_states where node = -1") == str(PEOPLE),
               "a user was removed whose session may still resume")
        cluster.sql("update voice_states set held_until = 1")  # the time to resume is over
        while gone:
            left = watcher.next("VOICE_STATE_UPDATE", lambda d: d["channel_id"] is None)
            gone.discard(left["user_id"])
        print(f"{PEOPLE} users were removed {time.monotonic() - killed:.1f} s after the kill")
        expect(cluster.sql("select count(*) from voice_states") == "0", "a user is still in voice")
        deadline = time.monotonic() + PATIENCE
        while cluster.sql("select count(*) from voice_homes") != "0":
            expect(time.monotonic() < deadline, "the owner row of the room was not deleted")
            time.sleep(0.1)


if __name__ == "__main__":
    run_cases("cluster/rooms_of_killed_node", [rooms_of_a_killed_node_move_to_another,
                                     users_who_do_not_reconnect_are_removed_from_voice])

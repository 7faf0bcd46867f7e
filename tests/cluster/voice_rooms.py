#!/usr/bin/env python3
"""voice_rooms - tests voice rooms in a cluster: each room is owned by one node, and all clients connect
there."""

import signal
import subprocess
import threading
import time

from voice_phone import VoiceClient, talk
from cluster_nodes import PATIENCE, Cluster, expect
from guarantees import LONG
from voice import guild_and_voice_channel_of
from cases import run_cases

FLAGS = ("--voice-port", "0", "--shutdown-seconds", "2")


class Room:
    """Ada on the first node and Bob on the second, in one voice channel of the first."""

    def __init__(self, executable):
        self.cluster = Cluster(executable, flags=FLAGS)
        self.cluster.wait_ready()
        self.guild, self.channel = guild_and_voice_channel_of(self.cluster.servers[1].port, self.cluster.tokens[0])
        self.ada, self.bob = (VoiceClient(self.cluster, 1 + i, t) for i, t in enumerate(self.cluster.tokens))
        self.servers = [p.join(self.guild, self.channel) for p in (self.ada, self.bob)]

    def port(self, node):
        return self.cluster.servers[node].port

    def connect(self):
        for client, server in zip((self.ada, self.bob), self.servers):
            client.connect(server, self.guild)


def endpoint_of(port):
    return f"127.0.0.1:{port}/voice"


def rooms_shown(cluster):
    """Returns the number of rooms per node, as the operator sees it."""
    done = subprocess.run([cluster.executable, "nodes", "--store", cluster.store], capture_output=True,
                          text=True, check=True, timeout=PATIENCE)
    return {line.split()[0]: line.split()[-2] for line in done.stdout.splitlines()[1:]}


def node_behind_a_balancer_needs_its_own_voice_address(executable):
    done = subprocess.run([executable, "serve", "--bus", "poll", "--store", "host=nowhere",
                           "--voice-port", "0", "--public-url", "https://chat.example"],
                          capture_output=True, text=True, check=False, timeout=PATIENCE)
    expect(done.returncode and "voice-endpoint" in done.stderr, f"it said {done.stderr}")


def users_of_two_nodes_talk_and_continue_on_a_remaining_node(executable):
    room = Room(executable)
    with room.cluster:
        for server in room.servers:
            expect(server["endpoint"] == endpoint_of(room.port(1)), f"the event has {server['endpoint']}")
        # A client that connects to a node without the room is refused.
        room.bob.identify({**room.servers[1], "endpoint": endpoint_of(room.port(2))}, room.guild)
        expect(room.bob.voice_socket.wait_closed() == 4011, "the wrong node accepted the client")
        expect(rooms_shown(room.cluster) == {"1": "1", "2": "0"}, "guildhall nodes shows other numbers")
        room.connect()
        talk(room.ada, room.bob, "hello")
        server_mute_reaches_the_node_that_owns_the_room(room)
        stream_is_owned_by_one_node(room)
        stopping_node_hands_its_rooms_over(room)


def server_mute_reaches_the_node_that_owns_the_room(room):
    owner = room.cluster.client(2, room.cluster.tokens[0])
    for mute, words in ((True, "unheard"), (False, "heard")):
        status, _ = owner.call("PATCH", f"/guilds/{room.guild}/members/{room.bob.user}",
                               {"mute": mute})
        expect(status == 200, f"mute: {status}")
        # The relay knows the mute before the sessions of its node do.
        room.ada.next("VOICE_STATE_UPDATE", lambda d: d["mute"] == mute)
        room.bob.send_text(words)
    expect(room.ada.receive_text() == "heard", "a muted user was heard")


def stream_is_owned_by_one_node(room):
    key = f"guild:{room.guild}:{room.channel}:{room.bob.user}"
    room.bob.send_opcode(18, {"type": "guild", "guild_id": room.guild, "channel_id": room.channel})
    created, server = room.bob.next("STREAM_CREATE"), room.bob.next("STREAM_SERVER_UPDATE")
    expect(server["endpoint"] == endpoint_of(room.port(2)), "the stream is not on the expected node")
    room.ada.send_opcode(20, {"stream_key": key})
    server = room.ada.next("STREAM_SERVER_UPDATE")
    expect(server["endpoint"] == endpoint_of(room.port(2)), "the viewer got another node")
    gate = room.ada.voice_socket
    room.ada.identify(server, created["rtc_server_id"])
    room.ada.voice_socket.wait(2)
    room.ada.voice_socket.close()
    room.ada.voice_socket = gate
    room.bob.send_opcode(19, {"stream_key": key})
    room.ada.next("STREAM_DELETE")
    expect(room.cluster.sql("select count(*) from voice_homes") == "1",
           "the owner row of the stream was not deleted")


def joining_a_lost_room_still_notifies_the_other_participants(executable):
    """Ada joins before the loss of the room's node is detected; Bob still gets the events."""
    room = Room(executable)
    with room.cluster:
        for _ in range(3):
            room.ada.send_opcode(4, {"guild_id": room.guild, "channel_id": None})
            room.bob.next("VOICE_STATE_UPDATE",
                          lambda d: d["user_id"] == room.ada.user and d["channel_id"] is None)
            room.cluster.sql("update voice_homes set identity = 77")
            room.ada.send_opcode(4, {"guild_id": room.guild, "channel_id": room.channel})
            lost, found = (room.bob.next("VOICE_SERVER_UPDATE")["endpoint"] for _ in range(2))
            expect(lost is None and found, f"the events were {lost}, then {found}")
            room.ada.next("VOICE_SERVER_UPDATE", lambda d, e=found: d["endpoint"] == e)


def paused_node_has_no_rooms_after_it_resumes(executable):
    room = Room(executable)
    with room.cluster:
        room.connect()
        talk(room.ada, room.bob, "before")
        room.cluster.servers[1].freeze()
        found = room.bob.next("VOICE_SERVER_UPDATE", lambda d: d["endpoint"])
        expect(found["endpoint"] == endpoint_of(room.port(2)), f"the event has {found['endpoint']}")
        room.bob.connect(found, room.guild)
        room.cluster.servers[1].child.send_signal(signal.SIGCONT)
        expect(room.ada.voice_socket.wait_closed() == 4014, "the old connection")
        expect(room.cluster.sql("select count(*) from voice_homes") == "1",
               "the room does not have exactly one owner")


def stopping_node_hands_its_rooms_over(room):
    stopper = threading.Thread(target=room.cluster.servers[1].stop)
    stopper.start()
    found = room.bob.next("VOICE_SERVER_UPDATE")
    expect(found["endpoint"] == endpoint_of(room.port(2)), f"the event has {found['endpoint']}")
    expect(room.bob.voice_socket.wait_closed() == 4014, "the old connection")
    room.bob.connect(found, room.guild)
    stopper.join(PATIENCE)
    # The room's owner row is deleted with the last participant.
    room.bob.send_opcode(4, {"guild_id": room.guild, "channel_id": None})
    room.bob.next("VOICE_STATE_UPDATE",
                  lambda d: d["user_id"] == room.bob.user and d["channel_id"] is None)
    deadline = time.monotonic() + PATIENCE
    while room.cluster.sql("select count(*) from voice_homes") != "0":
        expect(time.monotonic() < deadline, "the owner row of the room was not deleted")
        time.sleep(0.1)


def room_waits_for_a_node_with_a_voice_relay(executable):
    with Cluster(executable, nodes=1, flags=FLAGS) as cluster:
        cluster.flags.clear()
        cluster.start(2)
        cluster.wait_ready()
        guild, channel = guild_and_voice_channel_of(cluster.servers[2].port, cluster.tokens[1])
        bob = VoiceClient(cluster, 2, cluster.tokens[1])
        expect(bob.join(guild, channel)["endpoint"] == endpoint_of(cluster.servers[1].port),
               "the only node with a voice relay was not found")
        cluster.servers[1].kill()
        cluster.flags[:] = FLAGS
        cluster.start(1)  # immediately: its rooms are lost anyway
        found = bob.next("VOICE_SERVER_UPDATE", lambda d: d["endpoint"])
        expect(found["endpoint"] == endpoint_of(cluster.servers[1].port), f"the event has {found['endpoint']}")
        bob.connect(found, guild)


if __name__ == "__main__":
    run_cases("cluster/voice_rooms", [
        node_behind_a_balancer_needs_its_own_voice_address,
        users_of_two_nodes_talk_and_continue_on_a_remaining_node,
        joining_a_lost_room_still_notifies_the_other_participants,
        room_waits_for_a_node_with_a_voice_relay,
    ] + ([paused_node_has_no_rooms_after_it_resumes] if LONG else []))

#!/usr/bin/env python3
"""voice_after_kill - tests the voice states after a server was killed."""

import json
import os
import shutil
import subprocess
import time

from cases import Skip, expect, run_cases
from disk_images import TestResources
from process import Client, start_guildhall
from sessions import GATEWAY_PATH, Wire
from voice import send_voice_state_update, guild_with, import_world, guild_and_voice_channel_of


def people(executable, folder, *flags):
    """Creates ada's guild with bob and returns their tokens."""
    class Bench:
        guildhall = executable
    world = {"users": [{"username": "ada"}, {"username": "bob"}],
             "guilds": [guild_with("Hall", "ada", ["bob"])]}
    return import_world(Bench, folder, world, *flags)


def wait_for_voice_state(wire, wanted):
    """Waits for a voice state in that channel, or in no channel."""
    while True:
        frame = wire.frame()
        if b'"VOICE_STATE_UPDATE"' not in frame:
            continue
        state = json.loads(frame[frame.index(b"{"):])["d"]
        if state["channel_id"] == wanted:
            return


def state_of(port, token, guild):
    client = Client(port, token)
    status, _ = client.call("GET", f"/guilds/{guild}/voice-states/@me")
    client.close()
    return status


def restarted_server_retains_voice_states_of_resumable_sessions(executable):
    """Members see the voice states while the sessions may resume. Bob's session does not resume: he
    joins again."""
    with TestResources() as resources:
        folder = os.path.join(resources.folder, "data")
        ada, bob = people(executable, folder)
        server = resources.kill_at_end(start_guildhall(executable, folder))
        guild, channel = guild_and_voice_channel_of(server.port, ada)
        wire = Wire(server.port, GATEWAY_PATH, bob)
        send_voice_state_update(wire, guild, channel)
        wait_for_voice_state(wire, channel)
        expect(state_of(server.port, bob, guild) == 200, "bob is not in voice")
        server.kill()
        wire.close()
        server = resources.kill_at_end(start_guildhall(executable, folder))
        expect(state_of(server.port, bob, guild) == 200, "bob is not in voice any more")
        watcher = Wire(server.port, GATEWAY_PATH, ada)
        expect(b'"voice_states":[]' not in watcher.ready, "READY shows nobody in voice")
        wire = Wire(server.port, GATEWAY_PATH, bob)
        send_voice_state_update(wire, guild, channel)
        wait_for_voice_state(watcher, channel)
        send_voice_state_update(wire, guild, None)
        wait_for_voice_state(watcher, None)
        expect(state_of(server.port, bob, guild) == 404, "bob is still in voice")
        wire.close()
        watcher.close()


def other_node_removes_voice_states_of_a_dead_node(executable):
    """Two nodes on one database: users of the dead node disappear on the other."""
    database = os.environ.get("GUILDHALL_TEST_POSTGRES")
    if not database or not shutil.which("psql"):
        raise Skip("PostgreSQL is not available (run this with scripts/with-postgres)")
    schema = f"voice_{os.getpid()}"
    subprocess.run(["psql", "-qc", f"create schema {schema}", database], check=True, timeout=30)
    store = ["--store", f"{database} options=-csearch_path={schema}"]
    with TestResources() as resources:
        folder = os.path.join(resources.folder, "data")
        ada, bob = people(executable, folder, *store)
        servers = [resources.kill_at_end(start_guildhall(executable, folder, "--node", str(node), "--bus", "poll",
                                             *store))
                   for node in (5, 6)]
        guild, channel = guild_and_voice_channel_of(servers[1].port, ada)
        watcher, wire = Wire(servers[1].port, GATEWAY_PATH, ada), Wire(servers[0].port, GATEWAY_PATH, bob)
        send_voice_state_update(wire, guild, channel)
        wait_for_voice_state(wire, channel)
        time.sleep(4)  # the node continues its heartbeats
        expect(state_of(servers[1].port, bob, guild) == 200, "the other node does not show bob")
        servers[0].kill()
        died = time.monotonic()
        wait_for_voice_state(watcher, None)
        took = time.monotonic() - died
        expect(state_of(servers[1].port, bob, guild) == 404, "bob is still in voice")
        expect(took < 60, f"left {took:.1f} s after the kill")
        print(f"left {took:.1f} s after the kill")


if __name__ == "__main__":
    run_cases("crash/voice_after_kill", [restarted_server_retains_voice_states_of_resumable_sessions,
                              other_node_removes_voice_states_of_a_dead_node])

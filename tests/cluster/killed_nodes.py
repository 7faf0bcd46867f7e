#!/usr/bin/env python3
"""killed_nodes - tests that sessions of killed nodes resume elsewhere, under load. No session receives an
event twice, misses one, or receives it out of order; at most one in a hundred must identify again
(opcode 9)."""

from contextlib import closing
import os
import sqlite3
import time

from broker import Broker
from history_checks import SOON, check_ids, check_reasons, check_ways
from cluster_nodes import PATIENCE, Ring, expect, place_of
from resuming_client import Lasting
from session_moves import Scene
from server_restart import LONG, Pen
from cases import run_cases
from disk_images import Place
from process import Client, start_guildhall
from voice import guild_with, import_world

KILLS = 50 if LONG else 3
SESSIONS = 40 if LONG else 12
MISSED = 1500 if LONG else 500


def check_connections(session, order):
    """Checks that each connection received a part of the order without a gap; the last one to its
    end."""
    place = {text: at for at, text in enumerate(order)}
    for life, last in session.lives():
        heard = [place.get(text, -1) for text in life]
        expect(-1 not in heard, "a session received an event that others did not")
        expect(heard == list(range(heard[0], heard[0] + len(heard))) if heard else True,
               "an event was missing, duplicated or out of order")
        expect(not last or (heard and heard[-1] == len(order) - 1), "the last event was not received")


def check_all(sessions, acknowledged, stored):
    steady = [s for s in sessions if not s.anew]
    expect(steady, "every session had to identify again")
    order = steady[0].contents()
    expect(len(order) == len(set(order)), "an event was received twice")
    check_ids([(d["id"], d["content"]) for t, d in steady[0].events if t == "MESSAGE_CREATE"],
              acknowledged)
    strange = sorted(set(order) ^ set(stored))
    expect(not strange, f"received or stored, but not both: {len(strange)} of {len(stored)}: {strange[:9]}")
    missing = set(acknowledged) - set(order)
    expect(not missing, f"{len(missing)} of {len(acknowledged)} acknowledged messages are missing")
    for session in sessions:
        check_connections(session, order)
        expect(session.anew or session.contents() == order, "two sessions received different orders")


def all_messages(client, channel):
    """Returns all messages, oldest first."""
    found, before = [], ""
    while True:
        status, page = client.call("GET", f"/channels/{channel}/messages?limit=100{before}")
        expect(status == 200, f"the messages cannot be read: {status}")
        found += [m["content"] for m in page]
        if len(page) < 100:
            return found[::-1]
        before = f"&before={page[-1]['id']}"


def settle(sessions, pens, client, channel, quick=LONG):
    for pen in pens:
        pen.ending = True
        pen.join(PATIENCE)
        expect(not pen.trouble and pen.acknowledged, f"a writer: {pen.trouble}")
    expect(client().call("POST", f"/channels/{channel}/messages", {"content": "the end"})[0] == 200,
           "the last message")
    for session in sessions:
        session.wait_for("the end")
    acknowledged = [text for pen in pens for text in pen.acknowledged]
    check_all(sessions, acknowledged, all_messages(client(), channel))
    resumed, anew = sum(s.resumed for s in sessions), sum(s.anew for s in sessions)
    ways = sorted(way for s in sessions for way in s.resume_times)
    late = sum(way > SOON for way in ways)
    soon = sum(way <= 3 for way in ways)
    print("seconds to RESUMED, by deciles:", " ".join(
        f"{ways[len(ways) * tenth // 10]:.1f}" for tenth in range(10)) if ways else "-")
    if ways:
        print(f"{len(acknowledged)} messages, {resumed} resumed, {anew} identified again, half were resumed "
              f"after {ways[len(ways) // 2] * 1000:.0f} ms, {100 * soon / len(ways):.1f} % within 3 s, {late} after "
              f"more than {SOON} s, the last after {ways[-1] * 1000:.0f} ms; load {os.getloadavg()[0]:.0f}")
    else:
        print(f"{len(acknowledged)} messages, {anew} identified again, no connection was lost")
    check_ways(ways if quick else [], resumed, anew)
    check_reasons(code for s in sessions for code in s.reasons)
    for session in sessions:
        session.close()


def kill_in_turn(executable, bus, nodes):
    scene = Scene(executable, nodes, bus, count=SESSIONS)
    with scene.ring as ring:
        for turn in range(KILLS):
            node = 1 + turn % nodes
            time.sleep(0.3)
            before = sum(s.resumed + s.anew for s in scene.sessions)
            scene.up.discard(node)
            ring.servers[node].kill()
            if turn % 2:
                time.sleep(0.5)
            ring.start(node)
            scene.up.add(node)
            for session in scene.sessions:
                session.wait(lambda s=session: not s.lost_at, "coming back")
            expect(sum(s.resumed + s.anew for s in scene.sessions) > before or nodes > 1,
                   "the killed node had no session")
        settle(scene.sessions, scene.pens,
               lambda: ring.client(min(scene.up), ring.tokens[0]), scene.channel)
        print(f"{sum(ring.metric(n, 'guildhall_recovered_total') for n in ring.servers):.0f} "
              "sessions recovered from journals by the running nodes")


def sessions_of_a_killed_node_resume_on_other_nodes(executable):
    kill_in_turn(executable, "poll", 3)


def sessions_of_a_killed_node_resume_on_other_nodes_with_nats(executable):
    broker = Broker()
    kill_in_turn(executable, broker.url, 2)
    broker.kill()


def sessions_of_a_single_postgresql_node_resume_after_its_restart(executable):
    kill_in_turn(executable, "poll", 1)


def rows_of(folder, text):
    with closing(sqlite3.connect(os.path.join(folder, "guildhall.db"), 30)) as db:
        rows = db.execute(text).fetchall()
        db.commit()
        return rows


def wait_homes(folder, count=1):
    """Waits until the owner of the session is stored, which happens in parallel to READY."""
    deadline = time.monotonic() + PATIENCE
    while len(rows_of(folder, "select 1 from session_homes")) < count:
        expect(time.monotonic() < deadline, "the owner of a session was not stored")
        time.sleep(0.02)


def sessions_of_a_single_sqlite_node_resume_after_its_restart(executable):
    with Place() as place:
        folder = os.path.join(place.folder, "data")
        names = [f"p{i}" for i in range(SESSIONS)]

        class Bench:
            guildhall = executable
        world = {"users": [{"username": name} for name in names],
                 "guilds": [guild_with("Hall", names[0], names[1:])]}
        tokens = import_world(Bench, folder, world)
        flags = ["--keep-events", "on", "--voice-port", "0"]  # a single node with a voice relay
        now = [place.watch(start_guildhall(executable, folder, *flags))]
        _, channel = place_of(Client(now[0].port, tokens[0]))
        sessions = [Lasting(lambda: [now[0].port], token) for token in tokens]
        wait_homes(folder, len(sessions))
        pens = [Pen(lambda: now[0].port, tokens[i], channel, f"w{i}") for i in range(2)]
        for turn in range(1, KILLS + 1):
            time.sleep(0.3)
            if turn % 3:
                now[0].kill()
            else:
                now[0].stop()  # a planned stop in between
            now[0] = place.watch(start_guildhall(executable, folder, *flags))
            for session in sessions:
                session.wait(lambda s=session, n=turn: s.resumed + s.anew >= n, "coming back")
        settle(sessions, pens, lambda: Client(now[0].port, tokens[0]), channel)


class Alone:
    """A single server on SQLite that stores its events; ada has a session."""

    def __init__(self, executable, place):
        self.executable, self.place = executable, place
        self.folder = os.path.join(place.folder, "data")

        class Bench:
            guildhall = executable
        world = {"users": [{"username": "ada"}], "guilds": [guild_with("Hall", "ada", [])]}
        self.token = import_world(Bench, self.folder, world)[0]
        self.start()
        _, self.channel = place_of(Client(self.server.port, self.token))
        self.open = True
        self.session = Lasting(lambda: [self.server.port] if self.open else [], self.token)
        self.wait_home()

    def start(self):
        self.server = self.place.watch(
            start_guildhall(self.executable, self.folder, "--keep-events", "on"))

    def sql(self, text):
        return rows_of(self.folder, text)

    def wait_home(self):
        wait_homes(self.folder)

    def post(self, text):
        status, _ = Client(self.server.port, self.token).call(
            "POST", f"/channels/{self.channel}/messages", {"content": text})
        expect(status == 200, text)


def session_does_not_resume_if_the_log_has_gaps(executable):
    with Place() as place:
        alone = Alone(executable, place)
        session = alone.session
        # simulates a restored older backup
        for i in range(5):
            alone.post(f"one {i}")
        session.wait_for("one 4")
        alone.open = False
        alone.server.kill()
        alone.sql("delete from log where position > (select max(position) from log) - 3")
        alone.start()
        alone.open = True
        session.wait(lambda: session.anew == 1 and session.session_id, "READY anew")
        alone.wait_home()
        # simulates an outage that was too long
        alone.post("two")
        session.wait_for("two")
        alone.open = False
        alone.server.kill()
        alone.start()
        for i in range(5):
            alone.post(f"three {i}")
        alone.server.kill()
        alone.sql("delete from log where position < (select max(position) from log)")
        alone.start()
        alone.open = True
        session.wait(lambda: session.anew == 2 and session.session_id, "READY anew")
        expect(session.resumed == 0, "it was resumed")
        session.close()


def many_missed_events_are_replayed_once_and_in_order(executable):
    """The missed events are more than one page of the log."""
    with Place() as place:
        alone = Alone(executable, place)
        session = alone.session
        alone.post("before")
        session.wait_for("before")
        alone.open = False
        alone.server.kill()
        alone.start()
        client = Client(alone.server.port, alone.token)
        texts = [f"missed {i}" for i in range(600)]
        for text in texts:
            expect(client.call("POST", f"/channels/{alone.channel}/messages", {"content": text})[0] == 200, text)
        alone.open = True
        session.wait_for(texts[-1])
        session.wait(lambda: session.resumed, "RESUMED")  # RESUMED comes after all missed events
        expect(session.resumed == 1 and session.anew == 0, "the session was not resumed")
        expect(session.contents() == ["before"] + texts, "an event was missing or duplicated")
        session.close()


def session_identifies_again_if_its_permissions_changed_meanwhile(executable):
    """A role changes while the killed node is down, so its sessions cannot know what they can
    view."""
    with Ring(executable, nodes=2) as ring:
        ada, bob = ring.tokens
        owner = ring.client(2, ada)
        guild, channel = place_of(owner)
        up = [1]
        session = Lasting(lambda: [ring.servers[n].port for n in up], bob)
        time.sleep(0.2)
        up[:] = []
        ring.servers[1].kill()
        hide = {"type": 0, "deny": str(1 << 10), "allow": "0"}
        expect(owner.call("PUT", f"/channels/{channel}/permissions/{guild}", hide)[0] == 204, "hide")
        up[:] = [2]
        session.wait(lambda: session.anew == 1 and session.session_id, "READY anew")
        expect(session.resumed == 0, "it was resumed")
        session.close()


def session_identifies_again_if_a_guild_was_deleted_meanwhile(executable):
    """GUILD_DELETE is for the sessions of the guild, which the recovered session would not be."""
    with Ring(executable, nodes=2, world=TWO_GUILDS, flags=["--rate-limits", "off"]) as ring:
        ada, bob, cyd = ring.tokens
        up = [1]
        sessions = [Lasting(lambda: [ring.servers[n].port for n in up], token) for token in (bob, cyd)]
        wait_owner_rows(ring, 2)
        up[:] = []
        ring.servers[1].kill()
        guild, _ = place_of(ring.client(2, bob))
        expect(ring.client(2, ada).call("DELETE", f"/guilds/{guild}")[0] == 204, "the guild cannot be deleted")
        up[:] = [2]
        for session in sessions:
            session.wait(lambda s=session: s.anew + s.resumed and s.session_id, "READY or RESUMED")
        expect(sessions[0].anew == 1 and sessions[0].resumed == 0, "bob's session still has the deleted guild")
        expect(sessions[1].resumed == 1, "the session of another guild had to identify again")
        for session in sessions:
            session.close()


def wait_owner_rows(ring, count):
    deadline = time.monotonic() + PATIENCE
    while int(ring.sql("select count(*) from session_homes")) < count:
        expect(time.monotonic() < deadline, "not every session's owner was stored")
        time.sleep(0.02)


def sessions_that_missed_the_same_events_share_the_decoded_log(executable):
    """Each page of the log is decoded once, or by several threads at the same time."""
    with Ring(executable, nodes=2, people=tuple(f"p{i}" for i in range(SESSIONS)),
              flags=["--rate-limits", "off"]) as ring:
        ports = [ring.servers[1].port]
        sessions = [Lasting(lambda: list(ports), token) for token in ring.tokens]
        client = ring.client(2, ring.tokens[0])
        _, channel = place_of(client)
        wait_owner_rows(ring, SESSIONS)
        ports.clear()
        ring.servers[1].kill()
        for i in range(MISSED):
            status, _ = client.call("POST", f"/channels/{channel}/messages", {"content": f"m{i}"})
            expect(status == 200, f"message {i}: {status}")
        ports.append(ring.servers[2].port)
        for session in sessions:
            session.wait_for(f"m{MISSED - 1}")
            expect(session.contents() == [f"m{i}" for i in range(MISSED)] and not session.anew,
                   "a session did not resume exactly")
        rows = ring.metric(2, "guildhall_missed_log_rows_total")
        print(f"{SESSIONS} sessions missed {MISSED} events each; {rows:.0f} rows were decoded")
        expect(rows < 4 * MISSED, f"{rows:.0f} rows were decoded")
        for session in sessions:
            session.close()


TWO_GUILDS = {"users": [{"username": name} for name in ("ada", "bob", "cyd")],
              "guilds": [guild_with("Hall", "ada", ["bob"]), guild_with("Cave", "cyd")]}


def post(client, channel, texts):
    for text in texts:
        status, answer = client.call("POST", f"/channels/{channel}/messages", {"content": text})
        expect(status == 200, f"{text}: {status} {answer}")


def entries_are_read_only_for_sessions_that_need_them(executable):
    with Ring(executable, nodes=2, world=TWO_GUILDS, flags=["--rate-limits", "off"]) as ring:
        _, bob, cyd = ring.tokens
        places = {token: place_of(ring.client(2, token))[1] for token in (bob, cyd)}
        ports = {token: [ring.servers[1].port] for token in (bob, cyd)}
        sessions = {token: Lasting(lambda token=token: list(ports[token]), token) for token in (bob, cyd)}
        wait_owner_rows(ring, 2)
        for token in (bob, cyd):
            ports[token].clear()
        ring.servers[1].kill()
        few, many = [f"few{i}" for i in range(5)], [f"many{i}" for i in range(300)]
        post(ring.client(2, cyd), places[cyd], many[:200])
        post(ring.client(2, bob), places[bob], few)
        post(ring.client(2, cyd), places[cyd], many[200:])
        decoded = []
        for token, texts in ((bob, few), (cyd, many)):
            ports[token].append(ring.servers[2].port)
            sessions[token].wait_for(texts[-1])
            expect(sessions[token].contents() == texts and not sessions[token].anew, "a session did not resume exactly")
            decoded.append(ring.metric(2, "guildhall_missed_log_rows_total"))
        print(f"{decoded[0]:.0f} rows were decoded for 5 missed messages, {decoded[1]:.0f} in all")
        expect(decoded[0] < 50, f"{decoded[0]:.0f} rows were decoded for 5 missed messages")
        expect(305 <= decoded[1] < 355, f"{decoded[1]:.0f} rows were decoded for 305 missed messages")
        for session in sessions.values():
            session.close()


def session_that_joined_a_guild_meanwhile_receives_its_events(executable):
    """The node is stopped, so the session is stored; its list of guilds is that of before."""
    with Ring(executable, nodes=2, world=TWO_GUILDS, flags=["--rate-limits", "off"]) as ring:
        _, bob, cyd = ring.tokens
        client = ring.client(2, cyd)
        _, channel = place_of(client)
        ports = [ring.servers[1].port]
        session = Lasting(lambda: list(ports), bob)
        wait_owner_rows(ring, 1)
        ports.clear()
        ring.servers[1].stop()
        post(client, channel, ["before"])
        invite = client.call("POST", f"/channels/{channel}/invites", {})[1]["code"]
        expect(ring.client(2, bob).call("POST", f"/invites/{invite}", {})[0] == 200, "bob cannot join")
        post(client, channel, [f"m{i}" for i in range(200)])
        ports.append(ring.servers[2].port)
        session.wait(lambda: session.resumed + session.anew, "RESUMED")
        post(client, channel, ["the end"])
        session.wait_for("the end")
        heard = session.contents()
        print(f"resumed {session.resumed}, anew {session.anew}: {len(heard)} messages")
        if not session.anew:
            known = [int(c["last_message_id"]) for t, d in session.events if t == "GUILD_CREATE"
                     for c in d["channels"] if c["id"] == channel]
            expect(known, "GUILD_CREATE did not arrive")
            status, stored = client.call("GET", f"/channels/{channel}/messages?limit=100&after={known[0]}")
            missing = [m["content"] for m in stored if m["content"] not in heard]
            expect(status == 200 and not missing, f"{len(missing)} messages after GUILD_CREATE were lost")
        session.close()


if __name__ == "__main__":
    run_cases("cluster/killed_nodes", [
        sessions_of_a_killed_node_resume_on_other_nodes,
        sessions_of_a_single_sqlite_node_resume_after_its_restart,
        session_does_not_resume_if_the_log_has_gaps,
        many_missed_events_are_replayed_once_and_in_order,
        session_identifies_again_if_its_permissions_changed_meanwhile,
        session_identifies_again_if_a_guild_was_deleted_meanwhile,
        sessions_that_missed_the_same_events_share_the_decoded_log,
        entries_are_read_only_for_sessions_that_need_them,
        session_that_joined_a_guild_meanwhile_receives_its_events,
    ] + ([
        sessions_of_a_killed_node_resume_on_other_nodes_with_nats,
        sessions_of_a_single_postgresql_node_resume_after_its_restart,
    ] if LONG else []))

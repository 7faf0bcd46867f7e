#!/usr/bin/env python3
"""killed_nodes - tests that sessions of killed nodes resume elsewhere, under load. No session receives an
event twice, misses one, or receives it out of order; at most one in a hundred must identify again
(opcode 9)."""

from contextlib import closing
import os
import sqlite3
import time

from broker import Broker
from history_checks import SOON_SECONDS, check_ids, check_reasons, check_resume_times
from cluster_nodes import PATIENCE, Cluster, expect, guild_and_channel_of
from resuming_client import ResumingClient
from session_moves import LoadTest
from server_restart import LONG, MessageWriter
from cases import run_cases
from disk_images import TestResources
from process import Client, start_guildhall
from voice import guild_with, import_world

KILLS = 50 if LONG else 3
SESSIONS = 40 if LONG else 12
MISSED = 1500 if LONG else 500


def check_connections(session, order):
    """Checks that each connection received a part of the order without a gap; the last one to its
    end."""
    index_of = {text: index for index, text in enumerate(order)}
    for received, last in session.events_by_session():
        indexes = [index_of.get(text, -1) for text in received]
        expect(-1 not in indexes, "a session received an event that others did not")
        expect(indexes == list(range(indexes[0], indexes[0] + len(indexes))) if indexes else True,
               "an event was missing, duplicated or out of order")
        expect(not last or (indexes and indexes[-1] == len(order) - 1), "the last event was not received")


def check_all(sessions, acknowledged, stored):
    resumed = [s for s in sessions if not s.identified_again]
    expect(resumed, "every session had to identify again")
    order = resumed[0].contents()
    expect(len(order) == len(set(order)), "an event was received twice")
    check_ids([(d["id"], d["content"]) for t, d in resumed[0].events if t == "MESSAGE_CREATE"],
              acknowledged)
    different = sorted(set(order) ^ set(stored))
    expect(not different, f"received or stored, but not both: {len(different)} of {len(stored)}: {different[:9]}")
    missing = set(acknowledged) - set(order)
    expect(not missing, f"{len(missing)} of {len(acknowledged)} acknowledged messages are missing")
    for session in sessions:
        check_connections(session, order)
        expect(session.identified_again or session.contents() == order, "two sessions received different orders")


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


def finish_and_check(sessions, writers, client, channel, quick=LONG):
    """Stops the writers, waits until all sessions have received the last message, and checks what they
    received. quick: also check how soon they were resumed."""
    for writer in writers:
        writer.stop_requested = True
        writer.join(PATIENCE)
        expect(not writer.error and writer.acknowledged, f"a writer: {writer.error}")
    expect(client().call("POST", f"/channels/{channel}/messages", {"content": "the end"})[0] == 200,
           "the last message")
    for session in sessions:
        session.wait_for("the end")
    acknowledged = [text for writer in writers for text in writer.acknowledged]
    check_all(sessions, acknowledged, all_messages(client(), channel))
    resumed, identified_again = sum(s.resumed for s in sessions), sum(s.identified_again for s in sessions)
    times = sorted(seconds for s in sessions for seconds in s.resume_times)
    late = sum(seconds > SOON_SECONDS for seconds in times)
    soon = sum(seconds <= 3 for seconds in times)
    print("seconds to RESUMED, by deciles:", " ".join(
        f"{times[len(times) * tenth // 10]:.1f}" for tenth in range(10)) if times else "-")
    if times:
        print(f"{len(acknowledged)} messages, {resumed} resumed, {identified_again} identified again, "
              f"half were resumed after {times[len(times) // 2] * 1000:.0f} ms, {100 * soon / len(times):.1f} % "
              f"within 3 s, {late} after "
              f"more than {SOON_SECONDS} s, the last after {times[-1] * 1000:.0f} ms; load {os.getloadavg()[0]:.0f}")
    else:
        print(f"{len(acknowledged)} messages, {identified_again} identified again, no connection was lost")
    check_resume_times(times if quick else [], resumed, identified_again)
    check_reasons(code for s in sessions for code in s.reasons)
    for session in sessions:
        session.close()


def kill_in_turn(executable, bus, nodes):
    test = LoadTest(executable, nodes, bus, count=SESSIONS)
    with test.cluster as cluster:
        for turn in range(KILLS):
            node = 1 + turn % nodes
            time.sleep(0.3)
            before = sum(s.resumed + s.identified_again for s in test.sessions)
            test.up.discard(node)
            cluster.servers[node].kill()
            if turn % 2:
                time.sleep(0.5)
            cluster.start(node)
            test.up.add(node)
            for session in test.sessions:
                session.wait(lambda s=session: not s.lost_at, "coming back")
            expect(sum(s.resumed + s.identified_again for s in test.sessions) > before or nodes > 1,
                   "the killed node had no session")
        finish_and_check(test.sessions, test.writers,
                         lambda: cluster.client(min(test.up), cluster.tokens[0]), test.channel)
        print(f"{sum(cluster.metric(n, 'guildhall_recovered_total') for n in cluster.servers):.0f} "
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


def wait_until_owners_are_stored(folder, count=1):
    """Waits until the owner of the session is stored, which happens in parallel to READY."""
    deadline = time.monotonic() + PATIENCE
    while len(rows_of(folder, "select 1 from session_homes")) < count:
        expect(time.monotonic() < deadline, "the owner of a session was not stored")
        time.sleep(0.02)


def sessions_of_a_single_sqlite_node_resume_after_its_restart(executable):
    with TestResources() as resources:
        folder = os.path.join(resources.folder, "data")
        names = [f"p{i}" for i in range(SESSIONS)]

        class Bench:
            guildhall = executable
        world = {"users": [{"username": name} for name in names],
                 "guilds": [guild_with("Hall", names[0], names[1:])]}
        tokens = import_world(Bench, folder, world)
        flags = ["--keep-events", "on", "--voice-port", "0"]  # a single node with a voice relay
        now = [resources.kill_at_end(start_guildhall(executable, folder, *flags))]
        _, channel = guild_and_channel_of(Client(now[0].port, tokens[0]))
        sessions = [ResumingClient(lambda: [now[0].port], token) for token in tokens]
        wait_until_owners_are_stored(folder, len(sessions))
        writers = [MessageWriter(lambda: now[0].port, tokens[i], channel, f"w{i}") for i in range(2)]
        for turn in range(1, KILLS + 1):
            time.sleep(0.3)
            if turn % 3:
                now[0].kill()
            else:
                now[0].stop()  # a planned stop in between
            now[0] = resources.kill_at_end(start_guildhall(executable, folder, *flags))
            for session in sessions:
                session.wait(lambda s=session, n=turn: s.resumed + s.identified_again >= n, "coming back")
        finish_and_check(sessions, writers, lambda: Client(now[0].port, tokens[0]), channel)


class SingleServer:
    """A single server on SQLite that stores its events, and a session of the user ada."""

    def __init__(self, executable, resources):
        self.executable, self.resources = executable, resources
        self.folder = os.path.join(resources.folder, "data")

        class Bench:
            guildhall = executable
        world = {"users": [{"username": "ada"}], "guilds": [guild_with("Hall", "ada", [])]}
        self.token = import_world(Bench, self.folder, world)[0]
        self.start()
        _, self.channel = guild_and_channel_of(Client(self.server.port, self.token))
        self.open = True
        self.session = ResumingClient(lambda: [self.server.port] if self.open else [], self.token)
        self.wait_until_owner_is_stored()

    def start(self):
        self.server = self.resources.kill_at_end(
            start_guildhall(self.executable, self.folder, "--keep-events", "on"))

    def sql(self, text):
        return rows_of(self.folder, text)

    def wait_until_owner_is_stored(self):
        wait_until_owners_are_stored(self.folder)

    def post(self, text):
        status, _ = Client(self.server.port, self.token).call(
            "POST", f"/channels/{self.channel}/messages", {"content": text})
        expect(status == 200, text)


def session_does_not_resume_if_the_log_has_gaps(executable):
    with TestResources() as resources:
        single = SingleServer(executable, resources)
        session = single.session
        # simulates a restored older backup
        for i in range(5):
            single.post(f"one {i}")
        session.wait_for("one 4")
        single.open = False
        single.server.kill()
        single.sql("delete from log where position > (select max(position) from log) - 3")
        single.start()
        single.open = True
        session.wait(lambda: session.identified_again == 1 and session.session_id, "READY of a new session")
        single.wait_until_owner_is_stored()
        # simulates an outage that was too long
        single.post("two")
        session.wait_for("two")
        single.open = False
        single.server.kill()
        single.start()
        for i in range(5):
            single.post(f"three {i}")
        single.server.kill()
        single.sql("delete from log where position < (select max(position) from log)")
        single.start()
        single.open = True
        session.wait(lambda: session.identified_again == 2 and session.session_id, "READY of a new session")
        expect(session.resumed == 0, "it was resumed")
        session.close()


def many_missed_events_are_replayed_once_and_in_order(executable):
    """The missed events are more than one page of the log."""
    with TestResources() as resources:
        single = SingleServer(executable, resources)
        session = single.session
        single.post("before")
        session.wait_for("before")
        single.open = False
        single.server.kill()
        single.start()
        client = Client(single.server.port, single.token)
        texts = [f"missed {i}" for i in range(600)]
        for text in texts:
            expect(client.call("POST", f"/channels/{single.channel}/messages", {"content": text})[0] == 200, text)
        single.open = True
        session.wait_for(texts[-1])
        session.wait(lambda: session.resumed, "RESUMED")  # RESUMED comes after all missed events
        expect(session.resumed == 1 and session.identified_again == 0, "the session was not resumed")
        expect(session.contents() == ["before"] + texts, "an event was missing or duplicated")
        session.close()


def session_identifies_again_if_its_permissions_changed_meanwhile(executable):
    """A role changes while the killed node is down, so its sessions cannot know what they can
    view."""
    with Cluster(executable, nodes=2) as cluster:
        ada, bob = cluster.tokens
        owner = cluster.client(2, ada)
        guild, channel = guild_and_channel_of(owner)
        up = [1]
        session = ResumingClient(lambda: [cluster.servers[n].port for n in up], bob)
        time.sleep(0.2)
        up[:] = []
        cluster.servers[1].kill()
        hide = {"type": 0, "deny": str(1 << 10), "allow": "0"}
        expect(owner.call("PUT", f"/channels/{channel}/permissions/{guild}", hide)[0] == 204, "hide")
        up[:] = [2]
        session.wait(lambda: session.identified_again == 1 and session.session_id, "READY of a new session")
        expect(session.resumed == 0, "it was resumed")
        session.close()


def session_identifies_again_if_a_guild_was_deleted_meanwhile(executable):
    """GUILD_DELETE is for the sessions of the guild, which the recovered session would not be."""
    with Cluster(executable, nodes=2, world=TWO_GUILDS, flags=["--rate-limits", "off"]) as cluster:
        ada, bob, cyd = cluster.tokens
        up = [1]
        sessions = [ResumingClient(lambda: [cluster.servers[n].port for n in up], token) for token in (bob, cyd)]
        wait_owner_rows(cluster, 2)
        up[:] = []
        cluster.servers[1].kill()
        guild, _ = guild_and_channel_of(cluster.client(2, bob))
        expect(cluster.client(2, ada).call("DELETE", f"/guilds/{guild}")[0] == 204, "the guild cannot be deleted")
        up[:] = [2]
        for session in sessions:
            session.wait(lambda s=session: s.identified_again + s.resumed and s.session_id, "READY or RESUMED")
        expect(sessions[0].identified_again == 1 and sessions[0].resumed == 0, "bob's session still has the deleted guild")
        expect(sessions[1].resumed == 1, "the session of another guild had to identify again")
        for session in sessions:
            session.close()


def wait_owner_rows(cluster, count):
    deadline = time.monotonic() + PATIENCE
    while int(cluster.sql("select count(*) from session_homes")) < count:
        expect(time.monotonic() < deadline, "not every session's owner was stored")
        time.sleep(0.02)


def sessions_that_missed_the_same_events_share_the_decoded_log(executable):
    """Each page of the log is decoded once, or by several threads at the same time."""
    with Cluster(executable, nodes=2, people=tuple(f"p{i}" for i in range(SESSIONS)),
                 flags=["--rate-limits", "off"]) as cluster:
        ports = [cluster.servers[1].port]
        sessions = [ResumingClient(lambda: list(ports), token) for token in cluster.tokens]
        client = cluster.client(2, cluster.tokens[0])
        _, channel = guild_and_channel_of(client)
        wait_owner_rows(cluster, SESSIONS)
        ports.clear()
        cluster.servers[1].kill()
        for i in range(MISSED):
            status, _ = client.call("POST", f"/channels/{channel}/messages", {"content": f"m{i}"})
            expect(status == 200, f"message {i}: {status}")
        ports.append(cluster.servers[2].port)
        for session in sessions:
            session.wait_for(f"m{MISSED - 1}")
            expect(session.contents() == [f"m{i}" for i in range(MISSED)] and not session.identified_again,
                   "a session did not resume exactly")
        rows = cluster.metric(2, "guildhall_missed_log_rows_total")
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
    with Cluster(executable, nodes=2, world=TWO_GUILDS, flags=["--rate-limits", "off"]) as cluster:
        _, bob, cyd = cluster.tokens
        channels = {token: guild_and_channel_of(cluster.client(2, token))[1] for token in (bob, cyd)}
        ports = {token: [cluster.servers[1].port] for token in (bob, cyd)}
        sessions = {token: ResumingClient(lambda token=token: list(ports[token]), token) for token in (bob, cyd)}
        wait_owner_rows(cluster, 2)
        for token in (bob, cyd):
            ports[token].clear()
        cluster.servers[1].kill()
        few, many = [f"few{i}" for i in range(5)], [f"many{i}" for i in range(300)]
        post(cluster.client(2, cyd), channels[cyd], many[:200])
        post(cluster.client(2, bob), channels[bob], few)
        post(cluster.client(2, cyd), channels[cyd], many[200:])
        decoded = []
        for token, texts in ((bob, few), (cyd, many)):
            ports[token].append(cluster.servers[2].port)
            sessions[token].wait_for(texts[-1])
            expect(sessions[token].contents() == texts and not sessions[token].identified_again,
                   "a session did not resume exactly")
            decoded.append(cluster.metric(2, "guildhall_missed_log_rows_total"))
        print(f"{decoded[0]:.0f} rows were decoded for 5 missed messages, {decoded[1]:.0f} in all")
        expect(decoded[0] < 50, f"{decoded[0]:.0f} rows were decoded for 5 missed messages")
        expect(305 <= decoded[1] < 355, f"{decoded[1]:.0f} rows were decoded for 305 missed messages")
        for session in sessions.values():
            session.close()


def session_that_joined_a_guild_meanwhile_receives_its_events(executable):
    """The node is stopped, so the session is stored; its list of guilds is that of before."""
    with Cluster(executable, nodes=2, world=TWO_GUILDS, flags=["--rate-limits", "off"]) as cluster:
        _, bob, cyd = cluster.tokens
        client = cluster.client(2, cyd)
        _, channel = guild_and_channel_of(client)
        ports = [cluster.servers[1].port]
        session = ResumingClient(lambda: list(ports), bob)
        wait_owner_rows(cluster, 1)
        ports.clear()
        cluster.servers[1].stop()
        post(client, channel, ["before"])
        invite = client.call("POST", f"/channels/{channel}/invites", {})[1]["code"]
        expect(cluster.client(2, bob).call("POST", f"/invites/{invite}", {})[0] == 200, "bob cannot join")
        post(client, channel, [f"m{i}" for i in range(200)])
        ports.append(cluster.servers[2].port)
        session.wait(lambda: session.resumed + session.identified_again, "RESUMED")
        post(client, channel, ["the end"])
        session.wait_for("the end")
        received = session.contents()
        print(f"resumed {session.resumed}, identified again {session.identified_again}: {len(received)} messages")
        if not session.identified_again:
            known = [int(c["last_message_id"]) for t, d in session.events if t == "GUILD_CREATE"
                     for c in d["channels"] if c["id"] == channel]
            expect(known, "GUILD_CREATE did not arrive")
            status, stored = client.call("GET", f"/channels/{channel}/messages?limit=100&after={known[0]}")
            missing = [m["content"] for m in stored if m["content"] not in received]
            expect(status == 200 and not missing, f"{len(missing)} messages after GUILD_CREATE were lost")
        session.close()


def session_resumes_whose_guilds_changed_before_the_kill(executable):
    """The journal has the guilds that the session had when its node was killed."""
    with Cluster(executable, nodes=2, world=TWO_GUILDS, flags=["--rate-limits", "off"]) as cluster:
        _, bob, cyd = cluster.tokens
        owner, member = cluster.client(2, cyd), cluster.client(2, bob)
        old_guild, _ = guild_and_channel_of(member)
        new_guild, channel = guild_and_channel_of(owner)
        ports = [cluster.servers[1].port]
        session = ResumingClient(lambda: list(ports), bob)
        wait_owner_rows(cluster, 1)
        invite = owner.call("POST", f"/channels/{channel}/invites", {})[1]["code"]
        expect(member.call("POST", f"/invites/{invite}", {})[0] == 200, "bob cannot join")
        expect(member.call("DELETE", f"/users/@me/guilds/{old_guild}")[0] == 204, "bob cannot leave")
        guilds = {"GUILD_CREATE": new_guild, "GUILD_DELETE": old_guild}
        session.wait(lambda: all(any(d["id"] == guild for t, d in session.events if t == event)
                                 for event, guild in guilds.items()), "GUILD_CREATE and GUILD_DELETE")
        post(owner, channel, ["before"])
        session.wait_for("before")
        ports.clear()
        cluster.servers[1].kill()
        post(owner, channel, ["missed"])
        ports.append(cluster.servers[2].port)
        session.wait_for("missed")
        expect(session.resumed == 1 and session.identified_again == 0, "the session had to identify again")
        session.close()


if __name__ == "__main__":
    run_cases("cluster/killed_nodes", [
        sessions_of_a_killed_node_resume_on_other_nodes,
        sessions_of_a_single_sqlite_node_resume_after_its_restart,
        session_does_not_resume_if_the_log_has_gaps,
        many_missed_events_are_replayed_once_and_in_order,
        session_identifies_again_if_its_permissions_changed_meanwhile,
        session_identifies_again_if_a_guild_was_deleted_meanwhile,
        session_resumes_whose_guilds_changed_before_the_kill,
        sessions_that_missed_the_same_events_share_the_decoded_log,
        entries_are_read_only_for_sessions_that_need_them,
        session_that_joined_a_guild_meanwhile_receives_its_events,
    ] + ([
        sessions_of_a_killed_node_resume_on_other_nodes_with_nats,
        sessions_of_a_single_postgresql_node_resume_after_its_restart,
    ] if LONG else []))

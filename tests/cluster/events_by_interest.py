#!/usr/bin/env python3
"""events_by_interest - tests that a node receives a log entry only if it has sessions of its guild or users,
and that no session misses an event because of that: one that starts, joins a guild or moves while
events flow, and with nodes of a version that does not know addresses of log entries."""

import contextlib
import os
import threading
import time

from broker import Broker
from cluster_nodes import PATIENCE, Cluster, Session, expect, guild_and_channel_of
from cases import run_cases
from process import register
from resuming_client import ResumingClient
from server_restart import LONG
from session_moves import move_sessions
from voice import guild_with

FAULT = "GUILDHALL_TEST_FAULT"
WORDS = "w" * 1900
STARTS = 60 if LONG else 12
WORLD = {"users": [{"username": name} for name in ("ada", "bob", "cyd")],
         "guilds": [guild_with("Hall", "ada", ["bob"]), guild_with("Cave", "cyd")]}
BYTES, PASSED = "guildhall_nats_entry_bytes_total", "guildhall_log_passed_over_total"
UNREAD = "guildhall_log_unread_entries_total"


@contextlib.contextmanager
def fault(*names):
    """Enables faults in nodes that start meanwhile, in addition to those of planted_faults.py."""
    before = os.environ.get(FAULT)
    os.environ[FAULT] = ",".join(filter(None, (before, *names)))
    try:
        yield
    finally:
        os.environ.pop(FAULT)
        if before:
            os.environ[FAULT] = before


@contextlib.contextmanager
def start_cluster(executable, nodes=3, world=None, by_address=True, polls=False):
    """A cluster whose nodes send log entries by address, or that poll."""
    if polls:
        with Cluster(executable, nodes=nodes, world=world or WORLD) as cluster:
            yield cluster
        return
    broker = Broker()
    with Cluster(executable, nodes=nodes, bus=broker.url, world=world or WORLD) as cluster:
        cluster.wait_metric("guildhall_nats_connected", 1)
        cluster.wait_metric("guildhall_nats_sends_by_address", int(by_address))
        yield cluster
    broker.kill()


def post(cluster, channel, count, token, node=1, words=WORDS):
    client = cluster.client(node, token)
    for number in range(count):
        status, answer = client.call("POST", f"/channels/{channel}/messages",
                                     {"content": f"{number} {words}"})
        expect(status == 200, f"a message: {status} {answer}")


def wait_for_count(session, count):
    session.wait(lambda events: sum(t == "MESSAGE_CREATE" for t, _ in events) >= count, "the messages")


def wait_for_positions(cluster):
    """Waits until all nodes have reached the same position of the log."""
    deadline = time.monotonic() + PATIENCE
    while len({cluster.metric(node, "guildhall_log_position") for node in cluster.servers}) > 1:
        expect(time.monotonic() < deadline, "a node does not reach the position of the others")
        time.sleep(0.02)


def nodes_without_sessions_receive_no_entries(executable):
    with start_cluster(executable) as cluster:
        ada, bob, cyd = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        sessions = [Session(cluster.servers[1].port, ada), Session(cluster.servers[2].port, bob)]
        before = {name: [cluster.metric(node, name) for node in (1, 2, 3)]
                  for name in (BYTES, PASSED, "guildhall_log_read_total")}
        post(cluster, channel, 50, ada)
        for session in sessions:
            wait_for_count(session, 50)
        wait_for_positions(cluster)
        got = {name: [cluster.metric(node, name) - before[name][node - 1] for node in (1, 2, 3)]
               for name in before}
        print(got)
        expect(got[BYTES][1] >= 50 * len(WORDS), f"the node of a member received {got[BYTES][1]} bytes")
        expect(got[BYTES][2] == 0, f"a node without sessions received {got[BYTES][2]} bytes")
        # The log is also read every 50 ms, perhaps just before an address arrives.
        read = got["guildhall_log_read_total"][2]
        expect(got[PASSED][2] > 0 and got[PASSED][2] + read >= 50 and got[PASSED][1] == 0, str(got))
        # A session of another guild does not change that; a session of the guild does, at once.
        other = Session(cluster.servers[3].port, cyd)
        third = Session(cluster.servers[3].port, bob)
        post(cluster, channel, 20, ada)
        wait_for_count(third, 20)
        expect(not other.contents(), "a session received messages of another guild")
        expect(cluster.metric(3, BYTES) - before[BYTES][2] >= 19 * len(WORDS), "entries were not sent to the node")
        for session in (*sessions, other, third):
            session.close()


class Writer(threading.Thread):
    """Posts messages through nodes 1 and 2 in turn until end() is called."""

    def __init__(self, cluster, channel, token):
        super().__init__(daemon=True)
        self.cluster, self.channel, self.token = cluster, channel, token
        self.stop_requested, self.error, self.count = False, None, 0
        self.start()

    def run(self):
        clients = [self.cluster.client(node, self.token) for node in (1, 2)]
        while not self.stop_requested:
            status, answer = clients[self.count % 2].call(
                "POST", f"/channels/{self.channel}/messages", {"content": f"{self.count}"})
            if status != 200:
                self.error = f"{status} {answer}"
                return
            self.count += 1
            time.sleep(0.002)

    def end(self):
        self.stop_requested = True
        self.join(PATIENCE)
        expect(not self.error, f"a writer: {self.error}")


def last_message_id(guilds, channel):
    """Returns the last message that the client knows from READY or GUILD_CREATE."""
    return int([c.get("last_message_id") or 0 for g in guilds for c in g["channels"]
                if c["id"] == channel][0])


def check_complete(session, after, all_messages):
    """Checks that the session received every message after that id once and in order."""
    expected = [text for number, text in all_messages if number > after]
    got = session.contents()
    expect(got == expected, f"{len(got)} instead of {len(expected)} messages after {after}, missing "
           f"{[t for t in expected if t not in got][:3]}, "
           f"too many {[t for t in got if t not in expected][:3]}")


def wait_for_the_end(*sessions):
    for session in sessions:
        session.wait(lambda events: any(t == "MESSAGE_CREATE" and d["content"] == "0 the end"
                                        for t, d in events), "the end")


def messages_of(cluster, channel, token):
    """Returns ids and contents of all messages of a channel, oldest first."""
    client, all_messages, last = cluster.client(1, token), [], 1
    while True:
        status, page = client.call("GET", f"/channels/{channel}/messages?limit=100&after={last}")
        expect(status == 200, f"messages: {status}")
        all_messages += sorted((int(m["id"]), m["content"]) for m in page)
        if len(page) < 100:
            return all_messages
        last = all_messages[-1][0]


def polling_nodes_read_only_entries_of_their_sessions(executable):
    read, rows = "guildhall_log_read_bytes_total", "guildhall_log_read_total"
    with start_cluster(executable, polls=True) as cluster:
        ada, bob, cyd = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        sessions = [Session(cluster.servers[node].port, token) for node, token in ((1, ada), (2, bob), (3, cyd))]
        wait_for_positions(cluster)
        before = {name: [cluster.metric(node, name) for node in (1, 2, 3)] for name in (read, rows, PASSED)}
        post(cluster, channel, 50, ada)
        for session in sessions[:2]:
            wait_for_count(session, 50)
        wait_for_positions(cluster)
        got = {name: [cluster.metric(node, name) - before[name][node - 1] for node in (1, 2, 3)] for name in before}
        print(got)
        expect(got[read][1] >= 50 * len(WORDS), f"the node of a member read {got[read][1]} bytes")
        expect(got[rows][2] >= 50 and got[PASSED][2] >= 50, "a node does not know all positions")
        expect(got[read][2] < 50 * len(WORDS) / 10, f"a node without sessions of the guild read {got[read][2]} bytes")
        expect(not sessions[2].contents(), "a session received messages of another guild")
        third = Session(cluster.servers[3].port, bob)
        post(cluster, channel, 20, ada)
        wait_for_count(third, 20)
        expect(cluster.metric(3, read) - before[read][2] >= 20 * len(WORDS), "a node did not read what a session needs")
        for session in (*sessions, third):
            session.close()


def session_that_starts_while_events_flow_misses_none(executable, polls=False):
    """Each session is the first of its guild on its node."""
    people = [f"user{number}" for number in range(STARTS)]
    world = {"users": [{"username": name} for name in ("ada", *people)],
             "guilds": [guild_with(f"Hall of {name}", "ada", [name]) for name in people]}
    with start_cluster(executable, world=world, polls=polls) as cluster:
        ada = cluster.tokens[0]
        counts = []
        for token in cluster.tokens[1:]:
            _, channel = guild_and_channel_of(cluster.client(1, token))
            writer = Writer(cluster, channel, ada)
            session = Session(cluster.servers[3].port, token)
            after = last_message_id(session.ready["guilds"], channel)
            wait_for_count(session, 5)
            writer.end()
            post(cluster, channel, 1, ada, words="the end")
            wait_for_the_end(session)
            all_messages = messages_of(cluster, channel, ada)
            check_complete(session, after, all_messages)
            counts.append(len(all_messages))
            session.close()
        print(f"{sum(counts)} messages; entries read by loops: "
              f"{cluster.metric(3, 'guildhall_log_unread_entries_total')}")


def session_that_starts_on_a_polling_node_misses_none(executable):
    session_that_starts_while_events_flow_misses_none(executable, polls=True)


def slow_session_start_misses_no_event(executable, polls=False):
    """The read for READY takes half a second, so the node skips events of the guild until then."""
    with fault("late-looks"):
        with start_cluster(executable, polls=polls) as cluster:
            ada, bob, _ = cluster.tokens
            _, channel = guild_and_channel_of(cluster.client(1, ada))
            watcher = Session(cluster.servers[1].port, ada)
            writer = Writer(cluster, channel, ada)
            sessions = []
            for node in (3, 2, 3):
                session = Session(cluster.servers[node].port, bob)
                sessions.append((session, last_message_id(session.ready["guilds"], channel)))
            writer.end()
            post(cluster, channel, 1, ada, words="the end")
            wait_for_the_end(watcher, *(session for session, _ in sessions))
            all_messages = messages_of(cluster, channel, ada)
            for session, after in sessions:
                check_complete(session, after, all_messages)
            read = cluster.metric(3, "guildhall_log_unread_entries_total")
            expect(read > 0, "no event was passed over while a session started")
            for session in (watcher, *(session for session, _ in sessions)):
                session.close()


def slow_session_start_on_a_polling_node_misses_no_event(executable):
    slow_session_start_misses_no_event(executable, polls=True)


def session_that_joins_a_guild_misses_no_event(executable, polls=False):
    with start_cluster(executable, polls=polls) as cluster:
        ada = cluster.tokens[0]
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        invite = cluster.client(1, ada).call("POST", f"/channels/{channel}/invites", {})[1]["code"]
        watcher = Session(cluster.servers[1].port, ada)
        guests = [register(cluster.servers[1].port, f"guest{number}") for number in range(4)]
        sessions = [Session(cluster.servers[3].port, guest) for guest in guests]
        writer = Writer(cluster, channel, ada)
        for guest, session in zip(guests, sessions):
            status, _ = cluster.client(2, guest).call("POST", f"/invites/{invite}", {})
            expect(status == 200, f"joining: {status}")
            wait_for_count(session, 5)
        writer.end()
        post(cluster, channel, 1, ada, words="the end")
        wait_for_the_end(watcher, *sessions)
        for guest, session in zip(guests, sessions):
            user = session.ready["user"]["id"]
            joined = [n for n, (t, d) in enumerate(watcher.events)
                      if t == "GUILD_MEMBER_ADD" and d["user"]["id"] == user][0]
            expected = [d["content"] for t, d in watcher.events[joined:] if t == "MESSAGE_CREATE"]
            got = session.contents()
            expect(got == expected, f"{len(got)} messages since the guest joined, the owner received "
                   f"{len(expected)}: {got[:3]}, {expected[:3]}")
        for session in (watcher, *sessions):
            session.close()


def session_that_joins_a_guild_on_a_polling_node_misses_no_event(executable):
    session_that_joins_a_guild_misses_no_event(executable, polls=True)


def sessions_move_between_nodes_that_receive_addresses_only(executable):
    """Every log entry of other nodes is read by the loops that need it."""
    with fault("no-subscriptions"):
        broker = Broker()
        move_sessions(executable, broker.url)
        broker.kill()


def arriving_sessions_do_not_need_entries_of_others(executable):
    """Sessions move to a node while events of another guild are passed over there. Store reads take
    half a second, so the sessions arrive slowly."""
    people = [f"user{number}" for number in range(8)]
    world = {"users": [{"username": name} for name in ("ada", *people)],
             "guilds": [guild_with("Hall", "ada"), guild_with("Cave", people[0], people[1:])]}
    with fault("late-looks"):
        with start_cluster(executable, world=world) as cluster:
            ada, *tokens = cluster.tokens
            _, hall_channel = guild_and_channel_of(cluster.client(1, ada))
            _, cave_channel = guild_and_channel_of(cluster.client(1, tokens[0]))
            node = [2]
            sessions = [ResumingClient(lambda: [cluster.servers[node[0]].port], token) for token in tokens]
            deadline = time.monotonic() + PATIENCE
            while int(cluster.sql("select count(*) from session_homes")) < len(sessions):
                expect(time.monotonic() < deadline, "not every session's owner was stored")
                time.sleep(0.02)
            writer = Writer(cluster, hall_channel, ada)
            before = {name: cluster.metric(3, name) for name in (PASSED, UNREAD)}
            node[0] = 3
            for session in sessions:
                session.lose()
            for session in sessions:
                session.wait(lambda s=session: s.resumed, "RESUMED")
            writer.end()
            post(cluster, cave_channel, 1, tokens[0], words="the end")
            for session in sessions:
                session.wait_for("0 the end")
                expect(session.contents() == ["0 the end"] and not session.identified_again,
                       "a session did not resume exactly")
            got = {name: cluster.metric(3, name) - before[name] for name in before}
            print(got)
            expect(got[PASSED] > 20, "no events flowed while the sessions arrived")
            # The last message may be passed over before the subscription to its guild begins.
            expect(got[UNREAD] <= 1, f"loops read {got[UNREAD]} entries that no session needed")
            for session in sessions:
                session.close()


def restart(cluster, node, *faults):
    cluster.servers[node].stop()
    with fault(*faults):
        cluster.start(node)
    cluster.wait_ready()


def nodes_of_an_older_version_receive_all_entries(executable):
    """Nodes of a version without addresses get every entry through NATS, and no other node sends by
    address while one of them runs."""
    with start_cluster(executable) as cluster:
        ada, bob, _ = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        watcher = Session(cluster.servers[1].port, ada)
        writer = Writer(cluster, channel, ada)
        restart(cluster, 3, "no-addresses")
        cluster.wait_metric("guildhall_nats_sends_by_address", 0)
        cluster.wait_metric("guildhall_nats_connected", 1)
        before = cluster.metric(3, BYTES)
        session = Session(cluster.servers[3].port, bob)
        after = last_message_id(session.ready["guilds"], channel)
        wait_for_count(session, 50)
        expect(cluster.metric(3, BYTES) > before, "an older node receives no entries through NATS")
        writer.end()
        post(cluster, channel, 1, ada, words="the end")
        wait_for_the_end(watcher, session)
        check_complete(session, after, messages_of(cluster, channel, ada))
        session.close()
        restart(cluster, 3)
        cluster.wait_metric("guildhall_nats_sends_by_address", 1)
        watcher.close()


def entries_are_read_while_nats_loses_messages(executable):
    """Without NATS entries are polled; afterwards they are sent by address again."""
    broker = Broker()
    with Cluster(executable, nodes=3, bus=broker.url, world=WORLD) as cluster:
        cluster.wait_metric("guildhall_nats_sends_by_address", 1)
        ada, bob, _ = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        sessions = [Session(cluster.servers[node].port, token) for node, token in ((1, ada), (2, bob))]
        writer = Writer(cluster, channel, ada)
        for _ in range(3):
            time.sleep(0.2)
            broker.kill()
            cluster.wait_metric("guildhall_nats_connected", 0)
            time.sleep(0.2)
            broker.start()
            cluster.wait_metric("guildhall_nats_connected", 1)
        writer.end()
        before = [cluster.metric(node, BYTES) for node in (2, 3)]
        post(cluster, channel, 1, ada, words="the end")
        wait_for_the_end(*sessions)
        expect(sessions[0].contents() == sessions[1].contents(), "sessions received different messages")
        expect(len(sessions[0].contents()) == writer.count + 1, "messages are missing")
        wait_for_positions(cluster)
        # The subscriptions of a node are renewed with its connection.
        deadline = time.monotonic() + PATIENCE
        while cluster.metric(2, BYTES) == before[0]:
            expect(time.monotonic() < deadline, "the node of a member did not receive the entry")
            time.sleep(0.02)
        expect(cluster.metric(3, BYTES) == before[1], "a node without sessions received the entry")
        for session in sessions:
            session.close()
    broker.kill()


if __name__ == "__main__":
    run_cases("cluster/events_by_interest", [
        nodes_without_sessions_receive_no_entries,
        polling_nodes_read_only_entries_of_their_sessions,
        session_that_starts_on_a_polling_node_misses_none,
        slow_session_start_on_a_polling_node_misses_no_event,
        session_that_joins_a_guild_on_a_polling_node_misses_no_event,
        session_that_starts_while_events_flow_misses_none,
        slow_session_start_misses_no_event,
        session_that_joins_a_guild_misses_no_event,
        sessions_move_between_nodes_that_receive_addresses_only,
        arriving_sessions_do_not_need_entries_of_others,
        nodes_of_an_older_version_receive_all_entries,
        entries_are_read_while_nats_loses_messages,
    ])

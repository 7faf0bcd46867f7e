#!/usr/bin/env python3
"""session_starts - tests that events already included in READY are not delivered again. A transaction like
that of another node blocks the log, so that nodes still have to deliver committed events when a
session starts."""

import os
import subprocess
import threading
import time

from cluster_nodes import PATIENCE, Cluster, Session, Skip, expect, guild_and_channel_of
from cases import run_cases
from process import register
from voice import guild_with

TRIES = 10
WATCH = "GUILDHALL_TEST_FAULT"


class UncommittedPosition:
    """Holds the next log position without a commit. Nodes terminate it after a second."""

    def __init__(self, cluster):
        self.cluster = cluster
        self.child = subprocess.Popen(["psql", "-qAtX", cluster.database], stdin=subprocess.PIPE,
                                      stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        self.child.stdin.write(
            f"set search_path = {cluster.schema}; select pg_advisory_lock_shared((7166183 # "
            "hashtext(current_schema())), 9 << 21); begin; select pg_current_xact_id(); "
            "select nextval('log_position'); select 'pid ' || pg_backend_pid();\n")
        self.child.stdin.flush()
        for line in self.child.stdout:
            if line.startswith("pid "):
                self.pid = int(line.split()[1])
                return
        expect(False, "psql has ended")

    def is_held(self):
        return self.cluster.sql(f"select count(*) from pg_stat_activity where pid = {self.pid}") == "1"

    def release(self):
        self.child.stdin.close()
        self.child.wait(PATIENCE)


def try_once(cluster, number):
    """Returns whether the log was still blocked when the session had started."""
    ada, bob = cluster.tokens
    owner = cluster.client(1, ada)
    guild, channel = guild_and_channel_of(owner)
    position = UncommittedPosition(cluster)
    status, made = owner.call("POST", f"/guilds/{guild}/channels", {"name": f"new-{number}"})
    expect(status == 201, f"a channel: {status} {made}")
    status, _ = owner.call("POST", f"/channels/{channel}/messages", {"content": f"shown {number}"})
    expect(status == 200, "a message")
    session = Session(cluster.servers[2].port, bob)
    in_time = position.is_held()
    position.release()
    status, _ = owner.call("POST", f"/channels/{channel}/messages", {"content": f"told {number}"})
    expect(status == 200, "another message")
    session.wait(lambda events: any(t == "MESSAGE_CREATE" and d["content"] == f"told {number}"
                                    for t, d in events), "what came after")
    shown = [c["id"] for g in session.ready["guilds"] for c in g["channels"]]
    expect(made["id"] in shown, "READY does not contain an earlier object")
    delivered = [t for t, d in session.events if t == "CHANNEL_CREATE" and d["id"] == made["id"]]
    expect(not delivered and session.contents() == [f"told {number}"],
           f"an object in READY was delivered again: {delivered}, {session.contents()}")
    session.close()
    return in_time


VIEW, SEND = 1 << 10, 1 << 11


def set_visibility(owner, guild, shown):
    status, answer = owner.call("PATCH", f"/guilds/{guild}/roles/{guild}",
                                {"permissions": str(VIEW | SEND if shown else SEND)})
    expect(status == 200, f"everybody's role: {status} {answer}")


def make_large(cluster):
    """Makes the guild so large that it is announced by its id, and each session reads the rest."""
    cluster.sql("insert into overwrites (channel_id, target_id, type) select min(id), n, 0 from channels, "
                "generate_series(1, 501) n where channels.type = 0 group by n on conflict do nothing")


def names_of_events(session, *names):
    with session.changed:
        return [t for t, _ in session.events if t in names]


def try_join_and_show(cluster, number):
    """A member joins and channels become visible before two sessions start on a node with the old view of
    the guild."""
    ada, bob = cluster.tokens
    owner = cluster.client(1, ada)
    guild, channel = guild_and_channel_of(owner)
    make_large(cluster)
    old = Session(cluster.servers[2].port, ada)
    set_visibility(owner, guild, False)
    old.wait(lambda events: any(t == "GUILD_ROLE_UPDATE" for t, _ in events), "the role")
    invite = owner.call("POST", f"/channels/{channel}/invites", {})[1]["code"]
    guest = register(cluster.servers[1].port, f"guest{number}")
    position = UncommittedPosition(cluster)
    status, _ = cluster.client(1, guest).call("POST", f"/invites/{invite}", {})
    expect(status == 200, f"joining: {status}")
    set_visibility(owner, guild, True)
    sessions = [Session(cluster.servers[2].port, token) for token in (guest, bob)]
    in_time = position.is_held()
    position.release()
    status, _ = owner.call("POST", f"/channels/{channel}/messages", {"content": "told"})
    expect(status == 200, "a message")
    for session in sessions:
        shown = [c["id"] for g in session.ready["guilds"] for c in g["channels"]]
        expect(channel in shown, "READY does not contain an earlier object")
        session.wait(lambda events: any(t == "MESSAGE_CREATE" and d["content"] == "told"
                                        for t, d in events), "what came after")
        again = names_of_events(session, "GUILD_CREATE", "CHANNEL_CREATE")
        expect(not again, f"an object in READY was delivered again: {again}")
    for session in (*sessions, old):
        session.close()
    return in_time


def events_included_in_ready_are_not_delivered_again(executable):
    with Cluster(executable, nodes=2) as cluster:
        cluster.wait_ready()
        for try_it in (try_once, try_join_and_show):
            if not any(try_it(cluster, number) for number in range(TRIES)):
                raise Skip("starting a session takes too long")


SAME, OTHER = "is the same in the store", "are others in the store"


def log_of(server):
    """Returns the standard error of the server."""
    return os.pread(server.log.fileno(), 1 << 24, 0).decode(errors="replace")


def compare_views(cluster, token):
    """Each node reads its guilds again when a session starts, and logs whether they match its
    view."""
    for server in cluster.servers.values():
        before = log_of(server).count(SAME)
        deadline = time.monotonic() + PATIENCE
        while log_of(server).count(SAME) == before:
            expect(time.monotonic() < deadline, "nothing was compared")
            Session(server.port, token).close()
            wrong = [line for line in log_of(server).splitlines() if OTHER in line]
            expect(not wrong, f"the view of a guild differs from the store: {wrong[:3]}")


def change_permissions(cluster, token, guild, channel, turns):
    """Creates and deletes roles, channels, overwrites and members on both nodes."""
    for turn in range(turns):
        client = cluster.client(1 + turn % 2, token)
        status, role = client.call("POST", f"/guilds/{guild}/roles",
                                   {"name": f"r{turn}", "permissions": str(1 << turn % 8)})
        expect(status == 200, f"a role: {status} {role}")
        status, made = client.call("POST", f"/guilds/{guild}/channels", {"name": f"c{turn}"})
        expect(status == 201, f"a channel: {status}")
        for method, path, body in (
                ("PUT", f"/channels/{channel}/permissions/{role['id']}",
                 {"type": 0, "deny": str(1 << 10 + turn % 3), "allow": "0"}),
                ("PATCH", f"/guilds/{guild}/roles/{role['id']}", {"permissions": str(turn)}),
                ("DELETE", f"/channels/{made['id']}", None) if turn % 2 else
                ("PATCH", f"/channels/{made['id']}", {"name": f"d{turn}"}),
                ("DELETE", f"/guilds/{guild}/roles/{role['id']}", None) if turn % 3 else
                ("PATCH", f"/guilds/{guild}", {"name": f"Hall {turn}"})):
            status, answer = client.call(method, path, body)
            expect(status < 300, f"{method} {path}: {status} {answer}")


def join_while_held(cluster):
    """A member joins, and a node that learns of the guild at that moment reads it before it receives
    the event."""
    ada, bob = cluster.tokens
    owner = cluster.client(1, ada)
    _, channel = guild_and_channel_of(owner)
    invite = owner.call("POST", f"/channels/{channel}/invites", {})[1]["code"]
    guest = cluster.client(1, register(cluster.servers[1].port, "guest"))
    position = UncommittedPosition(cluster)
    status, _ = guest.call("POST", f"/invites/{invite}", {})
    expect(status == 200, f"joining: {status}")
    session = Session(cluster.servers[2].port, bob)
    in_time = position.is_held()
    position.release()
    status, _ = owner.call("POST", f"/channels/{channel}/messages", {"content": "the end"})
    session.wait(lambda events: any(t == "MESSAGE_CREATE" and d["content"] == "the end"
                                    for t, d in events), "the end")
    compare_views(cluster, ada)
    session.close()
    return in_time


def guild_views_of_nodes_match_the_store(executable):
    os.environ[WATCH] = ",".join(filter(None, (os.environ.get(WATCH), "watch-views")))
    try:
        with Cluster(executable, nodes=2, flags=("--log-level", "info")) as cluster:
            cluster.wait_ready()
            in_time = join_while_held(cluster)
            guild, channel = guild_and_channel_of(cluster.client(1, cluster.tokens[0]))
            sessions = [Session(s.port, cluster.tokens[1]) for s in cluster.servers.values()]
            change_permissions(cluster, cluster.tokens[0], guild, channel, 12)
            for session in sessions:
                session.wait(lambda events: any(t == "GUILD_UPDATE" for t, _ in events), "the end")
            compare_views(cluster, cluster.tokens[0])
            for session in sessions:
                session.close()
    finally:
        os.environ[WATCH] = os.environ[WATCH].rpartition("watch-views")[0].rstrip(",")
    if not in_time:
        raise Skip("starting a session takes too long")


def check_channel_visibility(session, guild, channel):
    """Checks that the client always knew whether it can view the channel."""
    ready = [g for g in session.ready["guilds"] if g["id"] == guild][0]
    shown = channel in [c["id"] for c in ready["channels"]]
    may = [bool(int(r["permissions"]) & VIEW) for r in ready["roles"] if r["id"] == guild][0]
    for number, (name, data) in enumerate(session.events):
        if name == "GUILD_ROLE_UPDATE":
            expect(shown == may, f"before event {number} the channel's visibility is wrong")
            may = bool(int(data["role"]["permissions"]) & VIEW)
        elif name in ("CHANNEL_CREATE", "CHANNEL_DELETE") and data["id"] == channel:
            shown = name == "CHANNEL_CREATE"
    expect(shown == may, "in the end the channel's visibility is wrong")


def start_sessions_together(cluster, tokens):
    """The first session's read takes so long that the reads of the others start together after
    it."""
    sessions = [None] * len(tokens)

    def start_session(at):
        sessions[at] = Session(cluster.servers[2].port, tokens[at])
    threads = [threading.Thread(target=start_session, args=(at,)) for at in range(len(tokens))]
    for thread in threads:
        thread.start()
        time.sleep(0.1)
    return threads, sessions


def concurrent_session_starts_each_show_a_consistent_view(executable):
    """Permissions change between the reads of sessions that start together, and the oldest read ends
    last."""
    people = ["ada", "bob", "cyd", "dan"]
    world = {"users": [{"username": name} for name in people + ["eve"]],
             "guilds": [guild_with("Hall", "ada", people[1:])]}
    os.environ[WATCH] = ",".join(filter(None, (os.environ.get(WATCH), "late-looks")))
    try:
        with Cluster(executable, nodes=2, world=world) as cluster:
            cluster.wait_ready()
            owner = cluster.client(1, cluster.tokens[0])
            guild, channel = guild_and_channel_of(owner)
            set_visibility(owner, guild, True)
            threads, sessions = start_sessions_together(cluster, cluster.tokens[4:] + cluster.tokens[1:4])
            for turn in range(12):
                set_visibility(owner, guild, turn % 2)
                time.sleep(0.08)
            for thread in threads:
                thread.join(PATIENCE)
            status, _ = owner.call("PATCH", f"/guilds/{guild}", {"name": "The end"})
            expect(status == 200 and all(sessions), "the end")
            for session in sessions[1:]:
                session.wait(lambda events: any(t == "GUILD_UPDATE" for t, _ in events), "the end")
                check_channel_visibility(session, guild, channel)
            for session in sessions:
                session.close()
    finally:
        os.environ[WATCH] = os.environ[WATCH].rpartition("late-looks")[0].rstrip(",")


if __name__ == "__main__":
    run_cases("cluster/session_starts", [
        events_included_in_ready_are_not_delivered_again,
        guild_views_of_nodes_match_the_store,
        concurrent_session_starts_each_show_a_consistent_view,
    ])

#!/usr/bin/env python3
"""presence - tests that presences and rate limit counters are known on every node, also after an
outage of NATS or a node."""

import json
import os
import time

from broker import Broker
from history_checks import check_limit
from cluster_nodes import PATIENCE, Cluster, Session, expect, guild_and_channel_of
from resuming_client import ResumingClient
from cases import run_cases


def own_id(cluster, node, token):
    return cluster.client(node, token).call("GET", "/users/@me")[1]["id"]


def wait_until(true, words):
    deadline = time.monotonic() + PATIENCE
    while not (found := true()):
        expect(time.monotonic() < deadline, words)
        time.sleep(0.02)
    return found


def online_count(cluster, node, token, guild):
    """Returns the number of online members on a node."""
    return cluster.client(node, token).call(
        "GET", f"/guilds/{guild}?with_counts=true")[1]["approximate_presence_count"]


def wait_online_count(cluster, node, token, guild, count):
    wait_until(lambda: online_count(cluster, node, token, guild) == count,
               f"node {node} shows {online_count(cluster, node, token, guild)}, not {count}")


def statuses_of(session, user):
    """Returns the statuses of a user in the order in which a session received them."""
    with session.changed:
        return [d["status"] for t, d in session.events
                if t == "PRESENCE_UPDATE" and d["user"]["id"] == user]


def wait_status_of(session, user, status):
    session.wait(lambda events: any(t == "PRESENCE_UPDATE" and d["user"]["id"] == user
                                    and d["status"] == status for t, d in events),
                 f"{user} is {status}")


def set_status(session, status, name=None):
    activities = [{"name": name, "type": 0}] if name else []
    session.wire.send(json.dumps({"op": 3, "d": {"since": None, "afk": False, "status": status,
                                                 "activities": activities}}))


def befriend(cluster, one, other):
    one, other = own_id(cluster, 1, one), own_id(cluster, 1, other)
    cluster.sql("insert into relationships (user_id, target_id, type) "
                f"values ({one}, {other}, 1), ({other}, {one}, 1)")


def presences_are_known_on_every_node(executable):
    broker = Broker()
    with Cluster(executable, bus=broker.url, people=("ada", "bob", "zoe")) as cluster:
        ada, bob, zoe = cluster.tokens
        guild, _ = guild_and_channel_of(cluster.client(1, ada))
        cluster.client(1, zoe).call("DELETE", f"/users/@me/guilds/{guild}")
        befriend(cluster, zoe, bob)
        cluster.wait_metric("guildhall_nats_connected", 1)
        bob_id = own_id(cluster, 1, bob)
        watcher, friend = Session(cluster.servers[1].port, ada), Session(cluster.servers[1].port, zoe)
        remote_session = Session(cluster.servers[2].port, bob)
        for session in (watcher, friend):
            wait_status_of(session, bob_id, "online")
        for node in (1, 2):
            wait_online_count(cluster, node, ada, guild, 2)
        check_presence_is_visible_everywhere(cluster, watcher, guild, bob_id)
        set_status(remote_session, "dnd", "chess")
        for session in (watcher, friend):
            wait_status_of(session, bob_id, "dnd")
        sessions_of_one_account(cluster, bob, remote_session)
        presences_recover_after_a_nats_outage(cluster, broker, remote_session, watcher, bob_id)
        new_node_knows_all_presences(cluster, guild, bob_id)
        remote_session.close()
        expect(statuses_of(watcher, bob_id)[-1] == "idle", "the user is not shown as idle")
    broker.kill()


def check_presence_is_visible_everywhere(cluster, watcher, guild, bob_id):
    """Checks the replies to requests, and the events of a new session."""
    watcher.wire.send(json.dumps({"op": 8, "d": {"guild_id": guild, "user_ids": [bob_id],
                                                 "presences": True}}))
    chunk = watcher.wait(lambda events: [d for t, d in events if t == "GUILD_MEMBERS_CHUNK"],
                         "members")[0]
    expect([p["status"] for p in chunk["presences"]] == ["online"], f"asked for: {chunk}")
    friend = Session(cluster.servers[1].port, cluster.tokens[2])
    expect([p["user"]["id"] for p in friend.ready["presences"]] == [bob_id],
           f"READY shows {friend.ready['presences']}")
    friend.close()


def sessions_of_one_account(cluster, bob, remote_session):
    second = Session(cluster.servers[1].port, bob)
    expect(len(second.ready["sessions"]) == 2, f"READY lists {second.ready['sessions']}")
    remote_session.wait(lambda events: any(t == "SESSIONS_REPLACE" and len(d) == 2 for t, d in events),
                        "the session on the other node is missing")
    # Code 1000 ends a session immediately.
    second.wire.socket.sendall(b"\x88\x82" + bytes(4) + (1000).to_bytes(2, "big"))
    remote_session.wait(lambda events: [len(d) for t, d in events if t == "SESSIONS_REPLACE"][-1] == 1,
                        "the session on the other node did not end")
    second.close()


def presences_recover_after_a_nats_outage(cluster, broker, remote_session, watcher, bob_id):
    broker.kill()
    cluster.wait_metric("guildhall_nats_connected", 0)
    set_status(remote_session, "idle")
    broker.start()
    cluster.wait_metric("guildhall_nats_connected", 1)
    wait_status_of(watcher, bob_id, "idle")


def new_node_knows_all_presences(cluster, guild, bob_id):
    cluster.start(3)
    cluster.wait_metric("guildhall_nats_connected", 1)
    wait_online_count(cluster, 3, cluster.tokens[0], guild, 2)
    friend = Session(cluster.servers[3].port, cluster.tokens[2])
    expect([(p["user"]["id"], p["status"]) for p in friend.ready["presences"]]
           == [(bob_id, "idle")], f"READY shows {friend.ready['presences']}")
    friend.close()


def users_of_a_killed_node_go_offline_unless_they_resume(executable):
    broker = Broker()
    os.environ["GUILDHALL_TEST_FAULT"] = "offline-at-once"
    try:
        cluster = Cluster(executable, nodes=1, bus=broker.url, people=("ada", "bob", "zoe"))
        del os.environ["GUILDHALL_TEST_FAULT"]
        with cluster:
            cluster.start(2)
            ada, bob, zoe = cluster.tokens
            guild, _ = guild_and_channel_of(cluster.client(1, ada))
            cluster.wait_metric("guildhall_nats_connected", 1)
            bob_id, zoe_id = own_id(cluster, 1, bob), own_id(cluster, 1, zoe)
            watcher = Session(cluster.servers[1].port, ada)
            Session(cluster.servers[2].port, bob)
            ports = [cluster.servers[2].port]
            lasting = ResumingClient(lambda: ports, zoe)
            wait_online_count(cluster, 1, ada, guild, 3)
            wait_until(lambda: cluster.sql("select count(*) from session_homes") == "3",
                       "the session owners were not stored")
            killed_at = time.monotonic()
            cluster.servers[2].kill()
            ports[:] = [cluster.servers[1].port]
            lasting.wait(lambda: lasting.resumed, "coming back")
            in_time = time.monotonic() - killed_at < 4  # and its node is not declared dead yet
            wait_status_of(watcher, bob_id, "offline")
            wait_online_count(cluster, 1, ada, guild, 2)
            statuses = statuses_of(watcher, zoe_id)
            expect(set(statuses) == {"online"} or not in_time, f"{statuses}")
            lasting.close()
    finally:
        os.environ.pop("GUILDHALL_TEST_FAULT", None)
    broker.kill()


def rate_limit_counts_apply_on_every_node(executable):
    broker = Broker()
    with Cluster(executable, bus=broker.url,
                 flags=("--rate-limits", "on", "--rate-limit-anonymous", "1000")) as cluster:
        owner = cluster.client(1, cluster.tokens[0])
        _, channel = guild_and_channel_of(owner)
        cluster.wait_metric("guildhall_nats_connected", 1)
        before = strict_rate_limit_is_exact_across_nodes(cluster)
        for name in ("one", "two"):
            expect(owner.call("PATCH", f"/channels/{channel}", {"name": name})[0] == 200, name)
        # The other rate limits are used by less than a quarter, so they are not published.
        wait_until(lambda: cluster.metric(2, "guildhall_counts_heard_total") == before + 2,
                   "what was counted")
        status, answer = cluster.client(2, cluster.tokens[0]).call("PATCH", f"/channels/{channel}",
                                                                   {"name": "three"})
        expect(status == 429, f"the other node did not count the requests: {status} {answer}")
        session_starts_of_a_bot_count_on_every_node(cluster, owner)
    broker.kill()


LOGINS, WINDOW = 5, 60  # logins per address and window in seconds


def strict_rate_limit_is_exact_across_nodes(cluster):
    """Sends registrations to both nodes in turn, each after the other node received the last
    count."""
    calls = []
    received = {1: 0, 2: 0}
    for turn in range(2 * LOGINS + 2):
        node, other_node = 1 + turn % 2, 2 - turn % 2
        started = time.monotonic()
        status, _ = cluster.client(node).call("POST", "/auth/register", {})  # an empty request counts too
        calls.append((started, time.monotonic(), status != 429))
        if status != 429:
            received[other_node] += 1
            wait_until(lambda n=other_node: cluster.metric(n, "guildhall_counts_heard_total") == received[n],
                       "the other node does not receive each count")
    check_limit(calls, LOGINS, WINDOW)
    expect(calls[0][2] and not calls[-1][2], f"{[allowed for _, _, allowed in calls]}")
    return received[2]


def session_starts_of_a_bot_count_on_every_node(cluster, owner):
    app = owner.call("POST", "/applications", {"name": "counter"})[1]["id"]
    bot = "Bot " + owner.call("POST", f"/applications/{app}/bot/reset", {})[1]["token"]
    Session(cluster.servers[1].port, bot)

    def remaining_starts():
        status, answer = cluster.client(2, bot).call("GET", "/gateway/bot")
        return answer["session_start_limit"]["remaining"] if status == 200 else None  # or rate limited
    wait_until(lambda: remaining_starts() == 999, "the other node does not count session starts")


if __name__ == "__main__":
    run_cases("cluster/presence", [
        presences_are_known_on_every_node,
        users_of_a_killed_node_go_offline_unless_they_resume,
        rate_limit_counts_apply_on_every_node,
    ])

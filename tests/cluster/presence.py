#!/usr/bin/env python3
"""presence - tests that presences and rate limit counters are known on every node, also after an
outage of NATS or a node."""

import json
import os
import time

from broker import Broker
from history_checks import check_limit
from cluster_nodes import PATIENCE, Ring, Session, expect, place_of
from resuming_client import Lasting
from cases import run_cases


def me(ring, node, token):
    return ring.client(node, token).call("GET", "/users/@me")[1]["id"]


def wait_until(true, words):
    deadline = time.monotonic() + PATIENCE
    while not (found := true()):
        expect(time.monotonic() < deadline, words)
        time.sleep(0.02)
    return found


def present(ring, node, token, guild):
    """Returns the number of online members on a node."""
    return ring.client(node, token).call(
        "GET", f"/guilds/{guild}?with_counts=true")[1]["approximate_presence_count"]


def wait_present(ring, node, token, guild, count):
    wait_until(lambda: present(ring, node, token, guild) == count,
               f"node {node} shows {present(ring, node, token, guild)}, not {count}")


def statuses_of(session, user):
    """Returns the statuses of a user in the order in which a session received them."""
    with session.changed:
        return [d["status"] for t, d in session.events
                if t == "PRESENCE_UPDATE" and d["user"]["id"] == user]


def wait_status_of(session, user, status):
    session.wait(lambda events: any(t == "PRESENCE_UPDATE" and d["user"]["id"] == user
                                    and d["status"] == status for t, d in events),
                 f"{user} is {status}")


def show(session, status, name=None):
    activities = [{"name": name, "type": 0}] if name else []
    session.wire.send(json.dumps({"op": 3, "d": {"since": None, "afk": False, "status": status,
                                                 "activities": activities}}))


def befriend(ring, one, other):
    one, other = me(ring, 1, one), me(ring, 1, other)
    ring.sql("insert into relationships (user_id, target_id, type) "
             f"values ({one}, {other}, 1), ({other}, {one}, 1)")


def presences_are_known_on_every_node(executable):
    broker = Broker()
    with Ring(executable, bus=broker.url, people=("ada", "bob", "zoe")) as ring:
        ada, bob, zoe = ring.tokens
        guild, _ = place_of(ring.client(1, ada))
        ring.client(1, zoe).call("DELETE", f"/users/@me/guilds/{guild}")
        befriend(ring, zoe, bob)
        ring.wait_metric("guildhall_nats_connected", 1)
        bob_id = me(ring, 1, bob)
        watcher, friend = Session(ring.servers[1].port, ada), Session(ring.servers[1].port, zoe)
        there = Session(ring.servers[2].port, bob)
        for session in (watcher, friend):
            wait_status_of(session, bob_id, "online")
        for node in (1, 2):
            wait_present(ring, node, ada, guild, 2)
        check_presence_is_visible_everywhere(ring, watcher, guild, bob_id)
        show(there, "dnd", "chess")
        for session in (watcher, friend):
            wait_status_of(session, bob_id, "dnd")
        sessions_of_one_account(ring, bob, there)
        presences_recover_after_a_nats_outage(ring, broker, there, watcher, bob_id)
        new_node_knows_all_presences(ring, guild, bob_id)
        there.close()
        expect(statuses_of(watcher, bob_id)[-1] == "idle", "the user is not shown as idle")
    broker.kill()


def check_presence_is_visible_everywhere(ring, watcher, guild, bob_id):
    """Checks the replies to requests, and the events of a new session."""
    watcher.wire.send(json.dumps({"op": 8, "d": {"guild_id": guild, "user_ids": [bob_id],
                                                 "presences": True}}))
    chunk = watcher.wait(lambda events: [d for t, d in events if t == "GUILD_MEMBERS_CHUNK"],
                         "members")[0]
    expect([p["status"] for p in chunk["presences"]] == ["online"], f"asked for: {chunk}")
    friend = Session(ring.servers[1].port, ring.tokens[2])
    expect([p["user"]["id"] for p in friend.ready["presences"]] == [bob_id],
           f"READY shows {friend.ready['presences']}")
    friend.close()


def sessions_of_one_account(ring, bob, there):
    second = Session(ring.servers[1].port, bob)
    expect(len(second.ready["sessions"]) == 2, f"READY lists {second.ready['sessions']}")
    there.wait(lambda events: any(t == "SESSIONS_REPLACE" and len(d) == 2 for t, d in events),
               "the session on the other node is missing")
    # Code 1000 ends a session immediately.
    second.wire.socket.sendall(b"\x88\x82" + bytes(4) + (1000).to_bytes(2, "big"))
    there.wait(lambda events: [len(d) for t, d in events if t == "SESSIONS_REPLACE"][-1] == 1,
               "the session on the other node did not end")
    second.close()


def presences_recover_after_a_nats_outage(ring, broker, there, watcher, bob_id):
    broker.kill()
    ring.wait_metric("guildhall_nats_connected", 0)
    show(there, "idle")
    broker.start()
    ring.wait_metric("guildhall_nats_connected", 1)
    wait_status_of(watcher, bob_id, "idle")


def new_node_knows_all_presences(ring, guild, bob_id):
    ring.start(3)
    ring.wait_metric("guildhall_nats_connected", 1)
    wait_present(ring, 3, ring.tokens[0], guild, 2)
    friend = Session(ring.servers[3].port, ring.tokens[2])
    expect([(p["user"]["id"], p["status"]) for p in friend.ready["presences"]]
           == [(bob_id, "idle")], f"READY shows {friend.ready['presences']}")
    friend.close()


def users_of_a_killed_node_go_offline_unless_they_resume(executable):
    broker = Broker()
    os.environ["GUILDHALL_TEST_FAULT"] = "quick-fade"
    try:
        ring = Ring(executable, nodes=1, bus=broker.url, people=("ada", "bob", "zoe"))
        del os.environ["GUILDHALL_TEST_FAULT"]
        with ring:
            ring.start(2)
            ada, bob, zoe = ring.tokens
            guild, _ = place_of(ring.client(1, ada))
            ring.wait_metric("guildhall_nats_connected", 1)
            bob_id, zoe_id = me(ring, 1, bob), me(ring, 1, zoe)
            watcher = Session(ring.servers[1].port, ada)
            Session(ring.servers[2].port, bob)
            ports = [ring.servers[2].port]
            lasting = Lasting(lambda: ports, zoe)
            wait_present(ring, 1, ada, guild, 3)
            wait_until(lambda: ring.sql("select count(*) from session_homes") == "3",
                       "the session owners were not stored")
            killed_at = time.monotonic()
            ring.servers[2].kill()
            ports[:] = [ring.servers[1].port]
            lasting.wait(lambda: lasting.resumed, "coming back")
            in_time = time.monotonic() - killed_at < 4  # and its node is not declared dead yet
            wait_status_of(watcher, bob_id, "offline")
            wait_present(ring, 1, ada, guild, 2)
            looks = statuses_of(watcher, zoe_id)
            expect(set(looks) == {"online"} or not in_time, f"{looks}")
            lasting.close()
    finally:
        os.environ.pop("GUILDHALL_TEST_FAULT", None)
    broker.kill()


def rate_limit_counts_apply_on_every_node(executable):
    broker = Broker()
    with Ring(executable, bus=broker.url,
              flags=("--rate-limits", "on", "--rate-limit-anonymous", "1000")) as ring:
        owner = ring.client(1, ring.tokens[0])
        _, channel = place_of(owner)
        ring.wait_metric("guildhall_nats_connected", 1)
        before = strict_rate_limit_is_exact_across_nodes(ring)
        for name in ("one", "two"):
            expect(owner.call("PATCH", f"/channels/{channel}", {"name": name})[0] == 200, name)
        # The other rate limits are used by less than a quarter, so they are not published.
        wait_until(lambda: ring.metric(2, "guildhall_counts_heard_total") == before + 2,
                   "what was counted")
        status, answer = ring.client(2, ring.tokens[0]).call("PATCH", f"/channels/{channel}",
                                                             {"name": "three"})
        expect(status == 429, f"the other node did not count the requests: {status} {answer}")
        session_starts_of_a_bot_count_on_every_node(ring, owner)
    broker.kill()


LOGINS, WINDOW = 5, 60  # logins per address and window in seconds


def strict_rate_limit_is_exact_across_nodes(ring):
    """Sends registrations to both nodes in turn, each after the other node received the last
    count."""
    calls = []
    heard = {1: 0, 2: 0}
    for turn in range(2 * LOGINS + 2):
        here, there = 1 + turn % 2, 2 - turn % 2
        begun = time.monotonic()
        status, _ = ring.client(here).call("POST", "/auth/register", {})  # an empty request counts too
        calls.append((begun, time.monotonic(), status != 429))
        if status != 429:
            heard[there] += 1
            wait_until(lambda n=there: ring.metric(n, "guildhall_counts_heard_total") == heard[n],
                       "the other node does not receive each count")
    check_limit(calls, LOGINS, WINDOW)
    expect(calls[0][2] and not calls[-1][2], f"{[through for _, _, through in calls]}")
    return heard[2]


def session_starts_of_a_bot_count_on_every_node(ring, owner):
    app = owner.call("POST", "/applications", {"name": "counter"})[1]["id"]
    bot = "Bot " + owner.call("POST", f"/applications/{app}/bot/reset", {})[1]["token"]
    Session(ring.servers[1].port, bot)

    def left():
        status, answer = ring.client(2, bot).call("GET", "/gateway/bot")
        return answer["session_start_limit"]["remaining"] if status == 200 else None  # or rate limited
    wait_until(lambda: left() == 999, "the other node does not count session starts")


if __name__ == "__main__":
    run_cases("cluster/presence", [
        presences_are_known_on_every_node,
        users_of_a_killed_node_go_offline_unless_they_resume,
        rate_limit_counts_apply_on_every_node,
    ])

#!/usr/bin/env python3
"""log_positions - tests great positions of the event log: no event is lost beyond 2^38, and a write that needs
a position beyond the last one (LOG_POSITION_MAX) is refused."""

from cluster_nodes import Cluster, Session, expect, guild_and_channel_of
from cases import run_cases
from resuming_client import ResumingClient

LAST = (1 << 42) - 1
PARTITION = 1000000


def start_at(cluster, position):
    """The next position of the log is position + 1."""
    part = position // PARTITION
    cluster.sql(f"select setval('log_position', {position}), log_make_part({part}); "
                f"insert into log_parts values ({part}, clock_timestamp())")
    for node in (1, 2):
        cluster.start(node)


def post_until_refused(cluster, channel, count):
    """Posts through both nodes in turn; returns the accepted texts and the status of the first refusal."""
    clients = [cluster.client(node, cluster.tokens[0]) for node in (1, 2)]
    accepted = []
    for number in range(count):
        status, _ = clients[number % 2].call("POST", f"/channels/{channel}/messages", {"content": f"m{number}"})
        if status != 200:
            return accepted, status
        accepted.append(f"m{number}")
    return accepted, None


def events_at_great_positions_are_delivered(executable):
    """Positions around 2^38, where the numbers of events began again in earlier versions."""
    with Cluster(executable, nodes=0) as cluster:
        start_at(cluster, (1 << 38) - 20)
        _, channel = guild_and_channel_of(cluster.client(1, cluster.tokens[0]))
        node = [1]
        session = ResumingClient(lambda: [cluster.servers[node[0]].port], cluster.tokens[1])
        other = Session(cluster.servers[2].port, cluster.tokens[0])
        accepted, status = post_until_refused(cluster, channel, 40)
        expect(status is None, f"a message: {status}")
        session.wait_for(accepted[-1])
        node[0] = 2
        cluster.servers[1].kill()
        status, _ = cluster.client(2, cluster.tokens[0]).call("POST", f"/channels/{channel}/messages",
                                                              {"content": "after"})
        expect(status == 200, f"a message: {status}")
        session.wait_for("after")
        other.wait(lambda events: any(d.get("content") == "after" for _, d in events), "the last message")
        expect(session.contents() == other.contents() == accepted + ["after"], "events are missing or in another order")
        expect(session.resumed == 1 and not session.identified_again, "the session was not resumed")
        expect(cluster.metric(2, "guildhall_log_position") > 1 << 38, "the positions were too small for this test")
        for each in (session, other):
            each.close()


def write_beyond_the_last_position_is_refused(executable):
    with Cluster(executable, nodes=0) as cluster:
        start_at(cluster, LAST - 30)
        _, channel = guild_and_channel_of(cluster.client(1, cluster.tokens[0]))
        sessions = [Session(cluster.servers[node].port, token) for node, token in zip((1, 2), cluster.tokens)]
        accepted, status = post_until_refused(cluster, channel, 100)
        expect(accepted and status == 503, f"{len(accepted)} messages, then {status}")
        for session in sessions:
            session.wait(lambda events: any(d.get("content") == accepted[-1] for _, d in events), "the last message")
            expect(session.contents() == accepted, "events of accepted messages are missing")
        status, page = cluster.client(2, cluster.tokens[1]).call("GET", f"/channels/{channel}/messages?limit=100")
        expect(status == 200 and [m["content"] for m in page][::-1] == accepted, "a refused message was stored")
        for session in sessions:
            session.close()


if __name__ == "__main__":
    run_cases("cluster/log_positions", [
        events_at_great_positions_are_delivered,
        write_beyond_the_last_position_is_refused,
    ])

#!/usr/bin/env python3
"""guarantees - tests the guarantees of several nodes on one database. A case takes a few seconds. With
--long each case runs longer, and nodes are paused for longer than their lease."""

import os
import shutil
import signal
import subprocess
import sys
import threading
import time

from broker import Broker
from history_checks import check_ids
from cluster_nodes import Failed, PATIENCE, Cluster, Session, expect, guild_and_channel_of
from cases import run_cases
from process import Client, register, start_guildhall

LONG = "--long" in sys.argv
if LONG:
    sys.argv.remove("--long")
EACH = 400 if LONG else 40  # messages per writer
KILLS = 12 if LONG else 2


class Writer(threading.Thread):
    """A thread that posts numbered messages to one channel, on one node or on any node that
    replies."""

    def __init__(self, cluster, nodes, token, channel, name, each=EACH):
        super().__init__(daemon=True)
        self.cluster, self.nodes, self.token, self.channel = cluster, nodes, token, channel
        self.name_, self.each = name, each
        self.acknowledged, self.unknown, self.error = [], [], None
        self.start()

    def run(self):
        client, turn = None, 0
        for count in range(self.each):
            text = f"{self.name_}-{count}"
            try:
                client = client or self.cluster.client(self.nodes[turn % len(self.nodes)], self.token)
                status, answer = client.call("POST", f"/channels/{self.channel}/messages",
                                             {"content": text})
            except (OSError, Failed, ValueError):
                self.unknown.append(text)
                client, turn = None, turn + 1
                time.sleep(0.05)
                continue
            if status == 200:
                self.acknowledged.append(text)
            elif status == 503:
                self.unknown.append(text)
            else:
                self.error = f"{status} {answer}"
                return


def write_everywhere(cluster, nodes, tokens, channel, each=EACH):
    """Starts a writer on each node and one that switches nodes."""
    return ([Writer(cluster, [n], tokens[i % len(tokens)], channel, f"w{n}", each)
             for i, n in enumerate(nodes)]
            + [Writer(cluster, list(nodes), tokens[0], channel, "all", each)])


def wait_for_writers(writers):
    for writer in writers:
        writer.join(PATIENCE)
        expect(not writer.is_alive() and not writer.error, f"a writer: {writer.error}")
    acknowledged = [text for w in writers for text in w.acknowledged]
    unknown = {text for w in writers for text in w.unknown}
    expect(acknowledged, "nothing was written")
    return acknowledged, unknown


def messages_in(client, channel):
    """Returns all messages of a channel, oldest first."""
    found, before = [], ""
    while True:
        status, page = client.call("GET", f"/channels/{channel}/messages?limit=100{before}")
        expect(status == 200, f"the messages cannot be read: {status}")
        found += [m["content"] for m in page]
        if len(page) < 100:
            return found[::-1]
        before = f"&before={page[-1]['id']}"


def wait_for_last_message(cluster, node, token, channel, sessions, mark="the end"):
    """Posts a last message and waits until all sessions have received it, and thereby everything
    before it."""
    status, _ = cluster.client(node, token).call("POST", f"/channels/{channel}/messages",
                                                 {"content": mark})
    expect(status == 200, f"the last message: {status}")
    for session in sessions:
        session.wait(lambda events: any(t == "MESSAGE_CREATE" and d["content"] == mark
                                        for t, d in events), mark)


def check_received(sessions, acknowledged, unknown, stored_messages):
    """Checks that no event is lost or duplicated, that all sessions have one order, and that every
    event was committed."""
    order = sessions[0].contents()
    check_ids(sessions[0].messages(), acknowledged)
    for session in sessions:
        received = session.contents()
        expect(len(received) == len(set(received)), "an event was received twice")
        missing = set(acknowledged) - set(received)
        expect(not missing, f"{len(missing)} of {len(acknowledged)} never received: {sorted(missing)[:5]}")
        expect(received == order, "two sessions received different orders")
        expect(set(received) == set(stored_messages), "the received messages are not the stored ones")
    for name in {text.rpartition("-")[0] for text in acknowledged}:
        counts = [int(t.rpartition("-")[2]) for t in order if t.rpartition("-")[0] == name]
        expect(counts == sorted(counts), f"{name} was received out of order")
    expect(set(acknowledged) <= set(stored_messages), "an acknowledged message is missing")
    expect(set(stored_messages) - {"the end"} <= set(acknowledged) | unknown, "an unknown message is stored")


# --- cases ---------------------------------------------------------------------------


def every_session_receives_all_events_once_and_in_one_order(executable):
    with Cluster(executable, nodes=3) as cluster:
        ada, bob = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        sessions = [Session(s.port, t) for s in cluster.servers.values() for t in (ada, bob)]
        acknowledged, unknown = wait_for_writers(write_everywhere(cluster, [1, 2, 3], [ada, bob], channel))
        wait_for_last_message(cluster, 2, ada, channel, sessions)
        check_received(sessions, acknowledged, unknown, messages_in(cluster.client(3, ada), channel))
        listed = subprocess.run([executable, "nodes", "--store", cluster.store, "--data",
                                 os.path.join(cluster.folder, "data")],
                                capture_output=True, text=True, timeout=PATIENCE)
        lines = [line.split() for line in listed.stdout.splitlines()]
        expect([words[0] for words in lines] == ["node", "1", "2", "3"]
               and all("serves" in words for words in lines[1:]), f"nodes: {listed}")
        for session in sessions:
            session.close()


def logout_on_one_node_applies_to_all_nodes(executable):
    with Cluster(executable, nodes=3) as cluster:
        sessions, slowest = [], 0
        for round_ in range(20):
            token = register(cluster.servers[1].port, f"guest{round_}")
            clients = [cluster.client(node, token) for node in (2, 3)]
            for client in clients:
                expect(client.call("GET", "/users/@me")[0] == 200, "the token is not valid")
            if round_ % 5 == 0:
                sessions.append(Session(cluster.servers[2].port, token))
            began = time.monotonic()
            expect(cluster.client(1, token).call("POST", "/auth/logout", {})[0] == 204, "log-out")
            slowest = max(slowest, time.monotonic() - began)
            for client in clients:
                status = client.call("GET", "/users/@me")[0]
                expect(status == 401, f"round {round_}: answered {status} after the logout")
        for session in sessions:
            expect("4004" in session.wait_end(), f"its session ended with {session.ended}")
        print(f"slowest logout {slowest * 1000:.0f} ms")


def permissions_removed_on_one_node_are_removed_on_the_other(executable):
    with Cluster(executable) as cluster:
        ada, bob = cluster.tokens
        owner = cluster.client(1, ada)
        guild, channel = guild_and_channel_of(owner)
        session, witness = Session(cluster.servers[2].port, bob), Session(cluster.servers[2].port, ada)
        for turn in range(10):
            hide = {"type": 0, "deny": str(1 << 10), "allow": "0"}
            expect(owner.call("PUT", f"/channels/{channel}/permissions/{guild}", hide)[0] == 204,
                   "hiding the channel")
            for node in (1, 2):
                expect(cluster.client(node, ada).call("POST", f"/channels/{channel}/messages",
                                                      {"content": f"secret {turn}"})[0] == 200, "post")
            expect(owner.call("DELETE", f"/channels/{channel}/permissions/{guild}")[0] == 204,
                   "showing it again")
            expect(owner.call("POST", f"/channels/{channel}/messages",
                              {"content": f"open {turn}"})[0] == 200, "post")
        wait_for_last_message(cluster, 2, ada, channel, [session, witness])
        contents = session.contents()
        expect(contents == [f"open {turn}" for turn in range(10)] + ["the end"], f"bob received {contents}")
        expect(len(witness.contents()) == 31, "ada did not receive all messages")


def exclusive_node_and_duplicate_node_number_are_refused(executable):
    with Cluster(executable, nodes=1) as cluster:
        command = [executable, "serve", "--listen", "127.0.0.1:0", "--data",
                   os.path.join(cluster.folder, "data"), "--store", cluster.store]
        for flags, words in ((["--node", "1", "--bus", "poll"], "another server with node number 1"),
                             (["--node", "2"], "another server (node 1) runs on this database")):
            done = subprocess.run(command + flags, capture_output=True, text=True, timeout=PATIENCE)
            expect(done.returncode == 1 and words in done.stderr,
                   f"{flags}: {done.returncode} {done.stderr}")
        done = subprocess.run(command + ["--bus", "mqtt://x"], capture_output=True, text=True,
                              timeout=PATIENCE)
        expect(done.returncode == 1 and "bus must be off, poll, or nats://" in done.stderr, done.stderr)
        for flags, words in ((["--bus", "poll"], "bus requires store"),
                             (["--store-standby", cluster.store], "store-standby requires store")):
            done = subprocess.run(command[:-2] + flags, capture_output=True, text=True, timeout=PATIENCE)
            expect(done.returncode == 1 and words in done.stderr, done.stderr)
        expect(cluster.client(1, cluster.tokens[0]).call("GET", "/users/@me")[0] == 200, "the first")


def node_with_a_separate_file_folder_is_refused(executable):
    with Cluster(executable, nodes=1) as cluster:
        other_folder = os.path.join(cluster.folder, "elsewhere")
        os.makedirs(os.path.join(other_folder, "blobs"))
        shutil.copy(os.path.join(cluster.folder, "data", "pepper.key"), other_folder)
        command = [executable, "serve", "--listen", "127.0.0.1:0", "--data", other_folder,
                   *cluster.command(2)]
        done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE)
        expect(done.returncode == 1 and "node 1 uses another folder for files" in done.stderr,
               f"{done.returncode} {done.stderr}")
        marks = os.path.join(cluster.folder, "data", "blobs", ".nodes")
        expect(len(os.listdir(marks)) == 1, str(os.listdir(marks)))
        # The folder of files may be shared without the rest.
        os.rmdir(os.path.join(other_folder, "blobs", ".nodes"))
        os.rmdir(os.path.join(other_folder, "blobs", ".new"))
        os.rmdir(os.path.join(other_folder, "blobs"))
        os.symlink(os.path.join(cluster.folder, "data", "blobs"), os.path.join(other_folder, "blobs"))
        second = start_guildhall(executable, other_folder, *cluster.command(2))
        try:
            expect(len(os.listdir(marks)) == 2, str(os.listdir(marks)))
        finally:
            second.stop()
        expect(len(os.listdir(marks)) == 1, str(os.listdir(marks)))
        # The leftovers of a killed node are removed at the next start.
        cluster.servers[1].kill()
        deadline = time.monotonic() + PATIENCE
        while cluster.sql("select count(*) from server_connections") != "0":
            expect(time.monotonic() < deadline, "the database does not notice the end of a node")
            time.sleep(0.02)
        cluster.start(1)
        expect(len(os.listdir(marks)) == 1, str(os.listdir(marks)))


def killed_node_loses_no_events(executable):
    with Cluster(executable, nodes=3) as cluster:
        ada, bob = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        sessions = [Session(cluster.servers[n].port, t) for n in (1, 3) for t in (ada, bob)]
        writers = write_everywhere(cluster, [1, 2, 3], [ada, bob], channel, EACH * 3)
        for _ in range(KILLS):
            time.sleep(0.5)
            cluster.servers[2].kill()
            cluster.start(2)
        acknowledged, unknown = wait_for_writers(writers)
        wait_for_last_message(cluster, 2, ada, channel, sessions)
        check_received(sessions, acknowledged, unknown, messages_in(cluster.client(2, ada), channel))
        for session in sessions:
            session.close()


def randomly_terminated_database_connections_lose_no_events(executable):
    with Cluster(executable, nodes=2) as cluster:
        ada, bob = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        sessions = [Session(cluster.servers[n].port, t) for n in (1, 2) for t in (ada, bob)]
        writers = write_everywhere(cluster, [1, 2], [ada, bob], channel, EACH * 2)
        while any(w.is_alive() for w in writers):
            cluster.sql("select pg_terminate_backend(pid) from (select distinct pid from "
                        "server_connections order by pid) s where random() < 0.1")
            time.sleep(0.05)
        acknowledged, unknown = wait_for_writers(writers)
        cluster.wait_ready()
        wait_for_last_message(cluster, 2, ada, channel, sessions)
        check_received(sessions, acknowledged, unknown, messages_in(cluster.client(1, ada), channel))


def paused_node_delivers_missed_events_and_drops_its_caches(executable):
    with Cluster(executable, nodes=2) as cluster:
        ada, bob = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        guest = register(cluster.servers[1].port, "guest")
        paused_client = cluster.client(2, guest)
        expect(paused_client.call("GET", "/users/@me")[0] == 200, "the guest")
        session, witness = Session(cluster.servers[2].port, bob), Session(cluster.servers[1].port, ada)
        cluster.servers[2].freeze()
        began = time.monotonic()
        expect(cluster.client(1, guest).call("POST", "/auth/logout", {})[0] == 204, "log-out")
        took = time.monotonic() - began
        expect(took > 1.5, f"the logout did not wait for the paused node: {took:.2f} s")
        for count in range(50):
            cluster.client(1, ada).call("POST", f"/channels/{channel}/messages",
                                        {"content": f"w-{count}"})
        if LONG:
            deadline = time.monotonic() + PATIENCE
            while cluster.sql("select state from nodes where node = 2") != "3":
                expect(time.monotonic() < deadline, "the node was not declared dead")
                time.sleep(0.2)
        cluster.servers[2].child.send_signal(signal.SIGCONT)
        expect(paused_client.call("GET", "/users/@me")[0] == 401, "a revoked token was accepted")
        wait_for_last_message(cluster, 1, ada, channel, [session, witness])
        expect(session.contents() == witness.contents(), "the two sessions received different events")


def jobs_are_divided_among_nodes_and_run_once(executable):
    with Cluster(executable, nodes=3) as cluster:
        cluster.wait_ready()
        nodes = list(cluster.servers)
        deadline = time.monotonic() + PATIENCE
        while any(cluster.metric(n, "guildhall_cluster_nodes") != 3 for n in nodes):
            expect(time.monotonic() < deadline, "the nodes do not see each other")
            time.sleep(0.05)
        before = sum(cluster.metric(n, "guildhall_jobs_total") for n in nodes)
        retained_jobs = int(cluster.sql("select count(*) from jobs"))
        # Inserts due jobs without a notification, also one of an unknown kind.
        cluster.sql("insert into jobs (kind, key, due, data) select 'poll-leftovers', "
                    "(1000 + n::bigint) * 4194304, extract(epoch from clock_timestamp()) * 1000000, '' "
                    "from generate_series(1, 600) n")
        cluster.sql("insert into jobs (kind, key, due, data) values ('of-tomorrow', 1, "
                    "extract(epoch from clock_timestamp()) * 1000000, '')")
        deadline = time.monotonic() + PATIENCE
        while cluster.sql("select count(*) from jobs where kind = 'poll-leftovers'") != "0":
            expect(time.monotonic() < deadline, "jobs are left")
            time.sleep(0.05)
        deadline = time.monotonic() + PATIENCE
        while sum(cluster.metric(n, "guildhall_jobs_total") for n in nodes) < before + 600:
            expect(time.monotonic() < deadline, "jobs disappeared without being run")
            time.sleep(0.05)
        expect(sum(cluster.metric(n, "guildhall_jobs_total") for n in nodes) <= before + 600 + retained_jobs,
               "a job was run twice")
        expect(cluster.sql("select due < extract(epoch from clock_timestamp()) * 1000000 from jobs "
                           "where kind = 'of-tomorrow'") == "t", "a job of a newer version was rescheduled")


def unreadable_log_frame_makes_nodes_unready(executable):
    with Cluster(executable, nodes=2) as cluster:
        cluster.wait_ready()
        cluster.sql("insert into log (position, body) values (nextval('log_position'), 'no frame')")
        deadline = time.monotonic() + PATIENCE
        for node in (1, 2):
            while cluster.metric(node, "guildhall_log_unreadable_total") != 1:
                expect(time.monotonic() < deadline, "the unreadable frame is not counted")
                time.sleep(0.05)
            expect(cluster._status(cluster.servers[node].port) != 200, "the node reports that it is ready")
        cluster.servers[1].kill()
        cluster.start(1)
        deadline = time.monotonic() + PATIENCE
        while cluster._status(cluster.servers[1].port) != 200:
            expect(time.monotonic() < deadline, "the node is not ready after a restart")
            time.sleep(0.05)


def status_from(address, port):
    """Returns the status and error code that a client with this address gets."""
    client = Client(port)
    client.connection.source_address = (address, 0)
    status, answer = client.call("GET", "/gateway")
    client.close()
    return status, (answer or {}).get("code")


def banned_address_is_refused_by_every_node(executable):
    with Cluster(executable, nodes=3) as cluster:
        cluster.wait_ready()
        ports = [server.port for server in cluster.servers.values()]
        sessions = [Session(port, cluster.tokens[0]) for port in ports]
        expect(all(status_from("127.0.0.1", p)[0] == 200 for p in ports), "refused before the ban")
        cluster.run_operator_command(2, "ban", "add", "127.0.0.1/32", "spam")
        # The operator command completes when every node knows the ban.
        for port in ports:
            found = status_from("127.0.0.1", port)
            expect(found == (403, 40333), f"a banned address got {found}")
            expect(status_from("127.0.0.2", port)[0] == 200, "another address is refused")
        for session in sessions:
            ended = session.wait_end()
            expect(ended == "closed with 4004", f"a session of that address: {ended}")
        # A node that starts later reads the bans.
        cluster.start(4)
        expect(status_from("127.0.0.1", cluster.servers[4].port) == (403, 40333), "a new server")
        (line,) = [line for line in cluster.run_operator_command(1, "ban", "list").splitlines() if "127.0.0.1" in line]
        cluster.run_operator_command(3, "ban", "lift", next(w for w in line.split() if w.isdigit()))
        for server in cluster.servers.values():
            expect(status_from("127.0.0.1", server.port)[0] == 200, "refused after the ban")


def post(client, channel, text):
    expect(client.call("POST", f"/channels/{channel}/messages", {"content": text})[0] == 200, text)


def nats_delivers_frames_and_transient_events_to_other_nodes(executable):
    broker = Broker(password="s3cret", stand_in=True)
    with Cluster(executable, nodes=2, bus=broker.url) as cluster:
        ada, bob = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        cluster.wait_metric("guildhall_nats_connected", 1)
        local, remote = Session(cluster.servers[1].port, bob), Session(cluster.servers[2].port, bob)
        acknowledged, unknown = wait_for_writers(write_everywhere(cluster, [1, 2], [ada, bob], channel))
        expect(cluster.client(1, ada).call("POST", f"/channels/{channel}/typing", {})[0] == 204, "typing")
        for session in (local, remote):
            session.wait(lambda events: any(t == "TYPING_START" for t, _ in events), "typing")
        for subject in broker.subjects():
            broker.publish(subject, b"\0" * 24 + b"forged")
        deadline = time.monotonic() + PATIENCE
        for_others = 1  # the messages for node 1 alone
        while cluster.metric(2, "guildhall_nats_refused_total") != len(broker.subjects()) - for_others:
            expect(time.monotonic() < deadline, "an unencrypted message was not refused")
            time.sleep(0.02)
        expect(cluster.client(1, bob).call("POST", "/auth/logout", {})[0] == 204, "log-out")
        expect(cluster.client(2, bob).call("GET", "/users/@me")[0] == 401, "bob's token is still accepted")
        wait_for_last_message(cluster, 2, ada, channel, [])
        stored_messages = messages_in(cluster.client(1, ada), channel)
        check_received([EndedSession(local), EndedSession(remote)], acknowledged, unknown, stored_messages[:-1])
        expect(cluster.metric(2, "guildhall_nats_heard_total") > 20, "no message came through NATS")
    broker.kill()


class EndedSession:
    """The events that a session received before it ended."""

    def __init__(self, session):
        expect("4004" in (session.wait_end() or ""), f"it ended with {session.ended}")
        self.contents, self.messages = session.contents, session.messages


def killed_nats_loses_no_events(executable):
    lose_nats(executable, Broker())


def dropped_nats_messages_lose_no_events(executable):
    lose_nats(executable, Broker(stand_in=True))


def lose_nats(executable, broker):
    with Cluster(executable, nodes=2, bus=broker.url) as cluster:
        ada, bob = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        cluster.wait_metric("guildhall_nats_connected", 1)
        sessions = [Session(cluster.servers[n].port, t) for n in (1, 2) for t in (ada, bob)]
        writers = write_everywhere(cluster, [1, 2], [ada, bob], channel, EACH * 3)
        for _ in range(20 if LONG else 3):
            broker.kill()
            cluster.wait_metric("guildhall_nats_connected", 0)
            time.sleep(0.05)
            broker.start()
            cluster.wait_metric("guildhall_nats_connected", 1)
            broker.drops_messages = True
            time.sleep(0.1)
            broker.drops_messages = False
        acknowledged, unknown = wait_for_writers(writers)
        wait_for_last_message(cluster, 2, ada, channel, sessions)
        check_received(sessions, acknowledged, unknown, messages_in(cluster.client(1, ada), channel))
        for session in sessions:
            session.close()
    broker.kill()


def frame_too_large_for_nats_is_read_from_the_log(executable):
    broker = Broker(max_payload=1024)
    with Cluster(executable, nodes=2, bus=broker.url) as cluster:
        ada, bob = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        cluster.wait_metric("guildhall_nats_connected", 1)
        session = Session(cluster.servers[2].port, bob)
        for count in range(5):
            post(cluster.client(1, ada), channel, f"w-{count} " + "x" * 1500)
        wait_for_last_message(cluster, 1, ada, channel, [session])
        expect(len(session.contents()) == 6, f"received {len(session.contents())} of 6")
        cluster.wait_metric("guildhall_nats_connected", 1)
    broker.kill()


if __name__ == "__main__":
    run_cases("cluster/guarantees", [
        every_session_receives_all_events_once_and_in_one_order,
        logout_on_one_node_applies_to_all_nodes,
        permissions_removed_on_one_node_are_removed_on_the_other,
        exclusive_node_and_duplicate_node_number_are_refused,
        node_with_a_separate_file_folder_is_refused,
        killed_node_loses_no_events,
        randomly_terminated_database_connections_lose_no_events,
        paused_node_delivers_missed_events_and_drops_its_caches,
        jobs_are_divided_among_nodes_and_run_once,
        unreadable_log_frame_makes_nodes_unready,
        banned_address_is_refused_by_every_node,
        nats_delivers_frames_and_transient_events_to_other_nodes,
        dropped_nats_messages_lose_no_events,
        frame_too_large_for_nats_is_read_from_the_log,
    ] + ([killed_nats_loses_no_events] if LONG else []))

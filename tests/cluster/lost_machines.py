#!/usr/bin/env python3
"""lost_machines - tests that sessions resume elsewhere when a node and its machine are lost. The journal of
a node is lost with it: other nodes know its sessions only from their replicas."""

import os
import shutil
import signal
import time

from broker import Broker
from killed_nodes import finish_and_check, check_all, all_messages
from cluster_nodes import PATIENCE, Cluster, expect
from resuming_client import ResumingClient
from session_moves import LoadTest, people
from server_restart import LONG
from cases import run_cases

# How often a node is killed, and the seconds between two kills.
KILLS = int(os.environ.get("GUILDHALL_TEST_KILLS", "20" if LONG else "2"))
PAUSE = float(os.environ.get("GUILDHALL_TEST_PAUSE", "0.3"))
# Limit for op 9, which is sent within one second on an idle machine. `make test` runs this next to
# other tests, so it has no limit there.
REFUSAL_SECONDS = 2 if LONG else PATIENCE
SESSIONS = 40 if LONG else 9


class ClusterOfMachines(Cluster):
    """Nodes whose journals are on separate machines."""

    def journal_folder(self, node):
        return os.path.join(self.folder, f"ledger{node}")

    def command(self, node):
        words = super().command(node)
        if node == 0:
            del words[words.index("--node"):words.index("--node") + 2]
        return [*words, "--ledger", self.journal_folder(node)]

    def environment(self):
        """On a busy machine a replica may reply after the time limit of a RESUME, so only --long
        uses that limit."""
        faults = [os.environ.get("GUILDHALL_TEST_FAULT"), None if LONG else "patient-resume"]
        return {"GUILDHALL_TEST_FAULT": ",".join(filter(None, faults))}

    def lose(self, node):
        """Kills the node and deletes its journal."""
        self.servers[node].kill()
        shutil.rmtree(self.journal_folder(node))

    def is_complete(self, replica_node, owner):
        """Returns whether a replica, possibly a new one, has all sessions of another node."""
        return (self.metric(replica_node, "guildhall_kept_sessions")
                >= self.metric(owner, "guildhall_sessions"))

    def wait_until_replicated(self):
        """Waits until the next node has a replica of each node."""
        deadline = time.monotonic() + PATIENCE
        while True:
            rows = self.sql("select identity, node from nodes where state = 1").split()
            ids = sorted(int(row.split("|")[0]) for row in rows)
            by_node = {int(row.split("|")[1]): int(row.split("|")[0]) for row in rows}
            nexts = {me: ids[(at + 1) % len(ids)] for at, me in enumerate(ids)}
            nodes = {identity: node for node, identity in by_node.items()}
            if len(ids) == len(self.servers) and all(
                    self.metric(n, "guildhall_keeper_identity") == nexts[by_node[n]]
                    and self.is_complete(nodes[nexts[by_node[n]]], n) for n in self.servers):
                return
            expect(time.monotonic() < deadline, "a node has no replica")
            time.sleep(0.05)


class LostMachineTest(LoadTest):
    """A load test whose nodes lose their journals when they are killed."""

    def __init__(self, executable, nodes, broker):
        super().__init__(executable, nodes, broker.url, count=SESSIONS, cluster_class=ClusterOfMachines)
        self.cluster.wait_until_replicated()

    def lose(self, *nodes):
        for node in nodes:
            self.up.discard(node)
        for node in nodes:
            self.cluster.lose(node)

    def wait_until_resumed(self):
        for session in self.sessions:
            session.wait(lambda s=session: not s.lost_at and s.session_id, "coming back")

    def start(self, *nodes):
        for node in nodes:
            self.cluster.start(node)
            self.up.add(node)
        self.cluster.wait_until_replicated()

    def client(self):
        return self.cluster.client(min(self.up), self.cluster.tokens[0])


def sessions_resume_after_the_machine_of_their_node_is_lost(executable):
    broker = Broker()
    test = LostMachineTest(executable, 3, broker)
    with test.cluster:
        for turn in range(KILLS):
            node = 1 + turn % 3
            time.sleep(PAUSE)
            test.lose(node)
            if turn % 2:
                test.start(node)  # an empty machine replaces it before its clients reconnect
            test.wait_until_resumed()
            if not turn % 2:
                test.start(node)
        recovered = sum(test.cluster.metric(n, "guildhall_recovered_total") for n in test.up)
        finish_and_check(test.sessions, test.writers, test.client, test.channel)
        print(f"{recovered:.0f} sessions recovered from replicas by the running nodes")
        expect(recovered, "no session was recovered")
    broker.kill()


def session_identifies_again_if_node_and_replica_are_lost(executable):
    broker = Broker()
    test = LostMachineTest(executable, 3, broker)
    with test.cluster:
        time.sleep(0.3)
        test.lose(1, 2)
        test.start(1, 2)
        test.wait_until_resumed()
        for writer in test.writers:
            writer.stop_requested = True
            writer.join(PATIENCE)
        expect(test.client().call("POST", f"/channels/{test.channel}/messages",
                                  {"content": "the end"})[0] == 200, "the last message")
        for session in test.sessions:
            session.wait_for("the end")
        acknowledged = [text for writer in test.writers for text in writer.acknowledged]
        check_all(test.sessions, acknowledged, all_messages(test.client(), test.channel))
        times = [t for s in test.sessions for t in s.refusal_times]
        print(f"{sum(s.resumed for s in test.sessions)} resumed, {len(times)} identified again, op 9 after at "
              f"most {max(times, default=0):.2f} s")
        expect(max(times, default=0) < REFUSAL_SECONDS, f"op 9 after {max(times, default=0):.2f} s")
    broker.kill()


def copies_of_former_owners_do_not_prevent_resumption(executable):
    """Two machines are lost one after the other, before the copies of the first one's sessions
    expire. Each client waits at the node that has neither the session nor its last copy."""
    broker = Broker()
    test = LostMachineTest(executable, 3, broker)
    with test.cluster:
        for writer in test.writers:  # permissions and messages do not change, so all sessions can resume
            writer.stop_requested = True
            writer.join(PATIENCE)
        for node in (3, 2, 1, 3) if LONG else (3, 2, 1):
            test.lose(node)
            test.wait_until_resumed()
            test.start(node)
        identified_again = sum(s.identified_again for s in test.sessions)
        print(f"{sum(s.resumed for s in test.sessions)} resumed, {identified_again} identified again")
        expect(not identified_again, f"{identified_again} sessions had to identify again")
    broker.kill()


def node_without_a_number_replicates_its_sessions(executable):
    """A node that is started without --node has the number 0."""
    broker = Broker()
    with ClusterOfMachines(executable, nodes=0, people=people(SESSIONS), bus=broker.url) as cluster:
        for node in (0, 2, 3):
            cluster.start(node)
        cluster.wait_metric("guildhall_nats_connected", 1)
        up = [0]
        sessions = [ResumingClient(lambda: [cluster.servers[n].port for n in up], token)
                    for token in cluster.tokens]
        cluster.wait_until_replicated()
        up[:] = [2, 3]
        cluster.lose(0)
        for session in sessions:
            session.wait(lambda s=session: s.resumed + s.identified_again, "coming back")
        identified_again = sum(s.identified_again for s in sessions)
        expect(not identified_again, f"{identified_again} sessions had to identify again")
        for session in sessions:
            session.close()
    broker.kill()


def sessions_of_a_paused_node_resume_elsewhere(executable):
    """The journal is locked and the node does not reply; the replica is sufficient."""
    broker = Broker()
    test = LostMachineTest(executable, 3, broker)
    with test.cluster:
        time.sleep(0.3)
        test.up.discard(1)
        test.cluster.servers[1].freeze()
        for session in test.sessions:
            session.lose()
        for session in test.sessions:
            session.wait(lambda s=session: s.resumed + s.identified_again, "coming back")
        test.wait_until_resumed()
        time.sleep(30)
        test.cluster.servers[1].child.send_signal(signal.SIGCONT)
        test.up.add(1)
        # The locks of the node are released when it is declared dead, after five seconds.
        finish_and_check(test.sessions, test.writers, test.client, test.channel, quick=False)
    broker.kill()


if __name__ == "__main__":
    run_cases("cluster/lost_machines", [
        sessions_resume_after_the_machine_of_their_node_is_lost,
        session_identifies_again_if_node_and_replica_are_lost,
        copies_of_former_owners_do_not_prevent_resumption,
    ] + ([
        node_without_a_number_replicates_its_sessions,
        sessions_of_a_paused_node_resume_elsewhere,
    ] if LONG else []))

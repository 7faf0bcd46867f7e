#!/usr/bin/env python3
"""lost_machines - tests that sessions resume elsewhere when a node and its machine are lost. The journal of
a node is lost with it: other nodes know its sessions only from their replicas."""

import os
import shutil
import signal
import time

from broker import Broker
from killed_nodes import settle, check_all, all_messages
from cluster_nodes import PATIENCE, Ring, expect
from resuming_client import Lasting
from session_moves import Scene, people
from server_restart import LONG
from cases import run_cases

# How often a node is killed, and the seconds between two kills.
KILLS = int(os.environ.get("GUILDHALL_TEST_KILLS", "20" if LONG else "2"))
PAUSE = float(os.environ.get("GUILDHALL_TEST_PAUSE", "0.3"))
# Limit for op 9, which is sent within one second on an idle machine. `make test` runs this next to
# other tests, so it has no limit there.
REFUSAL_SECONDS = 2 if LONG else PATIENCE
SESSIONS = 40 if LONG else 9


class Machines(Ring):
    """Nodes whose journals are on separate machines."""

    def ledger(self, node):
        return os.path.join(self.folder, f"ledger{node}")

    def command(self, node):
        words = super().command(node)
        if node == 0:
            del words[words.index("--node"):words.index("--node") + 2]
        return [*words, "--ledger", self.ledger(node)]

    def environment(self):
        """On a busy machine a replica may reply after the time limit of a RESUME, so only --long
        uses that limit."""
        faults = [os.environ.get("GUILDHALL_TEST_FAULT"), None if LONG else "patient-resume"]
        return {"GUILDHALL_TEST_FAULT": ",".join(filter(None, faults))}

    def lose(self, node):
        """Kills the node and deletes its journal."""
        self.servers[node].kill()
        shutil.rmtree(self.ledger(node))

    def is_whole(self, keeper, kept):
        """Returns whether a replica, possibly a new one, has all sessions of another node."""
        return (self.metric(keeper, "guildhall_kept_sessions")
                >= self.metric(kept, "guildhall_sessions"))

    def wait_kept(self):
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
                    and self.is_whole(nodes[nexts[by_node[n]]], n) for n in self.servers):
                return
            expect(time.monotonic() < deadline, "a node has no replica")
            time.sleep(0.05)


class Lab(Scene):
    def __init__(self, executable, nodes, broker):
        super().__init__(executable, nodes, broker.url, count=SESSIONS, kind=Machines)
        self.ring.wait_kept()

    def lose(self, *nodes):
        for node in nodes:
            self.up.discard(node)
        for node in nodes:
            self.ring.lose(node)

    def wait_back(self):
        for session in self.sessions:
            session.wait(lambda s=session: not s.lost_at and s.session_id, "coming back")

    def start(self, *nodes):
        for node in nodes:
            self.ring.start(node)
            self.up.add(node)
        self.ring.wait_kept()

    def client(self):
        return self.ring.client(min(self.up), self.ring.tokens[0])


def sessions_resume_after_the_machine_of_their_node_is_lost(executable):
    broker = Broker()
    lab = Lab(executable, 3, broker)
    with lab.ring:
        for turn in range(KILLS):
            node = 1 + turn % 3
            time.sleep(PAUSE)
            lab.lose(node)
            if turn % 2:
                lab.start(node)  # an empty machine replaces it before its clients reconnect
            lab.wait_back()
            if not turn % 2:
                lab.start(node)
        recovered = sum(lab.ring.metric(n, "guildhall_recovered_total") for n in lab.up)
        settle(lab.sessions, lab.pens, lab.client, lab.channel)
        print(f"{recovered:.0f} sessions recovered from replicas by the running nodes")
        expect(recovered, "no session was recovered")
    broker.kill()


def session_identifies_again_if_node_and_replica_are_lost(executable):
    broker = Broker()
    lab = Lab(executable, 3, broker)
    with lab.ring:
        time.sleep(0.3)
        lab.lose(1, 2)
        lab.start(1, 2)
        lab.wait_back()
        for pen in lab.pens:
            pen.ending = True
            pen.join(PATIENCE)
        expect(lab.client().call("POST", f"/channels/{lab.channel}/messages",
                                 {"content": "the end"})[0] == 200, "the last message")
        for session in lab.sessions:
            session.wait_for("the end")
        acknowledged = [text for pen in lab.pens for text in pen.acknowledged]
        check_all(lab.sessions, acknowledged, all_messages(lab.client(), lab.channel))
        times = [t for s in lab.sessions for t in s.refusal_times]
        print(f"{sum(s.resumed for s in lab.sessions)} resumed, {len(times)} anew, op 9 after at "
              f"most {max(times, default=0):.2f} s")
        expect(max(times, default=0) < REFUSAL_SECONDS, f"op 9 after {max(times, default=0):.2f} s")
    broker.kill()


def copies_of_former_owners_do_not_prevent_resumption(executable):
    """Two machines are lost one after the other, before the copies of the first one's sessions
    expire. Each client waits at the node that has neither the session nor its last copy."""
    broker = Broker()
    lab = Lab(executable, 3, broker)
    with lab.ring:
        for pen in lab.pens:  # permissions and messages do not change, so all sessions can resume
            pen.ending = True
            pen.join(PATIENCE)
        for node in (3, 2, 1, 3) if LONG else (3, 2, 1):
            lab.lose(node)
            lab.wait_back()
            lab.start(node)
        anew = sum(s.anew for s in lab.sessions)
        print(f"{sum(s.resumed for s in lab.sessions)} resumed, {anew} anew")
        expect(not anew, f"{anew} sessions began again")
    broker.kill()


def node_without_a_number_replicates_its_sessions(executable):
    """A node that is started without --node has the number 0."""
    broker = Broker()
    with Machines(executable, nodes=0, people=people(SESSIONS), bus=broker.url) as ring:
        for node in (0, 2, 3):
            ring.start(node)
        ring.wait_metric("guildhall_nats_connected", 1)
        up = [0]
        sessions = [Lasting(lambda: [ring.servers[n].port for n in up], token)
                    for token in ring.tokens]
        ring.wait_kept()
        up[:] = [2, 3]
        ring.lose(0)
        for session in sessions:
            session.wait(lambda s=session: s.resumed + s.anew, "coming back")
        anew = sum(s.anew for s in sessions)
        expect(not anew, f"{anew} sessions began again")
        for session in sessions:
            session.close()
    broker.kill()


def sessions_of_a_paused_node_resume_elsewhere(executable):
    """The journal is locked and the node does not reply; the replica is sufficient."""
    broker = Broker()
    lab = Lab(executable, 3, broker)
    with lab.ring:
        time.sleep(0.3)
        lab.up.discard(1)
        lab.ring.servers[1].freeze()
        for session in lab.sessions:
            session.lose()
        for session in lab.sessions:
            session.wait(lambda s=session: s.resumed + s.anew, "coming back")
        lab.wait_back()
        time.sleep(30)
        lab.ring.servers[1].child.send_signal(signal.SIGCONT)
        lab.up.add(1)
        # The locks of the node are released when it is declared dead, after five seconds.
        settle(lab.sessions, lab.pens, lab.client, lab.channel, quick=False)
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

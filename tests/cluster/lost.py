#!/usr/bin/env python3
"""lost - a server goes with its machine, and its sessions go on at the others.

Each server has a ledger that no other can read, and what it noted goes with it: others know its
sessions only by what they keep of them.
"""

import os
import shutil
import signal
import time

from broker import Broker
from killed import settle, check_all, all_messages
from ring import PATIENCE, Ring, expect
from moves import Scene
from restart import LONG
from cases import run_cases

KILLS = 20 if LONG else 2
SESSIONS = 40 if LONG else 9


class Machines(Ring):
    """Servers whose ledgers are on machines of their own."""

    def ledger(self, node):
        return os.path.join(self.folder, f"ledger{node}")

    def command(self, node):
        return [*super().command(node), "--ledger", self.ledger(node)]

    def lose(self, node):
        """Nothing is left of it."""
        self.servers[node].kill()
        shutil.rmtree(self.ledger(node))

    def is_whole(self, keeper, kept):
        """Whether one that may have just come knows of all sessions of another."""
        return (self.metric(keeper, "guildhall_kept_sessions")
                >= self.metric(kept, "guildhall_sessions"))

    def wait_kept(self):
        """Until each that lives is kept by the next of those that live."""
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
            expect(time.monotonic() < deadline, "somebody is not kept")
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


def sessions_outlive_the_machine_of_their_server(executable):
    broker = Broker()
    lab = Lab(executable, 3, broker)
    with lab.ring:
        for turn in range(KILLS):
            node = 1 + turn % 3
            time.sleep(0.3)
            lab.lose(node)
            if turn % 2:
                lab.start(node)  # an empty machine takes its place, before its clients are back
            lab.wait_back()
            if not turn % 2:
                lab.start(node)
        recovered = sum(lab.ring.metric(n, "guildhall_recovered_total") for n in lab.up)
        settle(lab.sessions, lab.pens, lab.client, lab.channel)
        print(f"{recovered:.0f} taken up from what is kept by those that live now")
        expect(recovered, "nobody was taken up")
    broker.kill()


def who_loses_server_and_keeper_begins_anew_and_misses_nothing_then(executable):
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
        print(f"{sum(s.resumed for s in lab.sessions)} resumed, "
              f"{sum(s.anew for s in lab.sessions)} anew")
    broker.kill()


def sessions_of_a_server_that_stands_still_go_on_elsewhere(executable):
    """Its ledger is locked, and it answers nothing; what is kept of it is enough."""
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
        # What it had locked is free when it is taken for dead, after five seconds.
        settle(lab.sessions, lab.pens, lab.client, lab.channel, quick=False)
    broker.kill()


if __name__ == "__main__":
    run_cases("cluster/lost", [
        sessions_outlive_the_machine_of_their_server,
    ] + ([
        who_loses_server_and_keeper_begins_anew_and_misses_nothing_then,
        sessions_of_a_server_that_stands_still_go_on_elsewhere,
    ] if LONG else []))

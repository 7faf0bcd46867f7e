#!/usr/bin/env python3
"""rolling_upgrade - tests that nodes are replaced by those of a later version one by one, under load. The
later version is the same program with two more migrations (GUILDHALL_TEST_MIGRATIONS): one that the
older version tolerates, and one that it does not."""

import os
import signal
import subprocess
import time

from session_moves import Scene
from cluster_nodes import PATIENCE, Failed, Ring, expect
from server_restart import LONG, Pen
from cases import run_cases
from process import Client, start_guildhall

STEPS = {
    "9001-more": "-- expand: those before do not look at it.\ncreate table later_words (id bigint);\n",
    "9002-less": "-- contract: nobody writes them any more.\ndrop table later_words;\n",
}
UNMARKED = {"9001-other": "create table later_words (id bigint);\n"}


def later(ring, steps, name="later"):
    """Returns the environment of a node of a later version."""
    folder = os.path.join(ring.folder, name)
    os.makedirs(folder, exist_ok=True)
    for step, text in steps.items():
        with open(os.path.join(folder, step + ".sql"), "w", encoding="ascii") as f:
            f.write(text)
    return {"GUILDHALL_TEST_MIGRATIONS": folder}


def start(ring, node, env=None):
    ring.servers[node] = start_guildhall(ring.executable, os.path.join(ring.folder, "data"),
                                         *ring.command(node), env=env)


def refused(ring, node, env=None):
    """Returns the error output of a node that does not start."""
    try:
        start(ring, node, env)
    except Failed as error:
        return str(error)
    raise Failed("it started")


def wait_until(true, words):
    deadline = time.monotonic() + PATIENCE
    while not true():
        expect(time.monotonic() < deadline, words)
        time.sleep(0.05)


def steps_of(ring):
    return ring.sql("select string_agg(number::text, ' ' order by number) from migrations "
                    "where number > 9000")


def known_steps(ring):
    """Returns the migrations that each node knows, from `guildhall nodes`."""
    done = subprocess.run([ring.executable, "nodes", "--store", ring.store], capture_output=True,
                          text=True, check=True, timeout=PATIENCE)
    return {line.split()[0]: int(line.split()[-3]) for line in done.stdout.splitlines()[1:]}


class Strict(Pen):
    """A writer that leaves a node before it is stopped, like a load balancer, and accepts no
    failure."""

    def run(self):
        client, at, count = None, None, 0
        while not self.ending:
            text = f"{self.name_}-{count}"
            try:
                if at != (at := self.port()):
                    client = Client(at, self.token)
                status, answer = client.call("POST", f"/channels/{self.channel}/messages",
                                             {"content": text})
            except (OSError, Failed, ValueError) as error:
                self.trouble = str(error)
                return
            if status != 200:
                self.trouble = f"{status} {answer}"
                return
            count += 1
            self.acknowledged.append(text)
            time.sleep(0.005)


def leave(scene, node):
    """Waits until no writer uses the node, then stops it."""
    scene.up.discard(node)
    made = [len(pen.acknowledged) for pen in scene.pens]
    wait_until(lambda: all(pen.trouble or len(pen.acknowledged) >= n + 2
                           for pen, n in zip(scene.pens, made)), "a writer makes no progress")
    scene.ring.servers[node].stop()


def replace(scene, node, env=None):
    leave(scene, node)
    start(scene.ring, node, env)
    scene.ring.wait_ready()
    scene.up.add(node)


def rolling_upgrade_causes_no_errors(executable):
    scene = Scene(executable, 3, "poll", pen=Strict)
    ring = scene.ring
    with ring:
        newer = later(ring, STEPS)
        before = known_steps(ring)["1"]
        replace(scene, 1, newer)
        expect(steps_of(ring) == "9001", f"applied while older nodes run: {steps_of(ring)}")
        expect(known_steps(ring) == {"1": 9002, "2": before, "3": before}, "guildhall nodes")
        replace(scene, 2)  # a node of the older version may still restart
        replace(scene, 2, newer)
        expect(steps_of(ring) == "9001", f"applied while an older node runs: {steps_of(ring)}")
        replace(scene, 3, newer)
        wait_until(lambda: steps_of(ring) == "9001 9002", "the last migration is not applied")
        expect(ring.sql("select to_regclass('later_words') is null") == "t", "the table was not dropped")
        said = refused(ring, 4)
        expect("it has the migration 9002 (9002-less)" in said and "use the newer program" in said, said)
        scene.finish()


def node_paused_during_the_upgrade_stops_itself(executable):
    with Ring(executable, nodes=2) as ring:
        newer = later(ring, STEPS)
        ring.wait_ready()
        ring.servers[1].freeze()
        ring.servers[2].stop()
        start(ring, 2, newer)
        expect(steps_of(ring) == "9001", f"applied while an older node runs: {steps_of(ring)}")
        # The node is declared dead for so long that the others do not expect it back.
        wait_until(lambda: ring.sql("select state from nodes where node = 1") == "3",
                   "the node was not declared dead")
        ring.sql("update nodes set seen_at = seen_at - interval '2 minutes' where node = 1")
        wait_until(lambda: steps_of(ring) == "9001 9002", "the migration waits for the dead node")
        ring.servers[1].child.send_signal(signal.SIGCONT)
        wait_until(lambda: not ring.servers[1].alive(),
                   "the node continues with tables that it does not know")
        expect("so this program cannot use the database" in ring.servers[1].read_stderr(),
               ring.servers[1].read_stderr())


def unmarked_migration_is_not_applied_while_older_nodes_run(executable):
    with Ring(executable, nodes=1) as ring:
        newer = later(ring, UNMARKED)
        said = refused(ring, 2, newer)
        expect("9001-other cannot be applied while servers of an older version run" in said, said)
        expect(steps_of(ring) == "", "it was applied")
        ring.servers[1].stop()
        start(ring, 2, newer)
        expect(steps_of(ring) == "9001", "the migration was applied")


def node_with_another_log_format_is_refused(executable):
    with Ring(executable, nodes=1) as ring:
        ring.wait_ready()
        ring.sql("update nodes set frames = 1")
        said = refused(ring, 2)
        expect("node 1 uses another format of the event log" in said, said)


def register_with(port, name, code):
    client = Client(port)
    status, _ = client.call("POST", "/auth/register",
                            {"username": name, "password": "correct horse battery", "invite": code})
    client.close()
    return status


def registration_codes_of_an_older_version_work_and_can_be_revoked(executable):
    """An older program stores registration codes as plain text, also while newer nodes run."""
    with Ring(executable, nodes=3, flags=("--registration", "invite")) as ring:
        ring.wait_ready()

        def write_old(code, uses=3):
            ring.sql("insert into registration_invites (code, uses_left, expires_at, created_at) "
                     f"values ('{code}', {uses}, 9000000000000000, 0)")
        # The state after the migration was applied.
        write_old("reg-before")
        ring.sql("insert into jobs (kind, key, due, data) values ('registration-codes', 1, 0, '')")
        wait_until(lambda: ring.sql("select count(*) from registration_invites "
                                    "where code = 'reg-before'") == "0", "the code is still stored as plain text")
        write_old("reg-beside")
        for node in ring.servers:
            for code in ("reg-before", "reg-beside"):
                status = register_with(ring.servers[node].port, code[4:] + str(node), code)
                expect(status == 200, f"{code} at node {node}: {status}")
        for code in ("reg-before", "reg-beside"):
            expect(register_with(ring.servers[1].port, code[4:] + "4", code) == 400, "a fourth use")
        write_old("reg-revoked")
        ring.order(2, "invite", "revoke", "reg-revoked")
        for node in ring.servers:
            expect(register_with(ring.servers[node].port, f"revoked{node}", "reg-revoked") == 400,
                   "a revoked code was accepted")
        write_old("reg-listed")
        ring.order(1, "invite", "create")
        expect("reg-list" in ring.order(3, "invite", "list"), "the code is not listed")


if __name__ == "__main__":
    run_cases("cluster/rolling_upgrade", [
        rolling_upgrade_causes_no_errors,
        unmarked_migration_is_not_applied_while_older_nodes_run,
        node_with_another_log_format_is_refused,
        registration_codes_of_an_older_version_work_and_can_be_revoked,
    ] + ([node_paused_during_the_upgrade_stops_itself] if LONG else []))

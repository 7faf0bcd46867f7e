#!/usr/bin/env python3
"""upgrade - servers are replaced by those of a later version, one after the other, under load.

The later version is the same program with two steps more (GUILDHALL_TEST_MIGRATIONS): one that the
older can live with, and one that it cannot.
"""

import os
import signal
import subprocess
import time

from moves import Scene
from ring import PATIENCE, Failed, Ring, expect
from restart import LONG, Pen
from cases import run_cases
from process import Client, start_guildhall

STEPS = {
    "9001-more": "-- expand: those before do not look at it.\ncreate table later_words (id bigint);\n",
    "9002-less": "-- contract: nobody writes them any more.\ndrop table later_words;\n",
}
UNMARKED = {"9001-other": "create table later_words (id bigint);\n"}


def later(ring, steps, name="later"):
    """What makes a server one of a later version."""
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
    """What a server says that does not start."""
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
    """What `guildhall nodes` says that each server knows."""
    done = subprocess.run([ring.executable, "nodes", "--store", ring.store], capture_output=True,
                          text=True, check=True, timeout=PATIENCE)
    return {line.split()[0]: int(line.split()[-3]) for line in done.stdout.splitlines()[1:]}


class Strict(Pen):
    """Leaves a server before that is stopped, as a balancer sees to, and takes no failure at all."""

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
    """Until nobody calls the server any more; then it is stopped."""
    scene.up.discard(node)
    made = [len(pen.acknowledged) for pen in scene.pens]
    wait_until(lambda: all(pen.trouble or len(pen.acknowledged) >= n + 2
                           for pen, n in zip(scene.pens, made)), "a writer stands still")
    scene.ring.servers[node].stop()


def replace(scene, node, env=None):
    leave(scene, node)
    start(scene.ring, node, env)
    scene.ring.wait_ready()
    scene.up.add(node)


def servers_are_upgraded_one_after_the_other_and_nobody_notices(executable):
    scene = Scene(executable, 3, "poll", pen=Strict)
    ring = scene.ring
    with ring:
        newer = later(ring, STEPS)
        before = known_steps(ring)["1"]
        replace(scene, 1, newer)
        expect(steps_of(ring) == "9001", f"applied beside older servers: {steps_of(ring)}")
        expect(known_steps(ring) == {"1": 9002, "2": before, "3": before}, "guildhall nodes")
        replace(scene, 2)  # one of the older version may still be started anew
        replace(scene, 2, newer)
        expect(steps_of(ring) == "9001", f"applied beside an older server: {steps_of(ring)}")
        replace(scene, 3, newer)
        wait_until(lambda: steps_of(ring) == "9001 9002", "the last step is not applied")
        expect(ring.sql("select to_regclass('later_words') is null") == "t", "not contracted")
        said = refused(ring, 4)
        expect("it has the migration 9002 (9002-less)" in said and "use the newer program" in said, said)
        scene.finish()


def a_server_that_slept_through_the_upgrade_ends_itself(executable):
    with Ring(executable, nodes=2) as ring:
        newer = later(ring, STEPS)
        ring.wait_ready()
        ring.servers[1].freeze()
        ring.servers[2].stop()
        start(ring, 2, newer)
        expect(steps_of(ring) == "9001", f"applied beside an older server: {steps_of(ring)}")
        # It is dead for the others, and for so long that they do not expect it back.
        wait_until(lambda: ring.sql("select state from nodes where node = 1") == "3", "not buried")
        ring.sql("update nodes set seen_at = seen_at - interval '2 minutes' where node = 1")
        wait_until(lambda: steps_of(ring) == "9001 9002", "it is waited for")
        ring.servers[1].child.send_signal(signal.SIGCONT)
        wait_until(lambda: not ring.servers[1].alive(), "it goes on with tables it does not know")
        expect("so this program cannot use the database" in ring.servers[1].words(),
               ring.servers[1].words())


def a_step_without_a_word_is_not_applied_beside_older_servers(executable):
    with Ring(executable, nodes=1) as ring:
        newer = later(ring, UNMARKED)
        said = refused(ring, 2, newer)
        expect("9001-other cannot be applied while servers of an older version run" in said, said)
        expect(steps_of(ring) == "", "it was applied")
        ring.servers[1].stop()
        start(ring, 2, newer)
        expect(steps_of(ring) == "9001", "it was not applied")


def one_that_writes_the_log_in_another_way_is_refused(executable):
    with Ring(executable, nodes=1) as ring:
        ring.wait_ready()
        ring.sql("update nodes set frames = 1")
        said = refused(ring, 2)
        expect("node 1 writes to the log in another way" in said, said)


def register_with(port, name, code):
    client = Client(port)
    status, _ = client.call("POST", "/auth/register",
                            {"username": name, "password": "correct horse battery", "invite": code})
    client.close()
    return status


def codes_of_an_older_program_can_be_used_and_revoked(executable):
    """An older program writes registration codes as plain text, also beside newer servers."""
    with Ring(executable, nodes=3, flags=("--registration", "invite")) as ring:
        ring.wait_ready()

        def write_old(code, uses=3):
            ring.sql("insert into registration_invites (code, uses_left, expires_at, created_at) "
                     f"values ('{code}', {uses}, 9000000000000000, 0)")
        # As it is when the step of the upgrade has been applied.
        write_old("reg-before")
        ring.sql("insert into jobs (kind, key, due, data) values ('registration-codes', 1, 0, '')")
        wait_until(lambda: ring.sql("select count(*) from registration_invites "
                                    "where code = 'reg-before'") == "0", "the code stays plain")
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
                   "a revoked code is good")
        write_old("reg-listed")
        ring.order(1, "invite", "create")
        expect("reg-list" in ring.order(3, "invite", "list"), "it is not listed")


if __name__ == "__main__":
    run_cases("cluster/upgrade", [
        servers_are_upgraded_one_after_the_other_and_nobody_notices,
        a_step_without_a_word_is_not_applied_beside_older_servers,
        one_that_writes_the_log_in_another_way_is_refused,
        codes_of_an_older_program_can_be_used_and_revoked,
    ] + ([a_server_that_slept_through_the_upgrade_ends_itself] if LONG else []))

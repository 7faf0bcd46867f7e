#!/usr/bin/env python3
"""rolling_upgrade - tests that nodes are replaced by those of a later version one by one, under load. The
later version is the same program with two more migrations (GUILDHALL_TEST_MIGRATIONS): one that the
older version tolerates, and one that it does not."""

import os
import signal
import subprocess
import time

from session_moves import LoadTest
from cluster_nodes import PATIENCE, Failed, Cluster, expect
from server_restart import LONG, MessageWriter
from cases import run_cases
from process import Client, start_guildhall

STEPS = {
    "9001-more": "-- expand: those before do not look at it.\ncreate table later_words (id bigint);\n",
    "9002-less": "-- contract: nobody writes them any more.\ndrop table later_words;\n",
}
UNMARKED = {"9001-other": "create table later_words (id bigint);\n"}


def later_version(cluster, steps, name="later"):
    """Returns the environment of a node of a later version."""
    folder = os.path.join(cluster.folder, name)
    os.makedirs(folder, exist_ok=True)
    for step, text in steps.items():
        with open(os.path.join(folder, step + ".sql"), "w", encoding="ascii") as f:
            f.write(text)
    return {"GUILDHALL_TEST_MIGRATIONS": folder}


def start(cluster, node, env=None):
    cluster.servers[node] = start_guildhall(cluster.executable, os.path.join(cluster.folder, "data"),
                                            *cluster.command(node), env=env)


def refused(cluster, node, env=None):
    """Returns the error output of a node that does not start."""
    try:
        start(cluster, node, env)
    except Failed as error:
        return str(error)
    raise Failed("it started")


def wait_until(true, words):
    deadline = time.monotonic() + PATIENCE
    while not true():
        expect(time.monotonic() < deadline, words)
        time.sleep(0.05)


def steps_of(cluster):
    return cluster.sql("select string_agg(number::text, ' ' order by number) from migrations "
                       "where number > 9000")


def known_steps(cluster):
    """Returns the migrations that each node knows, from `guildhall nodes`."""
    done = subprocess.run([cluster.executable, "nodes", "--store", cluster.store], capture_output=True,
                          text=True, check=True, timeout=PATIENCE)
    return {line.split()[0]: int(line.split()[-3]) for line in done.stdout.splitlines()[1:]}


class StrictWriter(MessageWriter):
    """A writer that leaves a node before it is stopped, like a load balancer, and accepts no
    failure."""

    def run(self):
        client, at, count = None, None, 0
        while not self.stop_requested:
            text = f"{self.name_}-{count}"
            try:
                if at != (at := self.port()):
                    client = Client(at, self.token)
                status, answer = client.call("POST", f"/channels/{self.channel}/messages",
                                             {"content": text})
            except (OSError, Failed, ValueError) as error:
                self.error = str(error)
                return
            if status != 200:
                self.error = f"{status} {answer}"
                return
            count += 1
            self.acknowledged.append(text)
            time.sleep(0.005)


def leave(test, node):
    """Waits until no writer uses the node, then stops it."""
    test.up.discard(node)
    made = [len(writer.acknowledged) for writer in test.writers]
    wait_until(lambda: all(writer.error or len(writer.acknowledged) >= n + 2
                           for writer, n in zip(test.writers, made)), "a writer makes no progress")
    test.cluster.servers[node].stop()


def replace(test, node, env=None):
    leave(test, node)
    start(test.cluster, node, env)
    test.cluster.wait_ready()
    test.up.add(node)


def rolling_upgrade_causes_no_errors(executable):
    test = LoadTest(executable, 3, "poll", writer_class=StrictWriter)
    cluster = test.cluster
    with cluster:
        newer = later_version(cluster, STEPS)
        before = known_steps(cluster)["1"]
        replace(test, 1, newer)
        expect(steps_of(cluster) == "9001", f"applied while older nodes run: {steps_of(cluster)}")
        expect(known_steps(cluster) == {"1": 9002, "2": before, "3": before}, "guildhall nodes")
        replace(test, 2)  # a node of the older version may still restart
        replace(test, 2, newer)
        expect(steps_of(cluster) == "9001", f"applied while an older node runs: {steps_of(cluster)}")
        replace(test, 3, newer)
        wait_until(lambda: steps_of(cluster) == "9001 9002", "the last migration is not applied")
        expect(cluster.sql("select to_regclass('later_words') is null") == "t", "the table was not dropped")
        output = refused(cluster, 4)
        expect("it has the migration 9002 (9002-less)" in output and "use the newer program" in output, output)
        test.finish()


def node_paused_during_the_upgrade_stops_itself(executable):
    with Cluster(executable, nodes=2) as cluster:
        newer = later_version(cluster, STEPS)
        cluster.wait_ready()
        cluster.servers[1].freeze()
        cluster.servers[2].stop()
        start(cluster, 2, newer)
        expect(steps_of(cluster) == "9001", f"applied while an older node runs: {steps_of(cluster)}")
        # The node is declared dead for so long that the others do not expect it back.
        wait_until(lambda: cluster.sql("select state from nodes where node = 1") == "3",
                   "the node was not declared dead")
        cluster.sql("update nodes set seen_at = seen_at - interval '2 minutes' where node = 1")
        wait_until(lambda: steps_of(cluster) == "9001 9002", "the migration waits for the dead node")
        cluster.servers[1].child.send_signal(signal.SIGCONT)
        wait_until(lambda: not cluster.servers[1].alive(),
                   "the node continues with tables that it does not know")
        expect("so this program cannot use the database" in cluster.servers[1].read_stderr(),
               cluster.servers[1].read_stderr())


def unmarked_migration_is_not_applied_while_older_nodes_run(executable):
    with Cluster(executable, nodes=1) as cluster:
        newer = later_version(cluster, UNMARKED)
        output = refused(cluster, 2, newer)
        expect("9001-other cannot be applied while servers of an older version run" in output, output)
        expect(steps_of(cluster) == "", "it was applied")
        cluster.servers[1].stop()
        start(cluster, 2, newer)
        expect(steps_of(cluster) == "9001", "the migration was applied")


def node_with_another_log_format_is_refused(executable):
    with Cluster(executable, nodes=1) as cluster:
        cluster.wait_ready()
        cluster.sql("update nodes set frames = 1")
        output = refused(cluster, 2)
        expect("node 1 uses another format of the event log" in output, output)


def register_with(port, name, code):
    client = Client(port)
    status, _ = client.call("POST", "/auth/register",
                            {"username": name, "password": "correct horse battery", "invite": code})
    client.close()
    return status


def registration_codes_of_an_older_version_work_and_can_be_revoked(executable):
    """An older program stores registration codes as plain text, also while newer nodes run."""
    with Cluster(executable, nodes=3, flags=("--registration", "invite")) as cluster:
        cluster.wait_ready()

        def write_old(code, uses=3):
            cluster.sql("insert into registration_invites (code, uses_left, expires_at, created_at) "
                        f"values ('{code}', {uses}, 9000000000000000, 0)")
        # The state after the migration was applied.
        write_old("reg-before")
        cluster.sql("insert into jobs (kind, key, due, data) values ('registration-codes', 1, 0, '')")
        wait_until(lambda: cluster.sql("select count(*) from registration_invites "
                                       "where code = 'reg-before'") == "0", "the code is still stored as plain text")
        write_old("reg-beside")
        for node in cluster.servers:
            for code in ("reg-before", "reg-beside"):
                status = register_with(cluster.servers[node].port, code[4:] + str(node), code)
                expect(status == 200, f"{code} at node {node}: {status}")
        for code in ("reg-before", "reg-beside"):
            expect(register_with(cluster.servers[1].port, code[4:] + "4", code) == 400, "a fourth use")
        write_old("reg-revoked")
        cluster.run_operator_command(2, "invite", "revoke", "reg-revoked")
        for node in cluster.servers:
            expect(register_with(cluster.servers[node].port, f"revoked{node}", "reg-revoked") == 400,
                   "a revoked code was accepted")
        write_old("reg-listed")
        cluster.run_operator_command(1, "invite", "create")
        expect("reg-list" in cluster.run_operator_command(3, "invite", "list"), "the code is not listed")


if __name__ == "__main__":
    run_cases("cluster/rolling_upgrade", [
        rolling_upgrade_causes_no_errors,
        unmarked_migration_is_not_applied_while_older_nodes_run,
        node_with_another_log_format_is_refused,
        registration_codes_of_an_older_version_work_and_can_be_revoked,
    ] + ([node_paused_during_the_upgrade_stops_itself] if LONG else []))

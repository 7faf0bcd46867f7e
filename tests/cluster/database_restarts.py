#!/usr/bin/env python3
"""database_restarts - tests crashes and restarts of PostgreSQL under load: sessions see only a pause."""

import glob
import os
import subprocess
import time

from broker import Broker
from killed_nodes import finish_and_check
from session_moves import LoadTest
from cluster_nodes import HERE, PATIENCE, Failed, Skip, expect
from server_restart import LONG, MessageWriter
from cases import run_cases
from disk_images import TestResources

WITH_POSTGRES = os.path.join(HERE, "..", "..", "scripts", "with-postgres")
RESTARTS = 10 if LONG else 2
SESSIONS = 24 if LONG else 6


def as_owner_of(folder):
    """Returns the prefix of PostgreSQL commands, which refuse to run as root."""
    owner = os.stat(folder)
    return ([] if owner.st_uid == os.geteuid() else
            ["setpriv", "--reuid", str(owner.st_uid), "--regid", str(owner.st_gid),
             "--clear-groups"])


def restart_database(where):
    """Restarts PostgreSQL immediately, so that it must recover."""
    folder = os.path.join(dict(word.split("=", 1) for word in where.split())["host"], "data")
    tool = sorted(glob.glob("/usr/lib/postgresql/*/bin/pg_ctl"))[-1]
    done = subprocess.run([*as_owner_of(folder), tool, "-D", folder, "-m", "immediate", "-w", "-s",
                           "-t", str(PATIENCE), "-l", os.path.join(folder, "log"), "restart"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, cwd="/", check=False)
    if done.returncode:
        raise Failed(f"PostgreSQL does not start again: {done.stderr}")


class OwnDatabase:
    """A separate PostgreSQL server in a folder of the test's choice."""

    name = "GUILDHALL_TEST_POSTGRES"

    def __init__(self, folder=None):
        self.env = {**os.environ, **({"TMPDIR": folder} if folder else {})}

    def __enter__(self):
        self.previous = os.environ.get(self.name)
        if not self.previous:
            raise Skip("PostgreSQL is not available (run this with scripts/with-postgres)")
        self.child = subprocess.Popen([WITH_POSTGRES, "sh", "-c",
                                       f'echo "${self.name}"; exec cat >/dev/null'],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                      env=self.env)
        os.environ[self.name] = self.child.stdout.readline().strip()

    def __exit__(self, *error):
        os.environ[self.name] = self.previous
        self.child.stdin.close()
        self.child.wait(PATIENCE)


def restart_under_load(executable, bus, nodes):
    with OwnDatabase():
        run_restarts(executable, bus, nodes)


def run_restarts(executable, bus, nodes):
    test = LoadTest(executable, nodes, bus, count=SESSIONS)
    with test.cluster as cluster:
        pauses = []
        for _ in range(RESTARTS):
            time.sleep(0.3)
            written = [len(writer.acknowledged) for writer in test.writers]
            restart_database(cluster.database)
            began = time.monotonic()
            while any(len(writer.acknowledged) < before + 5 and not writer.error
                      for writer, before in zip(test.writers, written)):
                expect(time.monotonic() - began < PATIENCE, "nothing can be written after the restart")
                time.sleep(0.02)
            pauses.append(time.monotonic() - began)
        cluster.wait_ready()
        finish_and_check(test.sessions, test.writers, lambda: cluster.client(1, cluster.tokens[0]), test.channel)
        expect(not any(s.identified_again for s in test.sessions), "a session had to identify again")
        print(f"{RESTARTS} restarts; all writers continued at most {max(pauses):.1f} s after the database was back")


def database_restart_loses_no_events(executable):
    restart_under_load(executable, "poll", 2)


def database_restart_with_nats_loses_no_events(executable):
    broker = Broker()
    restart_under_load(executable, broker.url, 3)
    broker.kill()


class WriterDespiteFullDisk(MessageWriter):
    """A writer that continues after refusals because of a full disk."""

    refused = 0

    def run(self):
        while not self.stop_requested:
            super().run()
            if not self.error or not self.error.startswith("507"):
                return
            self.refused += 1
            self.name_, self.error = f"{self.name_}'", None


def full_disk_of_the_database_loses_no_events(executable):
    """Writes are refused until there is space again; acknowledged writes remain."""
    with TestResources() as resources:
        disk = resources.disk("database", megabytes=320)
        os.chmod(resources.folder, 0o711)
        os.chmod(disk.folder, 0o777)
        with OwnDatabase(disk.folder):
            test = LoadTest(executable, 2, "poll", count=SESSIONS, writer_class=WriterDespiteFullDisk)
            with test.cluster as cluster:
                time.sleep(0.3)
                ballast = disk.fill()
                began = time.monotonic()
                while not any(writer.refused for writer in test.writers) and is_database_running(cluster.database):
                    expect(time.monotonic() - began < PATIENCE, "the disk does not fill up")
                    time.sleep(0.05)
                words = "refused writes" if is_database_running(cluster.database) else "stopped"
                os.unlink(ballast)
                if not is_database_running(cluster.database):
                    restart_database(cluster.database)
                written = [len(writer.acknowledged) for writer in test.writers]
                began = time.monotonic()
                while any(len(writer.acknowledged) < before + 5 and not writer.error
                          for writer, before in zip(test.writers, written)):
                    expect(time.monotonic() - began < PATIENCE, "nothing can be written after the restart")
                    time.sleep(0.02)
                print(f"PostgreSQL {words}; all writers continued {time.monotonic() - began:.1f} s after "
                      "there was space")
                cluster.wait_ready()
                finish_and_check(test.sessions, test.writers, lambda: cluster.client(1, cluster.tokens[0]),
                                 test.channel, quick=False)
                expect(not any(s.identified_again for s in test.sessions), "a session had to identify again")


def is_database_running(where):
    return subprocess.run(["psql", "-qAtX", "-c", "select 1", where], capture_output=True,
                          check=False).returncode == 0


if __name__ == "__main__":
    run_cases("cluster/database_restarts", [
        database_restart_loses_no_events,
        full_disk_of_the_database_loses_no_events,
    ] + ([database_restart_with_nats_loses_no_events] if LONG else []))

#!/usr/bin/env python3
"""database - PostgreSQL goes down at once and comes back, under load, and no session notices more
than a pause."""

import glob
import os
import subprocess
import time

from broker import Broker
from killed import settle
from moves import Scene
from ring import HERE, PATIENCE, Failed, Skip, expect
from restart import LONG
from cases import run_cases

WITH_POSTGRES = os.path.join(HERE, "..", "..", "scripts", "with-postgres")
RESTARTS = 10 if LONG else 2
SESSIONS = 24 if LONG else 6


def restart_database(where):
    """As after the end of all its processes: it has to recover."""
    folder = os.path.join(dict(word.split("=", 1) for word in where.split())["host"], "data")
    tool = sorted(glob.glob("/usr/lib/postgresql/*/bin/pg_ctl"))[-1]
    owner = os.stat(folder)
    as_owner = ([] if owner.st_uid == os.geteuid() else
                ["setpriv", "--reuid", str(owner.st_uid), "--regid", str(owner.st_gid),
                 "--clear-groups"])
    done = subprocess.run([*as_owner, tool, "-D", folder, "-m", "immediate", "-w", "-s", "-t",
                           str(PATIENCE), "-l", os.path.join(folder, "log"), "restart"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, cwd="/", check=False)
    if done.returncode:
        raise Failed(f"PostgreSQL does not come back: {done.stderr}")


class OwnDatabase:
    """Nobody else's tests use it."""

    name = "GUILDHALL_TEST_POSTGRES"

    def __enter__(self):
        self.others = os.environ.get(self.name)
        if not self.others:
            raise Skip("there is no PostgreSQL (run it with scripts/with-postgres)")
        self.child = subprocess.Popen([WITH_POSTGRES, "sh", "-c",
                                       f'echo "${self.name}"; exec cat >/dev/null'],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        os.environ[self.name] = self.child.stdout.readline().strip()

    def __exit__(self, *error):
        os.environ[self.name] = self.others
        self.child.stdin.close()
        self.child.wait(PATIENCE)


def restart_under_load(executable, bus, nodes):
    with OwnDatabase():
        restart_scene(executable, bus, nodes)


def restart_scene(executable, bus, nodes):
    scene = Scene(executable, nodes, bus, count=SESSIONS)
    with scene.ring as ring:
        pauses = []
        for _ in range(RESTARTS):
            time.sleep(0.3)
            written = [len(pen.acknowledged) for pen in scene.pens]
            restart_database(ring.database)
            began = time.monotonic()
            while any(len(pen.acknowledged) < before + 5 and not pen.trouble
                      for pen, before in zip(scene.pens, written)):
                expect(time.monotonic() - began < PATIENCE, "nothing can be written any more")
                time.sleep(0.02)
            pauses.append(time.monotonic() - began)
        ring.wait_ready()
        settle(scene.sessions, scene.pens, lambda: ring.client(1, ring.tokens[0]), scene.channel)
        expect(not any(s.anew for s in scene.sessions), "a session began anew")
        print(f"{RESTARTS} restarts; all wrote again {max(pauses):.1f} s after it was back at most")


def a_database_that_restarts_loses_nothing(executable):
    restart_under_load(executable, "poll", 2)


def a_database_that_restarts_beside_nats_loses_nothing(executable):
    broker = Broker()
    restart_under_load(executable, broker.url, 3)
    broker.kill()


if __name__ == "__main__":
    run_cases("cluster/database", [
        a_database_that_restarts_loses_nothing,
    ] + ([a_database_that_restarts_beside_nats_loses_nothing] if LONG else []))

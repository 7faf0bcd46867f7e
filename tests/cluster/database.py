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
from restart import LONG, Pen
from cases import run_cases
from disk import Place

WITH_POSTGRES = os.path.join(HERE, "..", "..", "scripts", "with-postgres")
RESTARTS = 10 if LONG else 2
SESSIONS = 24 if LONG else 6


def as_owner_of(folder):
    """What a command of PostgreSQL begins with: it refuses to run as root."""
    owner = os.stat(folder)
    return ([] if owner.st_uid == os.geteuid() else
            ["setpriv", "--reuid", str(owner.st_uid), "--regid", str(owner.st_gid),
             "--clear-groups"])


def restart_database(where):
    """As after the end of all its processes: it has to recover."""
    folder = os.path.join(dict(word.split("=", 1) for word in where.split())["host"], "data")
    tool = sorted(glob.glob("/usr/lib/postgresql/*/bin/pg_ctl"))[-1]
    done = subprocess.run([*as_owner_of(folder), tool, "-D", folder, "-m", "immediate", "-w", "-s",
                           "-t", str(PATIENCE), "-l", os.path.join(folder, "log"), "restart"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, cwd="/", check=False)
    if done.returncode:
        raise Failed(f"PostgreSQL does not come back: {done.stderr}")


class OwnDatabase:
    """Nobody else's tests use it; in a folder of the test's choice."""

    name = "GUILDHALL_TEST_POSTGRES"

    def __init__(self, folder=None):
        self.env = {**os.environ, **({"TMPDIR": folder} if folder else {})}

    def __enter__(self):
        self.others = os.environ.get(self.name)
        if not self.others:
            raise Skip("there is no PostgreSQL (run it with scripts/with-postgres)")
        self.child = subprocess.Popen([WITH_POSTGRES, "sh", "-c",
                                       f'echo "${self.name}"; exec cat >/dev/null'],
                                      stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                      env=self.env)
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


class Stubborn(Pen):
    """Goes on when there is no room."""

    refused = 0

    def run(self):
        while not self.ending:
            super().run()
            if not self.trouble or not self.trouble.startswith("507"):
                return
            self.refused += 1
            self.name_, self.trouble = f"{self.name_}'", None


def a_database_whose_disk_is_full_loses_nothing(executable):
    """Calls that write are refused until there is room again; what was acknowledged is there."""
    with Place() as place:
        disk = place.disk("database", megabytes=320)
        os.chmod(place.folder, 0o711)
        os.chmod(disk.folder, 0o777)
        with OwnDatabase(disk.folder):
            scene = Scene(executable, 2, "poll", count=SESSIONS, pen=Stubborn)
            with scene.ring as ring:
                time.sleep(0.3)
                ballast = disk.fill()
                began = time.monotonic()
                while not any(pen.refused for pen in scene.pens) and alive(ring.database):
                    expect(time.monotonic() - began < PATIENCE, "the disk does not get full")
                    time.sleep(0.05)
                words = "refused what it had no room for" if alive(ring.database) else "gave up"
                os.unlink(ballast)
                if not alive(ring.database):
                    restart_database(ring.database)
                written = [len(pen.acknowledged) for pen in scene.pens]
                began = time.monotonic()
                while any(len(pen.acknowledged) < before + 5 and not pen.trouble
                          for pen, before in zip(scene.pens, written)):
                    expect(time.monotonic() - began < PATIENCE, "nothing can be written any more")
                    time.sleep(0.02)
                print(f"PostgreSQL {words}; all wrote again {time.monotonic() - began:.1f} s after "
                      "there was room")
                ring.wait_ready()
                settle(scene.sessions, scene.pens, lambda: ring.client(1, ring.tokens[0]),
                       scene.channel, quick=False)
                expect(not any(s.anew for s in scene.sessions), "a session began anew")


def alive(where):
    return subprocess.run(["psql", "-qAtX", "-c", "select 1", where], capture_output=True,
                          check=False).returncode == 0


if __name__ == "__main__":
    run_cases("cluster/database", [
        a_database_that_restarts_loses_nothing,
        a_database_whose_disk_is_full_loses_nothing,
    ] + ([a_database_that_restarts_beside_nats_loses_nothing] if LONG else []))

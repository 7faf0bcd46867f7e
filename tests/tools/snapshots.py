#!/usr/bin/env python3
"""snapshots - tests named snapshots that are restored while clients stay connected."""

import json
import os
import shutil
import sys
import tempfile
import time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

from backup import World, blob_count, run, send_file  # noqa: E402
from cases import expect, run_cases  # noqa: E402
from demo_data import put_demo, start_demo  # noqa: E402
from operator_commands import new_database  # noqa: E402
from prepared_data import start_guildhall  # noqa: E402
from process import Client, free_port  # noqa: E402


class ServerWithSnapshots:
    """A server with test data and its snapshot commands."""

    def __init__(self, executable, data):
        self.executable, self.data = executable, data
        # The server restarts on the same port, which must be free.
        self.server = start_guildhall(executable, data, "--listen", f"127.0.0.1:{free_port()}")
        self.world = World(self.server.port)

    def guildhall(self, *args):
        return run(self.executable, *args, "--data", self.data)

    def post_message(self, text):
        client = Client(self.server.port, self.world.token)
        status, sent = client.call("POST", f"/channels/{self.world.channel}/messages",
                                   {"content": text})
        client.close()
        expect(status == 200, f"{status} {sent}")

    def message_contents(self):
        client = Client(self.server.port, self.world.token)
        status, messages = client.call("GET", f"/channels/{self.world.channel}/messages?limit=50")
        client.close()
        expect(status == 200, f"{status} {messages}")
        return [m["content"] for m in messages if m["content"]]


def on_a_server(case):
    def test(executable):
        with tempfile.TemporaryDirectory() as folder:
            setup = ServerWithSnapshots(executable, os.path.join(folder, "data"))
            try:
                case(setup)
            finally:
                setup.server.stop()
    test.__name__ = case.__name__
    return test


@on_a_server
def restored_snapshot_equals_the_saved_state(setup):
    setup.post_message("one")
    saved = setup.guildhall("snapshot", "monday")
    expect(saved.returncode == 0 and saved.stdout.startswith("saved the snapshot 'monday': "), saved.stderr)
    files = blob_count(setup.data)
    setup.post_message("two")
    send_file(setup.server.port, setup.world.token, setup.world.channel, "b.bin", b"later")
    back = setup.guildhall("restore", "monday")
    expect(back.returncode == 0 and back.stdout.endswith("restored 'monday'\n"), back.stderr)
    expect(setup.message_contents() == ["one"], str(setup.message_contents()))
    expect(blob_count(setup.data) == files, "files of the replaced state were not deleted")
    setup.world.is_whole(setup.server.port)
    # The state before the restore can be restored too.
    back = setup.guildhall("restore", "before-restore")
    expect(back.returncode == 0, back.stderr)
    expect(setup.message_contents() == ["two", "one"], str(setup.message_contents()))
    listed = setup.guildhall("snapshot")
    names = [line.split()[0] for line in listed.stdout.splitlines()]
    expect(names == ["before-restore", "monday"], listed.stdout)
    left = [n for n in os.listdir(setup.data) if n.startswith(".re")]
    expect(not left, str(left))


@on_a_server
def invalid_snapshot_names_are_refused(setup):
    for name in ("", ".", "../elsewhere", "a/b", ".hidden", "x" * 65, "two words"):
        done = setup.guildhall("snapshot", name)
        expect(done.returncode == 3 and "the name of a snapshot has" in done.stderr,
               f"{name}: {done.returncode} {done.stderr}")
    done = setup.guildhall("restore", "never-made")
    expect(done.returncode == 3 and "there is no snapshot 'never-made'" in done.stderr,
           done.stderr)
    done = setup.guildhall("snapshot")
    expect(done.stdout == "there are no snapshots\n", done.stdout)


@on_a_server
def damaged_snapshot_changes_nothing(setup):
    setup.post_message("one")
    expect(setup.guildhall("snapshot", "a").returncode == 0, "the snapshot was not saved")
    path = os.path.join(setup.data, "snapshots", "a.backup")
    expect(os.stat(path).st_mode & 0o777 == 0o600, "other users may read the snapshot")
    with open(path, "r+b") as file:
        file.seek(os.path.getsize(path) // 2)
        file.write(b"\xff" * 64)
    done = setup.guildhall("restore", "a")
    expect(done.returncode == 3 and "the snapshot is damaged" in done.stderr, done.stderr)
    expect(setup.message_contents() == ["one"], str(setup.message_contents()))


@on_a_server
def snapshot_with_a_missing_file_is_restored(setup):
    setup.post_message("one")
    for top, _, files in os.walk(os.path.join(setup.data, "blobs", "avatars")):
        for name in files:
            os.unlink(os.path.join(top, name))
    expect(setup.guildhall("snapshot", "a").returncode == 0, "the snapshot was not saved")
    setup.post_message("two")
    done = setup.guildhall("restore", "a")
    expect(done.returncode == 0, done.stderr)
    expect(setup.message_contents() == ["one"], str(setup.message_contents()))


@on_a_server
def interrupted_restore_is_completed(setup):
    setup.post_message("one")
    expect(setup.guildhall("snapshot", "a").returncode == 0, "the snapshot was not saved")
    setup.post_message("two")
    setup.server.stop()
    whole = os.path.join(setup.data, ".restored")
    path = os.path.join(setup.data, "snapshots", "a.backup")
    done = run(setup.executable, "restore", path, "--data", whole)
    expect(done.returncode == 0, done.stderr)
    # The files are already replaced and the old ones still exist; the rows are not replaced.
    shutil.move(os.path.join(setup.data, "blobs"), os.path.join(setup.data, ".replaced"))
    shutil.move(os.path.join(whole, "blobs"), os.path.join(setup.data, "blobs"))
    os.mkdir(os.path.join(setup.data, ".restoring"))
    setup.server = start_guildhall(setup.executable, setup.data)
    expect(setup.message_contents() == ["one"], str(setup.message_contents()))
    setup.world.is_whole(setup.server.port)
    left = [n for n in os.listdir(setup.data) if n.startswith(".re")]
    expect(not left, str(left))


def snapshots_are_refused_with_postgresql(executable):
    store = new_database()
    with tempfile.TemporaryDirectory() as folder:
        server = start_guildhall(executable, folder, "--store", store)
        try:
            done = run(executable, "snapshot", "a", "--data", folder, "--store", store)
            expect(done.returncode == 3 and "snapshots need SQLite" in done.stderr,
                   done.stderr)
            # A snapshot from before the move to PostgreSQL.
            os.makedirs(os.path.join(folder, "snapshots"), exist_ok=True)
            old = os.path.join(folder, "snapshots", "before-restore.backup")
            with open(old, "wb") as f:
                f.write(b"old")
            done = run(executable, "restore", "before-restore", "--data", folder, "--store", store)
            expect(done.returncode == 3 and "snapshots need SQLite" in done.stderr,
                   done.stderr)
            expect(os.path.getsize(old) == 3, "it was touched")
        finally:
            server.stop()


def processor_seconds(pid):
    with open(f"/proc/{pid}/stat", encoding="utf-8") as f:
        return sum(map(int, f.read().rpartition(")")[2].split()[11:13])) / os.sysconf("SC_CLK_TCK")


def session_of_the_demo_bot(executable, data):
    end = time.monotonic() + 30
    while time.monotonic() < end:
        done = run(executable, "sessions", "--json", "--data", data)
        found = [json.loads(line) for line in done.stdout.splitlines() if '"connected":true' in line]
        if found:
            return found[0]["session_id"]
        time.sleep(0.05)
    raise AssertionError("the demo's bot has not connected")


def on_a_demo(case):
    def test(executable):
        with tempfile.TemporaryDirectory() as folder:
            data = os.path.join(folder, "data")
            server = start_demo(executable, put_demo(executable, data))
            try:
                case(executable, data, server)
            finally:
                server.stop()
    test.__name__ = case.__name__
    return test


@on_a_demo
def demo_bot_follows_a_reconnect(executable, data, _server):
    before = session_of_the_demo_bot(executable, data)
    done = run(executable, "sessions", "reconnect", "helper", "--data", data)
    expect(done.returncode == 0, done.stderr)
    end = time.monotonic() + 10
    while session_of_the_demo_bot(executable, data) == before:
        expect(time.monotonic() < end, "the bot ignored op 7")
        time.sleep(0.05)


@on_a_demo
def snapshot_and_restore_of_a_demo_are_quick(executable, data, server):
    """The restore does not wait for a session, because the demo's bot reconnects after op 7. On a
    loaded machine, only the processor time and the fastest of many restores depend on the program alone."""
    times = []
    while len(times) < 3 or (min(times) > 0.2 and len(times) < 8):
        session_of_the_demo_bot(executable, data)
        start, spent = time.monotonic(), processor_seconds(server.pid)
        for done in (run(executable, "snapshot", "fresh", "--data", data),
                     run(executable, "restore", "fresh", "--data", data)):
            expect(done.returncode == 0, done.stderr)
        times.append(time.monotonic() - start)
        spent = processor_seconds(server.pid) - spent
        expect(spent < 0.4, f"{spent} s of processor time")
    print(f"snapshot and restore of a demo: {min(times) * 1000:.0f} ms at best")
    expect(min(times) <= 1, f"{times}")


if __name__ == "__main__":
    run_cases("snapshots", [
        demo_bot_follows_a_reconnect,
        snapshot_and_restore_of_a_demo_are_quick,
        restored_snapshot_equals_the_saved_state,
        invalid_snapshot_names_are_refused,
        damaged_snapshot_changes_nothing,
        snapshot_with_a_missing_file_is_restored,
        interrupted_restore_is_completed,
        snapshots_are_refused_with_postgresql,
    ])

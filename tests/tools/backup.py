#!/usr/bin/env python3
"""backup - tests backups of a running server and their restoration."""

import base64
import fcntl
import http.client
import json
import os
import re
import resource
import shutil
import signal
import sqlite3
import struct
import subprocess
import sys
import tempfile
import threading
import time
import zlib

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402
from prepared_data import prepare_data_for, start_guildhall  # noqa: E402
from process import Client, Failed, register  # noqa: E402

ATTACHMENT = bytes(range(256)) * 300


def run(executable, *args, **more):
    prepare_data_for(executable, args)
    return subprocess.run([executable, *args], capture_output=True, text=True, timeout=120,
                          check=False, **more)


def png():
    def chunk(kind, data):
        body = kind + data
        return struct.pack(">I", len(data)) + body + struct.pack(">I", zlib.crc32(body))
    rows = b"".join(b"\0" + bytes([40, 80, y * 8]) * 16 for y in range(16))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", 16, 16, 8, 2, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def get_bytes(port, url):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    connection.request("GET", "/" + url.split("/", 3)[3])
    answer = connection.getresponse()
    data = answer.read()
    connection.close()
    return answer.status, data


def send_file(port, token, channel, name, data):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
    edge = "edge-of-a-part"
    body = (f'--{edge}\r\nContent-Disposition: form-data; name="files[0]"; filename="{name}"\r\n'
            "Content-Type: application/octet-stream\r\n\r\n").encode() + data + \
        f"\r\n--{edge}--\r\n".encode()
    connection.request("POST", f"/api/v10/channels/{channel}/messages", body,
                       {"Authorization": token,
                        "Content-Type": f"multipart/form-data; boundary={edge}"})
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    expect(answer.status == 200, f"{answer.status} {text}")
    return json.loads(text)


class World:
    """A user with an avatar, a guild and a message with a file."""

    def __init__(self, port):
        self.token = register(port, "ada")
        client = Client(port, self.token)
        picture = "data:image/png;base64," + base64.b64encode(png()).decode()
        status, self.me = client.call("PATCH", "/users/@me", {"avatar": picture})
        expect(status == 200 and self.me["avatar"], f"{status} {self.me}")
        status, self.guild = client.call("POST", "/guilds", {"name": "Here"})
        expect(status == 201, f"{status} {self.guild}")
        status, channels = client.call("GET", f"/guilds/{self.guild['id']}/channels")
        self.channel = next(c["id"] for c in channels if c["type"] == 0)
        self.message = send_file(port, self.token, self.channel, "a.bin", ATTACHMENT)
        client.close()

    def is_whole(self, port):
        client = Client(port, self.token)
        status, me = client.call("GET", "/users/@me")
        expect(status == 200 and me["id"] == self.me["id"], f"{status} {me}")
        status, message = client.call("GET",
                                      f"/channels/{self.channel}/messages/{self.message['id']}")
        expect(status == 200, f"{status} {message}")
        status, data = get_bytes(port, message["attachments"][0]["url"])
        expect(status == 200 and data == ATTACHMENT, f"the attachment: {status}")
        status, data = get_bytes(port, f"http://a/avatars/{me['id']}/{me['avatar']}.png")
        expect(status == 200 and data == png(), f"the picture: {status} {len(data)}")
        status, _ = client.call("POST", f"/channels/{self.channel}/messages", {"content": "again"})
        expect(status == 200, f"posting a message after the restore got {status}")
        client.close()


class Writer(threading.Thread):
    """A thread that posts messages with files and deletes them until it is stopped."""

    def __init__(self, port, world):
        super().__init__()
        self.port, self.world, self.count, self.problem = port, world, 0, None
        self.ends = threading.Event()

    def run(self):
        try:
            client = Client(self.port, self.world.token)
            while not self.ends.is_set():
                sent = send_file(self.port, self.world.token, self.world.channel, "b.bin",
                                 b"%d" % self.count)
                if self.count % 2:
                    client.call("DELETE", f"/channels/{self.world.channel}/messages/{sent['id']}")
                self.count += 1
        except Exception as e:  # pylint: disable=broad-except
            self.problem = e


def blob_count(data):
    return sum(len(files) for top, _, files in os.walk(os.path.join(data, "blobs"))
               if ".new" not in top)


def attachments_are_served(port, world):
    """Checks that all attachments of the channel are served."""
    client = Client(port, world.token)
    status, messages = client.call("GET", f"/channels/{world.channel}/messages?limit=100")
    expect(status == 200, str(status))
    for message in messages:
        for attachment in message["attachments"]:
            status, data = get_bytes(port, attachment["url"])
            expect(status == 200 and len(data) == attachment["size"],
                   f"{attachment['filename']}: {status} {len(data)}")
    client.close()


def delete_unused_files(folder):
    """Deletes the recorded unused files, as a server does some time after its start."""
    deadline = time.monotonic() + 60
    while os.listdir(folder):
        expect(time.monotonic() < deadline, "notes were left")
        time.sleep(0.05)


def backup_of_a_busy_server_restores_everything(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, saved, back = (os.path.join(folder, n) for n in ("data", "saved", "back"))
        server = start_guildhall(executable, data)
        try:
            world = World(server.port)
            writer = Writer(server.port, world)
            writer.start()
            while writer.count < 20 and writer.is_alive():
                time.sleep(0.01)
            for _ in range(3):  # the last backup replaces the others
                before = writer.count
                done = run(executable, "backup", saved, "--force", "--data", data)
                expect(done.returncode == 0 and done.stdout.startswith("saved "), done.stderr)
                while writer.count == before and writer.is_alive():
                    time.sleep(0.01)
            writer.ends.set()
            writer.join()
            expect(not writer.problem, f"{writer.problem}")
        finally:
            server.stop()
        expect(os.stat(saved).st_mode & 0o777 == 0o600, "other users may read the backup")
        expect(sorted(os.listdir(folder)) == ["data", "saved"], str(os.listdir(folder)))
        done = run(executable, "check", saved)
        expect(done.returncode == 0 and "the backup is undamaged: " in done.stdout, done.stdout)
        done = run(executable, "restore", saved, "--data", back)
        expect(done.returncode == 0 and done.stdout.startswith("restored "), done.stderr)
        done = run(executable, "check", "--data", back)
        expect(done.returncode == 0, done.stdout + done.stderr)
        server = start_guildhall(executable, back)
        try:
            world.is_whole(server.port)
            attachments_are_served(server.port, world)
            delete_unused_files(os.path.join(back, "blobs", ".new"))
        finally:
            server.stop()


def documented_backup_commands_work(executable):
    manual = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/OPERATING.md")
    with open(manual, encoding="utf-8") as f:
        block = re.search(r"```sh\n( *guildhall backup .*?)```", f.read(), re.S).group(1)
    with tempfile.TemporaryDirectory() as folder:
        os.symlink(executable, os.path.join(folder, "guildhall"))
        run(executable, "user", "add", "zoe", "--data", os.path.join(folder, "data"))
        done = subprocess.run(["sh", "-ec", block], capture_output=True, text=True, timeout=60,
                              cwd=folder, check=False,
                              env={**os.environ, "PATH": folder + ":" + os.environ["PATH"]})
        expect(done.returncode == 0 and "restored " in done.stdout, done.stderr)


def restore_requires_an_empty_folder_and_an_intact_backup(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, saved, back = (os.path.join(folder, n) for n in ("data", "saved", "back"))
        run(executable, "user", "add", "zoe", "--data", data)
        run(executable, "backup", saved, "--data", data)
        done = run(executable, "restore", saved, "--data", data)
        expect(done.returncode == 1 and "is not empty" in done.stderr, done.stderr)
        with open(saved, "rb") as f:
            whole = f.read()
        with open(saved, "wb") as f:
            f.write(whole[:-100])
        done = run(executable, "check", saved)
        expect(done.returncode == 1 and "the backup is damaged" in done.stdout, done.stdout)
        done = run(executable, "restore", saved, "--data", back)
        expect(done.returncode == 1 and "was not restored" in done.stderr, done.stderr)
        done = run(executable, "user", "add", "eve", "--data", back)
        expect(done.returncode == 1 and "was interrupted" in done.stderr, done.stderr)
        done = run(executable, "check", os.path.join(folder, "none"))
        expect(done.returncode == 1 and "cannot read" in done.stderr, done.stderr)


def backup_with_paths_outside_its_folder_is_refused(executable):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("../evil", "/tmp/evil", "blobs/../../evil", "control", "blobs/.new/../x"):
            saved = os.path.join(folder, "saved")
            with open(saved, "w", encoding="ascii") as f:
                f.write(f"guildhall backup 1\nfile 0 {name}\n\nsum 00\nend 1 0 00\n")
            done = run(executable, "restore", saved, "--data", os.path.join(folder, "back"))
            expect(done.returncode == 1 and "does not belong in a backup" in done.stderr, done.stderr)
            expect(os.listdir(os.path.join(folder, "back")) == ["restore.part"], "it left something")
            shutil.rmtree(os.path.join(folder, "back"))


def killed_backup_leaves_no_file_with_its_name(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, saved = os.path.join(folder, "data"), os.path.join(folder, "saved")
        run(executable, "user", "add", "zoe", "--data", data)

        def write_little():
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))
            resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        done = run(executable, "backup", saved, "--data", data, preexec_fn=write_little)
        expect(done.returncode == -signal.SIGXFSZ, str(done.returncode))
        left = sorted(os.listdir(folder))
        expect("saved" not in left, str(left))
        expect(all(n.endswith(".part") for n in left if n != "data"), str(left))
        expect(run(executable, "backup", saved, "--data", data).returncode == 0, "the next one")
        expect(sorted(os.listdir(folder)) == ["data", "saved"], str(os.listdir(folder)))


def files_are_not_deleted_during_a_backup(executable):
    with tempfile.TemporaryDirectory() as folder:
        server = start_guildhall(executable, folder)
        try:
            world = World(server.port)
            client = Client(server.port, world.token)
            before = blob_count(folder)
            with open(os.path.join(folder, "backup.lock"), "w", encoding="ascii") as lock:
                fcntl.flock(lock, fcntl.LOCK_SH)  # a backup holds the same lock, as does flock(1)
                path = f"/channels/{world.channel}/messages/"
                client.call("DELETE", path + world.message["id"])
                # A file of a later message would be deleted after it, if any were.
                for _ in range(3):
                    other = send_file(server.port, world.token, world.channel, "b.bin", b"b")
                    client.call("DELETE", path + other["id"])
                expect(blob_count(folder) == before + 3, "a file was deleted that a backup may need")
            second = send_file(server.port, world.token, world.channel, "c.bin", b"c")
            client.call("DELETE", path + second["id"])
            deadline = time.monotonic() + 30
            while blob_count(folder) != before - 1:
                if time.monotonic() > deadline:
                    raise Failed("the files were never deleted")
                time.sleep(0.02)
        finally:
            server.stop()


def server_without_its_key_does_not_start(executable):
    with tempfile.TemporaryDirectory() as folder:
        run(executable, "user", "add", "zoe", "--data", folder)
        key = os.path.join(folder, "pepper.key")
        with open(key, "rb") as f:
            bytes_of_key = f.read()
        os.unlink(key)
        done = run(executable, "user", "add", "eve", "--data", folder)
        expect(done.returncode == 1 and "is missing, and this database" in done.stderr, done.stderr)
        done = run(executable, "serve", "--listen", "127.0.0.1:0", "--data", folder)
        expect(done.returncode == 1 and "is missing, and this database" in done.stderr, done.stderr)
        expect(not os.path.exists(key), "a new key was created")
        with open(key, "wb") as f:
            f.write(bytes(32))
        done = run(executable, "user", "add", "eve", "--data", folder)
        expect(done.returncode == 1 and "does not belong to this database" in done.stderr,
               done.stderr)
        with open(key, "wb") as f:
            f.write(bytes_of_key)
        done = run(executable, "user", "add", "eve", "--data", folder)
        expect(done.returncode == 0, done.stderr)


def most_memory(executable, *args):
    """Returns the maximum memory of one run of the program, in bytes."""
    with subprocess.Popen([executable, *args], stdout=subprocess.DEVNULL) as child:
        _, status, used = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
    expect(child.returncode == 0, str(args))
    return used.ru_maxrss * 1024


def backup_memory_does_not_grow_with_its_size(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, saved, back = (os.path.join(folder, n) for n in ("data", "saved", "back"))
        run(executable, "user", "add", "zoe", "--data", data)
        small = most_memory(executable, "backup", saved, "--data", data)
        os.makedirs(os.path.join(data, "blobs", "attachments"))
        with open(os.path.join(data, "blobs", "attachments", "large"), "wb") as f:
            f.truncate(64 * 1024 * 1024)  # four times the allowed memory
        for args in (["backup", saved, "--force", "--data", data], ["check", saved],
                     ["restore", saved, "--data", back], ["backup", "-", "--data", data]):
            used = most_memory(executable, *args)
            expect(used < small + 16 * 1024 * 1024, f"{args[0]}: {used} bytes after {small}")


def restic(folder, *args, **more):
    """Runs restic, with a repository in the folder."""
    env = {**os.environ, "RESTIC_REPOSITORY": os.path.join(folder, "repository"),
           "RESTIC_PASSWORD": "secret", "RESTIC_CACHE_DIR": os.path.join(folder, "cache")}
    done = subprocess.run(["restic", "--quiet", *args], env=env, capture_output=True, timeout=120,
                          check=False, **more)
    expect(done.returncode == 0, f"restic {args}: {done.stderr}")
    return done.stdout


def save_to_restic(executable, folder, data):
    with subprocess.Popen([executable, "backup", "-", "--data", data], stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, text=True) as saver:
        restic(folder, "backup", "--stdin", "--stdin-filename", "guildhall.backup",
               stdin=saver.stdout)
        message = saver.stderr.read()
        expect(saver.wait() == 0 and message.startswith("saved "), message)


def tree_size(folder):
    return sum(os.path.getsize(os.path.join(top, name)) for top, _, files in os.walk(folder)
               for name in files)


def files_of(data):
    found = {}
    for top, _, files in os.walk(os.path.join(data, "blobs")):
        if ".new" not in top:
            for name in files:
                with open(os.path.join(top, name), "rb") as f:
                    found[os.path.relpath(os.path.join(top, name), data)] = f.read()
    return found


def backup_stream_is_stored_and_restored_with_restic(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, back = os.path.join(folder, "data"), os.path.join(folder, "back")
        server = start_guildhall(executable, data)
        try:
            world = World(server.port)
            for n in range(24):
                send_file(server.port, world.token, world.channel, f"{n}.bin",
                          os.urandom(1024 * 1024))
            restic(folder, "init")
            time.sleep(3)  # a younger file is recorded as possibly incomplete
            save_to_restic(executable, folder, data)
            first = tree_size(os.path.join(folder, "repository"))
            send_file(server.port, world.token, world.channel, "later.bin", os.urandom(100000))
            save_to_restic(executable, folder, data)
            grown = tree_size(os.path.join(folder, "repository")) - first
        finally:
            server.stop()
        print(f"restic: {first} bytes, and {grown} more after one file of 100000 bytes")
        # restic divides the stream at places that each repository chooses at random, into up to 8 MiB.
        expect(first > 24 * 1024 * 1024 and grown < first / 2, f"{first}, then {grown}")
        stream = restic(folder, "dump", "latest", "guildhall.backup")
        done = subprocess.run([executable, "check", "-"], input=stream, capture_output=True,
                              timeout=120, check=False)
        expect(done.returncode == 0 and b"the backup is undamaged" in done.stdout, str(done.stderr))
        done = subprocess.run([executable, "restore", "-", "--data", back], input=stream,
                              capture_output=True, timeout=120, check=False)
        expect(done.returncode == 0 and done.stdout.startswith(b"restored "), str(done.stderr))
        expect(files_of(back) == files_of(data), "files differ")
        server = start_guildhall(executable, back)
        try:
            world.is_whole(server.port)
            attachments_are_served(server.port, world)
        finally:
            server.stop()


def backup_streams_of_the_same_state_are_equal(executable):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        run(executable, "user", "add", "zoe", "--data", data)
        one, two = (subprocess.run([executable, "backup", "-", "--data", data], timeout=120,
                                   capture_output=True, check=True).stdout for _ in range(2))
        expect(one == two and one.startswith(b"guildhall backup "), "they differ")
        done = run(executable, "backup", "-", "--keep", "2", "--data", data)
        expect(done.returncode == 2 and not done.stdout, done.stdout[:100])


def backup_does_not_overwrite_a_file_without_option(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, saved = os.path.join(folder, "data"), os.path.join(folder, "saved")
        run(executable, "user", "add", "zoe", "--data", data)
        with open(saved, "w", encoding="ascii") as f:
            f.write("something else")
        done = run(executable, "backup", saved, "--data", data)
        expect(done.returncode == 1 and "exists already; --force" in done.stderr, done.stderr)
        with open(saved, encoding="ascii") as f:
            expect(f.read() == "something else", "it was overwritten")
        expect(run(executable, "backup", saved, "--force", "--data", data).returncode == 0, "force")
        expect(run(executable, "check", saved).returncode == 0, "check")
        expect(sorted(os.listdir(folder)) == ["data", "saved"], str(os.listdir(folder)))


def rotation_retains_the_given_number_of_backups(executable):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        os.mkdir(os.path.join(folder, "into"))
        saved = os.path.join(folder, "into", "saved")
        for n in range(4):
            run(executable, "user", "add", f"zoe{n}", "--data", data)
            done = run(executable, "backup", saved, "--keep", "3", "--data", data)
            expect(done.returncode == 0, done.stderr)
        left = sorted(os.listdir(os.path.join(folder, "into")))
        expect(left == ["saved", "saved.1", "saved.2"], str(left))
        for n, name in enumerate(("saved", "saved.1", "saved.2")):
            back = os.path.join(folder, name)
            done = run(executable, "restore", os.path.join(folder, "into", name), "--data", back)
            expect(done.returncode == 0, done.stderr)
            rows = sqlite3.connect(os.path.join(back, "guildhall.db"))
            listed = [name for name, in rows.execute("select username from users")]
            rows.close()
            expect(f"zoe{3 - n}" in listed and f"zoe{4 - n}" not in listed, str(listed))


def damage_pages(path, count, table="%"):
    """Overwrites pages of tables, but not of the schema, without which the database cannot be
    opened."""
    rows = sqlite3.connect(path)
    pages = [n for n, in rows.execute("select pageno from dbstat where name like ? and "
                                      "name <> 'sqlite_schema'", (table,))]
    rows.close()
    with open(path, "r+b") as f:
        for n in pages[::max(1, len(pages) // count)][:count]:
            f.seek(4096 * (n - 1))
            f.write(b"\xa5" * 4096)


def damaged_database_is_not_saved_without_option(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, saved, back = (os.path.join(folder, n) for n in ("data", "saved", "back"))
        run(executable, "user", "add", "zoe", "--data", data)
        for _ in range(2):
            done = run(executable, "backup", saved, "--keep", "2", "--data", data)
            expect(done.returncode == 0, done.stderr)
        with open(saved, "rb") as f:
            good = f.read()
        damage_pages(os.path.join(data, "guildhall.db"), 20)
        for more in (["--keep", "2"], ["--force"]):
            done = run(executable, "backup", saved, *more, "--data", data)
            expect(done.returncode == 1 and "the database is damaged: no backup was written" in
                   done.stderr and "--even-if-damaged" in done.stderr, done.stderr)
            with open(saved, "rb") as f:
                expect(f.read() == good, "the intact backup was overwritten")
        expect(sorted(os.listdir(folder)) == ["data", "saved", "saved.1"], str(os.listdir(folder)))
        stream = subprocess.run([executable, "backup", "-", "--data", data], timeout=120,
                                capture_output=True, check=False)
        expect(stream.returncode == 1 and b"end " not in stream.stdout[-200:],
               "the stream of a damaged database is marked as complete")
        done = run(executable, "backup", saved, "--keep", "2", "--even-if-damaged", "--data", data)
        expect(done.returncode == 1 and "saved.damaged" in done.stderr and "1 files were damaged" in
               done.stdout, done.stdout + done.stderr)
        with open(saved, "rb") as f:
            expect(f.read() == good, "the intact backup was rotated away")
        done = run(executable, "check", saved + ".damaged")
        expect(done.returncode == 1 and "was made from a damaged database" in done.stdout,
               done.stdout + done.stderr)
        done = run(executable, "restore", saved + ".damaged", "--data", back)
        expect(done.returncode == 0 and "1 files were damaged" in done.stdout, done.stdout)
        done = run(executable, "check", "--data", data)
        expect(done.returncode == 1 and "the database is damaged" in done.stdout, done.stdout)


def backup_of_a_damaged_database_is_detected(executable):
    """The checksums are right: an older program made the backup without an integrity check."""
    with tempfile.TemporaryDirectory() as folder:
        data, saved = os.path.join(folder, "data"), os.path.join(folder, "saved")
        run(executable, "user", "add", "zoe", "--data", data)
        damage_pages(os.path.join(data, "guildhall.db"), 20)
        run(executable, "backup", saved, "--even-if-damaged", "--data", data)
        with open(saved, "rb") as f:
            whole = f.read()
        mark = b"damaged guildhall.db\n"
        expect(whole.count(mark) == 1, "the backup does not contain the marker")
        for args, more in ((["check", saved], {}), (["check", "-"], {"input": whole})):
            done = subprocess.run([executable, *args], capture_output=True, timeout=120,
                                  check=False, **more)
            expect(done.returncode == 1 and b"integrity_check" in done.stderr, str(done.stderr))


def database_that_cannot_be_opened_is_saved_unchanged(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, saved = os.path.join(folder, "data"), os.path.join(folder, "saved")
        run(executable, "user", "add", "zoe", "--data", data)
        with open(os.path.join(data, "guildhall.db"), "r+b") as f:
            f.write(b"\xa5" * 4096)
        done = run(executable, "backup", saved, "--data", data)
        expect(done.returncode == 1 and "the database is damaged" in done.stderr, done.stderr)
        done = run(executable, "check", "--data", data)
        expect(done.returncode == 1 and "the database is damaged" in done.stdout, done.stdout)
        done = run(executable, "backup", saved, "--even-if-damaged", "--data", data)
        expect(done.returncode == 1 and "1 files were damaged" in done.stdout, done.stderr)
        done = run(executable, "check", saved)
        expect(done.returncode == 1 and "was made from a damaged" in done.stdout, done.stdout)


def database_damage_is_logged_once_and_counted(executable):
    with tempfile.TemporaryDirectory() as data:
        server = start_guildhall(executable, data)
        try:
            world = World(server.port)
        finally:
            server.stop()
        damage_pages(os.path.join(data, "guildhall.db"), 9, "messages")
        server = start_guildhall(executable, data)
        try:
            name = "guildhall_store_corruptions_total"
            before = get_bytes(server.port, "http://a/metrics")[1].decode()
            client = Client(server.port, world.token)
            for _ in range(2):
                status, answer = client.call("GET", f"/channels/{world.channel}/messages")
                expect(status == 503, f"{status} {answer}")
            after = get_bytes(server.port, "http://a/metrics")[1].decode()
            client.close()
            counts = [int(re.search(rf"^{name} (\d+)$", text, re.M)[1]) for text in (before, after)]
            expect(counts[1] >= counts[0] + 2, str(counts))
            message = server.read_stderr()
            expect(message.count("restore the last good backup") == 1, message)
        finally:
            server.stop()


def file_world(executable, data, count):
    """Creates a stopped server with attachments; returns their paths below the data folder."""
    server = start_guildhall(executable, data)
    try:
        world = World(server.port)
        for n in range(count):
            send_file(server.port, world.token, world.channel, f"{n}.bin", os.urandom(50000))
    finally:
        server.stop()
    names = sorted(n for n, b in files_of(data).items() if len(b) == 50000)
    expect(len(names) == count, str(names))
    return world, names


def damage_three(data, names):
    os.unlink(os.path.join(data, names[0]))
    os.truncate(os.path.join(data, names[1]), 1000)
    with open(os.path.join(data, names[2]), "r+b") as f:
        f.seek(25000)
        f.write(b"not what was there")


def damaged_files_are_detected_and_not_served(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, saved = os.path.join(folder, "data"), os.path.join(folder, "saved")
        world, names = file_world(executable, data, 4)
        done = run(executable, "check", "--data", data)
        expect(done.returncode == 0 and "the files are undamaged: 6 files" in done.stdout, done.stdout)
        damage_three(data, names)
        done = run(executable, "check", "--data", data)
        expect(done.returncode == 1 and "3 of 6 files are damaged" in done.stdout and
               "the database is undamaged" in done.stdout, done.stdout)
        for name, words in zip(names, ("is missing", "has 1000 bytes instead of 50000",
                                       "differs from the uploaded file")):
            expect(f"'{name}' {words}" in done.stderr, done.stderr)
        done = run(executable, "backup", saved, "--keep", "3", "--data", data)
        expect(done.returncode == 1 and "3 files were damaged" in done.stdout, done.stdout)
        expect(sorted(os.listdir(folder)) == ["data", "saved.damaged"], str(os.listdir(folder)))
        done = run(executable, "check", saved + ".damaged")
        expect(done.returncode == 1 and names[1] in done.stderr, done.stdout + done.stderr)
        server = start_guildhall(executable, data)
        try:
            client = Client(server.port, world.token)
            status, messages = client.call("GET", f"/channels/{world.channel}/messages?limit=100")
            expect(status == 200, str(status))
            answers = []
            for message in messages:
                for attachment in message["attachments"]:
                    for _ in range(2):
                        answers.append(get_bytes(server.port, attachment["url"]))
            client.close()
            wrong = [a for a in answers if a[0] == 500]
            expect(len(wrong) == 4 and all(b"has to restore it from a backup" in data
                                           for _, data in wrong), str([a[0] for a in answers]))
            expect(all(len(data) in (50000, len(ATTACHMENT)) for s, data in answers if s == 200),
                   "a shorter file was served")
        finally:
            server.stop()


def intact_files_of_a_damaged_backup_are_restored(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, saved, back = (os.path.join(folder, n) for n in ("data", "saved", "back"))
        world, names = file_world(executable, data, 4)
        expect(run(executable, "backup", saved, "--data", data).returncode == 0, "backup")
        with open(saved, "rb") as f:
            whole = f.read()
        files = files_of(data)
        at = whole.index(files[names[1]])
        with open(saved, "wb") as f:
            f.write(whole[:at + 100] + bytes([whole[at + 100] ^ 1]) + whole[at + 101:])
        done = run(executable, "restore", saved, "--data", back)
        expect(done.returncode == 1 and "--salvage" in done.stderr, done.stderr)
        done = run(executable, "user", "add", "eve", "--data", back)
        expect(done.returncode == 1 and "--salvage" in done.stderr, done.stderr)
        again = back + "2"
        done = run(executable, "restore", saved, "--salvage", "--data", again)
        expect(done.returncode == 1 and f"'{names[1]}' is damaged" in done.stderr and
               "not restored: 1 files" in done.stdout, done.stdout + done.stderr)
        del files[names[1]]
        expect(files_of(again) == files, "an intact file was not restored")
        server = start_guildhall(executable, again)
        try:
            world.is_whole(server.port)
        finally:
            server.stop()
        # A file line has a wrong size, and a file looks like a part of a backup.
        line = whole.rindex(b"file ", 0, at)
        with open(saved, "wb") as f:
            f.write(whole[:line] + b"file 9" + whole[line + 5:at] +
                    b"\nfile 4 pepper.key\nevil\nfile 4 " + names[0].encode() + b"\nevil\n" +
                    whole[at:])
        done = run(executable, "restore", saved, "--salvage", "--data", back + "5")
        expect(done.returncode == 1 and "cannot be read" in done.stderr, done.stderr)
        restored = files_of(back + "5")
        expect(restored == {**files, **({names[1]: restored[names[1]]} if names[1] in restored
                                        else {})}, "an intact file was not restored")
        with open(os.path.join(back + "5", "pepper.key"), "rb") as f:
            expect(f.read() != b"evil", "the key was taken from an attachment")
        with open(saved, "wb") as f:
            f.write(whole[:at + 100])
        done = run(executable, "restore", saved, "--salvage", "--data", back + "3")
        expect(done.returncode == 1 and "cannot be read" in done.stderr, done.stderr)
        expect(run(executable, "check", "--data", back + "3").returncode == 1, "files are missing")
        server = start_guildhall(executable, back + "3")
        server.stop()
        done = run(executable, "restore", saved + "x", "--data", back + "4")
        expect(done.returncode == 1 and not os.path.exists(back + "4"), "a mistyped name created a folder")
        done = run(executable, "restore", __file__, "--data", back + "4")
        expect(done.returncode == 1 and not os.path.exists(back + "4"), "a missing backup created a folder")


def read_only_data_folder_is_saved_and_checked(executable):
    """Tests a read-only disk, and a file system snapshot of a running server."""
    with tempfile.TemporaryDirectory() as folder:
        data, copy, saved = (os.path.join(folder, n) for n in ("data", "copy", "saved"))
        script = 'mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && shift && exec "$@"'
        server = start_guildhall(executable, data)
        try:
            world = World(server.port)
            shutil.copytree(data, copy, ignore=shutil.ignore_patterns("control"))
        finally:
            server.stop()
        expect(os.path.getsize(os.path.join(copy, "guildhall.db-wal")) > 0, "the write-ahead log is empty")
        for n, frozen in enumerate((data, copy)):
            locked = ["unshare", "--mount", "sh", "-ec", script, "sh", frozen, executable]
            if subprocess.run([*locked[:-1], "true"], check=False, capture_output=True).returncode:
                raise Skip("mounts are not permitted here")
            done = run(*locked, "check", "--data", frozen)
            expect(done.returncode == 0 and "the database is undamaged" in done.stdout,
                   done.stdout + done.stderr)
            done = run(*locked, "backup", f"{saved}{n}", "--data", frozen)
            expect(done.returncode == 0, done.stderr)
            back = os.path.join(folder, f"back{n}")
            expect(run(executable, "restore", f"{saved}{n}", "--data", back).returncode == 0, "back")
            server = start_guildhall(executable, back)
            try:
                world.is_whole(server.port)
            finally:
                server.stop()


if __name__ == "__main__":
    run_cases("backup", [
        backup_of_a_busy_server_restores_everything,
        documented_backup_commands_work,
        restore_requires_an_empty_folder_and_an_intact_backup,
        backup_with_paths_outside_its_folder_is_refused,
        killed_backup_leaves_no_file_with_its_name,
        files_are_not_deleted_during_a_backup,
        server_without_its_key_does_not_start,
        backup_memory_does_not_grow_with_its_size,
        backup_stream_is_stored_and_restored_with_restic,
        backup_streams_of_the_same_state_are_equal,
        backup_does_not_overwrite_a_file_without_option,
        rotation_retains_the_given_number_of_backups,
        damaged_database_is_not_saved_without_option,
        backup_of_a_damaged_database_is_detected,
        database_that_cannot_be_opened_is_saved_unchanged,
        database_damage_is_logged_once_and_counted,
        damaged_files_are_detected_and_not_served,
        intact_files_of_a_damaged_backup_are_restored,
        read_only_data_folder_is_saved_and_checked,
    ])

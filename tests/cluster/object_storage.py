#!/usr/bin/env python3
"""object_storage - tests servers whose files are in object storage (--blobs s3://…), with OpenStack
Swift, which verifies signatures. GUILDHALL_OBJECT_KILLS sets the number of kills (nightly: 50)."""

import atexit
import datetime
import hashlib
import hmac
import http.client
import os
import random
import re
import shutil
import sqlite3
import subprocess
import tempfile
import threading
import time
import urllib.parse

from cluster_nodes import PATIENCE, expect, guild_and_channel_of
from cases import Skip, run_cases
from files_in_database import TOOL_PATIENCE, ClusterWithSeparateFolders, get, picture, upload, wait_until
from process import Client, register, start_guildhall

HERE = os.path.dirname(os.path.abspath(__file__))
PYTHON = "/usr/bin/python3"  # the distribution's Python, which has Swift
ACCESS_KEY, SECRET = "test:tester", "secret/of+tests"
KILLS = int(os.environ.get("GUILDHALL_OBJECT_KILLS", "5"))
MULTIPART = 5_500_000  # bytes: above the size of a part


class Storage:
    """An object storage. The cases share it, each with a bucket of its own."""

    def __init__(self):
        if subprocess.run([PYTHON, "-c", "import swift"], capture_output=True, check=False).returncode:
            raise Skip("OpenStack Swift is not installed (Debian: python3-swift)")
        self.folder = tempfile.mkdtemp(prefix="guildhall-swift.", dir="/var/tmp")
        self.port, self.child = 0, None
        self.secret_file = os.path.join(self.folder, "secret")
        with open(self.secret_file, "w", encoding="ascii") as f:
            f.write(SECRET + "\n")
        self.bucket, self.flags = "", []
        self.start()

    def __enter__(self):
        self.bucket = f"guildhall-files-{random.randrange(1 << 40)}"
        status, _, body = self.call("PUT", "/" + self.bucket)
        expect(status == 200, f"the bucket was not created: {status} {body}")
        self.flags = ["--blobs", f"s3://{self.bucket}/some/prefix", "--s3-endpoint",
                      f"http://127.0.0.1:{self.port}", "--s3-access-key", ACCESS_KEY,
                      "--s3-secret-file", self.secret_file]
        return self

    def __exit__(self, *error):
        pass

    def start(self):
        self.child = subprocess.Popen(
            [PYTHON, os.path.join(HERE, "swift_server.py"), os.path.join(self.folder, "swift"), ACCESS_KEY,
             SECRET, str(self.port)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.port = int(self.child.stdout.readline())

    def stop(self):
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()

    def close(self):
        self.stop()
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, path, query=None, secret=SECRET):
        """Sends a request with a signature that is computed here, independently of the server."""
        now = datetime.datetime.now(datetime.timezone.utc).strftime("%Y%m%dT%H%M%SZ")
        quoted = "&".join(f"{urllib.parse.quote(k, safe='')}={urllib.parse.quote(v, safe='')}"
                          for k, v in sorted((query or {}).items()))
        digest = hashlib.sha256(b"").hexdigest()
        headers = {"host": f"127.0.0.1:{self.port}", "x-amz-content-sha256": digest, "x-amz-date": now}
        canonical = "\n".join([method, path, quoted, *[f"{k}:{v}" for k, v in headers.items()], "",
                               ";".join(headers), digest])
        scope = f"{now[:8]}/us-east-1/s3/aws4_request"
        key = ("AWS4" + secret).encode()
        for word in scope.split("/"):
            key = hmac.new(key, word.encode(), hashlib.sha256).digest()
        text = "\n".join(["AWS4-HMAC-SHA256", now, scope, hashlib.sha256(canonical.encode()).hexdigest()])
        signature = hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=PATIENCE)
        connection.request(method, path + ("?" + quoted if quoted else ""), headers={
            **headers, "Authorization": f"AWS4-HMAC-SHA256 Credential={ACCESS_KEY}/{scope}, "
                                        f"SignedHeaders={';'.join(headers)}, Signature={signature}"})
        answer = connection.getresponse()
        body = answer.read()
        connection.close()
        return answer.status, dict(answer.getheaders()), body

    def names(self, prefix="some/prefix/"):
        _, _, body = self.call("GET", "/" + self.bucket, {"list-type": "2", "prefix": prefix})
        return {name[len(prefix):] for name in re.findall(r"<Key>([^<]*)</Key>", body.decode())}

    def incomplete_uploads(self):
        _, _, body = self.call("GET", "/" + self.bucket, {"uploads": ""})
        return re.findall(r"<UploadId>([^<]*)</UploadId>", body.decode())


STORAGES = []


def shared_storage():
    if not STORAGES:
        STORAGES.append(Storage())
        atexit.register(STORAGES[0].close)
    return STORAGES[0]


class Embedded:
    """A server with the embedded database."""

    def __init__(self, executable, storage, *flags):
        self.executable, self.storage, self.flags = executable, storage, [*storage.flags, *flags]
        self.folder = os.path.join(storage.folder, f"data{random.randrange(1 << 40)}")
        self.start()
        self.ada = register(self.server.port, "ada")
        status, guild = self.client().call("POST", "/guilds", {"name": "Hall"})
        expect(status == 201, f"guild: {status} {guild}")
        status, channels = self.client().call("GET", f"/guilds/{guild['id']}/channels")
        self.channel = next(c["id"] for c in channels if c["type"] == 0)

    def start(self):
        self.server = start_guildhall(self.executable, self.folder, *self.flags)

    def __enter__(self):
        return self

    def __exit__(self, *error):
        self.server.kill()

    def client(self):
        return Client(self.server.port, self.ada)

    def query(self, sql):
        database = sqlite3.connect(f"file:{self.folder}/guildhall.db?mode=ro", uri=True, timeout=PATIENCE)
        rows = database.execute(sql).fetchall()
        database.close()
        return {row[0] for row in rows}

    def postpone(self):
        """The embedded database has one server: it deletes unused objects when it starts."""


class OneNode(ClusterWithSeparateFolders):
    """One node with PostgreSQL, like Embedded."""

    def __init__(self, executable, storage, *flags):
        super().__init__(executable, nodes=1, flags=(*storage.flags, *flags))
        self.ada = self.tokens[0]
        _, self.channel = guild_and_channel_of(self.client(1, self.ada))

    @property
    def server(self):
        return self.servers[1]

    def start(self, node=1):
        super().start(node)

    def query(self, sql):
        return set(self.sql(sql).split())

    def postpone(self):
        """Moves the clock: a server of a cluster deletes objects without a row after an hour."""
        self.sql("update object_uploads set began_at = began_at - 7200")


def metric(port, name):
    _, body = get(port, "/metrics")
    return float(re.search(rf"^{name} (\S+)$", body.decode(), re.M)[1])


def run_tool(executable, *words, fails=False):
    done = subprocess.run([executable, *words], capture_output=True, text=True, timeout=TOOL_PATIENCE,
                          check=False)
    expect((done.returncode != 0) == fails, f"{words}: {done.stdout} {done.stderr}")
    expect(SECRET not in done.stdout + done.stderr, "the secret was printed")
    return done.stdout + done.stderr


# --- a cluster -------------------------------------------------------------------


def objects_are_served_by_every_node(executable):
    with shared_storage() as storage, ClusterWithSeparateFolders(executable, flags=storage.flags) as cluster:
        ada = cluster.tokens[0]
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        content = bytes(i * 7 & 255 for i in range(MULTIPART))
        message, path = upload(cluster.servers[1].port, ada, channel, content)
        expect(get(cluster.servers[2].port, path) == (200, content), "the file of the other node is not served")
        status, piece = get(cluster.servers[2].port, path, {"Range": "bytes=5300000-5300099"})
        expect((status, piece) == (206, content[5300000:5300100]), f"a range request got {status}")
        png, url = picture()
        status, user = cluster.client(2, ada).call("PATCH", "/users/@me", {"avatar": url})
        expect(get(cluster.servers[1].port, f"/avatars/{user['id']}/{user['avatar']}.png") == (200, png), "avatar")
        expect(get(cluster.servers[1].port, f"/avatars/{user['id']}/{'0' * 32}.png")[0] == 404, "missing")
        wait_until(lambda: cluster.sql("select count(*) from object_uploads") == "0", "not confirmed")
        expect(storage.names() == set(cluster.sql("select name from files").split()), "other objects")
        expect(cluster.sql("select address from object_location") == storage.flags[1], "address")
        expect(metric(cluster.servers[1].port, "guildhall_object_storage_up") == 1, "metrics")
        server_without_object_storage_is_refused(cluster, storage.flags[1])
        status, _ = cluster.client(2, ada).call("DELETE", f"/channels/{channel}/messages/{message}")
        expect(status == 204, "deleting the message")
        wait_until(lambda: len(storage.names()) == 1, "the object was not deleted")
        expect(get(cluster.servers[1].port, path)[0] == 404, "the deleted file is still served")


def server_without_object_storage_is_refused(cluster, address):
    command = [cluster.executable, "serve", "--listen", "127.0.0.1:0", "--data", cluster.folder_of(2),
               "--store", cluster.store, "--bus", "poll", "--node", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    expect(done.returncode == 1 and f"start with --blobs {address}" in done.stderr, done.stderr)


# --- options ---------------------------------------------------------------------


def wrong_options_are_refused_with_a_sentence(executable):
    with tempfile.TemporaryDirectory() as folder:
        serve = ["serve", "--listen", "127.0.0.1:0", "--data", folder]
        key = ["--s3-access-key", "a"]
        for flags, words in (
                (["--blobs", "elsewhere"], "blobs must be folder, postgres, s3://BUCKET"),
                (["--blobs", "s3://A_b"], "a bucket name has 3 to 63 characters"),
                (["--blobs", "s3://bucket"], "set s3-access-key or AWS_ACCESS_KEY_ID"),
                (["--blobs", "s3://bucket", *key], "set s3-secret-file or AWS_SECRET_ACCESS_KEY"),
                (["--blobs", "s3://bucket", *key, "--s3-secret-file", "/none"], "cannot read '/none'"),
                (["--blobs", "s3://bucket", *key, "--s3-endpoint", "ftp://x"], "s3-endpoint must be the URL"),
                (["--blobs", "s3://bucket", *key, "--s3-redirects", "yes"], "s3-redirects must be off, on")):
            expect(words in run_tool(executable, *serve, *flags, fails=True), words)


# --- downloads that bypass the server ----------------------------------------------


def downloads_are_redirected_to_presigned_urls(executable):
    with shared_storage() as storage, Embedded(
            executable, storage, "--s3-redirects", f"http://localhost:{storage.port}", "--s3-addressing", "host",
            "--s3-endpoint", f"http://localhost:{storage.port}") as server:
        content = os.urandom(3000)
        _, path = upload(server.server.port, server.ada, server.channel, content)
        connection = http.client.HTTPConnection("127.0.0.1", server.server.port, timeout=PATIENCE)
        connection.request("GET", path)
        answer = connection.getresponse()
        answer.read()
        url = answer.getheader("Location")
        expect(answer.status == 302 and url.startswith(
            f"http://{storage.bucket}.localhost:{storage.port}/some/prefix/attachments/"), f"{answer.status} {url}")
        expect("max-age=600" in answer.getheader("Cache-Control"), "the redirect is cached for too long")
        connection.request("GET", "/")
        page = connection.getresponse()
        page.read()
        expect(f"img-src 'self' data: blob: http://{storage.bucket}.localhost:{storage.port};"
               in page.getheader("Content-Security-Policy"), "the page may not show the file")
        connection.close()
        for changed, expected in (("", 200), ("&x=y", 403)):
            status, headers, body = get_from(storage.port, url + changed)
            expect(status == expected, f"{status} {body[:300]}")
            if expected == 200:
                expect(body == content, "other content")
                expect(headers["Content-Disposition"] == 'attachment; filename="a.bin"', headers)
        status = get_from(storage.port, url.partition("?")[0])[0]
        expect(400 <= status < 500, f"without a signature the file got {status}")


def get_from(port, url):
    parts = urllib.parse.urlsplit(url)
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", f"{parts.path}?{parts.query}", headers={"Host": parts.netloc})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


# --- outage ----------------------------------------------------------------------


def outage_is_reported_and_passes(executable):
    with shared_storage() as storage, Embedded(executable, storage) as server:
        content = os.urandom(3000)
        _, path = upload(server.server.port, server.ada, server.channel, content)
        shutil.rmtree(os.path.join(server.folder, "blob-cache", "attachments"), ignore_errors=True)
        cached = os.urandom(2000)
        _, cached_path = upload(server.server.port, server.ada, server.channel, cached)
        expect(get(server.server.port, cached_path) == (200, cached), "the file is read")
        for root, _, names in os.walk(os.path.join(server.folder, "blob-cache")):
            for name in names:  # the last check of the copy was long ago
                os.utime(os.path.join(root, name), (1, 1))
        storage.stop()
        expect(get(server.server.port, cached_path) == (200, cached), "a cached file in the outage")
        _, url = picture()
        for _ in range(2):  # the second time without a request
            status, answer = server.client().call("PATCH", "/users/@me", {"avatar": url})
            expect(status == 503 and "file storage" in answer["message"], f"{status} {answer}")
            status, body = get(server.server.port, path)
            expect(status == 503 and b"file storage" in body, f"{status} {body}")
        expect(metric(server.server.port, "guildhall_object_storage_up") == 0, "up")
        expect(metric(server.server.port, "guildhall_object_storage_failures_total") >= 4, "failures")
        expect(get(server.server.port, "/readyz")[0] == 200, "chat works without files")
        status, _ = server.client().call("POST", f"/channels/{server.channel}/messages", {"content": "hi"})
        expect(status == 200, f"a message without a file got {status}")
        storage.start()
        wait_until(lambda: server.client().call("PATCH", "/users/@me", {"avatar": url})[0] == 200,
                   "uploads fail after the outage")
        expect(get(server.server.port, path) == (200, content), "the file is lost")
        expect(metric(server.server.port, "guildhall_object_storage_up") == 1, "up again")


# --- move, backup, check -----------------------------------------------------------


def files_move_between_folder_and_bucket(executable):
    with shared_storage() as storage, Embedded(executable, storage) as server:
        content = os.urandom(MULTIPART)
        _, path = upload(server.server.port, server.ada, server.channel, content)
        wait_until(lambda: not server.query("select name from object_uploads"), "not confirmed")
        backup, again = (os.path.join(storage.folder, name) for name in ("b.backup", "again"))
        at = ["--data", server.folder, *storage.flags]
        run_tool(executable, "backup", backup, *at)
        server.server.stop()
        expect("1 files" in run_tool(executable, "check", *at), "check")
        restored_backup_runs_with_a_folder(executable, backup, again, path, content)

        name = server.query("select name from files").pop()
        run_tool(executable, "move", *at, "--to-blobs", "folder")
        with open(os.path.join(server.folder, "blobs", name), "rb") as f:
            expect(f.read() == content, "the moved file differs")
        expect("are not in 's3://" in run_tool(
            executable, "serve", "--listen", "127.0.0.1:0", *at, fails=True), "no refusal")
        storage.call("DELETE", f"/{storage.bucket}/some/prefix/{name}")
        run_tool(executable, "move", "--data", server.folder, *storage.flags[2:], "--to-blobs", storage.flags[1])
        expect(storage.names() == {name}, "the object is not there")
        expect("the files are already in that place" in run_tool(
            executable, "move", *at, "--to-blobs", storage.flags[1] + "/", fails=True), "same place")
        storage.call("DELETE", f"/{storage.bucket}/some/prefix/{name}")
        expect("is missing" in run_tool(executable, "check", *at, fails=True), "check of a missing object")


def restored_backup_runs_with_a_folder(executable, backup, folder, path, content):
    run_tool(executable, "check", backup)
    run_tool(executable, "restore", backup, "--data", folder)
    server = start_guildhall(executable, folder)
    try:
        expect(get(server.port, path) == (200, content), "the restored file differs")
    finally:
        server.stop()


def files_with_postgres_move_to_the_bucket_and_survive_kills(executable):
    with shared_storage() as storage, OneNode(executable, storage, "--rate-limits", "off") as server:
        content = os.urandom(MULTIPART)
        _, path = upload(server.server.port, server.ada, server.channel, content)
        wait_until(lambda: not server.query("select name from object_uploads"), "not confirmed")
        server.server.stop()
        at = ["--data", server.folder_of(1), "--store", server.store, *storage.flags]
        run_tool(executable, "move", *at, "--to-blobs", "postgres")
        expect(server.query("select size from blobs") == {str(MULTIPART)}, "the file is not in PostgreSQL")
        for name in storage.names():
            storage.call("DELETE", f"/{storage.bucket}/some/prefix/{name}")
        run_tool(executable, "move", "--data", server.folder_of(1), "--store", server.store, "--blobs", "postgres",
                 *storage.flags[2:], "--to-blobs", storage.flags[1])
        expect(not server.query("select name from blobs"), "the table is not empty")
        server.start()
        expect(get(server.server.port, path) == (200, content), "the moved file differs")
        killed_server_neither_loses_nor_leaks_objects(storage, server, KILLS // 2)
        server.server.stop()
        again = os.path.join(storage.folder, "moved")
        run_tool(executable, "move", *at, "--to", again)  # the database alone
        with_sqlite = start_guildhall(executable, again, *storage.flags)
        try:
            expect(get(with_sqlite.port, path) == (200, content), "the file after the move of the database")
        finally:
            with_sqlite.stop()


# --- kill -9 ---------------------------------------------------------------------


class Uploader(threading.Thread):
    """Uploads files and deletes every second one, until the server is gone."""

    def __init__(self, server, size):
        super().__init__()
        self.server, self.size, self.uploads = server, size, 0
        self.start()

    def run(self):
        port, ada, channel = self.server.server.port, self.server.ada, self.server.channel
        try:
            while True:
                message, _ = upload(port, ada, channel, os.urandom(self.size))
                self.uploads += 1
                if self.uploads % 2:
                    client = Client(port, ada)
                    client.call("DELETE", f"/channels/{channel}/messages/{message}")
                    client.close()
        except Exception:  # pylint: disable=broad-except
            pass  # the server is gone


def killed_server_neither_loses_nor_leaks_objects(storage, server, rounds):
    for number in range(rounds):
        uploaders = [Uploader(server, size) for size in (300, 5000, 40_000, MULTIPART)]
        wait_until(lambda: sum(u.uploads for u in uploaders) > 2, "nothing is uploaded")
        time.sleep(random.uniform(0, 1))
        server.server.kill()
        for uploader in uploaders:
            uploader.join(PATIENCE)
        left, incomplete = storage.names(), len(storage.incomplete_uploads())
        missing = server.query("select name from files where gone = 0") - left
        expect(not missing, f"round {number}: referenced and missing: {missing}")
        server.postpone()
        server.start()
        wait_until(lambda: not server.query("select name from files where gone = 1")
                   and not server.query("select name from object_uploads"), "the objects are not settled")
        rows = server.query("select name from files")
        expect(storage.names() == rows, f"missing: {rows - storage.names()}; unused: {storage.names() - rows}")
        expect(not storage.incomplete_uploads(), "parts of an upload are left")
        print(f"round {number + 1}: {len(left)} objects and {incomplete} incomplete uploads at the kill, "
              f"{len(rows)} remain", flush=True)


def killed_server_with_sqlite_leaves_no_unused_object(executable):
    with shared_storage() as storage, Embedded(executable, storage, "--rate-limits", "off") as server:
        killed_server_neither_loses_nor_leaks_objects(storage, server, (KILLS + 1) // 2)


if __name__ == "__main__":
    run_cases("cluster/object_storage",
              [objects_are_served_by_every_node, wrong_options_are_refused_with_a_sentence,
               downloads_are_redirected_to_presigned_urls, outage_is_reported_and_passes,
               files_move_between_folder_and_bucket, files_with_postgres_move_to_the_bucket_and_survive_kills,
               killed_server_with_sqlite_leaves_no_unused_object])

#!/usr/bin/env python3
"""files_in_database - tests nodes that share only the database, which also stores their files (--blobs
postgres)."""

import base64
import http.client
import json
import os
import shutil
import subprocess
import time
import zlib

from cluster_nodes import PATIENCE, Cluster, expect, guild_and_channel_of
from cases import run_cases
from process import start_guildhall

TOOL_PATIENCE = 300  # seconds: a move creates all tables


class ClusterWithSeparateFolders(Cluster):
    """Each node has its own data folder, with a copy of the key."""

    def folder_of(self, node):
        return os.path.join(self.folder, f"data{node}")

    def start(self, node):
        if not os.path.exists(self.folder_of(node)):
            os.makedirs(self.folder_of(node))
            shutil.copy(os.path.join(self.folder, "data", "pepper.key"), self.folder_of(node))
        self.servers[node] = start_guildhall(self.executable, self.folder_of(node),
                                             *self.command(node))


def get(port, path, headers=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("GET", path, headers=headers or {})
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, body


def picture():
    """A PNG of one red pixel, as a data URL."""
    def chunk(kind, data):
        return (len(data).to_bytes(4, "big") + kind + data
                + zlib.crc32(kind + data).to_bytes(4, "big"))
    png = (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", bytes([0, 0, 0, 1, 0, 0, 0, 1, 8, 2, 0, 0, 0]))
           + chunk(b"IDAT", zlib.compress(b"\0\xff\0\0")) + chunk(b"IEND", b""))
    return png, "data:image/png;base64," + base64.b64encode(png).decode()


def upload(port, token, channel, content):
    """Posts a message with a file and returns the file's path."""
    mark = "nobodywritesthis"
    body = (f"--{mark}\r\nContent-Disposition: form-data; name=\"payload_json\"\r\n\r\n"
            f"{json.dumps({'content': 'see'})}\r\n--{mark}\r\nContent-Disposition: form-data; "
            f"name=\"files[0]\"; filename=\"a.bin\"\r\nContent-Type: application/octet-stream\r\n\r\n"
            ).encode() + content + f"\r\n--{mark}--\r\n".encode()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=PATIENCE)
    connection.request("POST", f"/api/v10/channels/{channel}/messages", body,
                       {"Authorization": token,
                        "Content-Type": f"multipart/form-data; boundary={mark}"})
    answer = connection.getresponse()
    message = json.loads(answer.read())
    connection.close()
    expect(answer.status == 200, f"upload: {answer.status} {message}")
    url = message["attachments"][0]["url"]
    return message["id"], url[url.index("/attachments/"):]


def wait_until(true, words):
    deadline = time.monotonic() + PATIENCE
    while not true():
        expect(time.monotonic() < deadline, words)
        time.sleep(0.05)


def files_in_the_database_are_served_by_every_node(executable):
    with ClusterWithSeparateFolders(executable, flags=("--blobs", "postgres")) as cluster:
        ada = cluster.tokens[0]
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        content = bytes(i * 7 & 255 for i in range(700_000))
        message, path = upload(cluster.servers[1].port, ada, channel, content)
        expect(get(cluster.servers[2].port, path) == (200, content), "the file of the other node is not served")
        status, piece = get(cluster.servers[2].port, path, {"Range": "bytes=300000-300099"})
        expect((status, piece) == (206, content[300000:300100]), f"a range request got {status}")
        wait_until(lambda: cluster.sql("select bool_and(settled) from blobs") == "t",
                   "the file is not confirmed")
        expect(cluster.sql("select count(*) from blob_parts") == "3", "the file does not have three parts")
        image_is_read_in_the_background(cluster, ada)
        node_with_files_in_its_folder_is_refused(cluster)
        backup_and_move_include_the_files(cluster, content)
        status, _ = cluster.client(2, ada).call("DELETE", f"/channels/{channel}/messages/{message}")
        expect(status == 204, "deleting the message")
        wait_until(lambda: cluster.sql("select count(*) from blob_parts") == "1", "the file was not deleted")
        expect(get(cluster.servers[1].port, path)[0] == 404, "the deleted file is still served")


def image_is_read_in_the_background(cluster, ada):
    png, url = picture()
    status, user = cluster.client(1, ada).call("PATCH", "/users/@me", {"avatar": url})
    expect(status == 200, f"avatar: {status} {user}")
    path = f"/avatars/{user['id']}/{user['avatar']}.png"
    for node in (2, 1, 2):
        expect(get(cluster.servers[node].port, path) == (200, png), f"node {node}")
    for missing in (f"/avatars/{user['id']}/{'0' * 32}.png", "/avatars/1/nothing.png"):
        expect(get(cluster.servers[2].port, missing)[0] == 404, missing)
    # A file that another node has deleted is not served for long.
    hash_ = user["avatar"]
    cached = [os.path.join(root, name) for root, _, names in os.walk(cluster.folder_of(2))
              for name in names if hash_ in name]
    expect(len(cached) == 1, f"cached: {cached}")
    os.utime(cached[0], (1, 1))
    expect(get(cluster.servers[2].port, path) == (200, png), "the image is not read again")
    expect(os.stat(cached[0]).st_mtime > 1, "the cached copy was not checked")


def node_with_files_in_its_folder_is_refused(cluster):
    command = [cluster.executable, "serve", "--listen", "127.0.0.1:0", "--data", cluster.folder_of(2),
               "--store", cluster.store, "--bus", "poll", "--node", "3"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    expect(done.returncode == 1 and "start with --blobs postgres" in done.stderr, done.stderr)


def sizes_below(folder):
    return {os.path.getsize(os.path.join(root, name))
            for root, _, names in os.walk(folder) for name in names}


def backup_and_move_include_the_files(cluster, content):
    backup, again = (os.path.join(cluster.folder, name) for name in ("b.backup", "again"))
    inside = ["--data", cluster.folder_of(1), "--store", cluster.store, "--blobs", "postgres"]
    done = subprocess.run([cluster.executable, "backup", backup, *inside], capture_output=True,
                          text=True, timeout=TOOL_PATIENCE, check=False)
    expect(done.returncode == 0 and os.path.getsize(backup) > len(content), f"backup: {done}")
    expect(len(content) not in sizes_below(os.path.join(cluster.folder_of(1), "blob-cache")),
           "reading a backup evicts cached copies in use")
    for server in cluster.servers.values():
        server.stop()
    shutil.rmtree(os.path.join(cluster.folder_of(1), "blob-cache"))  # the cache may be deleted at any time
    done = subprocess.run([cluster.executable, "move", *inside, "--to", again], capture_output=True,
                          text=True, timeout=TOOL_PATIENCE, check=False)
    expect(done.returncode == 0, f"move: {done.stderr}")
    sizes = sizes_below(os.path.join(again, "blobs"))
    expect(len(content) in sizes, f"moved: {sizes}")
    schema = cluster.schema + "_back"
    cluster.sql(f"create schema {schema}")
    try:
        back = f"{cluster.database} options=-csearch_path={schema}"
        done = subprocess.run([cluster.executable, "move", "--data", again, "--to", back, "--blobs",
                               "postgres"], capture_output=True, text=True, timeout=TOOL_PATIENCE,
                              check=False)
        expect(done.returncode == 0, f"move back: {done.stderr}")
        expected, found = (cluster.sql("select string_agg(name || ' ' || size || ' ' || settled, ', ' "
                                       f"order by name) from {where}.blobs")
                           for where in (cluster.schema, schema))
        expect(expected == found, f"expected {expected}, but found {found}")
    finally:
        cluster.sql(f"drop schema {schema} cascade")
    for node in (1, 2):
        cluster.start(node)
    cluster.wait_ready()


if __name__ == "__main__":
    run_cases("cluster/files_in_database", [
        files_in_the_database_are_served_by_every_node,
    ])

#!/usr/bin/python3
"""swift_server - runs OpenStack Swift (Debian: python3-swift) with its S3 interface in one process.

    swift_server.py FOLDER ACCESS_KEY SECRET [PORT]

Prints the port of the S3 interface. Swift verifies signature version 4 of headers and of presigned
URLs. The data stay in FOLDER, which must be on a file system with user attributes (not tmpfs)."""
import array
import os
import sys

import eventlet

eventlet.monkey_patch()

# pylint: disable=wrong-import-position
from swift.common import utils

FOLDER, ACCESS_KEY, SECRET = sys.argv[1:4]
PORT = int(sys.argv[4]) if len(sys.argv) > 4 else 0
os.makedirs(FOLDER, exist_ok=True)
utils.SWIFT_CONF_FILE = os.path.join(FOLDER, "swift.conf")
with open(utils.SWIFT_CONF_FILE, "w", encoding="ascii") as conf:
    conf.write("[swift-hash]\nswift_hash_path_suffix = tests\n"
               "[storage-policy:0]\nname = one\ndefault = yes\n")
utils.validate_hash_conf()

from eventlet import listen, wsgi
from swift.common import internal_client  # noqa: F401
from swift.common.ring import RingData
from swift.common.storage_policy import reload_storage_policies
from swift.common.wsgi import loadapp

reload_storage_policies()

STORAGE = """[DEFAULT]
devices = {folder}/devices
mount_check = false
swift_dir = {folder}
log_level = ERROR
[pipeline:main]
pipeline = {kind}-server
[app:{kind}-server]
use = egg:swift#{kind}
allow_versions = true
"""

PROXY = """[DEFAULT]
swift_dir = {folder}
log_level = ERROR
[pipeline:main]
pipeline = catch_errors cache listing_formats s3api tempauth bulk slo proxy-server
[app:proxy-server]
use = egg:swift#proxy
account_autocreate = true
[filter:catch_errors]
use = egg:swift#catch_errors
[filter:cache]
use = egg:swift#memcache
memcache_servers = 127.0.0.1:1
connect_timeout = 0.01
[filter:listing_formats]
use = egg:swift#listing_formats
[filter:s3api]
use = egg:swift#s3api
location = {region}
storage_domain = {domain}
min_segment_size = 1
[filter:tempauth]
use = egg:swift#tempauth
user_{access} = {secret} .admin
[filter:bulk]
use = egg:swift#bulk
[filter:slo]
use = egg:swift#slo
min_segment_size = 1
"""


def quiet_log():
    return open(os.devnull, "w", encoding="ascii")


def write_ring(kind, port):
    device = {"id": 0, "zone": 0, "region": 1, "device": "sda", "ip": "127.0.0.1", "port": port,
              "replication_ip": "127.0.0.1", "replication_port": port, "weight": 1.0}
    RingData([array.array("H", [0])], [device], 32).save(os.path.join(FOLDER, f"{kind}.ring.gz"))


def serve(kind, text, socket):
    path = os.path.join(FOLDER, f"{kind}.conf")
    with open(path, "w", encoding="utf-8") as conf:
        conf.write(text)
    app = loadapp(path, global_conf={"log_level": "ERROR"})
    eventlet.spawn(wsgi.server, socket, app, quiet_log())


def main():
    os.makedirs(os.path.join(FOLDER, "devices", "sda"), exist_ok=True)
    sockets = {kind: listen(("127.0.0.1", 0)) for kind in ("account", "container", "object")}
    for kind, socket in sockets.items():
        write_ring(kind, socket.getsockname()[1])
    for kind, socket in sockets.items():
        serve(kind, STORAGE.format(folder=FOLDER, kind=kind), socket)
    front = listen(("127.0.0.1", PORT))
    serve("proxy", PROXY.format(folder=FOLDER, region="us-east-1", domain="localhost",
                                access=ACCESS_KEY.replace(":", "_"), secret=SECRET), front)
    print(front.getsockname()[1], flush=True)
    while True:
        eventlet.sleep(3600)


main()

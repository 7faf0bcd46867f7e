"""Benchmark rows about waiting: the delay of other clients during the most expensive operations."""

import base64
import json
import os
import subprocess
import sys
import threading
import time

from largest import CHANNELS, FIRST_CHANNEL, FIRST_USER, OVERWRITES, Largest
from process import Client, Failed, start_guildhall
from sessions import Wire

HERE = os.path.dirname(os.path.abspath(__file__))
READ_MS, WRITE_MS = 25, 50
GATEWAY_PATH = "/gateway?v=10&encoding=json"
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6"
                       "kgAAAABJRU5ErkJggg==")


class Prober:
    """Another client in a separate process."""

    def __init__(self, port, *what):
        self.child = subprocess.Popen([sys.executable, os.path.join(HERE, "prober.py"), str(port),
                                       *what], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      text=True)

    def longest(self):
        """Returns the longest response time in ms since the last call."""
        self.child.stdin.write("\n")
        self.child.stdin.flush()
        line = self.child.stdout.readline()
        if not line:
            raise Failed("a prober ended")
        done = json.loads(line)
        if done["refused"]:
            raise Failed(f"{done['refused']} of {done['asked']} probes were refused")
        return done["longest_ms"]

    def close(self):
        self.child.stdin.close()
        self.child.wait(60)
        self.child.stdout.close()


class ExpensiveOperations:
    """The most expensive operations by name; deletions come last."""

    def __init__(self, world, port):
        self.world, self.port = world, port

    def request(self, token, method, path, body=None, most=300):
        def run():
            client = Client(self.port, token, timeout=300)
            try:
                # The reply may be an error because of its size, but not a server error.
                client.connection.request(
                    method, "/api/v10" + path, None if body is None else json.dumps(body),
                    {"Authorization": token, **({"Content-Type": "application/json"} if body
                                                is not None else {})})
                answer = client.connection.getresponse()
                while answer.read(1 << 20):
                    pass
                if answer.status >= most and answer.status != 413:
                    raise Failed(f"{method} {path} answered {answer.status}")
            finally:
                client.close()
        return run

    def session(self, token, *messages, frames=0):
        """Opens a session, sends messages after READY, and reads this many frames."""
        def run():
            wire = Wire(self.port, GATEWAY_PATH, token.removeprefix("Bot "), intents=3)
            try:
                for message in messages:
                    wire.send(json.dumps(message))
                wire.socket.settimeout(60)
                for _ in range(frames):
                    wire.frame()
            finally:
                wire.close()
        return run

    def upload(self, token, channel, size):
        def run():
            client = Client(self.port, token, timeout=300)
            boundary = "edge"
            body = (f"--{boundary}\r\nContent-Disposition: form-data; name=\"files[0]\"; "
                    f"filename=\"a.bin\"\r\n\r\n").encode() + bytes(size)
            body += f"\r\n--{boundary}--\r\n".encode()
            client.connection.request("POST", f"/api/v10/channels/{channel}/messages", body,
                                      {"Authorization": token, "Content-Type":
                                       f"multipart/form-data; boundary={boundary}"})
            answer = client.connection.getresponse()
            answer.read()
            client.close()
            if answer.status >= 300:
                raise Failed(f"the upload answered {answer.status}")
        return run

    def list_all(self):
        w, request = self.world, self.request
        member_guild, overwrite_guild = w.guilds["members"], w.guilds["overwrites"]
        member_channel, overwrite_channel = w.channels["members"], w.channels["overwrites"]
        many = [{"id": str(FIRST_USER + i), "type": 1, "allow": "1024", "deny": "0"}
                for i in range(min(OVERWRITES, OVERWRITES // w.divisor))]
        picture = "data:image/png;base64," + base64.b64encode(PNG + bytes(8 << 20)).decode()
        commands = [{"name": f"c{i}", "description": "d" * 100, "options": [
            {"type": 3, "name": f"o{n}", "description": "e" * 100} for n in range(25)]}
            for i in range(100)]
        return [
            ("members, 1000", request(w.bot, "GET", f"/guilds/{member_guild}/members?limit=1000")),
            ("search of members", request(w.bot, "GET",
                                          f"/guilds/{member_guild}/members/search?query=person&limit=1000")),
            ("audit log of an action", request(w.owner, "GET",
                                               f"/guilds/{member_guild}/audit-logs?action_type=1")),
            ("channels with many overwrites", request(w.owner, "GET", f"/guilds/{overwrite_guild}/channels")),
            ("channels of the large guild", request(w.owner, "GET", f"/guilds/{member_guild}/channels")),
            ("command index", request(w.owner, "GET", f"/guilds/{overwrite_guild}/application-command-index")),
            ("direct channels", request(w.bot, "GET", "/users/@me/channels")),
            ("openapi.json", request(w.owner, "GET", "/../../openapi.json", most=500)),
            ("log-in", request(w.owner, "POST", "/auth/login", {"login": "owner", "password": "wrong"},
                               most=500)),
            ("upload, 10 MiB", self.upload(w.owner, member_channel, 10 << 20)),
            ("picture, 8 MiB", request(w.owner, "PATCH", "/users/@me", {"avatar": picture}, most=500)),
            ("100 commands", request(w.bot, "PUT", f"/applications/{w.app}/commands", commands)),
            ("overwrites of a channel", request(w.owner, "PATCH", f"/channels/{FIRST_CHANNEL}",
                                    {"permission_overwrites": many}, most=500)),
            ("overwrite", request(w.owner, "PUT", f"/channels/{overwrite_channel}/permissions/{overwrite_guild}",
                                  {"type": 0, "deny": "2048"})),
            ("permissions of a role", request(w.owner, "PATCH", f"/guilds/{overwrite_guild}/roles/{overwrite_guild}",
                                         {"permissions": "1024"})),
            ("order of channels", request(w.owner, "PATCH", f"/guilds/{overwrite_guild}/channels",
                                          [{"id": str(FIRST_CHANNEL + i), "position": i}
                                           for i in range(min(500, CHANNELS // w.divisor))])),
            ("name of the bot", request(w.bot, "PATCH", "/users/@me", {"username": "robot2"})),
            ("session of a person", self.session(w.member)),
            ("session of the bot", self.session(w.bot, frames=2)),
            ("all members by op 8", self.session(w.bot, {"op": 8, "d": {
                "guild_id": member_guild, "query": "", "limit": 0}}, frames=2 + 500 // w.divisor)),
            ("bulk ban", request(w.owner, "POST", f"/guilds/{member_guild}/bulk-ban",
                                 {"user_ids": [str(FIRST_USER + i) for i in range(200)],
                                  "delete_message_seconds": 604800})),
            ("deleted role", request(w.owner, "DELETE",
                                     f"/guilds/{member_guild}/roles/{w.roles['members']}")),
            ("deleted channel", request(w.owner, "DELETE", f"/channels/{member_channel}")),
            ("deleted guild with overwrites", request(w.owner, "DELETE", f"/guilds/{overwrite_guild}")),
            ("deleted large guild", request(w.owner, "DELETE", f"/guilds/{member_guild}")),
        ]


class Waiting:
    def __init__(self, bench, quick):
        self.bench, self.quick = bench, quick

    def rows(self):
        return [("waiting", self.row_waiting)]

    def row_waiting(self, bench):
        world = Largest(bench, self.quick)
        # The server has one loop, so that all clients share it.
        server = bench.kill_at_end(start_guildhall(bench.guildhall, world.folder, "--loops", "1"))
        read = Prober(server.port, world.writer, "GET", "/api/v10/voice/regions")
        write = Prober(server.port, world.writer, "PATCH", "/api/v10/users/@me",
                       '{"global_name":"Writer"}')
        try:
            operations = ExpensiveOperations(world, server.port).list_all()
            operations.insert(0, ("nothing", lambda: time.sleep(1)))
            waits = {name: self.longest_waits_during(name, operation, (read, write))
                     for name, operation in operations}
        finally:
            read.close()
            write.close()
            server.kill()
        for i, (what, limit) in enumerate((("GET /voice/regions", READ_MS),
                                           ("PATCH /users/@me", WRITE_MS))):
            figures = {name: wait[i] for name, wait in waits.items()}
            worst = sorted(figures, key=figures.get, reverse=True)
            bench.report.add(f"longest wait of {what} during any of {len(waits) - 1} expensive operations",
                             figures[worst[0]], "ms", ("<=", limit),
                             {name: figures[name] for name in [*worst[:6], "nothing"]},
                             noisy=f"{figures['nothing']:.0f} ms without one"
                             if figures["nothing"] > limit / 2 else None)

    def longest_waits_during(self, name, operation, probers):
        """Returns the longest wait of each prober in ms."""
        for prober in probers:
            prober.longest()
        failed = []

        def run():
            try:
                operation()
            except (OSError, Failed) as e:
                failed.append(e)

        thread = threading.Thread(target=run)
        thread.start()
        thread.join()
        time.sleep(0.2)  # work that continues after the reply
        if failed:
            raise Failed(f"{name}: {failed[0]}")
        return [prober.longest() for prober in probers]

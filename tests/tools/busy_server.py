"""A server with one guild that behaves like a large one under load: buckets and a global limit that
answer 429, errors, slow answers, expired addresses of files, and channels that a bot may not read."""

import json
import random
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

EPOCH_MS = 1420070400000


def snowflake(ms, n=0):
    return str((ms - EPOCH_MS) << 22 | n)


class BusyServer:
    """messages: number of messages of all channels; window: seconds of a bucket of five requests;
    trouble: share of requests that fail."""

    def __init__(self, channels=6, messages=600, members=50, window=0.05, per_window=5,
                 global_per_second=500, trouble=0.05, slow=0.0, seed=7):
        self.random = random.Random(seed)
        self.lock = threading.Lock()
        self.window, self.per_window, self.trouble, self.slow = window, per_window, trouble, slow
        self.global_per_second = global_per_second
        self.buckets, self.global_window = {}, [0, 0]
        self.windows = {}  # key of a bucket: number of requests and of windows, first and last time
        self.exceeded, self.injected = [], 0  # 429 that the client caused; failures of the server
        self.requests, self.refreshed, self.downloads = 0, 0, 0
        self.guild_id = snowflake(1600000000000)
        self.users = [{"id": snowflake(1500000000000, i), "username": f"person{i}",
                       "global_name": f"Person {i}", "avatar": None} for i in range(members)]
        self.channels = [{"id": snowflake(1600000001000 + i), "type": 0, "name": f"channel-{i}",
                          "position": i, "permission_overwrites": [], "last_message_id": None}
                         for i in range(channels)]
        self.forbidden = {self.channels[-1]["id"]}
        self.messages = {c["id"]: [] for c in self.channels}
        self.files, self.pins = {}, {}
        for i in range(messages):
            self.add_message(i)
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = -1  # one packet for head and body; otherwise each answer waits 40 ms for an ACK

            def do_GET(self):  # pylint: disable=invalid-name
                outer.answer(self, b"")

            def do_POST(self):  # pylint: disable=invalid-name
                outer.answer(self, self.rfile.read(int(self.headers["Content-Length"])))

            def log_message(self, *_):  # pylint: disable=arguments-differ
                pass

        class Server(ThreadingHTTPServer):
            def handle_error(self, request, client_address):
                pass  # a client that was killed closes its connections

        self.http = Server(("127.0.0.1", 0), Handler)
        self.http.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.http.server_address[1]}"
        threading.Thread(target=self.http.serve_forever, daemon=True).start()

    def pin(self, message, at):
        """Pins a message at a time, which is text."""
        channel = next(c for c in self.channels if c["id"] == message["channel_id"])
        channel["last_pin_timestamp"] = at
        self.pins.setdefault(channel["id"], []).insert(0, {"pinned_at": at, "message": message})

    def add_message(self, i, ms=None):
        channel = self.channels[i % len(self.channels)]
        message = {"id": snowflake(ms or 1600000100000 + i * 1000), "type": 0,
                   "content": f"message {i}",
                   "channel_id": channel["id"], "author": self.users[i % len(self.users)],
                   "timestamp": "2020-09-13T12:26:40+00:00", "edited_timestamp": None,
                   "tts": False, "mention_everyone": False, "mentions": [], "mention_roles": [],
                   "attachments": [], "embeds": [], "pinned": False, "flags": 0, "components": []}
        if i % 40 == 0:
            file_id = snowflake(ms or 1600000100000 + i * 1000, 1)
            self.files[file_id] = b"bytes of " + file_id.encode()
            expired = "old" if i % 80 == 0 else "new"
            message["attachments"] = [{
                "id": file_id, "filename": "a.txt", "size": len(self.files[file_id]),
                "url": f"http://elsewhere.invalid/attachments/{channel['id']}/{file_id}/a.txt?{expired}"}]
        if i % 50 == 0:
            message["reactions"] = [{"count": 2, "emoji": {"id": None, "name": "👍"}}]
        self.messages[channel["id"]].append(message)
        channel["last_message_id"] = message["id"]
        return message

    def stop(self):
        self.http.shutdown()
        self.http.server_close()

    # --- limits ----------------------------------------------------------------------------

    def over_limit(self, path):
        """Counts a request and returns the seconds to wait, and whether the limit is global."""
        now = time.monotonic()
        key = re.sub(r"(?<=messages/)\d+.*", "reactions", path)
        if now - self.global_window[0] >= 1:
            self.global_window = [now, 0]
        self.global_window[1] += 1
        if self.global_window[1] > self.global_per_second:
            return self.global_window[0] + 1 - now, True, None
        bucket = self.buckets.get(key)
        used = self.windows.setdefault(key, [0, 0, now, now])
        used[0], used[3] = used[0] + 1, now
        if not bucket or now >= bucket[0]:
            bucket = self.buckets[key] = [now + self.window, 0]
            used[1] += 1
        bucket[1] += 1
        if bucket[1] > self.per_window:
            return bucket[0] - now, False, None
        return 0, False, {"X-RateLimit-Limit": self.per_window,
                          "X-RateLimit-Remaining": self.per_window - bucket[1],
                          "X-RateLimit-Reset-After": f"{bucket[0] - now:.3f}",
                          "X-RateLimit-Bucket": f"{abs(hash(re.sub('[0-9]+', '', key))):x}"}

    def answer(self, handler, body):
        path, _, query = handler.path.partition("?")
        with self.lock:
            self.requests += 1
            trouble, slow = self.random.random() < self.trouble, self.random.random() < self.slow
        if slow:
            time.sleep(0.3)
        if not path.startswith("/api/v10/"):
            return self.send_file(handler, path, query)
        with self.lock:
            wait, everywhere, headers = self.over_limit(path)
            if wait:
                self.exceeded.append((time.monotonic(), path, everywhere))
        if wait:
            return self.send(handler, 429, {"message": "You are being rate limited.",
                                            "retry_after": wait, "global": everywhere},
                             {"Retry-After": f"{wait:.3f}"})
        if handler.headers["Authorization"] != "Bot token":
            return self.send(handler, 401, {"message": "401: Unauthorized", "code": 0})
        if trouble:
            with self.lock:
                self.injected += 1
                status = self.random.choice([500, 502, 503])
            return self.send(handler, status, {"message": "Internal Server Error", "code": 0})
        status, value = self.find(path[len("/api/v10"):], query, body)
        return self.send(handler, status, value, headers)

    def send(self, handler, status, value, headers=None):
        text = json.dumps(value).encode()
        handler.send_response(status)
        handler.send_header("Content-Type", "application/json")
        handler.send_header("Content-Length", str(len(text)))
        for name, header in (headers or {}).items():
            handler.send_header(name, str(header))
        handler.end_headers()
        handler.wfile.write(text)

    def send_file(self, handler, path, query):
        parts = path.split("/")
        content = self.files.get(parts[3]) if len(parts) == 5 and query == "new" else None
        with self.lock:
            self.downloads += content is not None
        handler.send_response(200 if content else 404)
        handler.send_header("Content-Length", str(len(content or b"")))
        handler.end_headers()
        handler.wfile.write(content or b"")

    # --- objects -----------------------------------------------------------------------------

    def find(self, path, query, body):
        guild = f"/guilds/{self.guild_id}"
        values = dict(re.findall(r"(\w+)=([^&]*)", query))
        if path == guild:
            return 200, {"id": self.guild_id, "name": "Busy", "owner_id": self.users[0]["id"],
                         "features": [], "roles": [
                             {"id": self.guild_id, "name": "@everyone", "permissions": "1024",
                              "position": 0}], "approximate_member_count": len(self.users)}
        if path == guild + "/channels":
            return 200, self.channels
        if path == guild + "/threads/active":
            return 200, {"threads": [], "members": []}
        if path == guild + "/soundboard-sounds":
            return 200, {"items": []}
        if path == guild + "/members":
            rest = [u for u in self.users if int(u["id"]) > int(values["after"])]
            return 200, [{"user": u, "roles": [], "joined_at": "2021-01-01T00:00:00Z"}
                         for u in rest[:int(values["limit"])]]
        if path == guild + "/bans":
            return 403, {"message": "Missing Permissions", "code": 50013}
        if path.startswith(guild):
            return (404 if path.endswith(("screen", "onboarding", "widget")) else 200), []
        if path == "/attachments/refresh-urls":
            with self.lock:
                self.refreshed += 1
            urls = json.loads(body)["attachment_urls"]
            return 200, {"refreshed_urls": [{"original": u, "refreshed": u.replace("?old", "?new")}
                                            for u in urls]}
        return self.find_in_channel(path, values)

    def find_in_channel(self, path, values):
        found = re.match(r"/channels/(\d+)/(.*)$", path)
        if not found or found[1] not in self.messages:
            return 404, {"message": "Unknown Channel", "code": 10003}
        if found[2].startswith("threads/"):
            return 200, {"threads": [], "members": [], "has_more": False}
        if found[1] in self.forbidden:
            return 403, {"message": "Missing Access", "code": 50001}
        if found[2] == "messages/pins":
            return 200, {"items": self.pins.get(found[1], []), "has_more": False}
        if "/reactions/" in found[2]:
            return 200, self.users[:2] if values["after"] == "0" else []
        messages = self.messages[found[1]]
        after = int(values["after"])
        low, high = 0, len(messages)
        while low < high:
            middle = (low + high) // 2
            if int(messages[middle]["id"]) <= after:
                low = middle + 1
            else:
                high = middle
        return 200, messages[low:low + int(values["limit"])][::-1]

"""Benchmark rows about every GET route: PostgreSQL compared with SQLite, and a large world with a
small one."""

import itertools
import json
import os
import shutil
import sqlite3
import statistics
import sys
import time
import urllib.parse

from measure import ask_once, needing
from one_channel import Postgres
from process import Failed, start_guildhall
from worlds import SeededWorld, divided

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "storm"))

from calls import RandomCaller, random_for  # noqa: E402

GROWN = {"users": 1_000_000, "guilds": 100_000, "members": 2_000_000, "messages": 10_000_000}
GROWTH = 1000
SPARSE_BYTES = 100_000_000_000
QUICK = ("--password-memory", "1", "--password-passes", "1")
KIND_OF_PARAMETER = {"member": "user", "home": "guild", "app_guild": "guild", "place": "channel", "invite.code": "code",
                     "template.code": "template", "webhook.token": "token", "thread.member": "user"}
QUERY_VALUES = {"query": "a", "q": "a", "scope": "identify", "content": "words"}


class SampleGuild:
    """A guild with objects of every kind that is easily created."""

    def __init__(self, port, token=None, guild=None):
        self.caller = RandomCaller(port, random_for("home"))
        self.ids = self.caller.ids
        if token:
            self.use_existing_guild(token, guild)
        else:
            self.caller.create_user()
            self.user, self.bot = (user[0] for user in self.caller.users[-2:])
        self.create_objects()

    def use_existing_guild(self, token, guild):
        """Creates the objects of a new user in an existing guild."""
        w = self.caller
        w.own_ids = {}
        me = w.call_checked("GET", "/api/v10/users/@me", None, token)
        app = w.call_checked("POST", "/api/v10/applications", {"name": "robot"}, token)
        bot = w.call_checked("POST", f"/api/v10/applications/{app['id']}/bot/reset", {}, token)["token"]
        query = f"client_id={app['id']}&scope=bot%20applications.commands"
        w.call_checked("POST", f"/api/v10/oauth2/authorize?{query}",
                       {"authorize": True, "guild_id": guild, "permissions": "8"}, token)
        channels = w.call_checked("GET", f"/api/v10/guilds/{guild}/channels", None, token)
        text = next(c for c in channels if c["type"] == 0)
        for kind, id_ in (("user", me["id"]), ("guild", guild), ("application", app["id"]),
                          ("channel", text["id"])):
            w.note_id(kind, id_)
        w.create_objects(guild, text["id"], token)
        self.user, self.bot = token, f"Bot {bot}"

    def create_objects(self):
        w, guild, app = self.caller, self.ids["guild"][0], self.ids["application"][0]
        channels = w.call_checked("GET", f"/api/v10/guilds/{guild}/channels", None, self.user)
        text = next(c["id"] for c in channels if c["type"] == 0)
        guild_path, channel_path = f"/api/v10/guilds/{guild}", f"/api/v10/channels/{text}"
        message = w.call_checked("POST", f"{channel_path}/messages", {"content": "words"}, self.user)["id"]
        self.ids["message"] = [message] + self.ids.get("message", [])
        self.ids["channel"] = [text] + self.ids["channel"]
        for kind, path, body, token in (
                ("role", f"{guild_path}/roles", {"name": "words"}, self.user),
                ("code", f"{channel_path}/invites", {}, self.user),
                ("webhook", f"{channel_path}/webhooks", {"name": "words"}, self.user),
                ("template", f"{guild_path}/templates", {"name": "words"}, self.user),
                ("team", "/api/v10/teams", {"name": "words"}, self.user),
                ("command", f"/api/v10/applications/{app}/commands",
                 {"name": "words", "description": "words"}, self.bot),
                ("guild_command", f"/api/v10/applications/{app}/guilds/{guild}/commands",
                 {"name": "words", "description": "words"}, self.bot)):
            made = w.call_checked("POST", path, body, token)
            self.ids[kind] = [made.get("id") or made["code"]] + self.ids.get(kind, [])
            if "token" in made:
                self.ids["token"] = [made["token"]]
        w.call_checked("PUT", f"{channel_path}/messages/{message}/reactions/%F0%9F%90%80/@me", None, self.user)
        self.ids["emoji_text"] = ["\N{RAT}"]

    def ids_for(self, name, path):
        kind = name.removesuffix(".id").rpartition(".")[2] if name not in KIND_OF_PARAMETER else KIND_OF_PARAMETER[name]
        kind = KIND_OF_PARAMETER.get(name.removesuffix(".id"), kind)
        if name == "emoji":
            kind = "emoji_text"
        if name == "command.id" and "/guilds/" in path:
            kind = "guild_command"
        return self.ids.get(kind, [])[:4]

    def paths_of(self, path, operation):
        """Returns some paths with ids filled in."""
        names = [p["name"] for p in operation.get("parameters", []) if p["in"] == "path"]
        query = {}
        for p in operation.get("parameters", []):
            if p["in"] == "query" and (p.get("required") or p["name"] in QUERY_VALUES):
                query[p["name"]] = (self.ids["application"][0] if p["name"] == "client_id"
                                    else QUERY_VALUES.get(p["name"], "1"))
        for values in itertools.islice(itertools.product(*(self.ids_for(n, path) for n in names)), 24):
            filled = path
            for name, value in zip(names, values):
                filled = filled.replace("{" + name + "}", urllib.parse.quote(value, safe=""))
            yield filled + ("?" + urllib.parse.urlencode(query) if query else "")

    def requests(self):
        """Returns (route, path, token) of every GET route that succeeds in this guild."""
        _, _, text = self.caller.send_request("GET", "/openapi.json")
        for path, methods in json.loads(text)["paths"].items():
            if "get" in methods:
                found = self.first_successful(path, methods["get"])
                if found:
                    yield (path.removeprefix("/api/v10"), *found)

    def first_successful(self, path, operation):
        for filled in self.paths_of(path, operation):
            for token in (self.user, self.bot):
                status, _, _ = self.caller.send_request("GET", filled, None, {"Authorization": token})
                if status == 200:
                    return filled, token
        return None


def wait_until_idle(server):
    """Waits until the server's background work is done, such as indexing seeded messages."""
    deadline = time.monotonic() + 3600
    while time.monotonic() < deadline:
        before = server.cpu_ns()[0]
        time.sleep(3)
        if server.cpu_ns()[0] - before < 30_000_000:
            return
    raise Failed("a server does not become idle")


def extend_file(file, size):
    """Extends an SQLite database file to this size without writing its pages."""
    db = sqlite3.connect(file)
    db.execute("pragma wal_checkpoint(truncate)")  # the write-ahead log contains the file's size
    db.close()
    with open(file, "r+b") as f:
        header = f.read(100)
        page = int.from_bytes(header[16:18], "big")
        page = 65536 if page == 1 else page
        pages = size // page
        f.seek(28)
        f.write(pages.to_bytes(4, "big"))  # accepted, because the version at offset 92 matches
        f.seek(92)
        f.write(header[24:28])
        f.truncate(pages * page)


def cost(bench, server, path, token, count=64):
    """Returns the processor time of one request in nanoseconds."""
    before = server.cpu_ns()[0]
    figures = bench.load_figures("get", server.port, "--path", path, "--connections", 4, "--count", count,
                                 "--seconds", 20, "--token", token, cpu=bench.load_cpu)
    return (server.cpu_ns()[0] - before) / figures["requests"]


class Routes:
    def __init__(self, bench, quick):
        self.bench, self.quick = bench, quick
        self.worlds = None

    def rows(self):
        return [("every GET route, PostgreSQL", self.row_stores),
                *needing(("growth: worlds", self.row_seed),
                         [("growth: every GET route", self.row_growth), ("growth: start", self.row_start),
                          ("growth: start, 100 GB", self.row_start_sparse)])]

    # --- one route after the other, alternating between two servers -------------------------

    def compare(self, servers, samples, rounds):
        """Returns {route: (minimum of one, minimum of the other)} of routes that succeed on
        both."""
        requests = [{route: (path, token) for route, path, token in sample.requests()} for sample in samples]
        both = [route for route in requests[0] if route in requests[1]]
        found = {}
        for route in both:
            found[route] = self.least(servers, [a[route] for a in requests], rounds)
        return found, requests

    def least(self, servers, requests, rounds):
        times = ([], [])
        for number in range(rounds + 1):
            for which in (0, 1) if number % 2 else (1, 0):
                path, token = requests[which]
                times[which].append(cost(self.bench, servers[which], path, token))
        return tuple(min(t[1:]) for t in times)

    def row_stores(self, bench):
        postgres = Postgres()
        servers = []
        try:
            for name, flags in (("routes-sqlite", ()), ("routes-postgres", ("--store", postgres.connection))):
                servers.append(bench.kill_at_end(start_guildhall(bench.guildhall, os.path.join(bench.folder, name),
                                                                 "--loops", "1", *QUICK, *flags)))
            samples = [SampleGuild(server.port) for server in servers]
            found, _ = self.compare(servers, samples, bench.rounds)
            ratios = {route: theirs / ours for route, (ours, theirs) in found.items()}
            mean = statistics.mean(ratios.values())
            bench.report.add(f"server on PostgreSQL, {len(found)} GET routes", mean, "x on SQLite", ("<=", 1.5),
                             {"of the sums": sum(b for _, b in found.values()) / sum(a for a, _ in found.values()),
                              "median": statistics.median(ratios.values()), "worst": max(ratios.values())})
            self.list_worst(found, ratios)
        finally:
            for server in servers:
                server.kill()
            postgres.close()

    @staticmethod
    def list_worst(found, ratios, limit=12):
        for route in sorted(ratios, key=ratios.get, reverse=True)[:limit]:
            one, other = found[route]
            print(f"      {ratios[route]:6.2f}  {one / 1e3:8.1f} us {other / 1e3:8.1f} us  {route}", flush=True)

    # --- a world and a thousandth of it -----------------------------------------------------

    def row_seed(self, bench):
        world = divided(GROWN, 10) if self.quick else GROWN
        self.worlds = [SeededWorld(bench, "grown-small", divided(world, GROWTH)), SeededWorld(bench, "grown", world)]
        counts = ", ".join(f"{count:,} {name}" for name, count in world.items())
        bench.report.add(f"seed {counts}", self.worlds[1].seconds, "s")

    def start(self):
        return [self.bench.kill_at_end(start_guildhall(self.bench.guildhall, world.folder, "--loops", "1", *QUICK,
                                                       cpu=self.bench.server_cpu)) for world in self.worlds]

    def row_growth(self, bench):
        servers = self.start()
        try:
            samples = [SampleGuild(server.port, world.owners[1][2], world.owners[1][0])
                       for server, world in zip(servers, self.worlds)]
            for server in servers:
                wait_until_idle(server)
            found, requests = self.compare(servers, samples, 3)
            ratios = {route: large / small for route, (small, large) in found.items()}
            # Outliers caused by other load are measured again.
            for route in [r for r in ratios if ratios[r] > 1.1]:
                again = self.least(servers, [a[route] for a in requests], 3 * bench.rounds)
                found[route] = tuple(map(min, found[route], again))
                ratios[route] = found[route][1] / found[route][0]
            above = sum(r > 1.1 for r in ratios.values())
            bench.report.add(f"growth by {GROWTH:,}, {len(found)} GET routes, the worst", max(ratios.values()),
                             "x small world", ("<=", 1.15),
                             {"above 1.1": above, "median": statistics.median(ratios.values())})
            self.list_worst(found, ratios)
        finally:
            for server in servers:
                server.kill()

    # --- start time -------------------------------------------------------------------------

    def grown_file(self):
        return os.path.join(self.worlds[1].folder, "guildhall.db")

    def row_start(self, bench):
        self.compare_starts(bench, "a large store", self.grown_file())

    def row_start_sparse(self, bench):
        """Measures the start with a file as large as many rows, most of it unused pages."""
        extend_file(self.grown_file(), SPARSE_BYTES)
        self.compare_starts(bench, "a store of 100 GB (sparse)", self.grown_file())

    @staticmethod
    def compare_starts(bench, what, file):
        empty = os.path.join(bench.folder, "grown-empty")
        start_guildhall(bench.guildhall, empty).stop()
        times = ([], [])
        for _ in range(2 * bench.rounds + 2):
            for which, folder in enumerate((empty, os.path.dirname(file))):
                began = time.monotonic()
                server = start_guildhall(bench.guildhall, folder)
                ask_once(server.port)
                times[which].append((time.monotonic() - began) * 1000)
                server.stop()
        shutil.rmtree(empty, ignore_errors=True)
        none, many = map(min, times)
        bench.report.add(f"start to first answer on {what}", many / none, "x on an empty one", ("<=", 1.1),
                         {"large ms": many, "empty ms": none, "its GiB": os.path.getsize(file) / 2**30})

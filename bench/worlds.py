"""Benchmark rows about large worlds: the time to create one, and the cost of its size."""

import os
import statistics
import subprocess
import time

from measure import ask_once, medians, time_per_request
from process import Client, Failed, start_guildhall

LARGE = {"users": 1_000_000, "guilds": 10_000, "members": 5_000_000}
OWNERS = 60


def divided(world, by):
    return {name: count // by for name, count in world.items()}


class SeededWorld:
    """A seeded world on disk, with some of its guilds and their owners' tokens."""

    def __init__(self, bench, name, world):
        self.folder = os.path.join(bench.folder, name)
        flags = [word for key, count in world.items() for word in (f"--{key}", str(count))]
        command = [bench.guildhall, "seed", "--data", self.folder, "--tokens", str(OWNERS), *flags]
        began = time.monotonic()
        with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,
                              text=True) as child:
            printed = child.stdout.read()
            _, status, usage = os.wait4(child.pid, 0)
            child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise Failed(f"seed ended with {child.returncode}")
        self.seconds = time.monotonic() - began
        self.memory = usage.ru_maxrss * 1024
        self.owners = [line.split() for line in printed.splitlines()]

    def tokens_by_guild_count(self, port):
        """Returns a token of an account for each number of guilds."""
        found = {}
        for _, _, token in self.owners:
            client = Client(port, token)
            status, guilds = client.call("GET", "/users/@me/guilds")
            client.close()
            if status != 200:
                raise Failed(f"GET /users/@me/guilds answered {status}")
            found.setdefault(len(guilds), token)
        return found


class Worlds:
    """The benchmark rows, in the order of their dependencies."""

    def __init__(self, bench, quick):
        self.bench = bench
        self.large_world = divided(LARGE, 10) if quick else LARGE
        self.small = self.large = None

    def rows(self):
        return [("seed", self.row_seed), ("one guild's roles", self.row_roles),
                ("one account's guilds", self.row_guilds), ("start", self.row_start)]

    def row_seed(self, bench):
        self.small = SeededWorld(bench, "small", divided(self.large_world, 100))
        self.large = SeededWorld(bench, "large", self.large_world)
        counts = ", ".join(f"{count:,} {name}" for name, count in self.large_world.items())
        bench.report.add(f"seed {counts}", self.large.seconds, "s", ("<=", 300))
        bench.report.add("memory of seeding it", self.large.memory / 2**20, "MiB", ("<=", 1024))

    def servers(self):
        if not self.large:
            raise Failed("the seeded worlds are missing")
        return [start_guildhall(self.bench.guildhall, world.folder, "--loops", "1",
                                cpu=self.bench.server_cpu) for world in (self.small, self.large)]

    def compare(self, bench, what, choose):
        """Compares the processor time of one request in both worlds; choose returns (path, token)
        of each."""
        servers = self.servers()
        try:
            requests = choose(*servers)
            times = ([], [])
            for number in range(bench.rounds + 1):
                for which in (0, 1) if number % 2 else (1, 0):
                    path, token = requests[which]
                    times[which].append(time_per_request(bench, servers[which],
                                                         "/api/v10" + path, token))
            (small, _), (large, _) = (medians(rounds[1:]) for rounds in times)
            bench.report.add(what, large / small, "x small world", ("<=", 1.2),
                             {"large us": large / 1e3, "small us": small / 1e3})
        finally:
            for server in servers:
                server.kill()

    def row_roles(self, bench):
        def choose(*_):
            return [(f"/guilds/{guild}/roles", token)
                    for guild, _, token in (self.small.owners[0], self.large.owners[0])]
        self.compare(bench, "GET /guilds/{guild.id}/roles in a large world", choose)

    def row_guilds(self, bench):
        def choose(small, large):
            small_tokens = self.small.tokens_by_guild_count(small.port)
            large_tokens = self.large.tokens_by_guild_count(large.port)
            both = set(small_tokens) & set(large_tokens)
            if not both:
                raise Failed("no two accounts of the worlds are in equally many guilds")
            count = max(both)
            return [("/users/@me/guilds", small_tokens[count]), ("/users/@me/guilds", large_tokens[count])]
        self.compare(bench, "GET /users/@me/guilds in a large world", choose)

    def row_start(self, bench):
        if not self.large:
            raise Failed("the seeded worlds are missing")
        times = ([], [])
        for _ in range(bench.rounds + 2):
            for which, world in enumerate((self.small, self.large)):
                began = time.monotonic()
                server = start_guildhall(bench.guildhall, world.folder)
                ask_once(server.port)
                times[which].append((time.monotonic() - began) * 1000)
                server.stop()
        small, large = map(statistics.median, times)
        bench.report.add("start to first answer in a large world", large / small, "x small world",
                         ("<=", 2), {"large ms": large, "small ms": small})

"""Benchmark row about a member search without a match in a large guild."""

import statistics
import time

from process import Client, Failed, start_guildhall
from worlds import SeededWorld

MEMBERS = 500_000
REQUESTS = 200


class MemberSearch:
    def __init__(self, bench, quick):
        self.bench = bench
        self.members = MEMBERS // 10 if quick else MEMBERS

    def rows(self):
        return [("member search", self.row_search)]

    def row_search(self, bench):
        world = SeededWorld(bench, "member-search", {"users": self.members, "guilds": 1, "members": self.members})
        guild, _, token = world.owners[0]
        server = bench.kill_at_end(start_guildhall(bench.guildhall, world.folder, "--loops", "1"))
        try:
            client = Client(server.port, token)
            path = f"/guilds/{guild}/members/search?limit=1000&query="
            if len(client.call("GET", path + "a")[1]) < 10:
                raise Failed("a common first letter finds no member")
            took, before = [], server.cpu_ns()[0]
            for _ in range(REQUESTS):
                began = time.monotonic()
                if client.call("GET", path + "%C3%BE%C3%BE") != (200, []):
                    raise Failed("letters that no name begins with find a member")
                took.append((time.monotonic() - began) * 1e3)
            spent = (server.cpu_ns()[0] - before) / REQUESTS
            bench.report.add(f"member search, {self.members:,} members, no match", statistics.median(took),
                             "ms", ("<=", 2), {"server us": spent / 1e3, "slowest ms": max(took)})
        finally:
            server.kill()

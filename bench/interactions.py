"""Benchmark rows about interactions: complete rounds from a user's request to the reply message."""

import json

from process import Client, Failed, start_guildhall

CONNECTIONS = 16
FULL_RATE = 1500  # required rounds per second
HALF_RATE = FULL_RATE // 2


class SampleGuild:
    """A guild with a user and an app whose bot has one command."""

    def __init__(self, port, token):
        self.user = Client(port, token)
        guild = self._call_checked(self.user, "POST", "/guilds", {"name": "Rounds"})
        channels = self._call_checked(self.user, "GET", f"/guilds/{guild['id']}/channels")
        channel = next(c["id"] for c in channels if c["type"] == 0)
        app = self._call_checked(self.user, "POST", "/applications", {"name": "Weather"})["id"]
        self.bot = self._call_checked(self.user, "POST", f"/applications/{app}/bot/reset", {})["token"]
        self._call_checked(self.user, "POST", f"/oauth2/authorize?client_id={app}&scope=bot",
                           {"authorize": True, "guild_id": guild["id"], "permissions": "0"})
        command = self._call_checked(Client(port, f"Bot {self.bot}"), "POST", f"/applications/{app}/commands",
                                     {"name": "weather", "description": "Tell the weather",
                                      "options": [{"type": 3, "name": "city", "description": "Where",
                                                   "required": True},
                                                  {"type": 4, "name": "days", "description": "How far",
                                                   "min_value": 1, "max_value": 14}]})
        self.body = json.dumps({
            "type": 2, "application_id": app, "guild_id": guild["id"], "channel_id": channel,
            "nonce": "NONCE",
            "data": {"id": command["id"], "version": command["version"], "name": "weather", "type": 1,
                     "options": [{"type": 3, "name": "city", "value": "Oslo"},
                                 {"type": 4, "name": "days", "value": 3}]}})

    @staticmethod
    def _call_checked(client, method, path, body=None):
        status, answer = client.call(method, path, body)
        if status >= 300:
            raise Failed(f"{method} {path} answered {status}: {answer}")
        return answer


class Interactions:
    def __init__(self, bench, token):
        self.bench = bench
        self.token = token

    def rows(self):
        return [("interactions", self.row_rounds)]

    def _rounds(self, server, sample, *more):
        before, _ = server.cpu_ns()
        result = self.bench.load_figures("rounds", server.port, "--token", self.token, "--bot",
                                         sample.bot, "--body", sample.body, "--connections", CONNECTIONS,
                                         "--seconds", self.bench.seconds * 4, *more)
        after, _ = server.cpu_ns()
        return result, (after - before) / result["requests"] / 1e3

    def row_rounds(self, bench):
        server = bench.kill_at_end(start_guildhall(bench.guildhall, bench.data))
        try:
            sample = SampleGuild(server.port, self.token)
            self._rounds(server, sample, "--count", 500)  # warm-up
            full, each = self._rounds(server, sample)
            half, _ = self._rounds(server, sample, "--rate", HALF_RATE)
        finally:
            server.kill()
        more = {"connections": CONNECTIONS, "p50 ms": full["p50_us"] / 1e3, "p99 ms": full["p99_us"] / 1e3}
        bench.report.add("interaction, answered: processor time", each, "us", ("<=", 100), more)
        bench.report.add("interactions answered a second", full["per_second"], "rounds/s",
                         (">=", FULL_RATE), more)
        bench.report.add(f"interaction, answered: p99 at {HALF_RATE} a second", half["p99_us"] / 1e3, "ms",
                         ("<=", 40), {"p50 ms": half["p50_us"] / 1e3, "rounds/s": half["per_second"]})

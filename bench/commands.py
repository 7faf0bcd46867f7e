"""Benchmark rows about application commands: listing, repeated registration, indexes, parsing."""

import copy
import json
import os
import re
import statistics
import subprocess

from measure import needing
from process import Client, Failed, register

RICH = 100
APPLICATIONS, EACH = 50, 20


def rich_command(number):
    """Returns a command of about 6 KB with every kind of option, choices and two locales."""
    def words(text):
        return {"name_localizations": {"de": f"{text}-de", "fr": f"{text}-fr"},
                "description": f"What {text} is for, in a sentence of the usual length.",
                "description_localizations": {"de": f"Wozu {text} da ist, in einem Satz.",
                                              "fr": f"A quoi sert {text}, en une phrase."}}

    options = [{"type": 3, "name": f"choice{i}", **words(f"choice{i}"), "required": i < 2,
                "choices": [{"name": f"Choice {n}", "value": f"value-{n}",
                             "name_localizations": {"de": f"Wahl {n}"}} for n in range(6)]}
               for i in range(6)]
    options += [{"type": 4, "name": "count", **words("count"), "min_value": 1, "max_value": 100},
                {"type": 7, "name": "where", **words("where"), "channel_types": [0, 5, 11]},
                {"type": 6, "name": "who", **words("who")},
                {"type": 3, "name": "why", **words("why"), "autocomplete": True}]
    name = f"rich{number}"
    return {"type": 1, "name": name, **words(name), "options": options,
            "default_member_permissions": None, "nsfw": False}


def plain_command(number):
    return {"name": f"command{number}", "description": "Does one thing, and does it well.",
            "options": [{"type": 3, "name": "text", "description": "What to do it with."},
                        {"type": 5, "name": "quietly", "description": "Whether to tell others."}]}


class Commands:
    def __init__(self, bench, row_request):
        # Separate worlds, because other rows need an empty one.
        self.bench, self.row_request = copy.copy(bench), row_request
        self.bench.data = os.path.join(bench.folder, "commands")
        self.owner = self.guild = self.maker = self.rich = self.bot = None

    def rows(self):
        return needing(("commands: worlds", self.fill),
                       [("commands: list", self.listed), ("commands: list", self.localized),
                        ("commands: bulk", self.unchanged), ("commands: index", self.index),
                        ("commands: reading", self.reading)])

    def call(self, client, method, path, body=None):
        status, answer = client.call(method, path, body)
        if status not in (200, 201, 204):
            raise Failed(f"{method} {path} answered {status}: {str(answer)[:300]}")
        return answer

    def fill(self, _):
        """Creates an application with a hundred rich commands, and fifty in a guild with twenty
        plain ones each."""
        os.makedirs(self.bench.data, exist_ok=True)
        server = self.bench.serve("--loops", "1")
        try:
            self.maker, self.owner = register(server.port, "maker"), register(server.port, "owner")
            self.rich, self.bot = self.add_application(server.port, self.maker, "Rich", rich_command,
                                                       RICH)
            owner = Client(server.port, self.owner)
            self.guild = self.call(owner, "POST", "/guilds", {"name": "Many"})["id"]
            for i in range(APPLICATIONS):
                app, _ = self.add_application(server.port, self.owner, f"App {i}", plain_command, EACH)
                self.call(owner, "POST",
                          f"/oauth2/authorize?client_id={app}&scope=applications.commands",
                          {"authorize": True, "guild_id": self.guild})
        finally:
            server.stop()

    def add_application(self, port, token, name, command, count):
        owner = Client(port, token)
        app = self.call(owner, "POST", "/applications", {"name": name})["id"]
        bot = "Bot " + self.call(owner, "POST", f"/applications/{app}/bot/reset")["token"]
        self.call(Client(port, bot), "PUT", f"/applications/{app}/commands",
                  [command(n) for n in range(count)])
        return app, bot

    def listed(self, _):
        self.row_request(self.bench, "GET commands, 100 rich ones",
                         f"/api/v10/applications/{self.rich}/commands", self.bot, 4)

    def localized(self, _):
        """Measures the localized list, in which each command is parsed and rebuilt."""
        server = self.bench.serve("--loops", "1")
        try:
            self.call(Client(server.port, self.maker), "PATCH", "/users/@me/settings",
                      {"locale": "de"})
        finally:
            server.stop()
        self.row_request(self.bench, "GET commands, 100 rich ones, in German",
                         f"/api/v10/applications/{self.rich}/commands", self.maker, None)

    def index(self, _):
        self.row_request(self.bench, "GET a guild's index, 50 applications x 20",
                         f"/api/v10/guilds/{self.guild}/application-command-index", self.owner, 5)

    def unchanged(self, _):
        """Measures the repeated registration of unchanged commands, which bots do at every
        start."""
        server = self.bench.serve("--loops", "1")
        try:
            bot = Client(server.port, self.bot)
            path = f"/applications/{self.rich}/commands"
            body = [rich_command(n) for n in range(RICH)]
            before = {c["id"]: c["version"] for c in self.call(bot, "PUT", path, body)}
            times = []
            for _ in range(self.bench.rounds + 1):
                ran = server.cpu_ns()[0]
                for _ in range(10):
                    after = self.call(bot, "PUT", path, body)
                times.append((server.cpu_ns()[0] - ran) / 10 / 1e6)
            moved = sum(before.get(c["id"]) != c["version"] for c in after)
            if moved:
                raise Failed(f"{moved} versions moved")
            self.bench.report.add("PUT the same 100 commands again", statistics.median(times[1:]),
                                  "ms", ("<=", 5), {"body KB": len(json.dumps(body)) / 1e3})
        finally:
            server.kill()

    def reading(self, _):
        """Measures the instructions to parse and check a command, from two runs of different
        length."""
        path = os.path.join(self.bench.folder, "command.json")
        with open(path, "w", encoding="ascii") as f:
            json.dump(rich_command(7), f, separators=(",", ":"))

        def instructions(mode, count):
            done = subprocess.run(
                ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null",
                 self.bench.tool("read_command"), mode, path, str(count)],
                capture_output=True, text=True, timeout=120, check=True)
            return int(re.search(r"Collected : (\d+)", done.stderr).group(1))

        each = {mode: (instructions(mode, 300) - instructions(mode, 100)) / 200
                for mode in ("decode", "strlen")}
        self.bench.report.add("reading and checking a rich command", each["decode"] / each["strlen"],
                              "x strlen", ("<=", 30), {"instructions": each["decode"],
                                                       "bytes": os.path.getsize(path)})

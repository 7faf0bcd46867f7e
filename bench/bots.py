"""Benchmark rows about reactions, votes and the cost of automod."""

import copy
import json
import os
import re
import sqlite3
import statistics
import subprocess
import urllib.parse

from measure import needing
from process import Client, Failed

CALLS = 200
VOTERS = (10, 10_000)
RULES, KEYWORDS = 100, 1_000
EMOJI = urllib.parse.quote(chr(0x1F408))
WORDS = "What was said here has the length that most of what people write has, a line or so."
POLL = {"question": {"text": "Which?"}, "answers": [{"poll_media": {"text": "This"}}, {"poll_media": {"text": "That"}}],
        "duration": 24}
WORLD = {
    "users": [{"username": "ada"}, {"username": "bob"}],
    "guilds": [{"name": name, "owner": "ada", "members": [{"user": "bob"}], "channels": [{"name": "talk"}]}
               for name in ("Free", "Guarded")],
}


def keyword(rule, number):
    return f"forbidden-{rule}-{number}"


class Bots:
    def __init__(self, bench):
        # A separate world, because other rows need an empty one.
        self.bench = copy.copy(bench)
        self.bench.data = os.path.join(bench.folder, "bots")
        self.tokens, self.paths, self.guilds = {}, {}, {}
        self.polls = {}

    def rows(self):
        return needing(("bots: worlds", self.fill),
                       [("bots: reaction", self.row_reaction), ("bots: vote", self.row_vote),
                        ("bots: auto moderation", self.row_automod)])

    # --- worlds ---------------------------------------------------------------------------------

    def fill(self, _):
        world = os.path.join(self.bench.folder, "bots.json")
        with open(world, "w", encoding="utf-8") as f:
            json.dump(WORLD, f)
        done = subprocess.run([self.bench.guildhall, "import", "--tokens", world, "--data", self.bench.data],
                                 check=True, capture_output=True, text=True)
        self.tokens = dict(re.findall(r"^(ada|bob) +(.*)$", done.stdout, re.M))
        server = self.bench.serve("--loops", "1")
        try:
            self.prepare(Client(server.port, self.tokens["ada"]))
        finally:
            server.stop()
        with sqlite3.connect(os.path.join(self.bench.data, "guildhall.db")) as rows:
            self.add_votes(rows)
            self.add_rules(rows)

    def prepare(self, ada):
        for guild in ada.call("GET", "/users/@me/guilds")[1]:
            channels = ada.call("GET", f"/guilds/{guild['id']}/channels")[1]
            self.guilds[guild["name"]] = guild["id"]
            self.paths[guild["name"]] = f"/channels/{channels[0]['id']}"
        for voters in VOTERS:
            self.polls[voters] = body_of(ada.call("POST", f"{self.paths['Free']}/messages", {"poll": POLL}))["id"]
        rule = {"name": "Words", "event_type": 1, "trigger_type": 1, "enabled": True, "actions": [{"type": 1}],
                "trigger_metadata": {"keyword_filter": [keyword(0, n) for n in range(KEYWORDS)]}}
        body_of(ada.call("POST", f"/guilds/{self.guilds['Guarded']}/auto-moderation/rules", rule))

    def add_votes(self, rows):
        """Inserts votes of users who do not connect."""
        for voters, poll in self.polls.items():
            people = [(poll, 1000 + n) for n in range(voters)]
            rows.executemany("insert into poll_voters values (?, ?, 2)", people)
            rows.executemany("insert into poll_votes values (?, 1, ?)", people)
            rows.execute("insert into poll_counts values (?, 1, 0, ?)", (poll, voters))

    def add_rules(self, rows):
        """Inserts more rules than a guild may create: copies of the first one with other
        keywords."""
        columns = [c[1] for c in rows.execute("pragma table_info(automod_rules)")]
        first = dict(zip(columns, rows.execute("select * from automod_rules").fetchone()))
        for rule in range(1, RULES):
            metadata = first["metadata"].replace("forbidden-0-", f"forbidden-{rule}-")
            values = {**first, "id": first["id"] + rule, "metadata": metadata}
            rows.execute(f"insert into automod_rules ({', '.join(columns)}) values ({', '.join('?' * len(columns))})",
                         [values[c] for c in columns])
        rows.execute("update guilds set automod_version = automod_version + 1 where automod_version > 0")

    # --- cost of a request ----------------------------------------------------------------------

    def compare(self, requests):
        """Returns the server's processor time per request, measured in turn; each callable sends
        one request."""
        server = self.bench.serve("--loops", "1", cpu=self.bench.server_cpu)
        times = {name: [] for name in requests}
        try:
            bob = Client(server.port, self.tokens["bob"])
            for number in range(self.bench.rounds + 1):
                for name in sorted(requests, key=str, reverse=number % 2):
                    before, _ = server.cpu_ns()
                    for call in range(CALLS):
                        requests[name](bob, number * CALLS + call)
                    times[name].append((server.cpu_ns()[0] - before) / CALLS)
        finally:
            server.kill()
        return {name: statistics.median(each[1:]) for name, each in times.items()}

    def post(self, guild):
        path = f"{self.paths[guild]}/messages"
        return lambda bob, n: body_of(bob.call("POST", path, {"content": f"{n}: {WORDS}"}))["id"]

    def row_reaction(self, _):
        """Measures reactions on messages without reactions."""
        message_ids = []
        post = self.post("Free")

        def react(bob, _):
            body_of(bob.call("PUT", f"{self.paths['Free']}/messages/{message_ids.pop()}/reactions/{EMOJI}/@me"))

        def post_message(bob, n):
            message_ids.append(post(bob, n))

        # The messages are posted before, also in the first round.
        server = self.bench.serve("--loops", "1")
        bob = Client(server.port, self.tokens["bob"])
        for n in range(CALLS):
            post_message(bob, n)
        server.stop()
        costs = self.compare({"message": post_message, "reaction": react})
        self.bench.report.add("adding a reaction", costs["reaction"] / costs["message"], "x a message", ("<=", 1.0),
                              {f"{name} us": cost / 1e3 for name, cost in costs.items()})

    def row_vote(self, _):
        """Measures voting and removing the vote in turn."""
        def vote_on(voters):
            path = f"{self.paths['Free']}/polls/{self.polls[voters]}/answers/@me"
            return lambda bob, n: body_of(bob.call("PUT", path, {"answer_ids": [] if n % 2 else [1]}))

        costs = self.compare({voters: vote_on(voters) for voters in VOTERS})
        few, many = VOTERS
        self.bench.report.add(f"a vote on a poll of {many:,} voters", costs[many] / costs[few], f"x of {few}",
                              ("<=", 1.1), {f"{name} us": cost / 1e3 for name, cost in costs.items()})

    def row_automod(self, _):
        """Measures the cost of automod for posting a message."""
        server = self.bench.serve("--loops", "1")
        try:
            words = {"content": f"such a {keyword(RULES - 1, KEYWORDS - 1)} thing"}
            bob = Client(server.port, self.tokens["bob"])
            status, answer = bob.call("POST", f"{self.paths['Guarded']}/messages", words)
            if status != 400 or answer["code"] != 200000:
                raise Failed(f"the last word of the last rule is not found: {status} {answer}")
        finally:
            server.stop()
        costs = self.compare({guild: self.post(guild) for guild in self.paths})
        self.bench.report.add(f"auto moderation, {RULES} rules of {KEYWORDS:,} words, a message",
                              (costs["Guarded"] - costs["Free"]) / 1e3, "us more", ("<=", 50),
                              {f"{name} us": cost / 1e3 for name, cost in costs.items()})


def body_of(answer):
    status, body = answer
    if status not in (200, 204):
        raise Failed(f"the request got {status}: {body}")
    return body

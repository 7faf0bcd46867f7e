"""Benchmark rows about message lists, compared with the bare server, and about the cost of
reactions."""

import copy
import json
import os
import re
import subprocess

from measure import medians, needing, time_per_request
from process import Client, Failed

MESSAGES, EMOJI = 50, [chr(0x1F400 + n) for n in range(20)]
PEOPLE = ["ada", "bob", "cleo", "dan", "eve"]
WORDS = "What was said here has the length that most of what people write has, a line or so."


def message(number, row_list_with_reactions):
    """Returns a message of one of five authors; the reader has some of the reactions, others the
    rest."""
    put = [{"emoji": e, "users": ["ada"] if n < 3 else ["bob", "cleo"]} for n, e in enumerate(EMOJI)]
    return {"author": PEOPLE[number % len(PEOPLE)], "content": f"{number}: {WORDS}",
            **({"reactions": put} if row_list_with_reactions else {})}


WORLD = {
    "users": [{"username": name} for name in PEOPLE],
    "guilds": [{"name": "Home", "owner": "ada", "members": [{"user": name} for name in PEOPLE[1:]],
                "channels": [{"name": name,
                              "messages": [message(n, name == "with") for n in range(MESSAGES)]}
                             for name in ("without", "with")]}],
}


class Messages:
    def __init__(self, bench, row_request):
        # A separate world, because other rows need an empty one.
        self.bench, self.row_request = copy.copy(bench), row_request
        self.bench.data = os.path.join(bench.folder, "messages")
        self.token, self.paths = None, {}

    def rows(self):
        return needing(("messages: worlds", self.fill),
                       [("messages: list", self.row_list), ("messages: reactions", self.row_reactions),
                        ("messages: reactions, floor", self.row_list_with_reactions)])

    def fill(self, _):
        world = os.path.join(self.bench.folder, "messages.json")
        with open(world, "w", encoding="utf-8") as f:
            json.dump(WORLD, f)
        done = subprocess.run([self.bench.guildhall, "import", "--tokens", world, "--data",
                               self.bench.data], check=True, capture_output=True, text=True)
        self.token = re.search(r"^ada +(.*)$", done.stdout, re.M).group(1)
        server = self.bench.serve("--loops", "1")
        try:
            ada = Client(server.port, self.token)
            guild = ada.call("GET", "/users/@me/guilds")[1][0]["id"]
            for channel in ada.call("GET", f"/guilds/{guild}/channels")[1]:
                path = f"/channels/{channel['id']}/messages?limit={MESSAGES}"
                self.check_messages(channel["name"], ada.call("GET", path)[1])
                self.paths[channel["name"]] = "/api/v10" + path
        finally:
            server.stop()

    def check_messages(self, name, messages):
        """Checks that the measured channel is as described."""
        shown = messages[0].get("reactions", [])
        if len(messages) != MESSAGES or (name == "with") != (len(shown) == len(EMOJI)):
            raise Failed(f"the channel '{name}' has other messages than expected")
        if name == "with" and sum(r["me"] for r in shown) != 3:
            raise Failed("the reader's own reactions are not marked")

    def row_list(self, _):
        self.row_request(self.bench, f"GET messages, {MESSAGES}", self.paths["without"], self.token,
                         2)

    def row_list_with_reactions(self, _):
        self.row_request(self.bench, f"GET messages, {MESSAGES}, 20 reactions each", self.paths["with"],
                         self.token, 1.8)

    def row_reactions(self, _):
        """Measures a page of messages with 20 reactions each against one without."""
        server = self.bench.serve("--loops", "1", cpu=self.bench.server_cpu)
        figures = {name: [] for name in ("without", "with")}
        try:
            for number in range(self.bench.rounds + 1):
                for name in sorted(figures, reverse=number % 2):
                    figures[name].append(time_per_request(self.bench, server, self.paths[name],
                                                          self.token))
        finally:
            server.kill()
        costs = {name: medians(times[1:])[0] for name, times in figures.items()}
        self.bench.report.add("GET messages with 20 reactions each", costs["with"] / costs["without"],
                              "x without", ("<=", 1.3),
                              {f"{name} us": cost / 1e3 for name, cost in costs.items()})

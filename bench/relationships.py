"""Benchmark rows about relationships: empty and long lists, in small and large worlds; writes."""

import json
import os
import sqlite3
import statistics
import subprocess

from measure import medians, time_per_request
from process import Client, Failed, Process, start_guildhall
from worlds import SeededWorld

LIST = "/users/@me/relationships"
MANY = 1000
FEW = 10
WRITERS = 64
# The query of a list, measured without anything around it.
ROWS = ("select r.type, r.ignored, r.nickname, r.note, r.since, r.is_spam, r.is_stranger, "
        "r.origin_application_id, u.id, u.username, u.global_name, u.avatar, u.public_flags, "
        "u.bot, u.system from relationships r join users u on u.id = r.target_id "
        "where r.user_id = ? and u.disabled = 0 and u.deleting = 0 order by r.target_id")
LARGE = {"users": 500_000, "friends": 5_000_000, "guilds": 100, "members": 1000}
SMALL = {"users": 500, "friends": 5_000, "guilds": 100, "members": 1000}


class Relationships:
    """The benchmark rows, in the order of their dependencies."""

    def __init__(self, bench, options, tokens, token, row_request):
        self.bench, self.options, self.row_request = bench, options, row_request
        self.token = token
        with open(tokens, encoding="ascii") as f:
            self.tokens = f.read().split()

    def rows(self):
        rows = [("relationships of nobody", self.row_none),
                ("relationships, a thousand", self.row_many),
                ("relationships, nickname", self.row_nickname),
                ("relationships, ignore", self.row_ignore),
                ("relationships, accept", self.row_accept)]
        return rows + ([("relationships in a large world", self.row_large)]
                       if self.options.platform else [])

    # --- reading ------------------------------------------------------------------------------

    def row_none(self, bench):
        self.row_request(bench, f"GET {LIST}, no friends", "/api/v10" + LIST, self.token, 2.5)

    def own_id(self, server, token):
        status, user = Client(server.port, token).call("GET", "/users/@me")
        if status != 200:
            raise Failed(f"GET /users/@me answered {status}")
        return int(user["id"])

    def befriend(self, user_id, count):
        """Inserts friends of an account into the database of a stopped server."""
        database = sqlite3.connect(os.path.join(self.bench.data, "guildhall.db"))
        first = user_id * 2  # unused ids
        with database:
            for i in range(first, first + count):
                database.execute("insert or ignore into users (id, username, global_name, verified)"
                                 " values (?, ?, ?, 1)", (i, f"friend{i}", f"Friend {i - first}"))
                for pair in ((user_id, i), (i, user_id)):
                    database.execute("insert or ignore into relationships (user_id, target_id, type,"
                                     " since) values (?, ?, 1, 1700000000000000)", pair)
        database.close()
        return first

    def row_many(self, bench):
        server = bench.serve("--loops", "1")
        user_id = self.own_id(server, self.token)
        server.stop()
        self.befriend(user_id, MANY)
        steps = self.cost_of_steps(bench, user_id)
        answer = os.path.join(bench.folder, "answer")
        server, bare_server = bench.serve("--loops", "1", cpu=bench.server_cpu), None
        try:
            self.capture(server.port, self.token, answer)
            bare_server = Process([bench.tool("floor"), "--answer", answer], cpu=bench.server_cpu)
            ours, least = [], []
            for number in range(bench.rounds + 1):
                order = [(server, ours), (bare_server, least)]
                for process, times in order if number % 2 else reversed(order):
                    times.append(time_per_request(bench, process, "/api/v10" + LIST, self.token))
            (ours, _), (least, _) = medians(ours[1:]), medians(least[1:])
            bench.report.add(f"GET {LIST}, {MANY} friends", ours / (least + steps),
                             "x floor+rows", ("<=", 2.5),
                             {"server us": ours / 1e3, "floor us": least / 1e3,
                              "rows us": steps / 1e3})
        finally:
            server.kill()
            if bare_server:
                bare_server.kill()

    def cost_of_steps(self, bench, user_id):
        """Returns the processor time of reading the same rows with a prepared statement."""
        times = []
        for _ in range(bench.rounds):
            done = subprocess.run([bench.tool("steps"), os.path.join(bench.data, "guildhall.db"),
                                   ROWS, str(user_id), "0.3"], capture_output=True, text=True)
            if done.returncode:
                raise Failed(done.stderr.strip())
            result = json.loads(done.stdout)
            if result["rows"] != MANY:
                raise Failed(f"{result['rows']} rows were read, not {MANY}")
            times.append(result["ns"])
        return statistics.median(times)

    @staticmethod
    def capture(port, token, into):
        """Captures a response for the bare server to repeat."""
        client = Client(port, token)
        client.connection.request("GET", "/api/v10" + LIST, None, {"Authorization": token})
        answer = client.connection.getresponse()
        body = answer.read()
        if answer.status != 200:
            raise Failed(f"GET {LIST} answered {answer.status}")
        head = "".join(f"{name}: {value}\r\n" for name, value in answer.getheaders())
        with open(into, "wb") as f:
            f.write(f"HTTP/1.1 200 OK\r\n{head}\r\n".encode() + body)
        client.close()

    def row_large(self, bench):
        large = {**LARGE, "users": LARGE["users"] // 10, "friends": LARGE["friends"] // 10}
        worlds = [SeededWorld(bench, "few-friends", SMALL),
                  SeededWorld(bench, "many-friends", large if self.options.quick else LARGE)]
        servers = [start_guildhall(bench.guildhall, world.folder, "--loops", "1",
                                   cpu=bench.server_cpu) for world in worlds]
        try:
            tokens = self.equal_lists(worlds, servers)
            times = ([], [])
            for number in range(bench.rounds + 1):
                for which in (0, 1) if number % 2 else (1, 0):
                    times[which].append(time_per_request(bench, servers[which], "/api/v10" + LIST,
                                                         tokens[which]))
            (few, _), (many, _) = (medians(rounds[1:]) for rounds in times)
            bench.report.add(f"GET {LIST} in a large world", many / few, "x small world",
                             ("<=", 1.2), {"large us": many / 1e3, "small us": few / 1e3})
        finally:
            for server in servers:
                server.kill()

    @staticmethod
    def equal_lists(worlds, servers):
        """Returns tokens of two accounts, one per world, with equally many friends."""
        found = [{}, {}]
        for world, server, by_count in zip(worlds, servers, found):
            for _, _, token in world.owners:
                client = Client(server.port, token)
                status, friends = client.call("GET", LIST)
                client.close()
                if status != 200:
                    raise Failed(f"GET {LIST} answered {status}")
                by_count.setdefault(len(friends), token)
        both = set(found[0]) & set(found[1])
        if not both or not max(both):
            raise Failed("no two accounts of the worlds have equally many friends")
        return [by_count[max(both)] for by_count in found]

    # --- writing ------------------------------------------------------------------------------

    def run_scripts(self, bench, port, parts, connections):
        """Runs connections that repeat their lines of METHOD PATH TOKEN BODY."""
        script = os.path.join(bench.folder, "script")
        with open(script, "w", encoding="ascii") as f:
            for part in parts:
                f.write("\n".join(part) + "\n\n")
        return bench.load_figures("play", port, "--script", script, "--connections", connections,
                                  "--seconds", bench.seconds, cpu=bench.load_cpu)

    def measure_durable(self, bench, what, parts_for):
        server = bench.serve()
        try:
            parts = parts_for(server)
            quiet, noisy = [], []
            while len(quiet) < bench.rounds and len(noisy) < bench.rounds:
                result = self.run_scripts(bench, server.port, parts, WRITERS)
                done = subprocess.run([bench.tool("syncs"), bench.data, str(bench.seconds)],
                                      capture_output=True, text=True, check=True)
                single = json.loads(done.stdout)
                (noisy if single["waited"] > 0.1 else quiet).append(
                    (result["per_second"], single["per_second"], single["waited"]))
            spoilt = len(quiet) < bench.rounds
            writes, syncs, waited = medians(noisy if spoilt else quiet)
            bench.report.add(what, writes / syncs, "x syncs/s", (">=", 1.0),
                             {"writes/s": writes, "append+fdatasync/s": syncs,
                              "rounds left out": len(noisy)},
                             noisy=f"waited for a processor {waited:.0%} of the time" if spoilt else None)
        finally:
            server.kill()

    def row_ignore(self, bench):
        def parts(server):
            other = self.own_id(server, self.token)
            path = f"/api/v10{LIST}/{other}/ignore"
            return [[f"PUT {path} {token}", f"DELETE {path} {token}"] for token in self.tokens]
        self.measure_durable(bench, "PUT …/ignore, 64 connections", parts)

    def row_accept(self, bench):
        def parts(server):
            ids = [self.own_id(server, token) for token in self.tokens]
            pairs = []
            for i in range(WRITERS):
                one, two = i, (i + 1) % WRITERS
                # Relationships of the previous round are removed first.
                pairs.append([
                    f"DELETE /api/v10{LIST}/{ids[two]} {self.tokens[one]}",
                    f"PUT /api/v10{LIST}/{ids[two]} {self.tokens[one]}",
                    f"PUT /api/v10{LIST}/{ids[one]} {self.tokens[two]} "
                    '{"confirm_stranger_request":true}'])
            return pairs
        self.measure_durable(bench, "ending, asking, accepting, 64 connections", parts)

    def row_nickname(self, bench):
        """Measures one change for an account with many friends and one with few."""
        users = (self.token, self.tokens[0])
        server = bench.serve()
        ids = [self.own_id(server, token) for token in users]
        server.stop()
        friends = [self.befriend(ids[0], MANY), self.befriend(ids[1], FEW)]
        server = bench.serve(cpu=bench.server_cpu)
        try:
            times = ([], [])
            for number in range(bench.rounds + 1):
                for which in (0, 1) if number % 2 else (1, 0):
                    path = f"/api/v10{LIST}/{friends[which]} {users[which]}"
                    part = [f'PATCH {path} {{"nickname":"{name}"}}' for name in ("Bo", "Bob")]
                    ran, _ = server.cpu_ns()
                    result = self.run_scripts(bench, server.port, [part], 1)
                    after, _ = server.cpu_ns()
                    times[which].append((after - ran) / result["requests"])
            many, few = (statistics.median(rounds[1:]) for rounds in times)
            bench.report.add(f"nickname with {MANY} friends", many / few, f"x with {FEW}",
                             ("<=", 1.2), {"many us": many / 1e3, "few us": few / 1e3})
        finally:
            server.kill()

"""Benchmark rows about many concurrent writers: to one channel, and to a channel each."""

import json
import os
import shutil
import statistics
import subprocess
import time

from process import Client, Failed, start_guildhall

WRITERS = 16
CHANNELS = 64
CONNECTIONS = 4  # connections of a server for transactions
HERE = os.path.dirname(os.path.abspath(__file__))


class Postgres:
    """A separate PostgreSQL server that syncs its commits; close() removes it."""

    def __init__(self):
        self.child = subprocess.Popen(
            [os.path.join(HERE, "..", "scripts", "with-postgres"), "sh", "-c",
             'echo "$GUILDHALL_TEST_POSTGRES"; exec cat >/dev/null'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.connection = self.child.stdout.readline().strip()
        if not self.connection:
            self.close()
            raise Failed("PostgreSQL is not available")
        for change in ("alter system set fsync = on", "select pg_reload_conf()"):
            subprocess.run(["psql", "-qXd", self.connection, "-c", change], check=True,
                           stdout=subprocess.DEVNULL)

    def schema(self, name):
        """Returns the connection string of a new schema."""
        subprocess.run(["psql", "-qXd", self.connection, "-c", f"create schema {name}"], check=True)
        return f"{self.connection} options=-csearch_path={name}"

    def cpu_ns(self):
        """Returns the processor time of all its processes so far, including ended ones."""
        with open(os.path.join(self.folder(), "postmaster.pid"), encoding="ascii") as f:
            main = int(f.readline())
        while True:
            ended = stat_of(main)[13:15]
            ticks = sum(map(int, ended)) + sum(map(self.ticks, [main, *children_of(main)]))
            if stat_of(main)[13:15] == ended:  # otherwise a process is counted twice or not at all
                return ticks * 1_000_000_000 // os.sysconf("SC_CLK_TCK")

    @staticmethod
    def ticks(pid):
        try:
            return sum(map(int, stat_of(pid)[11:13]))
        except OSError:
            return 0

    def folder(self):
        return os.path.join(dict(w.split("=", 1) for w in self.connection.split())["host"], "data")

    def close(self):
        self.child.stdin.close()
        self.child.wait(30)


def children_of(parent):
    found = []
    for pid in os.listdir("/proc"):
        try:
            if pid.isdigit() and stat_of(pid)[1] == str(parent):
                found.append(int(pid))
        except OSError:
            pass
    return found


def stat_of(pid):
    """Returns the fields of /proc/PID/stat after the name: state, parent, …"""
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as f:
        return f.read().rpartition(")")[2].split()


def call_checked(client, method, path, body=None):
    status, answer = client.call(method, path, body)
    if status >= 300:
        raise Failed(f"{method} {path} answered {status}: {answer}")
    return answer


class WriterGuild:
    """A guild with as many channels as writers."""

    def __init__(self, bench, port, count=WRITERS):
        self.count = count
        printed = bench.load("register", port, "--prefix", "writer", "--count", count,
                             "--connections", 2, "--seconds", 120)
        self.tokens = printed.split()
        owner = Client(port, self.tokens[0])
        guild = call_checked(owner, "POST", "/guilds", {"name": "Writers"})["id"]
        self.channels = [call_checked(owner, "POST", f"/guilds/{guild}/channels", {"name": f"c{i}"})["id"]
                         for i in range(count)]
        invite = call_checked(owner, "POST", f"/channels/{self.channels[0]}/invites", {})["code"]
        owner.close()
        for token in self.tokens[1:]:
            guest = Client(port, token)
            call_checked(guest, "POST", f"/invites/{invite}", {})
            guest.close()

    def write(self, bench, port, channels):
        """Returns the messages per second; a refused one fails the row."""
        script = os.path.join(bench.folder, "writers-script")
        with open(script, "w", encoding="ascii") as f:
            for channel, token in zip(channels, self.tokens):
                f.write(f"POST /api/v10/channels/{channel}/messages {token} "
                        '{"content":"hello, all of you"}\n\n')
        return bench.load_figures("play", port, "--script", script, "--connections", self.count,
                                  "--seconds", bench.seconds * 2)


class Writers:
    def __init__(self, bench):
        self.bench = bench

    def rows(self):
        return [("writers", self.row_one_channel), ("the log", self.row_log),
                ("posted, PostgreSQL", self.row_posted), ("posted, SQLite", self.row_sqlite)]

    def row_posted(self, bench):
        """Compares server and database with a program that only inserts the same rows."""
        postgres = Postgres()
        server = None
        try:
            # The bare program uses tables that no server reads.
            for name in ("bare", "posted"):
                if server:
                    server.stop()
                where = postgres.schema(name)
                server = bench.kill_at_end(start_guildhall(bench.guildhall, os.path.join(bench.folder, name),
                                                           "--store", where))
                writer_guild = WriterGuild(bench, server.port, CHANNELS)
                writer_guild.write(bench, server.port, writer_guild.channels)
            where = where.replace("=posted", "=bare")
            costs = ([], [], [])
            for number in range(bench.rounds + 1):
                for which in (0, 1, 2) if number % 2 else (2, 1, 0):
                    costs[which].append(
                        self.cost_of_bare_program(bench, postgres, where, which) if which else
                        self.cost_per_message(bench, postgres, server, writer_guild))
            ours, one, many = (statistics.median(rounds[1:]) for rounds in costs)
            bench.report.add(f"message posted, PostgreSQL, {CHANNELS} channels", ours / one,
                             "x one statement", ("<=", 2),
                             {"server + database us": ours / 1e3, "bare us": one / 1e3,
                              "bare, 16 to a statement us": many / 1e3,
                              "x 16 to a statement": ours / many})
        finally:
            if server:
                server.kill()
            postgres.close()

    @staticmethod
    def cost_of_bare_program(bench, postgres, where, which):
        """Returns the cost of the bare program: one message per statement, or sixteen."""
        before = postgres.cpu_ns()
        done = subprocess.run([bench.tool("bare_messages"), where, str(CONNECTIONS),
                               "1" if which == 1 else "16", str(bench.seconds * 2)],
                              capture_output=True, text=True)
        if done.returncode:
            raise Failed(done.stderr.strip())
        figures = json.loads(done.stdout)
        time.sleep(0.3)  # until its connections have ended
        return (postgres.cpu_ns() - before + figures["cpu_ns"]) / figures["messages"]

    def row_sqlite(self, bench):
        """Measures durable writes on SQLite to a channel each, and a program that only inserts the
        same rows."""
        data = os.path.join(bench.folder, "posted-data")
        server = bench.kill_at_end(start_guildhall(bench.guildhall, data))
        try:
            writer_guild = WriterGuild(bench, server.port)
            rates, costs = [], []
            for _ in range(bench.rounds + 1):
                before = server.cpu_ns()[0]
                figures = writer_guild.write(bench, server.port, writer_guild.channels)
                rates.append(figures["per_second"])
                costs.append((server.cpu_ns()[0] - before) / figures["requests"])
            server.stop()
            least = [self.bare_rows(bench, data) for _ in range(bench.rounds)]
            cost, floor = statistics.median(costs[1:]), statistics.median(f["cpu"] for f in least)
            bench.report.add(f"message posted, durable, SQLite, {WRITERS} writers",
                             statistics.median(rates[1:]), "a second", (">=", 40000),
                             {"server us": cost / 1e3, "best": max(rates[1:]),
                              "bare us": floor / 1e3, "x bare": cost / floor,
                              "bare a second": statistics.median(f["per_second"] for f in least)})
        finally:
            server.kill()
            shutil.rmtree(data, ignore_errors=True)

    @staticmethod
    def bare_rows(bench, data):
        done = subprocess.run([bench.tool("bare_rows"), os.path.join(data, "guildhall.db"),
                               str(WRITERS), str(bench.seconds * 2)], capture_output=True, text=True)
        if done.returncode:
            raise Failed(done.stderr.strip())
        figures = json.loads(done.stdout)
        return {**figures, "cpu": figures["cpu_ns"] / figures["messages"]}

    def row_log(self, bench):
        """Measures server and database in turn without and with the event log."""
        postgres = Postgres()
        servers, writer_guilds, costs = [], [], ([], [])
        try:
            for name, flags in (("alone", ()), ("stored", ("--bus", "poll"))):
                folder = os.path.join(bench.folder, f"log-{name}")
                servers.append(bench.kill_at_end(start_guildhall(
                    bench.guildhall, folder, "--store", postgres.schema(name), *flags)))
                writer_guilds.append(WriterGuild(bench, servers[-1].port))
            for number in range(2 * bench.rounds + 1):
                for which in (0, 1) if number % 2 else (1, 0):
                    costs[which].append(self.cost_per_message(bench, postgres, servers[which], writer_guilds[which]))
            alone, with_log = (statistics.median(rounds[1:]) for rounds in costs)
            bench.report.add(f"PostgreSQL, {WRITERS} writers, with the log", with_log / alone,
                             "x without it", ("<=", 1.15),
                             {"without µs": alone / 1e3, "with µs": with_log / 1e3,
                              "least": min(costs[1][1:]) / min(costs[0][1:])})
        finally:
            for server in servers:
                server.kill()
            postgres.close()

    @staticmethod
    def cost_per_message(bench, postgres, server, writer_guild):
        """Returns the processor time per message in nanoseconds."""
        before = postgres.cpu_ns() + server.cpu_ns()[0]
        figures = writer_guild.write(bench, server.port, writer_guild.channels)
        return (postgres.cpu_ns() + server.cpu_ns()[0] - before) / figures["requests"]

    def row_one_channel(self, bench):
        postgres = Postgres()
        data = os.path.join(bench.folder, "writers-data")
        server = None
        try:
            server = bench.kill_at_end(start_guildhall(bench.guildhall, data, "--store",
                                                       postgres.connection))
            writer_guild = WriterGuild(bench, server.port)
            channel_lists = ([writer_guild.channels[0]] * WRITERS, writer_guild.channels)
            results = ([], [])
            for number in range(bench.rounds + 1):
                for which in (0, 1) if number % 2 else (1, 0):
                    results[which].append(writer_guild.write(bench, server.port, channel_lists[which]))
            one, each = (statistics.median(r["per_second"] for r in rounds[1:])
                         for rounds in results)
            bench.report.add(f"PostgreSQL, {WRITERS} writers on one channel", one / each,
                             f"x {WRITERS} channels", (">=", 0.9),
                             {"one channel/s": one, "a channel each/s": each,
                              "p99 ms": statistics.median(r["p99_us"] for r in results[0][1:])
                              / 1e3})
        finally:
            if server:
                server.kill()
            postgres.close()
            shutil.rmtree(data, ignore_errors=True)

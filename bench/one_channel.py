"""Rows about many who write at once: to one channel, and to a channel each."""

import os
import shutil
import statistics
import subprocess

from process import Client, Failed, start_guildhall

MANY = 16
HERE = os.path.dirname(os.path.abspath(__file__))


class Postgres:
    """A server of its own that syncs its commits; gone with close()."""

    def __init__(self):
        self.child = subprocess.Popen(
            [os.path.join(HERE, "..", "scripts", "with-postgres"), "sh", "-c",
             'echo "$GUILDHALL_TEST_POSTGRES"; exec cat >/dev/null'],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.where = self.child.stdout.readline().strip()
        if not self.where:
            self.close()
            raise Failed("there is no PostgreSQL to measure with")
        for change in ("alter system set fsync = on", "select pg_reload_conf()"):
            subprocess.run(["psql", "-qXd", self.where, "-c", change], check=True,
                           stdout=subprocess.DEVNULL)

    def close(self):
        self.child.stdin.close()
        self.child.wait(30)


def ask(client, method, path, body=None):
    status, answer = client.call(method, path, body)
    if status >= 300:
        raise Failed(f"{method} {path} answered {status}: {answer}")
    return answer


class Crowd:
    """A guild with as many channels as people who write."""

    def __init__(self, bench, port):
        printed = bench.load("register", port, "--prefix", "crowd", "--count", MANY,
                             "--connections", 2, "--seconds", 120)
        self.tokens = printed.split()
        owner = Client(port, self.tokens[0])
        guild = ask(owner, "POST", "/guilds", {"name": "crowd"})["id"]
        self.channels = [ask(owner, "POST", f"/guilds/{guild}/channels", {"name": f"c{i}"})["id"]
                         for i in range(MANY)]
        invite = ask(owner, "POST", f"/channels/{self.channels[0]}/invites", {})["code"]
        owner.close()
        for token in self.tokens[1:]:
            guest = Client(port, token)
            ask(guest, "POST", f"/invites/{invite}", {})
            guest.close()

    def write(self, bench, port, channels):
        """Messages a second; one that is refused fails the row."""
        script = os.path.join(bench.folder, "crowd-script")
        with open(script, "w", encoding="ascii") as f:
            for channel, token in zip(channels, self.tokens):
                f.write(f"POST /api/v10/channels/{channel}/messages {token} "
                        '{"content":"hello, all of you"}\n\n')
        return bench.load_figures("play", port, "--script", script, "--connections", MANY,
                                  "--seconds", bench.seconds * 2)


class Writers:
    def __init__(self, bench):
        self.bench = bench

    def rows(self):
        return [("writers", self.row_one_channel)]

    def row_one_channel(self, bench):
        postgres = Postgres()
        data = os.path.join(bench.folder, "crowd-data")
        server = None
        try:
            server = bench.watch(start_guildhall(bench.guildhall, data, "--store",
                                                 postgres.where))
            crowd = Crowd(bench, server.port)
            places = ([crowd.channels[0]] * MANY, crowd.channels)
            results = ([], [])
            for number in range(bench.rounds + 1):
                for which in (0, 1) if number % 2 else (1, 0):
                    results[which].append(crowd.write(bench, server.port, places[which]))
            one, each = (statistics.median(r["per_second"] for r in rounds[1:])
                         for rounds in results)
            bench.report.add(f"PostgreSQL, {MANY} writers on one channel", one / each,
                             f"x {MANY} channels", (">=", 0.9),
                             {"one channel/s": one, "a channel each/s": each,
                              "p99 ms": statistics.median(r["p99_us"] for r in results[0][1:])
                              / 1e3})
        finally:
            if server:
                server.kill()
            postgres.close()
            shutil.rmtree(data, ignore_errors=True)

"""Benchmark rows about GIFs: the cost of a search compared with the bare full-text query, and of a
choice."""

import json
import os
import random
import socket
import sqlite3
import subprocess
import time

from measure import medians, needing, time_per_request
from process import Failed, Process, start_guildhall

GIFS = 100_000
WORDS = 4_000
SEARCH = "/api/v10/gifs/search?q=" + "{}&media_format=gif"
BARE = "select rowid from gif_index where gif_index match ? order by rank limit 100"


def make_vocabulary(rng):
    """Generates words, the first of them much more common than the last."""
    syllables = ["ka", "lo", "mi", "ne", "ru", "so", "ti", "va", "pe", "du", "fa", "gi"]
    made = set()
    while len(made) < WORDS:
        made.add("".join(rng.choice(syllables) for _ in range(rng.randint(2, 4))))
    return sorted(made, key=lambda _: rng.random())


class Gifs:
    def __init__(self, bench, tokens):
        self.bench, self.tokens = bench, tokens
        self.folder = os.path.join(bench.folder, "gifs")
        self.vocabulary = []

    def rows(self):
        return needing(("import of GIFs", self.row_import),
                       [("search", self.row_search), ("suggest", self.row_suggest), ("select", self.row_select)])

    def word_of_rank(self, rank):
        """Returns a word by its rank: 0 is the most common."""
        return self.vocabulary[rank]

    def row_import(self, bench):
        rng = random.Random(8)
        self.vocabulary = make_vocabulary(rng)
        os.mkdir(self.folder)
        subprocess.run(["cp", "-r", os.path.join(bench.data, "."), self.folder], check=True)
        with open(os.path.join(bench.folder, "a.gif"), "wb") as f:
            f.write(b"GIF89a\xf0\x01\x18\x01\0\0\0\x3b")
        path = os.path.join(bench.folder, "gifs.jsonl")
        with open(path, "w", encoding="ascii") as f:
            for n in range(GIFS):
                def random_words(count):
                    return [self.vocabulary[int(WORDS * rng.random() ** 3)] for _ in range(count)]
                f.write(json.dumps({"id": f"g{n}", "title": " ".join(random_words(4)), "tags": random_words(5),
                                    "description": " ".join(random_words(8)),
                                    "media": {"gif": "a.gif"}}) + "\n")
        began = time.monotonic()
        done = subprocess.run([bench.guildhall, "gifs", "import", path, "--data", self.folder],
                              capture_output=True, text=True, timeout=600)
        if done.returncode:
            raise Failed(done.stderr[-300:])
        bench.report.add(f"import of {GIFS:,} GIFs", time.monotonic() - began, "s", None)

    def serve(self, *flags, **more):
        return self.bench.kill_at_end(start_guildhall(self.bench.guildhall, self.folder, *flags, **more))

    def cost_of_query(self, word):
        """Returns the processor time of the full-text query alone, in nanoseconds."""
        store = sqlite3.connect(f"file:{self.folder}/guildhall.db?mode=ro", uri=True)
        times = []
        for _ in range(21):
            began = time.thread_time_ns()
            store.execute(BARE, (f'"{word}"*',)).fetchall()
            times.append(time.thread_time_ns() - began)
        store.close()
        return sorted(times[1:])[10]

    def row_search(self, bench):
        for name, rank in (("a rare word", 3_000), ("a common word", 5)):
            path = SEARCH.format(self.word_of_rank(rank))
            server = self.serve("--loops", "1", cpu=bench.server_cpu)
            answer, bare_server = os.path.join(bench.folder, "answer"), None
            try:
                capture(server.port, path, answer)
                bare_server = bench.kill_at_end(Process([bench.tool("floor"), "--answer", answer],
                                                        cpu=bench.server_cpu))
                ours = medians([time_per_request(bench, server, path, None)
                                for _ in range(3)])[0]
                least = medians([time_per_request(bench, bare_server, path, None)
                                 for _ in range(3)])[0]
                bare = self.cost_of_query(self.word_of_rank(rank))
                bench.report.add(f"GIF search, {name}", ours / (bare + least), "x query + floor",
                                 ("<=", 2), {"server us": ours / 1e3, "query us": bare / 1e3,
                                             "floor us": least / 1e3})
            finally:
                server.kill()
                if bare_server:
                    bare_server.kill()

    def row_suggest(self, bench):
        server = self.serve("--loops", "1", cpu=bench.server_cpu)
        try:
            for typed in ("k", "ka", "kal"):
                used = medians([time_per_request(bench, server, f"/api/v10/gifs/suggest?q={typed}",
                                                 None) for _ in range(3)])[0]
                bench.report.add(f"suggestions for '{typed}'", used / 1e6, "ms", ("<=", 1))
        finally:
            server.kill()

    def delete_choices(self):
        """Deletes the recorded choices, so that everyone's next choice counts again."""
        store = sqlite3.connect(os.path.join(self.folder, "guildhall.db"))
        store.execute("delete from gif_picks")
        store.commit()
        store.close()

    def row_select(self, bench):
        body = '{"id":"g#","q":"' + self.word_of_rank(0) + '"}'
        rounds = []
        for _ in range(bench.rounds):
            server = self.serve()
            try:
                result = bench.load_figures("write", server.port, "--tokens", self.tokens,
                                            "--connections", 64, "--seconds", bench.seconds,
                                            "--path", "/api/v10/gifs/select", "--body", body)
            finally:
                server.stop()
            self.delete_choices()
            done = subprocess.run([bench.tool("syncs"), bench.data, str(bench.seconds)],
                                  capture_output=True, text=True, check=True)
            rounds.append((result["per_second"], json.loads(done.stdout)["per_second"]))
        writes, syncs = medians(rounds)
        bench.report.add("POST /gifs/select, 64 connections", writes / syncs, "x syncs/s",
                         (">=", 1.0), {"writes/s": writes, "append+fdatasync/s": syncs})


def capture(port, path, into):
    """Captures the exact bytes of one response, for the bare server to repeat."""
    with socket.create_connection(("127.0.0.1", port), 10) as s:
        s.sendall(f"GET {path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        s.settimeout(0.5)
        answer = b""
        try:
            while piece := s.recv(65536):
                answer += piece
        except TimeoutError:
            pass
    if not answer.startswith(b"HTTP/1.1 200 "):
        raise Failed(f"GET {path} answered {answer[:60]!r}")
    with open(into, "wb") as f:
        f.write(answer)

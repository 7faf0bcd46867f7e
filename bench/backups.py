"""Benchmark rows about backups: their effect on concurrent writes, and their memory."""

import json
import os
import shutil
import signal
import sqlite3
import statistics
import subprocess

from process import Failed, start_guildhall

HALF_BYTES = 512 << 20  # bytes of rows, and as many of files
RATE, WRITERS = 1000, 64
CONTENT = 3800  # characters of a message
FILE = 1 << 20
SLOWER, MEMORY_MIB = 2, 64


class Backup:
    def __init__(self, bench, quick):
        self.bench, self.quick = bench, quick
        self.half = HALF_BYTES // 8 if quick else HALF_BYTES
        self.data = os.path.join(bench.folder, "backup-data")
        self.saved = os.path.join(bench.folder, "saved")
        self.tokens = os.path.join(bench.folder, "backup-tokens")

    def rows(self):
        return [("backup", self.row_backup)]

    # --- data to save ----------------------------------------------------------------------

    def fill(self):
        count = self.half // (CONTENT + 300)
        subprocess.run([self.bench.guildhall, "seed", "--data", self.data, "--messages", str(count)],
                       check=True, capture_output=True)
        rows = sqlite3.connect(os.path.join(self.data, "guildhall.db"))
        # Long messages without a search index, because indexing would be another load.
        rows.execute(f"update messages set content = hex(randomblob({CONTENT // 2}))")
        rows.execute("delete from message_unindexed")
        rows.commit()
        rows.execute("pragma wal_checkpoint(truncate)")
        rows.close()
        folder = os.path.join(self.data, "blobs", "attachments", "bench")
        os.makedirs(folder)
        for number in range(self.half // FILE):
            with open(os.path.join(folder, str(number)), "wb") as f:
                f.write(os.urandom(FILE))
        os.sync()

    def register(self, port):
        with open(self.tokens, "w", encoding="ascii") as f:
            f.write(self.bench.load("register", port, "--prefix", "saver", "--count", WRITERS,
                                    "--connections", 2, "--seconds", 120))

    # --- measuring -------------------------------------------------------------------------

    def begin_writes(self, port, seconds):
        return subprocess.Popen(
            [self.bench.tool("load"), "write", "--port", str(port), "--tokens", self.tokens,
             "--connections", str(WRITERS), "--rate", str(RATE), "--seconds", str(seconds)],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)

    def end_writes(self, load):
        output, problem = load.communicate(timeout=60)
        if load.returncode:
            raise Failed(problem.strip())
        figures = json.loads(output)
        if figures["refused"]:
            raise Failed(f"{figures['refused']} writes failed")
        return figures

    def writes_alone(self, port):
        return self.end_writes(self.begin_writes(port, 2 if self.quick else 10))

    def writes_during_backup(self, port, *words):
        """Returns the figures of the writes, the seconds of the backup, and its memory."""
        backup = subprocess.Popen([self.bench.guildhall, "backup", *words, "--data", self.data],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        load = self.begin_writes(port, 600)
        problem = backup.stderr.read()
        _, status, used = os.wait4(backup.pid, 0)
        backup.returncode = os.waitstatus_to_exitcode(status)
        load.send_signal(signal.SIGTERM)
        figures = self.end_writes(load)
        if backup.returncode:
            raise Failed(f"backup ended with {backup.returncode}: {problem.decode()}")
        return figures, figures["seconds"], used.ru_maxrss * 1024

    def compare(self, port, what, *words):
        alone, during_backup, memory = [], [], []
        for _ in range(1 if self.quick else 3):
            alone.append(self.writes_alone(port))
            during_backup.append(self.writes_during_backup(port, *words))
            memory.append(during_backup[-1][2])
            self.delete_saved()
        least = statistics.median(f["p99_us"] for f in alone)
        most = statistics.median(f["p99_us"] for f, _, _ in during_backup)
        slowest = min(f["per_second"] for f in [*alone, *(f for f, _, _ in during_backup)])
        self.bench.report.add(
            f"{RATE:,} writes a second during a backup {what}: p99", most / least, "x alone",
            ("<=", SLOWER),
            {"alone us": least, "during us": most,
             "longest ms": max(f["longest_us"] for f, _, _ in during_backup) / 1e3,
             "longest alone ms": max(f["longest_us"] for f in alone) / 1e3,
             "seconds": statistics.median(s for _, s, _ in during_backup)},
            noisy=f"only {slowest:.0f} writes a second went through"
            if slowest < 0.95 * RATE else None)
        self.bench.report.add(f"memory of a backup {what}", max(memory) / 2**20, "MiB",
                              ("<=", MEMORY_MIB), {"MiB saved": 2 * self.half / 2**20})

    def delete_saved(self):
        if os.path.exists(self.saved):
            os.unlink(self.saved)

    def row_backup(self, bench):
        self.fill()
        server = bench.kill_at_end(start_guildhall(bench.guildhall, self.data))
        try:
            self.register(server.port)
            self.writes_alone(server.port)  # warm-up
            self.compare(server.port, "into a file", self.saved)
        finally:
            server.kill()
            shutil.rmtree(self.data, ignore_errors=True)

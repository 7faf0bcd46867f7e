"""Measurements that the rows of scripts/bench share."""

import socket
import statistics

from process import Failed

GATEWAY = "/api/v10/gateway"


def time_per_request(bench, process, path, token):
    """Returns the processor time per request, and the time waiting for a processor."""
    ran, waited = process.cpu_ns()
    args = ["--path", path, "--connections", 32, "--seconds", bench.seconds]
    result = bench.load_figures("get", process.port, *args, *(["--token", token] if token else []),
                                cpu=bench.load_cpu)
    ran_after, waited_after = process.cpu_ns()
    return (ran_after - ran) / result["requests"], (waited_after - waited) / result["requests"]


def medians(rounds):
    return [statistics.median(column) for column in zip(*rounds)]


def ask_once(port):
    with socket.create_connection(("127.0.0.1", port), 10) as s:
        s.sendall(f"GET {GATEWAY} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n".encode())
        if not s.recv(64).startswith(b"HTTP/1.1 200 "):
            raise Failed("the first response was not 200")


def needing(first, rows):
    """Returns the row `first` and rows that need what it makes. Each of them runs it before, if it has
    not run yet, so that each row can be run alone."""
    name, make = first
    made = []

    def make_once(bench):
        if not made:
            make(bench)
            made.append(True)

    def after_it(row):
        def run(bench):
            make_once(bench)
            row(bench)
        return run

    return [(name, make_once)] + [(what, after_it(row)) for what, row in rows]

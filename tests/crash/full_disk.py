#!/usr/bin/env python3
"""full_disk - tests that a full disk refuses writes with an error, serves reads, and accepts writes
again when there is space."""

import http.client
import os
import time

from cases import expect, run_cases
from disk_images import TestResources
from process import Client, start_guildhall
from writers import Writers, check_passes

WRITERS = 8
MEGABYTES = 24


def wait_until_refused(writers):
    """Waits for the first refusal: the log still has space in its last block."""
    deadline = time.monotonic() + 60
    before = [w.refused for w in writers.all]
    while not all(w.refused > old for w, old in zip(writers.all, before)):
        for writer in writers.all:
            if writer.error:
                raise writer.error
        expect(time.monotonic() < deadline, "writes continued although the disk is full")
        time.sleep(0.01)


def expect_reads_work(writers, port):
    status, _ = Client(port).call("GET", "/gateway")
    expect(status == 200, f"GET /gateway answered {status} on a full disk")
    missing = writers.lost(port, writers.acknowledged())
    expect(not missing, "on the full disk:\n" + "\n".join(missing))


def expect_registering_is_refused(port):
    """The log is reused after a checkpoint, so a few registrations may still succeed."""
    for number in range(1000):
        status, answer = Client(port).call(
            "POST", "/auth/register",
            {"username": f"late{number}", "password": "correct horse battery"})
        if status == 507:
            expect(answer["code"] == 0 and answer["message"], f"a full disk answered {answer}")
            return number
        expect(status == 200, f"registering on a full disk answered {status}: {answer}")
    raise AssertionError("a thousand registrations succeeded on a full disk")


def readiness(port):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request("GET", "/readyz")
    answer = connection.getresponse()
    words = answer.read().decode()
    connection.close()
    return answer.status, words


FIRST_LINES = 4  # the first refusal, the new state, and the first failed checkpoint
SECONDS_PER_LINE = 10  # the server repeats a line at most this often


def expect_quiet_log(server, seconds):
    """Refused writes must not produce a log line each, because the log may be on the same disk."""
    lines = [line for line in os.pread(server.log.fileno(), 1 << 24, 0).splitlines()
             if b"full" in line]
    most = FIRST_LINES + seconds / SECONDS_PER_LINE
    expect(len(lines) <= most,
           f"{len(lines)} lines about the full disk in {seconds:.0f} s:\n" +
           "\n".join(line.decode() for line in lines[:40]))


def full_disk_refuses_writes_until_there_is_space(executable):
    with TestResources() as resources:
        disk = resources.disk("small", megabytes=MEGABYTES)
        folder = disk.data
        server = resources.kill_at_end(start_guildhall(executable, folder))
        writers = Writers(server.port, WRITERS)

        ballast = disk.fill()
        began = time.monotonic()
        writers.start(server.port)
        wait_until_refused(writers)
        writers.join()
        expect_reads_work(writers, server.port)
        expect_registering_is_refused(server.port)
        expect(readiness(server.port) == (503, '{"status":"disk full"}'), readiness(server.port))
        expect_quiet_log(server, time.monotonic() - began)

        os.unlink(ballast)
        disk.flush()
        before = writers.acknowledged()
        refused = sum(w.refused for w in writers.all)
        writers.start(server.port)
        writers.wait_for_more(before)
        writers.join()
        expect(sum(w.refused for w in writers.all) == refused,
               "writes were refused after there was space again")
        acknowledged = writers.acknowledged()
        expect(readiness(server.port) == (200, '{"status":"ok"}'), readiness(server.port))

        server.kill()
        server = resources.kill_at_end(start_guildhall(executable, folder))
        missing = writers.lost(server.port, acknowledged)
        expect(not missing, "after the restart:\n" + "\n".join(missing))
        print(f"{refused} writes were refused, {sum(acknowledged)} acknowledged and found")
        server.stop()
        check_passes(executable, folder)


if __name__ == "__main__":
    run_cases("crash/full_disk", [full_disk_refuses_writes_until_there_is_space])

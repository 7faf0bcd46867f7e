#!/usr/bin/env python3
"""kill9 - tests that no acknowledged write is lost when the server is killed."""

import os
import random
import subprocess
import time

from cases import expect, run_cases
from disk_images import TestResources
from process import register, serve_command, start_guildhall
from writers import Writers, check_passes

ROUNDS = 5
WRITERS = 16
STARTS = 16


def kill_9_loses_no_acknowledged_write(executable):
    with TestResources() as resources:
        folder = os.path.join(resources.folder, "data")
        server = resources.kill_at_end(start_guildhall(executable, folder))
        writers = Writers(server.port, WRITERS)
        for number in range(ROUNDS):
            before = writers.acknowledged()
            writers.start(server.port)
            writers.wait_for_more(before)
            time.sleep(random.uniform(0, 0.6))
            server.kill()
            writers.join()
            acknowledged = writers.acknowledged()

            server = resources.kill_at_end(start_guildhall(executable, folder))
            missing = writers.lost(server.port, acknowledged)
            expect(not missing, f"round {number + 1}:\n" + "\n".join(missing))
            print(f"round {number + 1}: {sum(acknowledged) - sum(before)} acknowledged and found")
            writers.reset_to_stored(server.port)
        server.kill()
        check_passes(executable, folder)


def planned_stop_loses_no_acknowledged_write(executable):
    with TestResources() as resources:
        folder = os.path.join(resources.folder, "data")
        server = resources.kill_at_end(start_guildhall(executable, folder))
        writers = Writers(server.port, 4)
        before = writers.acknowledged()
        writers.start(server.port)
        writers.wait_for_more(before)
        status = server.stop()
        writers.join()
        expect(status == 0, f"the server ended with {status}:\n{server.read_stderr()}")
        check_passes(executable, folder)
        server = resources.kill_at_end(start_guildhall(executable, folder))
        missing = writers.lost(server.port, writers.acknowledged())
        expect(not missing, "\n".join(missing))


def a_server_killed_while_it_starts_can_start_again(executable):
    with TestResources() as resources:
        for number in range(STARTS):
            # Half of the starts use a new folder, half the leftovers of a killed start.
            folder = os.path.join(resources.folder, f"data{number // 2}")
            child = subprocess.Popen(serve_command(executable, folder), stdin=subprocess.DEVNULL,
                                     stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            time.sleep(random.uniform(0, 0.04))
            child.kill()
            child.wait()
        for number in range(STARTS // 2):
            folder = os.path.join(resources.folder, f"data{number}")
            server = resources.kill_at_end(start_guildhall(executable, folder))
            register(server.port, "first")
            server.stop()
            check_passes(executable, folder)


if __name__ == "__main__":
    run_cases("crash/kill9", [kill_9_loses_no_acknowledged_write,
                              planned_stop_loses_no_acknowledged_write,
                              a_server_killed_while_it_starts_can_start_again])

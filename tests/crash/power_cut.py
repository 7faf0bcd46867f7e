#!/usr/bin/env python3
"""power_cut - tests that no acknowledged write is lost when the power fails.

The data folder is on an ext4 image. Copying the image gives what a disk would
hold if the power went at that moment: synced bytes are in it, bytes in the page
cache are not. The server is stopped between two system calls while the copy is
made, so that the copy is of one moment. The machine then comes back: the copy
is mounted (ext4 replays its journal) and a new server must find every write
that was acknowledged before the copy began.

A second case shows that the first can fail: without syncs, writes are lost.
"""

import os
import random
import time

from cases import expect, run_cases
from disk_images import TestResources
from process import Failed, start_guildhall
from writers import Writers, check_passes

CUTS = 4
WRITERS = 16
MEGABYTES = 64


def cut_power(resources, disk, server, writers, name):
    """Returns the disk after the power cut, and the writes acknowledged before it."""
    server.freeze()
    acknowledged = writers.acknowledged()
    image = disk.image_now(name)
    server.kill()
    writers.join()
    disk.close()
    os.unlink(disk.image)
    return resources.disk(name, image=image), acknowledged


def power_cut_loses_no_acknowledged_write(executable):
    with TestResources() as resources:
        disk = resources.disk("disk0", megabytes=MEGABYTES)
        server = resources.kill_at_end(start_guildhall(executable, disk.data))
        writers = Writers(server.port, WRITERS)
        for number in range(1, CUTS + 1):
            before = writers.acknowledged()
            writers.start(server.port)
            writers.wait_for_more(before)
            time.sleep(random.uniform(0, 0.6))
            disk, acknowledged = cut_power(resources, disk, server, writers, f"disk{number}")

            server = resources.kill_at_end(start_guildhall(executable, disk.data))
            missing = writers.lost(server.port, acknowledged)
            expect(not missing, f"cut {number}:\n" + "\n".join(missing))
            print(f"cut {number}: {sum(acknowledged) - sum(before)} acknowledged and found")
            writers.reset_to_stored(server.port)
        server.kill()
        check_passes(executable, disk.data)


def describe_writes_lost_by_power_cut(executable, resources, disk, writers, acknowledged):
    """Returns descriptions of the lost writes; a database that cannot be opened lost everything."""
    try:
        server = resources.kill_at_end(start_guildhall(executable, disk.data))
        return writers.lost(server.port, acknowledged)
    except (Failed, OSError) as e:
        return [f"the database does not open again: {str(e).splitlines()[0]}"]


def a_power_cut_without_syncs_loses_acknowledged_writes(executable):
    with TestResources() as resources:
        disk = resources.disk("disk", megabytes=MEGABYTES)
        server = resources.kill_at_end(start_guildhall(executable, disk.data, "--durability", "off"))
        writers = Writers(server.port, WRITERS)
        # The accounts are flushed, so only later writes can be missing.
        disk.flush()
        before = writers.acknowledged()
        writers.start(server.port)
        writers.wait_for_more(before)
        time.sleep(0.5)
        disk, acknowledged = cut_power(resources, disk, server, writers, "after")
        missing = describe_writes_lost_by_power_cut(executable, resources, disk, writers, acknowledged)
        expect(missing, "every write survived although nothing was synced: this test cannot detect losses")
        print(f"without syncs, {len(missing)} of {WRITERS} writers lost writes: {missing[0]}")


if __name__ == "__main__":
    run_cases("crash/power_cut", [power_cut_loses_no_acknowledged_write,
                                  a_power_cut_without_syncs_loses_acknowledged_writes])

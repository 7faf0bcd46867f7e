#!/usr/bin/env python3
"""integration_sync - tests that a killed integration sync or removal continues and misses no subscriber."""

import os
import random
import time

from cases import expect, run_cases
from disk_images import TestResources
from integrations import FollowedAccount
from process import Client, Failed
from writers import check_passes

SUBSCRIBERS = 5000
PATIENCE = 120
TRIES = 5


class TooLate(Exception):
    """Everything was done before the server was killed, as on a busy machine."""


def until_in_time(case):
    """Repeats the case if the kill came too late."""
    def run(executable):
        for _ in range(TRIES):
            try:
                case(executable)
                return
            except TooLate as late:
                print(late)
        raise Failed(f"too late {TRIES} times")
    run.__name__ = case.__name__
    return run


def wait_for(done, what):
    deadline = time.monotonic() + PATIENCE
    while not done():
        expect(time.monotonic() < deadline, f"{what} after {PATIENCE} s")
        time.sleep(0.1)


@until_in_time
def integration_sync_continues_after_kill_9(executable):
    with TestResources() as resources:
        followed = FollowedAccount(executable, os.path.join(resources.folder, "data"), SUBSCRIBERS)
        server = resources.kill_at_end(followed.start())
        followed.follow(server.port)
        wait_for(lambda: followed.count_members_with_role() > 0, "nobody had a role")
        time.sleep(random.uniform(0, 0.1))
        server.kill()
        before = followed.count_members_with_role()
        if before == SUBSCRIBERS:
            raise TooLate("everybody had their role when the server was killed")
        expect(0 < before < SUBSCRIBERS, f"{before} had their role when the server was killed")

        server = resources.kill_at_end(followed.start())
        owner = Client(server.port, followed.token)
        expect(followed.integration(owner)["syncing"] or followed.count_members_with_role() == SUBSCRIBERS,
               "the sync is no longer under way")
        wait_for(lambda: not followed.integration(owner)["syncing"], "the sync had not ended")
        i = followed.integration(owner)
        expect(i["subscriber_count"] == SUBSCRIBERS and not i["revoked"], f"the integration is {i}")
        expect(followed.count_members_with_role() == SUBSCRIBERS, f"{followed.count_members_with_role()} have their role")
        owner.close()
        server.stop()
        check_passes(executable, followed.folder)


@until_in_time
def integration_removal_continues_after_kill_9(executable):
    with TestResources() as resources:
        followed = FollowedAccount(executable, os.path.join(resources.folder, "data"), SUBSCRIBERS)
        server = resources.kill_at_end(followed.start())
        followed.follow(server.port)
        wait_for(lambda: followed.count_members_with_role() == SUBSCRIBERS, "not everybody had a role")
        owner = Client(server.port, followed.token)
        wait_for(lambda: not followed.integration(owner)["syncing"], "the sync had not ended")
        owner.close()
        followed.unfollow(server.port)
        server.kill()
        if not followed.count_remaining_rows():
            raise TooLate("nothing was left when the server was killed")

        server = resources.kill_at_end(followed.start())
        owner = Client(server.port, followed.token)
        none = followed.call(owner, "GET", f"/guilds/{followed.guild}/integrations")
        expect(none == [], f"the integration still exists: {none}")
        wait_for(lambda: not followed.count_remaining_rows(), "the removal had not ended")
        roles = followed.call(owner, "GET", f"/guilds/{followed.guild}/roles")
        expect(not any(r["managed"] for r in roles), "the role still exists")
        owner.close()
        server.stop()
        check_passes(executable, followed.folder)


if __name__ == "__main__":
    run_cases("crash/integration_sync", [integration_sync_continues_after_kill_9, integration_removal_continues_after_kill_9])

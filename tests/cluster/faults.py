#!/usr/bin/env python3
"""faults - the checkers of the other tests find what is wrong, when something is.

Each case plants one fault in the servers (src/base/planted.h) and runs a test that must fail then.
The wrong rule for holes of the log is planted in tests/unit/cluster/settle.c, where it is found at once
and not by chance.
"""

import os

import killed
import lasting
import looks
import lost
import ring
import round as rounds
import stopped
from cases import expect, run_cases
from restart import LONG

TRIES = 5  # for what is seen only sometimes


def caught(fault, test, executable, tries=1):
    os.environ["GUILDHALL_TEST_FAULT"] = fault
    for module in (ring, lasting, rounds, killed, looks, lost, stopped):
        module.PATIENCE = 8  # it waits for what never comes
    try:
        for _ in range(tries):
            try:
                test(executable)
            except ring.Failed as error:
                print(f"found: {error}")
                return
    finally:
        del os.environ["GUILDHALL_TEST_FAULT"]
    expect(False, f"{fault} was not found")


def events_before_their_commit_are_found(executable):
    caught("early-events", rounds.connections_that_are_ended_at_random_lose_nothing, executable,
           TRIES)


def a_log_that_is_not_read_is_found(executable):
    caught("no-tail", rounds.nothing_is_lost_when_nats_swallows, executable)


def a_ledger_that_notes_nothing_is_found(executable):
    caught("blind-ledger", killed.sessions_of_the_only_server_on_sqlite_go_on_when_it_is_back,
           executable)


def a_session_that_does_not_know_what_it_sees_is_found(executable):
    caught("blind-sight", killed.who_sees_something_else_meanwhile_begins_anew, executable)


def a_keeper_that_is_told_nothing_is_found(executable):
    caught("blind-keeper", lost.sessions_outlive_the_machine_of_their_server, executable)


def a_dead_server_that_writes_is_found(executable):
    caught("no-fence", stopped.what_it_had_open_is_undone_when_it_is_taken_for_dead, executable, 3)


def a_server_that_trusts_its_memory_is_found(executable):
    caught("trusting", stopped.who_is_logged_out_is_a_stranger_at_a_server_that_hears_nothing,
           executable)


def a_session_that_two_servers_have_is_found(executable):
    caught("two-owners", stopped.sessions_that_others_took_up_are_theirs, executable, 3)


def a_look_that_does_not_know_what_it_saw_is_found(executable):
    caught("unknowing", looks.what_ready_shows_is_not_told_again, executable, 3)
    caught("unknowing", looks.servers_know_guilds_as_the_store_does, executable, 3)


if __name__ == "__main__":
    run_cases("cluster/faults", [
        a_ledger_that_notes_nothing_is_found,
    ] + ([
        a_session_that_does_not_know_what_it_sees_is_found,
        a_keeper_that_is_told_nothing_is_found,
        events_before_their_commit_are_found,
        a_log_that_is_not_read_is_found,
        a_dead_server_that_writes_is_found,
        a_server_that_trusts_its_memory_is_found,
        a_session_that_two_servers_have_is_found,
        a_look_that_does_not_know_what_it_saw_is_found,
    ] if LONG else []))

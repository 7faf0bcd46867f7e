#!/usr/bin/env python3
"""planted_faults - tests that the checks of the other cluster tests detect deliberate faults. Each case enables
one fault in the servers (src/base/test_faults.h) and runs a test that must then fail. The wrong rule for
gaps of the log is tested in tests/unit/cluster/log_gaps.c, where it is detected immediately."""

import os

import killed_nodes
import resuming_client
import session_starts
import events_by_interest
import lost_machines
import cluster_nodes
import guarantees
import paused_nodes
from cases import expect, run_cases
from server_restart import LONG

TRIES = 5  # attempts per fault, because some faults have an effect only sometimes


def expect_detected(fault, test, executable, tries=1):
    """Enables a fault in the servers and expects that the test fails in one of the tries."""
    os.environ["GUILDHALL_TEST_FAULT"] = fault
    for module in (events_by_interest, cluster_nodes, resuming_client, guarantees, killed_nodes, session_starts,
                   lost_machines, paused_nodes):
        module.PATIENCE = 8  # the test waits for something that never happens
    try:
        for _ in range(tries):
            try:
                test(executable)
            except cluster_nodes.Failed as error:
                print(f"found: {error}")
                return
    finally:
        del os.environ["GUILDHALL_TEST_FAULT"]
    expect(False, f"{fault} was not detected")


def events_published_before_their_commit_are_detected(executable):
    expect_detected("early-events", guarantees.randomly_terminated_database_connections_lose_no_events, executable,
                    TRIES)


def unread_event_log_is_detected(executable):
    expect_detected("no-tail", guarantees.dropped_nats_messages_lose_no_events, executable)


def empty_session_journal_is_detected(executable):
    expect_detected("blind-ledger", killed_nodes.sessions_of_a_single_sqlite_node_resume_after_its_restart,
                    executable)


def session_with_unknown_visibility_is_detected(executable):
    expect_detected("blind-sight", killed_nodes.session_identifies_again_if_its_permissions_changed_meanwhile,
                    executable)


def replica_without_updates_is_detected(executable):
    expect_detected("blind-keeper", lost_machines.sessions_resume_after_the_machine_of_their_node_is_lost, executable)


def write_of_a_dead_node_is_detected(executable):
    expect_detected("no-fence", paused_nodes.open_transactions_of_a_dead_node_are_rolled_back, executable, 3)


def use_of_stale_caches_is_detected(executable):
    expect_detected("trusting", paused_nodes.revoked_token_is_refused_by_a_node_without_its_database,
                    executable)


def session_owned_by_two_nodes_is_detected(executable):
    expect_detected("two-owners", paused_nodes.sessions_resumed_by_other_nodes_belong_to_them, executable, 3)


def read_with_unknown_snapshot_is_detected(executable):
    expect_detected("unknowing", session_starts.events_included_in_ready_are_not_delivered_again, executable, 3)
    expect_detected("unknowing", session_starts.guild_views_of_nodes_match_the_store, executable, 3)


def skipped_log_entries_are_detected(executable):
    expect_detected("unread-entries", events_by_interest.slow_session_start_misses_no_event, executable, 3)
    expect_detected("unread-entries", events_by_interest.slow_session_start_on_a_polling_node_misses_no_event,
                    executable, 3)


if __name__ == "__main__":
    run_cases("cluster/planted_faults", [
        empty_session_journal_is_detected,
        skipped_log_entries_are_detected,
    ] + ([
        session_with_unknown_visibility_is_detected,
        replica_without_updates_is_detected,
        events_published_before_their_commit_are_detected,
        unread_event_log_is_detected,
        write_of_a_dead_node_is_detected,
        use_of_stale_caches_is_detected,
        session_owned_by_two_nodes_is_detected,
        read_with_unknown_snapshot_is_detected,
    ] if LONG else []))

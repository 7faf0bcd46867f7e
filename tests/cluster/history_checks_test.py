#!/usr/bin/env python3
"""history_checks_test - tests that the checks of history_checks.py detect each fault in a recorded
history."""

import history_checks
from cases import expect, run_cases
from cluster_nodes import Failed


def made_by(node, count):
    return str(count << 22 | node << 12)


GOOD = [(made_by(1, 5), "a-0"), (made_by(2, 4), "b-0"), (made_by(1, 6), "a-1"), (made_by(2, 9), "b-1"),
        (made_by(2, 8), "a-2")]


def refused(check, *words):
    try:
        check(*words)
    except Failed as error:
        print(f"found: {error}")
        return True
    return False


def duplicate_or_falling_ids_are_detected(_):
    late = GOOD + [(made_by(2, 7), "b-2")]
    texts = [content for _, content in late]
    history_checks.check_ids(GOOD, texts)
    history_checks.check_ids([], texts)
    history_checks.check_ids(late, texts[:-1])  # its creation was not acknowledged
    expect(refused(history_checks.check_ids, GOOD + [(made_by(1, 5), "c-0")], texts), "twice")
    expect(refused(history_checks.check_ids, late, texts), "smaller")


def exceeded_rate_limit_is_detected(_):
    calls = [(n, n + 0.5, n < 5) for n in range(12)] + [(60.2 + n, 60.6 + n, n < 5) for n in range(9)]
    history_checks.check_limit(calls, 5, 60)
    history_checks.check_limit([], 5, 60)
    expect(refused(history_checks.check_limit, calls + [(20, 21, True)], 5, 60),
           "one request too many in the first window was accepted")
    more = [(100 + n / 10, 100.05 + n / 10, True) for n in range(11)]
    expect(refused(history_checks.check_limit, calls + more, 5, 60), "twice as many requests later were accepted")


def closed_socket_with_client_fault_code_is_detected(_):
    history_checks.check_reasons([None, 1000, 1006, 4000])
    expect(refused(history_checks.check_reasons, [None, 4004]), "a close code for a valid token was accepted")
    expect(refused(history_checks.check_reasons, [4008]), "too often")


def late_or_failed_resumes_are_detected(_):
    history_checks.check_resume_times([0.1] * 99 + [6], 100, 1)
    expect(refused(history_checks.check_resume_times, [0.1] * 98 + [6, 7], 100, 0), "late")
    expect(refused(history_checks.check_resume_times, [0.1], 98, 1), "identified again")


if __name__ == "__main__":
    run_cases("cluster/histories", [
        duplicate_or_falling_ids_are_detected,
        exceeded_rate_limit_is_detected,
        closed_socket_with_client_fault_code_is_detected,
        late_or_failed_resumes_are_detected,
    ])

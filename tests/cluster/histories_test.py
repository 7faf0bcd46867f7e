#!/usr/bin/env python3
"""histories_test - the checker of histories finds each fault that is put into a good one."""

import histories
from cases import expect, run_cases
from ring import Failed


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


def ids_that_come_twice_or_fall_are_found(_):
    late = GOOD + [(made_by(2, 7), "b-2")]
    texts = [content for _, content in late]
    histories.check_ids(GOOD, texts)
    histories.check_ids([], texts)
    histories.check_ids(late, texts[:-1])  # nobody was told when it was made
    expect(refused(histories.check_ids, GOOD + [(made_by(1, 5), "c-0")], texts), "twice")
    expect(refused(histories.check_ids, late, texts), "smaller")


def a_limit_that_is_exceeded_is_found(_):
    calls = [(n, n + 0.5, n < 5) for n in range(12)] + [(60.2 + n, 60.6 + n, n < 5) for n in range(9)]
    histories.check_limit(calls, 5, 60)
    histories.check_limit([], 5, 60)
    expect(refused(histories.check_limit, calls + [(20, 21, True)], 5, 60), "one more in the first")
    more = [(100 + n / 10, 100.05 + n / 10, True) for n in range(11)]
    expect(refused(histories.check_limit, calls + more, 5, 60), "twice as many later")


def who_is_sent_away_is_found(_):
    histories.check_reasons([None, 1000, 1006, 4000])
    expect(refused(histories.check_reasons, [None, 4004]), "a token that was good")
    expect(refused(histories.check_reasons, [4008]), "too often")


def who_comes_back_late_or_anew_is_found(_):
    histories.check_ways([0.1] * 99 + [6], 100, 1)
    expect(refused(histories.check_ways, [0.1] * 98 + [6, 7], 100, 0), "late")
    expect(refused(histories.check_ways, [0.1], 98, 1), "anew")


if __name__ == "__main__":
    run_cases("cluster/histories", [
        ids_that_come_twice_or_fall_are_found,
        a_limit_that_is_exceeded_is_found,
        who_is_sent_away_is_found,
        who_comes_back_late_or_anew_is_found,
    ])

"""Checks of recorded requests and events: ids, rate limits, resume times, close codes."""

from cluster_nodes import expect

# Close codes that mean a fault of the client: its message, its token, its sequence number, its
# rate.
CLIENT_FAULT_CODES = {4001, 4002, 4003, 4004, 4005, 4007, 4008, 4010, 4011, 4012, 4013, 4014}
SOON_SECONDS = 5  # seconds in which nearly all sessions are resumed


def node_of(number):
    """Returns the node that generated the id."""
    return int(number) >> 12 & 1023


def check_ids(messages, acknowledged):
    """Checks messages (id, content) in log order, where a content is `writer-count`: no id occurs twice,
    and the ids of one writer's acknowledged messages on one node rise."""
    ids = [int(number) for number, _ in messages]
    expect(len(ids) == len(set(ids)), "an id was generated twice")
    last, acknowledged = {}, set(acknowledged)
    for number, content in messages:
        if content not in acknowledged:
            continue
        key = (content.rpartition("-")[0], node_of(number))
        expect(last.get(key, 0) < int(number), f"node {key[1]} gave a smaller id later: {content}")
        last[key] = int(number)


def check_limit(calls, most, window):
    """Checks requests (start, end, allowed) of one caller, in seconds: requests surely within one window do
    not exceed the limit."""
    passed = sorted((started, ended) for started, ended, allowed in calls if allowed)
    for at, (started, _) in enumerate(passed):
        inside = sum(ended < started + window for _, ended in passed[at:])
        # Windows are adjacent, so any interval of that length overlaps at most two.
        expect(inside <= 2 * most, f"{inside} calls in {window} s, where {most} are allowed")
    first = passed[0][0] if passed else 0
    inside = sum(ended < first + window for _, ended in passed)
    expect(inside <= most, f"{inside} calls in the first window, where {most} are allowed")


def check_reasons(reasons):
    """Checks that no close code blames the client; None means no code."""
    strange = sorted(set(reasons) & CLIENT_FAULT_CODES)
    expect(not strange, f"sockets were closed with unexpected codes {strange}")


def check_resume_times(times, resumed, identified_again):
    """Checks that at least 99 % of the lost sessions are resumed soon and at most 1 % must identify
    again."""
    late = sum(seconds > SOON_SECONDS for seconds in times)
    expect(identified_again * 100 <= resumed + identified_again,
           f"{identified_again} sessions had to identify again, {resumed} resumed")
    expect(late * 100 <= len(times), f"{late} of {len(times)} took longer than {SOON_SECONDS} s")

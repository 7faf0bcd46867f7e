"""What a history of calls and events shows beside its order: ids, limits, ways back, reasons."""

from ring import expect

# Codes that blame the client: for what it sent, its token, a number it never had, its haste.
BLAMES = {4001, 4002, 4003, 4004, 4005, 4007, 4008, 4010, 4011, 4012, 4013, 4014}
SOON = 5  # seconds in which nearly all are back


def node_of(number):
    """Of the server that made the id."""
    return int(number) >> 12 & 1023


def check_ids(messages, acknowledged):
    """(id, content) in the order of the log, where contents are `writer-count`: no id twice, and those of
    acknowledged ones, that one server made for one writer, rise."""
    ids = [int(number) for number, _ in messages]
    expect(len(ids) == len(set(ids)), "an id was given twice")
    last, acknowledged = {}, set(acknowledged)
    for number, content in messages:
        if content not in acknowledged:
            continue
        of = (content.rpartition("-")[0], node_of(number))
        expect(last.get(of, 0) < int(number), f"node {of[1]} gave a smaller id later: {content}")
        last[of] = int(number)


def check_limit(calls, most, window):
    """(begun, ended, let through) of each call of one caller, in seconds: what surely lies in one window, from
    the first of its calls on, is no more than the limit."""
    passed = sorted((begun, ended) for begun, ended, through in calls if through)
    for at, (begun, _) in enumerate(passed):
        inside = sum(ended < begun + window for _, ended in passed[at:])
        # Windows follow each other, so any stretch of that length touches two.
        expect(inside <= 2 * most, f"{inside} calls in {window} s, where {most} are allowed")
    first = passed[0][0] if passed else 0
    inside = sum(ended < first + window for _, ended in passed)
    expect(inside <= most, f"{inside} calls in the first window, where {most} are allowed")


def check_reasons(reasons):
    """Codes with which sockets were closed, or None: nobody who did nothing wrong was blamed."""
    strange = sorted(set(reasons) & BLAMES)
    expect(not strange, f"sockets were closed with {strange}")


def check_ways(ways, resumed, anew):
    """Of a hundred sessions whose server was lost 99 are back soon, and one begins anew at most."""
    late = sum(way > SOON for way in ways)
    expect(anew * 100 <= resumed + anew, f"{anew} began anew, {resumed} resumed")
    expect(late * 100 <= len(ways), f"{late} of {len(ways)} took longer than {SOON} s")

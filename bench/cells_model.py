#!/usr/bin/env python3
"""cells_model - simulates how sessions and guilds spread over nodes and cells, for docs/SCALE.md. A
sample of sessions joins guilds whose sizes follow Zipf's law. Usage: cells_model.py [SESSIONS]"""

import bisect
import itertools
import random
import sys

GUILDS_PER_SESSION = 15
EVENTS = 4000


def make_world(sessions, rng):
    """Returns the guilds of each session and the sessions of each guild."""
    guild_count = sessions * GUILDS_PER_SESSION // 60
    weights = list(itertools.accumulate(1 / (rank + 10) ** 0.8 for rank in range(guild_count)))
    guilds_of = []
    members = [[] for _ in range(guild_count)]
    for session in range(sessions):
        mine = {bisect.bisect(weights, rng.random() * weights[-1])
                for _ in range(GUILDS_PER_SESSION)}
        guilds_of.append(mine)
        for guild in mine:
            members[guild].append(session)
    return guilds_of, members


def nodes_per_event(guilds_of, members, nodes, rng):
    """Returns on how many nodes an event of an average message has a receiver, if sessions are on
    random nodes. Messages are as frequent as members are numerous."""
    node_of = [rng.randrange(nodes) for _ in guilds_of]
    total = 0
    for _ in range(EVENTS):
        guild = rng.choice(sorted(guilds_of[rng.randrange(len(guilds_of))]))
        total += len({node_of[session] for session in members[guild]})
    return total / EVENTS


def cells_per_session(guilds_of, cells, rng):
    sample = rng.sample(guilds_of, 1000)
    return sum(len({guild % cells for guild in guilds}) for guilds in sample) / len(sample)


def main():
    sessions = int(sys.argv[1]) if len(sys.argv) > 1 else 20000
    rng = random.Random(1)
    guilds_of, members = make_world(sessions, rng)
    sizes = sorted((len(m) for m in members if m), reverse=True)
    print(f"{sessions} sessions, {len(sizes)} guilds, median {sizes[len(sizes) // 2]}, largest "
          f"{sizes[0]} sessions")
    for nodes in (3, 10, 30, 100):
        print(f"{nodes:3} nodes: an event has receivers on "
              f"{nodes_per_event(guilds_of, members, nodes, rng):.1f} of them")
    for cells in (2, 4, 16, 64):
        print(f"{cells:3} cells: a session has guilds in "
              f"{cells_per_session(guilds_of, cells, rng):.1f} of them")


if __name__ == "__main__":
    main()

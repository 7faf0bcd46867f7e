"""Shared parts of the random tests: a server, a seeded random generator, and a time limit.

    STORM_SECONDS   duration of each test (6)
    STORM_SEED      seed of the random generator; a failure prints it (default: random)
"""

import contextlib
import os
import random
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import expect, run_cases  # noqa: E402,F401
from process import Failed, Process, serve_command  # noqa: E402

SECONDS = float(os.environ.get("STORM_SECONDS", "6"))
SEED = int(os.environ.get("STORM_SEED", "0")) or random.randrange(1, 1 << 31)

# Freed memory is overwritten, so that reads of it give garbage; sanitizers detect them anyway.
PERTURBED = {"MALLOC_PERTURB_": "255"}


def random_for(name):
    """Returns a random generator that depends on the seed and the name."""
    return random.Random(f"{SEED} {name}")


@contextlib.contextmanager
def server_for_storm(executable, *flags):
    """Runs a server that must be alive and stop normally when the test is over."""
    with tempfile.TemporaryDirectory() as folder:
        command = serve_command(executable, os.path.join(folder, "data"), *flags)
        server = Process(command, env=PERTURBED)
        try:
            yield server
            expect(server.alive(), f"the server ended: {server.read_stderr()}")
            status = server.stop()
            expect(status == 0, f"the server ended with {status}: {server.read_stderr()}")
        except BaseException as e:
            if server.alive():
                server.kill()
            raise Failed(f"{e}\n(STORM_SEED={SEED})\n{server.read_stderr()}") from e


def until_time_is_over(least=1):
    """Yields numbers until the time is over, and at least `least` of them on a busy machine."""
    end = time.monotonic() + SECONDS
    n = 0
    while time.monotonic() < end or n < least:
        yield n
        n += 1

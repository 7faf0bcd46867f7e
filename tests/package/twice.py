#!/usr/bin/env python3
"""twice - tests that a second build of the installed program in another folder has the same bytes. Takes as
long as a build, so it runs only with `scripts/test twice`."""

import os
import subprocess
import sys
import tempfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "crash"))

from cases import expect, run_cases  # noqa: E402

PATIENCE = 3600


def done(folder, *words, **env):
    result = subprocess.run(words, cwd=folder, capture_output=True, timeout=PATIENCE, check=False,
                            env={**os.environ, **env})
    expect(result.returncode == 0, f"{words}: {result.stdout[-3000:]}{result.stderr[-3000:]}")
    return result.stdout


def program_of(folder, **env):
    """Builds the program like the package."""
    done(folder, "scripts/build", "release", **env)
    stripped = os.path.join(folder, "build", "stripped")
    done(folder, "strip", "-o", stripped, "build/release/src/guildhall")
    with open(stripped, "rb") as file:
        return file.read()


def build_in_another_folder_gives_the_same_bytes(_):
    first = program_of(ROOT)
    names = done(ROOT, "git", "-c", f"safe.directory={ROOT}", "ls-files", "-z")
    with tempfile.TemporaryDirectory(prefix="elsewhere-") as folder:
        subprocess.run(["xargs", "-0", "cp", "--parents", "-t", folder], input=names, cwd=ROOT, check=True)
        # The copy has no repository, from which the version follows.
        with open(os.path.join(folder, ".source-version"), "wb") as file:
            file.write(done(ROOT, "scripts/version", "file"))
        # Compiled without a cache, in another time zone and locale.
        second = program_of(folder, CCACHE_DISABLE="1", TZ="Asia/Tokyo", LC_ALL="C")
    expect(len(first) == len(second), f"{len(first)} bytes, and {len(second)}")
    differ = sum(a != b for a, b in zip(first, second))
    expect(first == second, f"{differ} of {len(first)} bytes differ")


sys.argv[1:] = sys.argv[1:] or [ROOT]
run_cases("twice", [build_in_another_folder_gives_the_same_bytes])

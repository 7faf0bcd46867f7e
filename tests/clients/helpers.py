#!/usr/bin/env python3
"""helpers - the test helpers for node and Python, used as people use them."""

import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGING = os.path.join(HERE, "..", "..", "packaging")
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402
from clients import node_command, python_command  # noqa: E402


def run_tests(executable, command, cwd, **env):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=400,
                          check=False, env={**os.environ, "GUILDHALL_BINARY": executable, **env})
    expect(done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:])
    return done.stdout


def the_helper_of_node_tests_a_bot(executable):
    _, folder = node_command()
    tests = os.path.join(PACKAGING, "npm", "test")
    said = run_tests(executable, ["node", "--test", os.path.join(tests, "bot.test.js")], folder)
    counts = dict(re.findall(r"^(?:#|ℹ) (pass|fail|skipped) (\d+)", said, re.M))
    expect(int(counts["pass"]) >= 6 and counts["fail"] == counts["skipped"] == "0", said)


def the_helper_of_python_tests_a_bot(executable):
    command, _ = python_command()
    python = command[0]
    if subprocess.run([python, "-c", "import pytest"], capture_output=True, check=False).returncode:
        raise Skip("there is no pytest (Debian's python3-pytest)")
    folder = os.path.join(PACKAGING, "python")
    said = run_tests(executable, [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
                     folder, PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1")
    expect(re.search(r"\b5 passed", said) and "skipped" not in said, said)


if __name__ == "__main__":
    run_cases("helpers", [
        the_helper_of_node_tests_a_bot,
        the_helper_of_python_tests_a_bot,
    ])

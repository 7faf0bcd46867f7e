"""Runs the cases of one crash test and prints the results like the unit tests."""

import os
import sys
import time
import traceback

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "bench"))

from process import Failed  # noqa: E402

MESON_SKIP = 77


class Skip(Exception):
    """The machine lacks something that the case needs; the text says what."""


def expect(true, words):
    if not true:
        raise Failed(words)


def run_case(case, executable):
    name = case.__name__
    print(f"[ RUN      ] {name}", flush=True)
    began = time.monotonic()
    try:
        case(executable)
    except Skip as e:
        print(f"!!! SKIP: {name} was not tested on this machine: {e}")
        print(f"[  SKIPPED ] {name}", flush=True)
        return "skipped"
    except Exception as e:  # pylint: disable=broad-except
        print(e if isinstance(e, Failed) else traceback.format_exc())
        print(f"[  FAILED  ] {name}", flush=True)
        return "failed"
    print(f"[       OK ] {name} ({(time.monotonic() - began) * 1000:.0f} ms)", flush=True)
    return "passed"


def run_cases(group, cases):
    """The main function. Its arguments are the server's executable, and words: then it runs the cases with
    one of them in their names."""
    if len(sys.argv) < 2 or not os.access(sys.argv[1], os.X_OK):
        sys.exit(f"usage: {sys.argv[0]} GUILDHALL [WORD...]")
    executable = os.path.abspath(sys.argv[1])
    cases = [c for c in cases if not sys.argv[2:] or any(word in c.__name__ for word in sys.argv[2:])]
    print(f"[==========] {group}: Running {len(cases)} test(s).", flush=True)
    results = [run_case(case, executable) for case in cases]
    print(f"[==========] {group}: {len(cases)} test(s) run.")
    print(f"[  PASSED  ] {results.count('passed')} test(s).")
    for result, label in (("skipped", "SKIPPED "), ("failed", "FAILED  ")):
        names = [case.__name__ for case, r in zip(cases, results) if r == result]
        if names:
            print(f"[  {label}] {len(names)} test(s), listed below:")
        for name in names:
            print(f"[  {label}] {name}")
    if "failed" in results:
        sys.exit(1)
    sys.exit(MESON_SKIP if set(results) == {"skipped"} else 0)

"""Finds and runs the program `guildhall`. Nothing is downloaded."""

from __future__ import annotations

import os
import platform
import sys
from typing import Optional

INSTALLED = os.path.join(os.path.dirname(os.path.abspath(__file__)), "bin", "guildhall")


def _in_path(own: Optional[str]) -> Optional[str]:
    for folder in os.environ.get("PATH", "").split(os.pathsep):
        file = os.path.join(folder, "guildhall")
        if os.access(file, os.X_OK) and os.path.realpath(file) != own:
            return file
    return None


def find_program(own: Optional[str] = None) -> str:
    """Returns the path of the program; `own` is a launcher, which does not count.

    GUILDHALL_BINARY comes first, then the program in this package, then the path.
    """
    installed = INSTALLED if os.path.exists(INSTALLED) else None
    found = os.environ.get("GUILDHALL_BINARY") or installed or _in_path(own)
    if found:
        return found
    if sys.platform == "linux":
        raise FileNotFoundError(
            f"This package contains no program for {platform.machine()}: install the wheel for this "
            "machine, or set GUILDHALL_BINARY to the path of the program.")
    raise FileNotFoundError(
        f"Guildhall has no program for {sys.platform}: run the tests in a Linux container or in WSL "
        "(docs/macos-and-windows.md).")


def main() -> None:
    """Runs the program with the arguments of this process."""
    try:
        program = find_program(os.path.realpath(sys.argv[0]))
        os.execv(program, [program, *sys.argv[1:]])
    except OSError as error:
        sys.exit(f"guildhall: {error}")

#!/usr/bin/env python3
"""dave - sessions of @snazzah/davey against the server's side of DAVE.

    dave.py GUILDHALL DAVE_ROOM
"""

import os
import subprocess
import sys

from clients import expect, node_command, run_cases


DAVE_ROOM = os.path.abspath(sys.argv.pop())


def members_share_a_group(_executable):
    command, folder = node_command("dave.mjs")
    done = subprocess.run([*command, DAVE_ROOM], cwd=folder, timeout=120, check=False)
    expect(done.returncode == 0, "dave.mjs fails")


if __name__ == "__main__":
    run_cases("clients/dave", [members_share_a_group])

#!/usr/bin/env python3
"""deb - the package: nothing to complain of, the same bytes each time, and it serves."""

import glob
import gzip
import os
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "crash"))

from cases import expect, run_cases  # noqa: E402
from process import Client, start_guildhall  # noqa: E402

PATIENCE = 600


def done(*words):
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE,
                            check=False)
    expect(result.returncode == 0, f"{words}: {result.stdout}{result.stderr}")
    return result.stdout


def made(kind):
    """The file that scripts/package makes, and its bytes."""
    path = os.path.join(ROOT, done("scripts/package", kind).split()[-1])
    with open(path, "rb") as file:
        return path, file.read()


def the_same_commit_gives_the_same_bytes(_):
    for kind in ("deb", "source"):
        expect(made(kind)[1] == made(kind)[1], f"two builds of {kind} differ")


def there_is_nothing_to_complain_of(_):
    path, _ = made("deb")
    # Run by root it says so, on the standard error.
    said = done("lintian", "--fail-on", "error,warning,info", "--display-info", path)
    expect(said.strip() == "", said)


def what_is_installed_serves(_):
    path, _ = made("deb")
    with tempfile.TemporaryDirectory() as folder:
        done("dpkg-deb", "-x", path, folder)
        program = os.path.join(folder, "usr/bin/guildhall")
        with open(program, "rb") as file:  # built elsewhere it is the same
            expect(os.path.realpath(ROOT).encode() not in file.read(), "the folder is in it")
        for page in ("man1/guildhall.1.gz", "man5/guildhall.conf.5.gz"):
            with gzip.open(os.path.join(folder, "usr/share/man", page), "rt") as file:
                expect(file.read().startswith(".TH "), page)
        for name in ("grafana/guildhall.json", "fail2ban/guildhall.conf",
                     "fail2ban/guildhall-limits.conf"):
            expect(os.path.exists(os.path.join(folder, "usr/share/guildhall", name)), name)
        unit = open(os.path.join(folder, "lib/systemd/system/guildhall.service"),
                    encoding="utf-8").read()
        expect("ExecStart=/usr/bin/guildhall serve" in unit and "DynamicUser" not in unit, unit)
        expect(len(glob.glob(os.path.join(folder, "usr/lib/sysusers.d/*"))) == 1, "no sysusers")
        data = os.path.join(folder, "data")
        os.mkdir(data)
        server = start_guildhall(program, data, "--config",
                                 os.path.join(folder, "etc/guildhall/guildhall.conf"))
        try:
            token = done(program, "user", "add", "ada", "--data", data).split()[-1]
            status, me = Client(server.port, token).call("GET", "/users/@me")
            expect(status == 200 and me["username"] == "ada", (status, me))
        finally:
            server.stop()


run_cases("deb", [
    the_same_commit_gives_the_same_bytes,
    there_is_nothing_to_complain_of,
    what_is_installed_serves,
])

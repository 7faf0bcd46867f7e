#!/usr/bin/env python3
"""pages - every command that the pages print is run, here or by another test, or is not for a reason."""

import glob
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))
sys.path.insert(0, HERE)

from backup import World  # noqa: E402
from cases import expect, run_cases  # noqa: E402
from orders import new_database  # noqa: E402
from process import Process, start_guildhall  # noqa: E402

# Blocks by their page and how they begin. Elsewhere: by which test, which names the page.
ELSEWHERE = {
    ("README.md", "build/guildhall invoke"): "tests/tools/workbench.py",
    ("README.md", "guildhall user add ada"): "tests/tools/orders.py",
    ("README.md", "guildhall backup guildhall.backup"): "tests/tools/backup.py",
    ("CONTRIBUTING.md", "scripts/build debug"): "scripts/test",
    ("docs/CLUSTER.md", "guildhall move"): "tests/tools/move.py",
    ("docs/HOSTING.md", ""): "tests/tools/hosting.py",
    ("docs/testing-your-bot.md", "set -eu"): "tests/clients/interactions.py",
    ("docs/testing-your-bot.md", "guildhall watch"): "tests/tools/workbench.py",
    ("docs/testing-your-bot.md", "guildhall say"): "tests/tools/workbench.py",
    ("docs/testing-your-bot.md", "guildhall clock"): "tests/tools/workbench.py",
    ("docs/testing-your-bot.md", "guildhall snapshot"): "tests/tools/workbench.py",
}
NOT_RUN = {
    ("README.md", "make run"): "they build the program and run all tests, this one among them",
    ("README.md", "make dist"): "it installs; tests/package does so in a folder of its own",
    ("README.md", "guildhall serve --data data --store"): "a host that is not; the rings run on PostgreSQL",
    ("CONTRIBUTING.md", "make dev"): "they build the program and run all tests, this one among them",
    ("docs/CLUSTER.md", "guildhall serve"): "three machines; tests/cluster starts the same on one",
    ("docs/console.md", "build/debug/src/guildhall demo"): "the step `browser` of scripts/test runs them",
    ("docs/testing-your-bot.md", "guildhall invoke"): "a first look at what test.sh further down asks",
}
BLOCK = re.compile(r"^ *```sh[^\n]*\n(.*?)^ *```$", re.M | re.S)
CURL = """#!/bin/sh
# Says which status came, besides what curl does.
exec {curl} -s -o {folder}/body -w '%{{http_code}}\\n' "$@" >>{folder}/statuses
"""


def blocks():
    """(page, text) of all shell blocks."""
    names = ["README.md", "CONTRIBUTING.md", "SECURITY.md", *sorted(glob.glob("docs/*.md", root_dir=ROOT))]
    for name in names:
        with open(os.path.join(ROOT, name), encoding="utf-8") as f:
            for text in BLOCK.findall(f.read()):
                yield name, re.sub(r"^ +(?=\w)", "", text, flags=re.M) if text[0] == " " else text


def block_of(page, begin):
    found = [text for name, text in blocks() if name == page and text.startswith(begin)]
    expect(len(found) == 1, f"{page} has {len(found)} blocks that begin with {begin!r}")
    return found[0]


class Folder:
    """Where a reader would be: the program in the path, files beside."""

    def __init__(self, executable):
        self.temporary = tempfile.TemporaryDirectory()
        self.path = self.temporary.name
        os.makedirs(os.path.join(self.path, "bin"))
        os.symlink(executable, os.path.join(self.path, "bin/guildhall"))
        self.env = {**os.environ, "PATH": os.path.join(self.path, "bin") + ":" + os.environ["PATH"]}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.temporary.cleanup()

    def write(self, name, text):
        path = os.path.join(self.path, name)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w" if isinstance(text, str) else "wb") as f:
            f.write(text)
        return path

    def watch_curl(self):
        curl = subprocess.run(["sh", "-c", "command -v curl"], capture_output=True, text=True,
                              check=True).stdout.strip()
        os.chmod(self.write("bin/curl", CURL.format(curl=curl, folder=self.path)), 0o755)

    def statuses(self):
        """Of the calls since the last time."""
        path = os.path.join(self.path, "statuses")
        with open(path, encoding="ascii") as f:
            all_of_them = f.read().split()
        os.unlink(path)
        return all_of_them

    def body(self):
        with open(os.path.join(self.path, "body"), encoding="utf-8") as f:
            return json.load(f)

    def run(self, text, **more):
        done = subprocess.run(["sh", "-euc", text], cwd=self.path, env={**self.env, **more},
                              capture_output=True, text=True, timeout=120, check=False)
        expect(done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}")
        return done.stdout


def begins(key, page, text):
    return key[0] == page and text.startswith(key[1])


def every_block_has_a_test_or_a_reason(_executable):
    unknown, used = [], set()
    for page, text in blocks():
        keys = [k for k in [*ELSEWHERE, *NOT_RUN, *HERE_RUN] if begins(k, page, text)]
        used.update(keys)
        if len(keys) != 1:
            unknown.append(f"{page}: {text.splitlines()[0]}")
    expect(not unknown, "no test runs these, and no reason is given: " + "; ".join(unknown))
    for key in {*ELSEWHERE, *NOT_RUN, *HERE_RUN} - used:
        expect(False, f"{key[0]} has no block that begins with {key[1]!r} any more")
    for (page, _), test in ELSEWHERE.items():
        with open(os.path.join(ROOT, test), encoding="utf-8") as f:
            expect(os.path.basename(page) in f.read(), f"{test} does not read {page}")


def accounts_of_the_readme(executable):
    text = block_of("README.md", "api=")
    with tempfile.TemporaryDirectory() as data, Folder(executable) as folder:
        demo = Process([executable, "demo", "--data", data, "--listen", "127.0.0.1:0"])
        try:
            folder.watch_curl()
            here = text.replace("127.0.0.1:8080", f"127.0.0.1:{demo.port}")
            first, rest = here.split("token=...", 1)
            folder.run(first)
            token = folder.body()["token"]
            folder.run(f"api=http://127.0.0.1:{demo.port}/api/v10\ntoken='{token}'{rest}")
            expect(folder.statuses() == ["200", "200", "200", "201", "200", "400"], "statuses")
            expect(set(folder.body()["errors"]) == {"username", "password"}, str(folder.body()))
        finally:
            demo.stop()


def messages_of_the_readme(executable):
    text = block_of("README.md", "curl -s $api/channels")
    with tempfile.TemporaryDirectory() as data, Folder(executable) as folder:
        demo = Process([executable, "demo", "--data", data, "--listen", "127.0.0.1:0"])
        try:
            printed = demo.first
            while "helper='" not in printed:  # the words that the block uses are printed last
                printed += os.read(demo.child.stdout.fileno(), 4096).decode()
            ada = re.search(r"ada='([^']+)'", printed)[1]
            channel = re.search(r"channel=(\d+)", printed)[1]
            folder.watch_curl()
            folder.run(text, api=f"http://127.0.0.1:{demo.port}/api/v10", ada=ada, channel=channel)
            expect(folder.statuses() == ["200", "200"], "statuses")
            expect(folder.body()[0]["content"] == "!ping", str(folder.body()))
        finally:
            demo.stop()


def a_backup_of_the_readme_on_postgresql(executable):
    """Made of a server that runs, and brought back to where nothing of it is."""
    with Folder(executable) as folder:
        store, other = new_database(), new_database()
        server = start_guildhall(executable, os.path.join(folder.path, "data"), "--store", store)
        try:
            world = World(server.port)
            folder.run(block_of("README.md", "flock -s data/backup.lock"), GUILDHALL_STORE=store)
        finally:
            server.stop()
        shutil.rmtree(os.path.join(folder.path, "data"))
        folder.run(block_of("README.md", "pg_restore"), GUILDHALL_STORE=other)
        server = start_guildhall(executable, os.path.join(folder.path, "restored"), "--store", other)
        try:
            world.is_whole(server.port)
        finally:
            server.stop()


def world_files(executable):
    text = block_of("docs/world-files.md", "guildhall import")
    lines = [line.split("  #")[0] for line in text.splitlines()]
    with Folder(executable) as folder:
        folder.write("world.json", json.dumps({"users": [{"username": "ada"}]}))
        printed = folder.run("\n".join(lines[:3]))
        expect(re.search(r"^ada +\S{20,}$", printed, re.M), printed)
        with open(os.path.join(folder.path, "copy.json"), encoding="utf-8") as f:
            expect(json.load(f)["users"][0]["username"] == "ada", "the copy")
        expect(lines[3].strip() == "guildhall demo --data data", lines[3])
        demo = Process([executable, "demo", "--data", os.path.join(folder.path, "new"), "--listen",
                        "127.0.0.1:0"])
        demo.stop()


def large_random_worlds(executable):
    text = block_of("docs/world-files.md", "guildhall seed")
    with Folder(executable) as folder:
        folder.run(re.sub(r"\d+", lambda n: str(max(1, int(n[0]) // 1000)), text))


def gifs_of_the_page(executable):
    text = block_of("docs/gifs.md", "guildhall gifs import")
    with Folder(executable) as folder:
        gif = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
        folder.write("wave.gif", gif)
        folder.write("pictures/bow.gif", gif)
        folder.write("gifs.jsonl", json.dumps({"id": "wave-1", "title": "Wave", "media": {"gif": "wave.gif"}}))
        folder.write("gifs.csv", "id,title,media.gif\nbow-1,Bow,bow.gif\n")
        folder.run(text.replace("/srv/", folder.path + "/"))


def a_local_platform(executable):
    text = block_of("docs/integrations.md", "guildhall platform account")
    calls = block_of("docs/integrations.md", "K=")
    with Folder(executable) as folder:
        folder.write("lines.csv", "account,platform_a,eve,Eve\nsubscribe,platform_a,streamer,eve,30\n")
        world = {"users": [{"username": "ada"}], "guilds": [{"id": "400000000000000001", "name": "Guild", "owner": "ada"}]}
        folder.write("world.json", json.dumps(world))
        folder.run("guildhall import world.json --data data")
        folder.run(text.replace("GUILD_ID", "400000000000000001"))
        key = {"GUILDHALL_PLATFORM_A_KEY": "a-key-of-sixteen-or-more"}
        os.environ.update(key)
        try:
            server = start_guildhall(executable, os.path.join(folder.path, "data"))
        finally:
            os.environ.pop("GUILDHALL_PLATFORM_A_KEY")
        try:
            folder.watch_curl()
            folder.run(calls.replace("127.0.0.1:8080", f"127.0.0.1:{server.port}"), **key)
            codes = folder.statuses()
            expect(len(codes) == 4 and all(c[0] == "2" for c in codes), str(codes))
        finally:
            server.stop()


HERE_RUN = {
    ("README.md", "api="): accounts_of_the_readme,
    ("README.md", "curl -s $api/channels"): messages_of_the_readme,
    ("README.md", "flock -s data/backup.lock"): a_backup_of_the_readme_on_postgresql,
    ("README.md", "pg_restore"): a_backup_of_the_readme_on_postgresql,
    ("docs/world-files.md", "guildhall import"): world_files,
    ("docs/world-files.md", "guildhall seed"): large_random_worlds,
    ("docs/gifs.md", "guildhall gifs import"): gifs_of_the_page,
    ("docs/integrations.md", "guildhall platform account"): a_local_platform,
    ("docs/integrations.md", "K="): a_local_platform,
}

run_cases("pages", [every_block_has_a_test_or_a_reason, *dict.fromkeys(HERE_RUN.values())])

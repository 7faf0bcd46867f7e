#!/usr/bin/env python3
"""world_files - tests the commands import, export, seed and demo."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402
from demo_data import put_demo  # noqa: E402
from prepared_data import prepare_data_for, start_guildhall  # noqa: E402
from process import Client, Process  # noqa: E402

WORLD = {"users": [{"username": "ada"}],
         "applications": [{"name": "Helper", "owner": "ada", "bot": "helper"}],
         "guilds": [{"name": "Here", "owner": "ada", "channels": [{"name": "talk"}]}]}


def run(executable, *args, stdin=None):
    prepare_data_for(executable, args)
    return subprocess.run([executable, *args], input=stdin, capture_output=True, text=True,
                          timeout=60, check=False)


def put(folder, name, value):
    path = os.path.join(folder, name)
    with open(path, "w", encoding="utf-8") as f:
        json.dump(value, f)
    return path


def import_prints_tokens_that_work(executable):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        done = run(executable, "import", "--tokens", put(folder, "w.json", WORLD), "--data", data)
        expect(done.returncode == 0, done.stderr)
        expect("users          2 made, 0 known\n" in done.stdout, done.stdout)
        tokens = dict(re.findall(r"^(ada|helper) +(.*)$", done.stdout, re.M))
        server = start_guildhall(executable, data)
        try:
            for name, token in tokens.items():
                status, me = Client(server.port, token).call("GET", "/users/@me")
                expect(status == 200 and me["username"] == name, f"{name}: {status} {me}")
        finally:
            server.kill()
        expect(set(tokens) == {"ada", "helper"}, str(tokens))
        expect(tokens["helper"].startswith("Bot "), "the bot's token has no prefix")


def import_reads_standard_input_and_reports_errors(executable):
    with tempfile.TemporaryDirectory() as folder:
        world = {"guilds": [{"name": "Here", "owner": "nobody"}]}
        done = run(executable, "import", "-", "--data", folder, stdin=json.dumps(world))
        expect(done.returncode == 1 and done.stdout == "", done.stdout)
        expect(done.stderr == "guilds.0.owner: there is no user 'nobody'\n"
                              "guildhall: nothing was imported\n", done.stderr)
        done = run(executable, "import", os.path.join(folder, "none.json"), "--data", folder)
        expect(done.returncode == 1 and "cannot read" in done.stderr, done.stderr)


PIXEL = ("data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk"
         "+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")


def files_of(folder):
    return sorted(os.path.join(top, name) for top, _, names in os.walk(folder) for name in names)


def import_is_rolled_back_if_an_image_cannot_be_stored(executable):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        blobs = os.path.join(data, "blobs")
        world = put(folder, "w.json", {**WORLD, "guilds": [{
            "name": "Here", "owner": "ada",
            "emojis": [{"name": "dot", "image": PIXEL}],
            "stickers": [{"name": "spot", "tags": "dot", "image": PIXEL}]}]})
        run(executable, "user", "add", "zoe", "--data", data)
        before = run(executable, "export", "--data", data).stdout
        for area in ("emojis", "stickers"):  # a file is where a folder should be created
            with open(os.path.join(blobs, area), "w", encoding="ascii"):
                pass
            done = run(executable, "import", world, "--data", data)
            expect(done.returncode == 1 and "nothing was imported" in done.stderr, done.stderr)
            expect(run(executable, "export", "--data", data).stdout == before, "rows stayed")
            os.unlink(os.path.join(blobs, area))
            stored_files = [f for f in files_of(blobs) if "/.new/" not in f]
            expect(not stored_files, str(stored_files))
        done = run(executable, "import", world, "--data", data)
        expect(done.returncode == 0, done.stderr)
        stored_files = files_of(blobs)
        expect(len([f for f in stored_files if "/emojis/" in f or "/stickers/" in f]) == 2, str(stored_files))


def documented_sample_world_file_imports(executable):
    manual = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../docs/world-files.md")
    with open(manual, encoding="utf-8") as f:
        sample = re.search(r"```json\n(.*?)```", f.read(), re.S).group(1)
    with tempfile.TemporaryDirectory() as folder:
        done = run(executable, "import", "-", "--data", folder, stdin=sample)
        expect(done.returncode == 0, done.stderr)


def only_export_works_while_a_server_runs(executable):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        server = start_guildhall(executable, data)
        try:
            for command in (["import", put(folder, "w.json", WORLD)], ["seed"], ["demo"]):
                done = run(executable, *command, "--data", data)
                expect(done.returncode == 1 and done.stdout == "", str(command))
                expect("in use by another guildhall" in done.stderr, done.stderr)
            done = run(executable, "export", "--data", data)
            expect(done.returncode == 0 and json.loads(done.stdout) == {}, done.stdout)
        finally:
            server.kill()


def export_is_readable_only_by_the_operator(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "data"), os.path.join(folder, "out.json")
        run(executable, "import", put(folder, "w.json", WORLD), "--data", data)
        expect(run(executable, "export", out, "--data", data).returncode == 0, "export")
        expect(os.stat(out).st_mode & 0o777 == 0o600, "other users may read the export")
        printed = run(executable, "export", "--data", data).stdout
        with open(out, encoding="utf-8") as f:
            expect(f.read() == printed, "the file and the output differ")
        expect([u["username"] for u in json.loads(printed)["users"]] == ["ada", "helper"], printed)


def export_fails_if_it_could_not_be_imported(executable):
    # 40,000 users have too many values; of 101,000 not all are read.
    for users in ("40000", "101000"):
        refused_export(executable, users)


def refused_export(executable, users):
    with tempfile.TemporaryDirectory() as folder:
        data, out = os.path.join(folder, "data"), os.path.join(folder, "out.json")
        run(executable, "seed", "--users", users, "--guilds", "1", "--members", "10", "--data", data)
        done = run(executable, "export", out, "--data", data)
        expect(done.returncode == 1 and "nothing was written" in done.stderr, done.stderr)
        expect(not os.path.exists(out), "the failed export wrote a file")
        done = run(executable, "export", "--data", data)
        expect(done.returncode == 1 and done.stdout == "", done.stdout[:100])


def demo(executable, folder):
    """Starts the demo; returns its process and the variables that it prints."""
    process = Process([executable, "demo", "--listen", "127.0.0.1:0", "--data", folder,
                       "--rate-limits", "off", "--log-level", "warn"])
    words = re.findall(r"^ +(api|ada|bob|helper)='?([^'\n]+)'?$", process.first_line, re.M)
    return process, dict(words)


def every_request_printed_by_the_demo_works(executable):
    if not shutil.which("curl"):
        raise Skip("curl is not installed")
    with tempfile.TemporaryDirectory() as folder:
        process, _ = demo(executable, put_demo(executable, folder))
        try:
            lines, calls = process.first_line.split("Paste the lines above")
            variables = "\n".join(re.findall(r"^  .*$", lines, re.M))
            calls = re.findall(r"^  (curl(?:.*\\\n)*.*)$", calls, re.M)
            expect(len(calls) == 7, f"{len(calls)} calls")
            for call in calls:
                script = f"{variables}\n{call} -o /dev/null -w '%{{http_code}}'"
                done = subprocess.run(["sh", "-c", script], capture_output=True, text=True,
                                      timeout=60, check=False)
                expect(done.stdout == "200", f"{call}: {done.stdout} {done.stderr}")
        finally:
            process.stop()


def demo_prints_valid_tokens_at_each_start(executable):
    with tempfile.TemporaryDirectory() as folder:
        seen = []
        for _ in range(2):
            process, words = demo(executable, folder)
            try:
                expect(process.first_line.startswith("guildhall: listening on http"), process.first_line)
                for name in ("ada", "bob", "helper"):
                    status, me = Client(process.port, words[name]).call("GET", "/users/@me")
                    expect(status == 200 and me["username"] == name, f"{name}: {status}")
                expect(words["api"] == f"http://127.0.0.1:{process.port}/api/v10", words["api"])
            finally:
                process.stop()
            seen.append([words[name] for name in ("ada", "bob", "helper")])
        expect(seen[0] == seen[1], "the tokens changed after a restart")


def world_file_can_set_tokens(executable):
    world = {"users": [{"username": "ada", "token": "adas-token-for-tests"}],
             "applications": [{"name": "Helper", "owner": "ada", "bot": "helper",
                               "token": "helpers-token-for-tests"}]}
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        for _ in range(2):  # importing the same world twice changes nothing
            done = run(executable, "import", put(folder, "w.json", world), "--data", data)
            expect(done.returncode == 0 and "token" not in done.stdout, done.stderr)
        done = run(executable, "import", put(folder, "w.json", world), "--data", data,
                   "--tokens", "env")
        expect(done.stdout == "export ADA_TOKEN='adas-token-for-tests'\n"
               "export HELPER_TOKEN='helpers-token-for-tests'\n", done.stdout)
        server = start_guildhall(executable, data)
        try:
            for name, token in (("ada", "adas-token-for-tests"),
                                ("helper", "Bot helpers-token-for-tests")):
                status, me = Client(server.port, token).call("GET", "/users/@me")
                expect(status == 200 and me["username"] == name, f"{name}: {status}")
            for wrong in ("adas-token-for-test", "helpers-token-for-tests", "Bot adas-token-for-tests"):
                status, _ = Client(server.port, wrong).call("GET", "/users/@me")
                expect(status == 401, f"{wrong}: {status}")
        finally:
            server.stop()
        world["users"][0]["token"] = "too short"
        done = run(executable, "import", put(folder, "w.json", world), "--data", data)
        expect(done.returncode == 1 and "users.0.token" in done.stderr, done.stderr)


def demo_does_not_change_existing_data(executable):
    with tempfile.TemporaryDirectory() as folder:
        run(executable, "user", "add", "zoe", "--data", folder)
        process, words = demo(executable, folder)
        process.stop()
        expect("another world" in process.first_line and not words, process.first_line)
        users = json.loads(run(executable, "export", "--data", folder).stdout)["users"]
        expect(len(users) == 1, str(users))


def seed_prints_guilds_owners_and_tokens(executable):
    with tempfile.TemporaryDirectory() as folder:
        seed = ["seed", "--users", "2", "--guilds", "9", "--members", "9", "--tokens", "5",
                "--data", folder]
        done = run(executable, *seed)
        expect(done.returncode == 0, done.stderr)
        lines = [line.split() for line in done.stdout.splitlines()]
        expect(len(lines) == 5 and all(len(line) == 3 for line in lines), done.stdout)
        server = start_guildhall(executable, folder)
        try:
            for _, name, token in lines:
                status, me = Client(server.port, token).call("GET", "/users/@me")
                expect(status == 200 and me["username"] == name, f"{name}: {status}")
        finally:
            server.kill()
        done = run(executable, *seed)
        expect(done.returncode == 1 and "another --random" in done.stderr, done.stderr)
        done = run(executable, "seed", "--guilds", "9", "--members", "8", "--data", folder)
        expect(done.returncode == 2 and "--members" in done.stderr, done.stderr)


run_cases("world_files", [
    import_prints_tokens_that_work,
    import_reads_standard_input_and_reports_errors,
    import_is_rolled_back_if_an_image_cannot_be_stored,
    documented_sample_world_file_imports,
    only_export_works_while_a_server_runs,
    export_is_readable_only_by_the_operator,
    export_fails_if_it_could_not_be_imported,
    demo_prints_valid_tokens_at_each_start,
    world_file_can_set_tokens,
    every_request_printed_by_the_demo_works,
    demo_does_not_change_existing_data,
    seed_prints_guilds_owners_and_tokens,
])

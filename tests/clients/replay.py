#!/usr/bin/env python3
"""replay - records a bot on an unchanged library and replays the recording to it: an equal bot has no
differences, and each difference of a changed bot is named."""

import json
import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import expect, run_cases  # noqa: E402

sys.path.insert(0, HERE)  # bench has a module with the same name

from clients import node_command, python_command  # noqa: E402
from prepared_data import copy_prepared_data  # noqa: E402
from process import start_guildhall  # noqa: E402

WORLD = {
    "users": [{"username": "ada"}],
    "applications": [{"name": "Helper", "owner": "ada", "bot": "helper", "token": "helper-token-for-tests"}],
    "guilds": [{"name": "Home", "owner": "ada", "channels": [{"name": "general"}],
                "members": [{"user": "helper"}],
                "applications": [{"application": "Helper", "by": "ada"}]}],
}


def run(executable, *words):
    return subprocess.run([executable, *words], capture_output=True, text=True, timeout=100, check=False)


class Bot:
    def __init__(self, made, url, *words):
        command, folder = made
        self.process = subprocess.Popen([*command, url + "/api", "helper-token-for-tests", *words], cwd=folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()


def documented_record_and_replay_commands(folder):
    """Returns the words of the two commands that the page shows, with the file in the folder and any port."""
    with open(os.path.join(HERE, "../../docs/testing-your-bot.md"), encoding="utf-8") as f:
        lines = re.search(r"^guildhall record bug.jsonl.*\nguildhall replay bug.jsonl.*$", f.read(), re.M)[0]
    path = os.path.join(folder, "bug.jsonl")
    return [line.replace("bug.jsonl", path).replace("127.0.0.1:9000", "127.0.0.1:0").split()[1:]
            for line in lines.splitlines()]


def record(executable, made, folder):
    """Runs the bot on a server, uses it as a person does, and returns the path of the recording."""
    data, world = copy_prepared_data(executable, os.path.join(folder, "data")), os.path.join(folder, "world.json")
    with open(world, "w", encoding="utf-8") as f:
        json.dump(WORLD, f)
    expect(run(executable, "import", world, "--data", data).returncode == 0, "import")
    server = start_guildhall(executable, data, "--workbench", "on", "--traffic", "8")
    words, path = documented_record_and_replay_commands(folder)[0], os.path.join(folder, "bug.jsonl")
    as_ada = ("--as", "ada", "--channel", "general", "--data", data)
    try:
        with Bot(made, f"http://127.0.0.1:{server.port}"):
            end = time.monotonic() + 60
            while run(executable, "invoke", "/tea", *as_ada).returncode:
                expect(time.monotonic() < end, "the bot does not answer")
                time.sleep(0.2)
            done = run(executable, "say", "ping", "--expect", "pong", *as_ada)
            expect(done.returncode == 0, done.stderr)
            expect(run(executable, "clock", "+1h", "--data", data).returncode == 0, "clock")
            done = run(executable, "invoke", "/tea", "--press", "Yes", *as_ada)
            expect(done.returncode == 0 and "ada says Yes" in done.stdout, done.stdout + done.stderr)
            done = run(executable, *words, "--data", data)
            expect(done.returncode == 0 and re.match(r"saved \d+ records of helper", done.stderr), done.stderr)
    finally:
        server.stop()
    return path


def recording_is_complete_and_without_secrets(path):
    with open(path, encoding="utf-8") as f:
        text = f.read()
    lines = [json.loads(line) for line in text.splitlines()]
    expect(lines[0]["guildhall_recording"] == 1 and lines[0]["bot"] == "helper", str(lines[0]))
    expect("helper-token-for-tests" not in text and "127.0.0.1\"" not in text, "a secret or an address")
    tokens = re.findall(r'\\"token\\":\\"(.*?)\\"', text)
    expect(tokens and set(tokens) == {"***"}, f"tokens: {tokens}")
    kinds = {line.get("kind") for line in lines[1:]}
    expect({"call", "sent", "received", "clock"} <= kinds, str(kinds))
    moved = [line["moved_ms"] for line in lines[1:] if line["kind"] == "clock"]
    expect(len(moved) == 1 and abs(moved[0] - 3600e3) < 60e3, str(moved))


def replay(executable, made, path, *words):
    command = documented_record_and_replay_commands(os.path.dirname(path))[1]
    with subprocess.Popen([executable, *command, "--speed", "4", "--wait", "8"], stdout=subprocess.PIPE,
                          text=True) as process:
        try:
            url = re.search(r"http://\S+", process.stdout.readline())[0]
            process.stdout.readline()
            with Bot(made, url, *words):
                out = process.stdout.read()
            return process.wait(), out
        finally:
            process.kill()


def equal_bot_has_none_and_changed_bot_has_named_differences(executable, made):
    with tempfile.TemporaryDirectory() as folder:
        path = record(executable, made, folder)
        recording_is_complete_and_without_secrets(path)
        status, out = replay(executable, made, path)
        expect(status == 0 and out.startswith("no differences"), f"{status} {out}")
        status, out = replay(executable, made, path, "changed")
        expect(status == 3, f"{status} {out}")
        expect(re.search(r'^POST /channels/\d+/messages differs: content was "pong", is now "PONG"\.$', out, re.M), out)
        expect(re.search(r"^The bot called POST /channels/\d+/typing, which is not in the recording\.$", out, re.M), out)
        expect(re.search(r"^The bot did not call PUT /channels/\d+/messages/\d+/reactions/\S+, which was recorded \d",
                         out, re.M), out)
        expect(out.count("\n") == 4 and "\n3 differences: " in out, out)


def discord_js_bot_is_replayed(executable):
    equal_bot_has_none_and_changed_bot_has_named_differences(executable, node_command("replay_js.js"))


def discord_py_bot_is_replayed(executable):
    equal_bot_has_none_and_changed_bot_has_named_differences(executable, python_command("replay_py.py"))


def unusable_recordings_are_refused(executable):
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "x.jsonl")
        head = '{"guildhall_recording":1,"url":"http://127.0.0.1:1","bot":"x"}\n'
        for text, sentence in (("{}\n", "is not a recording"), (head + "x\n", "is not a recording"),
                               (head, "has no event READY"),
                               (head + '{"kind":"sent","monotonic_ms":1,"event":"READY","d":"{","d_cut":true}\n',
                                "are truncated")):
            with open(path, "w", encoding="utf-8") as f:
                f.write(text)
            done = run(executable, "replay", path, "--listen", "127.0.0.1:0")
            expect(done.returncode == 1 and sentence in done.stderr, done.stderr)
        done = run(executable, "replay")
        expect(done.returncode == 2 and "replay FILE" in done.stderr, done.stderr)
        done = run(executable, "record", path)
        expect(done.returncode == 2 and "record FILE --user BOT" in done.stderr, done.stderr)
        done = run(executable, "record", path, "--user", "x", "--data", folder)
        expect(done.returncode == 1 and "no server runs" in done.stderr, done.stderr)
        server = start_guildhall(executable, os.path.join(folder, "data"))
        try:
            words = ["--user", "x", "--data", os.path.join(folder, "data")]
            done = run(executable, "record", path, *words)
            expect(done.returncode == 1 and "File exists" in done.stderr, done.stderr)
            expect(os.path.getsize(path) > 0, "the existing file was changed")
            done = run(executable, "record", path + ".new", *words)
            expect(done.returncode == 3 and "records no traffic" in done.stderr, done.stderr)
        finally:
            server.stop()


if __name__ == "__main__":
    run_cases("replay", [
        unusable_recordings_are_refused,
        discord_js_bot_is_replayed,
        discord_py_bot_is_replayed,
    ])

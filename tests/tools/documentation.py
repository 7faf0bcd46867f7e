#!/usr/bin/env python3
"""documentation - tests every command in the documentation, here or in another test, or states why not. A
page is any file that ends with .md. Its commands are in blocks marked `sh`, each of which has a test;
no other block may contain commands. Commands within sentences are checked against the program's help,
and run if they are complete."""

import ast
import json
import os
import re
import shlex
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
from demo_data import filled, put_demo, start_demo  # noqa: E402
from operator_commands import new_database  # noqa: E402
from prepared_data import start_guildhall  # noqa: E402
from process import Client, Process, free_port, register  # noqa: E402

# Blocks by page and first words; "" stands for all blocks of a page. Value: the case or function of
# another test that reads the page and runs them.
TESTED_BY_OTHERS = {
    ("README.md", "build/guildhall invoke"):
        "tests/tools/workbench.py documented_demo_commands_work",
    ("docs/OPERATING.md", "guildhall user add ada"):
        "tests/tools/operator_commands.py documented_operator_commands_work",
    ("docs/OPERATING.md", "guildhall backup guildhall.backup"):
        "tests/tools/backup.py documented_backup_commands_work",
    ("README.md", "make deb"): "tests/package/deb.py readme_lines",
    ("docs/macos-and-windows.md", ""): "tests/package/packages.py documented_container_commands_run",
    ("packaging/npm/README.md", ""):
        "tests/package/packages.py npm_package_from_a_registry_runs_the_test_of_its_readme",
    ("packaging/python/README.md", ""): "tests/package/packages.py wheel_runs_the_test_of_its_readme",
    ("docs/OPERATING.md", "sudo systemctl stop"):
        "tests/package/deb.py documented_socket_commands_stop_the_service_first",
    ("README.md", "make run"): "scripts/test contributing",  # `make test` of the copy runs this command
    ("CONTRIBUTING.md", "scripts/build debug"): "scripts/test contributing",
    ("docs/CLUSTER.md", "guildhall move --data data --to"):
        "tests/tools/move.py documented_move_commands_work",
    ("docs/CLUSTER.md", "guildhall move --data data --store"):
        "tests/tools/move.py documented_move_commands_work",
    ("docs/MOVE-HERE.md", ""): "tests/tools/copy_guild.py documented_copy_commands_work",
    ("docs/HOSTING.md", ""): "tests/tools/hosting.py documented_hosting_commands_work",
    ("README.md", "TOKEN=... build/guildhall serve --as-discord"):
        "tests/clients/as_discord.py documented_commands_run_a_bot",
    ("docs/testing-your-bot.md", "guildhall import world.json"):
        "tests/clients/as_discord.py documented_commands_run_a_bot",
    ("docs/tutorial-first-bot.md", ""): "tests/clients/tutorials.py documented_first_bot_works",
    ("docs/tutorial-test-in-ci.md", ""): "tests/clients/tutorials.py documented_ci_test_works",
    ("docs/tutorial-first-community.md", ""): "tests/clients/tutorials.py documented_community_commands_work",
    ("docs/tutorial-moderate.md", ""): "tests/clients/tutorials.py documented_moderation_commands_work",
    ("docs/testing-your-bot.md", "set -eu"): "tests/clients/interactions.py run_example",
    ("docs/testing-your-bot.md", "guildhall watch"):
        "tests/tools/workbench.py documented_demo_commands_work",
    ("docs/testing-your-bot.md", "guildhall say"):
        "tests/tools/workbench.py documented_demo_commands_work",
    ("docs/testing-your-bot.md", "guildhall clock"):
        "tests/tools/workbench.py documented_demo_commands_work",
    ("docs/testing-your-bot.md", "guildhall record"):
        "tests/clients/replay.py documented_record_and_replay_commands",
    ("docs/testing-your-bot.md", "guildhall snapshot"):
        "tests/tools/workbench.py documented_demo_commands_work",
}
NOT_RUN = {
    ("CONTRIBUTING.md", "make dev"): "the steps of scripts/test are these: build, unit, format",
}
# Programs and files in other blocks of the site, by page and kind: the test that uses them, or why there is none.
PROGRAMS = {
    ("docs/tutorial-first-bot.md", "json"): "tests/clients/tutorials.py documented_first_bot_works",
    ("docs/tutorial-first-bot.md", "js"): "tests/clients/tutorials.py documented_first_bot_works",
    ("docs/tutorial-test-in-ci.md", "js"): "tests/clients/tutorials.py documented_ci_test_works",
    ("docs/testing-your-bot.md", "json"): "tests/clients/interactions.py run_example",
    ("docs/testing-your-bot.md", "js"): "tests/clients/interactions.py run_example",
    ("docs/testing-your-bot.md", "python"): "tests/clients/interactions.py run_example",
    ("README.md", "js"): "tests/clients/tutorials.py readme_bots_answer",
    ("README.md", "py"): "tests/clients/tutorials.py readme_bots_answer",
    ("docs/HOSTING.md", "ini"): "tests/tools/hosting.py documented_hosting_commands_work",
    ("docs/HOSTING.md", "nginx"): "tests/tools/hosting.py documented_hosting_commands_work",
    ("docs/HOSTING.md", "haproxy"): "tests/tools/hosting.py documented_hosting_commands_work",
    ("docs/HOSTING.md", "caddy"): "tests/tools/hosting.py documented_hosting_commands_work",
    ("docs/CLUSTER.md", "haproxy"): "tests/cluster/balancer.py",
    ("docs/CLUSTER.md", "nginx"): "tests/cluster/balancer.py",
    ("docs/world-files.md", "json"): "tests/tools/documentation.py documented_world_file_commands_work",
    ("docs/VOICE.md", "ini"): "tests/tools/documentation.py documented_option_files_are_accepted",
    ("docs/gifs.md", "ini"): "tests/tools/documentation.py documented_option_files_are_accepted",
    ("docs/gifs.md", "json"): "tests/tools/documentation.py documented_gif_commands_work",
    ("docs/OPERATING.md", "ini"): "tests/tools/documentation.py documented_option_files_are_accepted",
}
NO_PROGRAMS = {
    ("packaging/npm/README.md", "js"): "an excerpt of packaging/npm/test, which tests/clients/helpers.py runs",
    ("packaging/python/README.md", "python"): "an excerpt of packaging/python/tests, which tests/clients/helpers.py runs",
    ("docs/console.md", "json"): "shapes of answers with parts left out; tests/http/service/traffic_log.c checks the routes",
    ("docs/OPERATING.md", "nginx"): "a part of the configuration in docs/HOSTING.md",
    ("docs/ARCHITECTURE.md", "c"): "a line of the source, as an explanation",
}
BLOCK = re.compile(r"^ *```sh[^\n]*\n(.*?)^ *```$", re.M | re.S)
FENCE = re.compile(r"^ *```(\w*)[^\n]*\n(.*?)^ *```$", re.M | re.S)
# Line beginnings that are allowed only in blocks marked `sh`.
COMMAND = re.compile(r"^[ $#]*(sudo |guildhall [a-z]|[\w./]+/guildhall [a-z]|curl -|make [a-z]+$|scripts/)", re.M)
MENTION = re.compile(r"`((?:[\w./]*/)?(?:guildhall|make|python3|scripts/[\w-]+)\s[^`]*)`")
CURL = """#!/bin/sh
# Records the HTTP status, and otherwise runs curl unchanged.
exec {curl} -s -o {folder}/body -w '%{{http_code}}\\n' "$@" >>{folder}/statuses
"""


def pages():
    """Returns (name, text) of all pages."""
    for top, folders, files in os.walk(ROOT):
        folders[:] = sorted(f for f in folders if f not in ("build", "data", "node_modules", ".git"))
        for name in sorted(files):
            if name.endswith(".md"):
                path = os.path.join(top, name)
                with open(path, encoding="utf-8") as f:
                    yield os.path.relpath(path, ROOT), f.read()


def blocks():
    """Returns (page, text) of all shell blocks."""
    for name, page in pages():
        for text in BLOCK.findall(page):
            yield name, re.sub(r"^ +(?=\w)", "", text, flags=re.M) if text[0] == " " else text


def block_of(page, begin):
    found = [text for name, text in blocks() if name == page and text.startswith(begin)]
    expect(len(found) == 1, f"{page} has {len(found)} blocks that begin with {begin!r}")
    return found[0]


class Folder:
    """A working folder with the program in the path."""

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
        """Returns the HTTP statuses since the last call."""
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


def every_documented_block_has_a_test_or_a_reason(_executable):
    unknown, used = [], []
    for page, text in blocks():
        keys = [k for k in [*TESTED_BY_OTHERS, *NOT_RUN, *TESTED_HERE] if begins(k, page, text)]
        used += [k for k in keys if k[1]] or list(set(keys) - set(used))
        if len(keys) != 1:
            unknown.append(f"{page}: {text.splitlines()[0]}")
    expect(not unknown, "these commands have neither a test nor a reason: " + "; ".join(unknown))
    for key in {*TESTED_BY_OTHERS, *NOT_RUN, *TESTED_HERE}:
        expect(used.count(key) == 1, f"{key[0]} has {used.count(key)} blocks that begin with {key[1]!r}")


def other_tests_read_the_pages_whose_commands_they_run(_executable):
    for (page, _), where in TESTED_BY_OTHERS.items():
        path, name = where.split()
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text = f.read()
        tree = ast.parse(text)
        found = [n for n in tree.body if isinstance(n, ast.FunctionDef) and n.name == name]
        expect(len(found) == 1, f"{path} has no {name}")
        expect(len(re.findall(rf"\b{name}\b", text)) > 1, f"{path}: {name} is not called")
        lines = text.splitlines()
        around = "".join("".join(lines[n.lineno - 1:n.end_lineno])
                         for n in [found[0], *tree.body] if n is found[0] or isinstance(n, ast.Assign))
        expect(os.path.basename(page) in around, f"{name} of {path} does not read {page}")


def every_program_of_the_site_has_a_test_or_a_reason(_executable):
    with open(os.path.join(ROOT, "docs/site/contents.txt"), encoding="utf-8") as f:
        listed = [line.split()[0] for line in f if line.startswith(" ")]
    found = {(name, kind) for name, text in pages() if name in listed
             for kind, _ in FENCE.findall(text) if kind not in ("", "sh")}
    known = {*PROGRAMS, *NO_PROGRAMS}
    expect(found == known, f"without a test or a reason: {found - known}; not there: {known - found}")
    for (page, _), where in PROGRAMS.items():
        path, *name = where.split()
        with open(os.path.join(ROOT, path), encoding="utf-8") as f:
            text = f.read()
        expect(os.path.basename(page) in text and all(f"def {n}(" in text for n in name), f"{where} does not use {page}")


def commands_appear_only_in_shell_blocks(_executable):
    wrong = []
    for name, text in pages():
        other = [body for kind, body in FENCE.findall(text) if kind != "sh"]
        # An indentation of four spaces is a block too.
        plain = "\n".join(line for line in FENCE.sub("", text).splitlines() if line.startswith("    "))
        wrong += [f"{name}: {found[0].strip()}" for body in [*other, plain]
                  for found in COMMAND.finditer(body)]
    expect(not wrong, "commands outside of tested blocks: " + "; ".join(wrong))


# --- within sentences ----------------------------------------------------------------------------


def mentions():
    """Returns (page, command) of each command within sentences, once."""
    return dict.fromkeys((name, re.sub(r"\s+", " ", found)) for name, text in pages()
                         for found in MENTION.findall(FENCE.sub("", text)))


WITH_VERBS = {"user", "guild", "app", "token", "invite", "message", "file", "report", "ban", "announcement", "gifs", "platform", "sessions", "manual", "completion"}


class HelpTexts:
    """The program's help of its commands."""

    def __init__(self, executable):
        self.executable, self.texts = executable, {}

    def of(self, *words):
        if words not in self.texts:
            done = subprocess.run([self.executable, *words], capture_output=True, text=True,
                                  timeout=120, check=False)
            self.texts[words] = done.stdout if done.returncode == 0 else ""
        return self.texts[words]

    def problem(self, command):
        """Returns what is wrong with a command, whose words may be placeholders, or None."""
        words = re.sub(r"[\[\]]", "", command).split()[1:]
        if words[0] == "help":
            words = words[1:] or ["serve"]
        for name in words[0].split("|"):
            help_text = self.of(name, "--help-all")
            if not help_text:
                return f"the command {name} does not exist"
            for flag in re.findall(r"(?<!\S)--([a-z][a-z-]*)", " ".join(words[1:])):
                if not re.search(rf"^  --{flag}\b", help_text, re.M) and flag not in ("help", "help-all"):
                    return f"{name} has no --{flag}"
            verbs = words[1].split("|") if name in WITH_VERBS and words[1:] else []
            for verb in verbs:
                if re.fullmatch(r"[a-z][a-z-]*", verb) and not re.search(rf"\b{verb}\b", help_text):
                    return f"{name} has no {verb}"
        return None


def script_or_target_exists(command, targets):
    words = command.split()
    if words[0] == "make":
        return all(w in targets for w in words[1:])
    path = words[1] if words[0] == "python3" else words[0]
    return os.path.exists(os.path.join(ROOT, path))


def commands_named_in_sentences_exist(executable):
    helps, wrong = HelpTexts(executable), []
    with open(os.path.join(ROOT, "Makefile"), encoding="utf-8") as f:
        targets = re.findall(r"^([a-z-][a-z0-9-]*):", f.read(), re.M)
    for page, command in mentions():
        if "guildhall" in command.split()[0]:
            problem = helps.problem(command)
        else:
            problem = None if script_or_target_exists(command, targets) else "there is none"
        if problem:
            wrong.append(f"{page}: `{command}`: {problem}")
    expect(not wrong, "\n".join(wrong))


def whole_commands():
    """Returns the commands without placeholders."""
    for page, command in mentions():
        whole = not re.search(r"\b[A-Z]{2,}\b(?! /)|[\[|…]", command)
        if command.startswith("guildhall ") and whole and page != "CHANGES.md" and \
                len(command.split()) > 2:
            yield command


def complete_commands_in_sentences_work_on_a_demo(executable):
    """A watching command is ended after a second; questions that the demo's bot does not know are not
    sent."""
    ran = 0
    with tempfile.TemporaryDirectory() as data:
        demo = start_demo(executable, put_demo(executable, data), "--listen",
                          f"127.0.0.1:{free_port()}")
        try:
            for command in dict.fromkeys(whole_commands()):
                words = shlex.split(command)[1:]
                if words[-1].startswith("--as"):  # an option name, not a command
                    continue
                more = {"watch": ["--seconds", "1"], "say": ["--wait", "1"]}.get(words[0], [])
                # A backup on standard output is not text.
                done = subprocess.run([executable, *words, *more, "--data", data], text=True, errors="replace",
                                      capture_output=True, timeout=120, check=False)
                wanted = 5 if "--expect" in words else 0
                expect(done.returncode == wanted, f"{command}: {done.returncode} {done.stderr}")
                ran += 1
        finally:
            demo.stop()
    expect(ran >= 8, f"only {ran} commands were found")


# --- blocks --------------------------------------------------------------------------------------


def readme_account_commands_work(executable):
    text = block_of("README.md", "api=")
    with tempfile.TemporaryDirectory() as data, Folder(executable) as folder:
        demo = start_demo(executable, put_demo(executable, data))
        try:
            folder.watch_curl()
            script = text.replace("127.0.0.1:8080", f"127.0.0.1:{demo.port}")
            first, rest = script.split("token=...", 1)
            folder.run(first)
            token = folder.body()["token"]
            folder.run(f"api=http://127.0.0.1:{demo.port}/api/v10\ntoken='{token}'{rest}")
            expect(folder.statuses() == ["200", "200", "201"], "statuses")
            expect(folder.body()["name"] == "Mine", str(folder.body()))
        finally:
            demo.stop()


def readme_message_commands_work(executable):
    text = block_of("README.md", "curl -s $api/channels")
    with tempfile.TemporaryDirectory() as data, Folder(executable) as folder:
        demo = start_demo(executable, put_demo(executable, data))
        try:
            printed = demo.first_line
            while "helper='" not in printed:  # the variables of the block are printed last
                printed += os.read(demo.child.stdout.fileno(), 4096).decode()
            ada = re.search(r"ada='([^']+)'", printed)[1]
            channel = re.search(r"channel=(\d+)", printed)[1]
            folder.watch_curl()
            folder.run(text, api=f"http://127.0.0.1:{demo.port}/api/v10", ada=ada, channel=channel)
            expect(folder.statuses() == ["200", "200"], "statuses")
            expect(folder.body()[0]["content"] == "!ping", str(folder.body()))
        finally:
            demo.stop()


def documented_postgresql_backup_works(executable):
    """The backup is made of a running server and restored to an empty place."""
    with Folder(executable) as folder:
        store, other = new_database(), new_database()
        server = start_guildhall(executable, os.path.join(folder.path, "data"), "--store", store)
        try:
            world = World(server.port)
            folder.run(block_of("docs/OPERATING.md", "flock -s data/backup.lock"), GUILDHALL_STORE=store)
            for name in ("rows.dump", "files.backup"):
                mode = os.stat(os.path.join(folder.path, name)).st_mode & 0o777
                expect(mode == 0o600, f"{name}: other users may read it, {mode:o}")
        finally:
            server.stop()
        shutil.rmtree(os.path.join(folder.path, "data"))
        folder.run(block_of("docs/OPERATING.md", "pg_restore"), GUILDHALL_STORE=other)
        server = start_guildhall(executable, os.path.join(folder.path, "restored"), "--store", other)
        try:
            world.is_whole(server.port)
        finally:
            server.stop()


def documented_world_file_commands_work(executable):
    text = block_of("docs/world-files.md", "guildhall import")
    lines = [line.split("  #")[0] for line in text.splitlines()]
    with Folder(executable) as folder:
        (world,) = [body for name, page in pages() if name == "docs/world-files.md"
                    for kind, body in FENCE.findall(page) if kind == "json"]
        folder.write("world.json", world)
        printed = folder.run("\n".join(lines[:3]))
        expect(re.search(r"^ada +\S{20,}$", printed, re.M), printed)
        with open(os.path.join(folder.path, "copy.json"), encoding="utf-8") as f:
            expect(json.load(f)["users"][0]["username"] == "ada", "the copy")
        expect(lines[3].strip() == "guildhall demo --data data", lines[3])
        filled(executable)  # the same demo in an empty folder, on a free port


def documented_seed_commands_work(executable):
    text = block_of("docs/world-files.md", "guildhall seed")
    with Folder(executable) as folder:
        folder.run(re.sub(r"\d+", lambda n: str(max(1, int(n[0]) // 1000)), text))


def documented_option_files_are_accepted(executable):
    """A server starts with the options of each page, except the address to listen on."""
    for page in ("docs/VOICE.md", "docs/gifs.md", "docs/OPERATING.md"):
        text = next(text for name, text in pages() if name == page)
        for kind, options in FENCE.findall(text):
            if kind != "ini" or options.startswith("["):  # a section is one of systemd
                continue
            with Folder(executable) as folder:
                options = re.sub(r"^voice-port = \d+$", f"voice-port = {free_port()}", options, flags=re.M).replace("…", "a-key")
                config = folder.write("guildhall.conf", options)
                start_guildhall(executable, os.path.join(folder.path, "data"), "--config", config).stop()


def documented_gif_commands_work(executable):
    text = block_of("docs/gifs.md", "guildhall gifs import")
    with Folder(executable) as folder:
        gif = b"GIF89a\x01\x00\x01\x00\x80\x00\x00\x00\x00\x00\xff\xff\xff,\x00\x00\x00\x00\x01\x00\x01\x00\x00\x02\x02D\x01\x00;"
        folder.write("wave.gif", gif)
        folder.write("pictures/bow.gif", gif)
        folder.write("gifs.jsonl", json.dumps({"id": "wave-1", "title": "Wave", "media": {"gif": "wave.gif"}}))
        (line,) = [body for name, page in pages() if name == "docs/gifs.md" for kind, body in FENCE.findall(page) if kind == "json"]
        expect({"id", "title", "media"} <= set(json.loads(line)), line)
        folder.write("gifs.csv", "id,title,media.gif\nbow-1,Bow,bow.gif\n")
        folder.run(text.replace("/srv/", folder.path + "/"))


def documented_platform_commands_work(executable):
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


def documented_postgresql_server_works(executable):
    """The README line with another host and a free port."""
    (line,) = block_of("README.md", "guildhall serve --data data --store").splitlines()
    words = shlex.split(line)
    with Folder(executable) as folder:
        words[words.index("--store") + 1] = new_database()
        words[words.index("--data") + 1] = os.path.join(folder.path, "data")
        server = Process([executable, *words[1:], "--listen", "127.0.0.1:0"])
        try:
            register(server.port, "ada")
        finally:
            server.stop()


def documented_cluster_commands_work(executable):
    """The lines of CLUSTER.md on this machine; without a broker the nodes poll the log."""
    lines = [shlex.split(x) for x in block_of("docs/CLUSTER.md", "guildhall serve").splitlines()]
    expect([words[1] for words in lines] == ["serve", "serve", "nodes"], str(lines))
    store, servers = new_database(), []
    ours = {"--store": store, "--bus": "poll", "--listen": "127.0.0.1:0"}
    with Folder(executable) as folder:
        ours["--data"] = os.path.join(folder.path, "data")
        for words in lines:
            for option, value in ours.items():
                if option in words:
                    words[words.index(option) + 1] = value
        try:
            servers = [Process([executable, *words[1:]]) for words in lines[:2]]
            token = register(servers[0].port, "ada")
            client = Client(servers[1].port, token)
            expect(client.call("GET", "/users/@me")[0] == 200, "the other node does not know ada")
            client.close()
            listed = subprocess.run([executable, *lines[2][1:]], capture_output=True, text=True,
                                    timeout=120, check=False)
            rows = [line.split()[0] for line in listed.stdout.splitlines()]
            expect("1" in rows and "2" in rows, listed.stdout + listed.stderr)
        finally:
            for server in servers:
                server.stop()


def first_requests_match_the_tested_script(_executable):
    """The later script of the page, which tests/clients runs, sends the same requests and checks
    the replies."""
    (line,) = block_of("docs/testing-your-bot.md", "guildhall invoke").splitlines()
    script = block_of("docs/testing-your-bot.md", "set -eu")
    shell_function = re.search(r'^ask\(\) \{ (.*) "\$@"; \}$', script, re.M)[1]
    expect(line.startswith(shell_function), line)
    expect("ask" + line.removeprefix(shell_function) + " | grep -q" in script, line)


def documented_console_commands_work(executable):
    """The first line runs unchanged; the others are what the step `browser` of scripts/test
    runs."""
    lines = [shlex.split(x.split(" #")[0]) for x in block_of("docs/console.md", "build/debug/src/guildhall demo").splitlines()]
    with open(os.path.join(ROOT, "scripts/test"), encoding="utf-8") as f:
        steps = f.read()
    for words in lines[1:]:
        expect(words[0] == "python3" and f'"{words[1]}"' in steps, str(words))
    with open(os.path.join(ROOT, lines[2][1]), encoding="utf-8") as f:
        expect(lines[2][3] in f.read(), f"{lines[2][3]} is missing")
    with Folder(executable) as folder:
        words = [os.path.join(ROOT, w) if w == "web" else w for w in lines[0][1:]]
        expect(words[0] == "demo", str(words))
        start_demo(executable, put_demo(executable, os.path.join(folder.path, "data")), *words[1:]).stop()


TESTED_HERE = {
    ("README.md", "api="): readme_account_commands_work,
    ("README.md", "curl -s $api/channels"): readme_message_commands_work,
    ("docs/OPERATING.md", "flock -s data/backup.lock"): documented_postgresql_backup_works,
    ("README.md", "guildhall serve --data data --store"): documented_postgresql_server_works,
    ("docs/CLUSTER.md", "guildhall serve"): documented_cluster_commands_work,
    ("docs/testing-your-bot.md", "guildhall invoke"): first_requests_match_the_tested_script,
    ("docs/console.md", "build/debug/src/guildhall demo"): documented_console_commands_work,
    ("docs/OPERATING.md", "pg_restore"): documented_postgresql_backup_works,
    ("docs/world-files.md", "guildhall import"): documented_world_file_commands_work,
    ("docs/world-files.md", "guildhall seed"): documented_seed_commands_work,
    ("docs/gifs.md", "guildhall gifs import"): documented_gif_commands_work,
    ("docs/integrations.md", "guildhall platform account"): documented_platform_commands_work,
    ("docs/integrations.md", "K="): documented_platform_commands_work,
}

run_cases("documentation", [
    every_documented_block_has_a_test_or_a_reason,
    other_tests_read_the_pages_whose_commands_they_run,
    every_program_of_the_site_has_a_test_or_a_reason,
    commands_appear_only_in_shell_blocks,
    documented_option_files_are_accepted,
    commands_named_in_sentences_exist,
    complete_commands_in_sentences_work_on_a_demo,
    *dict.fromkeys(TESTED_HERE.values()),
])

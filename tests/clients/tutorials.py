#!/usr/bin/env python3
"""tutorials - runs the commands and programs of the tutorials like a reader: its files in a folder, the program in the path."""

import os
import re
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))
sys.path.insert(0, os.path.join(HERE, "..", "tools"))

from cases import expect, run_cases  # noqa: E402
from clients import node_command, python_command  # noqa: E402
from demo_data import put_demo, start_demo  # noqa: E402
from process import Process  # noqa: E402

PATIENCE = 60


class Tutorial:
    """The files and commands of a page, in a folder of their own."""

    def __init__(self, executable, *pages):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder, self.executable, self.running = self.temporary.name, executable, []
        os.symlink(executable, os.path.join(self.folder, "guildhall"))
        self.env = {**os.environ, "PATH": self.folder + ":" + os.environ["PATH"]}
        for page in pages:
            with open(os.path.join(ROOT, "docs", page), encoding="utf-8") as f:
                text = f.read()
            for name, content in re.findall(r"^```\w+ (\S+)\n(.*?)^```$", text, re.M | re.S):
                with open(os.path.join(self.folder, name), "w", encoding="utf-8") as f:
                    f.write(content)
            self.blocks = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for child in self.running:
            child.kill()
        self.temporary.cleanup()

    def run(self, text, stdin=""):
        done = subprocess.run(["sh", "-euc", text], cwd=self.folder, env=self.env, input=stdin, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        expect(done.returncode == 0, f"{text}\n{done.stdout}{done.stderr}")
        return done.stdout

    def serve(self, line):
        """Runs a documented server, on a free port; returns the port."""
        words = line.split()
        expect(words[:2] == ["guildhall", "serve"], line)
        words[words.index("--data") + 1] = os.path.join(self.folder, words[words.index("--data") + 1])
        self.running.append(Process([self.executable, *words[1:], "--listen", "127.0.0.1:0", "--durability", "off"]))
        return self.running[-1].port

    def install_libraries(self):
        """Links the installed libraries in place of a download."""
        _, installed = node_command()
        modules = os.path.join(self.folder, "node_modules")
        os.makedirs(modules)
        for name in os.listdir(os.path.join(installed, "node_modules")):
            os.symlink(os.path.join(installed, "node_modules", name), os.path.join(modules, name))
        os.symlink(os.path.join(ROOT, "packaging", "npm"), os.path.join(modules, "guildhall-test"))


def answer_of(tutorial, line):
    """Repeats a command until the bot has registered its commands."""
    deadline = time.monotonic() + PATIENCE
    while True:
        done = subprocess.run(["sh", "-euc", line], cwd=tutorial.folder, env=tutorial.env, capture_output=True,
                              text=True, timeout=PATIENCE, check=False)
        if done.returncode == 0 or time.monotonic() > deadline:
            return done.stdout + done.stderr
        time.sleep(0.2)


def documented_first_bot_works(executable):
    with Tutorial(executable, "tutorial-first-bot.md") as tutorial:
        world, install, start, use = tutorial.blocks
        load, serve = world.splitlines()
        tutorial.run(load)
        port = tutorial.serve(serve)
        expect(install.splitlines() == ["npm init -y", "npm install discord.js"], install)
        tutorial.install_libraries()
        bot = subprocess.Popen(["sh", "-c", "exec env " + start.replace("127.0.0.1:8080", f"127.0.0.1:{port}")],
                               cwd=tutorial.folder, env=tutorial.env, stdout=subprocess.PIPE, text=True)
        tutorial.running.append(bot)
        expect(bot.stdout.readline() == "greeter is ready\n", "the bot is not ready")
        answer = answer_of(tutorial, use)
        expect("Hello, Bob!" in answer, answer)
        bot.stdout.close()


def documented_ci_test_works(executable):
    with Tutorial(executable, "tutorial-first-bot.md", "tutorial-test-in-ci.md") as tutorial:
        tutorial.install_libraries()
        (line,) = tutorial.blocks
        printed = tutorial.run(line)
        expect(re.search(r"^(#|ℹ) pass 2$", printed, re.M), printed)


def readme_bots_answer(executable):
    """The bots of README.md, with the base URL of a demo, answer !ping."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as f:
        programs = re.findall(r"^```(js|py)\n(.*?)^```$", f.read(), re.M | re.S)
    expect([kind for kind, _ in programs] == ["js", "py"], "README has other programs")
    python, _ = python_command()
    for kind, text in programs:
        with Tutorial(executable) as tutorial:
            demo = start_demo(executable, put_demo(executable, os.path.join(tutorial.folder, "data")))
            tutorial.running.append(demo)
            printed = demo.first_line
            while "helper='" not in printed:
                printed += os.read(demo.child.stdout.fileno(), 4096).decode()
            token = re.search(r"helper='(?:Bot )?([^']+)'", printed)[1]
            tutorial.install_libraries()
            path = os.path.join(tutorial.folder, f"bot.{kind}")
            with open(path, "w", encoding="utf-8") as f:
                f.write(text.replace("127.0.0.1:8080", f"127.0.0.1:{demo.port}"))
            command = ["node", path] if kind == "js" else [python[0], "-u", path]
            bot = subprocess.Popen(command, cwd=tutorial.folder, env={**tutorial.env, "TOKEN": token},
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
            tutorial.running.append(bot)
            expect(bot.stdout.readline() == "ready in 1 guilds\n", f"the bot in {kind} is not ready")
            tutorial.run('guildhall say "!ping" --as ada --channel general --expect pong --wait 30')
            bot.stdout.close()


def documented_community_commands_work(executable):
    with Tutorial(executable, "tutorial-first-community.md") as tutorial:
        serve, accounts, why = tutorial.blocks
        tutorial.serve(serve)
        add, password, invite = accounts.splitlines()
        expect(len(tutorial.run(add).split()) >= 2, "no token was printed")
        tutorial.run(password, "correct horse battery\n")
        expect(re.search(r"\S{6,}", tutorial.run(invite)), "no code was printed")
        # The reader creates a server in the browser; tests/browser/tutorials.js does it like that.
        world = '{"guilds": [{"name": "Tea", "owner": "ada", "channels": [{"name": "general"}]}]}'
        tutorial.running.pop().stop()
        tutorial.run(f"echo '{world}' >world.json && guildhall import world.json --data community")
        tutorial.serve(serve)
        explained = tutorial.run(why)
        expect("ada owns the server" in explained, explained)


def documented_moderation_commands_work(executable):
    with Tutorial(executable, "tutorial-moderate.md") as tutorial:
        tutorial.run("mkdir data")
        tutorial.serve("guildhall serve --data data")
        (block,) = tutorial.blocks
        printed = tutorial.run(block)
        expect("192.0.2.0/24" in printed and "ban add" in printed and "announcement set" in printed, printed)


if __name__ == "__main__":
    run_cases("tutorials", [
        documented_first_bot_works,
        documented_ci_test_works,
        readme_bots_answer,
        documented_community_commands_work,
        documented_moderation_commands_work,
    ])

#!/usr/bin/env python3
"""runners - runs the examples of the node helper with Jest and Vitest, which are installed from the npm registry. A
nightly step, because the installation takes long; helpers.py runs the examples for other runners."""

import os
import re
import shutil
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "..", "packaging", "npm", "examples")
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402

COMMANDS = {
    "jest": ["npx", "jest", "--testMatch", "**/jest.test.mjs"],
    "vitest": ["npx", "vitest", "run", "vitest.test.mjs"],
}


def folder_with_runners():
    """Returns a folder with the runners, discord.js and the helper."""
    folder = os.path.abspath(os.path.join(os.path.dirname(sys.argv[1]), "..", "runners"))
    link = os.path.join(folder, "node_modules", "guildhall-test")
    os.makedirs(folder, exist_ok=True)
    if os.path.lexists(link):
        os.unlink(link)  # npm would remove what it leads to
    shutil.copy(os.path.join(HERE, "runners", "package.json"), folder)
    # npm install runs without a lock file, because npm ci requires the optional packages of all platforms.
    done = subprocess.run(["npm", "install", "--no-package-lock", "--ignore-scripts", "--no-audit", "--no-fund"],
                          cwd=folder, capture_output=True, text=True, timeout=600, check=False)
    if done.returncode:
        raise Skip(f"npm cannot install the runners: {done.stderr[-300:]}")
    os.symlink(os.path.abspath(os.path.join(EXAMPLES, "..")), link)
    return folder


def run_example(executable, folder, runner, author="dice"):
    shutil.copy(os.path.join(EXAMPLES, "bot.mjs"), folder)
    with open(os.path.join(EXAMPLES, f"{runner}.test.mjs"), encoding="utf-8") as file:
        text = file.read()
    text = text.replace("author: 'dice'", f"author: '{author}'")
    with open(os.path.join(folder, f"{runner}.test.mjs"), "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run(COMMANDS[runner], cwd=folder, capture_output=True, text=True, timeout=300, check=False,
                          env={**os.environ, "GUILDHALL_BINARY": executable, "NODE_OPTIONS": "--experimental-vm-modules"})
    return done.returncode, done.stdout + done.stderr


def examples_pass_and_failures_are_explained(executable):
    folder = folder_with_runners()
    for runner in COMMANDS:
        status, output = run_example(executable, folder, runner)
        expect(status == 0, output[-3000:])
        status, output = run_example(executable, folder, runner, author="nobody")
        expect(status != 0 and 'author is "dice" instead of "nobody"' in output, output[-3000:])
        expect(re.search(r"last calls and events of dice:.*MESSAGE_CREATE.*transcript: ", output, re.S), output[-3000:])
        shutil.rmtree(os.path.join(folder, "guildhall-failures"))


if __name__ == "__main__":
    run_cases("runners", [examples_pass_and_failures_are_explained])

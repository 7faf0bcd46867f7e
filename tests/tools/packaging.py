#!/usr/bin/env python3
"""packaging - tests the CI action without GitHub; its steps run unchanged."""

import os
import re
import signal
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import expect, run_cases  # noqa: E402
from process import free_port  # noqa: E402

PACKAGING = os.path.join(HERE, "..", "..", "packaging")
PATIENCE = 60


def text_of(*path):
    with open(os.path.join(PACKAGING, *path), encoding="utf-8") as f:
        return f.read()


PAGE = os.path.join(HERE, "..", "..", "docs", "testing-your-bot.md")


def block_of_page(name):
    with open(PAGE, encoding="utf-8") as f:
        return re.search(rf"^```\w+ {re.escape(name)}\n(.*?)^```$", f.read(), re.M | re.S)[1]


def steps_of(name):
    """Returns the scripts of a workflow or an action."""
    found = re.findall(r"^( +)(?:- )?run: \|\n((?:\1 +.*\n)+)", text_of("ci", name), re.M)
    return [re.sub(r"^ {%d}" % (len(lines) - len(lines.lstrip())), "", lines, flags=re.M)
            for _, lines in found]


class Runner:
    """Simulates GitHub's runner for the steps of a job."""

    def __init__(self, folder, executable):
        self.folder, self.executable, self.group, self.port = folder, executable, [], free_port()
        self.write("world.json", block_of_page("world.json"))
        os.mkdir(self.path("bin"))
        self.write("bin/sudo", "#!/bin/sh\necho \"$@\" >\"$RUNNER_TEMP/installed\"\n")
        os.chmod(self.path("bin/sudo"), 0o755)
        self.env = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "RUNNER_TEMP": folder,
                    "WORLD": "world.json", "LISTEN": f"127.0.0.1:{self.port}"}
        for name in ("ENV", "OUTPUT", "PATH"):
            self.env[f"GITHUB_{name}"] = self.path(name)
            self.write(name, "")

    def path(self, name):
        return os.path.join(self.folder, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as f:
            f.write(text)

    def read(self, name):
        with open(self.path(name), encoding="utf-8") as f:
            return f.read()

    def step(self, script, **env):
        variables = dict(line.split("=", 1) for line in self.read("ENV").splitlines())
        paths = self.read("PATH").split()
        # Output goes to a file, which background processes of a step may keep open.
        with open(self.path("said"), "w", encoding="utf-8") as output:
            child = subprocess.Popen(["bash", "-eo", "pipefail", "-c", script], cwd=self.folder,
                                     env={**self.env, **variables, **env,
                                          "PATH": ":".join([*paths, self.env["PATH"]])},
                                     stdout=output, stderr=subprocess.STDOUT, start_new_session=True)
        self.group.append(child.pid)
        expect(child.wait(PATIENCE) == 0, f"{script}\n{self.read('said')}")
        return self.read("said")

    def close(self):
        for pid in self.group:
            try:
                os.killpg(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass


def ci_action_accepts_a_package_or_a_program(executable):
    install, start = steps_of("action.yml")
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(folder, executable)
        try:
            runner.step(install, PACKAGE="guildhall.deb")
            expect(runner.read("installed") ==
                   f"apt-get install -y {os.path.realpath(folder)}/guildhall.deb\n",
                   "apt-get got other arguments")
            expect(runner.read("PATH") == "", "the path was changed for a package")
            runner.step(install, PACKAGE=executable)
            runner.step(start)
            expect(runner.read("OUTPUT") == f"api=http://127.0.0.1:{runner.port}/api\n", "the address")
            output = runner.step("curl -fsS -H \"Authorization: Bot $WEATHER_TOKEN\" "
                                 f"http://127.0.0.1:{runner.port}/api/v10/users/@me")
            expect('"username":"weather"' in output, output)
        finally:
            runner.close()


def ci_workflow_tests_a_bot(executable):
    install, start = steps_of("action.yml")
    (test,) = steps_of("workflow.yml")
    with tempfile.TemporaryDirectory() as folder:
        runner = Runner(folder, executable)
        try:
            runner.write("bot.py", block_of_page("bot.py"))
            # The workflow names no package: npm has installed the program.
            os.makedirs(runner.path("node_modules/.bin"))
            os.symlink(executable, runner.path("node_modules/.bin/guildhall"))
            expect("package:" not in re.sub("#.*", "", text_of("ci", "workflow.yml")), "it names a package")
            runner.step(install, PACKAGE="")
            runner.step(start)
            api = runner.read("OUTPUT").strip().removeprefix("api=")
            test = test.replace("${{ steps.guildhall.outputs.api }}", api)
            expect("node bot.js" in test, test)
            output = runner.step(test.replace("node bot.js", "/usr/bin/python3 bot.py"))
            expect("Sunny in Oslo" in output, output)
        finally:
            runner.close()


if __name__ == "__main__":
    run_cases("packaging", [ci_action_accepts_a_package_or_a_program, ci_workflow_tests_a_bot])

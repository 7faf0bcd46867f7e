#!/usr/bin/env python3
"""interactions - tests interactions of apps on unchanged libraries. The users are `guildhall
invoke`, so both ends are what app authors have."""

import json
import os
import re
import select
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import expect, run_cases  # noqa: E402
from clients import HERE as CLIENTS, node_command, python_command  # noqa: E402
from prepared_data import copy_prepared_data  # noqa: E402
from process import Client, Failed, start_guildhall  # noqa: E402

PATIENCE = 120
WORLD = {
    "users": [{"username": "ada"}, {"username": "bob"}],
    "applications": [{"name": "Helper", "owner": "ada", "bot": "helper"}],
    "guilds": [{"name": "Home", "owner": "ada", "channels": [{"name": "talk"}],
                "roles": [{"name": "Crew"}],
                "members": [{"user": "helper"}, {"user": "bob"}],
                "applications": [{"application": "Helper", "by": "ada"}]}],
}


class ServerWithApp:
    """A server with ada, bob, an app and one guild."""

    def __init__(self, executable, *options):
        self.executable = executable
        self.folder = tempfile.TemporaryDirectory()
        self.data = copy_prepared_data(executable, os.path.join(self.folder.name, "data"))
        world = os.path.join(self.folder.name, "world.json")
        with open(world, "w", encoding="utf-8") as f:
            json.dump(WORLD, f)
        done = subprocess.run([executable, "import", "--tokens", world, "--data", self.data],
                              capture_output=True, text=True, timeout=60, check=False)
        expect(done.returncode == 0, done.stderr)
        tokens = dict(re.findall(r"^(ada|bob|helper) +(.*)$", done.stdout, re.M))
        self.token = tokens["helper"].removeprefix("Bot ")
        self.process = start_guildhall(executable, self.data, *options)
        self.url = f"http://127.0.0.1:{self.process.port}"
        self.api = self.url + "/api"
        self.ada = Client(self.process.port, tokens["ada"])
        self.bot = Client(self.process.port, tokens["helper"])
        guild = self.ada.call("GET", "/users/@me/guilds")[1][0]["id"]
        self.channel = self.ada.call("GET", f"/guilds/{guild}/channels")[1][0]["id"]
        self.app = None

    def start_app(self, command, folder=None):
        self.app = App(command, folder)
        return self.app

    def invoke(self, *arguments, by="bob", status=0):
        """Invokes and returns the results of the steps, as JSON."""
        done = subprocess.run(
            [self.executable, "invoke", "--url", self.url, "--data", self.data, "--as", by,
             "--channel", "Home/talk", "--json", *arguments],
            capture_output=True, text=True, timeout=60, check=False)
        printed = self.app.printed() if self.app else ""
        expect(done.returncode == status,
               f"{arguments} ended with {done.returncode}, not {status}: "
               f"{done.stdout}{done.stderr}{printed}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def content(self, *arguments, **named):
        """Returns the content of the last step's message."""
        return self.invoke(*arguments, **named)[-1]["message"]["content"]

    def close(self):
        if self.app:
            self.app.close()
        self.ada.close()
        self.bot.close()
        self.process.kill()
        self.folder.cleanup()


class App:
    """The process of an app."""

    def __init__(self, command, folder):
        self.child = subprocess.Popen(command, cwd=folder, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT)
        self.rest = b""

    def read(self, wait):
        if not select.select([self.child.stdout], [], [], wait)[0]:
            return False
        got = os.read(self.child.stdout.fileno(), 65536)
        self.rest += got
        return bool(got)

    def line(self):
        deadline = time.monotonic() + PATIENCE
        while b"\n" not in self.rest:
            if time.monotonic() > deadline or not self.read(deadline - time.monotonic()):
                raise Failed(f"the app printed only {self.rest!r}")
        line, self.rest = self.rest.split(b"\n", 1)
        return line.decode()

    def printed(self):
        while self.read(0):
            pass
        return self.rest.decode(errors="replace")

    def close(self):
        self.child.kill()
        self.child.wait()
        self.child.stdout.close()


def with_app(executable, make_command, name, scenario):
    command, folder = make_command(name)
    server = ServerWithApp(executable)
    try:
        app = server.start_app([*command, server.api, server.token], folder)
        line = app.line()
        expect(line == "ready", f"the app printed '{line}' {app.printed()}")
        scenario(server)
        expect(not server.app.printed(), f"the app printed {server.app.printed()}")
    finally:
        server.close()


# --- callbacks -------------------------------------------------------------------------------


def every_kind_of_callback_works(server):
    expect(server.content("/reply text:hello you") == "You said hello you", "reply")
    expect(server.content("/defer") == "Done", "defer and edit")
    expect("message" not in server.invoke("/regret")[0], "a deleted deferred reply has a message")
    secret = server.invoke("/secret")[0]["message"]
    expect(secret["flags"] == 64 and "guild_id" not in secret, "ephemeral")
    follow = server.invoke("/follow", "--follow-ups", "2")[0]
    expect(follow["message"]["content"] == "One", "reply before follow-ups")
    expect([m["content"].split(",")[0] for m in follow["follow_ups"]] == ["Two", "Three after One"],
           f"follow-ups: {follow}")
    expect(follow["follow_ups"][1]["flags"] == 64, "ephemeral follow-up")
    expect(server.content("/broken") == "Refused with 50006, then answered", "the reply after a refusal is missing")
    expect(server.invoke("/silent", status=5)[0]["outcome"] == "timed out", "no answer")


def autocomplete_choices_work(server):
    found = server.invoke("--complete", "/find city:Os")[0]["choices"]
    expect(found == [{"name": "Oslo", "value": "oslo"}, {"name": "Osaka", "value": "osaka"}],
           f"choices {found}")
    expect(server.invoke("--complete", "/find city:Paris")[0]["choices"] == [], "no choices")
    expect(server.content("/find city:oslo") == "Found oslo", "the command itself")


def context_menu_commands_work(server):
    expect(server.content("--user", "ada", "Wave") == "Waves at ada, a member: true", "user menu")
    status, sent = server.ada.call("POST", f"/channels/{server.channel}/messages", {"content": "Hi"})
    expect(status == 200, "a message")
    quoted = server.invoke("--message", sent["id"], "Quote this")[0]["message"]
    expect(quoted["content"] == "> Hi" and quoted["type"] == 23, f"message menu {quoted}")


def components_and_modals_work(server):
    first, then = server.invoke("/buttons", "--press", "ok")
    expect(then["message"]["id"] == first["message"]["id"], "the button did not change its message")
    expect(then["message"]["content"] == "Pressed by bob", "who pressed")
    expect(then["message"]["components"] == [], "the components were not removed")
    expect(server.content("/buttons", "--press", "Later") == "Changed later", "deferred update")
    expect(server.content("/buttons", "--press", "pick=a,b") == "Chose a,b", "a menu")
    expect(server.content("/form", "--fill", "name:Bob the Builder") == "Hello Bob the Builder",
           "a form")
    expect(server.invoke("/form", "--fill", "name:Bob nickname:Bo", status=2)[0]["modal"],
           "a form with another field")
    server.invoke("/defer", "--fill", "name:Bob", status=2)
    pressed, form, done = server.invoke("/buttons", "--press", "ask", "--fill", "Name:Bo")
    expect(form["modal"]["title"] == "A form", "the button did not open a form")
    made = [int(step["interaction_id"]) >> 22 for step in (pressed, form, done)]
    expect(made[1] - made[0] >= 300 <= made[2] - made[1], f"the steps were too fast: {made}")
    expect(done["message"]["id"] == pressed["message"]["id"] and
           done["message"]["content"] == "Hello Bo", "the form did not change the button's message")
    message = server.invoke("/buttons")[0]["message"]["id"]
    expect(server.content("--message", message, "--press", "OK", by="ada") == "Pressed by ada",
           "a later press by another user failed")
    expect(server.invoke("--message", message, "--press", "OK", status=2) == [], "the button still exists")


def every_kind_of_option_works(server):
    line = ("/all kinds of text:'a  b' whole:5 truth:yes who:@ada where:#talk role:Crew "
            "any:helper number:1.5 pick:Second file:" + os.path.join(CLIENTS, "package.json"))
    expect(server.content(line) == "kinds of|a  b|5|true|ada|true|talk|Crew|helper|1.5|2nd|"
           "package.json", "all options")
    expect(server.content("/all kinds of text:x").startswith("kinds of|x|||"), "none of them")
    refused = server.invoke("/all kinds of text:x whole:0", status=3)[0]
    expect(refused["status"] == 400 and refused["error"]["code"] == 50035, f"{refused}")
    server.invoke("/all kinds of text:x whole:many", status=2)
    server.invoke("/nothing", status=2)


def check_all_interactions(server):
    every_kind_of_callback_works(server)
    autocomplete_choices_work(server)
    context_menu_commands_work(server)
    components_and_modals_work(server)
    every_kind_of_option_works(server)


# --- interactions endpoints ------------------------------------------------------------------


class Endpoint:
    """An app with an interactions endpoint."""

    def __init__(self, executable, *commands):
        command, folder = node_command("endpoint.js")
        self.server = ServerWithApp(executable)
        status, self.application = self.server.bot.call("GET", "/applications/@me")
        expect(status == 200, self.application)
        self.id = self.application["id"]
        self.app = self.server.start_app(
            [*command, self.server.api, self.id, self.application["verify_key"]], folder)
        port = self.app.line().removeprefix("listening ")
        status, answer = self.server.bot.call("PATCH", "/applications/@me", {
            "interactions_endpoint_url": f"http://127.0.0.1:{port}/"})
        expect(status == 200, answer)
        expect(sorted([self.app.line(), self.app.line()]) == ["forged 1", "good 1"], "both probes")
        for name in commands:
            status, answer = self.server.bot.call("POST", f"/applications/{self.id}/commands",
                                                  {"name": name, "description": "x"})
            expect(status == 201, answer)

    def close(self):
        self.server.close()


def endpoint_verifies_signatures(executable):
    endpoint = Endpoint(executable, "inline", "deferred", "accepted", "wrong")
    server, app = endpoint.server, endpoint.app
    try:
        expect(server.content("/inline") == "Inline", "an answer inline")
        expect(server.content("/deferred") == "Deferred, then edited", "deferred inline")
        expect(server.content("/accepted") == "By a call", "the reply after 202 is missing")
        expect(server.invoke("/wrong", status=4)[0]["outcome"] == "failed", "a wrong answer")
        expect([app.line() for _ in range(4)] == ["good 2"] * 4, "each was signed")
    finally:
        endpoint.close()


def acknowledged_interaction_survives_kill_9(executable):
    endpoint = Endpoint(executable, "held")
    server, app = endpoint.server, endpoint.app
    try:
        held = server.invoke("/held", "--wait", "1", status=5)[0]
        expect(held["message"]["flags"] == 128, "it is loading")
        expect(app.line() == "good 2", "it was called")
        token = app.line().removeprefix("token ")
        server.process.kill()
        server.process = start_guildhall(executable, server.data)
        client = Client(server.process.port)
        status, answer = client.call(
            "PATCH", f"/webhooks/{endpoint.id}/{token}/messages/@original", {"content": "Late"})
        expect(status == 200 and answer["content"] == "Late" and answer["flags"] == 0, answer)
        status, answer = client.call("POST", f"/webhooks/{endpoint.id}/{token}", {"content": "More"})
        expect(status == 200 and answer["type"] == 19, answer)
        status, answer = client.call(
            "POST", f"/interactions/{held['interaction_id']}/{token}/callback", {"type": 5})
        expect(status == 400 and answer["code"] == 40060, answer)
        client.close()
    finally:
        endpoint.close()


# --- the examples of docs/testing-your-bot.md ------------------------------------------------


def run_example(executable, make_command, script):
    """Runs the documented test like a reader: its files in a folder, the program in the path."""
    _, installed = make_command()
    page = os.path.join(HERE, "..", "..", "docs", "testing-your-bot.md")
    with open(page, encoding="utf-8") as f:
        files = re.findall(r"^```\w+ (\S+)\n(.*?)^```$", f.read(), re.M | re.S)
    expect({"world.json", "test.sh", script} <= {name for name, _ in files}, "the page lacks a file")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files:
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        os.symlink(executable, os.path.join(folder, "guildhall"))
        if installed:
            os.symlink(os.path.join(installed, "node_modules"),
                       os.path.join(folder, "node_modules"))
        env = {**os.environ, "PATH": folder + ":" + os.environ["PATH"]}
        run = ["node", script] if script.endswith(".js") else ["/usr/bin/python3", script]
        done = subprocess.run(["sh", "test.sh", *run], cwd=folder, env=env, capture_output=True,
                              text=True, timeout=120, check=False)
    expect(done.returncode == 0 and done.stdout.endswith("all is well\n"),
           f"the test ended with {done.returncode}: {done.stdout}{done.stderr}")


def failed_example_leaves_no_data(executable):
    """The bot is a program that ends at once."""
    with open(os.path.join(HERE, "..", "..", "docs", "testing-your-bot.md"), encoding="utf-8") as f:
        files = dict(re.findall(r"^```\w+ (world.json|test.sh)\n(.*?)^```$", f.read(), re.M | re.S))
    with tempfile.TemporaryDirectory() as folder:
        for name, text in files.items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        os.symlink(executable, os.path.join(folder, "guildhall"))
        os.mkdir(os.path.join(folder, "tmp"))
        env = {**os.environ, "PATH": folder + ":" + os.environ["PATH"], "TMPDIR": os.path.join(folder, "tmp")}
        done = subprocess.run(["sh", "test.sh", "true"], cwd=folder, env=env, capture_output=True, text=True,
                              timeout=120, check=False)
        expect(done.returncode == 1 and "the bot does not come" in done.stdout, done.stdout + done.stderr)
        expect(os.listdir(os.path.join(folder, "tmp")) == [], "its data folder was not deleted")


def example_for_discord_js_runs(executable):
    run_example(executable, node_command, "bot.js")


def example_for_discord_py_runs(executable):
    run_example(executable, python_command, "bot.py")


def discord_js_handles_every_interaction(executable):
    with_app(executable, node_command, "interactions_js.js", check_all_interactions)


def discord_py_handles_every_interaction(executable):
    with_app(executable, python_command, "interactions_py.py", check_all_interactions)


if __name__ == "__main__":
    run_cases("interactions", [
        discord_js_handles_every_interaction,
        discord_py_handles_every_interaction,
        endpoint_verifies_signatures,
        acknowledged_interaction_survives_kill_9,
        failed_example_leaves_no_data,
    example_for_discord_js_runs,
        example_for_discord_py_runs,
    ])

#!/usr/bin/env python3
"""integrations - tests that unchanged client libraries list and delete the integrations of a
guild."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import expect, run_cases  # noqa: E402
from clients import Library, node_command, python_command  # noqa: E402
from prepared_data import copy_prepared_data  # noqa: E402
from process import Client, start_guildhall  # noqa: E402

WORLD = {
    "users": [{"username": "ada"}],
    "applications": [{"name": "Helper", "owner": "ada", "bot": "helper"},
                     {"name": "Other", "owner": "ada", "bot": "other"}],
    "guilds": [{"name": "Home", "owner": "ada",
                "roles": [{"name": "boss", "permissions": ["MANAGE_GUILD"]}],
                "members": [{"user": "helper", "roles": ["boss"]}, {"user": "other"}],
                "applications": [{"application": "Helper", "by": "ada"},
                                 {"application": "Other", "by": "ada"}]}],
}


class Server:
    """A server whose guild has two apps and an integration of each platform."""

    def __init__(self, executable, *flags):
        self.folder, self.executable = tempfile.mkdtemp(), executable
        self.data = copy_prepared_data(executable, os.path.join(self.folder, "data"))
        world = os.path.join(self.folder, "world.json")
        with open(world, "w", encoding="utf-8") as f:
            json.dump(WORLD, f)
        tokens = dict(re.findall(r"^(ada|helper) +(.*)$", self.tool("import", "--tokens", world),
                                 re.M))
        self.bot_token = tokens["helper"].removeprefix("Bot ")
        codes = {}
        for platform in ("platform_a", "platform_b"):
            self.tool("platform", "account", platform, "channel", f"Channel {platform}",
                      "programme")
            codes[platform] = self.tool("platform", "code", platform, "channel").strip()
        self.process = start_guildhall(executable, self.data, *flags)
        self.api = f"http://127.0.0.1:{self.process.port}/api"
        self.ada = Client(self.process.port, tokens["ada"])
        self.guild = self.call("GET", "/users/@me/guilds")[0]["id"]
        for platform, code in codes.items():
            self.follow(platform, code)

    def tool(self, *words):
        done = subprocess.run([self.executable, *words, "--data", self.data], capture_output=True,
                              text=True, timeout=60, check=False)
        expect(done.returncode == 0, done.stderr)
        return done.stdout

    def call(self, method, path, body=None):
        status, answer = self.ada.call(method, path, body)
        expect(status in (200, 204), f"{method} {path} answered {status}: {answer}")
        return answer

    def integrations(self):
        return self.call("GET", f"/guilds/{self.guild}/integrations")

    def follow(self, platform, code):
        state = self.call("GET", f"/connections/{platform}/authorize")["url"].split("state=")[1]
        self.call("POST", f"/connections/{platform}/callback", {"code": code, "state": state})
        self.call("POST", f"/guilds/{self.guild}/integrations",
                  {"type": platform, "id": "channel"})
        deadline = time.monotonic() + 60
        while any(i.get("syncing") or i.get("synced_at", "") == "" and "syncing" in i
                  for i in self.integrations()):
            expect(time.monotonic() < deadline, "the first sync does not complete")
            time.sleep(0.05)
        time.sleep(0.5)

    def close(self):
        self.ada.close()
        self.process.kill()
        shutil.rmtree(self.folder, ignore_errors=True)


def library_words():
    """Returns discord.py's names of the integration types, as an operator's option."""
    command, _ = python_command()
    words = subprocess.run([command[0], os.path.join(HERE, "integrations_py.py"), "--words"],
                           capture_output=True, text=True, timeout=60, check=True).stdout.split()
    return f"platform_a:{words[0]},platform_b:{words[1]},service:{words[2]}", words


def with_library(executable, command, folder, flags, scenario):
    server = Server(executable, *flags)
    library = None
    try:
        library = Library(command, server, 1, folder)
        library.expect("ready")
        scenario(server, library)
        library.end()
    finally:
        if library:
            library.close()
        server.close()


def js_command():
    _, folder = node_command()
    shutil.copy(os.path.join(HERE, "integrations_js.js"), folder)
    return ["node", "integrations_js.js"], folder


def py_command():
    command, folder = python_command()
    return [command[0], os.path.join(HERE, "integrations_py.py")], folder


def list_and_delete_js(words):
    def scenario(server, library):
        library.send_command("list")
        output = [library.next() for _ in range(5)]
        expect(output[-1] == "end of list", f"the library printed {output}")
        kinds = [line.split(" ")[1] for line in output[:-1]]
        expect(kinds == [words[2], words[2], words[0], words[1]], f"the library printed {output}")
        expect(all(" ada " in line for line in output[:-1]), f"the library printed {output}")
        for line, platform in zip(output[2:4], ("platform_a", "platform_b")):
            expect(line.endswith(f"false/0/7/false/false/true/Channel {platform} Subscriber"),
                   f"it said {line}")
        delete_both(server, library, [])
    return scenario


def list_and_delete_py(kinds):
    def scenario(server, library):
        library.send_command("list")
        output = [library.next() for _ in range(5)]
        expect(output[-1] == "end of list", f"the library printed {output}")
        expect([line.split(" ")[1] for line in output[:-1]] == kinds, f"the library printed {output}")
        if "StreamIntegration" in kinds:
            expect("Channel platform_a channel ada False/0/7/False/True/Channel platform_a "
                   "Subscriber" in output[2], f"the library printed {output}")
            expect(output[0].endswith(" ada Helper"), f"the library printed {output}")
        delete_both(server, library, ["gone app", "gone account"])
    return scenario


def delete_both(server, library, more):
    library.send_command("delete Other")
    library.expect("deleted Other", "changed", *more[:1])
    library.send_command("delete Channel platform_b")
    library.expect("deleted Channel platform_b", "changed", *more[1:])
    left = [i["name"] for i in server.integrations()]
    expect(left == ["Helper", "Channel platform_a"], f"{left} are left")


def discord_js_lists_and_deletes_integrations(executable):
    command, folder = js_command()
    with_library(executable, command, folder, (),
                 list_and_delete_js(("platform_a", "platform_b", "service")))


def discord_js_accepts_its_own_integration_type_names(executable):
    command, folder = js_command()
    option, words = library_words()
    with_library(executable, command, folder, ("--integration-words", option),
                 list_and_delete_js(words))


def discord_py_lists_and_deletes_integrations(executable):
    command, folder = py_command()
    with_library(executable, command, folder, (), list_and_delete_py(["Integration"] * 4))


def discord_py_accepts_its_own_integration_type_names(executable):
    command, folder = py_command()
    option, _ = library_words()
    with_library(executable, command, folder, ("--integration-words", option),
                 list_and_delete_py(["BotIntegration"] * 2 + ["StreamIntegration"] * 2))


if __name__ == "__main__":
    run_cases("integrations", [
        discord_js_lists_and_deletes_integrations,
        discord_js_accepts_its_own_integration_type_names,
        discord_py_lists_and_deletes_integrations,
        discord_py_accepts_its_own_integration_type_names,
    ])

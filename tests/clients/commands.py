#!/usr/bin/env python3
"""commands - tests that unchanged client libraries register, change and read commands."""

import json
import os
import shutil
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

from clients import NAMES, Library, Server, node_command, python_command  # noqa: E402
from cases import expect, run_cases  # noqa: E402


def node_program():
    _, folder = node_command()
    name = "discord_js_commands.js"
    shutil.copy(os.path.join(HERE, name), os.path.join(folder, name))
    return ["node", name], folder


def python_program():
    python, _ = python_command()
    return [python[0], os.path.join(HERE, "discord_py_commands.py")], None


def with_library(executable, make_command, scenario):
    command, folder = make_command()
    server = Server(executable)
    library = None
    try:
        library = Library(command, server, 1, folder)
        library.expect(f"ready {NAMES}")
        scenario(server, library)
        library.end()
    finally:
        if library:
            library.close()
        server.close()


def request(library, command):
    """Sends a line and returns the library's JSON reply."""
    library.send_command(command)
    line = library.next()
    expect(line.startswith("saw "), f"after '{command}' the library printed: {line}")
    return json.loads(line.removeprefix("saw "))


def expect_equal(got, wanted):
    expect(got == wanted, f"the library got {json.dumps(got)}, not {json.dumps(wanted)}")


def application_of(server):
    return server.ada.call("GET", "/applications")[1][0]["id"]


def listed(server, path=""):
    status, commands = server.ada.call(
        "GET", f"/applications/{application_of(server)}{path}/commands?with_localizations=true")
    expect(status == 200, f"listing the commands got {status}: {commands}")
    return commands


def register_and_change(server, library):
    # Registers all commands twice: the second time changes nothing.
    first = request(library, "set")
    expect_equal([c["name"] for c in listed(server)], first["names"])
    paint = next(c for c in listed(server) if c["name"] == "paint")
    expect_equal(paint["name_localizations"], {"de": "malen"})
    expect_equal(paint["default_member_permissions"], str(1 << 5))
    wall = next(o for o in paint["options"] if o["name"] == "wall")
    color = wall["options"][0]
    expect_equal([color["choices"][0]["name_localizations"], color["choices"][1]["value"]],
                 [{"de": "Rot"}, "blue"])
    expect_equal(request(library, "set"), first)

    # Creates, changes, reads and deletes one command.
    made = request(library, "create")
    expect_equal(made["name"], "extra")
    changed = request(library, "edit")
    expect_equal([changed["id"], changed["description"]], [made["id"], "Changed"])
    expect(changed["version"] != made["version"], "a change did not give a new version")
    expect_equal(request(library, "fetch"), changed)
    expect_equal(request(library, "delete"), len(first["names"]))

    # Registers commands of a guild.
    guild = server.ada.call("GET", "/users/@me/guilds")[1][0]["id"]
    local = request(library, f"guild {guild}")
    expect_equal(local["names"], [c["name"] for c in listed(server, f"/guilds/{guild}")])


def read_permissions(server, library):
    request(library, "set")
    guild = server.ada.call("GET", "/users/@me/guilds")[1][0]["id"]
    expect_equal(request(library, f"permissions {guild}"), [])
    command = next(c for c in listed(server) if c["name"] == "paint")
    rows = [{"id": guild, "type": 1, "permission": False}]
    status, answer = server.ada.call(
        "PUT", f"/applications/{application_of(server)}/guilds/{guild}/commands/{command['id']}"
               "/permissions", {"permissions": rows})
    expect(status == 200, f"setting permissions got {status}: {answer}")
    library.expect(f"told {command['id']}")
    expect_equal(request(library, f"permissions {guild}"), rows)


def errors_are_reported(_, library):
    refused = request(library, "refuse")
    expect_equal([refused["status"], refused["code"]], [400, 50035])
    expect("name" in refused["text"] and "Command name is invalid" in refused["text"],
           f"it saw {refused['text']}")


def discord_js_registers_commands(executable):
    with_library(executable, node_program, register_and_change)


def discord_js_reads_command_permissions(executable):
    with_library(executable, node_program, read_permissions)


def discord_js_reports_command_errors(executable):
    with_library(executable, node_program, errors_are_reported)


def discord_py_registers_commands(executable):
    with_library(executable, python_program, register_and_change)


def discord_py_reads_command_permissions(executable):
    with_library(executable, python_program, read_permissions)


def discord_py_reports_command_errors(executable):
    with_library(executable, python_program, errors_are_reported)


if __name__ == "__main__":
    run_cases("clients/commands", [
        discord_js_registers_commands,
        discord_js_reads_command_permissions,
        discord_js_reports_command_errors,
        discord_py_registers_commands,
        discord_py_reads_command_permissions,
        discord_py_reports_command_errors,
    ])

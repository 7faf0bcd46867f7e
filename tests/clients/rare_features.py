#!/usr/bin/env python3
"""rare_features - tests rarely used features with unchanged client libraries: thread members, tags,
announcements, sounds, application emoji, guild counts, automod actions and polls."""

import clients
from cases import expect, run_cases
from clients import Client, Library, Server, node_command, python_command

EVE = "eve-whose-words-are-looked-at"
clients.WORLD["users"].append({"username": "eve", "token": EVE})
clients.WORLD["guilds"] = [{
    "name": "Guild", "owner": "ada",
    "channels": [{"name": "talk"}, {"name": "ideas", "type": "forum"}, {"name": "bulletin", "type": "news"}],
    "roles": [{"name": "all", "permissions": "ALL"}],
    "members": [{"user": "helper", "roles": ["all"]}, {"user": "eve"}],
    "applications": [{"application": "Helper", "by": "ada"}],
}]
JS_STEPS = ["ready", "joined aside 2", "removed 1", "left 0", "tagged bug true", "untagged 0", "news true true",
            "sound ding 1", "louder dong 0.5", "silent true", "own own true", "renamed mine", "own 0",
            "preview Guild 3", "counts 1", "prunes 0", "pruned ", "guarded"]
PY_STEPS = ["ready", "joined aside 2", "removed 0", "left aside", "tagged bug", "untagged 0", "news True True",
            "prunes 0", "pruned None", "welcome Hello Talk", "planned"]


def as_eve(server, method, path, body=None):
    eve = Client(server.process.port, EVE)
    status, answer = eve.call(method, path, body)
    eve.close()
    return status, answer


def break_a_rule(server):
    status, answer = as_eve(server, "POST", f"/channels/{server.channels[0]}/messages", {"content": "a cat"})
    expect(status == 400 and answer["code"] == 200000, f"a message got {status}: {answer}")


def join_and_leave_event(server):
    events = f"/guilds/{server.ada.call('GET', '/users/@me/guilds')[1][0]['id']}/scheduled-events"
    event = server.ada.call("GET", events)[1][0]["id"]
    for method, wanted in (("PUT", 200), ("DELETE", 204)):
        status, answer = as_eve(server, method, f"{events}/{event}/users/@me")
        expect(status == wanted, f"{method} got {status}: {answer}")


def vote_and_remove_vote(server):
    channel = f"/channels/{server.channels[0]}"
    poll = server.ada.call("GET", f"{channel}/messages?limit=1")[1][0]["id"]
    for answers in ([1], []):
        status, answer = server.ada.call("PUT", f"{channel}/polls/{poll}/answers/@me", {"answer_ids": answers})
        expect(status == 204, f"a vote got {status}: {answer}")


def run_with_library(executable, command, folder, scenario):
    server, library = Server(executable), None
    try:
        library = Library(command, server, 1, folder)
        scenario(server, library)
    finally:
        if library:
            library.close()
        server.close()


def expect_all(library, steps):
    for step in steps:
        library.expect(step)


def discord_js_scenario(server, library):
    expect_all(library, JS_STEPS)
    break_a_rule(server)
    expect_all(library, ["stopped cat 1", "asked"])
    vote_and_remove_vote(server)
    expect_all(library, ["voted one", "unvoted one"])


def discord_py_scenario(server, library):
    expect_all(library, PY_STEPS)
    join_and_leave_event(server)
    expect_all(library, ["comes eve", "stays eve", "guarded"])
    break_a_rule(server)
    library.expect("stopped cat 1")


def discord_js_uses_rare_features(executable):
    run_with_library(executable, *node_command("rare_features_js.js"), discord_js_scenario)


def discord_py_uses_rare_features(executable):
    run_with_library(executable, *python_command("rare_features_py.py"), discord_py_scenario)


if __name__ == "__main__":
    run_cases("rare_features", [discord_js_uses_rare_features, discord_py_uses_rare_features])

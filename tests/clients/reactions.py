#!/usr/bin/env python3
"""reactions - tests reactions and emoji with unchanged client libraries."""

import clients
from cases import run_cases
from clients import Library, Server, node_command, python_command

clients.WORLD["guilds"] = [{
    "name": "Guild", "owner": "ada", "channels": [{"name": "talk"}, {"name": "ideas", "type": "forum"}],
    "roles": [{"name": "all", "permissions": "ALL"}],
    "members": [{"user": "helper", "roles": ["all"]}],
    "applications": [{"application": "Helper", "by": "ada"}],
}]
STEPS = ["ready", "emojis 0 1 party", "added \N{THUMBS UP SIGN} helper", "added party helper",
         "shown \N{THUMBS UP SIGN}=1True party=1True", "users helper", "removed party",
         "cleared \N{THUMBS UP SIGN}", "empty True", "renamed parties", "left 0"]
# The steps that discord.js runs in features.py and guild_administration.py.
MORE = ["thread aside 2", "archived aside", "post first bug", "stuck wave", "event The park", "rule cat",
        "template Guild", "prunes 0"]


def go_through(executable, make_command, script, steps):
    command, folder = make_command(script)
    server, library = Server(executable), None
    try:
        library = Library(command, server, 1, folder)
        for step in steps:
            library.expect(step)
    finally:
        if library:
            library.close()
        server.close()


def discord_js_uses_reactions_and_emoji(executable):
    go_through(executable, node_command, "reactions_js.js", STEPS)


def discord_py_uses_reactions_and_emoji(executable):
    go_through(executable, python_command, "reactions_py.py", STEPS + MORE)


if __name__ == "__main__":
    run_cases("reactions", [
        discord_js_uses_reactions_and_emoji,
        discord_py_uses_reactions_and_emoji,
    ])

#!/usr/bin/env python3
"""features - tests threads, posts, stickers, polls, entitlements and forwards with an unchanged discord.js."""

import clients
from cases import run_cases
from clients import Library, Server, node_command

clients.WORLD["guilds"] = [{
    "name": "Guild", "owner": "ada",
    "channels": [{"name": "talk"}, {"name": "ideas", "type": "forum"}],
    "roles": [{"name": "all", "permissions": "ALL"}],
    "members": [{"user": "helper", "roles": ["all"]}],
    "applications": [{"application": "Helper", "by": "ada"}],
}]
clients.WORLD["applications"][0]["skus"] = [{"name": "Coin", "type": "consumable"}]
STEPS = ["ready", "thread aside in it", "archived true", "post first", "sticker wave", "stuck wave",
         "unstuck wave", "poll Which? one,two", "ended true 46", "granted Coin", "used true",
         "taken back", "forward hello"]


def discord_js_uses_threads_polls_stickers_and_entitlements(executable):
    command, folder = node_command("features_js.js")
    server, library = Server(executable), None
    try:
        library = Library(command, server, 1, folder)
        for step in STEPS:
            library.expect(step)
    finally:
        if library:
            library.close()
        server.close()


if __name__ == "__main__":
    run_cases("features", [discord_js_uses_threads_polls_stickers_and_entitlements])

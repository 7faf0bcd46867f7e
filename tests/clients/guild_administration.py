#!/usr/bin/env python3
"""guild_administration - tests guild administration through unchanged client libraries: templates,
onboarding, events, automod and the audit log."""

import clients
from cases import run_cases
from clients import Library, Server, node_command

clients.WORLD["guilds"] = [{
    "name": "Guild", "owner": "ada", "channels": [{"name": "talk"}], "features": ["VANITY_URL"],
    "roles": [{"name": "all", "permissions": "ALL"}],
    "members": [{"user": "helper", "roles": ["all"]}],
    "applications": [{"application": "Helper", "by": "ada"}],
}]
STEPS = ["ready", "template Base all 0", "synced false", "gone",
         "onboarding Which? One", "welcome Hello true",
         "widget true 1", "incidents true", "event The park", "rule cat", "log Walk Cats Side Side",
         "sounds 0", "vanity our-place"]


def discord_js_administers_a_guild(executable):
    command, folder = node_command("guild_administration_js.js")
    server, library = Server(executable), None
    try:
        guild = server.ada.call("GET", "/users/@me/guilds")[1][0]["id"]
        server.ada.call("PATCH", f"/guilds/{guild}/vanity-url", {"code": "our-place"})
        library = Library(command, server, 1, folder)
        for step in STEPS:
            library.expect(step)
    finally:
        if library:
            library.close()
        server.close()


if __name__ == "__main__":
    run_cases("guild_administration", [discord_js_administers_a_guild])

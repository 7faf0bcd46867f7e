#!/usr/bin/env python3
"""reactions.py - what reactions cost when messages are listed.

Starts a server with 50 messages without reactions and 50 with 20 each, asks for both pages
CALLS times, and prints the processor time of the server for a page. The reader has put some of
the emoji there. Usage: reactions.py EXECUTABLE [CALLS]
"""
import http.client
import json
import os
import re
import subprocess
import sys
import tempfile

from process import Process

CALLS = int(sys.argv[2]) if len(sys.argv) > 2 else 1000
EMOJI = [chr(0x1F400 + n) for n in range(20)]


def message(reacted):
    put = [{"emoji": e, "users": ["ada"] if n < 3 else ["bob", "cleo"]} for n, e in enumerate(EMOJI)]
    return {"author": "ada", "content": "What was said here", **({"reactions": put} if reacted else {})}


WORLD = {
    "users": [{"username": name} for name in ("ada", "bob", "cleo")],
    "guilds": [{"name": "Home", "owner": "ada", "members": [{"user": "bob"}, {"user": "cleo"}],
                "channels": [{"name": name, "messages": [message(name == "with") for _ in range(50)]}
                             for name in ("without", "with")]}],
}


def spent(pid):
    """Processor time of all threads of a process so far, in seconds."""
    total = 0
    for thread in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{thread}/schedstat", encoding="utf-8") as f:
            total += int(f.read().split()[0])
    return total / 1e9


def page_cost(server, token, channel):
    """Microseconds of processor time for a page, and its bytes."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port)
    began = spent(server.pid)
    for _ in range(CALLS):
        connection.request("GET", f"/api/v10/channels/{channel}/messages?limit=50",
                           headers={"Authorization": token})
        body = connection.getresponse().read()
    return (spent(server.pid) - began) / CALLS * 1e6, body


def main():
    executable = sys.argv[1]
    with tempfile.TemporaryDirectory() as folder:
        world, data = f"{folder}/world.json", f"{folder}/data"
        with open(world, "w", encoding="utf-8") as f:
            json.dump(WORLD, f)
        done = subprocess.run([executable, "import", "--tokens", world, "--data", data], check=True,
                              capture_output=True, text=True)
        token = re.search(r"^ada +(.*)$", done.stdout, re.M).group(1)
        server = Process([executable, "serve", "--data", data, "--listen", "127.0.0.1:0", "--rate-limits", "off"])
        try:
            connection = http.client.HTTPConnection("127.0.0.1", server.port)
            headers = {"Authorization": token}
            connection.request("GET", "/api/v10/users/@me/guilds", headers=headers)
            guild = json.loads(connection.getresponse().read())[0]["id"]
            connection.request("GET", f"/api/v10/guilds/{guild}/channels", headers=headers)
            ids = {c["name"]: c["id"] for c in json.loads(connection.getresponse().read())}
            costs = {name: page_cost(server, token, ids[name]) for name in ("without", "with")}
            shown = json.loads(costs["with"][1])[0]["reactions"]
            assert len(shown) == 20 and sum(r["me"] for r in shown) == 3
            for name, (cost, body) in costs.items():
                print(f"{name:8} {cost:8.0f} us of processor time, {len(body)} bytes")
            print(f"ratio    {costs['with'][0] / costs['without'][0]:.2f}")
        finally:
            server.kill()


main()

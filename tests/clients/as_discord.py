#!/usr/bin/env python3
"""as_discord - tests `serve --as-discord`: bots run with nothing but their token.

Each case runs the server with a command in its namespace; the command is this file with the name of
a scenario, and calls the server at https://discord.com like any client."""

import json
import os
import random
import re
import ssl
import subprocess
import sys
import tempfile
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402
from clients import Library, node_command, python_command  # noqa: E402
from prepared_data import copy_prepared_data  # noqa: E402

TOKEN = "helper-token-for-tests"
WORLD = {
    "users": [{"username": "ada"}],
    "applications": [{"name": "Helper", "owner": "ada", "bot": "helper", "token": TOKEN}],
    "guilds": [{"name": "Home", "owner": "ada",
                "channels": [{"name": "talk"}, {"name": "lounge", "type": "voice"}],
                "members": [{"user": "helper"}],
                "applications": [{"application": "Helper", "by": "ada"}]}],
}


# --- outside: the server and its command ---------------------------------------------


def import_world(executable, folder):
    world = os.path.join(folder, "world.json")
    with open(world, "w", encoding="utf-8") as f:
        json.dump(WORLD, f)
    data = copy_prepared_data(executable, os.path.join(folder, "data"))
    done = subprocess.run([executable, "import", "--tokens", world, "--data", data],
                          capture_output=True, text=True, timeout=60, check=False)
    expect(done.returncode == 0, done.stderr)
    return data, re.search(r"^ada +(.*)$", done.stdout, re.M)[1]


def loopback_address():
    """Returns an address of its own, so that tests that run at the same time share no port."""
    return ".".join(["127", *(str(random.randint(1, 254)) for _ in range(3))])


def serve(executable, data, command, address=None, before=(), **env):
    return subprocess.run(
        [*before, executable, "serve", "--data", data, "--as-discord", "--log-level", "warn",
         "--listen", f"{address or loopback_address()}:1", "--", *command],
        capture_output=True, text=True, timeout=300, check=False, env={**os.environ, **env})


def run_scenario(executable, scenario, **env):
    """Runs a function of this file inside the namespace of the command."""
    with tempfile.TemporaryDirectory() as folder:
        data, ada = import_world(executable, folder)
        done = serve(executable, data, [sys.executable, __file__, "--inside", scenario], ADA=ada,
                     EXECUTABLE=executable, TOKEN=TOKEN, DATA=data, **env)
        if done.returncode == 126 and "mount namespace" in done.stderr:
            raise Skip("this machine does not allow mount namespaces")
        expect(done.returncode == 0, done.stdout[-3000:] + done.stderr[-3000:])
        return done


def run_library(executable, make_command):
    command, folder = make_command()
    run_scenario(executable, "library_logs_in_and_answers", LIBRARY=json.dumps([command, folder or HERE]))


def node_library(name):
    def make_command():
        command, folder = node_command("as_discord.js")
        return [*command, name], folder
    return make_command


def discord_js_12_runs_with_nothing_but_a_token(executable):
    run_library(executable, node_library("discord.js-12"))


def discord_js_13_runs_with_nothing_but_a_token(executable):
    run_library(executable, node_library("discord.js-13"))


def discord_js_14_runs_with_nothing_but_a_token(executable):
    run_library(executable, node_library("discord.js"))


def eris_0_16_runs_with_nothing_but_a_token(executable):
    run_library(executable, node_library("eris-0.16"))


def eris_0_18_runs_with_nothing_but_a_token(executable):
    run_library(executable, node_library("eris"))


def oceanic_js_runs_with_nothing_but_a_token(executable):
    run_library(executable, node_library("oceanic.js"))


def dysnomia_runs_with_nothing_but_a_token(executable):
    run_library(executable, node_library("@projectdysnomia/dysnomia"))


def detritus_runs_with_nothing_but_a_token(executable):
    run_library(executable, node_library("detritus-client"))


def cloudstorm_runs_with_nothing_but_a_token(executable):
    run_library(executable, node_library("cloudstorm"))


def discord_py_runs_with_nothing_but_a_token(executable):
    run_library(executable, lambda: python_command("as_discord_py.py"))


def every_host_name_has_a_certificate_and_leads_to_the_server(executable):
    run_scenario(executable, "every_name_is_served")


def certificates_stay_until_a_name_is_missing_and_only_the_server_has_a_key(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, _ = import_world(executable, folder)

        def files():
            made = os.path.join(data, "as-discord")
            return {name: open(os.path.join(made, name), "rb").read() for name in os.listdir(made)}

        address = loopback_address()
        serve(executable, data, ["true"], address)
        first = files()
        expect(set(first) == {"ca.pem", "cert.pem", "key.pem", "trusted.pem", "hosts"}, set(first))
        expect([n for n in first if b"PRIVATE KEY" in first[n]] == ["key.pem"], "a second key")
        expect(first["trusted.pem"].startswith(first["ca.pem"]), "ca.pem is not trusted")
        serve(executable, data, ["true"], address)
        expect(files() == first, "the certificate changed without a reason")
        serve(executable, data, ["true"])
        expect(files()["ca.pem"] != first["ca.pem"], "an address is missing in the certificate")


def exit_status_is_that_of_the_command(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, _ = import_world(executable, folder)
        for command, status in ((["sh", "-c", "exit 5"], 5), (["sh", "-c", "kill -9 $$"], 137),
                                (["/nonexistent"], 127)):
            done = serve(executable, data, command)
            expect(done.returncode == status, f"{command}: {done.returncode} {done.stderr}")
        for words, sentence in ((["--"], "-- must be followed by a command"),
                                (["--", "true"], "serve runs a command only with --as-discord"),
                                (["true"], "serve accepts no arguments but a command after --")):
            done = subprocess.run([executable, "serve", "--data", data, *words],
                                  capture_output=True, text=True, timeout=60, check=False)
            expect(done.returncode == 2 and sentence in done.stderr, f"{words}: {done.stderr}")


def command_changes_nothing_outside_its_namespace(executable):
    with tempfile.TemporaryDirectory() as folder:
        data, _ = import_world(executable, folder)
        before = open("/etc/hosts", "rb").read()
        inside = serve(executable, data, ["cat", "/etc/hosts"])
        expect("gateway.discord.gg" in inside.stdout, inside.stdout + inside.stderr)
        expect(open("/etc/hosts", "rb").read() == before, "/etc/hosts changed")


BOT = """const { Client } = require('discord.js');
const client = new Client({ intents: [] });
client.once('clientReady', () => { console.log('ready', client.user.username); process.exit(0); });
client.login(process.env.TOKEN);
"""


def documented_commands_run_a_bot(executable):
    """Runs the lines of docs/testing-your-bot.md and of README.md."""
    def page(*path):
        with open(os.path.join(HERE, "..", "..", *path), encoding="utf-8") as f:
            return f.read()

    _, modules = node_command("as_discord.js")
    guide = page("docs", "testing-your-bot.md")
    lines = re.search(r"^```sh\n(guildhall import world.json.*?)^```$", guide, re.M | re.S)[1]
    readme = re.search(r"^```sh\n(TOKEN=.*--as-discord.*?)^```$", page("README.md"), re.M | re.S)[1]
    lines += readme.replace("TOKEN=...", "TOKEN=weather-token-for-tests")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (("bot.js", BOT), ("world.json", re.search(
                r"^```json world.json\n(.*?)^```$", guide, re.M | re.S)[1])):
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        os.mkdir(os.path.join(folder, "build"))
        os.symlink(executable, os.path.join(folder, "build", "guildhall"))
        env = {**os.environ, "GUILDHALL_LISTEN": f"{loopback_address()}:443",
               "NODE_PATH": os.path.join(modules, "node_modules"),
               "PATH": os.path.join(folder, "build") + ":" + os.environ["PATH"]}
        done = subprocess.run(["sh", "-euc", lines], cwd=folder, env=env, capture_output=True,
                              text=True, timeout=300, check=False)
        expect(done.returncode == 0 and done.stdout.count("\nready weather\n") == 2,
               done.stdout + done.stderr)


def ordinary_user_gets_a_network_of_its_own(executable):
    if os.geteuid() != 0:
        raise Skip("this test starts as root and becomes another user")
    with tempfile.TemporaryDirectory() as folder:
        data, _ = import_world(executable, folder)
        os.chmod(folder, 0o755)
        subprocess.run(["chown", "-R", "nobody", data], check=True)
        become = ["setpriv", "--reuid=nobody", "--clear-groups"]
        if subprocess.run([*become, executable, "version"], capture_output=True,
                          check=False).returncode:
            raise Skip("another user may not run the program")
        done = serve(executable, data, ["sh", "-c", "id -un && cat /proc/net/dev"], before=become)
        if "user namespaces" in done.stderr:
            raise Skip("this machine does not allow user namespaces")
        expect(done.returncode == 0 and "\nnobody\n" in done.stdout, done.stdout + done.stderr)
        expect(re.findall(r"^ *(\w+):", done.stdout, re.M)[-1:] == ["lo"], done.stdout)
        alone = subprocess.run([*become, executable, "serve", "--data", data, "--as-discord"],
                               capture_output=True, text=True, timeout=60, check=False)
        expect(alone.returncode == 1 and "which only root may use" in alone.stderr, alone.stderr)


# --- inside: stories that see the platform's names ------------------------------------


def call(method, path, body=None, token="ADA"):
    request = urllib.request.Request(
        "https://discord.com/api/v10" + path, method=method,
        data=None if body is None else json.dumps(body).encode(),
        headers={"Authorization": os.environ[token], "Content-Type": "application/json"})
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.loads(answer.read() or b"null")


class TokenOnlyLibrary(Library):
    """A bot that gets its token from the environment and no address."""

    def __init__(self, command, folder):  # pylint: disable=super-init-not-called
        self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, cwd=folder)
        self.lines, self.rest = [], b""


def library_logs_in_and_answers():
    command, folder = json.loads(os.environ["LIBRARY"])
    name = command[-1] if command[0] == "node" else "discord.py"
    guild = call("GET", "/users/@me/guilds")[0]["id"]
    channel = next(c["id"] for c in call("GET", f"/guilds/{guild}/channels") if c["name"] == "talk")
    library = TokenOnlyLibrary(command, folder)
    try:
        library.expect("ready Home")
        if name == "discord.js":
            library.expect("endpoint voice.discord.media:443", "voice ready")
        call("POST", f"/channels/{channel}/messages", {"content": "!ping"})
        library.expect("heard !ping", f"file 200 {name}")
        answer = call("GET", f"/channels/{channel}/messages?limit=1")[0]
        expect(answer["embeds"][0]["title"] == "pong", answer)
        url = answer["attachments"][0]["url"]
        expect(url.startswith("https://cdn.discordapp.com/attachments/"), url)
    finally:
        library.close()


def every_name_is_served():
    with open(os.path.join(os.environ["DATA"], "as-discord", "hosts"), encoding="utf-8") as f:
        names = f.readline().split()[1:]
    expect(len(names) > 10 and "media.discordapp.net" in names, names)
    for name in names:
        with urllib.request.urlopen(f"https://{name}/api/v10/gateway", timeout=60) as answer:
            expect(json.load(answer) == {"url": "wss://gateway.discord.gg"}, name)
    with urllib.request.urlopen("https://cdn.discordapp.com/embed/avatars/0.png") as picture:
        expect(picture.headers["Content-Type"] == "image/png", picture.headers)
    untrusting = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)  # trusts nothing
    try:
        urllib.request.urlopen("https://discord.com/api/v10/gateway", context=untrusting)
    except urllib.error.URLError as e:
        expect("CERTIFICATE_VERIFY_FAILED" in str(e), e)
    else:
        raise AssertionError("a client without the authority was served")


if __name__ == "__main__":
    if sys.argv[1] == "--inside":
        {f.__name__: f for f in (library_logs_in_and_answers, every_name_is_served)}[sys.argv[2]]()
        sys.exit(0)
    run_cases("as_discord", [
        discord_js_12_runs_with_nothing_but_a_token,
        discord_js_13_runs_with_nothing_but_a_token,
        discord_js_14_runs_with_nothing_but_a_token,
        eris_0_16_runs_with_nothing_but_a_token,
        eris_0_18_runs_with_nothing_but_a_token,
        oceanic_js_runs_with_nothing_but_a_token,
        dysnomia_runs_with_nothing_but_a_token,
        detritus_runs_with_nothing_but_a_token,
        cloudstorm_runs_with_nothing_but_a_token,
        discord_py_runs_with_nothing_but_a_token,
        every_host_name_has_a_certificate_and_leads_to_the_server,
        certificates_stay_until_a_name_is_missing_and_only_the_server_has_a_key,
        exit_status_is_that_of_the_command,
        command_changes_nothing_outside_its_namespace,
        documented_commands_run_a_bot,
        ordinary_user_gets_a_network_of_its_own,
    ])

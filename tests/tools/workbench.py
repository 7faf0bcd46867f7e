#!/usr/bin/env python3
"""workbench - tests the tools for bot authors: watch traffic, move the clock, inject failures, act
as users."""

import functools
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))

from cases import expect, run_cases  # noqa: E402
from demo_data import put_demo, start_demo  # noqa: E402
from gateway_session import connect, is_closed  # noqa: E402
from prepared_data import start_guildhall  # noqa: E402
from process import Failed, free_port, register  # noqa: E402


PATIENCE = 60


def tool(executable, data, *words):
    return subprocess.run([executable, *words, "--data", data], capture_output=True, text=True,
                          timeout=60, check=False)


def call(port, path, token, body=None):
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}{path}", body and json.dumps(body).encode(),
        {"Authorization": token, "Content-Type": "application/json"})
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            return answer.status
    except urllib.error.HTTPError as refusal:
        return refusal.code


def with_server(executable, work, *flags):
    with tempfile.TemporaryDirectory() as data:
        server = start_guildhall(executable, data, *flags)
        try:
            work(data, server.port, register(server.port, "ada"))
        finally:
            server.stop()


def watch_shows_requests(executable):
    def work(data, port, ada):
        watch = subprocess.Popen(
            [executable, "watch", "--data", data, "--status", "error", "--count", "2", "--after",
             "0"], stdout=subprocess.PIPE, text=True)
        call(port, "/api/v10/users/@me", ada)
        call(port, "/api/v10/users/1", ada)
        call(port, "/v10/users/@me", ada)
        lines = watch.communicate(timeout=60)[0].splitlines()
        expect(watch.returncode == 0 and len(lines) == 2, str(lines))
        expect(" ada " in lines[0] and " GET    /api/v10/users/1 404 10013 " in lines[0], lines[0])
        expect("is /api missing" in lines[1], lines[1])
        result = tool(executable, data, "watch", "--after", "0", "--user", "ada", "--route",
                      "get_current_user", "--count", "1", "--json")
        expect(json.loads(result.stdout)["user"]["username"] == "ada", result.stdout)
        none = tool(executable, data, "watch", "--count", "1", "--seconds", "1")
        expect(none.returncode == 5 and not none.stdout, none.stdout)
        for words, problem in (
                (("--kind", "frames"), "--kind must be one of call|request|frame|"),
                (("--status", "failed"), "--status must be a status such as 404, a class such as 4xx, or error, not 'failed'"),
                (("--status", "9xx"), "not '9xx'"),
                (("--method", "FETCH"), "--method must be GET, POST,"),
                (("--event", "MESAGE_CREATE"), "no event 'MESAGE_CREATE'; did you mean MESSAGE_CREATE?"),
                (("--user", "adda"), "there is no such account; did you mean 'ada'?"),
                (("--user", "somebody else"), "there is no such account; 'user list' prints the names"),
                (("--user", "123456789012345678"), "there is no such account; 'user list'")):
            wrong = tool(executable, data, "watch", *words)
            expect(wrong.returncode == (1 if "account" in problem else 2) and problem in wrong.stderr, f"{words}: {wrong.stderr}")
        for words in (("--method", "get"), ("--status", "2xx"), ("--status", "200"), ("--kind", "call"),
                      ("--event", "READY")):
            right = tool(executable, data, "watch", *words, "--seconds", "1")
            expect(right.returncode == 0 and not right.stderr, f"{words}: {right.stderr}")
    with_server(executable, work, "--traffic", "1")


def why_explains_permissions_and_deliveries(executable):
    with tempfile.TemporaryDirectory() as data:
        demo = start_demo(executable, put_demo(executable, data))
        try:
            why = functools.partial(tool, executable, data, "why")
            yes = why("ada", "Send Messages", "in", "general")
            expect(yes.returncode == 0 and yes.stdout.endswith("yes\n"), yes.stdout + yes.stderr)
            no = why("emil", "ban-members", "in", "The Workshop/general")
            expect(no.returncode == 3 and "\nno: emil lacks BAN_MEMBERS in #general: none of its roles"
                   in no.stdout, no.stdout + no.stderr)
            expect(json.loads(why("emil", "BAN_MEMBERS", "--json").stdout)["allowed"] is False, "json")
            tool(executable, data, "say", "hello", "--as", "ada", "--channel", "general")
            seen = tool(executable, data, "watch", "--after", "0", "--user", "ada", "--route",
                        "create_message", "--count", "1", "--json")
            message = json.loads(json.loads(seen.stdout)["reply"])
            nobody = why("emil", f"/channels/1/{message['channel_id']}/{message['id']}")
            expect(nobody.returncode == 3 and "no: emil has no session" in nobody.stdout,
                   nobody.stdout + nobody.stderr)
            for words, problem in ((("emil", "FLY"), "must be one of: CREATE_INSTANT_INVITE"),
                                   (("nobody", "SPEAK"), "there is no account with this id or name\n"),
                                   (("emli", "SPEAK"), "there is no account with this id or name; did you mean 'emil'?"),
                                   (("emil", "SPEAK", "in", "x"), "no server of this account has a channel")):
                done = why(*words)
                expect(done.returncode == 1 and done.stderr.startswith(f"guildhall: {problem}"), done.stderr)
            expect(why("emil").returncode == 2, "the usage")
        finally:
            demo.stop()


def workbench_clock_can_be_moved(executable):
    def work(data, port, ada):
        moved = tool(executable, data, "clock", "+15m")
        expect(moved.returncode == 0 and ", 900 s ahead" in moved.stdout, moved.stdout)
        result = json.loads(tool(executable, data, "clock", "--json").stdout)
        expect(result["moved_ms"] == 900000, str(result))
        expect(", 0 s ahead" in tool(executable, data, "clock", "reset").stdout, "reset")
        expect(tool(executable, data, "clock", "soon").returncode == 2, "a word")
        expect(tool(executable, data, "clock", "-15m").returncode != 0, "backwards")
        expect(call(port, "/api/v10/users/@me", ada) == 200, "it goes on")
    with_server(executable, work, "--workbench", "on")


def workbench_failure_rules_apply(executable):
    def work(data, port, ada):
        made = tool(executable, data, "fault", "GET /users/*", "--status", "503", "--times", "2")
        expect(made.stdout == "1: GET /users/*, 503, 2 left, applied 0 times\n", made.stdout + made.stderr)
        expect([call(port, "/api/v10/users/@me", ada) for _ in range(3)] == [503, 503, 200], "twice")
        tool(executable, data, "fault", "/users/@me", "--status", "429", "--retry-after", "2s",
             "--delay", "20ms", "--times", "0")
        result = json.loads(tool(executable, data, "fault", "--json").stdout)
        expect(result[0]["retry_after_ms"] == 2000, "2s")
        result = tool(executable, data, "fault").stdout
        expect(result == "2: /users/@me, after 20 ms, 429, applied 0 times\n", result)
        expect(call(port, "/api/v10/users/@me", ada) == 429, "limited")
        expect(tool(executable, data, "fault", "clear").returncode == 0, "clear")
        expect(call(port, "/api/v10/users/@me", ada) == 200, "taken back")
        late = tool(executable, data, "fault", "events", "--delay", "20ms")
        expect(late.stdout == "3: events, after 20 ms, applied 0 times\n", late.stdout + late.stderr)
        expect(tool(executable, data, "fault", "nonsense").returncode == 2, "no path")
        expect(tool(executable, data, "fault", "/x").returncode == 3, "no fault")
    with_server(executable, work, "--workbench", "on")


def health_command_prints_figures_per_minute(executable):
    def work(data, port, ada):
        expect(call(port, "/api/v10/users/@me", ada) == 200, "a call")
        result = json.loads(tool(executable, data, "health", "--json").stdout)
        expect(result["minutes"][-1]["calls"] >= 1, str(result))
        lines = tool(executable, data, "health").stdout.splitlines()
        expect(lines[0].split()[0] == "minute" and any("calls about" in x for x in lines), str(lines))
        expect(any(x.startswith("Accounts") for x in lines), str(lines))
        expect(tool(executable, data, "health", "word").returncode == 2, "a word")
        expect(json.loads(tool(executable, data, "snapshot", "--json").stdout)["snapshots"] == [], "none")
    with_server(executable, work)


def workbench_commands_require_the_workbench_option(executable):
    def work(data, _port, _ada):
        for words in (["clock", "+1h"], ["fault", "/x", "--status", "500"]):
            refused = tool(executable, data, *words)
            expect(refused.returncode == 3 and "no workbench" in refused.stderr, refused.stderr)
    with_server(executable, work)
    with tempfile.TemporaryDirectory() as data:
        for word in ("clock", "fault", "health", "watch", "console-key"):
            refused = tool(executable, data, word)
            expect(refused.returncode == 1 and "no server runs" in refused.stderr, refused.stderr)


def workbench_can_drop_sessions(executable):
    def work(data, port, ada):
        first = connect(port, ada)
        expect(tool(executable, data, "sessions", "drop", "ada").returncode == 0, "drop")
        expect(is_closed(first), "it was dropped")
        second = connect(port, ada)
        expect(tool(executable, data, "sessions", "reconnect", "ada").returncode == 0, "op 7")
        seen = b""
        while b'"op":7' not in seen:
            seen += second.recv(65536)
        expect(tool(executable, data, "sessions", "invalidate", "ada").returncode == 0, "op 9")
        while b'"op":9' not in seen:
            seen += second.recv(65536)
        nobody = tool(executable, data, "sessions", "drop", "bob")
        expect(nobody.returncode == 2 and "has no session" in nobody.stderr, nobody.stderr)
    with_server(executable, work)


def with_demo(executable, work, *flags):
    with tempfile.TemporaryDirectory() as data:
        demo = start_demo(executable, put_demo(executable, data), *flags)
        try:
            work(data, demo)
        finally:
            demo.stop()


def retry_until_bot_is_connected(ask):
    """Repeats a request to the demo's bot, whose session may start after the first line was
    printed."""
    end = time.monotonic() + PATIENCE
    while True:
        done = ask()
        late = done.returncode == 5 or "has no session" in done.stderr
        if not late or time.monotonic() > end:
            return done
        time.sleep(0.05)


def interactions_in(seen):
    """Returns the interactions that a bot received in complete frames."""
    found = []
    for piece in seen.split(b'"INTERACTION_CREATE"')[1:]:
        try:
            data = piece[piece.index(b'"d":') + 4:].decode(errors="replace")
            found.append(json.JSONDecoder().raw_decode(data)[0])
        except ValueError:
            break  # the rest has not arrived yet
    return found


def demo_bot_answers_its_commands(executable):
    def work(data, _demo):
        def ask(*words):
            return tool(executable, data, "invoke", "--as", "ada", "--channel", "general", *words)
        rolled = retry_until_bot_is_connected(lambda: ask("/roll sides:6"))
        expect(rolled.returncode == 0 and "helper: Rolled " in rolled.stdout, rolled.stderr)
        again = ask("/roll sides:20 dice:2", "--press", "again")
        expect(again.returncode == 0 and again.stdout.count(" = ") == 2, again.stdout)
        secret = ask("/roll secret:true")
        expect("only for you" in secret.stdout, secret.stdout)
        choices = ask("--complete", "/ask question:Wh")
        expect("Where is the hammer?" in choices.stdout, choices.stdout)
    with_demo(executable, work)


def invoke_explains_a_missing_reply(executable):
    world = {"users": [{"username": "ada", "token": "adas-token-for-tests"}],
             "applications": [{"name": "Mute", "owner": "ada", "bot": "mute",
                               "token": "mutes-token-for-tests",
                               "commands": [{"name": "hush", "description": "Says nothing"}]}],
             "guilds": [{"name": "Test", "owner": "ada", "channels": [{"name": "general"}],
                         "members": [{"user": "mute"}],
                         "applications": [{"application": "Mute", "by": "ada"}]}]}
    with tempfile.TemporaryDirectory() as data:
        done = subprocess.run([executable, "import", "-", "--data", data], text=True, check=False,
                              input=json.dumps(world), capture_output=True, timeout=60)
        expect(done.returncode == 0, done.stderr)
        server = start_guildhall(executable, data, "--workbench", "on", "--rate-limits", "off")
        try:
            def ask():
                return tool(executable, data, "invoke", "--as", "ada", "--channel", "general",
                            "/hush")
            # More text than one page of records may have precedes the records of the interaction.
            for _ in range(80):
                status = call(server.port, "/api/v10/users/@me/channels", "adas-token-for-tests",
                              {"recipients": ["x" * 30000]})
                expect(status == 400, f"a list of people: {status}")
            done = ask()
            expect(done.returncode == 5 and "the app is not connected" in done.stderr, done.stderr)
            with connect(server.port, "mutes-token-for-tests", intents=0) as bot:
                done = ask()
                expect(done.returncode == 5 and "did its handler throw" in done.stderr, done.stderr)
                waiting_invoke = subprocess.Popen(
                    [executable, "invoke", "--as", "ada", "--channel", "general", "/hush", "--data",
                     data], stderr=subprocess.PIPE, text=True)
                seen = b""
                while len(interactions_in(seen)) < 2:
                    seen += bot.recv(65536)
                # The callback's three seconds have started, so nothing else is done in between.
                d = interactions_in(seen)[-1]
                status = call(server.port, f"/api/v10/interactions/{d['id']}/{d['token']}/callback",
                              "", {"type": 4, "data": {"content": "x" * 2001}})
                expect(status == 400, f"the answer: {status}")
                why = waiting_invoke.communicate(timeout=60)[1]
                expect(waiting_invoke.returncode == 4 and "data.content: Must be 2000" in why, why)
                result = tool(executable, data, "watch", "--after", "0", "--event",
                              "INTERACTION_CREATE", "--user", "mute", "--count", "2", "--json")
                watched = json.loads(json.loads(result.stdout.splitlines()[-1])["d"])
                expect(watched["id"] == d["id"], result.stdout)
        finally:
            server.stop()


def workbench_acts_on_behalf_of_users(executable):
    def work(data, _demo):
        def act(*words):
            return tool(executable, data, *words)
        waiting = subprocess.Popen(
            [executable, "say", "who is there?", "--as", "ada", "--channel", "general", "--expect",
             "only me", "--wait", "60", "--json", "--data", data], stdout=subprocess.PIPE, text=True)
        seen = act("watch", "--after", "0", "--route", "create_message", "--count", "1")
        expect(seen.returncode == 0, seen.stderr)
        result = act("say", "It is only me", "--as", "bob", "--channel", "general")
        expect(result.returncode == 0, result.stderr)
        result = waiting.communicate(timeout=90)[0]
        expect(waiting.returncode == 0 and json.loads(result)["content"] == "It is only me", result)
        none = act("say", "anybody?", "--as", "ada", "--channel", "general", "--expect", "yes",
                   "--wait", "1")
        expect(none.returncode == 5 and "no message that contains" in none.stderr, none.stderr)
        expect(act("react", "👍", "--as", "bob", "--channel", "general").returncode == 0, "react")
        left = act("leave", "The Workshop", "--as", "fay")
        expect(left.returncode == 0, left.stderr)
        expect(act("say", "x", "--as", "fay", "--channel", "general").returncode == 2, "gone")
        joined = act("join", "The Workshop", "--as", "fay", "--by", "ada")
        expect(joined.returncode == 0, joined.stderr)
        expect(act("join", "nonsense", "--as", "fay").returncode == 3, "no such invite")
        expect(act("leave", "Elsewhere", "--as", "fay").returncode == 2, "no such guild")
        expect(act("say", "x", "--as", "nobody", "--channel", "general").returncode == 1, "nobody")
        expect(act("say", "--as", "ada").returncode == 2, "no words")
    with_demo(executable, work)


def commands_connect_to_a_tls_only_server(executable):
    def work(data, demo):
        def act(*words):
            return tool(executable, data, *words)
        # The demo's bot uses TLS too.
        rolled = retry_until_bot_is_connected(
            lambda: act("invoke", "--as", "ada", "--channel", "general", "/roll sides:6"))
        expect(rolled.returncode == 0 and "helper: Rolled " in rolled.stdout, rolled.stderr)
        result = act("say", "by TLS", "--as", "bob", "--channel", "general")
        expect(result.returncode == 0, result.stderr)
        seen = act("watch", "--after", "0", "--user", "bob", "--route", "create_message", "--count",
                   "1")
        expect(seen.returncode == 0 and " bob " in seen.stdout, seen.stderr)
        made = act("fault", "GET /users/@me", "--status", "503", "--times", "1", "--json")
        expect(made.returncode == 0 and json.loads(made.stdout)["status"] == 503, made.stderr)
        expect(act("fault", "clear").returncode == 0 and act("clock").returncode == 0, "clock")
        # Only the server's control socket makes this certificate trusted.
        url = f"https://127.0.0.1:{demo.port}"
        refused = act("say", "x", "--as", "bob", "--channel", "general", "--url", url)
        expect(refused.returncode != 0 and "no trusted certificate" in refused.stderr,
               refused.stderr)
        plain = act("say", "x", "--as", "bob", "--channel", "general", "--url",
                    url.replace("https", "http"))
        expect(plain.returncode != 0, plain.stderr)
        trusted = subprocess.run(
            [executable, "say", "y", "--as", "bob", "--channel", "general", "--url", url, "--data",
             data], capture_output=True, text=True, timeout=60, check=False,
            env={**os.environ, "SSL_CERT_FILE": os.path.join(data, "cert.pem")})
        expect(trusted.returncode == 0, trusted.stderr)
    with_demo(executable, work, "--tls-self-signed", "on", "--tls-only", "on")


def ask_console(port, method, path, body=None):
    """Returns the reply, or None while the server restarts."""
    request = urllib.request.Request(f"http://127.0.0.1:{port}/console{path}",
                                     body and json.dumps(body).encode(),
                                     {"Content-Type": "application/json"}, method=method)
    try:
        with urllib.request.urlopen(request, timeout=20) as answer:
            text = answer.read()
            return json.loads(text) if text else {}
    except (urllib.error.URLError, ConnectionError):
        return None


def wait_for(port, path, fits):
    end = time.monotonic() + 60
    while time.monotonic() < end:
        result = ask_console(port, "GET", path)
        if result is not None and fits(result):
            return result
        time.sleep(0.02)
    raise Failed(f"{path} did not change")


def console_replaces_the_world(executable):
    def work(_data, port, ada):
        expect(ask_console(port, "POST", "/snapshots", {"name": "empty"}) == {}, "kept")
        world = {"users": [{"username": "grace", "password": "correct horse", "token": "x" * 24}],
                 "guilds": [{"name": "Imported", "owner": "grace"}]}
        expect(ask_console(port, "POST", "/world", world) == {}, "taken")
        result = wait_for(port, "/world/import", lambda t: t["number"] == 1)
        expect(result["imported"] and result["counts"]["guilds"] == {"made": 1, "known": 0}, str(result))
        expect(call(port, "/api/v10/users/@me", "x" * 24) == 200, "grace is in")
        expect(call(port, "/api/v10/users/@me", ada) == 200, "ada's token is not valid any more")
        world["guilds"][0]["owner"] = "nobody"
        expect(ask_console(port, "POST", "/world", world) == {}, "the world file was not accepted")
        result = wait_for(port, "/world/import", lambda t: t["number"] == 2)
        expect(not result["imported"] and "guilds.0.owner" in result["problems"], str(result))
        expect(len(ask_console(port, "GET", "/world")["users"]) == 2, "exported")
        expect(ask_console(port, "POST", "/snapshots/empty/restore") == {}, "on its way")
        result = wait_for(port, "/snapshots", lambda t: t["tried"] == 1)
        expect(result["restored"] == 1, str(result))
        expect([s["name"] for s in result["snapshots"]] == ["before-restore", "empty"], str(result))
        expect(call(port, "/api/v10/users/@me", "x" * 24) == 401, "grace is gone")
        expect(call(port, "/api/v10/users/@me", ada) == 200, "ada never was")
    with_server(executable, work, "--workbench", "on", "--listen", f"127.0.0.1:{free_port()}")


def page(name):
    with open(os.path.join(os.path.dirname(os.path.abspath(__file__)), "../..", name),
              encoding="utf-8") as file:
        return file.read()


def documented_demo_commands_work(executable):
    """Runs the block of README that begins with `build/guildhall invoke`, and the blocks marked "sh
    demo"."""
    readme = re.search(r"```sh\n(build/guildhall invoke.*?)```", page("README.md"), re.S)[1]
    blocks = re.findall(r"```sh demo\n(.*?)```", page("docs/testing-your-bot.md"), re.S)
    expect(len(blocks) == 4, f"{len(blocks)} blocks")

    def work(data, _demo):
        for line in (readme + "".join(blocks)).splitlines():
            words = shlex.split(line)
            expect(os.path.basename(words[0]) == "guildhall", line)
            done = retry_until_bot_is_connected(functools.partial(tool, executable, data, *words[1:]))
            expect(done.returncode == 0, f"{line}: {done.returncode} {done.stderr}")
    with_demo(executable, work, "--listen", f"127.0.0.1:{free_port()}")


def demo_prints_a_line_for_each_request(executable):
    with tempfile.TemporaryDirectory() as data:
        demo = start_demo(executable, put_demo(executable, data), "--log-format", "text")
        try:
            tool(executable, data, "say", "hello", "--as", "ada", "--channel", "general")
            call(demo.port, "/v10/users/@me", "x")
        finally:
            demo.child.send_signal(signal.SIGTERM)
            printed = demo.child.stdout.read().decode()
            demo.stop()
        expect(re.search(r" ada +POST +/api/v9/channels/\d+/messages 200 [\d.]+ ms\n", printed),
               printed)
        expect("/v10/users/@me 404" in printed and "is /api missing" in printed, printed)
        logged = demo.read_stderr()
        expect("info " in logged and "\033" not in printed + logged, "the log file contains colours")


run_cases("workbench", [
    watch_shows_requests,
    why_explains_permissions_and_deliveries,
    workbench_clock_can_be_moved,
    workbench_failure_rules_apply,
    health_command_prints_figures_per_minute,
    workbench_commands_require_the_workbench_option,
    workbench_can_drop_sessions,
    demo_bot_answers_its_commands,
    invoke_explains_a_missing_reply,
    workbench_acts_on_behalf_of_users,
    commands_connect_to_a_tls_only_server,
    console_replaces_the_world,
    demo_prints_a_line_for_each_request,
    documented_demo_commands_work,
])

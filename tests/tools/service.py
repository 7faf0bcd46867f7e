#!/usr/bin/env python3
"""service - tests the program as a system service: socket activation, notifications, reload,
manual, completions."""

import json
import os
import pty
import re
import select
import shutil
import signal
import socket
import ssl
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402
from process import Process, start_guildhall  # noqa: E402
import gateway_session  # noqa: E402

PATIENCE = 120


def output_of(executable, *words):
    done = subprocess.run([executable, *words], capture_output=True, text=True, timeout=PATIENCE,
                          check=False)
    expect(done.returncode == 0, f"{words}: {done.stderr}")
    return done.stdout


class Service:
    """Runs the server like a service manager: with a listening socket and a notification socket."""

    def __init__(self, executable, folder, count=1):
        self.port_socket = socket.create_server(("127.0.0.1", 0))
        self.port = self.port_socket.getsockname()[1]
        self.notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notifications.bind(os.path.join(folder, "notify"))
        self.notifications.settimeout(PATIENCE)
        self.data = os.path.join(folder, "data")
        os.mkdir(self.data)
        # The shell keeps its process id when it becomes the server.
        line = f'exec 3<&{self.port_socket.fileno()}; export LISTEN_PID=$$; exec "$@"'
        self.process = subprocess.Popen(
            ["sh", "-c", line, "sh", executable, "serve", "--data", self.data,
             "--listen", "127.0.0.1:1"],
            pass_fds=[self.port_socket.fileno()], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            text=True, env={**os.environ, "LISTEN_FDS": str(count),
                            "NOTIFY_SOCKET": os.path.join(folder, "notify")})

    def end(self):
        self.process.terminate()
        words = self.process.communicate(timeout=PATIENCE)
        self.port_socket.close()
        self.notifications.close()
        return words


def inherited_listening_socket_is_served(executable):
    with tempfile.TemporaryDirectory() as folder:
        service = Service(executable, folder)
        try:
            expect(service.notifications.recv(100) == b"READY=1", "the readiness notification is missing")
            for _ in range(8):  # every loop accepts connections from it
                with urllib.request.urlopen(f"http://127.0.0.1:{service.port}/api/v10/gateway",
                                            timeout=PATIENCE) as answer:
                    expect(answer.status == 200, answer.status)
            service.process.terminate()
            expect(service.notifications.recv(100) == b"STOPPING=1", "the stop notification is missing")
        finally:
            out, _ = service.end()
        expect(f"listening on http://127.0.0.1:{service.port}\n" in out, out)
        expect(service.process.returncode == 0, service.process.returncode)


class ReloadedServer:
    """A server whose configuration changes while it runs."""

    def __init__(self, executable, folder, days=20):
        self.days = days
        self.folder, self.values = folder, {"tls-cert": f"{folder}/cert.pem",
                                            "tls-key": f"{folder}/key.pem",
                                            "rate-limit-anonymous": "1000000"}
        self.create_certificate("first.example")
        self.write()
        self.notifications = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.notifications.bind(f"{folder}/notify")
        self.notifications.settimeout(PATIENCE)
        self.process = subprocess.Popen(
            [executable, "serve", "--config", f"{folder}/conf", "--data", f"{folder}/data",
             "--listen", "127.0.0.1:0", "--log-format", "text"],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
            env={**os.environ, "NOTIFY_SOCKET": f"{folder}/notify"})
        self.port = int(self.process.stdout.readline().rpartition(":")[2])
        self.wait("READY=1")

    def create_certificate(self, name):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-subj", f"/CN={name}", "-keyout",
                        f"{self.folder}/key.pem", "-out", f"{self.folder}/cert.pem", "-days", "2"],
                       check=True, capture_output=True, timeout=PATIENCE)
        # Only here the certificate may be expired.
        subprocess.run(["openssl", "x509", "-in", f"{self.folder}/cert.pem", "-signkey",
                        f"{self.folder}/key.pem", "-days", str(self.days), "-out",
                        f"{self.folder}/cert.pem"],
                       check=True, capture_output=True, timeout=PATIENCE)

    def write(self, **values):
        self.values.update({name.replace("_", "-"): value for name, value in values.items()})
        with open(f"{self.folder}/conf", "w", encoding="utf-8") as file:
            file.writelines(f"{name} = {value}\n" for name, value in self.values.items())

    def wait(self, state):
        notification = self.notifications.recv(100).decode()
        expect(notification == state, f"the notification was {notification}, not {state}")

    def reload(self):
        self.process.send_signal(signal.SIGHUP)
        self.wait("RELOADING=1")
        self.wait("READY=1")

    def certificate(self):
        return ssl.get_server_certificate(("127.0.0.1", self.port))

    def refuses(self):
        """Returns whether an anonymous client is soon rate limited."""
        for _ in range(40):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v10/gateway",
                                       timeout=PATIENCE).close()
            except urllib.error.HTTPError as error:
                return error.code == 429
        return False

    def end(self):
        self.process.terminate()
        words = self.process.communicate(timeout=PATIENCE)[1]
        self.notifications.close()
        return words


def reload_changes_certificate_limits_and_log_level(executable):
    with tempfile.TemporaryDirectory() as folder:
        server = ReloadedServer(executable, folder)
        try:
            first = server.certificate()
            expect(not server.refuses(), "the first limit")
            server.create_certificate("second.example")
            server.write(rate_limit_anonymous="1", idle_seconds="70")
            server.reload()
            second = server.certificate()
            expect(second != first, "the certificate was not changed")
            expect(server.refuses(), "the rate limit was not changed")
            with open(f"{folder}/cert.pem", "w", encoding="utf-8") as file:
                file.write("nothing")
            server.reload()
            expect(server.certificate() == second, "an invalid certificate was accepted")
            server.write(log_level="loud")
            server.reload()
            server.write(log_level="error")
            server.reload()
        finally:
            log = server.end()
        for words in ("changed: the certificate, rate-limit-anonymous",
                      "the changed options idle-seconds take effect only after a restart",
                      "tls: cannot use the certificate", "changed: nothing",
                      "reloaded: nothing, because the configuration is invalid: ",
                      "log-level must be one of"):
            expect(words in log, f"'{words}' is not in the log: {log}")
        expect("stopping" not in log, f"the log level was not changed: {log}")
        expect(server.process.returncode == 0, server.process.returncode)


def run_tool(executable, *words, **env):
    """Returns the status and output of a failing command."""
    done = subprocess.run([executable, *words], capture_output=True, text=True, timeout=PATIENCE,
                          check=False, env={**os.environ, **env})
    return done.returncode, done.stderr


def failed_reload_has_a_nonzero_exit_status(executable):
    with tempfile.TemporaryDirectory() as folder:
        server = ReloadedServer(executable, folder)
        try:
            first = server.certificate()
            server.create_certificate("second.example")
            expect(run_tool(executable, "reload", "--data", f"{folder}/data") == (0, ""), "a good one")
            expect(server.certificate() != first, "the certificate was not changed")
            server.write(log_level="loud")
            status, message = run_tool(executable, "reload", "--data", f"{folder}/data")
            expect(status == 1 and "nothing was reloaded: " in message and "log-level must be one of" in
                   message, (status, message))
            server.write(log_level="info")
            with open(f"{folder}/cert.pem", "w", encoding="utf-8") as file:
                file.write("nothing")
            status, message = run_tool(executable, "reload", "--data", f"{folder}/data")
            expect(status == 1 and "certificate cannot be used" in message, (status, message))
        finally:
            server.end()
        status, message = run_tool(executable, "reload", "--data", f"{folder}/data")
        expect(status == 1 and "no server runs on" in message, (status, message))


def expiring_certificates_are_logged_and_measured(executable):
    for days, words in ((-1, "the certificate expired at "), (10, "the certificate expires at "),
                        (30, None)):
        with tempfile.TemporaryDirectory() as folder:
            server = ReloadedServer(executable, folder, days=days)
            try:
                with urllib.request.urlopen(f"http://127.0.0.1:{server.port}/metrics",
                                            timeout=PATIENCE) as answer:
                    text = answer.read().decode()
                server.reload()
            finally:
                log = server.end()
            name = "guildhall_tls_certificate_expires_timestamp_seconds"
            end = float(re.search(rf"^{name} (\d+)$", text, re.M)[1])
            expect(abs(end - time.time() - days * 86400) < 3600, (days, end))
            # Once at the start and once at the reload.
            expect(log.count(words) == 2 if words else "the certificate exp" not in log, log)


def drop_in_files_are_read_after_the_main_file(executable):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/conf.d")
        for name, text in (("conf", "metrics-listen = nonsense\nlog-format = text\n"),
                           ("conf.d/20.conf", "metrics-listen = later\n"),
                           ("conf.d/10.conf", "metrics-listen = sooner\n"),
                           ("conf.d/30.bak", "metrics-listen = never\n")):
            with open(f"{folder}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        words = ("serve", "--config", f"{folder}/conf", "--data", f"{folder}/data",
                 "--listen", "127.0.0.1:0")
        status, message = run_tool(executable, *words)
        expect(status == 1 and "HOST:PORT, not 'later'" in message, (status, message))
        with open(f"{folder}/conf.d/20.conf", "w", encoding="utf-8") as file:
            file.write("\nmetrics-lisen = x\n")
        status, message = run_tool(executable, *words)
        expect(status == 2 and f"{folder}/conf.d/20.conf, line 2: there is no option" in message,
               (status, message))


def log_lines_for_the_systemd_journal_have_a_priority(executable):
    def log_of(journal):
        with tempfile.TemporaryDirectory() as folder, open(f"{folder}/log", "wb+") as log:
            status = os.fstat(log.fileno())
            stream = f"{status.st_dev}:{status.st_ino}" if journal else "1:1"
            subprocess.run([executable, "serve", "--data", f"{folder}/data", "--listen", "nowhere:x"],
                           stderr=log, timeout=PATIENCE, check=False,
                           env={**os.environ, "JOURNAL_STREAM": stream})
            log.seek(0)
            return log.read().decode().splitlines()

    lines = log_of(True)
    expect(lines and all(re.match(r'<[3467]>\{"time":', line) for line in lines), lines)
    expect(any(line.startswith("<3>") and '"level":"error"' in line for line in lines), lines)
    expect(all(line.startswith('{"time":') for line in log_of(False)), "another stream")


def every_help_text_has_examples(executable):
    names = re.findall(r"^  ([a-z-]+)\b", output_of(executable, "help").split("Server options")[0], re.M)
    expect(len(names) > 40, names)
    for name in set(names) - {"help"}:
        help_text = output_of(executable, name, "--help")
        expect(f"\nExamples\n  guildhall {name}" in help_text, help_text)


def wrong_values_of_every_option_name_the_allowed_ones(executable):
    """If the help of an option lists its values, the error about a wrong value lists them, too."""
    commands = re.findall(r"^  ([a-z-]+)\b", output_of(executable, "help").split("Server options")[0], re.M)
    checked = set()
    for name in sorted(set(commands) - {"help"}):
        for option, values in re.findall(r"^ +--([a-z-]+) +([a-z0-9-]+(?:\|[a-z0-9-]+)+)(?:\s|$)",
                                         output_of(executable, name, "--help-all"), re.M):
            message = "must be on or off, not 'maybe'" if values == "on|off" else \
                f"must be one of {values}, not 'maybe'"
            if (option, values) in checked:
                continue
            checked.add((option, values))
            status, problem = run_tool(executable, name, f"--{option}=maybe")
            expect(status == 2 and message in problem, f"{name} --{option}=maybe: {problem}")
    expect(len(checked) > 25, sorted(checked))
    for words, message in ((("import", "x", "--tokens", "maybe"), "--tokens must be one of off|on|env, not 'maybe'"),
                           (("import", "--tokens", "maybe", "x"), "--tokens must be one of off|on|env, not 'maybe'"),
                           (("backup", "x", "--force", "maybe"), "--force must be on or off, not 'maybe'"),
                           (("version", "--json", "maybe"), "--json must be on or off, not 'maybe'")):
        status, problem = run_tool(executable, *words)
        expect(status == 2 and message in problem, f"{words}: {problem}")
    with tempfile.TemporaryDirectory() as folder:  # the word after a switch may be the argument
        status, problem = run_tool(executable, "import", "--tokens", f"{folder}/none", "--data", folder)
        expect(status == 1 and "cannot read" in problem, problem)


def errors_of_tools_are_sentences(executable):
    with tempfile.TemporaryDirectory() as folder:
        expect(run_tool(executable, "backup", f"{folder}/b", "--data", f"{folder}/none") ==
               (1, f"guildhall: there is no database in '{folder}/none'\n"), "backup")
        status, message = run_tool(executable, "check", f"{folder}/none", "--log-format", "json")
        expect(status == 1 and message.startswith('{"time":'), message)
        for words in (("check", f"{folder}/none"), ("stats", "--data", folder), ("user", "frob"),
                      ("import", f"{folder}/none", "--data", folder)):
            status, message = run_tool(executable, *words)
            expect(status and message.startswith("guildhall: ") and "{" not in message, message)


def wrong_arguments_are_named(executable):
    with tempfile.TemporaryDirectory() as folder:
        missing = subprocess.run([executable, "check", f"{folder}/none"], capture_output=True, text=True,
                                 timeout=PATIENCE, check=False)
        expect((missing.returncode, missing.stdout) == (1, "") and "cannot read" in missing.stderr, missing.stdout)
        for words, problem in (
                (("openapi", "x"), "openapi accepts only options, not 'x'\nTry 'guildhall help openapi'.\n"),
                (("version", "x"), "version accepts only options, not 'x'"),
                (("seed", "x"), "seed accepts only options, not 'x'"),
                (("backup",), "usage: backup FILE [--keep N], or backup - for standard output\nTry 'guildhall help backup'.\n"),
                (("export-guild", f"{folder}/archive"), "--from needs the URL of the other server"),
                (("export-guild", f"{folder}/archive", "--from", "http://127.0.0.1:1"), "--token-file is missing"),
                (("copy-guild", "--from", "http://127.0.0.1:1", "--token-file", "none", "--guild", "x"),
                 "--guild needs the id of the guild")):
            status, message = run_tool(executable, *words)
            expect(status == 2 and message.startswith(f"guildhall: {problem}"), f"{words}: {status} {message}")
        expect(not os.listdir(folder), "a refused command made a folder")


def archive_with_many_messages(folder):
    """Writes an archive whose import takes longer than a few seconds."""
    guild, channel, user = "81384788765712384", "81384788765712385", "81384788765712386"
    os.makedirs(f"{folder}/messages")
    with open(f"{folder}/guild.jsonl", "w", encoding="utf-8") as f:
        f.write(json.dumps({"id": guild, "name": "Long", "owner_id": user, "roles": [
            {"id": guild, "name": "@everyone", "permissions": "0", "position": 0}]}) + "\n")
    with open(f"{folder}/channels.jsonl", "w", encoding="utf-8") as f:
        f.write(json.dumps({"id": channel, "guild_id": guild, "name": "general", "type": 0}) + "\n")
    message = json.dumps({"id": "ID", "channel_id": channel, "type": 0, "content": "message",
                          "author": {"id": user, "username": "ada", "discriminator": "0", "avatar": None},
                          "timestamp": "2024-01-01T00:00:00+00:00"}) + "\n"
    with open(f"{folder}/messages/{channel}.jsonl", "w", encoding="utf-8") as f:
        f.writelines(message.replace("ID", str((900000000000 + i) << 22)) for i in range(300000))
    return folder


def long_tasks_show_their_progress_on_a_terminal(executable):
    master, slave = pty.openpty()
    with tempfile.TemporaryDirectory() as folder:
        task = subprocess.Popen([executable, "import", "-", "--data", f"{folder}/data"],
                                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=slave)
        seen, began = b"", time.monotonic()
        while b" s so far" not in seen:
            expect(time.monotonic() - began < PATIENCE, seen)
            seen += os.read(master, 1000) if select.select([master], [], [], 1)[0] else b""
        expect(time.monotonic() - began >= 2 and seen.startswith(b"\rimport: 2 s so far"), seen)
        task.communicate(b"{}", timeout=PATIENCE)
        expect(task.returncode == 0, "import")
        quick = subprocess.run([executable, "import", "-", "--data", f"{folder}/data"], input=b"{}",
                               stdout=subprocess.DEVNULL, stderr=slave, timeout=PATIENCE, check=False)
        os.read(master, 1000)  # the end of the line above
        expect(quick.returncode == 0 and not select.select([master], [], [], 0)[0], "a quick task")
        world = json.dumps({"users": [{"username": f"user{i}", "password": "a long password"} for i in range(5000)]})
        slow = subprocess.Popen([executable, "import", "-", "--data", f"{folder}/data"],
                                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=slave)
        slow.stdin.write(world.encode())
        slow.stdin.close()
        seen, began = b"", time.monotonic()
        while b" s left" not in seen:
            expect(time.monotonic() - began < PATIENCE and slow.poll() is None, seen)
            seen += os.read(master, 1000) if select.select([master], [], [], 1)[0] else b""
        slow.kill()
        slow.wait()
        expect(re.search(rb"\r\[#*\.+\] +\d+ %  \d+ accounts \(hashing passwords\)  \d+ s, about \d+ s left", seen), seen)
        archive = archive_with_many_messages(f"{folder}/archive")
        slow = subprocess.Popen([executable, "copy-guild", "--from", archive, "--data", f"{folder}/copy"],
                                stdout=subprocess.DEVNULL, stderr=slave)
        seen, began = b"", time.monotonic()
        while not re.search(rb"bytes of the archive  [0-9]+ s, about [0-9]+ s left", seen):
            expect(time.monotonic() - began < PATIENCE and slow.poll() is None, seen)
            seen += os.read(master, 1000) if select.select([master], [], [], 1)[0] else b""
        slow.kill()
        slow.wait()
    os.close(master)
    os.close(slave)


def mistyped_commands_get_a_suggestion(executable):
    expect(run_tool(executable, "help", "sevre")[1].startswith(
        "guildhall: there is no command 'sevre'; did you mean serve?"), "help sevre")
    expect(run_tool(executable, "sevre") == (2, "guildhall: there is no command 'sevre'; did you mean "
                                             "serve?\nTry 'guildhall help'.\n"), "sevre")
    expect(run_tool(executable, "frobnicate")[1].startswith("guildhall: there is no command 'frobnicate'\n"),
           "frobnicate")
    expect(run_tool(executable, "serve", "--rate-limits", "maybe") ==
           (2, "guildhall: --rate-limits must be on or off, not 'maybe'\n"), "maybe")
    status, message = run_tool(executable, "serve", "--proxy-protocol", "perhaps")
    expect(status == 2 and "must be on or off, not 'perhaps'" in message, message)
    status, message = run_tool(executable, "serve", "--tls-self-signed", "--registration", "all")
    expect(status == 2 and "must be one of auto|open|invite|guild-invite|closed, not 'all'" in message, message)


def handshake(port):
    """Returns the status of a WebSocket handshake; 0 if it is cut, None if nothing listens."""
    try:
        with socket.create_connection(("127.0.0.1", port), PATIENCE) as s:
            s.sendall(b"GET /gateway?v=10 HTTP/1.1\r\nHost: a\r\nUpgrade: websocket\r\n"
                      b"Connection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                      b"Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n")
            return int((s.recv(100).split() + [b"", b"0"])[1])
    except ConnectionError:
        return None


SILENT = 20


def silent_clients_do_not_delay_the_shutdown(executable):
    with tempfile.TemporaryDirectory() as folder:
        server = start_guildhall(executable, folder)
        token = output_of(executable, "user", "add", "ada", "--data", folder).split()[-1]
        sessions = [gateway_session.connect(server.port, token) for _ in range(SILENT)]
        half = socket.create_connection(("127.0.0.1", server.port), PATIENCE)
        half.sendall(b"GET /healthz HTTP/1.1\r\n")  # and never the rest
        began = time.monotonic()
        server.child.terminate()
        answers = []
        while server.alive():
            answers.append(handshake(server.port))
            time.sleep(0.01)
        took = time.monotonic() - began
        expect(server.stop() == 0, server.read_stderr())
        expect(200 not in answers and answers[-1] is None, answers)
        # Under 1 s on an idle machine.
        print(f"stopped {took:.2f} s after SIGTERM, with {SILENT} silent clients")
        expect(took < 4, f"{took} s")
        for s in sessions:
            s.settimeout(PATIENCE)
            seen = b""
            while (piece := s.recv(65536)):
                seen += piece
            expect(b'"op":7' in seen and b"\x88\x02\x03\xe9" in seen, seen[-200:])
            s.close()
        half.close()


def demo_stops_together_with_its_bot(executable):
    with tempfile.TemporaryDirectory() as folder:
        server = Process([executable, "demo", "--data", folder, "--listen", "127.0.0.1:0"])
        deadline = time.monotonic() + PATIENCE
        while "helper" not in output_of(executable, "sessions", "--data", folder):
            expect(time.monotonic() < deadline, "the bot did not connect")
            time.sleep(0.05)
        began = time.monotonic()
        server.stop()
        print(f"a demo stopped after {time.monotonic() - began:.2f} s")
        expect(time.monotonic() - began < 4, time.monotonic() - began)


def several_inherited_sockets_are_refused(executable):
    with tempfile.TemporaryDirectory() as folder:
        service = Service(executable, folder, count=2)
        service.process.wait(timeout=PATIENCE)
        _, err = service.end()
        expect(service.process.returncode == 1 and "passed 2 sockets" in err, err)


def manual_lists_every_command_and_option(executable):
    page, conf = output_of(executable, "manual"), output_of(executable, "manual", "conf")
    plain = page.replace("\\-", "-")
    names = re.findall(r"^  ([a-z][a-z-]*)\b", output_of(executable, "help"), re.M)
    flags = re.findall(r"^  --([a-z0-9-]+) ", output_of(executable, "help"), re.M)
    expect(len(names) > 15 and len(flags) > 50, "help has few lines")
    for name in names:
        expect(f"\\fB{name}\\fR" in plain, f"the manual has no command {name}")
    for flag in flags:
        expect(f"\\fB--{flag}\\fR" in plain, f"the manual has no option --{flag}")
    for name in re.findall(r"^;([a-z0-9-]+) =", output_of(executable, "sample-config"), re.M):
        expect(f"\\fB{name}\\fR =" in conf.replace("\\-", "-"), f"guildhall.conf(5) lacks {name}")


COMPLETED = [
    (["guildhall", "bac"], "backup"),
    (["guildhall", "user", "dis"], "disable"),
    (["guildhall", "serve", "--registration", ""], "auto open invite guild-invite closed"),
    (["guildhall", "serve", "--tls-s"], "--tls-self-signed"),
    (["guildhall", "serve", "--durability", "fu"], "full"),
    (["guildhall", "serve", "--tls-self-signed", "o"], "on off"),
    (["guildhall", "serve", "--tls-self-signed", "of"], "off"),
    (["guildhall", "user", "list", "--js"], "--json"),
]


def bash_completion_works(executable):
    script = output_of(executable, "completion", "bash")
    for words, wanted in COMPLETED:
        quoted = " ".join(f"'{word}'" for word in words)
        done = subprocess.run(
            ["bash", "-c", f"{script}\nCOMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; "
             '_guildhall; echo "${COMPREPLY[*]}"'],
            capture_output=True, text=True, timeout=PATIENCE, check=False)
        expect(done.stdout.strip() == wanted, f"{words}: {done.stdout}{done.stderr}")


def fish_completion_works(executable):
    if not shutil.which("fish"):
        raise Skip("fish is not installed")
    script = output_of(executable, "completion", "fish")
    for words, wanted in COMPLETED:
        done = subprocess.run(["fish", "--no-config", "-c", f"{script}\ncomplete -C '{' '.join(words)}'"],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        got = {line.split("\t")[0] for line in done.stdout.splitlines()}
        expect(got == set(wanted.split()), f"{words}: {done.stdout}{done.stderr}")


# zsh's completion can only be triggered by keys. Its results are written to a file.
ZSH = """
unsetopt zle_bracketed_paste; fpath=({folder} $fpath); autoload -Uz compinit; compinit -u -D
compadd() {{ if [[ ${{@[1,(i)(-|--)]}} == *-(O|A|D)\\ * ]]; then builtin compadd "$@"; return; fi
local -a hits; builtin compadd -A hits "$@"; print -rl -- $hits >>{folder}/got }}
zle-line-init() {{ print -- $asked ready >>{folder}/got }}; zle -N zle-line-init
asked=begun
"""


class Zsh:
    """A zsh on a terminal, with the completion in its path."""

    def __init__(self, executable, folder):
        self.folder, self.line_number = folder, 0
        with open(os.path.join(folder, "_guildhall"), "w", encoding="utf-8") as f:
            f.write(output_of(executable, "completion", "zsh"))
        with open(os.path.join(folder, "start"), "w", encoding="utf-8") as f:
            f.write(ZSH.format(folder=folder))
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.execvp("zsh", ["zsh", "-f", "-i"])
        self.type(f"source {folder}/start\n")
        self.read("begun")

    def type(self, keys):
        os.write(self.terminal, keys.encode())

    def read(self, last):
        """Returns the file's content after zsh has processed the word and waits for keys again. The
        screen does not matter."""
        path, deadline = os.path.join(self.folder, "got"), time.monotonic() + PATIENCE
        while True:
            if select.select([self.terminal], [], [], 0.02)[0]:
                os.read(self.terminal, 65536)
            if os.path.exists(path):
                with open(path, encoding="utf-8") as f:
                    got = f.read().split()
                if got[-2:] == [last, "ready"]:
                    os.unlink(path)
                    return set(got[:-2])
            expect(time.monotonic() < deadline, f"zsh did not reach {last}")

    def complete(self, line):
        self.line_number += 1
        self.type(f"{line}\t\x15asked={self.line_number}\n")
        return self.read(str(self.line_number))

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def zsh_completion_works(executable):
    if not shutil.which("zsh"):
        raise Skip("zsh is not installed")
    with tempfile.TemporaryDirectory() as folder:
        shell = Zsh(executable, folder)
        try:
            for words, wanted in COMPLETED:
                got = shell.complete(" ".join(words))
                expect(got == set(wanted.split()), f"{words}: {got}")
        finally:
            shell.end()


def completions_of_all_shells_have_the_same_words(executable):
    flags = set(re.findall(r"^  --([a-z0-9-]+) ", output_of(executable, "help"), re.M))
    zsh, fish = output_of(executable, "completion", "zsh"), output_of(executable, "completion", "fish")
    expect(zsh.startswith("#compdef guildhall\n"), zsh[:40])
    expect(set(re.findall(r"^    '--([a-z0-9-]+)\[", zsh, re.M)) == flags, "zsh")
    expect(set(re.findall(r" -l ([a-z0-9-]+) -d ", fish)) == flags, "fish")
    done = subprocess.run([executable, "completion", "csh"], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    expect(done.returncode == 2 and "bash, zsh or fish" in done.stderr, done.stderr)


def every_command_has_its_own_help(executable):
    seed = output_of(executable, "help", "seed")
    expect(seed.startswith("guildhall seed [options]\n") and "--members N" in seed, seed)
    expect("--tls-cert" not in seed and "guildhall seed --help-all" in seed, seed)
    expect(output_of(executable, "seed", "--users", "3", "--help") == seed, "--help after a flag")
    expect("--tls-cert FILE" in output_of(executable, "seed", "--help-all"), "--help-all")
    user = output_of(executable, "user", "--help")
    for verb in ("list", "show", "add", "passwd", "disable", "enable", "delete", "premium"):
        expect(re.search(rf"^  {verb}\b", user, re.M), f"help user has no {verb}")
    expect("--yes on|off" in user, user)
    expect("--tls-cert FILE" in output_of(executable, "serve", "-h"), "serve is about its options")
    done = subprocess.run([executable, "help", "frob"], capture_output=True, text=True,
                          timeout=PATIENCE, check=False)
    expect(done.returncode == 2 and "there is no command 'frob'" in done.stderr, done.stderr)


def unknown_environment_variables_are_reported(executable):
    def version_with(name):
        return subprocess.run([executable, "version"], env={**os.environ, name: "x"},
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
    done = version_with("GUILDHALL_LISTN")
    expect(done.returncode == 2 and not done.stdout, done.stdout)
    expect(done.stderr == "guildhall: the environment variable GUILDHALL_LISTN is not an option; "
           "did you mean GUILDHALL_LISTEN?\n", done.stderr)
    for name in ("GUILDHALL_URL", "GUILDHALL_AS", "GUILDHALL_BINARY", "GUILDHALL_TEST_POSTGRES",
                 "GUILDHALL_SERVICE_HOST", "GUILDHALL_PORT_8080_TCP"):
        expect(version_with(name).returncode == 0, f"{name} is refused")


def contact_of_web_push_must_be_a_mail_or_web_address(executable):
    for contact in ("admin@chat.example", "http://chat.example", "tel:1"):
        with tempfile.TemporaryDirectory() as folder:
            done = subprocess.run([executable, "serve", "--data", folder, "--listen", "127.0.0.1:0",
                                   "--web-push-contact", contact], capture_output=True, text=True,
                                  timeout=PATIENCE, check=False)
            expect(done.returncode == 1 and "web-push-contact must be the address" in
                   done.stdout + done.stderr, done.stderr)


run_cases("service", [
    inherited_listening_socket_is_served,
    several_inherited_sockets_are_refused,
    reload_changes_certificate_limits_and_log_level,
    failed_reload_has_a_nonzero_exit_status,
    expiring_certificates_are_logged_and_measured,
    drop_in_files_are_read_after_the_main_file,
    log_lines_for_the_systemd_journal_have_a_priority,
    mistyped_commands_get_a_suggestion,
    every_help_text_has_examples,
    wrong_values_of_every_option_name_the_allowed_ones,
              errors_of_tools_are_sentences,
    wrong_arguments_are_named,
    long_tasks_show_their_progress_on_a_terminal,
    silent_clients_do_not_delay_the_shutdown,
    demo_stops_together_with_its_bot,
    manual_lists_every_command_and_option,
    bash_completion_works,
    fish_completion_works,
    zsh_completion_works,
    completions_of_all_shells_have_the_same_words,
    every_command_has_its_own_help,
    unknown_environment_variables_are_reported,
    contact_of_web_push_must_be_a_mail_or_web_address,
])

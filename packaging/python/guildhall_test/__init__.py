"""A Guildhall server for the tests of a bot, and the people who use it.

    with Guildhall("world.json") as hall:
        ada = hall.as_user("ada")
        assert ada.slash("/roll sides:6").content == "6"
"""

from __future__ import annotations

import atexit
import base64
import fcntl
import functools
import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request
from dataclasses import dataclass, field
from typing import Any, Callable, Optional, Pattern, Union

from guildhall_test.program import find_program

__all__ = ["Answer", "Guildhall", "GuildhallError", "Person", "components_of", "eventually", "expect_message",
           "message_differences", "with_guildhall"]

PATIENCE = 30.0
LISTENING = re.compile(r"^guildhall: listening on (\S+)$", re.M)
TOKEN = re.compile(r"^(\S+) +(Bot )?(\S+)$", re.M)


class GuildhallError(Exception):
    """What went wrong, with the status of the program or of the answer."""

    def __init__(self, message: str, status: Optional[int] = None, steps: Any = None):
        super().__init__(message)
        self.status = status
        self.steps = steps or []


def eventually(ask: Callable[[], Any], timeout: float = PATIENCE, every: float = 0.05) -> Any:
    """Asks until the answer is neither false nor an error; the last error is the one told."""
    end = time.monotonic() + timeout
    while True:
        problem: Optional[Exception] = None
        try:
            answer = ask()
            if answer:
                return answer
        except Exception as error:  # pylint: disable=broad-except
            problem = error
        if time.monotonic() > end:
            raise problem or GuildhallError(f"nothing came within {timeout} s")
        time.sleep(every)


def _describe_refusal(error: Any) -> Optional[str]:
    """The first problem of an error of the interface, with the path of its field."""
    def find(tree: Any, path: list) -> Optional[str]:
        if not isinstance(tree, dict):
            return None
        if "_errors" in tree:
            return f"{'.'.join(path)}: {tree['_errors'][0]['message']}"
        return next(filter(None, (find(below, [*path, name]) for name, below in tree.items())), None)

    if not error:
        return None
    return ": ".join(filter(None, [error.get("message"), find(error.get("errors"), [])]))


@dataclass
class Answer:
    """What an app answered to a command, a button or a form."""

    step: str
    outcome: str
    message: Optional[dict] = None
    follow_ups: list = field(default_factory=list)
    steps: list = field(default_factory=list)

    @property
    def content(self) -> Optional[str]:
        return self.message["content"] if self.message else None

    @property
    def embeds(self) -> list:
        return self.message.get("embeds", []) if self.message else []


# --- matchers ---------------------------------------------------------------------------


def _show(value: Any) -> str:
    if isinstance(value, re.Pattern):
        return f"/{value.pattern}/"
    return getattr(value, "__name__", None) or json.dumps(value, ensure_ascii=False)


def _compare(value: Any, wanted: Any, path: str, found: list) -> None:
    if isinstance(wanted, re.Pattern):
        fits = isinstance(value, str) and wanted.search(value)
    else:
        fits = wanted(value) if callable(wanted) else value == wanted
    if fits:
        return
    if isinstance(wanted, dict) and isinstance(value, dict):
        for key, part in wanted.items():
            _compare(value.get(key), part, f"{path}.{key}", found)
    elif isinstance(wanted, list) and isinstance(value, list) and len(value) == len(wanted):
        for i, part in enumerate(wanted):
            _compare(value[i], part, f"{path}.{i}", found)
    elif isinstance(wanted, list) and isinstance(value, list):
        found.append(f"{path} has {len(value)} entries instead of {len(wanted)}")
    else:
        found.append(f"{path} is {_show(value)} instead of {_show(wanted)}")


def components_of(message: dict) -> list:
    """All components of a message, also those within rows, sections and containers."""
    found: list = []

    def visit(component: Optional[dict]) -> None:
        if component:
            found.append(component)
            for below in [*component.get("components", []), component.get("component"), component.get("accessory")]:
                visit(below)

    for component in message.get("components", []):
        visit(component)
    return found


def _component_fits(component: dict, wanted: Any) -> bool:
    if isinstance(wanted, str):
        return wanted in (component.get("custom_id"), component.get("label"))
    found: list = []
    _compare(component, wanted, "", found)
    return not found


def message_differences(message: dict, **wanted: Any) -> list:
    """How a message differs from what is wanted of it, as sentences; an empty list if it fits.

    Only the given fields are compared: with a value, an expression or a function. `author` is a name, `ephemeral` is
    True or False, `components` lists components that must be among those of the message: an id or label, or a dict.
    """
    found: list = []
    for key, value in wanted.items():
        if key == "author" and isinstance(value, str):
            _compare(message["author"]["username"], value, key, found)
        elif key == "ephemeral":
            _compare(bool(message.get("flags", 0) & 64), value, key, found)
        elif key == "components":
            there = components_of(message)
            names = ", ".join(filter(None, (c.get("custom_id") or c.get("label") for c in there))) or "none"
            found += [f"no component is {_show(part)}; there are: {names}" for part in value
                      if not any(_component_fits(component, part) for component in there)]
        else:
            _compare(message.get(key), value, key, found)
    return found


def expect_message(message: Union[dict, Answer], **wanted: Any) -> None:
    """Raises an AssertionError with all differences, if the message (or answer) is not as wanted."""
    found = message_differences((message.message or {}) if isinstance(message, Answer) else message, **wanted)
    if found:
        raise AssertionError(f"the message is not as expected: {'; '.join(found)}")


def _id(thing: Union[dict, str]) -> str:
    return thing["id"] if isinstance(thing, dict) else str(thing)


class Person:
    """Somebody of the world, and the channel where they are."""

    def __init__(self, hall: "Guildhall", name: str, channel: str):
        self.hall, self.name, self.channel = hall, name, channel
        self._channel_id: Optional[str] = None

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """A call of the interface as this person; what it answers, decoded."""
        request = urllib.request.Request(
            f"{self.hall.api}/v10{path}", method=method,
            data=None if body is None else json.dumps(body).encode(),
            headers={"Authorization": self.hall.token(self.name),
                     "Content-Type": "application/json"})
        try:
            with urllib.request.urlopen(request, timeout=PATIENCE) as answer:
                text = answer.read()
        except urllib.error.HTTPError as error:
            words = error.read().decode(errors="replace")
            raise GuildhallError(f"{method} {path} answered {error.code}: {words}",
                                 error.code) from None
        return json.loads(text) if text else None

    def channel_id(self) -> str:
        """Of the channel with this name, in any guild where the person is."""
        if self._channel_id is None:
            for guild in self.call("GET", "/users/@me/guilds"):
                for channel in self.call("GET", f"/guilds/{guild['id']}/channels"):
                    if self.channel in (channel["name"], channel["id"]):
                        self._channel_id = channel["id"]
                        return channel["id"]
            raise GuildhallError(f"{self.name} sees no channel '{self.channel}'")
        return self._channel_id

    def slash(self, line: str, **options: Any) -> Answer:
        """Uses a command: "/roll sides:6". Gives the app's answer; raises when there is none.

        Options are those of `guildhall invoke`: press, fill, follow_ups, user, message, app, wait.
        """
        return self._answer(self._invoke(line, options))

    def press(self, message: Union[dict, str], part: str, **options: Any) -> Answer:
        """Presses a button of a message, or chooses from its menu: "yes", "colour=red,blue"."""
        return self._answer(self._invoke(None, {**options, "message": _id(message), "press": part}))

    def complete(self, line: str) -> list:
        """The choices that are shown while the last option of a line is typed."""
        return self._invoke(line, {"complete": True})[-1].get("choices", [])

    def _invoke(self, line: Optional[str], options: dict) -> list:
        words = ["invoke", "--json", "--url", self.hall.url, "--token",
                 self.hall.token(self.name), "--channel", self.channel]
        for name, value in options.items():
            words.append(f"--{name.replace('_', '-')}")
            if value is not True:
                words.append(str(value))
        if line is not None:
            words.append(line)
        done = self.hall.run(*words, check=False)
        steps = [json.loads(text) for text in done.stdout.splitlines() if text]
        if done.returncode != 0:
            last = steps[-1] if steps else {}
            cause = last.get("reason") or _describe_refusal(last.get("error"))
            reason = done.stderr.strip() or ": ".join(
                filter(None, [last.get("step"), last.get("outcome", "no answer"), cause]))
            raise GuildhallError(f"{line or options.get('press')}: {reason}", done.returncode, steps)
        return steps

    @staticmethod
    def _answer(steps: list) -> Answer:
        last = steps[-1]
        return Answer(last["step"], last["outcome"], last.get("message"),
                      last.get("follow_ups", []), steps)

    def say(self, content: Union[str, dict]) -> dict:
        """Writes a message."""
        body = {"content": content} if isinstance(content, str) else content
        return self.call("POST", f"/channels/{self.channel_id()}/messages", body)

    def react(self, message: Union[dict, str], emoji: str) -> None:
        """Reacts to a message: "👍", or "name:id" of a custom emoji."""
        self.call("PUT", f"/channels/{self.channel_id()}/messages/{_id(message)}/reactions/"
                         f"{urllib.parse.quote(emoji)}/@me")

    def messages(self, limit: int = 50) -> list:
        """The newest messages of the channel, the oldest of them first."""
        return self.call("GET", f"/channels/{self.channel_id()}/messages?limit={limit}")[::-1]

    def wait_for_message(self, wanted: Union[str, Pattern[str], dict, Callable[[dict], bool]],
                         after: Union[dict, str, None] = None,
                         timeout: float = PATIENCE) -> dict:
        """The first message that fits, also one that is there already; `after`: behind that one.

        What fits is a text that it contains, an expression, a function, or a dict of what `message_differences` takes.
        """
        def fits(message: dict) -> bool:
            if callable(wanted):
                return wanted(message)
            if isinstance(wanted, str):
                return wanted in message["content"]
            if isinstance(wanted, dict):
                return not message_differences(message, **wanted)
            return bool(wanted.search(message["content"]))

        start = int(_id(after)) if after is not None else 0

        def find_message() -> Optional[dict]:
            return next((m for m in self.messages() if int(m["id"]) > start and fits(m)), None)

        try:
            return eventually(find_message, timeout)
        except GuildhallError as error:
            if error.status:
                raise
            seen = "\n  ".join(f"{m['author']['username']}: {m['content']}"
                               for m in self.messages(5))
            raise GuildhallError(f"no such message came within {timeout} s; the last ones:\n  "
                                 f"{seen}") from None


# --- worlds -----------------------------------------------------------------------------

WORLD_FOLDER = "guildhall-world-"


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


def _remove_old_worlds() -> None:
    """Removes imported worlds of processes that were killed."""
    for name in os.listdir(tempfile.gettempdir()):
        found = re.match(WORLD_FOLDER + r"(\d+)-", name)
        if found and not _is_alive(int(found[1])):
            shutil.rmtree(os.path.join(tempfile.gettempdir(), name), ignore_errors=True)


_import_lock = threading.Lock()


def _import_once(binary: str, world: Union[dict, str, os.PathLike]) -> tuple:
    """A world is imported once per process; each server starts on a copy of the imported data."""
    if isinstance(world, dict):
        text = json.dumps(world)
    else:
        with open(world, encoding="utf-8") as file:
            text = file.read()
    with _import_lock:
        return _import_text(binary, text, os.getpid())


@functools.lru_cache(maxsize=None)
def _import_text(binary: str, text: str, pid: int) -> tuple:
    _remove_old_worlds()
    folder = tempfile.mkdtemp(prefix=f"{WORLD_FOLDER}{pid}-")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    path, data = os.path.join(folder, "world.json"), os.path.join(folder, "data")
    with open(path, "w", encoding="utf-8") as file:
        file.write(text)
    done = subprocess.run([binary, "import", path, "--tokens", "--data", data], capture_output=True, text=True,
                          timeout=10 * PATIENCE, check=False)
    if done.returncode != 0:
        raise GuildhallError(f"guildhall import: {done.stderr.strip()}", done.returncode)
    with open(os.path.join(data, "temporary"), "w", encoding="utf-8"):
        pass
    found = TOKEN.findall(done.stdout)
    return data, {name: token for name, _, token in found}, [name for name, bot, _ in found if bot]


# --- pictures ---------------------------------------------------------------------------


class _Browser:
    """Chromium, controlled by its debugging pipe."""

    def __init__(self, profile: str):
        mine, theirs = os.pipe(), os.pipe()
        command = [os.environ.get("CHROMIUM", "chromium"), "--headless=new", "--no-sandbox", "--disable-gpu",
                   "--remote-debugging-pipe", "--window-size=1000,800", f"--user-data-dir={profile}", "about:blank"]

        def connect() -> None:
            # Chromium reads commands from the descriptor 3 and writes answers to 4.
            commands, answers = (fcntl.fcntl(fd, fcntl.F_DUPFD, 10) for fd in (mine[0], theirs[1]))
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        self.process = subprocess.Popen(command, close_fds=False, preexec_fn=connect, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(mine[0])
        os.close(theirs[1])
        self.write, self.read = mine[1], theirs[0]
        self.number, self.text = 0, b""

    def ask(self, method: str, session: Optional[str] = None, **params: Any) -> dict:
        self.number += 1
        message = {"id": self.number, "method": method, "params": params, **({"sessionId": session} if session else {})}
        try:
            os.write(self.write, json.dumps(message).encode() + b"\0")
            while True:
                while b"\0" not in self.text:
                    piece = os.read(self.read, 1 << 20)
                    if not piece:
                        raise GuildhallError("Chromium ended; is it installed, or its path in CHROMIUM?")
                    self.text += piece
                answer, self.text = self.text.split(b"\0", 1)
                found = json.loads(answer)
                if found.get("id") == self.number:
                    return found.get("result", {})
        except BrokenPipeError:
            raise GuildhallError("Chromium ended; is it installed, or its path in CHROMIUM?") from None

    def close(self) -> None:
        self.process.kill()
        self.process.wait()
        os.close(self.write)
        os.close(self.read)


def _take_picture(url: str, token: str, file: str) -> None:
    """Opens a page in Chromium as the person with a token, and saves a picture of it."""
    profile = tempfile.mkdtemp(prefix="guildhall-picture-")
    browser = _Browser(profile)
    try:
        origin = "/".join(url.split("/")[:3])
        target = browser.ask("Target.createTarget", url=origin + "/robots.txt")["targetId"]
        session = browser.ask("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]

        def evaluate(expression: str) -> Any:
            return browser.ask("Runtime.evaluate", session, expression=expression).get("result", {}).get("value")

        eventually(lambda: evaluate(f"location.origin === {json.dumps(origin)}"))
        evaluate(f"sessionStorage.setItem('token', {json.dumps(token)})")
        browser.ask("Page.navigate", session, url=url)
        try:
            eventually(lambda: evaluate("document.querySelector('article.message') !== null"), 10)
        except GuildhallError:
            pass  # an empty channel has no message
        time.sleep(0.3)
        with open(file, "wb") as out:
            out.write(base64.b64decode(browser.ask("Page.captureScreenshot", session, format="png")["data"]))
    finally:
        browser.close()
        shutil.rmtree(profile, ignore_errors=True)


class Guildhall:
    """A server from a world, on a free port; ended by `stop`, or at the end of a `with`.

    The program is `binary`, GUILDHALL_BINARY of the environment, the one that was installed with this
    package, or `guildhall` in the path.
    """

    def __init__(self, world: Union[dict, str, os.PathLike], binary: Optional[str] = None,
                 flags: tuple = ()):
        self.binary = binary or find_program()
        self._process: Optional[subprocess.Popen] = None
        self._said: list = []
        self._listens = threading.Event()
        template, self._tokens, self.bots = _import_once(self.binary, world)
        self.data = tempfile.mkdtemp(prefix="guildhall-")
        try:
            shutil.copytree(template, self.data, dirs_exist_ok=True)
            self.url = self._serve(flags)
        except BaseException:
            self.stop()
            raise
        self.api = self.url + "/api"

    def _serve(self, flags: tuple) -> str:
        # The server ends when its standard input ends: also if this process is killed.
        self._process = subprocess.Popen(
            [self.binary, "serve", "--data", self.data, "--listen", "127.0.0.1:0",
             "--rate-limits", "off", "--workbench", "on", "--traffic", "8", "--temporary", "on", *flags],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        threading.Thread(target=self._read_output, daemon=True).start()
        if not self._listens.wait(PATIENCE) or not LISTENING.search(self.log):
            raise GuildhallError(f"guildhall serve: {self.log.strip()}", self._process.poll())
        return LISTENING.search(self.log)[1]

    def _read_output(self) -> None:
        for line in self._process.stdout:
            self._said.append(line)
            if LISTENING.search(line):
                self._listens.set()
        self._listens.set()

    @property
    def log(self) -> str:
        """What the server has said so far."""
        return "".join(self._said)

    def run(self, *words: str, check: bool = True) -> subprocess.CompletedProcess:
        """Any other command of the program, against this server."""
        done = subprocess.run([self.binary, *words, "--data", self.data], capture_output=True,
                              text=True, timeout=10 * PATIENCE, check=False)
        if check and done.returncode != 0:
            raise GuildhallError(f"guildhall {words[0]}: {done.stderr.strip()}", done.returncode)
        return done

    def token(self, name: str) -> str:
        """What an account logs in with, without "Bot " in front."""
        if name not in self._tokens:
            raise GuildhallError(f"the world has no account '{name}'")
        return self._tokens[name]

    def as_user(self, name: str, channel: str = "general") -> Person:
        self.token(name)
        return Person(self, name, channel)

    def snapshot(self, name: str = "fresh") -> None:
        """Saves the state of the server."""
        self.run("snapshot", name)

    def restore(self, name: str = "fresh") -> None:
        """Restores a saved state; clients have to connect again."""
        self.run("restore", name)

    def traffic(self, user: Optional[str] = None, limit: int = 100) -> list:
        """The newest recorded calls and events, the oldest of them first; with `user`, those of an account."""
        query = urllib.parse.urlencode({"limit": limit, **({"user": user} if user else {})})
        with urllib.request.urlopen(f"{self.url}/console/traffic?{query}", timeout=PATIENCE) as answer:
            return json.loads(answer.read())["records"]

    def record(self, file: str, bot: Optional[str] = None) -> None:
        """Saves the calls and events of a bot to a file for `guildhall replay`."""
        pathlib.Path(file).unlink(missing_ok=True)  # the program does not overwrite a file
        self.run("record", file, "--user", bot or self.bots[0])

    def picture(self, file: str, user: Optional[str] = None, channel: str = "general") -> str:
        """Saves a picture of a channel as a person sees it; needs Chromium (its path in CHROMIUM, or `chromium`)."""
        person = self.as_user(user or next(name for name in self._tokens if name not in self.bots), channel)
        channel_object = person.call("GET", f"/channels/{person.channel_id()}")
        _take_picture(f"{self.url}/channels/{channel_object['guild_id']}/{channel_object['id']}", self.token(person.name),
                      file)
        return file

    def explain(self, error: object = "", folder: str = "guildhall-failures", name: str = "failure",
                limit: int = 15, picture: bool = False) -> str:
        """What the bots did last; saves a transcript, a recording of each bot and, if asked, a picture."""
        parts: list = []
        try:
            for bot in self.bots:
                lines = [f"  {record['line']}" for record in self.traffic(bot, limit)]
                parts += [f"last calls and events of {bot}:", *(lines or ["  none: it never connected"])]
            path = os.path.join(os.path.abspath(folder), re.sub(r"[^\w-]+", "-", name))
            os.makedirs(folder, exist_ok=True)
            with open(f"{path}.txt", "w", encoding="utf-8") as file:
                file.write(f"{error}\n\n" + "\n".join(r["line"] for r in self.traffic(limit=200)) + "\n")
            parts.append(f"transcript: {path}.txt")
            for bot in self.bots:
                pathlib.Path(f"{path}.{bot}.jsonl").unlink(missing_ok=True)
                if self.run("record", f"{path}.{bot}.jsonl", "--user", bot, check=False).returncode == 0:
                    parts.append(f"recording: {path}.{bot}.jsonl")
            if picture:
                parts.append(f"picture: {self.picture(path + '.png')}")
        except Exception as problem:  # pylint: disable=broad-except
            parts.append(f"(more cannot be said: {problem})")
        return "\n".join(parts)

    def clock(self, step: str) -> None:
        """Moves the server's clock: "+15m", "+2h"."""
        self.run("clock", step)

    def fault(self, route: str, **options: Any) -> None:
        """Makes calls of a route fail, so many times, or wait: status=500, times=2, delay="3s"."""
        words = ["fault", route]
        for name, value in options.items():
            words += [f"--{name}", str(value)]
        self.run(*words)

    def stop(self) -> None:
        """Ends the server, and takes its folder away."""
        if self._process:
            self._process.terminate()
            self._process.wait()
            self._process.stdin.close()
            self._process = None
        shutil.rmtree(self.data, ignore_errors=True)

    def __enter__(self) -> "Guildhall":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()


def with_guildhall(world: Union[dict, str, os.PathLike], bot: Optional[Callable[["Guildhall"], Any]] = None,
                   failures: str = "guildhall-failures", picture: bool = False) -> Callable:
    """A decorator for a test that has a server with a fresh world to itself, as its last argument.

    `bot` starts the bot and returns a process, or a function that stops the bot. If the test fails, its error says
    what the bots did last (see Guildhall.explain). For unittest and others; pytest has the fixture `guildhall`.
    """
    def decorate(test: Callable) -> Callable:
        def run(*arguments: Any) -> None:
            with Guildhall(world) as hall:
                running = bot(hall) if bot else None
                try:
                    test(*arguments, hall)
                except Exception as error:
                    text = f"{error}\n\n{hall.explain(error, failures, test.__name__, picture=picture)}"
                    error.args = (text, *error.args[1:])
                    raise
                finally:
                    if isinstance(running, subprocess.Popen):
                        running.terminate()
                        running.wait()
                    elif callable(running):
                        running()
        run.__name__, run.__doc__ = test.__name__, test.__doc__
        return run
    return decorate

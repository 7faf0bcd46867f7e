"""A Guildhall server for the tests of a bot, and the people who use it.

    with Guildhall("world.json") as hall:
        ada = hall.as_user("ada")
        assert ada.slash("/roll sides:6").content == "6"
"""

from __future__ import annotations

import json
import os
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

__all__ = ["Answer", "Guildhall", "GuildhallError", "Person", "eventually"]

PATIENCE = 30.0
LISTENING = re.compile(r"^guildhall: listening on (\S+)$", re.M)
TOKEN = re.compile(r"^(\S+) +(?:Bot )?(\S+)$", re.M)


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
            reason = done.stderr.strip() or (steps[-1]["outcome"] if steps else "no answer")
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

    def wait_for_message(self, wanted: Union[str, Pattern[str], Callable[[dict], bool]],
                         after: Union[dict, str, None] = None,
                         timeout: float = PATIENCE) -> dict:
        """The first message that fits, also one that is there already; `after`: behind that one.

        What fits is a text that it contains, an expression, or a function.
        """
        def fits(message: dict) -> bool:
            if callable(wanted):
                return wanted(message)
            if isinstance(wanted, str):
                return wanted in message["content"]
            return bool(wanted.search(message["content"]))

        start = int(_id(after)) if after is not None else 0

        def look() -> Optional[dict]:
            return next((m for m in self.messages() if int(m["id"]) > start and fits(m)), None)

        try:
            return eventually(look, timeout)
        except GuildhallError as error:
            if error.status:
                raise
            seen = "\n  ".join(f"{m['author']['username']}: {m['content']}"
                               for m in self.messages(5))
            raise GuildhallError(f"no such message came within {timeout} s; the last ones:\n  "
                                 f"{seen}") from None


class Guildhall:
    """A server from a world, on a free port; ended by `stop`, or at the end of a `with`.

    The program is `binary`, GUILDHALL_BINARY of the environment, the one that was installed with this
    package, or `guildhall` in the path.
    """

    def __init__(self, world: Union[dict, str, os.PathLike], binary: Optional[str] = None,
                 flags: tuple = ()):
        self.binary = binary or find_program()
        self._folder = tempfile.mkdtemp(prefix="guildhall-")
        self.data = os.path.join(self._folder, "data")
        self._process: Optional[subprocess.Popen] = None
        self._said: list = []
        self._listens = threading.Event()
        try:
            self._tokens = self._bring(world)
            self.url = self._serve(flags)
        except BaseException:
            self.stop()
            raise
        self.api = self.url + "/api"

    def _bring(self, world: Union[dict, str, os.PathLike]) -> dict:
        if isinstance(world, dict):
            path = os.path.join(self._folder, "world.json")
            with open(path, "w", encoding="utf-8") as file:
                json.dump(world, file)
            world = path
        return dict(TOKEN.findall(self.run("import", os.fspath(world), "--tokens").stdout))

    def _serve(self, flags: tuple) -> str:
        self._process = subprocess.Popen(
            [self.binary, "serve", "--data", self.data, "--listen", "127.0.0.1:0",
             "--rate-limits", "off", "--workbench", "on", *flags],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        threading.Thread(target=self._hear, daemon=True).start()
        if not self._listens.wait(PATIENCE) or not LISTENING.search(self.log):
            raise GuildhallError(f"guildhall serve: {self.log.strip()}", self._process.poll())
        return LISTENING.search(self.log)[1]

    def _hear(self) -> None:
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
            self._process = None
        shutil.rmtree(self._folder, ignore_errors=True)

    def __enter__(self) -> "Guildhall":
        return self

    def __exit__(self, *_: Any) -> None:
        self.stop()

"""A bot and its tests, as one would write them."""

import os
import re
import resource
import signal
import subprocess
import sys
import time
import urllib.request
from datetime import datetime, timedelta

import pytest

from guildhall_test import (Guildhall, GuildhallError, eventually, expect_message, message_differences,
                            with_guildhall)

BOT = os.path.join(os.path.dirname(__file__), "bot.py")
WORLD = {
    "users": [{"username": "ada"}, {"username": "bob"}],
    "applications": [{"name": "Dice", "owner": "ada", "bot": "dice"}],
    "guilds": [{
        "name": "Test",
        "owner": "ada",
        "channels": [{"name": "general"}, {"name": "games"}],
        "members": [{"user": "bob"}, {"user": "dice"}],
        "applications": [{"application": "Dice", "by": "ada"}],
    }],
}


@pytest.fixture(scope="module", name="hall")
def hall_with_bot():
    with Guildhall(WORLD) as hall:
        bot = subprocess.Popen([sys.executable, BOT], env={
            **os.environ, "API": hall.api, "TOKEN": hall.token("dice")})
        try:
            eventually(lambda: hall.as_user("ada").slash("/roll sides:1"))
            yield hall
        finally:
            bot.terminate()
            bot.wait()


def test_a_command_is_answered(hall):
    assert hall.as_user("ada").slash("/roll sides:6").content == "A die of 6"


def test_a_button_is_pressed(hall):
    assert hall.as_user("bob").slash("/tea", press="yes").content == "bob says yes"


def test_what_is_refused_says_why(hall):
    with pytest.raises(GuildhallError) as refused:
        hall.as_user("ada").slash("/roll")
    assert refused.value.status == 3
    with pytest.raises(GuildhallError, match="no account 'nobody'"):
        hall.as_user("nobody")


def test_a_message_is_answered(hall):
    bob = hall.as_user("bob", channel="games")
    said = bob.say("ping")
    pong = bob.wait_for_message("pong", after=said)
    assert pong["message_reference"]["message_id"] == said["id"]
    bob.react(pong, "👍")
    with pytest.raises(GuildhallError, match="(?s)the last ones:.*dice: pong"):
        bob.wait_for_message(re.compile("never"), timeout=0.1)


def test_failures_and_a_moved_clock_can_be_requested(hall):
    bob = hall.as_user("bob", channel="games")
    hall.fault("POST /channels/*/messages", status=503, times=1)
    with pytest.raises(GuildhallError) as refused:
        bob.say("lost")
    assert refused.value.status == 503
    before = datetime.fromisoformat(bob.say("now")["timestamp"])
    hall.clock("+2h")
    assert datetime.fromisoformat(bob.say("later")["timestamp"]) - before >= timedelta(hours=2)


def test_matchers_name_each_difference(hall):
    message = hall.as_user("ada").slash("/tea").message
    fits = {"content": re.compile("^Tea"), "author": "dice", "embeds": [], "components": ["yes", {"label": "Yes"}]}
    assert not message_differences(message, **fits)
    expect_message(message, **fits)
    assert message_differences(message, content="Coffee?", ephemeral=True, embeds=[{"title": "x"}], components=["no"]) == [
        'content is "Tea?" instead of "Coffee?"',
        "ephemeral is false instead of true",
        "embeds has 0 entries instead of 1",
        'no component is "no"; there are: yes',
    ]
    with pytest.raises(AssertionError, match='content is "Tea\\?" instead of "x"'):
        expect_message(message, content="x")
    hall.as_user("ada").wait_for_message({"author": "dice", "components": ["yes"]})


def test_a_refused_form_says_why(hall):
    ada = hall.as_user("ada")
    expect_message(ada.slash("/ask", fill="text:enough"), content="enough", ephemeral=True)
    with pytest.raises(GuildhallError, match="refused: Invalid Form Body: .*Must be (between )?5"):
        ada.slash("/ask", fill="text:few")


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def test_many_tests_have_a_fresh_world_each():
    """100 of them must take less than 10 s; on a loaded machine only the processor time says something."""
    count = int(os.environ.get("FRESH_WORLDS", "10"))
    start, spent = time.monotonic(), processor_seconds()
    for _ in range(count):
        with Guildhall(WORLD) as own:
            assert own.as_user("ada").messages() == []
            own.as_user("ada").say("mine")
    spent = processor_seconds() - spent
    print(f"{count} fresh worlds: {(time.monotonic() - start) * 1000:.0f} ms, {spent * 1000:.0f} ms of processor time")
    assert spent < count * 0.3  # the program may be built with a sanitizer


def test_a_snapshot_is_restored():
    with Guildhall(WORLD) as own:
        own.as_user("ada").say("one")
        own.snapshot()
        own.as_user("ada").say("two")
        own.restore()
        assert [m["content"] for m in own.as_user("ada").messages()] == ["one"]


def start_bot(hall):
    return subprocess.Popen([sys.executable, BOT], env={**os.environ, "API": hall.api, "TOKEN": hall.token("dice")})


def test_a_failure_says_what_the_bot_did_last(tmp_path):
    @with_guildhall(WORLD, start_bot, failures=str(tmp_path))
    def pings(hall):
        eventually(lambda: hall.as_user("ada").slash("/roll sides:1"))
        assert hall.as_user("ada").slash("/roll sides:2").content == "three"

    with pytest.raises(AssertionError, match=r"(?s)last calls and events of dice:.*INTERACTION_CREATE.*callback 204") as failed:
        pings()
    assert re.search(r"transcript: .*pings\.txt\nrecording: .*pings\.dice\.jsonl", str(failed.value))
    assert "INTERACTION_CREATE" in (tmp_path / "pings.txt").read_text()
    assert (tmp_path / "pings.dice.jsonl").read_text().startswith('{"guildhall_recording":1')


def test_the_server_ends_with_its_test():
    script = (f"from guildhall_test import Guildhall; import time; hall = Guildhall({WORLD!r}); "
              "print(hall.url, hall.data, flush=True); time.sleep(100)")
    with subprocess.Popen([sys.executable, "-c", script], stdout=subprocess.PIPE, text=True) as child:
        url, data = child.stdout.readline().split()
        assert urllib.request.urlopen(url + "/healthz").status == 200 and os.path.exists(data)
        child.send_signal(signal.SIGKILL)
    eventually(lambda: not os.path.exists(data))
    with pytest.raises(OSError):
        urllib.request.urlopen(url + "/healthz")

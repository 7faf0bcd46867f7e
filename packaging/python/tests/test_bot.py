"""A bot and its tests, as one would write them."""

import os
import re
import subprocess
import sys
from datetime import datetime, timedelta

import pytest

from guildhall_test import Guildhall, GuildhallError, eventually

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


def test_calls_fail_and_time_passes_when_they_are_told_to(hall):
    bob = hall.as_user("bob", channel="games")
    hall.fault("POST /channels/*/messages", status=503, times=1)
    with pytest.raises(GuildhallError) as refused:
        bob.say("lost")
    assert refused.value.status == 503
    before = datetime.fromisoformat(bob.say("now")["timestamp"])
    hall.clock("+2h")
    assert datetime.fromisoformat(bob.say("later")["timestamp"]) - before >= timedelta(hours=2)

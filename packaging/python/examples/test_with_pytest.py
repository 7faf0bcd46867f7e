"""A test with pytest: python3 -m pytest test_with_pytest.py

The fixture `guildhall` comes with the package: a server with a fresh world for each test.
"""

import os
import subprocess
import sys

import pytest

from guildhall_test import eventually, expect_message


@pytest.fixture(name="hall")
def hall_with_bot(guildhall):
    bot = subprocess.Popen([sys.executable, "bot.py"],
                           env={**os.environ, "API": guildhall.api, "TOKEN": guildhall.token("dice")})
    eventually(lambda: any(record.get("event") == "READY" for record in guildhall.traffic("dice")))
    yield guildhall
    bot.terminate()
    bot.wait()


def test_ping_is_answered(hall):
    ada = hall.as_user("ada")
    said = ada.say("ping")
    expect_message(ada.wait_for_message("pong", after=said), author="dice", embeds=[{"title": "Answer"}])

"""A test with unittest: python3 -m unittest test_with_unittest"""

import os
import subprocess
import sys
import unittest

from guildhall_test import eventually, expect_message, with_guildhall


def start_bot(hall):
    bot = subprocess.Popen([sys.executable, "bot.py"],
                           env={**os.environ, "API": hall.api, "TOKEN": hall.token("dice")})
    eventually(lambda: any(record.get("event") == "READY" for record in hall.traffic("dice")))
    return bot


class PingTest(unittest.TestCase):
    @with_guildhall("world.json", start_bot)
    def test_ping_is_answered(self, hall):
        ada = hall.as_user("ada")
        said = ada.say("ping")
        expect_message(ada.wait_for_message("pong", after=said), author="dice", embeds=[{"title": "Answer"}])


if __name__ == "__main__":
    unittest.main()

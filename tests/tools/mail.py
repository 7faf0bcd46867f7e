#!/usr/bin/env python3
"""mail - tests the mails of the server with an independent SMTP server: python3-aiosmtpd if it is
installed (scripts/setup test), otherwise the smtpd module of Python up to 3.11."""

import email
import os
import re
import subprocess
import sys
import tempfile
import threading
import time
import warnings

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402
from prepared_data import start_guildhall  # noqa: E402
from process import Client, free_port  # noqa: E402

PATIENCE_S = 60
ADA = {"username": "ada", "password": "correct horse", "email": "ada@mail.example"}


class MailServer:
    """An SMTP server and its received mails: (sender, recipients, text)."""

    def __init__(self):
        self.mails = []
        try:
            self._start_aiosmtpd()
        except ImportError:
            self._start_smtpd()

    def _start_aiosmtpd(self):
        from aiosmtpd.controller import Controller  # pylint: disable=import-outside-toplevel
        mails = self.mails

        class Handler:  # pylint: disable=too-few-public-methods
            async def handle_DATA(self, _server, _session, envelope):  # pylint: disable=invalid-name
                mails.append((envelope.mail_from, list(envelope.rcpt_tos),
                              envelope.content.decode()))
                return "250 taken"

        self.port = free_port()
        controller = Controller(Handler(), hostname="127.0.0.1", port=self.port,
                                ready_timeout=PATIENCE_S)
        controller.start()
        self.close = controller.stop

    def _start_smtpd(self):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                import asyncore  # pylint: disable=import-outside-toplevel
                import smtpd  # pylint: disable=import-outside-toplevel
            except ImportError as e:
                raise Skip("neither python3-aiosmtpd nor Python's smtpd is installed") from e
        mails = self.mails

        class Server(smtpd.SMTPServer):
            def process_message(self, _peer, mailfrom, rcpttos, data, **_):
                mails.append((mailfrom, rcpttos, data.decode()))

        sockets = {}
        server = Server(("127.0.0.1", 0), None, map=sockets)
        self.port = server.socket.getsockname()[1]
        self.closing = False

        def serve():
            while not self.closing:
                asyncore.loop(timeout=0.02, count=1, map=sockets)
            asyncore.close_all(map=sockets)

        thread = threading.Thread(target=serve, daemon=True)
        thread.start()

        def close():
            self.closing = True
            thread.join()

        self.close = close

    def wait(self, count):
        for _ in range(PATIENCE_S * 100):
            if len(self.mails) >= count:
                return self.mails[count - 1]
            time.sleep(0.01)
        raise AssertionError(f"{len(self.mails)} mails arrived, not {count}")


def start(executable, folder, port, *more):
    return start_guildhall(executable, folder, "--smtp-url", f"smtp://127.0.0.1:{port}",
                           "--smtp-from", "Guildhall <no-reply@chat.example>", "--public-url",
                           "https://chat.example", "--registration", "open", *more)


def call(port, method, path, body, token=None):
    client = Client(port, token)
    answer = client.call(method, path, body)
    client.close()
    return answer


def token_in(mail, page):
    sender, receivers, text = mail
    expect(sender == "no-reply@chat.example" and receivers == ["ada@mail.example"], str(mail))
    parsed = email.message_from_string(text)
    expect(parsed["From"] == "Guildhall <no-reply@chat.example>", parsed["From"])
    expect(parsed["To"] == "ada@mail.example" and parsed["Message-ID"], str(parsed.items()))
    expect(email.utils.parsedate_to_datetime(parsed["Date"]).utcoffset() is not None, "the date")
    found = re.search(rf"https://chat\.example/{page}#token=(\S+)", parsed.get_payload())
    expect(found, parsed.get_payload())
    return found[1]


def mailed_links_verify_an_address_and_reset_a_password(executable):
    mail_server = MailServer()
    with tempfile.TemporaryDirectory() as folder:
        server = start(executable, folder, mail_server.port)
        try:
            status, _ = call(server.port, "POST", "/auth/register", ADA)
            expect(status == 200, str(status))
            token = token_in(mail_server.wait(1), "verify")
            expect(call(server.port, "POST", "/auth/verify", {"token": token})[0] == 200, "verify")
            status, _ = call(server.port, "POST", "/auth/forgot", {"login": ADA["email"]})
            expect(status == 204, str(status))
            token = token_in(mail_server.wait(2), "reset")
            status, answer = call(server.port, "POST", "/auth/reset",
                                  {"token": token, "password": "another horse"})
            expect(status == 200, f"{status} {answer}")
            status, me = call(server.port, "GET", "/users/@me", None, answer["token"])
            expect(status == 200 and me["verified"] is True, f"{status} {me}")
        finally:
            server.stop()
            mail_server.close()


def requested_mail_is_sent_after_a_kill(executable):
    """The server is killed while no SMTP server runs; the next server sends the mail."""
    mail_server = MailServer()
    port = free_port()
    with tempfile.TemporaryDirectory() as folder:
        server = start(executable, folder, port)
        status, _ = call(server.port, "POST", "/auth/register", ADA)
        expect(status == 200, str(status))
        server.kill()
        server = start(executable, folder, mail_server.port, "--workbench", "on")
        try:
            # The interrupted attempt may hold the job for its lease; the clock is moved past it.
            subprocess.run([executable, "clock", "+3m", "--data", folder], check=True, timeout=60,
                           stdout=subprocess.DEVNULL)
            token_in(mail_server.wait(1), "verify")
        finally:
            server.stop()
            mail_server.close()


if __name__ == "__main__":
    run_cases("mail", [mailed_links_verify_an_address_and_reset_a_password,
                       requested_mail_is_sent_after_a_kill])

#!/usr/bin/env python3
"""claims - tests claims of copied accounts by a log-in (OAuth2) at the server from which the guild was
copied. Both servers are Guildhall. CLAIMS_STORE=postgres: the copy is in PostgreSQL."""

import os
import re
import sys
import tempfile
import urllib.parse

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))

from cases import expect, run_cases  # noqa: E402
from copy_guild import Source, compare, copy, post_claim, put  # noqa: E402
from operator_commands import new_database  # noqa: E402
from prepared_data import start_guildhall  # noqa: E402
from process import Client, register  # noqa: E402

HERE = "https://here.example"


class Claims:
    """A guild on one server, an application there, and another server with a copy."""

    def __init__(self, executable, folder):
        self.executable, self.folder = executable, folder
        self.source = Source(executable, folder)
        self.data = os.path.join(folder, "target")
        self.store = []
        if os.environ.get("CLAIMS_STORE") == "postgres":
            self.store = ["--store", new_database()]
        self.register_application()
        self.target = None
        self.start(self.secret)
        done = copy(executable, self.source, self.data, "--send-claims", HERE, *self.store)
        expect("sent 3 claim codes" in done.stdout, done.stdout)

    def register_application(self):
        """Registers this server at the source, as docs/MOVE-HERE.md says."""
        ada = self.source.ada
        made = ada.call("POST", "/applications", {"name": "Moving"})[1]
        self.application = made["id"]
        self.source.change("PATCH", f"/applications/{made['id']}",
                           {"redirect_uris": [HERE + "/claim"]})
        self.secret = ada.call("POST", f"/applications/{made['id']}/reset", {})[1]["secret"]

    def start(self, secret):
        if self.target:
            self.target.stop()
        self.target = start_guildhall(
            self.executable, self.data, *self.store, "--public-url", HERE, "--private-endpoints",
            "on", "--claim-api", self.source.url + "/api/v10", "--claim-client-id", self.application,
            "--claim-client-secret-file", put(self.folder, "secret", secret + "\n"))
        self.server = self.target  # for post_claim
        self.client = Client(self.target.port)

    def stop(self):
        self.source.server.kill()
        if self.target:
            self.target.kill()

    def begin(self):
        """Returns the query of the consent page, and the proof."""
        status, started = self.client.call("POST", "/auth/claim/identity")
        expect(status == 200, str(started))
        address, query = started["url"].split("?")
        expect(address == self.source.url + "/oauth2/authorize", started["url"])
        return query, started["proof"]

    def consent(self, query, token, authorize=True):
        """Decides on the consent page; returns the parameters of the redirect."""
        client = Client(self.source.server.port, token)
        shown = client.call("GET", "/oauth2/authorize?" + query)[1]
        expect(shown["application"]["name"] == "Moving" and shown["scopes"] == ["identify"], shown)
        status, answer = client.call("POST", "/oauth2/authorize?" + query, {"authorize": authorize})
        expect(status == 200, str(answer))
        page, _, back = answer["location"].partition("?")
        expect(page == HERE + "/claim", answer["location"])
        return dict(urllib.parse.parse_qsl(back))

    def call_back(self, **body):
        return self.client.call("POST", "/auth/claim/identity/callback", body)

    def log_in(self, token):
        """Logs in at the source and returns the answer of the callback."""
        query, proof = self.begin()
        back = self.consent(query, token)
        return self.call_back(state=back["state"], code=back["code"], proof=proof)


def expect_refused(answer, path, code):
    status, body = answer
    found = [e["code"] for e in body.get("errors", {}).get(path, {}).get("_errors", [])]
    expect(status == 400 and found == [code], f"{status} {body}")


def with_claims(case):
    def run_case(executable):
        with tempfile.TemporaryDirectory() as folder:
            claims = Claims(executable, folder)
            try:
                case(claims)
            finally:
                claims.stop()
    run_case.__name__ = case.__name__
    return run_case


@with_claims
def member_claims_the_account_by_a_log_in_at_the_source(claims):
    source = claims.source
    status, found = claims.log_in("cleo_token_0123456789")
    expect(status == 200 and found["username"] == "cleo", str(found))
    status, answer = post_claim(claims, found["code"])
    expect(status == 200, str(answer))
    before = Client(source.server.port, "cleo_token_0123456789")
    after = Client(claims.target.port, answer["token"])
    expect(after.call("GET", "/users/@me")[1]["id"] == source.id_of("cleo"), "another id")
    differences = compare(before, after, source.guild, least=20)
    expect(not differences, "\n".join(differences[:60]))
    # The code that the bot has sent has ended, and the account is not claimed twice.
    channel = before.call("GET", "/users/@me/channels")[1][0]["id"]
    text = before.call("GET", f"/channels/{channel}/messages")[1][0]["content"]
    by_bot = re.search(r"#token=(\S+)", text)[1]
    expect(post_claim(claims, by_bot)[0] == 400, "the code of the bot is still valid")
    expect_refused(claims.log_in("cleo_token_0123456789"), "code", "CLAIM_ACCOUNT_IN_USE")


@with_claims
def code_is_refused_with_another_state_and_for_the_second_time(claims):
    bobs, bobs_proof = claims.begin()
    cleos, cleos_proof = claims.begin()
    bob = claims.consent(bobs, "bob_token_0123456789")
    cleo = claims.consent(cleos, "cleo_token_0123456789")
    expect_refused(claims.call_back(state=cleo["state"], code=cleo["code"], proof=bobs_proof),
                   "state", "CLAIM_STATE_INVALID")
    status, found = claims.call_back(state=cleo["state"], code=cleo["code"], proof=cleos_proof)
    expect(status == 200 and found["username"] == "cleo", str(found))
    # The code of cleo is used.
    expect_refused(claims.call_back(state=bob["state"], code=cleo["code"], proof=bobs_proof),
                   "code", "CLAIM_GRANT_INVALID")
    status, found = claims.call_back(state=bob["state"], code=bob["code"], proof=bobs_proof)
    expect(status == 400 or found["username"] == "bob", str(found))


@with_claims
def person_outside_of_the_guild_and_one_who_declines_get_no_account(claims):
    dora = register(claims.source.server.port, "dora")
    expect_refused(claims.log_in(dora), "code", "CLAIM_ACCOUNT_UNKNOWN")
    query, _ = claims.begin()
    back = claims.consent(query, "bob_token_0123456789", authorize=False)
    expect(back["error"] == "access_denied" and "code" not in back, str(back))


@with_claims
def wrong_secret_and_unreachable_source_are_reported(claims):
    claims.start("wrong")
    status, answer = claims.log_in("cleo_token_0123456789")
    expect(status == 503 and "client id, secret or redirect address" in answer["message"],
           str(answer))
    claims.start(claims.secret)
    query, proof = claims.begin()
    back = claims.consent(query, "cleo_token_0123456789")
    claims.source.server.kill()
    status, answer = claims.call_back(state=back["state"], code=back["code"], proof=proof)
    expect(status == 503 and "does not answer as expected" in answer["message"], str(answer))


if __name__ == "__main__":
    run_cases("claims", [member_claims_the_account_by_a_log_in_at_the_source,
                         code_is_refused_with_another_state_and_for_the_second_time,
                         person_outside_of_the_guild_and_one_who_declines_get_no_account,
                         wrong_secret_and_unreachable_source_are_reported])

#!/usr/bin/env python3
"""nats_encryption - tests that messages captured from NATS cannot be read or replayed."""

import os
import shutil
import subprocess
import tempfile
import time

from broker import Broker
from cluster_nodes import PATIENCE, Cluster, Session, Skip, expect, guild_and_channel_of
from cases import run_cases

WORDS = "words for the channel alone"


def typings(session):
    return sum(t == "TYPING_START" for t, _ in session.events)


def wait_for(true, words):
    deadline = time.monotonic() + PATIENCE
    while not true():
        expect(time.monotonic() < deadline, words)
        time.sleep(0.02)


def nats_messages_cannot_be_read_or_replayed(executable):
    broker = Broker(stand_in=True)
    broker.seen = []
    with Cluster(executable, nodes=2, bus=broker.url) as cluster:
        ada, bob = cluster.tokens
        _, channel = guild_and_channel_of(cluster.client(1, ada))
        cluster.wait_metric("guildhall_nats_connected", 1)
        session = Session(cluster.servers[2].port, bob)
        expect(cluster.client(1, ada).call("POST", f"/channels/{channel}/messages",
                                           {"content": WORDS})[0] == 200, "a message")
        expect(cluster.client(1, ada).call("POST", f"/channels/{channel}/typing", {})[0] == 204, "typing")
        session.wait(lambda events: any(t == "TYPING_START" for t, _ in events), "typing")
        session.wait(lambda events: any(t == "MESSAGE_CREATE" for t, _ in events), "the message")
        seen = list(broker.seen)
        expect(len(seen) > 3, "no message went through NATS")
        for subject, payload in seen:
            for secret in (WORDS.encode(), b"MESSAGE_CREATE", b"TYPING", channel.encode(), b"ada"):
                expect(secret not in payload, f"{secret} can be read in {subject}")
        refused = [cluster.metric(n, "guildhall_nats_refused_total") for n in (1, 2)]
        expect(refused == [0, 0], f"valid messages were refused: {refused}")
        for _ in range(3):
            for subject, payload in seen:
                broker.publish(subject, payload)
        # Each message is replayed to both nodes, or to the one it was for. A message that a node
        # missed because it was not connected is new to it once.
        given = sum(1 if subject.rpartition(".")[2].isdigit() else 2 for subject, _ in seen)
        wait_for(lambda: sum(cluster.metric(n, "guildhall_nats_refused_total") for n in (1, 2))
                 >= 2 * given, "replayed messages were not refused")
        expect(cluster.client(1, ada).call("POST", f"/channels/{channel}/messages",
                                           {"content": "the last"})[0] == 200, "a message")
        session.wait(lambda events: "the last" in session.contents(), "the last")
        expect(typings(session) == 1, f"the typing event was delivered {typings(session)} times")
        expect(session.contents() == [WORDS, "the last"], str(session.contents()))
    broker.kill()


def certificate(folder, name):
    cert, key = (os.path.join(folder, f"{name}.{kind}") for kind in ("pem", "key"))
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256",
                    "-nodes", "-days", "2", "-subj", f"/CN={name}", "-addext",
                    "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", cert], check=True,
                   capture_output=True, timeout=PATIENCE)
    return cert, key


def nats_connection_uses_tls(executable):
    if not shutil.which("nats-server") or not shutil.which("openssl"):
        raise Skip("nats-server or openssl is not installed")
    with tempfile.TemporaryDirectory() as folder:
        pair, (other, _) = certificate(folder, "nats"), certificate(folder, "other")
        broker = Broker(password="s3cret", tls=pair)
        with Cluster(executable, nodes=2, bus=broker.url, flags=["--bus-ca", pair[0]]) as cluster:
            ada, bob = cluster.tokens
            _, channel = guild_and_channel_of(cluster.client(1, ada))
            cluster.wait_metric("guildhall_nats_connected", 1)
            session = Session(cluster.servers[2].port, bob)
            for i in range(20):
                cluster.client(1, ada).call("POST", f"/channels/{channel}/messages",
                                            {"content": f"{i} " + "x" * 1900})
            cluster.client(1, ada).call("POST", f"/channels/{channel}/typing", {})
            session.wait(lambda events: any(t == "TYPING_START" for t, _ in events), "typing")
            broker.kill()
            cluster.wait_metric("guildhall_nats_connected", 0)
            broker.start()
            cluster.wait_metric("guildhall_nats_connected", 1)
        # With an untrusted certificate no password is sent, and the log is polled.
        with Cluster(executable, nodes=2, bus=broker.url, flags=["--bus-ca", other]) as cluster:
            ada, bob = cluster.tokens
            _, channel = guild_and_channel_of(cluster.client(1, ada))
            session = Session(cluster.servers[2].port, bob)
            cluster.client(1, ada).call("POST", f"/channels/{channel}/messages", {"content": WORDS})
            session.wait(lambda events: any(t == "MESSAGE_CREATE" for t, _ in events), "by polling")
            expect(cluster.metric(1, "guildhall_nats_connected") == 0, "it trusts anybody")
        broker.kill()


if __name__ == "__main__":
    run_cases("nats_encryption", [nats_messages_cannot_be_read_or_replayed, nats_connection_uses_tls])

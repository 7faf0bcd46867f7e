#!/usr/bin/env python3
"""monitoring - tests the metrics and log lines that other programs read."""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))
PACKAGING = os.path.join(HERE, "..", "..", "packaging")

from cases import expect, run_cases  # noqa: E402
from prepared_data import start_guildhall  # noqa: E402
from process import Client, Failed, register  # noqa: E402

PATIENCE = 60


def start(executable, folder, *flags):
    return start_guildhall(executable, folder, "--log-level", "info", *flags)


def wait_for(server, pattern):
    """Waits for the pattern in the log and returns its group."""
    deadline = time.monotonic() + PATIENCE
    while time.monotonic() < deadline:
        found = re.search(pattern, server.read_stderr(), re.M)
        if found:
            return found.group(1)
        time.sleep(0.02)
    raise Failed(f"the log has no {pattern}:\n{server.read_stderr()}")


def get(port, path):
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=PATIENCE) as answer:
            return answer.status, answer.read().decode()
    except urllib.error.HTTPError as refusal:
        return refusal.code, refusal.read().decode()


def check_queries_name_metrics(queries, text):
    metrics = set(re.findall(r"^# HELP (\w+) ", text, re.M))
    for name in re.findall(r"^# TYPE (\w+) histogram$", text, re.M):
        metrics |= {f"{name}_bucket", f"{name}_sum", f"{name}_count"}
    for query in queries:
        names = re.findall(r"\bguildhall_\w+", query)
        expect((names or "up{" in query) and set(names) <= metrics, f"no such metric: {query}")


def every_dashboard_query_names_an_existing_metric(executable):
    with open(os.path.join(PACKAGING, "grafana", "guildhall.json"), encoding="utf-8") as file:
        dashboard = json.load(file)
    queries = [t["expr"] for panel in dashboard["panels"] for t in panel["targets"]]
    expect(len(queries) > 20, "the dashboard has few queries")
    with tempfile.TemporaryDirectory() as folder:
        server = start(executable, folder)
        try:
            register(server.port, "ada")
            _, text = get(server.port, "/metrics")
        finally:
            server.stop()
    check_queries_name_metrics(queries, text)


def every_alert_names_an_existing_metric(executable):
    with open(os.path.join(PACKAGING, "prometheus", "alerts.yml"), encoding="utf-8") as file:
        queries = re.findall(r"expr: (?:>-\n)?((?:.*\n)(?: {10}.*\n)*)", file.read())
    expect(len(queries) > 5, queries)
    os.environ.update(AWS_ACCESS_KEY_ID="id", AWS_SECRET_ACCESS_KEY="secret")
    with tempfile.TemporaryDirectory() as folder:
        server = start(executable, folder, "--tls-self-signed", "--blobs", "s3://bucket",
                       "--s3-endpoint", "http://127.0.0.1:1")  # no file is stored
        try:
            check_queries_name_metrics(queries, get(server.port, "/metrics")[1])
        finally:
            server.stop()
    if shutil.which("promtool"):
        done = subprocess.run(["promtool", "check", "rules",
                               os.path.join(PACKAGING, "prometheus", "alerts.yml")],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        expect(done.returncode == 0, done.stdout + done.stderr)


def metrics_can_be_served_on_a_separate_port(executable):
    with tempfile.TemporaryDirectory() as folder:
        server = start(executable, folder, "--metrics-listen", "127.0.0.1:0",
                       "--metrics-token", "secret")
        try:
            port = int(wait_for(server, r"metrics: serving on 127.0.0.1, port (\d+)"))
            expect(get(server.port, "/metrics")[0] == 401, "the public port does not require the token")
            status, text = get(port, "/metrics")
            version = subprocess.run([executable, "version"], capture_output=True, text=True,
                                     check=True).stdout.split()[1]
            expect(status == 200 and f'guildhall_build_info{{version="{version}",' in text, text)
            expect(get(port, "/healthz") == (200, '{"status":"ok"}'), "healthz")
            expect(get(port, "/readyz") == (200, '{"status":"ok"}'), "readyz")
            for path in ("/", "/api/v10/gateway", "/openapi.json"):
                expect(get(port, path)[0] == 404, f"{path} is served on the metrics port")
        finally:
            server.stop()


def pattern_of(name):
    with open(os.path.join(PACKAGING, "fail2ban", name), encoding="utf-8") as file:
        pattern = re.search(r"^failregex = (.*)$", file.read(), re.M).group(1)
    return pattern.replace("<ADDR>", r"(?P<ip4>\d+\.\d+\.\d+\.\d+)")


def check_fail2ban_matches(log, folder):
    """Runs fail2ban if it is installed: it must match every line with the filter's words."""
    path, log = os.path.join(folder, "log"), log.partition("\n")[2]  # the first line of a long log may be truncated
    with open(path, "w", encoding="utf-8") as file:
        file.write(log)
    for name, words in (("guildhall.conf", "wrong password from"),
                        ("guildhall-limits.conf", "too many calls from")):
        done = subprocess.run(["fail2ban-regex", path, os.path.join(PACKAGING, "fail2ban", name)],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        found = re.search(r"^Lines: .* (\d+) matched,", done.stdout, re.M)
        expect(found and int(found[1]) == log.count(words) > 0, done.stdout + done.stderr)


def fail2ban_recognizes_refused_requests(executable):
    for form in ("json", "text"):
        with tempfile.TemporaryDirectory() as folder:
            server = start(executable, folder, "--log-format", form, "--rate-limits", "on")
            try:
                register(server.port, "ada")
                client = Client(server.port)
                for _ in range(8):
                    client.call("POST", "/auth/login", {"login": "ada", "password": "not this one"})
                client.close()
                expect(wait_for(server, pattern_of("guildhall.conf")) == "127.0.0.1", form)
                expect(wait_for(server, pattern_of("guildhall-limits.conf")) == "127.0.0.1", form)
                if shutil.which("fail2ban-regex"):
                    check_fail2ban_matches(server.read_stderr(), folder)
            finally:
                server.stop()


run_cases("monitoring", [
    every_dashboard_query_names_an_existing_metric,
    every_alert_names_an_existing_metric,
    metrics_can_be_served_on_a_separate_port,
    fail2ban_recognizes_refused_requests,
])

#!/usr/bin/env python3
"""documentation_site - tests the site that scripts/make-site makes of docs/: links, search, and the copy in the
program."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from html.parser import HTMLParser

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402
from prepared_data import start_guildhall  # noqa: E402

MAX_BYTES = 1_500_000  # size of all files in the program
# Prints the number of the row among the results for each question of standard input.
SEARCHES = """
globalThis.window = {};
require(process.argv[1] + "/search-index.js");
const { find } = require(process.argv[1] + "/search.js");
const questions = JSON.parse(require("fs").readFileSync(0));
const missed = questions.filter(([query, page, anchor]) => {
  const [first] = find(query, window.searchIndex);
  return !first || first.page !== page || first.anchor !== anchor;
});
console.log(JSON.stringify(missed.map(([query]) => [query, find(query, window.searchIndex)[0]?.title])));
"""


class Site:
    """The site in a temporary folder: its files by name."""

    def __init__(self):
        self.temporary = tempfile.TemporaryDirectory()
        self.folder = self.temporary.name
        self.made = subprocess.run([os.path.join(ROOT, "scripts/make-site"), self.folder], check=False, capture_output=True, text=True)
        self.files = {}
        for top, _, names in os.walk(self.folder):
            for name in names:
                path = os.path.join(top, name)
                with open(path, "rb") as f:
                    self.files[os.path.relpath(path, self.folder)] = f.read()
        self.pages = {name: Links(data.decode()) for name, data in self.files.items() if name.endswith(".html")}
        (self.assets,) = {os.path.dirname(name) for name in self.files if "/" in name}


class Links(HTMLParser):
    """The ids and links of a page."""

    def __init__(self, text):
        super().__init__()
        self.ids, self.links, self.inline, self.inside = [], [], [], None
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        named = dict(attrs)
        self.ids += [named["id"]] if "id" in named else []
        self.links += [named[key] for key in ("href", "src", "action") if key in named]
        self.inline += [f"<{tag} {key}>" for key in named if key == "style" or key.startswith("on")]
        self.inside = tag if tag in ("script", "style") else None

    def handle_data(self, data):
        if self.inside and data.strip():
            self.inline.append(f"<{self.inside}>")


SITE = Site()


def site_has_no_dead_link(_executable):
    expect(SITE.made.returncode == 0, SITE.made.stderr)
    dead = []
    for name, page in SITE.pages.items():
        expect(len(set(page.ids)) == len(page.ids), f"{name} has an id twice")
        for link in page.links:
            target, _, anchor = link.partition("#")
            if re.match(r"https?:", link):
                continue
            target = target.split("?")[0] or name
            if target not in SITE.files or (anchor and anchor not in SITE.pages[target].ids):
                dead.append(f"{name}: {link}")
    expect(not dead, "\n".join(dead))
    expect(sum(len(page.links) for page in SITE.pages.values()) > 2000, "few links were found")


def site_has_no_inline_scripts_and_styles(_executable):
    for name, page in SITE.pages.items():
        expect(not page.inline, f"{name}: {page.inline}")


def printed(executable, *words):
    return subprocess.run([executable, *words], capture_output=True, text=True, check=True).stdout


def pages_with(anchor, begin):
    return [name for name, page in SITE.pages.items() if name.startswith(begin) and anchor in page.ids]


def search_queries(executable):
    """Returns the query, page and anchor of each route, error code and option of the program."""
    for path, item in json.loads(printed(executable, "openapi"))["paths"].items():
        for method in item.keys() & {"get", "post", "put", "patch", "delete"}:
            route = f"{method.upper()} {path.removeprefix('/api/v10')}"
            anchor = re.sub(r"[^\w\- ]", "", route.lower()).replace(" ", "-")
            found = pages_with(anchor, "reference-")
            expect(len(found) == 1, f"{route}: {found}")
            yield route, found[0], anchor
    for code in re.findall(r"^### (\d+)$", printed(executable, "manual", "errors"), re.M):
        yield code, "errors.html", code
    for option in re.findall(r"^\| `--([a-z0-9-]+)", printed(executable, "manual", "options"), re.M):
        yield f"--{option}", "configuration.html", f"option-{option}"


def search_finds_every_route_error_code_and_option(executable):
    if not shutil.which("node"):
        raise Skip("node is not installed")
    queries = list(search_queries(executable))
    expect(len(queries) > 700, f"only {len(queries)} questions")
    done = subprocess.run(["node", "-e", SEARCHES, os.path.join(SITE.folder, SITE.assets)], input=json.dumps(queries),
                          capture_output=True, text=True, check=True)
    expect(json.loads(done.stdout) == [], f"not the first result: {done.stdout}")


def program_serves_the_site_unchanged(executable):
    with tempfile.TemporaryDirectory() as data:
        server = start_guildhall(executable, os.path.join(data, "data"))
        try:
            for name, wanted in SITE.files.items():
                request = urllib.request.Request(f"http://127.0.0.1:{server.port}/docs/{name}", headers={"Accept-Encoding": "gzip"})
                with urllib.request.urlopen(request, timeout=60) as reply:
                    got = reply.read()
                    if reply.headers["Content-Encoding"] == "gzip":
                        got = gzip.decompress(got)
                expect(got == wanted, f"/docs/{name} is not the file of the source; was the program built from it?")
        finally:
            server.stop()


def site_is_small(_executable):
    total = sum(len(data) if name.endswith(".webp") else len(gzip.compress(data)) for name, data in SITE.files.items())
    expect(total < MAX_BYTES, f"{total} bytes")


def page_of_clients_matches_the_tests(_executable):
    done = subprocess.run([os.path.join(ROOT, "scripts/make-clients-page"), "--check"], capture_output=True, text=True, check=False)
    expect(done.returncode == 0, done.stderr)


run_cases("documentation_site", [
    site_has_no_dead_link,
    site_has_no_inline_scripts_and_styles,
    search_finds_every_route_error_code_and_option,
    program_serves_the_site_unchanged,
    site_is_small,
    page_of_clients_matches_the_tests,
])

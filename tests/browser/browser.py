#!/usr/bin/env python3
"""browser - the pages, used in a real browser as people use them.

    browser.py GUILDHALL [--pictures FOLDER] [--nightly] [word...]

Installs what package-lock.json names (once, beside the build) and hands over to pages.js. Meanwhile the pages'
scripts are read: whether they have the types that they say, whether every text stands in every language, and whether
their table of rights is the server's. --nightly runs only the walks through every screen, which a run without words leaves out.
"""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
SECONDS = 1500
BROWSERS = ("chromium", "chromium-browser", "google-chrome")
FILES = ("package.json", "package-lock.json")


def installed(folder):
    """Is what the lock file names there, or can it be brought there?"""
    folder.mkdir(parents=True, exist_ok=True)
    known = all((folder / n).exists() and (folder / n).read_bytes() == (HERE / n).read_bytes() for n in FILES)
    if known and (folder / "node_modules" / "typescript").is_dir():
        return True
    for name in FILES:
        shutil.copy(HERE / name, folder / name)
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder,
                          capture_output=True, text=True, timeout=240, check=False)
    if done.returncode:
        print(f"browser: npm cannot install what is needed: {done.stderr[-300:]}")
    return done.returncode == 0


def pages(pattern):
    """The files of the web client that match, as paths."""
    return sorted((HERE.parent.parent / "web").rglob(pattern))


# What is asked of the scripts themselves, beside the browser: a name, and the program that says so.
CHECKS = {
    "scripts_have_the_types_that_they_say": lambda folder: [
        folder / "node_modules" / "typescript" / "bin" / "tsc", "-p", HERE / "tsconfig.json"],
    "scripts_and_styles_are_formatted_by_prettier": lambda folder: [
        folder / "node_modules" / "prettier" / "bin" / "prettier.cjs", "--no-editorconfig",
        "--config", HERE / "prettier.json", "--check", *pages("*.js"), *pages("*.css")],
    "every_text_stands_in_every_language": lambda folder: [
        folder / "texts.js", HERE.parent.parent / "web"],
    "the_pages_know_every_right_of_the_server": lambda folder: [
        folder / "permissions-table.js", HERE.parent.parent],
}


def start_checks(folder, words):
    """Those that are asked for, by name."""
    return {name: subprocess.Popen(["node", *command(folder)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for name, command in CHECKS.items() if not words or any(word in name for word in words)}


def end_checks(checks):
    """0, or the status to end with."""
    status = 0
    for name, checking in checks.items():
        said, _ = checking.communicate(timeout=SECONDS)
        print(f"[ RUN      ] {name}\n{said}" + (f"[  FAILED  ] {name}" if checking.returncode else f"[       OK ] {name}"), flush=True)
        status = status or checking.returncode
    return 1 if status else 0


def main():
    executable = os.path.abspath(sys.argv[1])
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser or not shutil.which("node") or not shutil.which("npm"):
        print("browser: there is no chromium, no node or no npm")
        return SKIPPED
    folder = pathlib.Path(executable).parent.parent.parent / "browser"
    if not installed(folder):
        return SKIPPED
    for script in HERE.glob("*.js"):  # modules are found from where a script lies
        shutil.copy(script, folder / script.name)
    rest = words = sys.argv[2:]
    if "--pictures" in rest:
        where = rest.index("--pictures") + 1
        rest[where] = os.path.abspath(rest[where])
        words = rest[:where - 1] + rest[where + 1:]
    checks = {} if "--nightly" in rest else start_checks(folder, words)
    status = subprocess.run(["node", "pages.js", HERE.parent.parent, executable, browser, *rest], cwd=folder,
                            timeout=SECONDS, check=False).returncode
    return end_checks(checks) or status


sys.exit(main())

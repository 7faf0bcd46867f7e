#!/usr/bin/env python3
"""browser - runs the tests of the web pages in a real browser.

    browser.py GUILDHALL [--pictures FOLDER] [--nightly] [--store-layout] [word...]

Installs the packages of package-lock.json (once, next to the build) and runs run_tests.js. Meanwhile the pages'
scripts are checked: their types, the translation of every text, and
their table of permissions. --nightly runs only the walks through every screen, which are otherwise left out. --store-layout stores the
layouts of all screens (layout.json) instead of comparing them.
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
    """Installs the packages of the lock file if they are missing; returns whether they are
    there."""
    folder.mkdir(parents=True, exist_ok=True)
    known = all((folder / n).exists() and (folder / n).read_bytes() == (HERE / n).read_bytes() for n in FILES)
    if known and (folder / "node_modules" / "typescript").is_dir():
        return True
    for name in FILES:
        shutil.copy(HERE / name, folder / name)
    done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund"], cwd=folder,
                          capture_output=True, text=True, timeout=240, check=False)
    if done.returncode:
        print(f"browser: npm cannot install the packages: {done.stderr[-300:]}")
    return done.returncode == 0


def pages(pattern):
    """The files of the web client that match, as paths."""
    return sorted((HERE.parent.parent / "web").rglob(pattern))


# Checks of the scripts, which run while the browser works: name and program.
CHECKS = {
    "scripts_pass_the_type_check": lambda folder: [
        folder / "node_modules" / "typescript" / "bin" / "tsc", "-p", HERE / "tsconfig.json"],
    "scripts_and_styles_are_formatted_by_prettier": lambda folder: [
        folder / "node_modules" / "prettier" / "bin" / "prettier.cjs", "--no-editorconfig",
        "--config", HERE / "prettier.json", "--check", *pages("*.js"), *pages("*.css")],
    "every_text_is_translated": lambda folder: [
        folder / "check_translations.js", HERE.parent.parent / "web"],
    "pages_know_every_permission": lambda folder: [
        folder / "check_permissions.js", HERE.parent.parent],
}


def start_checks(folder, words):
    """Starts the requested checks by name."""
    return {name: subprocess.Popen(["node", *command(folder)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            for name, command in CHECKS.items() if not words or any(word in name for word in words)}


def end_checks(checks):
    """Waits for the checks; returns 0 or the exit status."""
    status = 0
    for name, checking in checks.items():
        output, _ = checking.communicate(timeout=SECONDS)
        print(f"[ RUN      ] {name}\n{output}" + (f"[  FAILED  ] {name}" if checking.returncode else f"[       OK ] {name}"), flush=True)
        status = status or checking.returncode
    return 1 if status else 0


def main():
    executable = os.path.abspath(sys.argv[1])
    browser = next(filter(None, map(shutil.which, BROWSERS)), None)
    if not browser or not shutil.which("node") or not shutil.which("npm"):
        print("browser: chromium, node or npm is not installed")
        return SKIPPED
    folder = pathlib.Path(executable).parent.parent.parent / "browser"
    if not installed(folder):
        return SKIPPED
    for script in HERE.glob("*.js"):  # modules are found relative to a script's folder
        shutil.copy(script, folder / script.name)
    rest = words = sys.argv[2:]
    if "--pictures" in rest:
        where = rest.index("--pictures") + 1
        rest[where] = os.path.abspath(rest[where])
        words = rest[:where - 1] + rest[where + 1:]
    checks = {} if {"--nightly", "--store-layout"} & set(rest) else start_checks(folder, words)
    status = subprocess.run(["node", "run_tests.js", HERE.parent.parent, executable, browser, *rest], cwd=folder,
                            timeout=SECONDS, check=False).returncode
    return end_checks(checks) or status


sys.exit(main())

#!/usr/bin/env python3
"""browser - the pages, used in a real browser as people use them.

    browser.py GUILDHALL [--pictures FOLDER] [word...]

Installs what package-lock.json names (once, beside the build) and hands over to pages.js. Meanwhile the types
that the pages' scripts say they have are checked.
"""
import os
import pathlib
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
SKIPPED = 77
SECONDS = 600
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


TYPES = "scripts_have_the_types_that_they_say"


def start_types(folder, words):
    """The checker of types, unless something else is asked for."""
    if words and not any(word in TYPES for word in words):
        return None
    checker = folder / "node_modules" / "typescript" / "bin" / "tsc"
    return subprocess.Popen(["node", checker, "-p", HERE / "tsconfig.json"], stdout=subprocess.PIPE,
                            stderr=subprocess.STDOUT, text=True)


def end_types(checking):
    """0, or the status to end with."""
    print(f"[ RUN      ] {TYPES}")
    said, _ = checking.communicate(timeout=SECONDS)
    print(said + (f"[  FAILED  ] {TYPES}" if checking.returncode else f"[       OK ] {TYPES}"), flush=True)
    return 1 if checking.returncode else 0


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
    checking = start_types(folder, words)
    status = subprocess.run(["node", "pages.js", executable, browser, *rest], cwd=folder,
                            timeout=SECONDS, check=False).returncode
    return (checking and end_types(checking)) or status


sys.exit(main())

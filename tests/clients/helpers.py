#!/usr/bin/env python3
"""helpers - tests the test helpers for node and Python."""

import ast
import os
import re
import shutil
import subprocess
import sys
import tempfile

HERE = os.path.dirname(os.path.abspath(__file__))
PACKAGING = os.path.join(HERE, "..", "..", "packaging")
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402
from clients import node_command, python_command  # noqa: E402


def run_tests(executable, command, cwd, **env):
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=400,
                          check=False, env={**os.environ, "GUILDHALL_BINARY": executable, **env})
    expect(done.returncode == 0, done.stdout[-3000:] + done.stderr[-2000:])
    return done.stdout


def node_test_helper_tests_a_bot(executable):
    _, folder = node_command()
    tests = os.path.join(PACKAGING, "npm", "test")
    output = run_tests(executable, ["node", "--test", os.path.join(tests, "bot.test.js")], folder)
    counts = dict(re.findall(r"^(?:#|ℹ) (pass|fail|skipped) (\d+)", output, re.M))
    expect(int(counts["pass"]) >= 13 and counts["fail"] == counts["skipped"] == "0", output)


def node_example_passes(executable):
    """runners.py runs the examples for Jest and Vitest."""
    _, libraries = node_command()
    with tempfile.TemporaryDirectory(dir=libraries) as folder:
        for name in ("bot.mjs", "node.test.mjs"):
            shutil.copy(os.path.join(PACKAGING, "npm", "examples", name), folder)
        os.mkdir(os.path.join(folder, "node_modules"))
        os.symlink(os.path.abspath(os.path.join(PACKAGING, "npm")),
                   os.path.join(folder, "node_modules", "guildhall-test"))
        output = run_tests(executable, ["node", "--test", "node.test.mjs"], folder)
        expect(re.search(r"^(?:#|ℹ) pass 1$", output, re.M), output)


def python_examples_pass_and_failures_are_explained(executable):
    command, _ = python_command()
    folder = os.path.join(PACKAGING, "python", "examples")
    env = {"PYTHONPATH": os.path.abspath(os.path.join(PACKAGING, "python")), "PYTHONDONTWRITEBYTECODE": "1"}
    run_tests(executable, [command[0], "-m", "unittest", "test_with_unittest"], folder, **env)
    if subprocess.run([command[0], "-c", "import pytest"], capture_output=True, check=False).returncode:
        raise Skip("pytest is not installed (Debian: python3-pytest)")
    pytest = [command[0], "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "guildhall_test.pytest_plugin"]
    run_tests(executable, [*pytest, "test_with_pytest.py"], folder, **env)
    with tempfile.TemporaryDirectory() as copy:
        for name in ("bot.py", "world.json", "test_with_pytest.py"):
            shutil.copy(os.path.join(folder, name), copy)
        path = os.path.join(copy, "test_with_pytest.py")
        with open(path, encoding="utf-8") as f:
            text = f.read().replace('author="dice"', 'author="nobody"')
        with open(path, "w", encoding="utf-8") as f:
            f.write(text)
        pictures = ["--guildhall-pictures"] if shutil.which("chromium") else []
        done = subprocess.run([*pytest, "test_with_pytest.py", *pictures], cwd=copy, capture_output=True, text=True,
                              timeout=200, check=False, env={**os.environ, "GUILDHALL_BINARY": executable, **env})
        expect(done.returncode == 1, done.stdout)
        expect(re.search(r"last calls and events of dice:.*MESSAGE_CREATE", done.stdout, re.S), done.stdout[-3000:])
        path = os.path.join(copy, "guildhall-failures", "test_ping_is_answered")
        expect(os.path.exists(path + ".txt") and os.path.exists(path + ".dice.jsonl"), done.stdout[-3000:])
        if pictures:
            with open(path + ".png", "rb") as f:
                expect(f.read(8) == b"\x89PNG\r\n\x1a\n", "no picture")


def text_of(*path):
    with open(os.path.join(PACKAGING, *path), encoding="utf-8") as f:
        return f.read()


def types_of_the_node_helper_match_its_code(_executable):
    types, code = text_of("npm", "index.d.ts"), text_of("npm", "index.js")
    for name in ("Person", "Guildhall"):
        body = re.search(rf"^class {name} \{{\n(.*?)^\}}$", code, re.M | re.S)[1]
        declared = re.search(rf"^export interface {name} \{{\n(.*?)^\}}$", types, re.M | re.S)[1]
        declared = set(re.findall(r"^  (?:readonly )?(\w+)\??[(:]", declared, re.M))
        methods = set(re.findall(r"^  (?:async |get )?(\w+)\(", body, re.M)) - {"constructor"}
        fields = set(re.findall(r"\bthis\.(\w+) = ", body)) | {"binary", "url", "data"}
        expect(methods <= declared <= methods | fields, f"{name}: {methods ^ declared}")
    for function in re.findall(r"^export (?:async )?function (\w+)", code, re.M):
        expect(f"export function {function}" in types, f"{function} has no type")


def python_helper_is_fully_typed(_executable):
    expect(os.path.exists(os.path.join(PACKAGING, "python", "guildhall_test", "py.typed")), "py.typed")
    tree = ast.parse(text_of("python", "guildhall_test", "__init__.py"))
    functions = [n for n in ast.walk(tree)
                 if isinstance(n, (ast.FunctionDef, ast.AsyncFunctionDef)) and n.name[0] != "_"]
    expect(len(functions) > 10, "too few functions were found")
    for function in functions:
        bare = [a.arg for a in function.args.args + function.args.kwonlyargs
                if not a.annotation and a.arg not in ("self", "cls")]
        expect(function.returns and not bare, f"{function.name} has no types for {bare or 'its result'}")


def python_test_helper_tests_a_bot(executable):
    command, _ = python_command()
    python = command[0]
    if subprocess.run([python, "-c", "import pytest"], capture_output=True, check=False).returncode:
        raise Skip("pytest is not installed (Debian: python3-pytest)")
    folder = os.path.join(PACKAGING, "python")
    output = run_tests(executable, [python, "-m", "pytest", "-q", "-p", "no:cacheprovider", "tests"],
                       folder, PYTHONPATH=folder, PYTHONDONTWRITEBYTECODE="1")
    expect(re.search(r"\b11 passed", output) and "skipped" not in output, output)


def temporary_server_deletes_only_a_marked_folder(executable):
    with tempfile.TemporaryDirectory() as folder:
        data = os.path.join(folder, "data")
        command = [executable, "serve", "--data", data, "--listen", "127.0.0.1:0", "--temporary", "on"]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        expect(done.returncode == 1 and "create an empty file 'temporary'" in done.stderr, done.stderr)
        os.makedirs(data, exist_ok=True)
        with open(os.path.join(data, "temporary"), "w", encoding="utf-8"):
            pass
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=60, check=False)
        expect(done.returncode == 0 and "listening on" in done.stdout, done.stdout + done.stderr)
        expect(os.listdir(folder) == [], "the data folder was not deleted")


if __name__ == "__main__":
    run_cases("helpers", [
        node_test_helper_tests_a_bot,
        python_test_helper_tests_a_bot,
        node_example_passes,
        python_examples_pass_and_failures_are_explained,
        types_of_the_node_helper_match_its_code,
        python_helper_is_fully_typed,
        temporary_server_deletes_only_a_marked_folder,
    ])

#!/usr/bin/env python3
"""packaging - the container file and the CI action, as far as they can be tried without either.

The container is a folder with the program and its libraries, mounted read-only, that the user
of the Containerfile is locked into; the action's steps run as they stand.
"""

import json
import os
import re
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402

PACKAGING = os.path.join(HERE, "..", "..", "packaging")
PATIENCE = 60


def text_of(*path):
    with open(os.path.join(PACKAGING, *path), encoding="utf-8") as f:
        return f.read()


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as s:
        return s.getsockname()[1]


def wait_until(words, condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        expect(time.monotonic() < deadline, f"it did not come true that {words}")
        time.sleep(0.05)


def fill_root(root, executable):
    """The program and what it needs; nothing else."""
    for name in ("usr/bin", "var/lib/guildhall", "tmp", "etc", "dev", "proc"):
        os.makedirs(os.path.join(root, name))
    shutil.copy(executable, os.path.join(root, "usr/bin/guildhall"))
    said = subprocess.run(["ldd", executable], capture_output=True, text=True, check=True).stdout
    for library in re.findall(r"(/\S+) \(0x", said):
        target = root + library
        os.makedirs(os.path.dirname(target), exist_ok=True)
        shutil.copy(library, target)


def read_containerfile():
    text = text_of("container", "Containerfile")
    one = lambda word: re.search(rf"^{word} (.*)$", text, re.M)[1]  # noqa: E731
    env = dict(p.split("=", 1) for p in one("ENV").split())
    command = json.loads(one("ENTRYPOINT")) + json.loads(one("CMD"))
    health = json.loads(re.search(r"^HEALTHCHECK .*CMD (.*)$", text, re.M)[1])
    return one("USER"), env, command, health


def the_container_serves_without_root_and_writes_to_its_volume_alone(executable):
    user, env, command, health = read_containerfile()
    expect(re.fullmatch(r"[1-9]\d*:[1-9]\d*", user), f"{user} is root, or a name")
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        root, volume = os.path.join(folder, "root"), os.path.join(folder, "volume")
        fill_root(root, executable)
        os.mkdir(volume)
        uid, gid = map(int, user.split(":"))
        try:
            os.chown(volume, uid, gid)
        except PermissionError as e:
            raise Skip("only root may lock a program into a folder") from e
        port = free_port()
        env["GUILDHALL_LISTEN"] = f"127.0.0.1:{port}"

        def locked(words):
            script = (f"mount --bind {root} {root} && mount -o remount,bind,ro {root} && "
                      f"mount --bind {volume} {root}/var/lib/guildhall && "
                      f"mount --rbind /proc {root}/proc && "
                      f"exec chroot --userspec={user} {root} \"$@\"")
            return ["unshare", "--mount", "sh", "-ec", script, "sh", *words]

        path = {**env, "PATH": "/usr/bin:/bin:/usr/sbin:/sbin"}
        if subprocess.run(["unshare", "--mount", "mount", "--bind", root, root], check=False,
                          capture_output=True).returncode:
            raise Skip("mounts are not allowed here")
        server = subprocess.Popen(locked(command), env=path, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
        healthy = lambda: subprocess.run(locked(health), env=path, check=False,  # noqa: E731
                                         capture_output=True, timeout=PATIENCE).returncode == 0
        try:
            wait_until("it is healthy", lambda: server.poll() is not None or healthy())
            expect(server.poll() is None, "it ended")
            expect(os.path.exists(os.path.join(volume, "pepper.key")), os.listdir(volume))
            done = subprocess.run(locked(["guildhall", "user", "add", "ada"]), env=path,
                                  capture_output=True, text=True, timeout=PATIENCE, check=False)
            expect(done.returncode == 0, done.stdout + done.stderr)
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=PATIENCE)
        expect(not healthy(), "nobody is there, and it is healthy")


def the_steps_of_the_action_give_a_server_and_tokens(executable):
    steps = [re.sub(r"^ {8}", "", s, flags=re.M) for s in
             re.findall(r"^      run: \|\n((?: {8}.*\n)+)", text_of("ci", "action.yml"), re.M)]
    expect(len(steps) == 2, str(steps))
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(os.path.join(folder, "bin"))
        os.symlink(executable, os.path.join(folder, "bin/guildhall"))
        with open(os.path.join(folder, "bin/sudo"), "w", encoding="utf-8") as f:
            f.write("#!/bin/sh\necho \"$@\" >\"$RUNNER_TEMP/installed\"\n")
        os.chmod(os.path.join(folder, "bin/sudo"), 0o755)
        with open(os.path.join(folder, "world.json"), "w", encoding="utf-8") as f:
            json.dump({"users": [{"username": "ada"}],
                       "applications": [{"name": "Weather", "owner": "ada", "bot": "weather"}]}, f)
        port = free_port()
        env = {**os.environ, "PATH": f"{folder}/bin:{os.environ['PATH']}", "RUNNER_TEMP": folder,
               "GITHUB_ENV": f"{folder}/env", "GITHUB_OUTPUT": f"{folder}/output",
               "PACKAGE": "guildhall.deb", "WORLD": "world.json", "LISTEN": f"127.0.0.1:{port}"}
        group = []
        try:
            for step in steps:
                done = subprocess.Popen(["bash", "-eo", "pipefail", "-c", step], cwd=folder, env=env,
                                        start_new_session=True)
                group.append(done.pid)
                expect(done.wait(PATIENCE) == 0, step)
            with open(f"{folder}/installed", encoding="utf-8") as f:
                expect(f.read() == f"apt-get install -y {os.path.realpath(folder)}/guildhall.deb\n",
                       "apt-get was asked for something else")
            with open(f"{folder}/output", encoding="utf-8") as f:
                expect(f.read() == f"api=http://127.0.0.1:{port}/api\n", "another address")
            with open(f"{folder}/env", encoding="utf-8") as f:
                told = dict(line.strip().split("=", 1) for line in f)
            said = subprocess.run(["curl", "-fsS", "-H", f"Authorization: Bot {told['WEATHER_TOKEN']}",
                                   f"http://127.0.0.1:{port}/api/v10/users/@me"],
                                  capture_output=True, text=True, check=False, timeout=PATIENCE)
            expect('"username":"weather"' in said.stdout, said.stdout + said.stderr + str(told))
        finally:
            for pid in group:
                try:
                    os.killpg(pid, signal.SIGTERM)
                except ProcessLookupError:
                    pass


if __name__ == "__main__":
    run_cases("packaging", [the_container_serves_without_root_and_writes_to_its_volume_alone,
                            the_steps_of_the_action_give_a_server_and_tokens])

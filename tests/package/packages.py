#!/usr/bin/env python3
"""packages - tests the packages for npm, Python and containers, which scripts/make-packages makes.

    packages.py GUILDHALL      packs this program, which may be dynamic, or the release build
    packages.py --static       makes everything with `make dist` first, and tests the packed static program

The packages are installed in empty folders by the commands of their README files. An npm registry on
a loopback address has them, and discord.js of the clients' tests.
"""

import functools
import glob
import hashlib
import http.server
import io
import json
import os
import platform
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time
import urllib.parse
import zipfile

ROOT = os.path.realpath(os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", ".."))
sys.path.insert(0, os.path.join(ROOT, "tests", "crash"))
sys.path.insert(0, os.path.join(ROOT, "tests", "clients"))

from cases import MESON_SKIP, Skip, expect, run_cases  # noqa: E402
from clients import node_command  # noqa: E402
from process import free_port  # noqa: E402

PACKAGING = os.path.join(ROOT, "packaging")
PATIENCE = 300
BUILD_PATIENCE = 2400
FIRST_TEST_SECONDS = 30  # processor time, which does not depend on other load
ARCHITECTURE, MACHINE = {"x86_64": ("x64", "x86_64"), "aarch64": ("arm64", "aarch64")}[platform.machine()]
STATIC = sys.argv[1:] == ["--static"]
FOLDER = tempfile.TemporaryDirectory()


def done(*words, patience=PATIENCE, **options):
    result = subprocess.run(words, capture_output=True, text=True, timeout=patience, check=False, **options)
    expect(result.returncode == 0, f"{words}: {result.stdout[-3000:]}{result.stderr[-3000:]}")
    return result.stdout


def read(*path):
    with open(os.path.join(*path), encoding="utf-8") as file:
        return file.read()


def write(folder, name, text):
    with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
        file.write(text)


@functools.cache
def packed_program(executable):
    """Returns the program to pack: instead of one with sanitizers, which is six times as large, that
    of the release build, as in the Debian package."""
    if "sanitizers" not in json.loads(done(executable, "version", "--json"))["build"]:
        return executable
    done("scripts/build", "release", cwd=ROOT, patience=BUILD_PATIENCE)
    return os.path.join(ROOT, "build/release/src/guildhall")


@functools.cache
def dist(executable):
    """Returns the folder with the packages."""
    if STATIC:
        return os.path.join(ROOT, "build", "dist")
    folder = os.path.join(FOLDER.name, "dist")
    program = os.path.join(FOLDER.name, "guildhall")
    done("strip", "-o", program, packed_program(executable))
    done("scripts/make-packages", folder, f"{ARCHITECTURE}={program}", cwd=ROOT)
    return folder


def the(executable, pattern):
    found = glob.glob(os.path.join(dist(executable), pattern))
    expect(len(found) == 1, f"{pattern}: {found} of {sorted(os.listdir(dist(executable)))}")
    return found[0]


def commands_and_test(*path):
    """Returns the shell commands of a README file, and the name and text of its test."""
    text = read(PACKAGING, *path)
    commands = re.findall(r"^```sh\n(.*?)^```$", text, re.M | re.S)
    _, name, test = re.search(r"^```(\w+) (\S+)\n(.*?)^```$", text, re.M | re.S).groups()
    expect(len(commands) == 2, commands)
    return commands, name, test


def empty_environment(folder):
    """Returns variables with which only installed packages can provide the program."""
    env = {**os.environ, "HOME": folder, "PATH": os.environ["PATH"]}
    env.pop("GUILDHALL_BINARY", None)
    expect(not shutil.which("guildhall"), "guildhall is in the path of this machine")
    return env


def processor_seconds(began=0.0):
    times = os.times()
    return times.children_user + times.children_system - began


# --- npm -------------------------------------------------------------------------


def packed(folder):
    """Returns an npm archive of an installed package."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode="w:gz", compresslevel=1) as archive:
        for name in sorted(os.listdir(folder)):
            if name != "node_modules":
                archive.add(os.path.join(folder, name), f"package/{name}")
    return out.getvalue()


class Registry(http.server.ThreadingHTTPServer):
    """An npm registry with archives and with the packages of a node_modules folder."""

    def __init__(self, archives, installed):
        super().__init__(("127.0.0.1", 0), RegistryRequest)
        self.packages, self.requested = {}, []
        for path in archives:
            with tarfile.open(path) as archive:
                declared = json.load(archive.extractfile("package/package.json"))
            self.add(declared, lambda p=path: open(p, "rb").read())
        for path in glob.glob(f"{installed}/**/package.json", recursive=True):
            if re.search(r"node_modules/(@[^/]+/)?[^/@]+/package\.json$", path):
                self.add(json.loads(read(path)), lambda p=path: packed(os.path.dirname(p)))
        self.url = f"http://127.0.0.1:{self.server_port}"
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def add(self, declared, content):
        if "version" in declared:
            self.packages.setdefault(declared["name"], {})[declared["version"]] = (declared, content)

    def document(self, name):
        versions = {}
        for version, (declared, _) in self.packages[name].items():
            declared = {k: v for k, v in declared.items() if k not in ("scripts", "devDependencies")}
            tarball = f"{self.url}/{name}/-/{version}.tgz"
            versions[version] = {**declared, "dist": {"tarball": tarball}}
        newest = max(versions, key=lambda v: [int(n) for n in re.findall(r"\d+", v)])
        return {"name": name, "dist-tags": {"latest": newest}, "versions": versions}


class RegistryRequest(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        path = urllib.parse.unquote(self.path).strip("/")
        name, _, file = path.partition("/-/")
        if name not in self.server.packages:
            self.send_error(404)
            return
        if file:
            self.server.requested.append(name)
            body = self.server.packages[name][file.removesuffix(".tgz")][1]()
        else:
            body = json.dumps(self.server.document(name)).encode()
        self.send_response(200)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


def npm_package_from_a_registry_runs_the_test_of_its_readme(executable):
    commands, name, test = commands_and_test("npm", "README.md")
    _, clients = node_command()
    archives = glob.glob(os.path.join(dist(executable), "guildhall-*.tgz"))
    registry = Registry(archives, os.path.join(clients, "node_modules"))
    with tempfile.TemporaryDirectory() as folder:
        env = {**empty_environment(folder), "npm_config_registry": registry.url, "npm_config_audit": "false",
               "npm_config_cache": os.path.join(folder, "cache"), "npm_config_update_notifier": "false"}
        project = os.path.join(folder, "bot")
        os.mkdir(project)
        began, clock = processor_seconds(), time.monotonic()
        done("sh", "-ec", commands[0], cwd=project, env=env)
        write(project, name, test)
        output = done("sh", "-ec", commands[1], cwd=project, env=env)
        seconds = processor_seconds(began)
        print(f"npm install and first test: {time.monotonic() - clock:.1f} s, {seconds:.1f} s of processor time")
        expect(re.search(r"^(#|ℹ) pass 1$", output, re.M) and re.search(r"^(#|ℹ) fail 0$", output, re.M), output)
        expect(seconds < FIRST_TEST_SECONDS, f"{seconds} s of processor time")
        # npm chose the platform by itself.
        expect({n for n in registry.requested if "guildhall" in n} ==
               {"guildhall-test", f"@guildhall/linux-{ARCHITECTURE}"}, registry.requested)
        expect("libraries" in done("npx", "guildhall", "version", cwd=project, env=env), "npx guildhall")
    registry.shutdown()


def npm_package_from_files_finds_the_program(executable):
    files = [the(executable, "guildhall-test-*.tgz"), the(executable, f"guildhall-linux-{ARCHITECTURE}-*.tgz")]
    with tempfile.TemporaryDirectory() as folder:
        env = {**empty_environment(folder), "npm_config_cache": os.path.join(folder, "cache")}
        write(folder, "package.json", "{}")
        done("npm", "install", "--offline", "--no-audit", "--no-fund", *files, cwd=folder, env=env)
        script = ("const { startGuildhall } = await import('guildhall-test');"
                  "const hall = await startGuildhall({ world: { users: [{ username: 'ada' }] } });"
                  "console.log((await hall.asUser('ada').call('GET', '/users/@me')).username, hall.binary);"
                  "await hall.stop();")
        output = done("node", "--input-type=module", "-e", script, cwd=folder, env=env)
        expect(re.match(r"ada \S+/@guildhall/linux-\w+/bin/guildhall\n", output), output)


def npm_package_without_a_program_says_what_to_do(executable):
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(the(executable, "guildhall-test-*.tgz")) as archive:
            archive.extractall(folder, filter="data")
        env = empty_environment(folder)
        for system, wanted in (("linux", f"@guildhall/linux-{ARCHITECTURE} with the program is not installed"),
                               ("darwin", "no program for darwin-")):
            script = (f"Object.defineProperty(process, 'platform', {{ value: '{system}' }});"
                      "const { startGuildhall } = await import('./index.js');"
                      "await startGuildhall({ world: {} }).catch((e) => console.log(e.message));")
            output = done("node", "--input-type=module", "-e", script, cwd=os.path.join(folder, "package"), env=env)
            expect(wanted in output, output)
        failed = subprocess.run(["node", "bin/guildhall.js", "version"], cwd=os.path.join(folder, "package"),
                                capture_output=True, text=True, timeout=PATIENCE, check=False, env=env)
        expect(failed.returncode == 1 and failed.stderr.startswith("guildhall: The package"), failed)


# --- Python ----------------------------------------------------------------------


def wheel_runs_the_test_of_its_readme(executable):
    commands, name, test = commands_and_test("python", "README.md")
    wheel = the(executable, f"guildhall_test-*manylinux*_{MACHINE}.whl")
    install = commands[0].strip().removeprefix("pip install guildhall-test ")
    expect(install == "discord.py pytest", commands[0])
    with tempfile.TemporaryDirectory() as folder:
        env = empty_environment(folder)
        env.pop("PYTHONPATH", None)
        began, clock = processor_seconds(), time.monotonic()
        # discord.py and pytest are those of the distribution.
        done("/usr/bin/python3", "-m", "venv", "--system-site-packages", "--without-pip", f"{folder}/venv")
        python = f"{folder}/venv/bin/python3"
        done(python, "-m", "pip", "install", "--no-index", "--no-compile", wheel, env=env)
        write(folder, name, test)
        env["PATH"] = f"{folder}/venv/bin:{env['PATH']}"
        output = done(python, "-m", *commands[1].split(), "-q", "-p", "no:cacheprovider", cwd=folder, env=env)
        seconds = processor_seconds(began)
        print(f"pip install and first test: {time.monotonic() - clock:.1f} s, {seconds:.1f} s of processor time")
        expect("1 passed" in output, output)
        expect(seconds < FIRST_TEST_SECONDS, f"{seconds} s of processor time")
        expect("libraries" in done("guildhall", "version", env=env), "guildhall version")


def wheel_without_a_program_says_what_to_do(executable):
    with tempfile.TemporaryDirectory() as folder:
        with zipfile.ZipFile(the(executable, "guildhall_test-*-none-any.whl")) as archive:
            archive.extractall(folder)
        env = {**empty_environment(folder), "PYTHONPATH": folder}
        for system, wanted in (("linux", "contains no program for"), ("darwin", "no program for darwin")):
            script = f"import sys; from guildhall_test.program import main; sys.platform = '{system}'; main()"
            failed = subprocess.run(["/usr/bin/python3", "-c", script], capture_output=True, text=True,
                                    timeout=PATIENCE, check=False, env=env)
            expect(failed.returncode == 1 and wanted in failed.stderr, failed)


# --- container -------------------------------------------------------------------


class Image:
    """The image, unpacked, and its configuration."""

    def __init__(self, archive, folder):
        self.root, self.volume = os.path.join(folder, "root"), os.path.join(folder, "volume")
        layout = os.path.join(folder, "layout")
        with tarfile.open(archive) as file:
            file.extractall(layout, filter="data")
        (entry,) = json.loads(read(layout, "index.json"))["manifests"]
        self.manifest = self.blob(layout, entry)
        described = self.blob(layout, self.manifest["config"])
        self.config, self.architecture = described["config"], described["architecture"]
        (docker,) = json.loads(read(layout, "manifest.json"))
        for layer, name in zip(self.manifest["layers"], docker["Layers"], strict=True):
            expect(layer["digest"].split(":")[1] in name, docker)
            with tarfile.open(os.path.join(layout, name)) as file:
                file.extractall(self.root, numeric_owner=True, filter="tar")
        self.tag = docker["RepoTags"][0]

    @staticmethod
    def blob(layout, entry):
        with open(os.path.join(layout, "blobs", entry["digest"].replace(":", "/")), "rb") as file:
            content = file.read()
        expect("sha256:" + hashlib.sha256(content).hexdigest() == entry["digest"], "the digest of a blob")
        return json.loads(content)

    def command(self, words):
        """Returns the command that runs words in the image as its user, with a read-only root."""
        os.makedirs(os.path.join(self.root, "proc"), exist_ok=True)
        script = ('mount --bind "$1" "$1" && mount -o remount,bind,ro "$1" && mount --bind "$2" "$1/var/lib/guildhall" && '
                  'mount --rbind /proc "$1/proc" && user=$3 root=$1 && shift 3 && exec chroot --userspec=$user "$root" "$@"')
        return ["unshare", "--mount", "sh", "-ec", script, "sh", self.root, self.volume, self.config["User"],
                *self.config["Entrypoint"], *words]

    def environment(self, **more):
        return {**dict(pair.split("=", 1) for pair in self.config["Env"]), **more}

    def run(self, *words, **more):
        return subprocess.run(self.command(words), env=self.environment(**more), capture_output=True, text=True,
                              timeout=PATIENCE, check=False)


def add_libraries(root, executable):
    """A dynamic program needs its libraries, which the image does not have."""
    output = subprocess.run(["ldd", executable], capture_output=True, text=True, check=False).stdout
    for library in re.findall(r"(/\S+) \(0x", output):
        os.makedirs(os.path.dirname(root + library), exist_ok=True)
        shutil.copy(library, root + library)


def unpacked_image(executable, folder):
    os.chmod(folder, 0o755)
    if os.geteuid() != 0:
        raise Skip("only root may use chroot")
    image = Image(the(executable, f"guildhall-*-{MACHINE}-oci.tar"), folder)
    if not STATIC:
        add_libraries(image.root, packed_program(executable))
    # A volume begins with owner, mode and files of the folder in the image.
    shutil.copytree(f"{image.root}/var/lib/guildhall", image.volume)
    made = os.stat(f"{image.root}/var/lib/guildhall")
    os.chown(image.volume, made.st_uid, made.st_gid)
    if subprocess.run(["unshare", "--mount", "mount", "--bind", folder, folder], check=False,
                      capture_output=True).returncode:
        raise Skip("mounts are not permitted here")
    return image


def wait_until(words, condition):
    deadline = time.monotonic() + PATIENCE
    while not condition():
        expect(time.monotonic() < deadline, f"timed out waiting until {words}")
        time.sleep(0.05)


@functools.cache
def yaml_of(*path):
    """Reads a YAML file with Debian's python3-yaml."""
    script = "import json, sys, yaml; json.dump(yaml.safe_load(open(sys.argv[1])), sys.stdout)"
    loaded = json.loads(done("/usr/bin/python3", "-c", script, os.path.join(PACKAGING, *path)))
    return {str(key): value for key, value in loaded.items()}


def image_serves_without_root_and_writes_only_to_its_volume(executable):
    """The command and the variables are those of the compose file."""
    (service,) = yaml_of("container", "compose.yml")["services"].values()
    with tempfile.TemporaryDirectory() as folder:
        image = unpacked_image(executable, folder)
        expect(service["command"] == image.config["Cmd"], service)
        expect(re.fullmatch(r"[1-9]\d*:[1-9]\d*", image.config["User"]), f"{image.config['User']} is root, or a name")
        expect(image.architecture == {"x64": "amd64", "arm64": "arm64"}[ARCHITECTURE], image.architecture)
        made = os.stat(f"{image.root}/var/lib/guildhall")
        expect((f"{made.st_uid}:{made.st_gid}", made.st_mode & 0o7777) == (image.config["User"], 0o700), made)
        expect(not os.path.exists(f"{image.root}/bin/sh"), "the image has a shell")
        env = image.environment(**service["environment"], GUILDHALL_LISTEN=f"127.0.0.1:{free_port()}")
        server = subprocess.Popen(image.command(service["command"]), env=env, stdout=subprocess.PIPE,
                                  stderr=subprocess.STDOUT)
        health = service["healthcheck"]["test"]
        expect(health[:2] == ["CMD", *image.config["Entrypoint"]], health)
        healthy = lambda: image.run(*health[2:]).returncode == 0  # noqa: E731
        try:
            wait_until("it is healthy", lambda: server.poll() is not None or healthy())
            expect(server.poll() is None, "it ended")
            expect(os.path.exists(os.path.join(image.volume, "pepper.key")), os.listdir(image.volume))
            added = image.run("user", "add", "ada")
            expect(added.returncode == 0, added.stdout + added.stderr)
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=PATIENCE)
        expect(not healthy(), "the health check passes without a server")


def compose_file_fits_the_image(executable):
    compose = yaml_of("container", "compose.yml")
    (service,) = compose["services"].values()
    expect(set(service) <= {"image", "pull_policy", "command", "read_only", "restart", "environment", "ports",
                            "volumes", "healthcheck"}, f"unknown keys: {sorted(service)}")
    volume, _, target = service["volumes"][0].partition(":")
    containerfile = read(PACKAGING, "container", "Containerfile")
    output = re.search(r"^HEALTHCHECK --interval=(\S+) --timeout=(\S+) --start-period=(\S+) CMD (.*)$", containerfile, re.M)
    check = service["healthcheck"]
    expect((check["interval"], check["timeout"], check["start_period"], check["test"][1:]) ==
           (*output.groups()[:3], json.loads(output[4])), check)
    with tempfile.TemporaryDirectory() as folder:
        image = unpacked_image(executable, folder)
        expect(volume in compose["volumes"] and target in image.config["Volumes"], service["volumes"])
        port = service["ports"][0].rpartition(":")[2]
        expect(f"{port}/tcp" in image.config["ExposedPorts"], image.config)
        expect(re.fullmatch(r"guildhall:[0-9.]+(-dev\.\d+)?", image.tag), image.tag)


class Docker:
    """Runs the documented commands of docker with the unpacked image."""

    TAKE_A_VALUE = {"--name", "-p", "-e", "-v"}

    def __init__(self, image):
        self.image, self.server, self.log = image, None, os.path.join(image.root, "..", "log")

    def type(self, line, given=None):
        docker, verb, *words = shlex.split(line)
        expect(docker == "docker", line)
        return getattr(self, f"do_{verb}")(words, given)

    def do_load(self, words, _):
        expect(words[0] == "-i" and re.fullmatch(r"guildhall-[0-9.]+-x86_64-oci\.tar", words[1]), words)

    def do_run(self, words, given):
        flags, more = [], {"GUILDHALL_LISTEN": f"127.0.0.1:{free_port()}"}
        while words[0].startswith("-"):
            flags.append(words.pop(0))
            if flags[-1] in self.TAKE_A_VALUE:
                value = words.pop(0)
                if flags[-1] == "-e":
                    more.update([value.split("=", 1)])
                elif flags[-1] == "-v":
                    expect(value == "guildhall:/var/lib/guildhall", value)
                elif flags[-1] == "-p":
                    expect(f"{value.rpartition(':')[2]}/tcp" in self.image.config["ExposedPorts"], value)
            else:
                expect(flags[-1] in ("--rm", "-d", "-i"), flags)
        expect(words.pop(0).startswith("guildhall:"), words)
        env = self.image.environment(**more)
        if "-d" not in flags:
            ended = subprocess.run(self.image.command(words), env=env, input=given, capture_output=True, text=True,
                                   timeout=PATIENCE, check=False)
            expect(ended.returncode == 0, ended)
            return ended.stdout
        with open(self.log, "w", encoding="utf-8") as log:
            self.server = subprocess.Popen(self.image.command(words), env=env, stdout=log, stderr=log)
        wait_until("it listens", lambda: self.server.poll() is not None or "listening on" in read(self.log))
        return ""

    def do_logs(self, *_):
        wait_until("it prints the tokens", lambda: "ada" in read(self.log))
        return read(self.log)

    def do_exec(self, words, _):
        expect(words[0] == "guildhall" and words[1] == self.image.config["Entrypoint"][0], words)
        wait_until("it is done", lambda: self.image.run(*words[2:]).returncode == 0)
        return self.image.run(*words[2:]).stdout

    def do_stop(self, *_):
        if self.server:
            self.server.send_signal(signal.SIGTERM)
            expect(self.server.wait(PATIENCE) == 0, read(self.log))
        self.server = None


def documented_container_commands_run(executable):
    blocks = re.findall(r"^```sh\n(.*?)^```$", read(ROOT, "docs/macos-and-windows.md"), re.M | re.S)
    expect(len(blocks) == 3 and blocks[2].startswith("docker run ") and "npm test" in blocks[2], blocks)
    world = re.search(r"^```json world\.json\n(.*?)^```$", read(ROOT, "docs/testing-your-bot.md"), re.M | re.S)[1]
    for block, wanted in zip(blocks[:2], ("ada", "weather-token-for-tests")):
        with tempfile.TemporaryDirectory() as folder:
            docker, output = Docker(unpacked_image(executable, folder)), ""
            try:
                for line in block.splitlines():
                    command, _, file = line.partition(" <")
                    expect(file in ("", "world.json"), line)
                    output += docker.type(command, world if file else None) or ""
            finally:
                docker.do_stop()
            expect(re.search(wanted, output), output)


def devcontainer_and_ci_files_are_valid(_executable):
    container = json.loads(read(PACKAGING, "devcontainer", "devcontainer.json"))
    expect(set(container) == {"name", "build", "postCreateCommand", "forwardPorts", "portsAttributes", "remoteUser"}, container)
    containerfile = read(PACKAGING, "devcontainer", container["build"]["dockerfile"])
    expect(container["remoteUser"] in re.search(r"^FROM (\S+)$", containerfile, re.M)[1], containerfile)
    action, workflow = yaml_of("ci", "action.yml"), yaml_of("ci", "workflow.yml")
    expect(action["runs"]["using"] == "composite" and all(s["shell"] == "bash" for s in action["runs"]["steps"]), action)
    (job,) = workflow["jobs"].values()
    (step,) = (s for s in job["steps"] if s.get("id") == "guildhall")
    expect(set(step["with"]) <= set(action["inputs"]), step)
    expect({name for name, value in action["inputs"].items() if value.get("required")} <= set(step["with"]), step)


def packaging_names_no_registry_host(_executable):
    hosts = re.compile(r"docker\.io|ghcr\.io|quay\.io|mcr\.microsoft\.com|registry\.npmjs|npmjs\.com|pypi\.org|pythonhosted")
    for top, _, files in os.walk(PACKAGING):
        for name in files:
            with open(os.path.join(top, name), encoding="utf-8", errors="replace") as file:
                found = hosts.search(file.read())
            expect(not found, f"{top}/{name} names {found and found[0]}")


# --- licences and versions -------------------------------------------------------


def bill_of_materials_lists_the_linked_libraries(executable):
    for machine in ("x86_64", "aarch64") if STATIC else (MACHINE,):
        check_bill_of_materials(executable, machine)


def check_bill_of_materials(executable, machine):
    bill = json.loads(read(the(executable, f"guildhall-*-{machine}.cdx.json")))
    expect((bill["bomFormat"], bill["specVersion"]) == ("CycloneDX", "1.5"), bill)
    names = {part["name"] for part in bill["components"]}
    wanted = {"GNU C Library", "libuv", "OpenSSL", "libsodium", "SQLite", "zlib", "Zstandard", "PCRE2", "utf8proc",
              "inih", "emojibase-data"}
    if STATIC:
        wanted |= {"libcurl", "libidn2", "libunistring", "Brotli", "GCC support libraries"}
    expect(wanted <= names, wanted - names)
    for part in bill["components"]:
        expect(part["licenses"][0]["expression"] and part["version"] and part["purl"], part)
    refs = [part["bom-ref"] for part in bill["components"]]
    expect(bill["dependencies"][0]["dependsOn"] == refs and len(set(refs)) == len(refs), bill["dependencies"])
    notices = read(the(executable, f"guildhall-*-{machine}-notices.txt"))
    lgpl = "GNU C Library, libidn2, libunistring." if STATIC else "GNU C Library."
    expect(f"LGPL libraries: {lgpl}\n" in notices and "make static" in notices, notices[:2000])
    expect("GNU LESSER GENERAL PUBLIC LICENSE" in notices, "the text of the LGPL is missing")
    for part in bill["components"][:-1]:
        expect(f"\n{part['name']} (" in notices, f"{part['name']} has no notice")


def packages_contain_the_licences(executable):
    with tarfile.open(the(executable, f"guildhall-linux-{ARCHITECTURE}-*.tgz")) as archive:
        expect({"package/LICENSE", "package/NOTICES.txt", "package/bin/guildhall"} <= set(archive.getnames()), archive.getnames())
        declared = json.load(archive.extractfile("package/package.json"))
        expect(declared["os"] == ["linux"] and declared["cpu"] == [ARCHITECTURE], declared)
    with zipfile.ZipFile(the(executable, f"guildhall_test-*manylinux*_{MACHINE}.whl")) as archive:
        expect("guildhall_test/bin/NOTICES.txt" in archive.namelist(), archive.namelist())
        expect(any(name.endswith("LICENSE") for name in archive.namelist()), archive.namelist())


def declared_versions_and_names_agree(_executable):
    version = re.search(r"^  version: '(.*)',$", read(ROOT, "meson.build"), re.M)[1]
    package = json.loads(read(PACKAGING, "npm", "package.json"))
    project = read(PACKAGING, "python", "pyproject.toml")
    expect(package["name"] == re.search(r'^name = "(.*)"$', project, re.M)[1] == "guildhall-test", package["name"])
    expect(package["description"] == re.search(r'^description = "(.*)"$', project, re.M)[1], "descriptions differ")
    info = {package["version"], *package["optionalDependencies"].values(),
            re.search(r'^version = "(.*)"$', project, re.M)[1],
            re.search(r'^#define GUILDHALL_VERSION "(.*)"$', read(ROOT, "src/server/guildhall.h"), re.M)[1],
            re.match(r"guildhall \((.*)-1\)", read(PACKAGING, "debian", "changelog"))[1]}
    expect(info == {version}, f"{info}, and {version} in meson.build")


def version_follows_the_tag(_executable):
    with tempfile.TemporaryDirectory() as folder:
        os.mkdir(f"{folder}/scripts")
        shutil.copy(f"{ROOT}/scripts/version", f"{folder}/scripts")
        write(folder, "meson.build", "project('guildhall', 'c',\n  version: '1.3.0',\n")
        git = lambda *words: done("git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words, cwd=folder)  # noqa: E731
        version = lambda kind: done(f"{folder}/scripts/version", kind).strip()  # noqa: E731
        expect(version("program") == "1.3.0-dev.0+unknown", version("program"))
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "first")
        commit = git("rev-parse", "HEAD").strip()
        expect(version("program") == f"1.3.0-dev.1+{commit[:12]}", version("program"))
        git("tag", "v1.2.3")
        expect([version(kind) for kind in ("program", "npm", "python", "debian")] == ["1.2.3"] * 4, version("program"))
        expect(re.fullmatch(rf'"1\.2\.3", "{commit}", "\d{{4}}-\d\d-\d\d"', version("identity")), version("identity"))
        write(folder, "meson.build", "project('guildhall', 'c',\n  version: '1.3.0',\n)\n")
        expect(version("program") == f"1.3.0-dev.0+{commit[:12]}.modified", version("program"))
        git("commit", "-qam", "second")
        expect([version(kind) for kind in ("npm", "python", "debian")] == ["1.3.0-dev.1", "1.3.0.dev1", "1.3.0~dev1"],
               version("npm"))
        # A source archive has no repository.
        before = version("identity")
        write(folder, ".source-version", done(f"{folder}/scripts/version", "file"))
        shutil.rmtree(f"{folder}/.git")
        expect(version("identity") == before, version("identity"))


def tag_that_does_not_fit_the_files_is_refused(_executable):
    with tempfile.TemporaryDirectory() as folder:
        for name in ("scripts/version", "scripts/package", "meson.build", "src/server/guildhall.h", "CHANGES.md",
                     "packaging/debian/changelog"):
            os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
            shutil.copy(f"{ROOT}/{name}", f"{folder}/{name}")
        git = lambda *words: done("git", "-c", "user.name=a", "-c", "user.email=a@example.com", *words, cwd=folder)  # noqa: E731
        check = lambda: subprocess.run([f"{folder}/scripts/package", "check"], capture_output=True, text=True, check=False)  # noqa: E731
        git("init", "-q")
        git("add", ".")
        git("commit", "-qm", "first")
        expect(check().returncode == 0, "a commit without a tag is refused")
        for name, old, new in (("CHANGES.md", r"^## [\d.]+, .*$", "## 7.8.9, 2026-11-18"),
                               ("packaging/debian/changelog", r"\A.*$", "guildhall (7.8.9-1) stable; urgency=medium"),
                               ("src/server/guildhall.h", r"(GUILDHALL_VERSION) .*$", r'\1 "7.8.9"'),
                               ("meson.build", r"^  version: .*$", "  version: '7.8.9',")):
            git("tag", "-f", "v7.8.9")
            refused = check()
            expect(refused.returncode == 1 and "the tag v7.8.9 does not fit: " in refused.stderr, refused)
            write(folder, name, re.sub(old, new, read(folder, name), count=1, flags=re.M))
            git("commit", "-qam", name)
        git("tag", "-f", "v7.8.9")
        expect(check().returncode == 0, check())
        done(f"{folder}/scripts/package", "notes")
        notes = read(folder, "build/dist/release-notes-7.8.9.md")
        expect(notes.startswith("## 7.8.9, 2026-11-18\n") and notes.count("\n## ") == 0 and "### For" in notes, notes[:500])


def program_prints_its_build(executable):
    output = done(executable, "version")
    info = json.loads(done(executable, "version", "--json"))
    expect(output.splitlines()[0] == f"guildhall {info['version']}", output)
    expect(re.fullmatch(r"[0-9a-f]{40}(\.modified)?|unknown", info["commit"]), info["commit"])
    expect(info["commit"] in output and info["commit_date"] in output, output)
    if "dev" in info["version"] and info["commit"] != "unknown":
        expect(info["commit"][:12] in info["version"], info)
    expect(info["architecture"] == platform.machine() and info["build"] in output and info["linkage"] in output, info)
    expect({"libuv", "OpenSSL", "SQLite", "glibc"} <= set(info["libraries"]), info)
    expect(all(f"{name} {version}" in output for name, version in info["libraries"].items()), output)


def sums_cover_all_files(executable):
    names = set(os.listdir(dist(executable))) - {"SHA256SUMS"}
    done("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=dist(executable))
    expect({line.split()[-1] for line in read(dist(executable), "SHA256SUMS").splitlines()} == names, names)


if STATIC:
    if platform.machine() != "x86_64":
        print("!!! SKIP: a release is made on x86-64")
        sys.exit(MESON_SKIP)
    made = subprocess.run(["make", "dist"], cwd=ROOT, capture_output=True, text=True, check=False)
    if made.returncode:
        sys.exit(made.stdout + made.stderr)
    sys.argv[1:] = [os.path.join(ROOT, "build/static/src/guildhall")]


if __name__ == "__main__":
    run_cases("packages", [
        version_follows_the_tag,
        tag_that_does_not_fit_the_files_is_refused,
        program_prints_its_build,
        declared_versions_and_names_agree,
        npm_package_from_a_registry_runs_the_test_of_its_readme,
        npm_package_from_files_finds_the_program,
        npm_package_without_a_program_says_what_to_do,
        wheel_runs_the_test_of_its_readme,
        wheel_without_a_program_says_what_to_do,
        image_serves_without_root_and_writes_only_to_its_volume,
        compose_file_fits_the_image,
        documented_container_commands_run,
        devcontainer_and_ci_files_are_valid,
        packaging_names_no_registry_host,
        bill_of_materials_lists_the_linked_libraries,
        packages_contain_the_licences,
        *([sums_cover_all_files] if STATIC else []),
    ])

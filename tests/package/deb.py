#!/usr/bin/env python3
"""deb - tests the Debian package: lintian, reproducibility, installation, upgrade, purge."""

import functools
import glob
import gzip
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")
sys.path.insert(0, os.path.join(ROOT, "tests", "crash"))

from cases import Skip, expect, run_cases  # noqa: E402
from process import Client, start_guildhall  # noqa: E402

PATIENCE = 600


def done(*words):
    result = subprocess.run(words, cwd=ROOT, capture_output=True, text=True, timeout=PATIENCE,
                            check=False)
    expect(result.returncode == 0, f"{words}: {result.stdout}{result.stderr}")
    return result.stdout


def made(kind):
    """Builds the package with scripts/package; returns the file and its bytes."""
    path = os.path.join(ROOT, done("scripts/package", kind).split()[-1])
    with open(path, "rb") as file:
        return path, file.read()


@functools.cache
def readme_lines():
    """Returns the README commands to build, install and create the first account."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        block = re.search(r"^```sh\n(make deb .*?)^```$", file.read(), re.M | re.S)[1]
    lines = [line.split("  #")[0].strip() for line in block.splitlines()]
    expect(len(lines) == 3, block)
    return lines


@functools.cache
def package():
    """Returns the package, built once as in README."""
    (name,) = (word for word in done("sh", "-c", readme_lines()[0]).split() if word.endswith(".deb"))
    return os.path.join(ROOT, name)


def package_build_is_reproducible(_):
    with open(package(), "rb") as file:
        first = file.read()
    expect(made("deb")[1] == first, "two builds of deb differ")
    expect(made("source")[1] == made("source")[1], "two builds of source differ")


def lintian_reports_no_problems(_):
    path = package()
    # Run by root, lintian prints a warning on standard error.
    output = done("lintian", "--fail-on", "error,warning,info", "--display-info", path)
    expect(output.strip() == "", output)


def installed_program_serves(_):
    path = package()
    with tempfile.TemporaryDirectory() as folder:
        done("dpkg-deb", "-x", path, folder)
        program = os.path.join(folder, "usr/bin/guildhall")
        with open(program, "rb") as file:  # the build path must not be in the program
            expect(os.path.realpath(ROOT).encode() not in file.read(), "the build folder is in the program")
        for page in ("man1/guildhall.1.gz", "man5/guildhall.conf.5.gz"):
            with gzip.open(os.path.join(folder, "usr/share/man", page), "rt") as file:
                expect(file.read().startswith(".TH "), page)
        for name in ("grafana/guildhall.json", "fail2ban/guildhall.conf",
                     "fail2ban/guildhall-limits.conf", "prometheus/alerts.yml",
                     "prometheus/scrape.yml"):
            expect(os.path.exists(os.path.join(folder, "usr/share/guildhall", name)), name)
        unit = open(os.path.join(folder, "lib/systemd/system/guildhall.service"),
                    encoding="utf-8").read()
        expect("ExecStart=/usr/bin/guildhall serve" in unit and "DynamicUser" not in unit, unit)
        expect(len(glob.glob(os.path.join(folder, "usr/lib/sysusers.d/*"))) == 1, "no sysusers")
        data = os.path.join(folder, "data")
        os.mkdir(data)
        server = start_guildhall(program, data, "--config",
                                 os.path.join(folder, "etc/guildhall/guildhall.conf"))
        try:
            token = done(program, "user", "add", "ada", "--data", data).split()[-1]
            status, me = Client(server.port, token).call("GET", "/users/@me")
            expect(status == 200 and me["username"] == "ada", (status, me))
        finally:
            server.stop()


def systemd_accepts_the_unit_files(_):
    if not shutil.which("systemd-analyze"):
        raise Skip("systemd-analyze is not installed")
    path = package()
    with tempfile.TemporaryDirectory() as folder:
        done("dpkg-deb", "-x", path, folder)
        units = [os.path.join(folder, "lib/systemd/system", f"guildhall{name}")
                 for name in (".service", ".socket", "-backup.service", "-backup.timer")]
        for unit in units:
            with open(unit, encoding="utf-8") as file:
                text = file.read().replace("/usr/bin/guildhall", f"{folder}/usr/bin/guildhall")
            with open(unit, "w", encoding="utf-8") as file:
                file.write(text)
        output = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], check=False,
                                capture_output=True, text=True, timeout=PATIENCE).stderr
        wrong = [line for line in output.splitlines() if "guildhall" in line]
        expect(not wrong, "\n".join(wrong))


def scripts_of(folder):
    """Returns the maintainer scripts by name."""
    done("dpkg-deb", "-e", package(), folder)
    scripts = {}
    for name in ("preinst", "postinst", "prerm", "postrm", "conffiles"):
        path = os.path.join(folder, name)
        scripts[name] = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    return scripts


# Replaces the programs that maintainer scripts call, and records their arguments.
RECORDER = """#!/bin/sh
echo "${0##*/} $*" >>"$NOTES"
case "$*" in *is-enabled*|*debian-installed*|*was-enabled*) exit 1 ;; esac
"""


def calls_of(script, folder, *words):
    """Returns the systemd commands of a maintainer script."""
    stand_ins, notes = os.path.join(folder, "bin"), os.path.join(folder, "notes")
    os.makedirs(stand_ins, exist_ok=True)
    for name in ("deb-systemd-invoke", "deb-systemd-helper", "systemctl", "systemd-sysusers",
                 "getent", "rm"):
        path = os.path.join(stand_ins, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(RECORDER)
        os.chmod(path, 0o755)
    open(notes, "w", encoding="utf-8").close()
    # The scripts check whether systemd runs; here it does.
    text = script.replace("/run/systemd/system", folder)
    result = subprocess.run(["sh", "-c", text, "script", *words], capture_output=True, text=True,
                            timeout=PATIENCE, check=False,
                            env={**os.environ, "NOTES": notes, "DPKG_ROOT": "",
                                 "PATH": f"{stand_ins}:{os.environ['PATH']}"})
    expect(result.returncode == 0, result.stdout + result.stderr)
    with open(notes, encoding="utf-8") as file:
        return file.read(), result.stdout


def upgrade_does_not_change_socket_and_timer(_):
    with tempfile.TemporaryDirectory() as folder:
        scripts = scripts_of(os.path.join(folder, "control"))
        calls = ""
        for name, words in (("prerm", ("upgrade", "0.1.0-2")), ("preinst", ("upgrade", "0.1.0-1")),
                            ("postrm", ("upgrade", "0.1.0-2")),
                            ("postinst", ("configure", "0.1.0-1"))):
            if scripts[name]:
                calls += calls_of(scripts[name], folder, *words)[0]
        touched = [line for line in calls.splitlines() if re.search(r" (stop|start|restart) ", line)]
        expect(any("restart guildhall.service" in line for line in touched), calls)
        for name in ("guildhall.socket", "guildhall-backup.timer", "guildhall-backup.service"):
            expect(not any(name in line for line in touched), calls)
        removed = calls_of(scripts["prerm"], folder, "remove")[0]
        for name in ("guildhall.socket", "guildhall-backup.timer", "guildhall.service"):
            expect(re.search(rf"stop .*{name}", removed), removed)


def documented_socket_commands_stop_the_service_first(_):
    """systemd refuses to start the socket of an active service."""
    with open(os.path.join(ROOT, "docs/OPERATING.md"), encoding="utf-8") as file:
        block = re.search(r"^```sh\n(sudo systemctl stop .*?)^```$", file.read(), re.M | re.S)[1]
    expect([line.split()[2:] for line in block.splitlines()] ==
           [["stop", "guildhall"], ["enable", "--now", "guildhall.socket"], ["start", "guildhall"]],
           block)


def upgrade_does_not_ask_about_the_configuration(_):
    with tempfile.TemporaryDirectory() as folder:
        # The only configuration file is the same in every version: it contains no option's default.
        expect(scripts_of(os.path.join(folder, "control"))["conffiles"].split() ==
               ["/etc/guildhall/guildhall.conf"], "conffiles")
        done("dpkg-deb", "-x", package(), folder)
        with open(os.path.join(folder, "etc/guildhall/guildhall.conf"), encoding="utf-8") as file:
            expect(all(line.startswith(";") for line in file), "it sets something")
        expect(os.path.isdir(os.path.join(folder, "etc/guildhall/guildhall.conf.d")), "no drop-ins")


def purge_prints_which_data_remain(_):
    with tempfile.TemporaryDirectory() as folder:
        postrm = scripts_of(os.path.join(folder, "control"))["postrm"]
        data = os.path.join(folder, "lib")
        os.mkdir(data)
        script = postrm.replace("/var/lib/guildhall", data).replace("/etc/guildhall", f"{folder}/etc")
        output = calls_of(script, folder, "purge")[1]
        expect(f"{data} stays" in output and "account guildhall stays" in output, output)
        expect(os.path.isdir(data), "it was deleted")
        expect(calls_of(script, folder, "remove")[1] == "", "remove says something")


def invalid_configuration_is_not_restarted(_):
    with tempfile.TemporaryDirectory() as folder:
        done("dpkg-deb", "-x", package(), folder)
        with open(os.path.join(folder, "lib/systemd/system/guildhall.service"),
                  encoding="utf-8") as file:
            unit = file.read()
        expect("\nRestartPreventExitStatus=2\n" in unit, unit)
        # Reloading needs only the package's program.
        expect(re.search(r"^ExecReload=/usr/bin/guildhall reload ", unit, re.M), unit)
        with open(os.path.join(folder, "conf"), "w", encoding="utf-8") as file:
            file.write("listn = x\n")
        result = subprocess.run([os.path.join(folder, "usr/bin/guildhall"), "serve", "--config",
                                 os.path.join(folder, "conf")], check=False, capture_output=True,
                                timeout=PATIENCE)
        expect(result.returncode == 2, result)


# An overlay over this machine that takes all writes: the package is really installed and removed
# with the overlay. It has its own network.
LAYER = r"""
mount -t tmpfs none "$1"
mkdir "$1/new" "$1/work" "$1/root"
mount -t overlay none -o "lowerdir=/,upperdir=$1/new,workdir=$1/work" "$1/root"
ip link set lo up
"""
FRESH = LAYER + r"""
for place in proc dev sys; do mount --rbind "/$place" "$1/root/$place"; done
mount -t tmpfs none "$1/root/tmp"
mkdir -p "$1/root/tmp/build/dist"
cp "$2" "$1/root/tmp/build/dist"
chroot "$1/root" sh -euc "$3"
"""
# The README commands unchanged; without systemd the unit file is interpreted by the script.
FIRST_ACCOUNT = r"""
cd /tmp
sudo() { "$@"; }
echo 'APT::Get::Assume-Yes "true";' >/etc/apt/apt.conf.d/nobody-asks
export DEBIAN_FRONTEND=noninteractive
dpkg --purge guildhall >/dev/null 2>&1 || :
test ! -e /usr/bin/guildhall
began=$(date +%s.%N)
INSTALL >/tmp/apt.log 2>&1 ||
    { cat /tmp/apt.log; exit 1; }
unit=/lib/systemd/system/guildhall.service
user=$(sed -n 's/^User=//p' $unit)
export STATE_DIRECTORY=/var/lib/$(sed -n 's/^StateDirectory=//p' $unit)
install -d -o "$user" -g "$user" -m "$(sed -n 's/^StateDirectoryMode=//p' $unit)" "$STATE_DIRECTORY"
setpriv --reuid "$user" --regid "$user" --init-groups sh -c \
    "exec $(sed -n 's/^ExecStart=//p' $unit)" >/tmp/server.log 2>&1 &
until curl -fs http://127.0.0.1:8080/readyz >/dev/null; do
    kill -0 $! || { cat /tmp/server.log; exit 1; }
    sleep 0.05
done
ACCOUNT | tee /tmp/account
token=$(sed -n 's/^token *//p' /tmp/account)
curl -fsS -H "Authorization: $token" http://127.0.0.1:8080/api/v10/users/@me | grep '"username":"ada"'
echo "seconds $(echo "$(date +%s.%N) $began" | awk '{ print $1 - $2 }')"
guildhall backup /var/backups/guildhall.backup --data /var/lib/guildhall
find /var/lib/guildhall ! -user "$user" -printf 'not of the server: %p\n'
kill $!
wait $! || :
"""
MINUTE = 60


def processor_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def first_account_is_created_within_a_minute(_):
    """Measures processor time, which does not depend on other load."""
    if os.geteuid() != 0:
        raise Skip("only root can install packages")
    with tempfile.TemporaryDirectory() as folder:
        alone = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-euc"]
        if subprocess.run([*alone, LAYER, "sh", folder], capture_output=True, check=False).returncode:
            raise Skip("mounts are not permitted here")
        path, began = package(), processor_seconds()
        _, install, account = readme_lines()
        typed = FIRST_ACCOUNT.replace("INSTALL", install).replace("ACCOUNT", account)
        output = done(*alone, FRESH, "sh", folder, path, typed)
        took = processor_seconds() - began
    expect("not of the server" not in output, output)
    seconds = float(re.search(r"^seconds (.*)$", output, re.M)[1])
    print(f"from the package to the first account: {seconds:.1f} s, {took:.1f} s of processor time")
    expect(took < MINUTE / 2, f"{took} s of processor time")


def container_with_the_package_has_no_systemd(_):
    """Simulates the installation of packaging/container/Containerfile.debian on an empty machine."""
    with open(os.path.join(ROOT, "packaging/container/Containerfile.debian"), encoding="utf-8") as file:
        install = re.search(r"apt-get (install .*?) *\\\n +&& rm", file.read(), re.S)[1].replace("\\\n", " ")
    words = install.replace("/tmp/guildhall_*.deb", package()).split()
    result = subprocess.run(["apt-get", "-s", "-o", "Dir::State::status=/dev/null", *words], capture_output=True,
                            text=True, timeout=PATIENCE, check=False)
    if "Unable to locate package" in result.stderr:
        raise Skip("apt has no lists of packages (apt-get update)")
    installed = set(re.findall(r"^Inst (\S+)", result.stdout, re.M))
    expect({"guildhall", "libpq5", "systemd-standalone-sysusers"} <= installed, result.stdout + result.stderr)
    expect("systemd" not in installed, sorted(installed))


run_cases("deb", [
    package_build_is_reproducible,
    lintian_reports_no_problems,
    installed_program_serves,
    systemd_accepts_the_unit_files,
    upgrade_does_not_change_socket_and_timer,
    documented_socket_commands_stop_the_service_first,
    upgrade_does_not_ask_about_the_configuration,
    purge_prints_which_data_remain,
    invalid_configuration_is_not_restarted,
    first_account_is_created_within_a_minute,
    container_with_the_package_has_no_systemd,
])

#!/usr/bin/env python3
"""deb - the package: nothing to complain of, the same bytes each time, and it serves."""

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
    """The file that scripts/package makes, and its bytes."""
    path = os.path.join(ROOT, done("scripts/package", kind).split()[-1])
    with open(path, "rb") as file:
        return path, file.read()


@functools.cache
def readme_lines():
    """What README prints to build, install and have the first account."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        block = re.search(r"^```sh\n(make dist .*?)^```$", file.read(), re.M | re.S)[1]
    lines = [line.split("  #")[0].strip() for line in block.splitlines()]
    expect(len(lines) == 3, block)
    return lines


@functools.cache
def package():
    """The file, made as README says, once for all that only look at it."""
    (name,) = (word for word in done("sh", "-c", readme_lines()[0]).split() if word.endswith(".deb"))
    return os.path.join(ROOT, name)


def the_same_commit_gives_the_same_bytes(_):
    with open(package(), "rb") as file:
        first = file.read()
    expect(made("deb")[1] == first, "two builds of deb differ")
    expect(made("source")[1] == made("source")[1], "two builds of source differ")


def there_is_nothing_to_complain_of(_):
    path = package()
    # Run by root it says so, on the standard error.
    said = done("lintian", "--fail-on", "error,warning,info", "--display-info", path)
    expect(said.strip() == "", said)


def what_is_installed_serves(_):
    path = package()
    with tempfile.TemporaryDirectory() as folder:
        done("dpkg-deb", "-x", path, folder)
        program = os.path.join(folder, "usr/bin/guildhall")
        with open(program, "rb") as file:  # built elsewhere it is the same
            expect(os.path.realpath(ROOT).encode() not in file.read(), "the folder is in it")
        for page in ("man1/guildhall.1.gz", "man5/guildhall.conf.5.gz"):
            with gzip.open(os.path.join(folder, "usr/share/man", page), "rt") as file:
                expect(file.read().startswith(".TH "), page)
        for name in ("grafana/guildhall.json", "fail2ban/guildhall.conf",
                     "fail2ban/guildhall-limits.conf"):
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


def systemd_knows_every_word_of_the_units(_):
    if not shutil.which("systemd-analyze"):
        raise Skip("there is no systemd-analyze")
    path = package()
    with tempfile.TemporaryDirectory() as folder:
        done("dpkg-deb", "-x", path, folder)
        units = [os.path.join(folder, "lib/systemd/system", f"guildhall.{kind}")
                 for kind in ("service", "socket")]
        for unit in units:
            with open(unit, encoding="utf-8") as file:
                text = file.read().replace("/usr/bin/guildhall", f"{folder}/usr/bin/guildhall")
            with open(unit, "w", encoding="utf-8") as file:
                file.write(text)
        said = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], check=False,
                              capture_output=True, text=True, timeout=PATIENCE).stderr
        wrong = [line for line in said.splitlines() if "guildhall." in line]
        expect(not wrong, "\n".join(wrong))


# A machine that is this one, with a layer over it that takes what is written: the package is
# installed for real, and gone with the layer. Nobody else's ports are there.
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
# What a host types, word by word as README has it; without systemd the unit is read by hand.
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


def the_first_account_is_there_within_a_minute(_):
    """On a machine with nothing else to do, that is: what counts is what it takes, not what others do."""
    if os.geteuid() != 0:
        raise Skip("only root installs packages")
    with tempfile.TemporaryDirectory() as folder:
        alone = ["unshare", "--mount", "--net", "--pid", "--fork", "--kill-child", "sh", "-euc"]
        if subprocess.run([*alone, LAYER, "sh", folder], capture_output=True, check=False).returncode:
            raise Skip("mounts are not allowed here")
        path, began = package(), processor_seconds()
        _, install, account = readme_lines()
        typed = FIRST_ACCOUNT.replace("INSTALL", install).replace("ACCOUNT", account)
        said = done(*alone, FRESH, "sh", folder, path, typed)
        took = processor_seconds() - began
    expect("not of the server" not in said, said)
    seconds = float(re.search(r"^seconds (.*)$", said, re.M)[1])
    print(f"from the package to the first account: {seconds:.1f} s, {took:.1f} s of processor time")
    expect(took < MINUTE / 2, f"{took} s of processor time")


run_cases("deb", [
    the_same_commit_gives_the_same_bytes,
    there_is_nothing_to_complain_of,
    what_is_installed_serves,
    systemd_knows_every_word_of_the_units,
    the_first_account_is_there_within_a_minute,
])

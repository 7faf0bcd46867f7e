"""Folders that a server was started on before, for tests that are about something else.

Making all tables takes a sanitizer's program longer than most tests, so those of one build share
what a first start leaves.
"""

import glob
import os
import shutil
import tempfile

import process
from process import Process, serve_command

KEPT = ("guildhall.db", "pepper.key")


def fresh_folder(executable):
    """What a first start leaves in an empty folder; it lies beside the program."""
    path = f"{executable}.fresh-{os.stat(executable).st_mtime_ns}"
    if not os.path.isdir(path):
        for old in glob.glob(f"{glob.escape(executable)}.fresh-*"):
            if old != path:
                shutil.rmtree(old, ignore_errors=True)  # of a program that is no more
        made = tempfile.mkdtemp(prefix="fresh.", dir=os.path.dirname(executable))
        Process(serve_command(executable, made)).stop()
        try:
            os.rename(made, path)
        except OSError:  # somebody else was quicker
            shutil.rmtree(made)
    return path


def is_of_build(executable):
    """Whether it lies where it was built, and nobody minds what lies beside it."""
    return os.path.isdir(os.path.join(os.path.dirname(executable), os.pardir, "meson-info"))


def freshen(executable, folder):
    """Puts that into a folder that is empty, or not there."""
    if not os.path.isdir(folder):
        os.makedirs(folder, 0o700)
    if not os.listdir(folder) and is_of_build(executable):
        for name in KEPT:
            shutil.copy(os.path.join(fresh_folder(executable), name), folder)
    return folder


def freshen_for(executable, words):
    """The same for a command that would make its folder."""
    if words[0] in ("user", "import", "seed") and "--data" in words and "--store" not in words:
        freshen(executable, words[words.index("--data") + 1])


def start_guildhall(executable, folder, *flags, **more):
    """As that of process, without the steps to today's tables."""
    if "--store" not in flags:
        freshen(executable, folder)
    return process.start_guildhall(executable, folder, *flags, **more)

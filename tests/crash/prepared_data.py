"""Data folders with existing tables, for tests of other things. Creating all tables takes longer
than most tests with a sanitizer, so the tests of one build share the result of a first start."""

import glob
import os
import shutil
import tempfile

import process
from process import Process, serve_command

PREPARED_FILES = ("guildhall.db", "pepper.key")


def prepared_folder(executable):
    """Returns a folder with the result of a first start, next to the executable."""
    path = f"{executable}.fresh-{os.stat(executable).st_mtime_ns}"
    if not os.path.isdir(path):
        for old in glob.glob(f"{glob.escape(executable)}.fresh-*"):
            if old != path:
                shutil.rmtree(old, ignore_errors=True)  # made by a program that no longer exists
        made = tempfile.mkdtemp(prefix="fresh.", dir=os.path.dirname(executable))
        Process(serve_command(executable, made)).stop()
        try:
            os.rename(made, path)
        except OSError:  # another test created it first
            shutil.rmtree(made)
    return path


def is_of_build(executable):
    """Returns whether the executable is in a build folder, so that files may be created next to
    it."""
    return os.path.isdir(os.path.join(os.path.dirname(executable), os.pardir, "meson-info"))


def copy_prepared_data(executable, folder):
    """Copies the prepared data into an empty or missing folder."""
    if not os.path.isdir(folder):
        os.makedirs(folder, 0o700)
    if not os.listdir(folder) and is_of_build(executable):
        for name in PREPARED_FILES:
            shutil.copy(os.path.join(prepared_folder(executable), name), folder)
    return folder


def prepare_data_for(executable, words):
    """Prepares the data folder of a command that would create it."""
    if words[0] in ("user", "import", "seed") and "--data" in words and "--store" not in words:
        copy_prepared_data(executable, words[words.index("--data") + 1])


def start_guildhall(executable, folder, *flags, **more):
    """Starts a server like process.start_guildhall, with prepared tables."""
    if "--store" not in flags:
        copy_prepared_data(executable, folder)
    return process.start_guildhall(executable, folder, *flags, **more)

"""Creates demo data folders: the demo is filled once and copied, because drawing its images takes longer
than most tests."""

import functools
import os
import shutil
import tempfile

from prepared_data import copy_prepared_data
from process import Process


def start_demo(executable, data, *flags):
    return Process([executable, "demo", "--data", data, "--listen", "127.0.0.1:0", *flags])


@functools.cache
def filled(executable):
    """Returns the folder after the first start of a demo, which is deleted with the program."""
    folder = tempfile.TemporaryDirectory()
    start_demo(executable, copy_prepared_data(executable, os.path.join(folder.name, "data"))).stop()
    return folder


def put_demo(executable, data):
    """Copies the folder as after the first start of a demo."""
    shutil.copytree(os.path.join(filled(executable).name, "data"), data, dirs_exist_ok=True)
    return data

"""Simulated disks for power cuts and full disks: ext4 images on loop devices."""

import os
import shutil
import subprocess
import tempfile

from cases import Skip


def run(*command):
    return subprocess.run(command, capture_output=True, text=True)


class Disk:
    """A file with an ext4 file system in it, mounted as `folder`."""

    def __init__(self, parent, name, megabytes=None, image=None):
        self.image = image or os.path.join(parent, name + ".img")
        self.folder = os.path.join(parent, name)
        self.data = os.path.join(self.folder, "data")  # created by the server
        self.mounted = False
        if not image:
            with open(self.image, "wb") as f:
                f.truncate(megabytes << 20)
            made = run("mkfs.ext4", "-q", "-m", "0", self.image)
            if made.returncode:
                raise Skip(f"mkfs.ext4 does not work: {made.stderr.strip()}")
        self._mount()

    def _mount(self):
        os.makedirs(self.folder, exist_ok=True)
        done = run("mount", "-o", "loop", self.image, self.folder)
        if done.returncode:
            raise Skip(f"loop devices cannot be mounted: {done.stderr.strip()}")
        self.mounted = True

    def flush(self):
        """Flushes everything written so far to the image."""
        run("sync", "-f", self.folder)

    def image_now(self, name):
        """Returns a copy of the image: the state after a power cut now, without the page cache."""
        copy = os.path.join(os.path.dirname(self.image), name + ".img")
        shutil.copyfile(self.image, copy)
        return copy

    def fill(self):
        """Fills the disk; deleting the returned file frees the space."""
        ballast = os.path.join(self.folder, "ballast")
        with open(ballast, "wb", buffering=0) as f:
            size = 1 << 20
            while size >= 512:
                try:
                    f.write(b"\0" * size)
                    os.fsync(f.fileno())
                except OSError:
                    size //= 2
        return ballast

    def close(self):
        if self.mounted:
            run("umount", "-l", self.folder)
            self.mounted = False


class TestResources:
    """A temporary folder and its disks, which are removed at the end."""

    def __enter__(self):
        self.folder = tempfile.mkdtemp(prefix="guildhall-crash-")
        self.disks = []
        self.processes = []
        return self

    def disk(self, *args, **named):
        disk = Disk(self.folder, *args, **named)
        self.disks.append(disk)
        return disk

    def kill_at_end(self, process):
        """Ends the process when the test does."""
        self.processes.append(process)
        return process

    def __exit__(self, *_):
        for process in self.processes:
            process.kill()
        for disk in self.disks:
            disk.close()
        shutil.rmtree(self.folder, ignore_errors=True)

"""Users who change their own bio as fast as they can and remember what they were told.

Each counts upwards. What the server acknowledged must never be lost, and what
was never sent must never appear: after a crash, acknowledged <= found <= sent.
"""

import subprocess
import threading
import time

from cases import expect
from process import Client, Failed, register


class Writer:
    def __init__(self, port, name):
        self.name = name
        self.token = register(port, name)
        self.sent = self.acknowledged = self.refused = 0
        self.trouble = None
        self.write(Client(port, self.token))

    def write(self, client):
        self.sent += 1
        status, answer = client.call("PATCH", "/users/@me", {"bio": str(self.sent)})
        if status == 200:
            expect(answer["bio"] == str(self.sent), f"{self.name} was answered {answer['bio']!r}")
            self.acknowledged = self.sent
        elif status == 507:
            expect(answer["code"] == 0 and answer["message"], f"a 507 says {answer}")
            self.refused += 1
        else:
            raise Failed(f"{self.name}'s write answered {status}: {answer}")

    def read(self, port):
        client = Client(port, self.token)
        status, answer = client.call("GET", "/users/@me")
        client.close()
        expect(status == 200, f"{self.name} cannot be read: {status} {answer}")
        return int(answer["bio"] or 0)


class Writers:
    def __init__(self, port, count):
        self.all = [Writer(port, f"writer{i}") for i in range(count)]
        self.threads = []
        self.stopping = threading.Event()

    def start(self, port):
        self.stopping.clear()
        self.threads = [threading.Thread(target=self._run, args=(w, port), daemon=True)
                        for w in self.all]
        for thread in self.threads:
            thread.start()

    def _run(self, writer, port):
        client = Client(port, writer.token)
        try:
            while not self.stopping.is_set():
                writer.write(client)
        except OSError:
            pass  # the server is gone
        except Exception as e:  # pylint: disable=broad-except
            # A connection that ends inside an answer is the crash we came for.
            if type(e).__module__ != "http.client":
                writer.trouble = e
        finally:
            client.close()

    def join(self):
        """Waits until all are done writing; call after ending the server, or stop."""
        self.stopping.set()
        for thread in self.threads:
            thread.join(60)
            expect(not thread.is_alive(), "a writer hangs")
        for writer in self.all:
            if writer.trouble:
                raise writer.trouble

    def acknowledged(self):
        return [w.acknowledged for w in self.all]

    def wait_for_more(self, than, seconds=60):
        """Until each writer has been acknowledged again since `than`."""
        deadline = time.monotonic() + seconds
        while not all(w.acknowledged > old for w, old in zip(self.all, than)):
            expect(time.monotonic() < deadline, "the writers make no progress")
            time.sleep(0.005)

    def lost(self, port, acknowledged):
        """The writes that were acknowledged and are not there, as sentences."""
        missing = []
        for writer, least in zip(self.all, acknowledged):
            found = writer.read(port)
            if found < least:
                missing.append(f"{writer.name}: {least} was acknowledged, {found} is there")
            expect(found <= writer.sent, f"{writer.name}: {found} is there but was never sent")
        return missing

    def forget_unacknowledged(self, port):
        """Goes on from what is stored, so that the next round starts clean."""
        for writer in self.all:
            writer.acknowledged = writer.sent = writer.read(port)


def check_passes(executable, folder):
    done = subprocess.run([executable, "check", "--data", str(folder)], capture_output=True,
                          text=True, timeout=300)
    expect(done.returncode == 0,
           f"the integrity check failed ({done.returncode}):\n{done.stdout}{done.stderr}")

"""Writers for crash tests: each user counts upwards in the own bio and records the acknowledged
values. After a crash, acknowledged <= found <= sent must hold."""

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
        self.error = None
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
            pass  # the server was killed
        except Exception as e:  # pylint: disable=broad-except
            # A connection that ends within a response is the expected crash.
            if type(e).__module__ != "http.client":
                writer.error = e
        finally:
            client.close()

    def join(self):
        """Waits until all writers have stopped; call it after ending the server, or stop."""
        self.stopping.set()
        for thread in self.threads:
            thread.join(60)
            expect(not thread.is_alive(), "a writer hangs")
        for writer in self.all:
            if writer.error:
                raise writer.error

    def acknowledged(self):
        return [w.acknowledged for w in self.all]

    def wait_for_more(self, than, seconds=60):
        """Waits until each writer got another acknowledgement since `than`."""
        deadline = time.monotonic() + seconds
        while not all(w.acknowledged > old for w, old in zip(self.all, than)):
            expect(time.monotonic() < deadline, "the writers make no progress")
            time.sleep(0.005)

    def lost(self, port, acknowledged):
        """Returns descriptions of the acknowledged writes that are missing."""
        missing = []
        for writer, least in zip(self.all, acknowledged):
            found = writer.read(port)
            if found < least:
                missing.append(f"{writer.name}: {least} was acknowledged, but {found} is stored")
            expect(found <= writer.sent, f"{writer.name}: {found} is stored but was never sent")
        return missing

    def reset_to_stored(self, port):
        """Continues from the stored values, so that the next round starts clean."""
        for writer in self.all:
            writer.acknowledged = writer.sent = writer.read(port)


def check_passes(executable, folder):
    done = subprocess.run([executable, "check", "--data", str(folder)], capture_output=True,
                          text=True, timeout=300)
    expect(done.returncode == 0,
           f"the integrity check failed ({done.returncode}):\n{done.stdout}{done.stderr}")

#!/usr/bin/env python3
"""resource_limits - tests little memory and invalid options: the server prints an error or refuses requests,
and never aborts."""

import http.client
import os
import subprocess
import sys
import tempfile
import threading

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "crash"))

from cases import expect, run_cases  # noqa: E402
from prepared_data import copy_prepared_data  # noqa: E402
from process import Client, Process, register  # noqa: E402

UPLOADS, SIZE = 8, 20 * 1024 * 1024


def serve(executable, folder, *words, mib=None):
    """Returns the command in a shell that limits the address space."""
    command = [executable, "serve", "--listen", "127.0.0.1:0", "--data", folder, *words]
    if not mib:
        return command
    # Sanitizers reserve terabytes of address space, so the release build is used.
    release = executable.replace("/build/asan/", "/build/release/")
    if os.path.exists(release):
        command[0] = release
    return ["sh", "-c", f'ulimit -v {mib * 1024} && exec "$@"', "sh", *command]


def refusal(command):
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    expect(done.returncode in (1, 2), f"{done.returncode} {done.stderr}")
    expect(len(done.stderr.strip().splitlines()) == 1, done.stderr)
    return done.stderr


def upload(port, token, channel, statuses):
    edge = "edge-of-a-part"
    body = (f'--{edge}\r\nContent-Disposition: form-data; name="files[0]"; filename="a"\r\n\r\n'
            ).encode() + bytes(SIZE) + f"\r\n--{edge}--\r\n".encode()
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=120)
    try:
        connection.request("POST", f"/api/v10/channels/{channel}/messages", body,
                           {"Authorization": token,
                            "Content-Type": f"multipart/form-data; boundary={edge}"})
        statuses.append(connection.getresponse().status)
    except OSError:
        statuses.append(0)  # refused before everything was sent
    finally:
        connection.close()


def uploads_with_little_memory_do_not_stop_the_server(executable):
    with tempfile.TemporaryDirectory() as data:
        copy_prepared_data(executable, data)
        server = Process(serve(executable, data, "--rate-limits", "off", mib=400))
        try:
            token = register(server.port, "ada")
            client = Client(server.port, token)
            status, guild = client.call("POST", "/guilds", {"name": "Here"})
            expect(status == 201, f"{status} {guild}")
            _, channels = client.call("GET", f"/guilds/{guild['id']}/channels")
            channel = next(c["id"] for c in channels if c["type"] == 0)
            statuses = []
            threads = [threading.Thread(target=upload, args=(server.port, token, channel, statuses))
                       for _ in range(UPLOADS)]
            for thread in threads:
                thread.start()
            for thread in threads:
                thread.join()
            expect(server.alive(), server.read_stderr())
            expect("memory is limited, so all request bodies" in server.read_stderr(), server.read_stderr())
            expect(set(statuses) <= {0, 200, 413, 429, 503}, str(statuses))
            status, _ = client.call("POST", f"/channels/{channel}/messages", {"content": "there"})
            expect(status == 200, str(status))
            client.close()
        finally:
            server.stop()


def too_little_address_space_gives_an_error_message(executable):
    with tempfile.TemporaryDirectory() as data:
        message = refusal(serve(executable, data, mib=180))
        expect("limited to 180 MiB, but the server needs 256 MiB" in message, message)


def invalid_addresses_and_certificates_give_error_messages(executable):
    with tempfile.TemporaryDirectory() as data:
        copy_prepared_data(executable, data)
        message = refusal(serve(executable, data, "--store", "mysql://ada:secret@x/y"))
        expect("'mysql' is not supported: use postgres://" in message and "secret" not in message, message)
        message = refusal(serve(executable, data, "--tls-cert", "/nonexist", "--tls-key", "/none"))
        expect("certificate, '/nonexist': No such file" in message, message)


if __name__ == "__main__":
    run_cases("resource_limits", [
        uploads_with_little_memory_do_not_stop_the_server,
        too_little_address_space_gives_an_error_message,
        invalid_addresses_and_certificates_give_error_messages,
    ])

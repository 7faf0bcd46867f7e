"""Repeats one request and records the longest response time.

    prober.py PORT TOKEN METHOD PATH [BODY]     each line of standard input ends a measurement,
                                                whose result is printed as a line of JSON
"""

import json
import os
import select
import socket
import sys
import time

PAUSE_S = 0.001


def request_of(token, method, path, body):
    head = f"{method} {path} HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: {token}\r\n"
    if body:
        head += f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n"
    return (head + "\r\n" + body).encode()


def wait_for_answer(s):
    """Reads the whole response and returns its status."""
    have = b""
    while b"\r\n\r\n" not in have:
        have += s.recv(65536)
    head, _, body = have.partition(b"\r\n\r\n")
    length = next((int(line.split(b":")[1]) for line in head.split(b"\r\n")
                   if line.lower().startswith(b"content-length:")), 0)
    while len(body) < length:
        body += s.recv(65536)
    return int(head.split()[1])


def main():
    port, token, method, path = sys.argv[1:5]
    request = request_of(token, method, path, sys.argv[5] if len(sys.argv) > 5 else "")
    longest = requests = refused = 0
    with socket.create_connection(("127.0.0.1", int(port)), 60) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        while True:
            if select.select([0], [], [], PAUSE_S)[0]:
                if not os.read(0, 100):
                    return
                print(json.dumps({"longest_ms": longest, "asked": requests, "refused": refused}),
                      flush=True)
                longest = requests = refused = 0
            began = time.monotonic()
            s.sendall(request)
            status = wait_for_answer(s)
            longest = max(longest, (time.monotonic() - began) * 1000)
            requests, refused = requests + 1, refused + (status >= 400)


main()

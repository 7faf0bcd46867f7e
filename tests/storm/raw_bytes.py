#!/usr/bin/env python3
"""raw_bytes - sends malformed HTTP requests to a server. Requests are generated, changed, pipelined
and split at any byte. The server must keep running, send complete responses without a 5xx, and give
the same result however the bytes are split."""

import errno
import re
import socket

from storm import expect, random_for, run_cases, server_for_storm, until_time_is_over

HEAD_MAX = 32 * 1024
PATHS = ["/healthz", "/api/v10/gateway", "/api/v10/users/@me", "/api/v10/guilds", "/nowhere",
         "/api/v10/guilds/1", "/api/v10/auth/login", "/api/v10/channels/1/messages", "/",
         "/api/v10/voice/regions", "/api/v10/%2e%2e/x", "/gateway?v=10&encoding=json"]
METHODS = ["GET", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "HEAD"]
BODIES = [b"", b"{}", b"[]", b'{"a":1}', b"null", b'{"login":"a","password":"b"}', b"x" * 300,
          b'{"x":"' + b"y" * 9000 + b'"}', b"[" * 200, b'{"\xff":1}']


def exchange(port, pieces, patience=60):
    """Sends the pieces one after the other; returns all received bytes until the server closes."""
    with socket.create_connection(("127.0.0.1", port), patience) as s:
        s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            for piece in pieces:
                s.sendall(piece)
            s.shutdown(socket.SHUT_WR)
        except OSError as e:  # the server has replied and closed
            if e.errno not in (errno.EPIPE, errno.ECONNRESET, errno.ENOTCONN):
                raise
        got = b""
        try:
            while piece := s.recv(65536):
                got += piece
        except ConnectionResetError:
            pass
        return got


def answers_in(text, heads):
    """Splits the received bytes into statuses and bodies; fails on anything else."""
    found = []
    while text:
        head, mark, rest = text.partition(b"\r\n\r\n")
        expect(mark, f"incomplete head: {text[:200]!r}")
        status = re.match(rb"HTTP/1\.1 (\d\d\d) ", head)
        expect(status, f"no answer: {head[:200]!r}")
        code = int(status[1])
        if code == 100:
            text = rest
            continue
        length = re.search(rb"(?i)\r\ncontent-length: (\d+)", head)
        is_head = len(found) < len(heads) and heads[len(found)]
        n = 0 if is_head or code in (204, 304) else int(length[1]) if length else 0
        expect(len(rest) >= n, f"{code} with an incomplete body: {rest[:100]!r}")
        found.append((code, rest[:n]))
        text = rest[n:]
    return found


def a_request(rng):
    """Returns a random well-formed request."""
    method, path, body = rng.choice(METHODS), rng.choice(PATHS), rng.choice(BODIES)
    if rng.random() < 0.2:
        path += ("&" if "?" in path else "?") + "a=" + "x" * rng.choice([1, 500, 3000, 7000])
    lines = [f"{method} {path} HTTP/1.1".encode(), b"Host: a"]
    if rng.random() < 0.2:
        lines += [b"X-Filler: " + b"f" * rng.choice([10, 1000, 7000])] * rng.choice([1, 2, 3])
    if rng.random() < 0.3:
        lines.append(b"Authorization: " + rng.choice([b"Bot x.y.z", b"Bearer abc", b"token", b"Basic eDp5"]))
    if body and method not in ("GET", "HEAD", "OPTIONS"):
        lines.append(b"Content-Type: application/json")
        if rng.random() < 0.3:
            at = rng.randrange(len(body))
            parts = [p for p in (body[:at], body[at:]) if p]
            body = b"".join(b"%x\r\n%s\r\n" % (len(p), p) for p in parts) + b"0\r\n\r\n"
            lines.append(b"Transfer-Encoding: chunked")
        else:
            lines.append(b"Content-Length: %d" % len(body))
    else:
        body = b""
    return method, b"\r\n".join(lines) + b"\r\n\r\n" + body


def cut(rng, text):
    """Splits the bytes into random pieces."""
    at, pieces = 0, []
    while at < len(text):
        n = rng.choice([1, 2, 7, 64, 1000, 8192, len(text)])
        pieces.append(text[at:at + n])
        at += n
    return pieces


def pipelined_requests_are_answered_one_by_one(executable):
    rng = random_for("trains")
    with server_for_storm(executable) as server:
        for _ in until_time_is_over():
            train = [a_request(rng) for _ in range(rng.randrange(1, 8))]
            text = b"".join(r for _, r in train)
            heads = [m == "HEAD" for m, _ in train]
            whole = answers_in(exchange(server.port, [text]), heads)
            # A request refused as malformed ends the connection.
            expect(whole, f"no response to {text[:200]!r}")
            expect(all(code < 500 for code, _ in whole), f"{whole} to {text[:2000]!r}")
            again = answers_in(exchange(server.port, cut(rng, text)), heads)
            codes, expected = [c for c, _ in again], [c for c, _ in whole]
            expect(codes == expected, f"split: {codes}, whole: {expected}, of {text[:2000]!r}")


def mutate(rng, text):
    """Changes, removes or duplicates a few bytes."""
    text = bytearray(text)
    for _ in range(rng.choice([1, 1, 2, 5, 20])):
        at = rng.randrange(len(text)) if text else 0
        kind = rng.randrange(4)
        if kind == 0 and text:
            text[at] = rng.randrange(256)
        elif kind == 1 and text:
            del text[at:at + rng.choice([1, 2, 10])]
        elif kind == 2:
            text[at:at] = rng.choice([b"\r\n", b"\0", b" ", b"\r\n\r\n", b"Content-Length: 5\r\n", b"\xff" * 9,
                                      b"Transfer-Encoding: chunked\r\n", b"Connection: close\r\n",
                                      b"Upgrade: websocket\r\nConnection: Upgrade\r\n"])
        else:
            text[at:at] = text[at:at + rng.choice([1, 10, 100])]
    return bytes(text)


def malformed_requests_are_answered_or_refused(executable):
    rng = random_for("mutated")
    with server_for_storm(executable) as server:
        for _ in until_time_is_over():
            text = mutate(rng, b"".join(a_request(rng)[1] for _ in range(rng.randrange(1, 4))))
            got = exchange(server.port, cut(rng, text) if rng.random() < 0.5 else [text])
            found = re.findall(rb"HTTP/1\.1 (\d\d\d) ", got)
            # 501 and 505 are the statuses for unknown methods and versions.
            expect(all(c < b"500" or c in (b"501", b"505") for c in found),
                   f"{found} to {text[:3000]!r}")


def request_heads_of_every_length_are_parsed_or_refused(executable):
    """The body in the same packet must not be taken as a request."""
    rng = random_for("heads")
    with server_for_storm(executable) as server:
        for n in until_time_is_over():
            length = [7900, 8000, 8100, 16000, HEAD_MAX, HEAD_MAX + 100, 40000][n % 7] + rng.randrange(-64, 64)
            where = rng.choice(["path", "header", "headers"])
            path, more = "/api/v10/guilds", b""
            if where == "path":
                path += "?a=" + "x" * length
            elif where == "header":
                more = b"X-Filler: " + b"x" * length + b"\r\n"
            else:
                more = b"".join(b"X-%d: %s\r\n" % (i, b"x" * 600) for i in range(max(1, length // 610)))
            body = b"GET /healthz HTTP/1.1\r\nHost: b\r\n\r\n"
            text = (f"POST {path} HTTP/1.1\r\nHost: a\r\n".encode() + more
                    + b"Content-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
            got = answers_in(exchange(server.port, [text]), [])
            expect(len(got) == 1 and 400 <= got[0][0] < 500, f"{got} to a head of {length} in {where}")


def splitting_a_request_does_not_change_its_response(executable):
    """The request is split once at each byte, into two packets."""
    body = b'{"login":"ada","password":"x"}'
    text = (b"POST /api/v10/auth/login HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n"
            b"Transfer-Encoding: chunked\r\n\r\n%x\r\n%s\r\n0\r\n\r\n" % (len(body), body)
            + b"GET /api/v10/gateway HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n")
    with server_for_storm(executable) as server:
        expected = [c for c, _ in answers_in(exchange(server.port, [text]), [])]
        expect(expected == [400, 200], str(expected))
        for at in range(1, len(text)):
            got = [c for c, _ in answers_in(exchange(server.port, [text[:at], text[at:]]), [])]
            expect(got == expected, f"split at {at}: {got}")


if __name__ == "__main__":
    run_cases("storm/raw_bytes", [
        pipelined_requests_are_answered_one_by_one,
        malformed_requests_are_answered_or_refused,
        request_heads_of_every_length_are_parsed_or_refused,
        splitting_a_request_does_not_change_its_response,
    ])

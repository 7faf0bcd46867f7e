"""voice_proxy - a proxy between clients and a server with the voice relay. It terminates TLS, which
libraries require; cuts WebSockets of the voice gateway; and drops, duplicates or reorders
datagrams."""

import asyncio
import os
import re
import ssl
import subprocess
import threading

READY_PORT = re.compile(rb'("op":2,"d":\{"ssrc":\d+,"ip":"[^"]*","port":)(\d+)')
OPUS = 120
# Size of a silence packet, which clients send at the end, in the longest mode.
SILENCE = 12 + 3 + 16 + 4
EXTENSION = b"\xbe\xde"


def is_audio(data):
    return data[0] >> 6 == 2 and data[1] & 127 == OPUS


def make_certificate(folder):
    """Creates a self-signed certificate for 127.0.0.1."""
    cert, key = os.path.join(folder, "cert.pem"), os.path.join(folder, "key.pem")
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2",
                    "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1",
                    "-keyout", key, "-out", cert], check=True, capture_output=True, timeout=60)
    return cert, key


class Faults:
    """The proxy loses one of seven packets, duplicates one, and swaps one with its successor."""

    def __init__(self):
        self.count, self.held, self.passed = 0, None, []

    def take(self, packet):
        """Returns the packets to forward now, each with its index."""
        index, self.count = self.count, self.count + 1
        step = index % 7
        if step == 5:
            self.held = (index, packet)
            return []
        out = [] if step == 2 else [(index, packet)] * (2 if step == 3 else 1)
        if self.held:
            out.append(self.held)
            self.held = None
        self.passed += [p for p, _ in out]
        return [data for _, data in out]

    def received_indexes(self):
        """Returns the indexes in the order of reception, each once."""
        return list(dict.fromkeys(self.passed))


class ServerSide(asyncio.DatagramProtocol):
    """The server's side of one client's datagrams."""

    def __init__(self, client_side, client):
        self.client_side, self.client = client_side, client

    def datagram_received(self, data, _):
        if self.client_side.proxy.may_be_forwarded(data):
            self.client_side.transport.sendto(data, self.client)


class ClientSide(asyncio.DatagramProtocol):
    """The clients' side of all datagrams."""

    def __init__(self, proxy):
        self.proxy, self.server_sides, self.transport, self.waiting = proxy, {}, None, {}

    def connection_made(self, transport):
        self.transport = transport

    def datagram_received(self, data, address):
        if address in self.server_sides:
            self.forward(data, address)
            return
        first = address not in self.waiting
        self.waiting.setdefault(address, []).append(data)
        if first:
            asyncio.ensure_future(self.open(address))

    async def open(self, address):
        loop = asyncio.get_running_loop()
        self.server_sides[address], _ = await loop.create_datagram_endpoint(
            lambda: ServerSide(self, address), remote_addr=("127.0.0.1", self.proxy.voice_port))
        for data in self.waiting.pop(address):
            self.forward(data, address)

    def forward(self, data, address):
        packets = [data]
        if len(data) > SILENCE and is_audio(data) and self.proxy.faults:
            packets = self.proxy.faults.take(data)
        for packet in packets:
            self.server_sides[address].sendto(packet)


class Proxy:
    """Listens on 127.0.0.1; port is for https and wss, udp_port for media."""

    def __init__(self, folder):
        self.cert, key = make_certificate(folder)
        self.server_port = self.voice_port = 0
        self.faults, self.resumed = None, 0
        self.misread = []
        self.voice, self.writers = [], []
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.cert, key)
        self.loop = asyncio.new_event_loop()
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()
        self.port, self.udp_port = self.call(self.open())

    def call(self, work):
        return asyncio.run_coroutine_threadsafe(work, self.loop).result(30)

    async def open(self):
        self.server = await asyncio.start_server(self.serve, "127.0.0.1", 0, ssl=self.context)
        _, client_side = await self.loop.create_datagram_endpoint(lambda: ClientSide(self),
                                                                  local_addr=("127.0.0.1", 0))
        self.client_side = client_side
        return (self.server.sockets[0].getsockname()[1],
                client_side.transport.get_extra_info("sockname")[1])

    def to_client(self, data):
        """Replaces the media port by the proxy's: ports have five digits, so no length changes."""
        self.resumed += data.count(b'{"op":9,')
        found = READY_PORT.search(data)
        if found:
            if self.voice_port != int(found.group(2)):
                self.client_side.server_sides.clear()  # a client may have the port of an earlier one
            self.voice_port = int(found.group(2))
            data = READY_PORT.sub(rb"\g<1>%d" % self.udp_port, data)
        return data

    def may_be_forwarded(self, data):
        """Returns whether a packet may be forwarded. One encrypted packet in 65,536 begins like a
        header extension, which @discordjs/voice cuts off by mistake. Such silence packets
        are dropped here, and others are recorded."""
        misread = is_audio(data) and not data[0] & 16 and data[12:14] == EXTENSION
        if misread and len(data) > SILENCE:
            self.misread.append(data)
        return not misread or len(data) != SILENCE

    async def pump(self, reader, writer, change):
        try:
            while data := await reader.read(65536):
                writer.write(change(data))
                await writer.drain()
        except (OSError, ssl.SSLError):
            pass
        writer.close()

    async def serve(self, reader, writer):
        try:
            head = await reader.readuntil(b"\r\n")
            server_reader, server_writer = await asyncio.open_connection("127.0.0.1",
                                                                         self.server_port)
        except (OSError, asyncio.IncompleteReadError):
            writer.close()
            return
        self.writers += [writer, server_writer]
        if head.startswith(b"GET /voice"):
            self.voice.append(writer)
        server_writer.write(head)
        await asyncio.gather(self.pump(reader, server_writer, lambda data: data),
                             self.pump(server_reader, writer, self.to_client))

    def cut_voice(self):
        """Aborts all WebSockets of the voice gateway, like a broken network."""
        async def abort():
            for writer in self.voice:
                writer.transport.abort()
            self.voice.clear()
        self.call(abort())

    def close(self):
        async def end():
            self.server.close()
            for writer in self.writers:
                writer.transport.abort()
            pumps = asyncio.all_tasks() - {asyncio.current_task()}
            if pumps:
                await asyncio.wait(pumps, timeout=20)
        self.call(end())
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join(30)

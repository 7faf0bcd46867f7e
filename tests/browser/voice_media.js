// voice_media.js - tests sound between a browser (WebRTC) and a UDP client in one voice room.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { createCipheriv, createDecipheriv } from "node:crypto";
import { createSocket } from "node:dgram";
import { call, enter, server } from "./harness.js";
import { Speaker, WebSocket, until } from "./demo_server.js";

const PACKETS = 25; // half a second of sound
const MODE = "aead_aes256_gcm_rtpsize", OPUS_TYPE = 120, HEADER = 12, TAG = 16, COUNTER = 4;
const SILENCE = Buffer.from([0xf8, 0xff, 0xfe]);

/** A voice client that sends and receives audio by UDP. */
export class UdpSpeaker extends Speaker {
  received = new Map(); // packets by SSRC
  sent = 0;
  connect({ me, session, token, endpoint, guild_id: guild }) {
    return new Promise((done, fail) => {
      this.socket = createSocket("udp4");
      this.socket.on("message", (m) => this.receive(m));
      this.voice = new WebSocket(`ws://${endpoint}?v=8`);
      this.voice.onerror = fail;
      this.voice.onmessage = (e) => {
        const { op, d } = JSON.parse(e.data), send = (o, data) => this.voice.send(JSON.stringify({ op: o, d: data }));
        if (op === 8) send(0, { server_id: guild, user_id: me, session_id: session, token });
        if (op === 2) {
          Object.assign(this, { ssrc: d.ssrc, port: d.port });
          const ask = Buffer.alloc(74);
          ask.writeUInt16BE(1, 0);
          ask.writeUInt16BE(70, 2);
          ask.writeUInt32BE(d.ssrc, 4);
          this.found = () => send(1, { protocol: "udp", data: { address: "127.0.0.1", port: 9, mode: MODE } });
          this.socket.send(ask, this.port, "127.0.0.1");
        }
        if (op === 4) {
          this.key = Buffer.from(d.secret_key);
          send(5, { speaking: 1, delay: 0, ssrc: this.ssrc });
          this.timer = setInterval(() => this.say(), 20);
          done();
        }
      };
    });
  }
  receive(m) {
    if (!this.key) { this.found(); return; }
    const nonce = Buffer.concat([m.subarray(-COUNTER), Buffer.alloc(8)]), body = m.subarray(HEADER, -COUNTER);
    const cipher = createDecipheriv("aes-256-gcm", this.key, nonce).setAAD(m.subarray(0, HEADER)).setAuthTag(body.subarray(-TAG));
    Buffer.concat([cipher.update(body.subarray(0, -TAG)), cipher.final()]);
    assert.equal(m[0], 0x80);
    assert.equal(m[1] & 0x7f, OPUS_TYPE);
    const ssrc = m.readUInt32BE(8);
    this.received.set(ssrc, (this.received.get(ssrc) ?? 0) + 1);
  }
  say() {
    const header = Buffer.alloc(HEADER), nonce = Buffer.alloc(HEADER);
    header.writeUInt16BE(0x8000 | OPUS_TYPE, 0);
    header.writeUInt16BE(this.sent & 0xffff, 2);
    header.writeUInt32BE(this.sent * 960, 4);
    header.writeUInt32BE(this.ssrc, 8);
    nonce.writeUInt32BE(this.sent++, 0);
    const cipher = createCipheriv("aes-256-gcm", this.key, nonce).setAAD(header);
    const body = Buffer.concat([cipher.update(SILENCE), cipher.final()]);
    this.socket.send(Buffer.concat([header, body, cipher.getAuthTag(), nonce.subarray(0, COUNTER)]), this.port, "127.0.0.1");
  }
  end() {
    clearInterval(this.timer);
    this.socket.close();
    super.end();
  }
}

/** A user whose voice connection runs in a page. */
class BrowserSpeaker extends Speaker {
  constructor(page, ...rest) {
    super(...rest);
    this.page = page;
  }
  /** @param {{shows?: boolean, sees?: boolean, alone?: boolean}} wants whether it sends or receives video, whether it is the first in the room */
  connect(known) { return this.page.evaluate(joinVoice, { ...known, ...this.wants }); }
  wants = {};
  stats() { return this.page.evaluate(() => globalThis.voiceStats()); }
  end() { this.main.close(); }
}

/** Runs in the page: does what Discord's client does on the voice gateway. */
async function joinVoice({ me, session, token, endpoint, guild_id: guild, shows, sees, alone }) {
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true, video: Boolean(shows) });
  const peer = new RTCPeerConnection({ bundlePolicy: "max-bundle" });
  peer.addTransceiver(stream.getAudioTracks()[0], { direction: "sendrecv" });
  if (shows) peer.addTransceiver(stream.getVideoTracks()[0], { direction: "sendonly" });
  if (sees) peer.addTransceiver("video", { direction: "recvonly" });
  const socket = new WebSocket(`ws://${endpoint}?v=8`);
  const send = (op, d) => socket.send(JSON.stringify({ op, d }));
  let description = null, other = null, picture = 0, own = 0, opus = 0, answered = false;
  const VP8 = { type: 0, rtx: 0 };
  globalThis.voiceStats = async () => {
    const found = { state: peer.connectionState, own, sent: 0, received: {}, decoded: 0, bitrate: 0, closed: socket.readyState > 1 };
    for (const s of (await peer.getStats()).values()) {
      if (s.type === "outbound-rtp") found.sent += s.packetsSent;
      if (s.type === "inbound-rtp") found.received[s.ssrc] = s.packetsReceived;
      if (s.type === "inbound-rtp" && s.kind === "video") found.decoded = s.framesDecoded;
      if (s.type === "candidate-pair" && s.availableOutgoingBitrate) found.bitrate = s.availableOutgoingBitrate;
    }
    return found;
  };
  const offer = async () => {
    await peer.setLocalDescription(await peer.createOffer());
    const lines = peer.localDescription.sdp.split("\r\n");
    own = Number(/^a=ssrc:(\d+)/m.exec(peer.localDescription.sdp)[1]);
    opus = Number(/^a=rtpmap:(\d+) opus/m.exec(peer.localDescription.sdp)[1]);
    VP8.type = Number(/^a=rtpmap:(\d+) VP8/m.exec(peer.localDescription.sdp)?.[1]);
    VP8.rtx = Number(new RegExp(`^a=fmtp:(\\d+) apt=${VP8.type}`, "m").exec(peer.localDescription.sdp)?.[1]);
    const fragment = [...new Set(lines.filter((l) => /^a=(extmap|ice-|fingerprint:)/.test(l) || /^a=rtpmap:\d+ opus/.test(l)))].join("\n");
    send(1, { protocol: "webrtc", data: fragment, sdp: fragment, codecs: [{ name: "opus", type: "audio", priority: 1000, payload_type: opus }, { name: "VP8", type: "video", priority: 1000, payload_type: VP8.type, rtx_payload_type: VP8.rtx }], rtc_connection_id: crypto.randomUUID() });
  };
  /** The client writes the answer itself, once it knows the server and the SSRC of the other user. */
  const answer = async () => {
    if (!description || (!other && !alone) || (sees && !picture) || answered) return;
    answered = true;
    const lines = description.split("\n").filter((l) => /^(c=|a=(ice-|candidate|fingerprint))/.test(l));
    const port = /^m=audio (\d+)/m.exec(description)[1];
    const local = peer.localDescription.sdp, video = shows || sees;
    const transport = [...new Set(lines), "a=rtcp-mux", "a=setup:passive", ...new Set(local.split("\r\n").filter((l) => /^a=extmap:\d+ .*transport-wide-cc/.test(l)))];
    const audioLines = [`m=audio ${port} UDP/TLS/RTP/SAVPF ${opus}`, ...transport, "a=mid:0", "a=sendrecv", `a=rtpmap:${opus} opus/48000/2`, `a=rtcp-fb:${opus} transport-cc`, ...(other ? [`a=ssrc:${other} cname:other`] : [])];
    const videoLines = [`m=video ${port} UDP/TLS/RTP/SAVPF ${VP8.type} ${VP8.rtx}`, ...transport, "a=mid:1", shows ? "a=recvonly" : "a=sendonly", `a=rtpmap:${VP8.type} VP8/90000`, `a=rtpmap:${VP8.rtx} rtx/90000`, `a=fmtp:${VP8.rtx} apt=${VP8.type}`, ...["nack", "nack pli", "ccm fir", "transport-cc"].map((f) => `a=rtcp-fb:${VP8.type} ${f}`), ...(sees ? [`a=ssrc-group:FID ${picture} ${picture + 1}`, `a=ssrc:${picture} cname:other`, `a=ssrc:${picture + 1} cname:other`] : [])];
    const sdp = ["v=0", "o=- 1 1 IN IP4 127.0.0.1", "s=-", "t=0 0", `a=group:BUNDLE 0${video ? " 1" : ""}`, ...audioLines, ...(video ? videoLines : []), ""].join("\r\n");
    await peer.setRemoteDescription({ type: "answer", sdp });
    const [, ssrc, rtx] = (shows && /^a=ssrc-group:FID (\d+) (\d+)/m.exec(local)) || [0, 0, 0];
    send(12, { audio_ssrc: own, video_ssrc: Number(ssrc), rtx_ssrc: Number(rtx), streams: shows ? [{ type: "video", rid: "100", ssrc: Number(ssrc), rtx_ssrc: Number(rtx), active: true, quality: 100 }] : [] });
    if (sees) send(15, { any: 100 });
    send(5, { speaking: 1, delay: 0, ssrc: own });
  };
  return new Promise((done, fail) => {
    socket.onclose = (e) => fail(new Error(`closed with ${e.code} ${e.reason}`));
    socket.onmessage = async (e) => {
      const { op, d } = JSON.parse(e.data);
      if (op === 8) send(0, { server_id: guild, user_id: me, session_id: session, token, video: true });
      if (op === 2) await offer();
      if (op === 4) description = d.sdp;
      if (op === 5) other = d.ssrc;
      if (op === 12 && d.video_ssrc) picture = d.video_ssrc;
      if (op === 4 || op === 5 || op === 12) await answer();
    };
    peer.onconnectionstatechange = () => {
      if (peer.connectionState === "connected") done();
      if (peer.connectionState === "failed") fail(new Error("the peer connection failed"));
    };
  });
}

export const TESTS = {
  async browser_and_udp_client_exchange_audio() {
    const channels = await call("ada", "GET", `/guilds/${server().guild}/channels`);
    const room = channels.find((c) => c.name === "Tea table").id;
    const bob = new UdpSpeaker(server(), "bob", room), page = await enter("cleo");
    await page.open("/favicon.ico");
    const cleo = new BrowserSpeaker(page, server(), "cleo", room);
    await bob.begin();
    await cleo.begin();
    await until("the UDP client receives audio of the browser", () => Math.max(0, ...bob.received.values()) >= PACKETS);
    await until("the browser receives audio of the UDP client", async () => ((await cleo.stats()).received[bob.ssrc] ?? 0) >= PACKETS);
    const listed = JSON.parse(`[${execFileSync(server().executable, ["sessions", "voice", "--data", server().data, "--json"], { encoding: "utf8" }).trim().split("\n").join(",")}]`);
    assert.deepEqual(listed.map((s) => [s.transport, s.mode]).sort(), [["udp", MODE], ["webrtc", "srtp_aead_aes_128_gcm"]]);
    const { own, sent, state } = await cleo.stats();
    assert.equal(state, "connected");
    assert.ok(sent >= PACKETS);
    assert.equal(bob.received.size, 1);
    assert.ok(!bob.received.has(own), "the SSRC of the browser is replaced by that of the room");
    bob.end();
    cleo.end();
    await page.close();
  },

  async browser_sees_the_video_of_another_browser() {
    const channels = await call("ada", "GET", `/guilds/${server().guild}/channels`);
    const room = channels.find((c) => c.name === "Tea table").id;
    const pages = [await enter("dara"), await enter("emil")];
    for (const page of pages) await page.open("/favicon.ico");
    const dara = new BrowserSpeaker(pages[0], server(), "dara", room), emil = new BrowserSpeaker(pages[1], server(), "emil", room);
    dara.wants = { shows: true, alone: true };
    emil.wants = { sees: true };
    await dara.begin();
    dara.main.send(JSON.stringify({ op: 4, d: { guild_id: server().guild, channel_id: room, self_mute: false, self_deaf: false, self_video: true } }));
    await emil.begin();
    await until("the other browser decodes video", async () => (await emil.stats()).decoded >= PACKETS);
    // Without transport-wide feedback the estimated bit rate stays at 300 kbit/s.
    await until("the estimated bit rate rises", async () => (await dara.stats()).bitrate >= 500000);
    dara.end();
    emil.end();
    for (const page of pages) await page.close();
  },
};

// voice_page.js - tests voice in the pages: sound and video between two users, mute, deafen, push to talk, volumes,
// streams, private calls, refused devices. The microphone of a page is a continuous tone and its camera is the small
// fake one of the browser, so that no condition depends on the moment of a measurement or on the speed of the machine.
import assert from "node:assert/strict";
import { call, enter, options, picture, server, worker } from "./harness.js";
import { Server, until } from "./demo_server.js";
import { frequencyOf } from "./tones.js";
import { UdpSpeaker } from "./voice_media.js";

const SILENT = 0.001, PACKETS = 25, LOUD = 0.02, NEAR_HERTZ = 15, TONE_HERTZ = 500, SCREEN_HERTZ = 880, QUIET_MS = 700, MOST_MUTED_PACKETS_PER_SECOND = 10;
/** Silence of one second as MP3: frames of 128 kbit/s without any data. */
const MP3 = Buffer.concat(Array.from({ length: 38 }, () => Buffer.concat([Buffer.from([0xff, 0xfb, 0x90, 0x64]), Buffer.alloc(413)])));

/** Runs in the page before its scripts: measures the sound that it plays, and keeps its connections. */
function listen() {
  const connect = AudioNode.prototype.connect, meters = [];
  AudioNode.prototype.connect = function (to, ...rest) {
    if (to instanceof AudioDestinationNode) {
      const meter = new AnalyserNode(this.context, { fftSize: 8192 });
      meters.push(meter);
      connect.call(this, meter);
    }
    return connect.call(this, to, ...rest);
  };
  /** The samples of the last 170 ms. */
  const samplesOf = (m) => {
    const samples = new Float32Array(m.fftSize);
    m.getFloatTimeDomainData(samples);
    return samples;
  };
  const loudest = (samples) => samples.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  globalThis.loudness = () => Math.max(0, ...meters.map((m) => loudest(samplesOf(m))));
  /** The frequencies of the sounds that are at least this loud. */
  globalThis.tones = (loud) => meters.map((m) => [samplesOf(m), m.context.sampleRate]).filter(([samples]) => loudest(samples) >= loud).map((x) => globalThis.frequencyOf(...x));
  const Peer = globalThis.RTCPeerConnection, peers = [];
  globalThis.RTCPeerConnection = class extends Peer {
    constructor(...args) {
      super(...args);
      peers.push(this);
    }
  };
  const Socket = globalThis.WebSocket;
  globalThis.voiceSockets = [];
  globalThis.WebSocket = class extends Socket {
    constructor(url, ...rest) {
      super(url, ...rest);
      if (url.includes("/voice")) globalThis.voiceSockets.push(this);
    }
  };
  const start = AudioBufferSourceNode.prototype.start;
  globalThis.played = 0;
  AudioBufferSourceNode.prototype.start = function (...args) {
    globalThis.played++;
    return start.apply(this, args);
  };
  globalThis.sentAudio = async () => {
    const sent = { packets: 0, at: 0 };
    for (const p of peers)
      for (const s of p.connectionState === "closed" ? [] : (await p.getStats()).values())
        if (s.type === "outbound-rtp" && s.kind === "audio") { sent.packets += s.packetsSent; sent.at = s.timestamp; }
    return sent;
  };
  globalThis.rtp = async (type, field, ssrc) => {
    let sum = 0;
    for (const p of peers) if (p.connectionState !== "closed") for (const s of (await p.getStats()).values()) if (s.type === type && (!ssrc || s.ssrc === ssrc)) sum += s[field] || 0;
    return sum;
  };
}

export const rtp = (page, ...what) => page.evaluate((x) => globalThis.rtp(...x), what);
const loudest = (page, ms) => page.evaluate(async (time) => {
  let most = 0;
  for (const end = performance.now() + time; performance.now() < end; await new Promise((go) => setTimeout(go, 50))) most = Math.max(most, globalThis.loudness());
  return most;
}, ms);
/** Waits until no sound is played. Tones are continuous, so it stays quiet then. */
const quiet = (page, words) => until(words, async () => (await loudest(page, QUIET_MS)) < SILENT);
const receivesSound = (page, words) => until(words, async () => (await page.evaluate(() => globalThis.loudness())) > LOUD);
/** Waits until a page plays a tone that it received. @param {{evaluate: Function}} page @param {number} hertz */
export async function receivesTone(page, hertz) {
  let tones = [];
  const near = async () => (tones = await page.evaluate((loud) => globalThis.tones(loud), LOUD)).some((x) => Math.abs(x - hertz) <= NEAR_HERTZ);
  await until(`a page receives ${hertz} Hz`, near).catch((e) => { throw new Error(`${e.message}: it receives ${tones}`); });
}
/** Returns a script that makes a tone the sound of the microphone, and the picture of the camera small. @param {number} hertz */
export const playTone = (hertz) => `(${(frequency) => {
  const devices = globalThis.MediaDevices?.prototype, getUserMedia = devices?.getUserMedia;
  if (devices) devices.getUserMedia = async function (wants) {
    if (!wants.audio) return getUserMedia.call(this, { video: { width: 320, height: 180, frameRate: 10 } });
    globalThis.wantedMicrophone = wants.audio.deviceId?.ideal ?? "";
    const context = new AudioContext(), out = new MediaStreamAudioDestinationNode(context);
    const tone = new OscillatorNode(context, { frequency });
    tone.connect(new GainNode(context, { gain: 0.4 })).connect(out);
    tone.start();
    return out.stream;
  };
}})(${hertz})`;
/** Returns a script that makes a tone the sound of a shared screen. @param {number} hertz */
const playToneOnScreen = (hertz) => `(${(frequency) => {
  const devices = globalThis.MediaDevices?.prototype, getDisplayMedia = devices?.getDisplayMedia;
  if (devices) devices.getDisplayMedia = async function (wants) {
    const screen = await getDisplayMedia.call(this, { video: wants.video });
    const context = new AudioContext(), out = new MediaStreamAudioDestinationNode(context);
    const tone = new OscillatorNode(context, { frequency });
    tone.connect(new GainNode(context, { gain: 0.4 })).connect(out);
    tone.start();
    if (wants.audio) screen.addTrack(out.stream.getAudioTracks()[0]);
    return screen;
  };
}})(${hertz})`;
/** The script that measures what a page plays. */
export const LISTEN = `globalThis.frequencyOf = ${frequencyOf};\n(${listen})()`;
export const roomOf = async (name) => (await call("ada", "GET", `/guilds/${server().guild}/channels`)).find((c) => c.name === name).id;
const button = (page, name) => page.getByRole("button", { name, exact: true }).first();
const connected = (page) => page.locator(".voice-bar").getByText("Voice connected").waitFor();
const tile = (page, name) => page.locator(".voice-tile").filter({ hasText: name });

async function visitor(name, path, kind, ...scripts) {
  const page = await enter(name, kind);
  for (const content of [LISTEN, playTone(TONE_HERTZ), ...scripts]) await page.addInitScript({ content });
  await page.open(path);
  return page;
}

/** @param {string} name @param {string} room @param {object} [kind] of the window @param {string[]} scripts to run before those of the page */
export async function join(name, room, kind, ...scripts) {
  const page = await visitor(name, `/channels/${server().guild}/${room}`, kind, ...scripts);
  await button(page, "Join voice").click();
  await connected(page);
  return page;
}

export const TESTS = {
  async two_pages_exchange_sound_and_video() {
    const room = await roomOf("Tea table"), [ada, bob] = await Promise.all([join("ada", room), join("bob", room)]);
    await Promise.all([receivesSound(ada, "Ada hears Bob"), receivesSound(bob, "Bob hears Ada")]);
    await until("Bob receives packets", async () => (await rtp(bob, "inbound-rtp", "packetsReceived")) >= PACKETS);
    await tile(bob, "Ada").and(bob.locator(".speaking")).waitFor();
    await bob.getByText("Not end-to-end encrypted").click();
    await bob.getByText("The server could listen").waitFor();
    await bob.locator(".voice-bar").getByText(/\d+ ms, \d+ % lost/).waitFor();
    // The volume of one user is stored.
    const volume = async (percent) => {
      await button(bob, "Actions for Ada").click();
      await bob.getByLabel("User volume").fill(String(percent));
      await bob.keyboard.press("Escape");
    };
    await volume(0);
    await quiet(bob, "Ada is silent for Bob");
    assert.deepEqual(Object.values(await bob.evaluate(() => JSON.parse(localStorage.getItem("voice")).volumes)), [0]);
    await volume(200);
    await receivesSound(bob, "Ada is loud");
    // While the user is muted, nothing is sent.
    await button(ada, "Mute").click();
    await tile(bob, "Ada").getByText("muted").waitFor();
    await quiet(bob, "Ada is muted");
    // The rate by the browser's own clock does not depend on the time between two readings. Sound has 50 packets a second.
    let before = await ada.evaluate(() => globalThis.sentAudio()), rate = 0;
    await until("a muted page sends no sound", async () => {
      await loudest(ada, QUIET_MS);
      const now = await ada.evaluate(() => globalThis.sentAudio());
      rate = (1000 * (now.packets - before.packets)) / (now.at - before.at || 1);
      before = now;
      return rate <= MOST_MUTED_PACKETS_PER_SECOND;
    }).catch((e) => { throw new Error(`${e.message}: it sends ${rate} packets per second`); });
    // Deafen: nothing is played.
    await button(ada, "Deafen").click();
    await quiet(ada, "Ada hears nothing");
    await button(ada, "Unmute").click();
    await receivesSound(bob, "Ada speaks again");
    // Camera.
    await button(ada, "Turn on camera").click();
    await tile(bob, "Ada").locator("video").waitFor();
    await until("Bob decodes video", async () => (await rtp(bob, "inbound-rtp", "framesDecoded")) >= 10);
    await tile(bob, "Ada").getByRole("button", { name: "Show Ada large" }).click();
    await bob.locator(".voice-tile.large video").waitFor();
    await picture(bob, "voice");
    await Promise.all([ada, bob].map((page) => page.close()));
  },

  async refused_microphone_is_explained_and_push_to_talk_works() {
    const room = await roomOf("Tea table"), dara = await join("dara", room);
    const cleo = await visitor("cleo", `/channels/${server().guild}/${room}`);
    const refuse = (name) => cleo.evaluate((kind) => {
      navigator.mediaDevices.getUserMedia = () => Promise.reject(new DOMException("no", kind));
    }, name);
    await refuse("NotFoundError");
    await button(cleo, "Join voice").click();
    const problem = cleo.getByRole("alert");
    await problem.getByText("No microphone was found.").waitFor();
    await connected(cleo); // listening works without a microphone
    await receivesSound(cleo, "Cleo hears Dara");
    const secure = (value) => cleo.evaluate((x) => Object.defineProperty(globalThis, "isSecureContext", { value: x, configurable: true }) && 0, value);
    await secure(false);
    await button(cleo, "Try again").click();
    await problem.getByText("Browsers give microphone and camera only to pages on https or localhost.").waitFor();
    await secure(true);
    await refuse("NotAllowedError");
    await button(cleo, "Try again").click();
    await problem.getByText("The browser blocks the microphone.").waitFor();
    await button(cleo, "Turn on camera").click();
    await cleo.getByText("The browser blocks the camera.").waitFor();
    await cleo.evaluate(() => delete navigator.mediaDevices.getUserMedia);
    await button(cleo, "Try again").click();
    await receivesSound(dara, "Dara hears Cleo");
    await cleo.evaluate(() => {
      navigator.mediaDevices.enumerateDevices = async () => [/** @type {any} */ ({ kind: "audioinput", deviceId: "usb", label: "USB microphone" })];
    });
    await button(cleo, "Voice settings").click();
    await until("the level is shown", async () => (await cleo.getByLabel("Input level").evaluate((m) => m.value)) > -40);
    // Another microphone is opened at once.
    await cleo.getByLabel("Microphone", { exact: true }).selectOption({ label: "USB microphone" });
    await until("the chosen microphone is opened", () => cleo.evaluate(() => globalThis.wantedMicrophone === "usb"));
    await receivesSound(dara, "Dara hears Cleo with the other microphone");
    // The tone is quieter than the input sensitivity requires.
    await cleo.getByLabel("Input sensitivity").fill("0");
    await quiet(dara, "Cleo is too quiet");
    await cleo.getByLabel("Input sensitivity").fill("-50");
    await receivesSound(dara, "Cleo is loud enough");
    await cleo.getByLabel("Input mode").selectOption({ label: "Push to talk" });
    const key = cleo.getByRole("button", { name: "Key for push to talk" });
    await key.click();
    await cleo.keyboard.press("F8");
    await key.getByText("F8").waitFor();
    await cleo.keyboard.press("Escape");
    await quiet(dara, "the key is not pressed");
    await cleo.keyboard.down("F8");
    await receivesSound(dara, "the key is pressed");
    await tile(cleo, "Cléo").and(cleo.locator(".speaking")).waitFor();
    await cleo.keyboard.up("F8");
    await tile(cleo, "Cléo").and(cleo.locator(":not(.speaking)")).waitFor();
    await Promise.all([cleo, dara].map((page) => page.close()));
  },

  async audience_of_a_stage_receives_sound_and_sends_it_when_invited() {
    const guild = server().guild, stage = (await call("ada", "GET", `/guilds/${guild}/channels`)).find((c) => c.type === 13);
    const ada = await join("ada", stage.id);
    await call("ada", "PATCH", `/guilds/${guild}/voice-states/@me`, { channel_id: stage.id, suppress: false });
    const emil = await join("emil", stage.id);
    await receivesSound(emil, "Emil hears Ada");
    await button(emil, "Raise your hand").waitFor();
    await quiet(ada, "the audience is not heard");
    await call("ada", "PATCH", `/guilds/${guild}/voice-states/${(await call("emil", "GET", "/users/@me")).id}`, { channel_id: stage.id, suppress: false });
    await button(emil, "Accept and speak").click();
    await receivesSound(ada, "Ada hears Emil");
    await button(emil, "Back to the audience").click();
    await quiet(ada, "Emil is in the audience again");
    await Promise.all([ada, emil].map((page) => page.close()));
  },

  async page_and_udp_client_exchange_sound() {
    const room = await roomOf("Tea table"), client = new UdpSpeaker(server(), "cleo", room);
    const sound = `data:audio/mpeg;base64,${MP3.toString("base64")}`;
    await call("ada", "POST", `/guilds/${server().guild}/soundboard-sounds`, { name: "Gong", sound });
    const [page] = await Promise.all([join("dara", room), client.begin()]);
    await until("the client hears the page", () => Math.max(0, ...client.received.values()) >= PACKETS);
    await until("the page hears the client", async () => (await rtp(page, "inbound-rtp", "packetsReceived", client.ssrc)) >= PACKETS);
    await button(page, "Soundboard").click();
    await button(page, "Gong").click();
    await until("the sound is played", () => page.evaluate(() => globalThis.played > 0));
    client.end();
    await page.close();
  },

  async page_says_why_it_cannot_join_an_encrypted_call() {
    const own = worker(), before = own.server;
    own.server = new Server(options.executable);
    try {
      await own.server.begin("--voice-e2ee", "require");
      const page = await visitor("ada", `/channels/${server().guild}/${await roomOf("Tea table")}`, { fresh: true });
      await button(page, "Join voice").click();
      await page.getByRole("alert").getByText("This server allows only end-to-end encrypted calls").first().waitFor();
      await button(page, "Join voice").waitFor();
      await page.close();
    } finally {
      await own.server.end();
      own.server = before;
    }
  },

  async page_reconnects_and_follows_a_move() {
    const room = await roomOf("Tea table"), [emil, dara] = await Promise.all([join("emil", room), join("dara", room)]);
    const path = `/guilds/${server().guild}/members/${(await call("emil", "GET", "/users/@me")).id}`;
    await emil.evaluate(() => globalThis.voiceSockets.at(-1).close(4000));
    await until("there is a new connection", () => emil.evaluate(() => globalThis.voiceSockets.length > 1));
    await connected(emil);
    await receivesSound(dara, "Dara hears Emil");
    await call("ada", "PATCH", path, { mute: true });
    await emil.getByText("A moderator muted you").waitFor();
    await quiet(dara, "Emil is muted");
    await call("ada", "PATCH", path, { mute: false, channel_id: await roomOf("Workbench") });
    await emil.locator(".voice-bar").getByText("Workbench").waitFor();
    await connected(emil);
    await call("ada", "PATCH", path, { channel_id: null });
    await emil.locator(".voice-bar").waitFor({ state: "detached" });
    await Promise.all([emil, dara].map((page) => page.close()));
  },

  async camera_and_screen_that_open_after_leaving_are_stopped() {
    const room = await roomOf("Tea table"), page = await join("cleo", room);
    await page.evaluate(() => {
      const devices = /** @type {any} */ (navigator.mediaDevices);
      for (const name of ["getUserMedia", "getDisplayMedia"]) {
        const open = devices[name].bind(devices);
        devices[name] = async (wants) => {
          const stream = await open(wants);
          if (wants.video) await new Promise((go) => { globalThis.opening = { stream, go }; });
          return stream;
        };
      }
    });
    for (const name of ["Turn on camera", "Share your screen"]) {
      await button(page, name).click();
      await until("the device is opening", () => page.evaluate(() => Boolean(globalThis.opening)));
      await button(page, "Leave voice").click();
      await page.locator(".voice-bar").waitFor({ state: "detached" });
      assert.deepEqual(await page.evaluate(() => globalThis.opening.stream.getVideoTracks().map((t) => t.readyState)), ["live"]);
      await page.evaluate(() => globalThis.opening.go());
      await until(`the device is stopped after "${name}"`, () => page.evaluate(() => globalThis.opening.stream.getTracks().every((t) => t.readyState === "ended")));
      await page.evaluate(() => { globalThis.opening = null; });
      await button(page, "Join voice").click();
      await connected(page);
      const state = await call("cleo", "GET", `/guilds/${server().guild}/voice-states/@me`);
      assert.deepEqual([state.self_video, Boolean(state.self_stream)], [false, false]);
      assert.equal(await page.locator(".voice-tile video").count(), 0);
    }
    await page.close();
  },

  async private_call_rings_and_shares_a_screen() {
    const people = await Promise.all(["ada", "bob"].map((name) => call(name, "GET", "/users/@me")));
    const { id } = await call("ada", "POST", "/users/@me/channels", { recipient_id: people[1].id });
    const [ada, bob] = await Promise.all([visitor("ada", `/channels/@me/${id}`, undefined, playToneOnScreen(SCREEN_HERTZ)), visitor("bob", "/friends")]);
    await bob.getByRole("heading", { name: "Friends" }).waitFor();
    const ring = async () => {
      await button(ada, "Call").click();
      await ada.getByRole("menuitem", { name: "Voice call" }).click();
      await bob.getByRole("alertdialog", { name: "Incoming call" }).waitFor();
    };
    await ring();
    await picture(bob, "incoming-call");
    await button(bob, "Decline").click();
    await bob.getByRole("alertdialog").waitFor({ state: "hidden" });
    await button(ada, "Leave voice").click();
    await ring();
    await button(bob, "Accept").click();
    await connected(bob);
    await Promise.all([receivesSound(ada, "Ada hears Bob"), receivesSound(bob, "Bob hears Ada")]);
    await button(ada, "Share your screen").click();
    await button(bob, "Watch stream").click();
    await bob.locator(".voice-tile.stream video").waitFor();
    await until("Bob decodes the screen", async () => (await rtp(bob, "inbound-rtp", "framesDecoded")) >= 5);
    await button(ada, "Mute").click(); // only the sound of the screen is left
    await receivesTone(bob, SCREEN_HERTZ);
    // No tile covers the buttons of the call, in the grid and when one tile is large.
    const controls = ada.getByRole("group", { name: "Voice controls" }), buttons = ["Unmute", "Stop sharing", "Disconnect"];
    const reachable = async () => { for (const name of buttons) await controls.getByRole("button", { name, exact: true }).click({ trial: true }); };
    await reachable();
    await ada.getByText("Not end-to-end encrypted").click({ trial: true });
    await picture(ada, "call-grid");
    await ada.getByRole("button", { name: "Show Stream of Ada large" }).click();
    await reachable();
    await picture(ada, "call-focus");
    await ada.getByRole("button", { name: "Back to the grid" }).click();
    await controls.getByRole("button", { name: "Stop sharing" }).click();
    await bob.locator(".voice-tile.stream").waitFor({ state: "detached" });
    await quiet(bob, "the screen is no longer shared");
    await button(bob, "Leave voice").click();
    await Promise.all([ada, bob].map((page) => page.close()));
  },
};

// voice-recorder.js - records a voice message with its waveform.
import { fill, h } from "./dom.js";
import { icon, iconButton } from "./icons.js";
import { t } from "./translate.js";

const MOST_MS = 20 * 60 * 1000,
  SAMPLE_MS = 100,
  MOST_POINTS = 256,
  VOICE_MESSAGE = 1 << 13;
/** Media types in which browsers can record. The server derives the type from the extension of the file name. */
const TYPES = [
  ["audio/ogg", "ogg"],
  ["audio/webm", "weba"],
  ["audio/mp4", "m4a"],
];
const minutes = (ms) => `${Math.floor(ms / 60000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, "0")}`;

/** Encodes loudness values as base64, for the field `waveform` of the API. @param {number[]} levels 0 to 1 */
function waveform(levels) {
  const n = Math.min(MOST_POINTS, Math.max(1, levels.length));
  const points = Array.from({ length: n }, (_, i) => levels[Math.floor((i * levels.length) / n)] ?? 0);
  return btoa(String.fromCharCode(...points.map((v) => Math.min(255, Math.round(v * 255)))));
}

export const canRecord = () => "MediaRecorder" in window && !!navigator.mediaDevices?.getUserMedia;

/** Returns a sentence about why the microphone cannot be used. @param {any} e */
function reasonOf(e) {
  if (e.name === "NotAllowedError")
    return t("The browser blocks the microphone. Allow it in the page settings of the browser.");
  if (e.name === "NotFoundError") return t("No microphone was found. Connect one and try again.");
  return t("The recording failed: {reason}", { reason: e.message });
}

/**
 * Records a voice message. The element `box` above the message field shows the level, and the buttons Send and Discard.
 * @param {any} app @param {any} channel @param {HTMLElement} box
 */
export async function recordVoice(app, channel, box) {
  const show = (...parts) => fill(box, h("div.recorder", { role: "group", "aria-label": t("Voice message") }, parts));
  const end = () => fill(box);
  const failed = (words) => show(h("p.field-error", { role: "alert" }, words), iconButton("close", t("Dismiss"), end));
  let stream;
  try {
    stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  } catch (e) {
    return failed(reasonOf(e));
  }
  const [type, extension] = TYPES.find(([x]) => MediaRecorder.isTypeSupported(x)) ?? ["", "weba"],
    recorder = new MediaRecorder(stream, type ? { mimeType: type } : {}),
    audio = new AudioContext(),
    meter = new AnalyserNode(audio, { fftSize: 1024 });
  audio.createMediaStreamSource(stream).connect(meter);
  const chunks = /** @type {Blob[]} */ ([]),
    levels = /** @type {number[]} */ ([]),
    began = performance.now();
  const samples = new Float32Array(meter.fftSize),
    time = h("span", { role: "timer" }, "0:00"),
    bar = h("meter", { min: 0, max: 1, "aria-label": t("Loudness") });
  const timer = setInterval(() => {
    meter.getFloatTimeDomainData(samples);
    const level = Math.min(1, 3 * Math.sqrt(samples.reduce((sum, x) => sum + x * x, 0) / samples.length));
    levels.push(level);
    bar.value = level;
    time.textContent = minutes(performance.now() - began);
    if (performance.now() - began > MOST_MS) stop();
    if (!box.isConnected) stop(); // the user has left the channel, so the recording is discarded
  }, SAMPLE_MS);
  const length = { ms: 0 };
  const stop = () => {
    if (recorder.state === "inactive") return;
    length.ms = performance.now() - began;
    clearInterval(timer);
    recorder.stop();
    stream.getTracks().forEach((track) => track.stop());
    audio.close().catch(() => {});
  };
  const stopped = new Promise((go) => (recorder.onstop = () => go(undefined)));
  recorder.ondataavailable = (e) => e.data.size && chunks.push(e.data);
  recorder.start(1000);
  const discard = () => {
    stop();
    end();
  };
  const send = async () => {
    stop();
    await stopped;
    show(h("span", { role: "status" }, t("Sending…")));
    const name = `voice-message.${extension}`,
      form = new FormData();
    const about = { id: "0", filename: name, duration_secs: length.ms / 1000, waveform: waveform(levels) };
    form.append("payload_json", JSON.stringify({ flags: VOICE_MESSAGE, attachments: [about] }));
    form.append("files[0]", new Blob(chunks, { type }), name);
    try {
      await app.rest.post(`/channels/${channel.id}/messages`, form);
      end();
    } catch (e) {
      failed(t("The voice message was not sent: {reason}", { reason: e.words || e.message }));
    }
  };
  const sendButton = h("button.button.primary", { type: "button", onclick: send }, t("Send"));
  show(
    h("span.recording", { "aria-hidden": "true" }, icon("mic")),
    time,
    bar,
    h("button.button.secondary", { type: "button", onclick: discard }, t("Discard")),
    sendButton,
  );
  sendButton.focus();
}

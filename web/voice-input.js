// voice-input.js - the microphone: its level, voice activity and push to talk.
import { preferences } from "./voice-preferences.js";
import { deviceProblem } from "./voice-words.js";

let context = /** @type {AudioContext|null} */ (null),
  gate;

/**
 * Returns the audio context that all voice code shares. It must first be called after a click, because browsers require
 * one.
 * @returns {AudioContext}
 */
export function audioContext() {
  context ??= new AudioContext({ latencyHint: "interactive" });
  if (context.state === "suspended") context.resume().catch(() => {});
  return context;
}

const typing = (e) =>
  e.key.length === 1 && e.target instanceof HTMLElement && /^(INPUT|TEXTAREA|SELECT)$/.test(e.target.tagName);

export class VoiceInput {
  /**
   * Starts without a device.
   * @param {(level: number, open: boolean) => void} onlevel gets the level, and whether sound passes
   */
  constructor(onlevel) {
    this.onlevel = onlevel;
    /** Error text if the microphone cannot be used; otherwise "". */
    this.problem = "";
    this.out = new MediaStreamAudioDestinationNode(audioContext());
    this.pressed = false;
    this.key = (e) => {
      if (!preferences.push || e.code !== preferences.key || (e.type === "keydown" && typing(e))) return;
      if (!e.repeat) this.press(e.type === "keydown");
      e.preventDefault();
    };
    this.blur = () => this.press(false);
    addEventListener("keydown", this.key);
    addEventListener("keyup", this.key);
    addEventListener("blur", this.blur);
  }

  /** The audio track to send. If there is no microphone, the track is silent. */
  get track() {
    return this.out.stream.getAudioTracks()[0];
  }

  /** Opens the microphone that the user has chosen. Called again when the voice preferences have changed. */
  async start() {
    const turn = (this.turn = (this.turn || 0) + 1);
    this.release();
    try {
      const { input, echo, noise } = preferences;
      const stream = await navigator.mediaDevices.getUserMedia({
        audio: {
          deviceId: input ? { ideal: input } : undefined,
          echoCancellation: echo,
          noiseSuppression: noise,
          autoGainControl: noise,
        },
      });
      gate ??= audioContext().audioWorklet.addModule(new URL("./voice-gate.js", import.meta.url).href);
      await gate.catch((e) => {
        gate = undefined; // on failure, the next start loads the worklet again
        stream.getTracks().forEach((track) => track.stop());
        throw e;
      });
      if (turn !== this.turn) return stream.getTracks().forEach((track) => track.stop());
      this.problem = "";
      this.stream = stream;
      this.source = audioContext().createMediaStreamSource(stream);
      this.node = new AudioWorkletNode(audioContext(), "gate");
      this.node.port.onmessage = (e) => this.onlevel(e.data.level, e.data.open);
      this.source.connect(this.node).connect(this.out);
      stream.getTracks()[0].onended = () => this.start(); // if the device was removed, open another one
      this.setRule();
    } catch (e) {
      if (turn === this.turn) this.problem = deviceProblem(e, "microphone");
    }
  }

  press(pressed) {
    if (this.pressed === pressed) return;
    this.pressed = pressed;
    this.setRule();
  }

  /**
   * Tells the audio worklet when the microphone passes sound: while a key is pressed (push to talk), or above a
   * threshold.
   */
  setRule() {
    const { push, sensitivity } = preferences;
    this.node?.port.postMessage({ threshold: 10 ** (sensitivity / 20), talk: push ? this.pressed : null });
  }

  release() {
    this.stream?.getTracks().forEach((track) => {
      track.onended = null;
      track.stop();
    });
    this.source?.disconnect();
    this.node?.disconnect();
    this.stream = this.node = undefined;
  }

  end() {
    this.turn = (this.turn || 0) + 1;
    this.release();
    removeEventListener("keydown", this.key);
    removeEventListener("keyup", this.key);
    removeEventListener("blur", this.blur);
  }
}

// voice-output.js - plays the sound of other users and of the soundboard, each with its own volume.
import { audioContext } from "./voice-input.js";
import { preferences, volumeOf } from "./voice-preferences.js";

export class VoiceOutput {
  constructor() {
    /**
     * Sound that is played: by user id (voice), or by "stream:" and user id (shared screen).
     * @type {Map<string, {gain: GainNode, source: AudioNode, pump: HTMLAudioElement}>}
     */
    this.people = new Map();
    this.master = new GainNode(audioContext());
    this.master.connect(audioContext().destination);
    this.setDevice();
  }

  /** Sets the sound that is played for a name. @param {string} name @param {MediaStream|null} stream */
  set(name, stream) {
    const before = this.people.get(name);
    before?.source.disconnect();
    before?.gain.disconnect();
    if (before) before.pump.srcObject = null;
    this.people.delete(name);
    if (!stream) return;
    // A muted audio element, because Chromium decodes the sound of a WebRTC connection only while an element plays it.
    const pump = new Audio();
    pump.muted = true;
    pump.srcObject = stream;
    pump.play().catch(() => {});
    const source = audioContext().createMediaStreamSource(stream),
      gain = new GainNode(audioContext(), { gain: volumeOf(name) });
    source.connect(gain).connect(this.master);
    this.people.set(name, { gain, source, pump });
  }

  setVolumes(deaf = this.deaf) {
    this.deaf = deaf;
    this.master.gain.value = deaf ? 0 : preferences.volume;
    for (const [name, one] of this.people) one.gain.gain.value = volumeOf(name);
  }

  /** Sets the output device. Only Chromium supports this; other browsers use the default device of the system. */
  setDevice() {
    const audio = /** @type {any} */ (audioContext());
    if (preferences.output || audio.sinkId) audio.setSinkId?.(preferences.output).catch(() => {});
  }

  /** Plays a file. @param {string} url @param {number} volume */
  async play(url, volume) {
    const bytes = await (await fetch(url)).arrayBuffer(),
      buffer = await audioContext().decodeAudioData(bytes),
      source = new AudioBufferSourceNode(audioContext(), { buffer });
    source.connect(new GainNode(audioContext(), { gain: volume })).connect(this.master);
    source.start();
  }

  end() {
    for (const name of [...this.people.keys()]) this.set(name, null);
    this.master.disconnect();
  }
}

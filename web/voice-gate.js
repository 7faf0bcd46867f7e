// voice-gate.js - audio worklet that passes the microphone's sound only while the user speaks, and measures its level.
const scope = /** @type {any} */ (globalThis);
const HOLD_S = 0.4,
  REPORT_S = 0.05,
  STEP = 0.004; // change of the gain per audio sample; the gain goes from 0 to 1 within about 5 ms

class Gate extends scope.AudioWorkletProcessor {
  constructor() {
    super();
    /**
     * When the gate is open: above a threshold, or while the push-to-talk key is pressed (`talk`, else null).
     * @type {{threshold: number, talk: boolean|null}}
     */
    this.rule = { threshold: 0, talk: false };
    this.gain = this.level = this.until = this.next = 0;
    this.open = false;
    this.port.onmessage = (e) => {
      this.rule = e.data;
      this.until = 0;
    };
  }

  process([input], [output]) {
    const from = input[0],
      now = scope.currentTime,
      { talk, threshold } = this.rule;
    let sum = 0;
    for (let i = 0; from && i < from.length; i++) sum += from[i] * from[i];
    const loud = from ? Math.sqrt(sum / from.length) : 0;
    if (loud >= threshold) this.until = now + HOLD_S;
    const open = talk ?? now < this.until;
    for (let i = 0; from && i < from.length; i++) {
      this.gain = Math.min(1, Math.max(0, this.gain + (open ? STEP : -STEP)));
      for (const to of output) to[i] = from[i] * this.gain;
    }
    this.level = Math.max(this.level, loud);
    if (open !== this.open || now >= this.next) {
      this.port.postMessage({ level: this.level, open });
      this.open = open;
      this.level = 0;
      this.next = now + REPORT_S;
    }
    return true;
  }
}

scope.registerProcessor("gate", Gate);

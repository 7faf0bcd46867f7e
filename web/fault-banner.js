// fault-banner.js - a banner on every page while the test server simulates errors or its clock is shifted.
import { fill, h } from "./dom.js";
import { consoleCall } from "./operator.js";
import { t } from "./translate.js";

const EVERY_MS = 3000;

function span(ms) {
  if (ms < 1000) return `${ms} ms`;
  const s = Math.round(ms / 1000);
  /** @type {[number, string][]} */
  const units = [
    [86400, t("d")],
    [3600, "h"],
    [60, "min"],
  ];
  const [size, word] = units.find(([n]) => s >= n) || [1, "s"];
  return `${Math.round((s / size) * 10) / 10} ${word}`;
}

const callWords = ({ method, path }) => (method ? `${method} ${path}` : t("every request to {path}", { path }));

/** Returns the banner's text: the simulated errors and the shift of the clock; "" if there are none. */
function sentence(all, clock) {
  const parts = [],
    late = Math.max(0, ...all.filter((f) => f.path === "events").map((f) => f.delay_ms)),
    faults = all.filter((f) => f.path !== "events");
  if (late) parts.push(t("events are delayed by {time}", { time: span(late) }));
  if (faults.length)
    parts.push(
      faults.length === 1
        ? t("a simulated error is set for {call}", { call: callWords(faults[0]) })
        : t("{n} simulated errors are set", { n: faults.length }),
    );
  if (clock.moved_ms) parts.push(t("the server clock is shifted by {time}", { time: span(clock.moved_ms) }));
  const words = parts.join(t(", and "));
  return words && `${words[0].toUpperCase()}${words.slice(1)}.`;
}

/** The banner. It requests the simulated errors and the clock periodically, until the server refuses the request. */
export class TroubleBar {
  constructor() {
    this.el = h("div.bar.trouble", { role: "status", hidden: true });
    this.words = h("span");
    fill(this.el, this.words, " ", h("button.link", { type: "button", onclick: () => this.takeBack() }, t("Undo")));
    addEventListener("operated", () => this.poll());
    this.poll();
  }
  async poll() {
    const turn = (this.turn = (this.turn || 0) + 1);
    clearTimeout(this.timer);
    try {
      const [faults, clock] = await Promise.all([consoleCall("GET", "/faults"), consoleCall("GET", "/clock")]);
      if (turn !== this.turn) return; // a newer request was sent in the meantime
      const words = sentence(faults, clock);
      if (this.words.textContent !== words) this.words.textContent = words;
      this.el.hidden = !words;
    } catch (e) {
      if (turn !== this.turn) return;
      this.el.hidden = true;
      if (e.status) return; // the server refuses these requests, so no more are sent
    }
    this.timer = setTimeout(() => this.poll(), EVERY_MS);
  }
  async takeBack() {
    await Promise.allSettled([consoleCall("DELETE", "/faults"), consoleCall("POST", "/clock", { reset: true })]);
  }
}

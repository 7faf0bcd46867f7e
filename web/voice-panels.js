// voice-panels.js - the voice panels of the chat page. Their code is loaded when it is first needed.
import { fill, h } from "./dom.js";
import { iconButton } from "./icons.js";
import { t } from "./translate.js";

export class VoicePanels {
  /** @param {any} app */
  constructor(app) {
    this.app = app;
    this.store = app.store;
    /** The panel below the channel list. */
    this.bar = h("div");
  }

  async drawBar() {
    if (!this.bar.firstChild && !this.app.voice.own()) return;
    const { voiceBar } = await import("./voice-bar.js");
    const bar = voiceBar(this.app);
    if (bar !== this.bar.firstChild) fill(this.bar, bar);
  }

  /** Draws the page of a voice channel. @returns {() => void} a function that ends it */
  page(main, channel, head) {
    const box = h("div.scroller", { tabindex: 0 });
    fill(main, head, box);
    return this.fillBox(box, channel);
  }

  /**
   * Draws the panel of a call, above the messages of a private channel.
   * @returns {{el: HTMLElement, end: () => void}}
   */
  panel(channel) {
    const el = h("div.call-panel");
    let end;
    const show = () => {
      if (!end && this.store.voiceOf(channel.id).length) end = this.fillBox(el, channel);
    };
    show();
    const off = [this.store.on("voice", show), this.store.on("calls", show)];
    return {
      el,
      end: () => {
        off.forEach((f) => f());
        end?.();
      },
    };
  }

  fillBox(box, channel) {
    let ended = false,
      page;
    import("./voice-page.js").then(({ voicePage }) => {
      if (ended) return;
      page = voicePage(this.app, channel);
      fill(box, page.el);
    });
    return () => {
      ended = true;
      page?.end();
    };
  }
}

/** The button that starts a call in a private channel. */
export const callButton = (app, channel) =>
  iconButton("phone", t("Call"), async (e) => {
    const at = e.currentTarget;
    (await import("./voice-controls.js")).callMenu(app, channel, at);
  });

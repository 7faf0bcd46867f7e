// announcement.js - a banner with the operator's announcement. The user can dismiss the banner.
import { fill, h } from "./dom.js";
import { iconButton } from "./icons.js";
import { t } from "./translate.js";

const EVERY_MS = 5 * 60 * 1000,
  DISMISSED = "announcement-dismissed";

/** The banner. It requests the announcement every 5 minutes, and when the window becomes visible again. */
export class AnnouncementBar {
  /** @param {any} rest */
  constructor(rest) {
    this.rest = rest;
    this.el = h("div.bar.announcement", { role: "status", hidden: true });
    document.addEventListener("visibilitychange", () => document.hidden || this.poll());
    setInterval(() => document.hidden || this.poll(), EVERY_MS);
    this.poll();
  }
  async poll() {
    if (this.checked > Date.now() - EVERY_MS / 2) return;
    this.checked = Date.now();
    const answer = await this.rest.get("/policies/instance/announcement").catch(() => null);
    if (answer) this.show(answer.announcement);
  }
  /** Shows an announcement that the user has not dismissed. @param {{id: string, content: string} | null} a */
  show(a) {
    this.el.hidden = !a || localStorage.getItem(DISMISSED) === a.id;
    if (!a || this.el.hidden) return;
    const dismiss = () => {
      localStorage.setItem(DISMISSED, a.id);
      this.el.hidden = true;
    };
    fill(this.el, h("span", null, a.content), iconButton("close", t("Dismiss"), dismiss));
  }
}

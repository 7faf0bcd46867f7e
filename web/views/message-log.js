// message-log.js - the messages of the open channel: history, jumps, unread divider, typing, the message field.
import { composer } from "../composer.js";
import { calmly, fill, h, toast } from "../dom.js";
import { MessageList } from "../list.js";
import { message } from "../message.js";
import { startEditing } from "../message-editor.js";
import { older, timeOf } from "../store.js";
import { locale, t } from "../translate.js";
import { beginning } from "./empty-places.js";

const clock = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "short" });

/**
 * Returns the id of the first loaded message that was unread when the channel was opened, or null.
 * @param {import("../store-messages.js").Log} log
 */
function firstUnread(log, me) {
  let found = null;
  if (!log.readTo) return null;
  for (let i = log.list.length - 1; i >= 0 && older(log.readTo, log.list[i].id); i--)
    if (log.list[i].author.id !== me) found = log.list[i].id;
  return found;
}

export class MessageLog {
  /** @param {any} app @param {any} channel */
  constructor(app, channel) {
    this.app = app;
    this.store = app.store;
    this.channel = channel;
    this.log = this.store.log(channel.id);
    /** Error text with a button that tries again; null if the last load succeeded. @type {HTMLElement|null} */
    this.problem = null;
    this.list = new MessageList({
      label: t("Messages in {name}", { name: this.store.nameOfChannel(channel) }),
      render: (m, before) => message(app, channel, m, before, m.id === this.list.mark),
      more: () => this.loadOlder(),
      newer: () => this.loadNewer(),
    });
    this.typing = h("div.typing", { "aria-live": "polite" });
    this.newBar = h("div.new-bar", { hidden: true });
    this.presentButton = h(
      "button.new-messages",
      { type: "button", hidden: true, onclick: () => this.present() },
      h("span"),
    );
    this.composer = composer(app, channel, { sent: () => this.log.detached && this.present() });
    this.el = h("div.log", null, this.newBar, this.list.el, this.presentButton);
    this.off = [
      this.store.on(`messages:${channel.id}`, () => calmly(this.list.el, () => this.draw())),
      this.store.on("typing", () => this.drawTyping()),
      this.store.on("friends", () => this.redraw()),
    ];
    this.list.el.addEventListener("scroll", () => this.drawButtons(), { passive: true });
    this.list.el.addEventListener("keydown", (e) => this.key(e));
    this.drawTyping();
  }

  end() {
    this.composer.end();
    this.list.end();
    this.off.forEach((f) => f());
  }

  /** Handles Esc: marks the channel as read and scrolls to the newest message. */
  key(e) {
    if (e.key !== "Escape" || e.defaultPrevented) return;
    this.app.tryCall(this.store.markRead(this.channel.id));
    this.present();
  }

  /** Edits a message inside the message list. @param {any} m */
  async edit(m) {
    if (!this.list.made.has(m.id)) await this.jumpTo(m.id);
    startEditing(this.app, this.channel, m);
  }

  /* --- loading --- */

  failed(words, again) {
    this.problem = h(
      "div.pad",
      null,
      h("p.field-error", { role: "alert" }, words),
      h("button.button.secondary", { type: "button", onclick: again }, t("Try again")),
    );
    this.draw();
  }

  async load() {
    this.problem = null;
    if (this.log.loaded) this.draw();
    else fill(this.list.head, h("p.faint.pad", { role: "status" }, t("Loading messages…")));
    try {
      await this.store.loadMessages(this.channel.id);
      this.draw();
    } catch (e) {
      this.failed(t("The messages could not be loaded: {reason}", { reason: e.message }), () => this.load());
    }
  }

  async loadOlder() {
    const { log, list } = this;
    if (log.start || !log.list.length) return false;
    try {
      const n = await this.store.loadMessages(this.channel.id, log.list[0].id);
      this.problem = null;
      list.around(() => {
        list.shifted(n);
        this.draw();
      });
      return n > 0;
    } catch (e) {
      this.failed(t("Older messages could not be loaded: {reason}", { reason: e.message }), () => list.loadMore());
      return false;
    }
  }

  async loadNewer() {
    if (!this.log.detached) return false;
    try {
      const n = await this.store.loadNewer(this.channel.id);
      this.list.around(() => this.draw());
      if (!this.log.detached) this.store.seen();
      return n > 0;
    } catch (e) {
      toast(t("Newer messages could not be loaded: {reason}", { reason: e.message }), "bad");
      return false;
    }
  }

  /** Loads the newest messages of the channel again, because events may have been missed during a reconnect. */
  async caughtUp() {
    if (this.log.detached) return;
    await this.store.loadMessages(this.channel.id).catch(() => {});
    this.store.touch(`messages:${this.channel.id}`);
  }

  /** Scrolls to a message. If the message is not loaded, loads it and the messages around it, and drops all others. */
  async jumpTo(id) {
    const { list } = this;
    try {
      if (!this.log.list.some((m) => m.id === id)) {
        if (!(await this.store.loadAround(this.channel.id, id)))
          return toast(t("The message was not found: it was deleted, or it is in another channel."), "bad");
        list.stuck = false;
      }
    } catch (e) {
      return toast(t("The message could not be loaded: {reason}", { reason: e.message }), "bad");
    }
    this.problem = null;
    list.stuck = false;
    this.draw();
    list.jump(id);
    this.drawButtons();
    return true;
  }

  /** Loads the newest messages if needed, and scrolls to them. */
  async present() {
    if (this.log.detached) {
      const found = await this.app.tryCall(this.store.loadMessages(this.channel.id));
      if (!found) return;
    }
    this.list.stuck = true;
    this.draw();
    this.store.seen();
  }

  /* --- drawing --- */

  redraw() {
    this.list.forget();
    this.draw();
  }

  draw() {
    const { log, list, channel, store } = this;
    fill(list.head, this.problem || (log.start && beginning(this.app, channel, log)));
    list.mark = firstUnread(log, store.me.id);
    list.detached = log.detached;
    list.set(log.list);
    this.drawButtons();
  }

  drawButtons() {
    const { list, log } = this,
      away = log.detached || list.first + list.shown < list.items.length;
    this.presentButton.hidden = !away && (list.stuck || list.atEnd);
    const words = away ? t("Jump to present") : t("New messages");
    const label = /** @type {Element} */ (this.presentButton.firstElementChild);
    if (label.textContent !== `${words} ↓`) label.textContent = `${words} ↓`;
    this.drawNewBar();
  }

  /** While the first unread message is above the visible part, draws the bar "… new messages since …". */
  drawNewBar() {
    const { list, log } = this,
      mark = list.mark,
      el = mark && list.made.get(mark)?.el;
    const above = !!mark && (!el || el.getBoundingClientRect().bottom < list.el.getBoundingClientRect().top);
    if (this.newBar.hidden === !above) return;
    this.newBar.hidden = !above;
    if (!above) return;
    const n = log.list.length - log.list.findIndex((m) => m.id === mark),
      more = !log.start && log.list[0].id === mark;
    fill(
      this.newBar,
      h(
        "button.plain",
        { type: "button", onclick: () => this.toFirstNew() },
        t("{n} new message since {time}|{n} new messages since {time}", {
          n: more ? `${n}+` : n,
          time: clock.format(timeOf(mark)),
        }),
      ),
      h(
        "button.plain",
        { type: "button", onclick: () => this.app.tryCall(this.store.markRead(this.channel.id)) },
        t("Mark as read"),
      ),
    );
  }

  /** Jumps to the first unread message. It may be older than the loaded messages. */
  async toFirstNew() {
    const { log } = this,
      whole = log.start || log.list.some((m) => !older(log.readTo, m.id));
    if (whole || !(await this.store.loadAround(this.channel.id, log.readTo).catch(() => false)))
      return this.jumpTo(this.list.mark);
    this.list.stuck = false;
    this.draw();
    return this.jumpTo(this.list.mark || log.readTo);
  }

  drawTyping() {
    const { store, channel } = this,
      now = Date.now(),
      who = [...(store.typing.get(channel.id) || [])]
        .filter(([, until]) => until > now)
        .map(([id]) => store.nameOf(id, store.guildOf(channel)));
    this.typing.textContent = !who.length
      ? ""
      : who.length > 3
        ? t("Several people are typing…")
        : who.length > 1
          ? t("{names} are typing…", { names: who.join(", ") })
          : t("{name} is typing…", { name: who[0] });
  }
}

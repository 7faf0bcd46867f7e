// app.js - the application: login state, router, and functions that all pages share.
import { CommandIndex, showModal, useComponent } from "./commands.js";
import { ask, confirm, startThread } from "./questions.js";
import { AnnouncementBar } from "./announcement.js";
import { fill, h, toast } from "./dom.js";
import { currentToken, mustComeIn, operatorOnly } from "./accounts.js";
import { addNotice } from "./composer-parts.js";
import { Gateway } from "./gateway.js";
import { LoginState } from "./login-state.js";
import { deleteMessage, forward, messageMenu } from "./message-menu.js";
import { explain } from "./missing-permission.js";
import { watchMessages } from "./notifications.js";
import { watchPush } from "./push.js";
import { pickEmoji } from "./emoji-picker.js";
import { Rest } from "./rest.js";
import { Store } from "./store.js";
import { TroubleBar } from "./fault-banner.js";
import { Voice } from "./voice.js";
import { t } from "./translate.js";
import { watchUnread } from "./unread-badge.js";

/** @type {[RegExp, () => Promise<any>][]} */
const PAGES = [
  [/^\/invite\/([^/]+)/, () => import("./views/invite.js")],
  [/^\/(verify|reset)$/, () => import("./views/email-links.js")],
  [/^\/claim$/, () => import("./views/claim.js")],
  [/^\/oauth2\/authorize/, () => import("./views/authorize.js")],
  [/^\/workbench(?:\/(\w+))?/, () => import("./views/workbench.js")],
  [/^\/settings(?:\/(\w+))?(?:\/(\w+))?/, () => import("./views/settings.js")],
  [/^\/channels\/(\d+)\/(\d+)\/settings(?:\/(\w+))?/, () => import("./views/channel/settings.js")],
  [/^\/channels\/([^/]+)\/settings(?:\/(\w+))?/, () => import("./views/server/settings.js")],
  [/^\/channels(?:\/([^/]+))?(?:\/(\d+))?(?:\/(\d+))?/, () => import("./views/chat.js")],
  [/^\/friends/, () => import("./views/chat.js")],
];

class App {
  constructor() {
    this.root = document.getElementById("app");
    /** True if the server offers only the workbench. Then all other pages are neither opened nor linked. */
    this.operatorOnly = operatorOnly();
    this.problems = new Map();
    this.notices = new Map();
    /** The message that the user is editing, with its unsaved text; null if there is none. @type {any} */
    this.editing = null;
    this.rest = new Rest();
    this.rest.onunauthorized = () => this.gateway && this.login.refused();
    this.store = new Store(this.rest);
    this.login = new LoginState(this);
    this.rest.locale = () => this.store.settings.locale;
    this.rest.onchanged = () => this.store.touch("acted");
    this.rest.explain = explain;
    this.rest.prove = (asked) => this.login.prove(asked);
    this.store.onmodal = (d) => showModal(this, d);
    this.voice = new Voice(this);
    this.commands = new CommandIndex(this);
    watchUnread(this.store);
    watchMessages(this);
    watchPush(this);
    this.trouble = new TroubleBar();
    this.announcement = new AnnouncementBar(this.rest);
    this.bar = h("div.bar", { role: "status", hidden: true });
    addEventListener("popstate", () => this.show());
    addEventListener("keydown", (e) => this.key(e));
    document.addEventListener("click", (e) => this.clicked(e));
  }

  /* --- login and logout --- */

  start() {
    const token = currentToken();
    if (token && !this.operatorOnly) this.connect(token);
    const install = () => import("./install.js").then((m) => m.registerServiceWorker()).catch(() => {});
    if (!this.operatorOnly) (window.requestIdleCallback ?? setTimeout)(install);
    return this.show();
  }

  /** Uses the login page that main.js drew before this script was loaded. */
  adopt(module) {
    this.module = module;
    this.root.prepend(this.trouble.el, this.announcement.el, this.bar);
  }

  connect(token) {
    this.gateway?.close();
    this.voice.end();
    this.rest.token = token;
    this.store.reset();
    this.gateway = new Gateway(token.replace(/^Bot /, ""), (type, d) => this.store.dispatch(type, d), {
      compress: sessionStorage.getItem("compress") === "1",
    });
    this.gateway.addEventListener("state", (e) => this.connectionChanged(/** @type {CustomEvent} */ (e).detail));
  }

  disconnect() {
    this.gateway?.close();
    this.voice.end();
    this.gateway = null;
    this.rest.token = undefined;
    this.store.reset();
    this.bar.hidden = true;
  }

  /** Sends a request whose response contains a new token, and uses the new token. @param {Promise<any>} call */
  renew(call) {
    return this.login.renew(call);
  }

  signIn(token, how) {
    return this.login.enter(token, how);
  }

  /** Handles the response to a login: a token, or a request for a second factor. */
  async entered(answer, how) {
    if (!answer.token) answer = await (await import("./security-keys.js")).finishLogin(this.rest, answer);
    if (answer) return this.signIn(answer.token, how);
  }

  logOut() {
    return this.login.logOut();
  }

  connectionChanged({ state, until }) {
    clearInterval(this.countdown);
    if (state === "refused") return this.login.refused();
    if (state === "ready") {
      this.bar.hidden = true;
      this.refreshLogs();
      return;
    }
    const showState = () => {
      const left = Math.max(0, Math.ceil(((until || 0) - Date.now()) / 1000));
      this.bar.hidden = false;
      this.bar.textContent = state === "lost" ? t("Connection lost. Retrying in {n} s", { n: left }) : t("Connecting…");
    };
    if (state === "lost") {
      showState();
      this.countdown = setInterval(showState, 500);
    } else if (this.store.ready) showState();
  }

  /** Makes the open channel load its messages again. After a reconnect without RESUME, some messages may be missing. */
  refreshLogs() {
    this.store.touch("connected");
  }

  /** Resolves after READY. */
  ready() {
    if (this.store.ready) return Promise.resolve();
    return new Promise((go) => {
      const off = this.store.on("ready", () => {
        off();
        go();
      });
    });
  }

  /* --- router --- */

  go(path, replace) {
    if (path !== location.pathname + location.search) history[replace ? "replaceState" : "pushState"](null, "", path);
    return this.show();
  }

  async show() {
    const path = location.pathname,
      turn = (this.turn = (this.turn || 0) + 1);
    const found = PAGES.map(
      ([re, load]) => /** @type {[RegExpExecArray, () => Promise<any>]} */ ([re.exec(path), load]),
    ).find(([m]) => m);
    if (this.operatorOnly && !path.startsWith("/workbench")) return this.go("/workbench", true);
    if (mustComeIn(this.rest.token)) return this.mount(await import("./views/login.js"), [], turn);
    if (!found) return this.go("/channels/@me", true);
    return this.mount(await found[1](), found[0].slice(1), turn);
  }

  async mount(module, params, turn) {
    if (turn !== this.turn) return;
    if (this.module === module && module.update?.(this, params)) return;
    this.unmount?.();
    this.unmount = null;
    this.module = module;
    const page = (this.page = h("div.page"));
    fill(this.root, this.trouble.el, this.announcement.el, this.bar, page);
    const end = await module.mount(this, page, params);
    // If the user opened another page while this one was loading, end this page at once.
    if (this.page === page) this.unmount = end;
    else end?.();
  }

  /** Opens the page of a channel. If the channel was just created, waits for the event CHANNEL_CREATE first. */
  async openChannel(c) {
    await this.store.when("channels", () => this.store.channels.has(c.id));
    return this.go(`/channels/${c.guild_id || "@me"}/${c.id}`);
  }

  async openGuild(id, channel) {
    await this.store.when("guilds", () => this.store.guilds.has(id));
    return this.go(`/channels/${id}${channel ? `/${channel}` : ""}`);
  }

  /** Opens a direct message channel. The channel may not be in the store yet. */
  openPrivate(c) {
    (c.recipients || []).forEach((u) => this.store.keepUser(u));
    if (!this.store.channels.has(c.id)) this.store.channels.set(c.id, c);
    this.store.touch("channels");
    return this.openChannel(c);
  }

  async messagePerson(id) {
    const c = await this.tryCall(this.rest.post("/users/@me/channels", { recipient_id: id }));
    if (c) this.openPrivate(c);
  }

  clicked(e) {
    const a = e.target instanceof Element && e.target.closest("a[href^='/']");
    if (
      !a ||
      a.target ||
      e.metaKey ||
      e.ctrlKey ||
      e.button ||
      a.hasAttribute("download") ||
      a.dataset.plain !== undefined
    )
      return;
    e.preventDefault();
    this.go(a.getAttribute("href"));
  }

  key(e) {
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === "k" && this.rest.token) {
      e.preventDefault();
      import("./views/quick-switcher.js").then((m) => m.jump(this));
    }
  }

  /* --- functions for all pages --- */

  async tryCall(promise, done) {
    try {
      const answer = await promise;
      if (done) toast(done);
      return answer ?? true;
    } catch (e) {
      toast(e.words && (e.code || e.status) ? `${e.words} (${e.code || e.status})` : String(e.message || e), "bad");
      return null;
    }
  }

  notice(channel, words) {
    return addNotice(this, channel, words);
  }
  useComponent(channel, m, c, values, control) {
    return useComponent(this, channel, m, c, values, control);
  }
  pickEmoji(guild, at, choose) {
    pickEmoji(guild, at, choose);
  }
  async showProfile(id, at) {
    (await import("./views/profile.js")).showProfile(this, id, at);
  }

  /* The chat page replaces the next four functions, because only that page has the message list and the composer. */
  replyTo(_m) {}
  editMessage(_channel, _m) {}
  focusComposer() {}
  /** Jumps to a message. @param {string} _id @param {string} [_channel] */
  async jumpTo(_id, _channel) {}

  messageMenu(channel, m, at) {
    return messageMenu(this, channel, m, at);
  }
  deleteMessage(channel, m, atOnce) {
    return deleteMessage(this, channel, m, atOnce);
  }
  forward(channel, m) {
    return forward(this, channel, m);
  }

  startThread(channel, m) {
    return startThread(this, channel, m);
  }
  ask(title, label, value, action) {
    return ask(title, label, value, action);
  }
  confirm(title, words, action) {
    return confirm(title, words, action);
  }
}

export const app = new App();

// chat.js - the main page: guilds, channels, messages, members.
import { fill, h } from "../dom.js";
import { iconButton } from "../icons.js";
import { sendStatus } from "../own-status.js";
import { ANNOUNCEMENT, isForum, isVoice } from "../store.js";
import { t } from "../translate.js";
import { setTitle } from "../unread-badge.js";
import { channelHead } from "./channel-head.js";
import { ChannelList } from "./channel-list.js";
import { emptyServer } from "./empty-places.js";
import { friendsPage } from "./friends.js";
import { forumPage } from "./forum.js";
import { MemberList } from "./member-list.js";
import { MessageLog } from "./message-log.js";
import { openSearch } from "./search.js";
import { SelfPanel } from "./self-panel.js";
import { ServerRail } from "./server-rail.js";
import { acceptFiles } from "../uploads.js";
import { VoicePanels } from "../voice-panels.js";

let view = null;

export async function mount(app, page, params) {
  fill(page, h("p.loading-page", { role: "status" }, t("Connecting…")));
  await app.ready();
  if (!page.isConnected) return undefined;
  view = new Chat(app, page);
  view.open(params);
  return () => {
    view?.end();
    view = null;
  };
}

export function update(app, params) {
  if (!view || view.app !== app || !app.store.ready) return false;
  view.open(params);
  return true;
}

class Chat {
  constructor(app, page) {
    this.app = app;
    this.store = app.store;
    this.rail = new ServerRail(this);
    this.side = new ChannelList(this);
    this.members = new MemberList(this);
    /** Ids of threads that were requested from the server because the store did not have them. @type {Set<string>} */
    this.missing = new Set();
    /** The open search panel. @type {any} */
    this.searchPanel = null;
    this.self = new SelfPanel(app);
    this.voice = new VoicePanels(app);
    this.main = h("main.main");
    this.shell = h(
      "div.shell",
      null,
      this.rail.el,
      h("nav.side", { "aria-label": t("Channels") }, this.side.el, this.voice.bar, this.self.el),
      this.main,
      this.members.el,
    );
    fill(page, this.shell);
    const draw = {
      guilds: () => this.rail.draw(),
      channels: () => {
        this.followChannel();
        this.side.draw();
      },
      unread: () => {
        this.rail.draw();
        this.side.draw();
      },
      voice: () => {
        this.side.draw();
        this.voice.drawBar();
      },
      call: () => this.voice.drawBar(),
      speaking: () => this.side.markSpeakers(),
      members: () => this.members.draw(),
      presence: () => this.members.draw(),
      me: () => this.self.draw(),
      ready: () => this.reopen(),
      connected: () => this.log?.caughtUp(),
    };
    this.off = Object.entries(draw).map(([topic, f]) => this.store.on(topic, f));
    app.replyTo = (m) => this.log?.composer.reply(m);
    app.editMessage = (c, m) => this.log?.edit(m);
    app.focusComposer = () => this.log?.composer.focus();
    app.jumpTo = (id, channel) => this.jumpTo(id, channel);
    this.onkey = (e) => this.key(e);
    addEventListener("keydown", this.onkey);
    acceptFiles(this.main, (files) => this.log?.composer.files(files));
    sendStatus(app);
    this.voice.drawBar();
  }

  end() {
    this.closeMain();
    this.store.open = undefined;
    removeEventListener("keydown", this.onkey);
    this.off.forEach((f) => f());
  }

  open([guildId, channelId, messageId]) {
    this.guild = guildId && guildId !== "@me" ? this.store.guilds.get(guildId) : null;
    const channel = channelId ? this.store.channels.get(channelId) : null;
    if (guildId && guildId !== "@me" && !this.guild) return this.app.go("/channels/@me", true);
    if (this.guild && channelId && !channel && !this.missing.has(channelId))
      return this.fetchThread([guildId, channelId, messageId]);
    if (this.guild && !channel) {
      const last = this.store.channels.get(localStorage.getItem(`last:${this.guild.id}`) || "");
      const first =
        last?.guild_id === this.guild.id
          ? last
          : this.side.ordered().find((c) => c.type === 0 || c.type === ANNOUNCEMENT);
      if (first) return this.app.go(`/channels/${this.guild.id}/${first.id}`, true);
    }
    if (
      this.searchPanel &&
      (this.searchPanel.guild !== this.guild || (!this.guild && this.searchPanel.channel !== channel))
    )
      this.searchPanel.end();
    this.shell.classList.remove("side-open");
    this.rail.draw();
    this.openMain(channel, messageId);
    this.side.draw();
    this.members.draw();
  }

  /**
   * Requests the thread in the URL. The store may not have it, because READY contains only threads that the user has
   * joined.
   */
  async fetchThread(params) {
    const [guildId, id] = params,
      path = location.pathname;
    this.missing.add(id);
    const found = await this.app.rest.get(`/channels/${id}`).catch(() => null);
    if (found?.guild_id === guildId && !this.store.channels.has(id)) this.store.channels.set(id, found);
    if (location.pathname === path && this.shell.isConnected) this.open(params);
  }

  reopen() {
    this.missing.clear();
    const [, , guild, channel, message] = location.pathname.split("/");
    this.log?.end(); // ends the message list, which also saves the unsent text of the message field as a draft
    this.log = this.channel = null;
    sendStatus(this.app);
    this.open([guild, channel, message]);
  }

  /**
   * Called when the open channel has changed: uses its new object, or opens the page of the guild if the channel was
   * deleted.
   */
  followChannel() {
    if (!this.channel || !this.store.ready) return;
    const now = this.store.channels.get(this.channel.id);
    if (now) this.channel = now;
    else this.app.go(`/channels/${this.guild?.id || "@me"}`, true);
  }

  key(e) {
    if (!(e.ctrlKey || e.metaKey) || e.shiftKey || e.altKey || e.key.toLowerCase() !== "f") return;
    if (!this.log || document.querySelector("dialog[open]")) return;
    e.preventDefault();
    openSearch(this);
  }

  /** Jumps to a message in any channel. */
  async jumpTo(id, channelId = this.channel?.id) {
    const channel = this.store.channels.get(channelId);
    if (channel && channelId !== this.channel?.id)
      return this.app.go(`/channels/${channel.guild_id || "@me"}/${channelId}/${id}`);
    return this.log?.jumpTo(id);
  }

  /* --- the open channel --- */

  closeMain() {
    this.log?.end();
    this.pageEnd?.();
    this.headEnd?.();
    this.log = this.pageEnd = this.headEnd = null;
  }

  /**
   * Opens a channel.
   * @param {any} channel null opens the friends page @param {string} [messageId] the message to jump to
   */
  openMain(channel, messageId) {
    if (channel && this.channel?.id === channel.id && this.main.firstChild) return messageId && this.jumpTo(messageId);
    this.closeMain();
    this.channel = channel;
    this.store.read(channel?.id);
    if (channel?.guild_id) localStorage.setItem(`last:${channel.guild_id}`, channel.id);
    this.members.subscribe(channel);
    setTitle(channel ? this.store.nameOfChannel(channel) : this.guild?.name || t("Friends"));
    const head = channel && channelHead(this, channel);
    this.headEnd = head?.end;
    if (!channel && this.guild) fill(this.main, emptyServer(this.app, this.guild, this.burger()));
    else if (!channel) this.pageEnd = friendsPage(this.app, this.main, () => this.burger());
    else if (isVoice(channel)) this.pageEnd = this.voice.page(this.main, channel, head.el);
    else if (isForum(channel)) this.pageEnd = forumPage(this.app, this.main, channel, head.el);
    else this.openLog(channel, head.el, messageId);
  }

  openLog(channel, head, messageId) {
    const log = (this.log = new MessageLog(this.app, channel)),
      call = channel.guild_id ? null : this.voice.panel(channel);
    this.pageEnd = call?.end;
    fill(this.main, head, call?.el, log.el, log.typing, log.composer.el);
    if (messageId) {
      log.jumpTo(messageId).then((found) => {
        if (!found && this.log === log) log.load();
      });
      return;
    }
    log.load();
    if (matchMedia("(min-width: 700px)").matches) log.composer.focus();
  }

  burger() {
    return iconButton("menu", t("Channels"), () => this.shell.classList.toggle("side-open"), { class: "burger" });
  }
}

// channel-list.js - the channels of the open guild, or the direct messages.
import { arrowKeys, fill, h, refill } from "../dom.js";
import { below, menu } from "../menu.js";
import { icon, iconButton } from "../icons.js";
import { avatar } from "../images.js";
import { ANNOUNCEMENT, CATEGORY, STAGE, VOICE, isForum, isThread, isVoice } from "../store.js";
import { t } from "../translate.js";
import { orderedChannels, moveChannel, stepChannel } from "../channel-order.js";
import { RowWindow } from "../row-window.js";
import { sortable } from "../sortable.js";
import { addChannel, invite } from "./new-place.js";
import { privateList } from "./private-list.js";
import { channelMenu, guildEntries, onContext } from "./place-menu.js";

export const ICONS = {
  [VOICE]: "voice",
  [STAGE]: "stage",
  [ANNOUNCEMENT]: "announcement",
  15: "forum",
  16: "forum",
  10: "thread",
  11: "thread",
  12: "thread",
};
const MOST_THREADS = 20, // maximum number of active threads that are listed below a channel
  ROW_HEIGHT = 34;
const folded = new Set(JSON.parse(localStorage.getItem("folded") || "[]"));

export class ChannelList {
  /** @param {any} chat the chat page: guild, channel, app */
  constructor(chat) {
    this.chat = chat;
    this.app = chat.app;
    this.store = chat.store;
    this.el = sortable(h("div.side-list"), {
      drop: (id, target, where) => moveChannel(this.app, this.chat.guild, id, target, where),
      step: (id, by) => stepChannel(this.app, this.chat.guild, id, by),
      holds: (id) => this.store.channels.get(id)?.type === CATEGORY,
    });
    this.head = h("div");
    this.list = arrowKeys(h("div.channel-list"), "a,button");
    this.window = new RowWindow(this.el, this.list, { height: ROW_HEIGHT, render: (r) => this.row(r) });
  }

  ordered() {
    return this.sorted().order;
  }

  draw() {
    const scroll = this.el.scrollTop;
    if (this.chat.guild) this.drawChannels();
    else refill(this.el, privateList(this.chat));
    this.el.scrollTop = scroll;
  }

  /** Returns the rows of a guild. Computes them again only after a change that adds, moves or removes a row. */
  rows() {
    const voices = new Map();
    for (const v of this.store.voice.values()) {
      const list = voices.get(v.channel_id);
      if (list) list.push(v.user_id);
      else voices.set(v.channel_id, [v.user_id]);
    }
    const { order } = this.sorted(),
      sign = [this.sortedSign, this.chat.channel?.id, ...folded, JSON.stringify([...voices])].join();
    // The rows depend on unread marks, because an unread channel is listed even if its category is collapsed.
    if (folded.size || this.rowsSign !== sign || this.rowsOrder !== order) this.rowsNow = this.listRows(voices);
    this.rowsSign = sign;
    this.rowsOrder = order;
    return this.rowsNow;
  }

  /** Computes the rows: categories, channels, their threads, and the users in voice channels. */
  listRows(voices) {
    const rows = [],
      { threads } = this.sorted();
    let hidden = false;
    for (const c of this.ordered()) {
      if (c.type === CATEGORY) {
        hidden = folded.has(c.id);
        rows.push({ c, kind: "category" });
        continue;
      }
      if (hidden && c.parent_id && c.id !== this.chat.channel?.id && !this.store.unread.has(c.id)) continue;
      rows.push({ c, kind: "" });
      const below = isForum(c) ? undefined : threads.get(c.id);
      if (below) for (const x of below.slice(0, MOST_THREADS)) rows.push({ c: x, kind: "thread" });
      if (isVoice(c)) for (const user of voices.get(c.id) || []) rows.push({ c, user, kind: "voice" });
    }
    return rows;
  }

  /**
   * Returns the sorted channels of the guild, and the active threads by channel. Sorts again only after channels have
   * changed.
   */
  sorted() {
    const g = this.chat.guild,
      { channels, viewAs } = this.store,
      sign = [g.id, channels.version, viewAs?.role, this.store.mayInGuild(g, "MANAGE_CHANNELS")].join();
    if (viewAs || this.sortedSign !== sign) {
      const threads = new Map();
      for (const x of channels.of(g.id))
        if (isThread(x) && !x.thread_metadata?.archived) {
          const list = threads.get(x.parent_id);
          if (list) list.push(x);
          else threads.set(x.parent_id, [x]);
        }
      this.sortedSign = sign;
      this.sortedNow = { order: orderedChannels(this.store, g), threads };
    }
    return this.sortedNow;
  }

  drawChannels() {
    const g = this.chat.guild,
      rows = this.rows();
    const head = h(
      "header.side-head",
      null,
      h(
        "button.plain.guild-name",
        { type: "button", "aria-haspopup": "menu", onclick: (e) => this.guildMenu(e.currentTarget) },
        h("strong", null, g.name),
        h("span", { "aria-hidden": "true" }, "▾"),
      ),
    );
    refill(this.head, head, this.viewAsBar());
    if (this.list.parentNode !== this.el) fill(this.el, this.head, this.list);
    this.window.set(rows.length ? rows : [{ kind: "none" }]);
    if (this.shownChannel !== this.chat.channel?.id) {
      this.shownChannel = this.chat.channel?.id;
      this.window.show((r) => r.c?.id === this.shownChannel);
    }
  }

  row(r) {
    if (r.kind === "none") return h("p.hint.pad", null, t("There are no channels that you can see."));
    if (r.kind === "category") return this.categoryRow(r.c);
    return r.kind === "voice"
      ? this.voiceRow(this.store.voice.get(r.user) || { user_id: r.user })
      : this.channelRow(r.c, r.kind);
  }

  categoryRow(c) {
    const manage = this.store.mayInGuild(this.chat.guild, "MANAGE_CHANNELS"),
      hidden = folded.has(c.id);
    return h(
      "div.category",
      {
        dataset: { sort: c.id },
        draggable: manage ? "true" : null,
        oncontextmenu: onContext((e) => channelMenu(this.app, c, e)),
      },
      h(
        "button.plain",
        { type: "button", dataset: { key: c.id }, "aria-expanded": String(!hidden), onclick: () => this.fold(c.id) },
        h("span.fold", { "aria-hidden": "true" }, hidden ? "▸" : "▾"),
        c.name,
      ),
      manage &&
        iconButton("plus", t("New channel in {name}", { name: c.name }), () =>
          addChannel(this.app, this.chat.guild, c),
        ),
    );
  }

  /**
   * A bar that is shown while the user views the guild as a role: the role's name, and a button that leaves this view.
   */
  viewAsBar() {
    const { guild } = this.chat,
      role = this.store.viewAs?.guild === guild.id && guild.roles.get(this.store.viewAs.role);
    const end = () => {
      this.store.viewAs = null;
      this.store.touch("channels", "members");
    };
    return (
      role &&
      h(
        "div.view-as",
        { role: "status" },
        t("You see this server as {role}.", { role: role.name }),
        h("button.button.secondary", { type: "button", onclick: end }, t("Stop")),
      )
    );
  }

  fold(id) {
    if (!folded.delete(id)) folded.add(id);
    localStorage.setItem("folded", JSON.stringify([...folded].slice(-500)));
    this.draw();
  }

  channelRow(c, kind) {
    const muted = this.store.isMuted(c),
      state = this.store.unread.get(c.id),
      unread = muted && !state?.mentions ? null : state;
    return h(
      "a.channel",
      {
        href: `/channels/${c.guild_id || "@me"}/${c.id}`,
        dataset: { key: c.id, ...(kind ? {} : { sort: c.id }) },
        draggable: !kind && this.chat.guild ? String(this.store.mayInGuild(this.chat.guild, "MANAGE_CHANNELS")) : null,
        class: [kind || "", unread ? "unread" : "", muted ? "muted" : ""].join(" "),
        oncontextmenu: onContext((e) => channelMenu(this.app, c, e)),
        "aria-current": c === this.chat.channel || c.id === this.chat.channel?.id ? "page" : null,
        "aria-label": [
          c.name,
          unread && t("{n} unread", { n: unread.count }),
          unread?.mentions > 0 && t("{n} mention|{n} mentions", { n: unread.mentions }),
          muted && t("muted"),
        ]
          .filter(Boolean)
          .join(", "),
      },
      icon(ICONS[c.type] || "hash"),
      h("span.clip", null, c.name),
      unread?.mentions > 0 && h("span.badge", null, unread.mentions),
    );
  }

  voiceRow(v) {
    const name = this.store.nameOf(v.user_id, this.chat.guild);
    return h(
      "button.voice-person",
      {
        type: "button",
        dataset: { speaker: v.user_id, key: `voice ${v.user_id}` },
        class: this.app.voice.speaking.has(v.user_id) ? "speaking" : "",
        onclick: (e) => this.app.showProfile(v.user_id, e.currentTarget),
      },
      avatar(this.store.user(v.user_id), name, "tiny-avatar"),
      h("span.clip", null, name),
      (v.self_mute || v.mute) && h("span", { title: t("Muted") }, icon("muted")),
      (v.self_deaf || v.deaf) && h("span", { title: t("Deafened") }, icon("deaf")),
      v.self_stream && h("span.tag", null, "LIVE"),
      v.request_to_speak_timestamp && h("span", { title: t("Wants to speak") }, icon("hand")),
    );
  }

  markSpeakers() {
    for (const el of /** @type {NodeListOf<HTMLElement>} */ (this.el.querySelectorAll("[data-speaker]")))
      el.classList.toggle("speaking", this.app.voice.speaking.has(el.dataset.speaker));
  }

  guildMenu(at) {
    const g = this.chat.guild,
      may = (r) => this.store.mayInGuild(g, r);
    menu(
      below(at),
      [
        may("CREATE_INSTANT_INVITE") && {
          label: t("Invite people"),
          icon: "people",
          run: () => invite(this.app, this.inviteChannel()),
        },
        ...guildEntries(this.app, g),
        { label: t("Server settings"), icon: "gear", run: () => this.app.go(`/channels/${g.id}/settings`) },
        { label: t("Events"), icon: "stage", run: () => this.app.go(`/channels/${g.id}/settings/events`) },
        may("MANAGE_CHANNELS") && {
          label: t("New channel"),
          icon: "plus",
          run: () => addChannel(this.app, this.chat.guild, null),
        },
        g.owner_id !== this.store.me.id && {
          label: t("Leave"),
          icon: "leave",
          danger: true,
          run: async () =>
            (await this.app.confirm(t("Leave"), t("Leave {name}?", { name: g.name }), t("Leave"))) &&
            this.app.tryCall(this.app.rest.delete(`/users/@me/guilds/${g.id}`, {})),
        },
      ].filter(Boolean),
      g.name,
    );
  }

  /** Returns the channel for a new invite: the open channel; if none is open, the first text channel. */
  inviteChannel() {
    return this.chat.channel?.guild_id ? this.chat.channel : this.ordered().find((c) => c.type === 0);
  }
}

// chat.js - the main page: servers, channels, messages, members.
import { composer } from "../composer.js";
import {
  arrowKeys,
  below,
  calmly,
  dialog,
  field,
  fill,
  fillChanged,
  h,
  icon,
  iconButton,
  menu,
  refill,
  toast,
} from "../dom.js";
import { MessageList, RowList } from "../list.js";
import { inline } from "../markdown.js";
import { contextOf, message } from "../message.js";
import { avatar, guildIcon } from "../images.js";
import { statusDot } from "../status.js";
import {
  CATEGORY,
  DM,
  GROUP,
  MEMBERS_LISTED,
  ANNOUNCEMENT,
  STAGE,
  VOICE,
  isForum,
  isThread,
  isVoice,
} from "../store.js";
import { t } from "../translate.js";
import { orderedChannels, moveChannel, stepChannel } from "../channel-order.js";
import { sortable } from "../sortable.js";
import { channelMenu, maySetUp, settingsPath } from "./channel/menu.js";
import { friendsPage } from "./friends.js";
import { forumPage } from "./forum.js";
import { voiceBar, voicePage } from "./voice.js";

const ICONS = {
  [VOICE]: "voice",
  [STAGE]: "stage",
  [ANNOUNCEMENT]: "announcement",
  15: "forum",
  16: "forum",
  10: "thread",
  11: "thread",
  12: "thread",
};
const folded = new Set(JSON.parse(localStorage.getItem("folded") || "[]"));
const MOST_PAGES = 20; // pages of older messages that are loaded to find a message
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
    this.rail = arrowKeys(h("nav.rail", { "aria-label": t("Servers") }), "a,button");
    this.railMade = new Map();
    this.side = h("div.side-list");
    this.self = h("div.self");
    this.voiceBar = h("div");
    this.main = h("main.main");
    this.members = h("aside.members", { "aria-label": t("Members") });
    this.shell = h(
      "div.shell",
      null,
      this.rail,
      h("nav.side", { "aria-label": t("Channels") }, this.side, this.voiceBar, this.self),
      this.main,
      this.members,
    );
    fill(page, this.shell);
    const draw = {
      guilds: () => this.drawRail(),
      channels: () => {
        this.refreshHead();
        this.drawSide();
      },
      unread: () => {
        this.drawRail();
        this.drawSide();
      },
      voice: () => {
        this.drawSide();
        this.drawVoice();
      },
      speaking: () => this.markSpeakers(),
      members: () => this.drawMembers(),
      presence: () => {
        this.drawMembers();
      },
      me: () => this.drawSelf(),
      ready: () => this.reopen(),
      connected: () => this.caughtUp(),
    };
    this.off = Object.entries(draw).map(([topic, f]) => this.store.on(topic, f));
    app.replyTo = (m) => this.composer?.reply(m);
    app.editMessage = (c, m) => this.composer?.edit(m);
    app.jumpTo = (id) => this.jumpTo(id);
    this.listenToSide();
    this.drawSelf();
    this.drawVoice();
  }

  end() {
    this.closeMain();
    this.off.forEach((f) => f());
  }

  open([guildId, channelId]) {
    this.guild = guildId && guildId !== "@me" ? this.store.guilds.get(guildId) : null;
    let channel = channelId ? this.store.channels.get(channelId) : null;
    if (guildId && guildId !== "@me" && !this.guild) return this.app.go("/channels/@me", true);
    if (this.guild && !channel) {
      const last = this.store.channels.get(localStorage.getItem(`last:${this.guild.id}`) || "");
      const first =
        last?.guild_id === this.guild.id ? last : this.ordered().find((c) => c.type === 0 || c.type === ANNOUNCEMENT);
      if (first) return this.app.go(`/channels/${this.guild.id}/${first.id}`, true);
    }
    this.shell.classList.remove("side-open");
    this.drawRail();
    this.openMain(channel);
    this.drawSide();
    this.drawMembers();
  }

  reopen() {
    const [, , guild, channel] = location.pathname.split("/"),
      text = this.channel?.id === channel ? this.composer?.text() : "";
    this.channel = null;
    this.drawSelf();
    this.open([guild, channel]);
    if (text) this.composer?.write(text); // text typed before the connection was lost
  }

  /** Reads the channel again, because events may be missing after a reconnect. */
  async caughtUp() {
    if (!this.channel || !this.list || isVoice(this.channel)) return;
    await this.store.loadMessages(this.channel.id).catch(() => {});
    this.store.touch(`messages:${this.channel.id}`);
  }

  /* --- guilds --- */

  drawRail() {
    const unread = this.store.unreadByGuild(),
      direct = unread.get(null)?.mentions || 0;
    const item = (key, sign, make) => ({ key, sign: String(sign), make });
    fillChanged(this.rail, this.railMade, [
      item("home", [direct, !this.guild], () => this.homeItem(direct)),
      item("line", "", () => h("div.rail-line", { role: "presentation" })),
      ...[...this.store.guilds.values()].map((g) => {
        const u = unread.get(g.id);
        return item(g.id, [g.name, g.icon, !!u, u?.mentions, this.guild === g], () =>
          this.guildItem(g, !!u, u?.mentions || 0),
        );
      }),
      item("add", "", () =>
        h(
          "button.rail-item",
          { type: "button", "aria-label": t("Add a server"), title: t("Add a server"), onclick: () => this.addGuild() },
          h("span.guild-icon.add", null, icon("plus")),
        ),
      ),
      item("bench", "", () =>
        h(
          "a.rail-item.rail-end",
          { href: "/workbench", "aria-label": t("Workbench"), title: t("Workbench") },
          h("span.guild-icon.add", null, icon("wrench")),
        ),
      ),
    ]);
  }

  homeItem(mentions) {
    return h(
      "a.rail-item",
      {
        href: "/channels/@me",
        "aria-label": t("Direct messages") + counted(mentions),
        title: t("Direct messages"),
        "aria-current": this.guild ? null : "page",
      },
      h("span.guild-icon.home", null, icon("people")),
      badge(mentions),
    );
  }

  guildItem(g, unread, mentions) {
    return h(
      "a.rail-item",
      {
        href: `/channels/${g.id}`,
        "aria-label": g.name + (unread ? `, ${t("unread")}` : "") + counted(mentions),
        title: g.name,
        class: unread ? "unread" : "",
        "aria-current": this.guild === g ? "page" : null,
      },
      guildIcon(g),
      badge(mentions),
    );
  }

  async addGuild() {
    const done = await dialog(t("Add a server"), (close) => {
      const name = field(t("Name of the new server"), h("input", { maxlength: 100 })),
        code = field(t("Or an invite link"), h("input", { placeholder: `${location.origin}/invite/…` }));
      return h(
        "form.stack",
        {
          onsubmit: (e) => {
            e.preventDefault();
            close({ name: name.control.value.trim(), code: code.control.value.trim().split("/").pop() });
          },
        },
        name,
        code,
        h("div.actions", null, h("button.button.primary", { type: "submit" }, t("Create or join"))),
      );
    });
    if (done?.code) return this.app.go(`/invite/${encodeURIComponent(done.code)}`);
    const made = done?.name && (await this.app.tryCall(this.app.rest.post("/guilds", { name: done.name })));
    if (made) this.app.openGuild(made.id);
  }

  /* --- channels --- */

  ordered() {
    return orderedChannels(this.store, this.guild);
  }

  drawSide() {
    const scroll = this.side.scrollTop;
    if (this.guild) this.drawChannels();
    else this.drawPrivate();
    this.side.scrollTop = scroll;
  }

  drawChannels() {
    const g = this.guild,
      manage = this.store.mayInGuild(g, "MANAGE_CHANNELS"),
      rows = [],
      threads = new Map();
    for (const x of this.store.channelsOf(g))
      if (isThread(x) && !x.thread_metadata?.archived)
        threads.set(x.parent_id, [...(threads.get(x.parent_id) || []), x]);
    let hidden = false;
    for (const c of this.ordered()) {
      if (c.type === CATEGORY) {
        hidden = folded.has(c.id);
        rows.push(
          h(
            "div.category",
            { dataset: { sort: c.id }, draggable: manage ? "true" : null },
            h(
              "button.plain",
              {
                type: "button",
                dataset: { key: c.id },
                "aria-expanded": String(!hidden),
                onclick: () => this.fold(c.id),
              },
              h("span.fold", { "aria-hidden": "true" }, hidden ? "▸" : "▾"),
              c.name,
            ),
            manage && iconButton("plus", t("New channel in {name}", { name: c.name }), () => this.addChannel(c)),
          ),
        );
        continue;
      }
      if (hidden && c.parent_id && c !== this.channel && !this.store.unread.has(c.id)) continue;
      rows.push(this.channelRow(c));
      if (!isForum(c)) rows.push((threads.get(c.id) || []).slice(0, 20).map((x) => this.channelRow(x, "thread")));
      if (isVoice(c)) rows.push(this.voiceRows(c));
    }
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
    refill(this.side, head, this.viewAsBar(), arrowKeys(h("div.channel-list", null, rows), "a,button"));
  }

  /** Says that the server is viewed as a role, and ends it. */
  viewAsBar() {
    const role = this.store.viewAs?.guild === this.guild.id && this.guild.roles.get(this.store.viewAs.role);
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

  /** The context menu of a channel, by mouse or keyboard, and drag and drop. */
  listenToSide() {
    this.side.addEventListener("contextmenu", (e) => {
      const row = e.target instanceof Element && /** @type {HTMLElement|null} */ (e.target.closest("[data-sort]")),
        c = row && this.store.channels.get(row.dataset.sort);
      if (!c) return;
      e.preventDefault();
      channelMenu(this.app, c, e.clientX || e.clientY ? { x: e.clientX, y: e.clientY } : below(row));
    });
    sortable(this.side, {
      drop: (id, target, where) => moveChannel(this.app, this.guild, id, target, where),
      step: (id, by) => stepChannel(this.app, this.guild, id, by),
      holds: (id) => this.store.channels.get(id)?.type === CATEGORY,
    });
  }

  fold(id) {
    if (!folded.delete(id)) folded.add(id);
    localStorage.setItem("folded", JSON.stringify([...folded].slice(-500)));
    this.drawSide();
  }

  channelRow(c, kind) {
    const unread = this.store.unread.get(c.id);
    return h(
      "a.channel",
      {
        href: `/channels/${c.guild_id || "@me"}/${c.id}`,
        dataset: { key: c.id, ...(kind ? {} : { sort: c.id }) },
        draggable: !kind && this.guild ? String(this.store.mayInGuild(this.guild, "MANAGE_CHANNELS")) : null,
        class: [kind || "", unread ? "unread" : ""].join(" "),
        "aria-current": c === this.channel || c.id === this.channel?.id ? "page" : null,
        "aria-label": [
          c.name,
          unread && t("{n} unread", { n: unread.count }),
          unread?.mentions > 0 && t("{n} mention|{n} mentions", { n: unread.mentions }),
        ]
          .filter(Boolean)
          .join(", "),
      },
      icon(ICONS[c.type] || "hash"),
      h("span.clip", null, c.name),
      unread?.mentions > 0 && h("span.badge", null, unread.mentions),
    );
  }

  voiceRows(c) {
    return this.store
      .voiceOf(c.id)
      .map((v) =>
        h(
          "button.voice-person",
          {
            type: "button",
            dataset: { speaker: v.user_id },
            class: this.app.voiceLine.speaking.has(v.user_id) ? "speaking" : "",
            onclick: (e) => this.app.showProfile(v.user_id, e.currentTarget),
          },
          avatar(this.store.user(v.user_id), this.store.nameOf(v.user_id, this.guild), "tiny-avatar"),
          h("span.clip", null, this.store.nameOf(v.user_id, this.guild)),
          (v.self_mute || v.mute) && h("span", { title: t("Muted") }, icon("muted")),
          (v.self_deaf || v.deaf) && h("span", { title: t("Deafened") }, icon("deaf")),
          v.self_stream && h("span.tag", null, "LIVE"),
          v.request_to_speak_timestamp && h("span", { title: t("Wants to speak") }, icon("hand")),
        ),
      );
  }

  markSpeakers() {
    for (const el of /** @type {NodeListOf<HTMLElement>} */ (this.side.querySelectorAll("[data-speaker]")))
      el.classList.toggle("speaking", this.app.voiceLine.speaking.has(el.dataset.speaker));
  }

  drawPrivate() {
    refill(
      this.side,
      h(
        "header.side-head",
        null,
        h(
          "button.jump",
          { type: "button", onclick: () => this.app.key({ ctrlKey: true, key: "k", preventDefault() {} }) },
          t("Jump to…"),
          h("kbd", null, t("Ctrl K")),
        ),
      ),
      arrowKeys(
        h(
          "div.channel-list",
          null,
          h(
            "a.channel",
            { href: "/friends", "aria-current": this.channel || this.guild ? null : "page" },
            icon("people"),
            t("Friends"),
            this.pending() > 0 && h("span.badge", null, this.pending()),
          ),
          h(
            "div.category",
            null,
            h("span", null, t("Direct messages")),
            iconButton("plus", t("New group"), () => this.addGroup()),
          ),
          this.store.privateChannels().map((c) => this.privateRow(c)),
        ),
        "a,button",
      ),
    );
  }

  pending() {
    return [...this.store.relationships.values()].filter((r) => r.type === 3).length;
  }

  privateRow(c) {
    const other = c.type === DM ? c.recipients?.[0] : null,
      unread = this.store.unread.get(c.id),
      name = this.store.nameOfChannel(c);
    return h(
      "a.channel.private",
      {
        href: `/channels/@me/${c.id}`,
        dataset: { key: c.id },
        class: unread ? "unread" : "",
        "aria-current": c.id === this.channel?.id ? "page" : null,
      },
      other
        ? h("span.with-status", null, avatar(other, name, "small-avatar"), statusDot(this.store, other.id))
        : h("span.small-avatar.group", null, icon("people")),
      h("span.clip", null, name),
      unread?.mentions > 0 && h("span.badge", null, unread.mentions),
    );
  }

  async addGroup() {
    const friends = [...this.store.relationships.values()].filter((r) => r.type === 1);
    const chosen = await dialog(t("New group"), (close) => {
      const boxes = friends.map((r) => h("input", { type: "checkbox", value: r.id }));
      return h(
        "form.stack",
        {
          onsubmit: (e) => {
            e.preventDefault();
            close(boxes.filter((b) => b.checked).map((b) => b.value));
          },
        },
        h(
          "div.choices",
          null,
          friends.length
            ? friends.map((r, i) =>
                h("label.choice", null, boxes[i], avatar(r.user, "", "tiny-avatar"), this.store.nameOf(r.id)),
              )
            : t("Nothing here yet"),
        ),
        h("div.actions", null, h("button.button.primary", { type: "submit" }, t("Start"))),
      );
    });
    if (!chosen?.length) return;
    const made = await this.app.tryCall(this.app.rest.post("/users/@me/channels", { recipients: chosen }));
    if (made) this.app.openPrivate(made);
  }

  guildMenu(at) {
    const g = this.guild,
      may = (r) => this.store.mayInGuild(g, r);
    menu(
      below(at),
      [
        may("CREATE_INSTANT_INVITE") && { label: t("Invite people"), icon: "people", run: () => this.invite() },
        { label: t("Server settings"), icon: "gear", run: () => this.app.go(`/channels/${g.id}/settings`) },
        { label: t("Events"), icon: "stage", run: () => this.app.go(`/channels/${g.id}/settings/events`) },
        may("MANAGE_CHANNELS") && { label: t("New channel"), icon: "plus", run: () => this.addChannel(null) },
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

  async invite() {
    const channel = this.channel?.guild_id ? this.channel : this.ordered().find((c) => c.type === 0);
    const made = await this.app.tryCall(this.app.rest.post(`/channels/${channel.id}/invites`, { max_age: 604800 }));
    if (!made) return;
    const url = `${location.origin}/invite/${made.code}`;
    dialog(t("Invite people"), () =>
      h(
        "div.stack",
        null,
        h("input", { value: url, readonly: true, "aria-label": t("Link"), onfocus: (e) => e.target.select() }),
        h("p.hint", null, t("The link is valid for seven days.")),
      ),
    );
  }

  async addChannel(category) {
    const kinds = [
      [0, t("Text")],
      [VOICE, t("Voice")],
      [STAGE, t("Stage")],
      [15, t("Forum")],
      [ANNOUNCEMENT, t("Announcements")],
      ...(category ? [] : [[CATEGORY, t("Category")]]),
    ];
    const made = await dialog(t("New channel"), (close) => {
      const name = field(t("Name"), h("input", { maxlength: 100, required: true })),
        type = field(
          t("Type"),
          h(
            "select",
            null,
            kinds.map(([n, words]) => h("option", { value: n }, words)),
          ),
        );
      return h(
        "form.stack",
        {
          onsubmit: (e) => {
            e.preventDefault();
            close({ name: name.control.value, type: Number(type.control.value) });
          },
        },
        name,
        type,
        h("div.actions", null, h("button.button.primary", { type: "submit" }, t("Create"))),
      );
    });
    if (made?.name)
      this.app.tryCall(
        this.app.rest.post(`/guilds/${this.guild.id}/channels`, { ...made, parent_id: category?.id ?? null }),
      );
  }

  drawSelf() {
    const me = this.store.me;
    fill(
      this.self,
      h(
        "button.plain.self-name",
        { type: "button", title: t("Status"), onclick: (e) => this.statusMenu(e.currentTarget) },
        h("span.with-status", null, avatar(me, "", "small-avatar"), statusDot(this.store, me.id)),
        h("span.clip", null, h("strong", null, me.global_name || me.username), h("small", null, `@${me.username}`)),
      ),
      h("a.icon-button", { href: "/settings", "aria-label": t("Settings"), title: t("Settings") }, icon("gear")),
    );
  }

  statusMenu(at) {
    const set = (status) => {
      this.app.gateway.send(3, { status, since: 0, afk: false, activities: [] });
      this.store.presences.set(this.store.me.id, { user: { id: this.store.me.id }, status });
      this.drawSelf();
    };
    menu(
      below(at),
      /** @type {any[]} */ (
        [
          ["online", t("Online")],
          ["idle", t("Away")],
          ["dnd", t("Do not disturb")],
          ["invisible", t("Invisible")],
        ].map(([s, label]) => ({ label, icon: "user", run: () => set(s) }))
      ).concat([{ label: t("Log out"), icon: "leave", danger: true, run: () => this.app.logOut() }]),
      t("Status"),
    );
  }

  drawVoice() {
    refill(this.voiceBar, voiceBar(this.app));
  }

  /* --- the open channel --- */

  closeMain() {
    this.composer?.end();
    this.list?.end();
    this.pageEnd?.();
    this.offMain?.forEach((f) => f());
    this.composer = this.list = this.pageEnd = this.offMain = null;
  }

  openMain(channel) {
    if (channel && this.channel?.id === channel.id && this.main.firstChild) return;
    this.closeMain();
    this.channel = channel;
    this.store.read(channel?.id);
    if (channel?.guild_id) localStorage.setItem(`last:${channel.guild_id}`, channel.id);
    this.listMembers(channel);
    document.title = `${channel ? this.store.nameOfChannel(channel) : t("Friends")} · Guildhall`;
    if (!channel) this.pageEnd = friendsPage(this.app, this.main, () => this.burger());
    else if (isVoice(channel)) this.pageEnd = voicePage(this.app, this.main, channel, this.head(channel));
    else if (isForum(channel)) this.pageEnd = forumPage(this.app, this.main, channel, this.head(channel));
    else this.openLog(channel);
  }

  burger() {
    return iconButton("menu", t("Channels"), () => this.shell.classList.toggle("side-open"), { class: "burger" });
  }

  head(channel) {
    const thread = isThread(channel),
      topic = channel.topic;
    return h(
      "header.main-head",
      null,
      this.burger(),
      icon(ICONS[channel.type] || (channel.guild_id ? "hash" : "user")),
      h("h1", null, this.store.nameOfChannel(channel)),
      topic ? h("p.topic.clip", { title: topic }, inline(topic, contextOf(this.app, channel))) : h("span.grow"),
      channel.type === 0 &&
        this.store.may(channel, "CREATE_PUBLIC_THREADS") &&
        iconButton("thread", t("New thread"), () => this.app.startThread(channel)),
      thread &&
        iconButton("close", t("Archive the thread"), () =>
          this.app.tryCall(this.app.rest.patch(`/channels/${channel.id}`, { archived: true }), t("Archived")),
        ),
      maySetUp(this.store, channel) &&
        h(
          "a.icon-button",
          { href: settingsPath(channel), "aria-label": t("Channel settings"), title: t("Channel settings") },
          icon("gear"),
        ),
      !isForum(channel) && iconButton("pin", t("Pinned messages"), () => this.showPins(channel)),
      channel.guild_id && iconButton("people", t("Members"), () => this.shell.classList.toggle("members-closed")),
    );
  }

  /** Shows a changed name or topic of the open channel; leaves a channel that was deleted. */
  refreshHead() {
    const now = this.channel && this.store.channels.get(this.channel.id),
      facts = (c) => JSON.stringify([c.name, c.topic, c.type]);
    if (!this.channel || now === this.channel) return;
    if (!now) return this.app.go(`/channels/${this.guild?.id || "@me"}`, true);
    const changed = facts(now) !== facts(this.channel);
    this.channel = now;
    if (changed) this.main.querySelector(".main-head")?.replaceWith(this.head(now));
  }

  async showPins(channel) {
    const pins = await this.app.tryCall(this.app.rest.get(`/channels/${channel.id}/pins`));
    if (pins)
      dialog(
        t("Pinned messages"),
        () =>
          pins.length
            ? h(
                "ol.messages.pins",
                null,
                pins.map((m) => message(this.app, channel, m)),
              )
            : h("p.faint", null, t("Nothing here yet")),
        { class: "wide" },
      );
  }

  openLog(channel) {
    const { store } = this,
      log = store.log(channel.id);
    const list = (this.list = new MessageList({
      label: t("Messages in {name}", { name: store.nameOfChannel(channel) }),
      render: (m, before) => message(this.app, channel, m, before),
      more: async () => {
        if (log.start || !log.list.length) return false;
        try {
          const n = await store.loadMessages(channel.id, log.list[0].id);
          problem = null;
          list.around(() => {
            list.shifted(n);
            draw();
          });
          return n > 0;
        } catch (e) {
          failed(t("Older messages could not be loaded: {reason}", { reason: e.message }), () => list.loadMore());
          return false;
        }
      },
    }));
    /** The error with a retry button; null after a successful load. */
    let problem = /** @type {HTMLElement|null} */ (null);
    const failed = (words, again) => {
      problem = h(
        "div.pad",
        null,
        h("p.field-error", { role: "alert" }, words),
        h("button.button.secondary", { type: "button", onclick: again }, t("Try again")),
      );
      draw();
    };
    const load = () => {
      problem = null;
      if (log.loaded) draw();
      else fill(list.head, h("p.faint.pad", { role: "status" }, t("Loading messages…")));
      return store
        .loadMessages(channel.id)
        .then(draw, (e) => failed(t("The messages could not be loaded: {reason}", { reason: e.message }), load));
    };
    const typing = h("div.typing", { "aria-live": "polite" });
    const jump = h(
      "button.new-messages",
      {
        type: "button",
        hidden: true,
        onclick: () => {
          list.stuck = true;
          draw();
        },
      },
      t("New messages"),
      " ↓",
    );
    this.composer = composer(this.app, channel);
    fill(this.main, this.head(channel), h("div.log", null, list.el, jump), typing, this.composer.el);
    const draw = () => {
      fill(
        list.head,
        problem ||
          (log.start &&
            h(
              "div.beginning",
              null,
              h("h2", null, channel.guild_id ? `#${channel.name}` : store.nameOfChannel(channel)),
              h("p.faint", null, t("This is the beginning of the conversation.")),
            )),
      );
      list.set(log.list);
      jump.hidden = list.stuck || list.atEnd;
    };
    const drawTyping = () => {
      const now = Date.now(),
        who = [...(store.typing.get(channel.id) || [])]
          .filter(([, until]) => until > now)
          .map(([id]) => store.nameOf(id, store.guildOf(channel)));
      typing.textContent = !who.length
        ? ""
        : who.length > 3
          ? t("Several people are typing…")
          : who.length > 1
            ? t("{names} are typing…", { names: who.join(", ") })
            : t("{name} is typing…", { name: who[0] });
    };
    this.offMain = [store.on(`messages:${channel.id}`, () => calmly(list.el, draw)), store.on("typing", drawTyping)];
    list.el.addEventListener(
      "scroll",
      () => {
        if (list.stuck) jump.hidden = true;
      },
      { passive: true },
    );
    this.main.ondragover = (e) => e.preventDefault();
    this.main.ondrop = (e) => {
      e.preventDefault();
      this.composer?.files([...e.dataTransfer.files]);
    };
    load();
    drawTyping();
    if (matchMedia("(min-width: 700px)").matches) this.composer.focus();
  }

  /** Scrolls to a message; loads older pages if necessary. */
  async jumpTo(id) {
    const { list, channel } = this,
      log = list && this.store.log(channel.id);
    for (let pages = 0; list && !list.jump(id); pages++) {
      if (log.start || pages === MOST_PAGES || this.list !== list)
        return toast(t("The message was not found: it is too old to jump to."), "bad");
      if (!(await list.loadMore())) return undefined;
    }
    return undefined;
  }

  /* --- members --- */

  /** Subscribes to the member list of the channel, because READY contains only some members. */
  listMembers(channel) {
    const parent = isThread(channel || {}) ? this.store.channels.get(channel.parent_id) : channel;
    if (parent?.guild_id)
      this.app.gateway.send(14, {
        guild_id: parent.guild_id,
        typing: true,
        threads: true,
        activities: false,
        channels: { [parent.id]: [[0, MEMBERS_LISTED - 1]] },
      });
  }

  drawMembers() {
    const people = this.guild
      ? [...this.guild.members.values()]
      : this.channel?.type === GROUP
        ? [{ user: this.store.me }, ...this.channel.recipients.map((user) => ({ user }))]
        : [];
    this.shell.classList.toggle("no-members", !people.length);
    if (!people.length) return fill(this.members);
    const rows = this.memberRows(people);
    if (!this.memberList)
      this.memberList = new RowList({
        height: 40,
        label: t("Members"),
        role: "list",
        render: (r) => this.memberRow(r),
      });
    if (!this.members.firstChild) fill(this.members, this.memberList.el);
    this.memberList.set(rows);
  }

  memberRows(people) {
    const g = this.guild,
      hoisted = g ? [...g.roles.values()].filter((r) => r.hoist).sort((a, b) => b.position - a.position) : [];
    const groups = new Map(hoisted.map((r) => [r.id, { name: r.name, list: [] }]));
    const online = { name: t("Online"), list: [] },
      offline = { name: t("Offline"), list: [] };
    for (const m of people) {
      const group = !isOnline(this.store, m.user.id)
        ? offline
        : groups.get(hoisted.find((r) => m.roles?.includes(r.id))?.id) || online;
      group.list.push(m);
    }
    const name = (m) => this.store.nameOf(m.user.id, g).toLowerCase();
    return [...groups.values(), online, offline]
      .filter((x) => x.list.length)
      .flatMap((x) => [
        { heading: `${x.name} – ${x.list.length}` },
        ...x.list.sort((a, b) => (name(a) < name(b) ? -1 : 1)),
      ]);
  }

  memberRow(r) {
    if (r.heading) return h("div.member-heading", { role: "listitem" }, r.heading);
    const name = this.store.nameOf(r.user.id, this.guild),
      color = this.store.colorOf(r.user.id, this.guild);
    return h(
      "div.member-slot",
      { role: "listitem" },
      h(
        "button.member",
        {
          type: "button",
          class: isOnline(this.store, r.user.id) ? "" : "offline",
          onclick: (e) => this.app.showProfile(r.user.id, e.currentTarget),
        },
        h("span.with-status", null, avatar(r.user, name, "small-avatar"), statusDot(this.store, r.user.id)),
        h("span.clip.author", { style: color ? { "--role": color } : null }, name),
        r.user.bot && h("span.tag", null, "APP"),
      ),
    );
  }
}

const badge = (n) => n > 0 && h("span.badge", null, n > 99 ? "99+" : n);
const counted = (n) => (n > 0 ? `, ${t("{n} mention|{n} mentions", { n: n > 99 ? "99+" : n })}` : "");

function isOnline(store, id) {
  if (id === store.me.id) return true;
  const status = store.presences.get(id)?.status;
  return !!status && status !== "offline";
}

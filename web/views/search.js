// search.js - message search: a panel with the query, filters and results.
import { suggest } from "../autocomplete.js";
import { fill, h } from "../dom.js";
import { iconButton } from "../icons.js";
import { avatar } from "../images.js";
import { message } from "../message.js";
import { HAS, filters, parameters } from "../search-query.js";
import { t } from "../translate.js";
import { jumpButton } from "./channel-head.js";

const PAGE = 25,
  MOST_OFFSET = 9975;

/** The search button of a channel's header. */
export function searchButton(chat) {
  return iconButton("search", t("Search"), () => openSearch(chat));
}

/** Opens the search panel. If it is already open, focuses it. */
export function openSearch(chat, text) {
  if (!chat.searchPanel) chat.searchPanel = new SearchPanel(chat);
  if (text !== undefined) chat.searchPanel.input.value = text;
  chat.searchPanel.input.focus();
}

class SearchPanel {
  constructor(chat) {
    this.chat = chat;
    this.app = chat.app;
    this.store = chat.store;
    this.guild = chat.guild;
    this.channel = chat.channel;
    this.before = document.activeElement;
    this.input = h("input", {
      type: "search",
      "aria-label": t("Search messages"),
      placeholder: t("Search"),
      autocomplete: "off",
      maxlength: 1000,
    });
    this.order = h(
      "select",
      { "aria-label": t("Sort by"), onchange: () => this.found && this.search(0) },
      h("option", { value: "desc" }, t("Newest")),
      h("option", { value: "asc" }, t("Oldest")),
      h("option", { value: "relevance" }, t("Relevance")),
    );
    this.results = h("div.search-results", { tabindex: 0, role: "region", "aria-label": t("Search results") });
    this.status = h("p.search-status.faint", { role: "status" });
    this.hints = suggest(this.input, {
      label: t("Filters"),
      find: () => this.suggestions(),
      row: (s) => [
        s.user && avatar(s.user, "", "tiny-avatar"),
        h("span.suggestion-main", null, h("strong", null, s.text)),
        h("span.faint", null, s.detail || ""),
      ],
      choose: (s) => this.take(s),
      group: (s) => s.group,
      quiet: true,
    });
    this.el = h(
      "aside.search-panel",
      { "aria-label": t("Search") },
      h(
        "form.search-form",
        {
          role: "search",
          onsubmit: (e) => {
            e.preventDefault();
            this.hints.close();
            this.search(0);
          },
        },
        this.input,
        iconButton("close", t("Close the search"), () => this.end()),
        this.hints.list,
      ),
      h("div.search-line", null, this.status, this.order),
      this.results,
    );
    this.el.addEventListener("keydown", (e) => e.key === "Escape" && !e.defaultPrevented && this.end());
    this.input.addEventListener("focus", () => this.hints.update());
    chat.shell.append(this.el);
    chat.shell.classList.add("searching");
    this.help();
  }

  end() {
    this.el.remove();
    this.chat.shell.classList.remove("searching");
    this.chat.searchPanel = null;
    if (this.before instanceof HTMLElement && this.before.isConnected) this.before.focus();
  }

  /** Lists the search filters. The list is shown before the first search. */
  help() {
    fill(
      this.results,
      h(
        "dl.search-help",
        null,
        filters()
          .filter(([name]) => this.guild || name !== "in:")
          .map(([name, words]) => [
            h(
              "dt",
              null,
              h(
                "button.chip",
                { type: "button", onclick: () => this.take({ text: name, part: "filter" }, true) },
                name,
              ),
            ),
            h("dd.faint", null, words),
          ]),
      ),
    );
  }

  /* --- suggestions --- */

  lastWord() {
    return /\S*$/.exec(this.input.value.slice(0, this.input.selectionStart))?.[0] || "";
  }

  async suggestions() {
    const word = this.lastWord(),
      [, name, value] = /^(\w+):(.*)$/.exec(word) || [],
      text = (value || "").toLowerCase();
    if (!name)
      return word
        ? filters()
            .filter(([f]) => f.startsWith(word.toLowerCase()) && (this.guild || f !== "in:"))
            .map(([f, detail]) => ({ text: f, detail, part: "filter" }))
        : [];
    if (name === "from" || name === "mentions")
      return (await this.people(text)).map((user) => ({
        text: user.username,
        detail: this.store.nameOf(user.id, this.guild),
        user,
        group: t("Members"),
      }));
    if (name === "in" && this.guild)
      return this.store
        .channelsOf(this.guild)
        .filter((c) => c.type !== 4 && c.name?.toLowerCase().includes(text))
        .slice(0, 8)
        .map((c) => ({ text: c.name, group: t("Channels") }));
    if (name === "has") return HAS.filter((x) => x.startsWith(text)).map((x) => ({ text: x }));
    if (name === "pinned") return ["true", "false"].map((x) => ({ text: x }));
    return ["today", "yesterday"].filter((x) => x.startsWith(text)).map((x) => ({ text: x }));
  }

  async people(text) {
    if (!this.guild) return [this.store.me, ...(this.channel?.recipients || [])];
    return this.store.findPeople(this.guild, text);
  }

  take(s, append) {
    if (append) {
      const old = this.input.value.trimEnd();
      this.input.value = old ? `${old} ${s.text}` : s.text;
    } else {
      const word = this.lastWord(),
        at = this.input.selectionStart,
        name = s.part === "filter" ? "" : `${word.split(":")[0]}:`,
        value = s.part !== "filter" && /\s/.test(s.text) ? `"${s.text}"` : s.text;
      this.input.setRangeText(name + value + (s.part === "filter" ? "" : " "), at - word.length, at, "end");
    }
    this.input.focus();
    this.hints.update();
  }

  /* --- results --- */

  async personId(name) {
    if (name === "@me") return this.store.me.id;
    if (/^\d{15,21}$/.test(name)) return name;
    const lower = name.toLowerCase(),
      list = await this.people(lower);
    const same = (u) =>
      u.username.toLowerCase() === lower || this.store.nameOf(u.id, this.guild).toLowerCase() === lower;
    return list.find(same)?.id || null;
  }

  channelId(name) {
    if (/^\d{15,21}$/.test(name)) return name;
    const list = this.guild ? this.store.channelsOf(this.guild) : [];
    return list.find((c) => c.type !== 4 && c.name?.toLowerCase() === name.toLowerCase())?.id || null;
  }

  async search(offset) {
    const turn = (this.turn = (this.turn || 0) + 1);
    if (!this.input.value.trim()) return this.help();
    this.status.textContent = t("Searching…");
    try {
      const query = await parameters(this.input.value, {
        user: (name) => this.personId(name),
        channel: (name) => this.channelId(name),
      });
      const order = this.order.value;
      query.set("sort_by", order === "relevance" ? "relevance" : "timestamp");
      if (order !== "relevance") query.set("sort_order", order);
      query.set("limit", String(PAGE));
      query.set("offset", String(offset));
      const path = this.guild ? `/guilds/${this.guild.id}` : `/channels/${this.channel.id}`;
      const found = await this.app.rest.get(`${path}/messages/search?${query}`);
      if (turn !== this.turn) return;
      if (!found.messages) throw new Error(t("The server is still indexing its messages. Search again in a minute."));
      this.show(found, offset);
    } catch (e) {
      if (turn !== this.turn) return;
      this.status.textContent = "";
      fill(this.results, h("p.field-error.pad", { role: "alert" }, e.words || e.message));
    }
  }

  show(found, offset) {
    this.found = found;
    const list = found.messages.map((group) => group.find((m) => m.hit) || group[0]);
    (found.threads || []).forEach(
      (c) => this.store.channels.has(c.id) || this.store.channels.set(c.id, { ...c, guild_id: this.guild?.id }),
    );
    list.forEach((m) => this.store.keepAuthors(m));
    this.status.textContent = t("{n} result|{n} results", { n: found.total_results });
    let last = null;
    const rows = list.map((m) => {
      const channel = this.store.channels.get(m.channel_id) || this.channel,
        heading = channel.id !== last && this.guild ? h("h3.search-channel", null, `#${channel.name}`) : null;
      last = channel.id;
      const row = message(this.app, channel, m, null, false, { quiet: true });
      row.append(jumpButton(() => this.jump(m, channel)));
      return [heading && h("li", null, heading), row];
    });
    fill(
      this.results,
      list.length
        ? h("ol.messages", { "aria-label": t("Search results") }, rows)
        : h("p.faint.pad", null, t("No message matches. Use fewer words or filters.")),
      found.total_results > PAGE && this.pager(offset, found.total_results),
    );
    this.results.scrollTop = 0;
  }

  jump(m, channel) {
    if (matchMedia("(max-width: 700px)").matches) this.end();
    this.app.jumpTo(m.id, channel.id);
  }

  pager(offset, total) {
    const page = offset / PAGE + 1,
      pages = Math.ceil(Math.min(total, MOST_OFFSET + PAGE) / PAGE);
    const button = (words, to, off) =>
      h("button.button.secondary", { type: "button", disabled: off, onclick: () => this.search(to) }, words);
    return h(
      "div.pager",
      { role: "group", "aria-label": t("Pages") },
      button(t("Back"), offset - PAGE, offset === 0),
      h("span.faint", null, t("Page {n} of {pages}", { n: page, pages })),
      button(t("Next"), offset + PAGE, page >= pages),
    );
  }
}

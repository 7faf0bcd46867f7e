// forum.js - the posts of a forum channel: search, tags, order, active and archived posts, new posts.
import { fill, h, refill } from "../dom.js";
import { icon } from "../icons.js";
import { emptyState } from "../first-steps.js";
import { ownPath } from "../images.js";
import { emoji, relative } from "../markdown.js";
import { isThread, timeOf } from "../store.js";
import { t } from "../translate.js";
import { newPost } from "./new-post.js";

const PAGE = 25,
  PINNED = 2,
  CREATION = "creation_time",
  ACTIVITY = "last_message_time";

export function forumPage(app, main, channel, head) {
  const { store } = app,
    guild = store.guildOf(channel),
    wanted = new Set();
  const list = h("ul.posts", { "aria-label": t("Posts") }),
    note = h("div.faint", { role: "status" }),
    more = h(
      "button.button.secondary",
      { type: "button", hidden: true, onclick: () => load(posts.length) },
      t("Show more"),
    ),
    chips = h("div.chips", { role: "group", "aria-label": t("Filter by tags") });
  const words = h("input", {
    type: "search",
    placeholder: t("Search posts"),
    "aria-label": t("Search posts"),
    oninput: () => later(),
  });
  const order = h(
    "select",
    { "aria-label": t("Sort by"), onchange: () => load(0) },
    h("option", { value: ACTIVITY, selected: channel.default_sort_order !== 1 }, t("Recent activity")),
    h("option", { value: CREATION, selected: channel.default_sort_order === 1 }, t("Date posted")),
  );
  const state = h(
    "select",
    { "aria-label": t("State"), onchange: () => load(0) },
    h("option", { value: "" }, t("All posts")),
    h("option", { value: "false" }, t("Active")),
    h("option", { value: "true" }, t("Archived")),
  );
  let posts = /** @type {any[]} */ ([]),
    first = new Map(),
    turn = 0,
    timer;
  const tagOf = (id) => (channel.available_tags || []).find((x) => x.id === id);
  const tagWords = (tag) => [
    tag.emoji_id || tag.emoji_name ? [emoji(tag.emoji_name || tag.name, tag.emoji_id), " "] : null,
    tag.name,
  ];

  function drawChips() {
    refill(
      chips,
      (channel.available_tags || []).map((tag) =>
        h(
          "button.chip",
          {
            type: "button",
            dataset: { key: tag.id },
            "aria-pressed": String(wanted.has(tag.id)),
            onclick: () => {
              if (!wanted.delete(tag.id)) wanted.add(tag.id);
              drawChips();
              load(0);
            },
          },
          tagWords(tag),
        ),
      ),
    );
  }

  function later() {
    clearTimeout(timer);
    timer = setTimeout(() => load(0), 250);
  }

  async function load(offset) {
    const mine = ++turn,
      query = new URLSearchParams({
        limit: String(PAGE),
        offset: String(offset),
        sort_by: order.value,
        sort_order: "desc",
      });
    if (words.value.trim()) query.set("name", words.value.trim());
    if (state.value) query.set("archived", state.value);
    wanted.forEach((id) => query.append("tag", id));
    try {
      const found = await app.rest.get(`/channels/${channel.id}/threads/search?${query}`);
      if (mine !== turn) return;
      const members = new Map((found.members || []).map((m) => [m.id, m]));
      const page = found.threads.map((c) => ({
        ...c,
        guild_id: channel.guild_id,
        member: members.get(c.id) || c.member,
      }));
      page.forEach((c) => store.channels.set(c.id, { ...store.channels.get(c.id), ...c }));
      (found.first_messages || []).forEach((m) => {
        store.keepAuthors(m);
        first.set(m.channel_id, m);
      });
      posts = offset ? [...posts, ...page] : page;
      more.hidden = !found.has_more;
      const filtered = wanted.size || words.value.trim() || state.value;
      fill(
        note,
        !posts.length &&
          (filtered
            ? t("No post matches. Remove a filter.")
            : emptyState({
                icon: "forum",
                title: t("No posts yet"),
                words: t("Choose “New post” to write the first post."),
              })),
      );
      draw();
    } catch (e) {
      if (mine !== turn) return;
      fill(
        note,
        h("span.field-error", { role: "alert" }, t("The posts could not be loaded: {reason}", { reason: e.message })),
        " ",
        h("button.button.secondary", { type: "button", onclick: () => load(offset) }, t("Try again")),
      );
    }
  }

  function card(c) {
    const now = store.channels.get(c.id) || c,
      start = first.get(c.id),
      image = (start?.attachments || []).find((a) => (a.content_type || "").startsWith("image/") && ownPath(a.url));
    const active = now.last_message_id ? relative(new Date(timeOf(now.last_message_id))) : "";
    const facts = [
      store.nameOf(now.owner_id, guild),
      t("{n} message|{n} messages", { n: now.message_count ?? 0 }),
      active,
      now.thread_metadata?.archived && t("archived"),
      now.thread_metadata?.locked && t("locked"),
      now.member && t("followed"),
    ];
    return h(
      "li",
      null,
      h(
        "a.post",
        {
          href: `/channels/${channel.guild_id}/${c.id}`,
          dataset: { key: c.id },
          class: store.unread.has(c.id) ? "unread" : "",
        },
        h(
          "span.post-text",
          null,
          h("strong", null, !!(now.flags & PINNED) && icon("pin"), now.name),
          h(
            "span.chips",
            null,
            (now.applied_tags || []).map((x) => tagOf(x) && h("span.chip", null, tagWords(tagOf(x)))),
          ),
          start?.content && h("span.clip.faint", null, start.content.slice(0, 200)),
          h("span.faint", null, facts.filter(Boolean).join(" · ")),
        ),
        image && h("img.post-picture", { src: ownPath(image.url), alt: "", loading: "lazy" }),
      ),
    );
  }

  function draw() {
    const known = posts.filter((c) => store.channels.has(c.id)),
      pinned = (c) => Number(!!((store.channels.get(c.id)?.flags || 0) & PINNED));
    refill(list, [...known].sort((a, b) => pinned(b) - pinned(a)).map(card));
  }

  /**
   * Draws the posts again after an event about a channel. If a post was created, loads all posts again with their first
   * messages.
   */
  function changed() {
    const known = new Set(posts.map((c) => c.id));
    const fresh = store
      .channelsOf(guild)
      .some((c) => isThread(c) && c.parent_id === channel.id && !c.thread_metadata?.archived && !known.has(c.id));
    channel = store.channels.get(channel.id) || channel;
    if (fresh && !wanted.size && !words.value && posts.length < PAGE) later();
    draw();
  }

  fill(
    main,
    head,
    h(
      "div.scroller.pad",
      { tabindex: 0, role: "region", "aria-label": t("Posts") },
      channel.topic && h("p.faint", null, channel.topic),
      h(
        "div.posts-head",
        null,
        words,
        order,
        state,
        store.may(channel, "SEND_MESSAGES") &&
          h("button.button.primary", { type: "button", onclick: () => newPost(app, channel) }, t("New post")),
      ),
      chips,
      note,
      list,
      more,
    ),
  );
  drawChips();
  note.textContent = t("Loading…");
  load(0);
  const off = [store.on("channels", changed), store.on("unread", draw)];
  return () => {
    clearTimeout(timer);
    off.forEach((f) => f());
  };
}

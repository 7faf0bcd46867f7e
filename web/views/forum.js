// forum.js - the posts of a forum channel, active and archived, with their tags.
import { dialog, field, fill, h, refill } from "../dom.js";
import { isThread } from "../store.js";
import { emptyState } from "../first-steps.js";
import { t } from "../translate.js";

export function forumPage(app, main, channel, head) {
  const { store } = app;
  const list = h("div.posts");
  let archived = [];
  const tagName = (id) => (channel.available_tags || []).find((x) => x.id === id)?.name;

  function draw() {
    const open = store.channelsOf(store.guildOf(channel)).filter((c) => isThread(c) && c.parent_id === channel.id);
    const all = [...open, ...archived.filter((a) => !open.some((o) => o.id === a.id))].sort((a, b) =>
      a.id < b.id ? 1 : -1,
    );
    refill(
      list,
      all.length
        ? all.map((c) =>
            h(
              "a.post",
              { href: `/channels/${channel.guild_id}/${c.id}`, dataset: { key: c.id } },
              h("strong", null, c.name),
              (c.applied_tags || []).map((x) => tagName(x) && h("span.chip", null, tagName(x))),
              h(
                "span.faint",
                null,
                [
                  store.nameOf(c.owner_id, store.guildOf(channel)),
                  t("{n} message|{n} messages", { n: c.message_count ?? 0 }),
                  c.thread_metadata?.archived && t("archived"),
                ]
                  .filter(Boolean)
                  .join(" · "),
              ),
            ),
          )
        : emptyState({ icon: "forum", title: t("No posts yet"), words: t("Choose New post to begin a conversation.") }),
    );
  }

  async function post() {
    const made = await dialog(t("New post"), (close) => {
      const name = field(t("Title"), h("input", { maxlength: 100, required: true })),
        text = field(t("Message"), h("textarea", { rows: 5, maxlength: 2000, required: true }));
      const tags = (channel.available_tags || []).map((x) => h("input", { type: "checkbox", value: x.id }));
      return h(
        "form.stack",
        {
          onsubmit: (e) => {
            e.preventDefault();
            close({
              name: name.control.value,
              message: { content: text.control.value },
              applied_tags: tags.filter((b) => b.checked).map((b) => b.value),
            });
          },
        },
        name,
        text,
        tags.length > 0 &&
          h(
            "div.chips",
            null,
            tags.map((b) => h("label.chip", null, b, tagName(b.value))),
          ),
        h("div.actions", null, h("button.button.primary", { type: "submit" }, t("Post"))),
      );
    });
    if (!made) return;
    if (!made.applied_tags.length) delete made.applied_tags;
    const thread = await app.tryCall(app.rest.post(`/channels/${channel.id}/threads`, made));
    if (thread) app.openChannel(thread);
  }

  fill(
    main,
    head,
    h(
      "div.scroller.pad",
      { tabindex: 0 },
      h(
        "div.posts-head",
        null,
        h("p.faint", null, channel.topic || ""),
        store.may(channel, "SEND_MESSAGES") &&
          h("button.button.primary", { type: "button", onclick: post }, t("New post")),
      ),
      list,
    ),
  );
  draw();
  app.rest.get(`/channels/${channel.id}/threads/archived/public`).then(
    (d) => {
      archived = d.threads;
      archived.forEach(
        (c) => store.channels.has(c.id) || store.channels.set(c.id, { ...c, guild_id: channel.guild_id }),
      );
      draw();
    },
    () => {},
  );
  return store.on("channels", draw);
}

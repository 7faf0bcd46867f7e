// message-menu.js - the context menu of a message, and its actions: delete, forward, copy, mark unread, threads.
import { isBookmarked, toggleBookmark } from "./bookmarks.js";
import { contextCommands } from "./commands.js";
import { dialog, field, h, toast } from "./dom.js";
import { below, menu } from "./menu.js";
import { message } from "./message.js";
import { showReactions } from "./message-tools.js";
import { suggest } from "./autocomplete.js";
import { isForum, isVoice } from "./store.js";
import { t } from "./translate.js";

/** Returns the position of a menu: below a button, or at the pointer. @param {Element|MouseEvent} at */
export function menuPosition(at) {
  if (at instanceof Element) return below(at);
  if (at.clientX || at.clientY) return { x: at.clientX, y: at.clientY };
  return below(/** @type {Element} */ (at.currentTarget || at.target));
}

async function copy(text, done) {
  try {
    await navigator.clipboard.writeText(text);
    toast(done);
  } catch {
    dialog(t("Copy"), () => h("textarea", { readonly: true, rows: 3, "aria-label": t("Text"), value: text }));
  }
}

export const linkTo = (channel, id) =>
  `${location.origin}/channels/${channel.guild_id || "@me"}/${channel.id}${id ? `/${id}` : ""}`;
export const copyLink = (channel, id) => copy(linkTo(channel, id), t("Link copied"));
export const copyId = (id) => copy(id, t("ID copied"));

/** Deletes a message. Asks for confirmation first, unless atOnce is true because Shift was pressed. */
export async function deleteMessage(app, channel, m, atOnce) {
  const own = m.author.id === app.store.me.id;
  if (!own && !(channel.guild_id && app.store.may(channel, "MANAGE_MESSAGES"))) return;
  const sure =
    atOnce ||
    (await dialog(t("Delete message"), (close) =>
      h(
        "div.stack",
        null,
        h("p", null, t("Delete this message? This cannot be undone.")),
        h("ol.messages.preview", null, message(app, channel, m, null, false, { quiet: true })),
        h("p.hint", null, t("Hold Shift while you choose Delete to skip this question.")),
        h(
          "div.actions",
          null,
          h("button.button.secondary", { type: "button", onclick: () => close(false) }, t("Cancel")),
          h("button.button.danger", { type: "button", autofocus: true, onclick: () => close(true) }, t("Delete")),
        ),
      ),
    ));
  if (sure) await app.tryCall(app.rest.delete(`/channels/${channel.id}/messages/${m.id}`));
}

/** Asks for a channel, and forwards the message to it. */
export async function forward(app, channel, m) {
  const { store } = app;
  const name = (c) => `${c.guild_id ? "#" : "@"}${store.nameOfChannel(c)}`;
  /** Finds channels by name. Stops after a few matches, because the user may see 100,000 channels. */
  const find = (words) => {
    const found = [];
    for (const c of [...store.privateChannels(), ...store.channels.values()]) {
      if (c.type === 4 || isForum(c) || isVoice(c) || found.some((f) => f.c === c)) continue;
      if (!name(c).toLowerCase().includes(words) || !store.may(c, "SEND_MESSAGES")) continue;
      found.push({ c, label: name(c), detail: store.guildOf(c)?.name || "" });
      if (found.length === 10) break;
    }
    return found;
  };
  let target = null;
  const chosen = await dialog(t("Forward"), (close) => {
    const to = field(
        t("Forward to"),
        h("input", { autocomplete: "off", required: true, placeholder: t("Channel or person") }),
      ),
      note = field(t("Message (optional)"), h("input", { maxlength: 2000 }));
    const list = suggest(to.control, {
      label: t("Channels"),
      find: () => find(to.control.value.toLowerCase().replace(/^[#@]/, "")),
      row: (p) => [h("span.suggestion-main", null, h("strong", null, p.label)), h("span.faint", null, p.detail)],
      choose: (p) => {
        target = p.c;
        to.control.value = p.label;
        to.problem();
      },
    });
    to.control.addEventListener("input", () => (target = null));
    to.append(list.list);
    return h(
      "form.stack",
      {
        onsubmit: (e) => {
          e.preventDefault();
          if (!target) return to.problem(t("Choose a channel or a person from the list."));
          close({ target, note: note.control.value.trim() });
        },
      },
      to,
      note,
      h("div.actions", null, h("button.button.primary", { type: "submit" }, t("Send"))),
    );
  });
  if (!chosen) return;
  const path = `/channels/${chosen.target.id}/messages`;
  const reference = { type: 1, message_id: m.id, channel_id: channel.id, guild_id: channel.guild_id };
  const sent = await app.tryCall(
    app.rest.post(path, { message_reference: reference }),
    t("Forwarded to {name}", { name: name(chosen.target) }),
  );
  if (sent && chosen.note) await app.tryCall(app.rest.post(path, { content: chosen.note }));
}

/** @param {Element|MouseEvent} at */
export async function messageMenu(app, channel, m, at) {
  const { store } = app,
    own = m.author.id === store.me.id,
    manage = channel.guild_id && store.may(channel, "MANAGE_MESSAGES"),
    position = menuPosition(at);
  const [apps, marked] = await Promise.all([
    contextCommands(app, channel, 3, m.id).catch(() => []),
    isBookmarked(app, m.id),
  ]);
  menu(
    position,
    [
      ...apps,
      own && { label: t("Edit"), icon: "edit", run: () => app.editMessage(channel, m) },
      store.may(channel, "SEND_MESSAGES") && { label: t("Reply"), icon: "reply", run: () => app.replyTo(m) },
      m.reactions?.length > 0 && { label: t("Reactions"), icon: "smile", run: () => showReactions(app, channel, m) },
      { label: t("Forward"), icon: "forward", run: () => forward(app, channel, m) },
      (manage || store.may(channel, "PIN_MESSAGES")) && {
        label: m.pinned ? t("Unpin") : t("Pin"),
        icon: "pin",
        run: () => app.tryCall(app.rest.call(m.pinned ? "DELETE" : "PUT", `/channels/${channel.id}/pins/${m.id}`)),
      },
      channel.guild_id &&
        !m.thread &&
        channel.type === 0 &&
        store.may(channel, "CREATE_PUBLIC_THREADS") && {
          label: t("Start a thread"),
          icon: "thread",
          run: () => app.startThread(channel, m),
        },
      {
        label: marked ? t("Remove bookmark") : t("Bookmark"),
        icon: "check",
        run: () => toggleBookmark(app, channel.id, m.id, marked),
      },
      { label: t("Mark unread"), icon: "bell", run: () => app.tryCall(store.markUnreadFrom(channel.id, m.id)) },
      { label: t("Copy text"), icon: "edit", run: () => copy(m.content, t("Text copied")) },
      { label: t("Copy message link"), icon: "link", run: () => copyLink(channel, m.id) },
      { label: t("Copy ID"), icon: "hash", run: () => copyId(m.id) },
      {
        label: t("Show as JSON"),
        icon: "wrench",
        run: () => dialog(t("Message"), () => h("pre.json", { tabindex: 0 }, JSON.stringify(m, null, 2))),
      },
      !own && {
        label: t("Report message"),
        icon: "hand",
        danger: true,
        run: () => import("./report-message.js").then(({ reportMessage }) => reportMessage(app, channel, m)),
      },
      (own || manage) && {
        label: t("Delete"),
        icon: "trash",
        danger: true,
        run: (e) => deleteMessage(app, channel, m, e?.shiftKey),
      },
    ].filter(Boolean),
    t("Message"),
  );
}

// threads.js - the threads of a channel: list of active and archived threads, follow, archive, lock.
import { dialog, fill, h } from "../dom.js";
import { icon, iconButton } from "../icons.js";
import { relative } from "../markdown.js";
import { ANNOUNCEMENT, TEXT, isThread } from "../store.js";
import { t } from "../translate.js";

/** A button that opens the list of the threads of a text channel. */
export function threadsButton(app, channel) {
  if (channel.type !== TEXT && channel.type !== ANNOUNCEMENT) return null;
  return iconButton("thread", t("Threads"), () => showThreads(app, channel));
}

/** The buttons in the header of an open thread: follow, lock, archive. */
export function threadButtons(app, thread) {
  const { store } = app,
    { archived, locked } = thread.thread_metadata || {},
    manage = store.may(thread, "MANAGE_THREADS"),
    own = thread.owner_id === store.me.id,
    path = `/channels/${thread.id}`;
  const change = (body, done) => app.tryCall(app.rest.patch(path, body), done);
  const follow = async () => {
    const done = await app.tryCall(
      thread.member ? app.rest.delete(`${path}/thread-members/@me`) : app.rest.post(`${path}/thread-members/@me`, {}),
    );
    if (!done) return;
    const now = store.channels.get(thread.id);
    store.channels.set(thread.id, { ...now, member: thread.member ? undefined : now.member || { id: thread.id } });
    store.touch("channels");
  };
  return [
    h(
      "button.button.secondary.compact",
      { type: "button", "aria-pressed": String(!!thread.member), onclick: follow },
      thread.member ? t("Unfollow") : t("Follow"),
    ),
    manage &&
      iconButton(locked ? "unlock" : "lock", locked ? t("Unlock the thread") : t("Lock the thread"), () =>
        change({ locked: !locked }, locked ? t("Unlocked") : t("Locked")),
      ),
    (manage || own) &&
      iconButton(
        archived ? "unarchive" : "archive",
        archived ? t("Unarchive the thread") : t("Archive the thread"),
        () => change({ archived: !archived }, archived ? t("The thread is open again") : t("Archived")),
      ),
  ];
}

function row(app, c, close) {
  const { store } = app;
  const facts = [
    store.nameOf(c.owner_id, store.guildOf(c)),
    t("{n} message|{n} messages", { n: c.message_count ?? 0 }),
    c.thread_metadata?.archived &&
      t("archived {time}", { time: relative(new Date(c.thread_metadata.archive_timestamp)) }),
    c.thread_metadata?.locked && t("locked"),
    c.member && t("followed"),
  ];
  const open = () => {
    close();
    if (!store.channels.has(c.id)) store.channels.set(c.id, c);
    app.openChannel(c);
  };
  return h(
    "li",
    null,
    h(
      "button.post",
      { type: "button", onclick: open },
      icon(c.type === 12 ? "lock" : "thread"),
      h("strong", null, c.name),
      h("span.faint", null, facts.filter(Boolean).join(" · ")),
    ),
  );
}

/** A dialog with the active and the archived threads of a channel. */
function showThreads(app, channel) {
  const { store } = app,
    guild = store.guildOf(channel);
  dialog(
    t("Threads"),
    (close) => {
      const active = store
        .channelsOf(guild)
        .filter((c) => isThread(c) && c.parent_id === channel.id && !c.thread_metadata?.archived);
      const list = h("ul.thread-list", { "aria-label": t("Archived threads") }),
        more = h("button.button.secondary", { type: "button", hidden: true, onclick: () => load() }, t("Show more")),
        note = h("p.faint", { role: "status" }, t("Loading…"));
      let before = "",
        count = 0;
      const load = async () => {
        try {
          const page = await app.rest.get(`/channels/${channel.id}/threads/archived/public?limit=25${before}`);
          count += page.threads.length;
          page.threads.forEach((c) => list.append(row(app, { ...c, guild_id: channel.guild_id }, close)));
          more.hidden = !page.has_more;
          note.textContent = count ? "" : t("This channel has no archived threads.");
          const last = page.threads.at(-1)?.thread_metadata.archive_timestamp;
          before = last ? `&before=${encodeURIComponent(last)}` : "";
        } catch (e) {
          fill(note, t("The archived threads could not be loaded: {reason}", { reason: e.message }));
        }
      };
      load();
      return h(
        "div.stack",
        null,
        store.may(channel, "CREATE_PUBLIC_THREADS") &&
          h(
            "button.button.primary",
            { type: "button", onclick: () => (close(), app.startThread(channel)) },
            t("New thread"),
          ),
        h("h3", null, t("Active")),
        active.length
          ? h(
              "ul.thread-list",
              { "aria-label": t("Active threads") },
              active.slice(0, 200).map((c) => row(app, c, close)),
            )
          : h("p.faint", null, t("This channel has no active threads.")),
        h("h3", null, t("Archived")),
        list,
        note,
        more,
      );
    },
    { class: "wide" },
  );
}

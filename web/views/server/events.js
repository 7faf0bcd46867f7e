// events.js - the scheduled events of a guild: create, edit, start, end, cancel, and mark as interesting.
import { fill, h } from "../../dom.js";
import { small } from "../../forms.js";
import { STAGE, VOICE } from "../../store.js";
import { locale, t } from "../../translate.js";
import { confirmDelete, formDialog, live, section } from "./shared.js";

const SCHEDULED = 1,
  ACTIVE = 2,
  COMPLETED = 3,
  CANCELED = 4;
const IN_STAGE = 1,
  IN_VOICE = 2,
  EXTERNAL = 3,
  GUILD_ONLY = 2,
  HOUR_MS = 3600000;

/** Formats a time in local time for an input of type datetime-local. @param {Date} date */
const localTime = (date) => new Date(date.getTime() - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16);
const shownTime = (text) => new Date(text).toLocaleString(locale, { dateStyle: "medium", timeStyle: "short" });

function rowsOf(app, g, e) {
  const start = e ? new Date(e.scheduled_start_time) : new Date(Math.ceil(Date.now() / HOUR_MS + 1) * HOUR_MS),
    end = e?.scheduled_end_time ? new Date(e.scheduled_end_time) : new Date(start.getTime() + HOUR_MS);
  const channels = app.store
    .channelsOf(g)
    .filter((c) => (c.type === VOICE || c.type === STAGE) && app.store.may(c, "CONNECT"))
    .slice(0, 1000);
  return [
    { name: "name", label: t("Name"), value: e?.name, required: true, props: { maxlength: 100 } },
    {
      name: "channel",
      label: t("Channel"),
      value: e?.channel_id || "",
      options: /** @type {[any, string][]} */ ([["", t("Not in a channel")], ...channels.map((c) => [c.id, c.name])]),
    },
    {
      name: "location",
      label: t("Location"),
      value: e?.entity_metadata?.location,
      props: { maxlength: 100 },
      hint: t("Required if the event does not take place in a channel."),
    },
    { name: "start", label: t("Start"), type: "datetime-local", value: localTime(start), required: true },
    { name: "end", label: t("End"), type: "datetime-local", value: localTime(end) },
    { name: "description", label: t("Description"), value: e?.description, rows: 3, props: { maxlength: 1000 } },
  ];
}

function bodyOf(app, v) {
  const channel = app.store.channels.get(v.channel);
  if (!channel && !v.location.trim()) throw new Error(t("Choose a channel or enter a location."));
  if (v.end && v.end <= v.start) throw new Error(t("The end must be after the start."));
  return {
    name: v.name,
    description: v.description || null,
    privacy_level: GUILD_ONLY,
    scheduled_start_time: new Date(v.start).toISOString(),
    scheduled_end_time: v.end ? new Date(v.end).toISOString() : null,
    entity_type: !channel ? EXTERNAL : channel.type === STAGE ? IN_STAGE : IN_VOICE,
    channel_id: channel?.id ?? null,
    entity_metadata: channel ? null : { location: v.location.trim() },
  };
}

export async function events(app, g, body, watch) {
  const path = `/guilds/${g.id}/scheduled-events`,
    may = (right) => app.store.mayInGuild(g, right);
  const create = () =>
    formDialog(t("New event"), rowsOf(app, g, null), t("Create"), async (v) => app.rest.post(path, bodyOf(app, v)));
  const edit = (e) =>
    formDialog(e.name, rowsOf(app, g, e), t("Save"), async (v) => app.rest.patch(`${path}/${e.id}`, bodyOf(app, v)));
  const set = (e, status) => app.tryCall(app.rest.patch(`${path}/${e.id}`, { status }));
  const cancel = (e) =>
    confirmDelete(
      t("Cancel event"),
      t("Cancel the event {name}?", { name: e.name }),
      () => app.rest.patch(`${path}/${e.id}`, { status: CANCELED }),
      t("Cancel event"),
    );
  let interested = new Set();
  /**
   * Finds the scheduled events in which the user is interested. Reads the list of interested users of each event,
   * starting at the user's own id.
   */
  const readInterest = async (all) => {
    const me = app.store.me.id,
      query = `after=${BigInt(me) - 1n}&limit=1&upgrade_response_type=true`;
    const lists = await Promise.all(all.map((e) => app.rest.get(`${path}/${e.id}/users?${query}`).catch(() => [])));
    interested = new Set(all.filter((e, i) => (lists[i][0]?.user_id || lists[i][0]?.user?.id) === me).map((e) => e.id));
  };
  const mark = (e, on) =>
    app.tryCall(app.rest.call(on ? "PUT" : "DELETE", `${path}/${e.id}/users/@me`, on ? {} : undefined));
  const card = (e) => {
    const change = may("MANAGE_EVENTS") || (may("CREATE_EVENTS") && e.creator_id === app.store.me.id),
      on = interested.has(e.id),
      location = e.channel_id ? app.store.channels.get(e.channel_id)?.name : e.entity_metadata?.location;
    return h(
      "article.event-card",
      { "aria-label": e.name, dataset: { key: e.id } },
      h(
        "p.faint",
        null,
        e.status === ACTIVE ? h("span.tag.live", null, t("Happening now")) : shownTime(e.scheduled_start_time),
      ),
      h("h2", null, e.name),
      location && h("p", null, location),
      e.description && h("p", null, e.description),
      h(
        "div.row-actions",
        null,
        h("span.faint", null, t("{n} interested", { n: e.user_count ?? 0 })),
        h(
          "button.button.secondary",
          {
            type: "button",
            "aria-pressed": String(on),
            dataset: { key: `interest:${e.id}` },
            onclick: () => mark(e, !on),
          },
          t("Interested"),
        ),
        change &&
          e.status === SCHEDULED && [
            small(t("Start event"), () => set(e, ACTIVE), "primary", `start:${e.id}`),
            small(t("Edit"), () => edit(e), "secondary", `edit:${e.id}`),
            small(t("Cancel event"), () => cancel(e), "danger", `cancel:${e.id}`),
          ],
        change && e.status === ACTIVE && small(t("End event"), () => set(e, COMPLETED), "danger", `end:${e.id}`),
      ),
    );
  };
  const list = await live(watch, ["scheduled"], async () => {
    const all = await app.rest.get(`${path}?with_user_count=true`);
    all.sort((a, b) => (a.scheduled_start_time < b.scheduled_start_time ? -1 : 1));
    await readInterest(all.slice(0, 20));
    return all.length ? all.map(card) : h("p.faint", null, t("No events are planned."));
  });
  fill(
    body,
    may("CREATE_EVENTS") && section(null, h("div", null, small(t("New event"), create, "primary"))),
    section(null, list),
  );
}

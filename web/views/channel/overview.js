// overview.js - the settings tab with name, topic, slow mode and so on of a channel, and the button that deletes it.
import { fill, h } from "../../dom.js";
import { quickForm, small } from "../../forms.js";
import { ANNOUNCEMENT, CATEGORY, STAGE, TEXT, VOICE, isForum, isVoice } from "../../store.js";
import { t } from "../../translate.js";
import { section } from "../server/shared.js";
import { moveChannel } from "../../channel-order.js";
import { categoryOptions, deleteChannel } from "./menu.js";

/** @type {[number, string][]} */
const SLOW = [
  [0, t("Off")],
  [5, t("{n} second|{n} seconds", { n: 5 })],
  [10, t("{n} second|{n} seconds", { n: 10 })],
  [15, t("{n} second|{n} seconds", { n: 15 })],
  [30, t("{n} second|{n} seconds", { n: 30 })],
  [60, t("{n} minute|{n} minutes", { n: 1 })],
  [120, t("{n} minute|{n} minutes", { n: 2 })],
  [300, t("{n} minute|{n} minutes", { n: 5 })],
  [600, t("{n} minute|{n} minutes", { n: 10 })],
  [900, t("{n} minute|{n} minutes", { n: 15 })],
  [1800, t("{n} minute|{n} minutes", { n: 30 })],
  [3600, t("{n} hour|{n} hours", { n: 1 })],
  [7200, t("{n} hour|{n} hours", { n: 2 })],
  [21600, t("{n} hour|{n} hours", { n: 6 })],
];

/** Returns the form fields for a channel of this type, with their current values. */
function rowsOf(app, g, c) {
  const category = c.type === CATEGORY,
    voice = isVoice(c),
    slow = c.rate_limit_per_user || 0;
  return /** @type {any[]} */ (
    [
      { name: "name", label: t("Name"), value: c.name, required: true, props: { maxlength: 100 } },
      !category &&
        !voice && {
          name: "topic",
          label: isForum(c) ? t("Post guidelines") : t("Topic"),
          value: c.topic,
          rows: 3,
          props: { maxlength: isForum(c) ? 4096 : 1024 },
        },
      (c.type === TEXT || c.type === ANNOUNCEMENT) && {
        name: "type",
        label: t("Type"),
        value: c.type,
        options: [
          [TEXT, t("Text")],
          [ANNOUNCEMENT, t("Announcements")],
        ],
      },
      !category &&
        c.type !== ANNOUNCEMENT && {
          name: "rate_limit_per_user",
          label: t("Slow mode"),
          value: slow,
          options: SLOW.some(([n]) => n === slow) ? SLOW : [...SLOW, [slow, t("{n} second|{n} seconds", { n: slow })]],
          hint: t("The time that a member must wait between two messages."),
        },
      voice && {
        name: "bitrate",
        label: t("Bitrate (kbps)"),
        type: "number",
        value: Math.round((c.bitrate || 64000) / 1000),
        props: { min: 8, max: c.type === STAGE ? 64 : 96 },
      },
      voice && {
        name: "user_limit",
        label: t("User limit"),
        type: "number",
        value: c.user_limit || 0,
        props: { min: 0, max: c.type === VOICE ? 99 : 10000 },
        hint: t("0: any number of members can join."),
      },
      !category && {
        name: "parent_id",
        label: t("Category"),
        value: c.parent_id || "",
        options: categoryOptions(app, g),
      },
      !category && {
        name: "nsfw",
        label: t("Age-restricted channel"),
        type: "checkbox",
        value: !!c.nsfw,
        hint: t("Members must confirm that they are of legal age before they see this channel."),
      },
    ].filter(Boolean)
  );
}

const NUMBERS = new Set(["type", "rate_limit_per_user", "bitrate", "user_limit"]);

/**
 * Returns only the fields that the user has changed, so that the form does not undo changes that another administrator
 * has made meanwhile.
 */
function changesOf(rows, v) {
  const out = {};
  for (const r of rows) {
    const before = r.type === "checkbox" ? r.value : String(r.value ?? ""),
      now = v[r.name];
    if (now === before) continue;
    out[r.name] = NUMBERS.has(r.name) ? Number(now) : now === "" && r.name !== "name" ? null : now;
    if (r.name === "bitrate") out[r.name] *= 1000;
  }
  return out;
}

export function channelOverview(app, g, id, body, watch) {
  let dirty = false,
    shown = "",
    rows = /** @type {any[]} */ ([]),
    sent = "";
  const facts = (c) => JSON.stringify(rowsOf(app, g, c).map((r) => [r.name, r.value, r.options]));
  const note = h("div", { role: "status" }),
    slot = h("div");
  const draw = () => {
    const c = app.store.channels.get(id);
    if (!c) return;
    rows = rowsOf(app, g, c);
    shown = facts(c);
    dirty = false;
    fill(note);
    const form = quickForm(rows, t("Save"), async (v) => {
      const { parent_id: parent, ...rest } = changesOf(rows, v);
      if (Object.keys(rest).length) await app.rest.patch(`/channels/${id}`, rest);
      if (parent !== undefined) await moveChannel(app, g, id, parent, "into");
      dirty = false;
      sent = JSON.stringify(Object.entries(v).map(([name, x]) => [name, String(x)]));
    });
    form.addEventListener("input", () => {
      dirty = true;
    });
    fill(
      slot,
      section(null, form),
      section(
        c.type === CATEGORY ? t("Delete category") : t("Delete channel"),
        h(
          "div",
          null,
          small(
            c.type === CATEGORY ? t("Delete category") : t("Delete channel"),
            () => deleteChannel(app, c),
            "danger",
          ),
        ),
      ),
    );
  };
  watch.on(["channels"], () => {
    const c = app.store.channels.get(id);
    if (!c || facts(c) === shown) return;
    const next = rowsOf(app, g, c);
    if (sent === JSON.stringify(next.map((r) => [r.name, String(r.value ?? "")]))) {
      rows.splice(0, rows.length, ...next); // this form has caused the change and already shows it
      shown = facts(c);
      return;
    }
    if (!dirty && !slot.contains(document.activeElement)) draw();
    else if (dirty)
      fill(
        note,
        h(
          "p.changed-note",
          null,
          t("This channel was changed by somebody else."),
          " ",
          small(t("Discard my changes and load theirs"), draw),
        ),
      );
  });
  fill(body, note, slot);
  draw();
}

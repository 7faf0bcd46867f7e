// permissions.js - the settings tab with a channel's permission overwrites, and with the view as a role.
import { dialog, fill, h, refill } from "../../dom.js";
import { small } from "../../forms.js";
import { memberSearch } from "../../member-search.js";
import { CATEGORY } from "../../store.js";
import { t } from "../../translate.js";
import { confirmDelete, roleColor, rolesOf, section } from "../server/shared.js";
import { overwriteEditor } from "./overwrite-editor.js";
import { viewAsRole } from "./view-as.js";

const ROLE = 0,
  MEMBER = 1;

const nameOf = (app, g, o) =>
  o.type === ROLE ? g.roles.get(o.id)?.name || t("Deleted role") : app.store.nameOf(o.id, g);

/**
 * Returns the permission overwrites sorted: @everyone (which is always included), roles from highest to lowest, members
 * by name.
 */
function listOf(app, g, c) {
  const all = (c.permission_overwrites || []).map((o) => ({ ...o, type: Number(o.type) }));
  if (!all.some((o) => o.id === g.id)) all.push({ id: g.id, type: ROLE, allow: "0", deny: "0" });
  const rank = (o) => (o.id === g.id ? Infinity : o.type === ROLE ? (g.roles.get(o.id)?.position ?? 0) : -1);
  return all.sort((a, b) => rank(b) - rank(a) || (nameOf(app, g, a) < nameOf(app, g, b) ? -1 : 1));
}

/** Requests, through the gateway, the members who have overwrites but are not loaded yet. */
function askNames(app, g, c) {
  const ids = (c.permission_overwrites || [])
    .filter((o) => Number(o.type) === MEMBER && !g.members.has(o.id))
    .map((o) => o.id);
  if (ids.length) app.gateway.send(8, { guild_id: g.id, user_ids: ids.slice(0, 100) });
}

export function channelPermissions(app, g, id, body, watch) {
  let chosen = g.id,
    dirty = false,
    shown = "";
  const list = h("div.overwrites", { role: "group", "aria-label": t("Roles and members") }),
    editor = h("div.overwrite"),
    note = h("div", { role: "status" }),
    sync = h("div"),
    channel = () => app.store.channels.get(id);

  const choose = (next) => {
    chosen = next;
    dirty = false;
    draw();
  };
  const remove = async (o) => {
    const path = `/channels/${id}/permissions/${o.id}`;
    const name = nameOf(app, g, o);
    const done = await confirmDelete(
      t("Remove"),
      t("Remove the permissions of {name} in this channel? {name} then has the permissions of the server.", { name }),
      () => app.rest.delete(path),
      t("Remove"),
    );
    if (done) choose(g.id);
  };
  const add = async (target, type) => {
    const empty = { type, allow: "0", deny: "0" };
    const made = await app.tryCall(app.rest.put(`/channels/${id}/permissions/${target}`, empty));
    if (!made) return;
    await app.store.when("channels", () => channel()?.permission_overwrites?.some((o) => o.id === target));
    choose(target);
  };
  const askWhom = () =>
    dialog(t("Add roles or members"), (close) => {
      const taken = new Set(listOf(app, g, channel()).map((o) => o.id));
      const take = (target, type) => {
        close();
        add(target, type);
      };
      return h(
        "div.stack",
        null,
        memberSearch(app, g, (m) => take(m.user.id, MEMBER)),
        h("h3", null, t("Roles")),
        h(
          "div.choices",
          null,
          rolesOf(g)
            .filter((r) => !taken.has(r.id))
            .map((r) =>
              h("button.choice.plain", { type: "button", onclick: () => take(r.id, ROLE) }, roleDot(r), r.name),
            ),
        ),
      );
    });

  const draw = () => {
    const c = channel();
    if (!c) return;
    const all = listOf(app, g, c),
      at = all.find((o) => o.id === chosen) || all[0];
    shown = JSON.stringify(c.permission_overwrites || []);
    fill(note);
    refill(
      list,
      all.map((o) =>
        h(
          "button.channel",
          {
            type: "button",
            dataset: { key: o.id },
            "aria-pressed": String(o.id === at.id),
            onclick: () => choose(o.id),
          },
          o.type === ROLE ? roleDot(g.roles.get(o.id)) : h("span.at", { "aria-hidden": "true" }, "@"),
          h("span.clip", null, nameOf(app, g, o)),
        ),
      ),
      small(t("Add roles or members"), askWhom),
    );
    fill(
      editor,
      h("h2", null, nameOf(app, g, at)),
      overwriteEditor(app, c, at, {
        changed: () => {
          dirty = true;
        },
        saved: () => {
          dirty = false;
          shown = "";
        },
        remove: () => remove(at),
      }),
    );
    fill(sync, syncNote(app, g, c));
  };

  askNames(app, g, channel());
  watch.on(["channels", "guilds", "members"], () => {
    const c = channel(),
      now = c && JSON.stringify(c.permission_overwrites || []);
    if (!c || now === shown) return;
    if (!dirty) {
      if (!shown)
        shown = now; // this editor has caused the change and already shows it
      else draw();
    } else
      fill(
        note,
        h(
          "p.changed-note",
          null,
          t("The permissions were changed by somebody else."),
          " ",
          small(t("Discard my changes and load theirs"), () => choose(chosen)),
        ),
      );
  });
  fill(
    body,
    note,
    sync,
    h("div.overwrite-page", null, list, editor),
    section(t("View as role"), viewAsRole(app, g, id, watch)),
  );
  draw();
}

const roleDot = (r) => h("span.role-dot", { style: { "--role": (r && roleColor(r)) || "var(--faint)" } });

/** Shows whether a channel has the permissions of its category, and if not, a button that copies these permissions. */
function syncNote(app, g, c) {
  const category = c.type !== CATEGORY && app.store.channels.get(c.parent_id);
  if (!category) return null;
  const plain = (x) =>
    JSON.stringify(
      (x.permission_overwrites || [])
        .map((o) => [o.id, String(o.allow), String(o.deny)])
        .sort((a, b) => (a[0] < b[0] ? -1 : 1)),
    );
  if (plain(c) === plain(category))
    return h("p.faint", null, t("The permissions are synced with the category {name}.", { name: category.name }));
  const take = () =>
    app.tryCall(
      app.rest.patch(`/guilds/${g.id}/channels`, [{ id: c.id, parent_id: category.id, lock_permissions: true }]),
      t("The permissions were synced"),
    );
  return h(
    "p.changed-note",
    null,
    t("The permissions are not synced with the category {name}.", { name: category.name }),
    " ",
    small(t("Sync with the category"), take),
  );
}

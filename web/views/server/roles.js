// roles.js - the roles of a server: order, editor, deletion.
import { announce, fill, h } from "../../dom.js";
import { iconButton } from "../../icons.js";
import { quickForm, small, table } from "../../forms.js";
import { sortable } from "../../sortable.js";
import { t } from "../../translate.js";
import { viewServerAs } from "../channel/view-as.js";
import { editRole } from "./role-editor.js";
import { confirmDelete, live, ownRank, roleChip, rolesOf, section } from "./shared.js";

export async function roles(app, g, body, watch) {
  const counts = await app.rest.get(`/guilds/${g.id}/roles/member-counts`).catch(() => ({}));
  const movable = () => rolesOf(g).filter((r) => r.id !== g.id);

  /** Moves a role to an index in the list. Index 0 is the highest role. */
  const moveTo = async (r, index) => {
    const list = movable(),
      at = Math.max(0, Math.min(list.length - 1, index));
    if (list.indexOf(r) === at) return;
    const position = list.length - at;
    if (await app.tryCall(app.rest.patch(`/guilds/${g.id}/roles`, [{ id: r.id, position }])))
      announce(t("{name} is now at position {n}", { name: r.name, n: at + 1 }));
  };
  const step = (id, by) => {
    const r = g.roles.get(id);
    return r && moveTo(r, movable().indexOf(r) + by);
  };
  const drop = (id, target, where) => {
    const r = g.roles.get(id),
      rest = movable().filter((x) => x !== r),
      at = rest.findIndex((x) => x.id === target);
    if (r && at >= 0) moveTo(r, at + (where === "after" ? 1 : 0));
  };
  const remove = (r) =>
    confirmDelete(
      t("Delete role"),
      t("Delete the role {name}? It is taken from all members who have it.", { name: r.name }),
      () => app.rest.delete(`/guilds/${g.id}/roles/${r.id}`),
    );

  const actions = (r, rank) => {
    if (r.id !== g.id && r.position >= rank) return h("span.faint", null, t("above your highest role"));
    const key = (name) => ({ dataset: { key: `${name}:${r.id}` } });
    return h(
      "div.row-actions",
      null,
      small(t("Edit"), () => editRole(app, g, r), "secondary", `edit:${r.id}`),
      r.id !== g.id && [
        iconButton("up", t("Move {name} up", { name: r.name }), () => step(r.id, -1), key("up")),
        iconButton("down", t("Move {name} down", { name: r.name }), () => step(r.id, 1), key("down")),
      ],
      iconButton("eye", t("View server as {name}", { name: r.name }), () => viewServerAs(app, g, r.id), key("view")),
      r.id !== g.id && !r.managed && small(t("Delete"), () => remove(r), "danger", `delete:${r.id}`),
    );
  };

  const list = await live(watch, ["guilds"], () => {
    const rank = ownRank(app, g),
      all = rolesOf(g);
    const el = table(
      [t("Role"), t("Members"), ""],
      all.map((r) => [
        [roleChip(r), r.managed && h("span.faint", null, " ", t("managed by an app"))],
        r.id === g.id ? "" : String(counts[r.id] ?? 0),
        actions(r, rank),
      ]),
    );
    el.querySelectorAll("tbody tr").forEach((row, i) => {
      const r = all[i];
      if (r.id === g.id) return;
      /** @type {HTMLElement} */ (row).dataset.sort = r.id;
      row.setAttribute("draggable", String(r.position < rank));
    });
    return el;
  });
  sortable(list, { drop, step, holds: () => false });

  fill(
    body,
    section(
      null,
      h("p.hint", null, t("Members can manage only the roles below their own highest role. Drag a role to move it.")),
      list,
    ),
    section(
      t("New role"),
      quickForm(
        [{ name: "name", label: t("Name"), required: true, props: { maxlength: 100 } }],
        t("Create"),
        async (v) => {
          const made = await app.rest.post(`/guilds/${g.id}/roles`, v);
          await app.store.when("guilds", () => g.roles.has(made.id));
          return t("{name} was created", { name: v.name });
        },
        "inline-form",
      ),
    ),
  );
}

// commands.js - the permissions of a guild's app commands: who may use which command.
import { dialog, fill, h } from "../../dom.js";
import { small, table } from "../../forms.js";
import { memberSearch } from "../../member-search.js";
import { isThread } from "../../store.js";
import { t } from "../../translate.js";
import { live, rolesOf, section } from "./shared.js";

const ROLE = 1,
  USER = 2,
  CHANNEL = 3,
  MOST_CHANNELS = 200;

export async function commands(app, g, body, watch) {
  const list = await live(watch, ["commands"], async () => {
    const { applications, application_commands: all } = await app.rest.get(`/guilds/${g.id}/application-command-index`);
    const name = new Map(applications.map((a) => [a.id, a.name]));
    return table(
      [t("Command"), t("App"), ""],
      all.map((c) => [
        h("code", null, `${(c.type || 1) === 1 ? "/" : ""}${c.name}`),
        name.get(c.application_id),
        h(
          "div.row-actions",
          null,
          small(t("Permissions"), () => permissions(app, g, c), "secondary", `set:${c.id}`),
        ),
      ]),
    );
  });
  fill(
    body,
    section(
      null,
      h(
        "p.hint",
        null,
        t("Members with the required permission can use a command. Set exceptions for each command here."),
      ),
      list,
    ),
  );
}

/**
 * A row of the dialog: a role, member or channel, and whether this role or member (or everybody in this channel) may
 * use the command.
 */
function exception(type, id, words, set) {
  const control = h(
    "select",
    { "aria-label": words },
    [
      ["", "–"],
      ["1", t("allowed")],
      ["0", t("denied")],
    ].map(([v, x]) => h("option", { value: v, selected: v === (set ? String(Number(set.permission)) : "") }, x)),
  );
  return { type, id, words, control };
}

async function permissions(app, g, c) {
  const path = `/applications/${c.application_id}/guilds/${g.id}/commands/${c.id}/permissions`;
  const now = await app.rest.get(path).then(
    (p) => p.permissions,
    () => [],
  );
  const set = (id) => now.find((p) => p.id === id);
  const channels = app.store.channelsOf(g).filter((x) => !isThread(x));
  const rows = [
    ...rolesOf(g).map((r) => exception(ROLE, r.id, `@${r.name.replace(/^@/, "")}`, set(r.id))),
    ...now.filter((p) => p.type === USER).map((p) => exception(USER, p.id, app.store.nameOf(p.id, g), p)),
    ...channels
      .filter((x, i) => i < MOST_CHANNELS || set(x.id))
      .map((x) => exception(CHANNEL, x.id, `#${x.name}`, set(x.id))),
  ];
  return dialog(
    c.name,
    (close) => {
      const slot = h("div"),
        problem = h("p.field-error", { role: "alert", hidden: true });
      const draw = () =>
        fill(
          slot,
          table(
            [t("Applies to"), t("Allowed")],
            rows.map((r) => [r.words, r.control]),
          ),
        );
      const addMember = (m) => {
        if (!rows.some((r) => r.id === m.user.id)) rows.unshift(exception(USER, m.user.id, m.user.username, null));
        draw();
        rows.find((r) => r.id === m.user.id).control.focus();
      };
      const save = async () => {
        const wanted = rows
          .filter((r) => r.control.value !== "")
          .map((r) => ({ id: r.id, type: r.type, permission: r.control.value === "1" }));
        try {
          await app.rest.put(path, { permissions: wanted });
          close(true);
        } catch (e) {
          problem.hidden = false;
          problem.textContent = e.words || e.message;
        }
      };
      draw();
      return [
        memberSearch(app, g, addMember),
        slot,
        problem,
        h("div.actions", null, small(t("Save"), save, "primary")),
      ];
    },
    { class: "wide" },
  );
}

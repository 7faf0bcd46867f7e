// view-as.js - shows a role's permissions in a channel, and the guild as members see it who have only this role.
import { field, fill, h } from "../../dom.js";
import { small } from "../../forms.js";
import { PERMISSION_LABELS } from "../../permission-labels.js";
import { channelGroups } from "../../permission-groups.js";
import { allows, channelPermissions } from "../../permissions.js";
import { t } from "../../translate.js";
import { rolesOf } from "../server/shared.js";

/** Shows the guild as it looks for members who have only the role `role`. */
export function viewServerAs(app, g, role) {
  app.store.viewAs = { guild: g.id, role };
  app.store.touch("channels", "members");
  return app.go(`/channels/${g.id}`);
}

export function viewAsRole(app, g, id, watch) {
  const select = h(
    "select",
    { onchange: () => draw() },
    rolesOf(g)
      .reverse()
      .map((r) => h("option", { value: r.id }, r.name)),
  );
  const result = h("div", { role: "status" });
  const draw = () => {
    const c = app.store.channels.get(id);
    if (!c) return;
    const all = channelPermissions(g, { user: { id: "" }, roles: [select.value] }, c),
      sees = allows(all, "VIEW_CHANNEL");
    const groups = channelGroups(c);
    fill(
      result,
      h(
        "p",
        null,
        sees
          ? t("A member who has no other role can see this channel.")
          : t("A member who has no other role cannot see this channel."),
      ),
      sees &&
        h(
          "ul.effective",
          null,
          groups
            .flatMap(([, names]) => names)
            .map((name) => {
              const may = allows(all, /** @type {any} */ (name));
              return h(
                "li",
                { class: may ? "allow" : "deny" },
                h("span", { "aria-hidden": "true" }, may ? "✓ " : "✕ "),
                PERMISSION_LABELS[name],
                h("span.hidden-text", null, may ? t("allowed") : t("denied")),
              );
            }),
        ),
    );
  };
  watch.on(["channels", "guilds"], draw);
  draw();
  return h(
    "div.stack",
    null,
    field(t("Role"), select),
    result,
    h(
      "div",
      null,
      small(t("View server as this role"), () => viewServerAs(app, g, select.value)),
    ),
  );
}

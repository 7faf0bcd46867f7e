// integrations.js - the apps of a guild, and its accounts on other platforms.
import { fill, h } from "../../dom.js";
import { small, table } from "../../forms.js";
import { t } from "../../translate.js";
import { confirmDelete, live, section } from "./shared.js";

export async function integrations(app, g, body, watch) {
  const remove = (i) =>
    confirmDelete(
      t("Remove"),
      t("Remove {name}?", { name: i.name }),
      () => app.rest.delete(`/guilds/${g.id}/integrations/${i.id}`),
      t("Remove"),
    );
  const list = await live(watch, ["integrations"], async () => {
    const all = await app.rest.get(`/guilds/${g.id}/integrations`);
    return table(
      [t("Name"), t("Type"), t("Created by"), t("Scopes"), ""],
      all.map((i) => [
        i.name,
        i.type,
        i.user ? `@${i.user.username}` : "",
        (i.scopes || []).join(", "),
        h(
          "div.row-actions",
          null,
          small(t("Remove"), () => remove(i), "danger", `remove:${i.id}`),
        ),
      ]),
    );
  });
  fill(body, section(null, list));
}

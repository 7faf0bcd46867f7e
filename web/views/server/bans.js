// bans.js - the banned users of a server, in pages.
import { fill, h } from "../../dom.js";
import { quickForm, small, table } from "../../forms.js";
import { t } from "../../translate.js";
import { ban } from "./member-actions.js";
import { confirmDelete, live, section } from "./shared.js";

const PAGE = 100;

export async function bans(app, g, body, watch) {
  let pages = 1;
  const revoke = (b) =>
    confirmDelete(
      t("Revoke ban"),
      t("Revoke the ban of {name}? With an invite, {name} can come back.", { name: b.user.username }),
      () => app.rest.delete(`/guilds/${g.id}/bans/${b.user.id}`),
      t("Revoke ban"),
    );
  const list = await live(watch, ["bans"], async (redraw) => {
    const all = await app.rest.get(`/guilds/${g.id}/bans?limit=${PAGE * pages}`);
    const more = async () => {
      pages++;
      await redraw();
    };
    return [
      table(
        [t("User"), t("Reason"), ""],
        all.map((b) => [
          `@${b.user.username}`,
          b.reason || "",
          h(
            "div.row-actions",
            null,
            small(t("Revoke ban"), () => revoke(b), "secondary", `revoke:${b.user.id}`),
          ),
        ]),
      ),
      all.length === PAGE * pages && pages < 10 && h("div", null, small(t("Show more"), more)),
    ];
  });
  fill(
    body,
    section(null, list),
    section(
      t("Ban somebody who is not a member"),
      quickForm(
        [{ name: "id", label: t("User ID"), required: true, props: { inputmode: "numeric" } }],
        t("Ban"),
        async (v) => {
          const user = app.store.user(v.id) || { id: v.id, username: v.id };
          if (!/^\d{15,20}$/.test(v.id)) throw new Error(t("A user ID has 15 to 20 digits."));
          await ban(app, g, { user });
          return "";
        },
        "inline-form",
      ),
    ),
  );
}

// connections.js - the settings page with the user's accounts on other platforms.
import { fill, h } from "../../dom.js";
import { small, table } from "../../forms.js";
import { t } from "../../translate.js";
import { section } from "../server/shared.js";

export async function connections(app, body, redraw) {
  const [all, platforms] = await Promise.all([app.rest.get("/users/@me/connections"), app.rest.get("/connections")]);
  const open = Object.keys(platforms).filter((type) => platforms[type].enabled);
  const link = async (type) => {
    const a = await app.tryCall(app.rest.get(`/connections/${type}/authorize`));
    if (a?.url) window.open(a.url, "_blank", "noopener");
  };
  fill(
    body,
    section(
      null,
      table(
        [t("Platform"), t("Account"), t("Visibility"), ""],
        all.map((c) => [
          c.type,
          c.name,
          c.visibility ? t("Visible to everyone") : t("Visible only to you"),
          [
            small(c.visibility ? t("Hide") : t("Show"), async () => {
              await app.tryCall(
                app.rest.patch(`/users/@me/connections/${c.type}/${c.id}`, { visibility: c.visibility ? 0 : 1 }),
              );
              redraw();
            }),
            " ",
            small(
              t("Remove"),
              async () => {
                await app.tryCall(app.rest.delete(`/users/@me/connections/${c.type}/${c.id}`));
                redraw();
              },
              "danger",
            ),
          ],
        ]),
      ),
      open.length
        ? h(
            "div.actions",
            null,
            open.map((type) => small(t("Connect {name}", { name: type.replace("_", " ") }), () => link(type))),
          )
        : h("p.hint", null, t("The operator of this server has set up no platform to connect.")),
    ),
  );
}

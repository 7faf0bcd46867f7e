// authorized-apps.js - the settings page with the apps that the user has authorized.
import { fill, h } from "../../dom.js";
import { small, table } from "../../forms.js";
import { appIcon } from "../../images.js";
import { t } from "../../translate.js";
import { confirmDelete, section } from "../server/shared.js";

export async function grants(app, body, redraw) {
  const all = await app.rest.get("/oauth2/tokens");
  fill(
    body,
    section(
      null,
      h("p.hint", null, t("These apps may use your account. Remove those that you no longer use.")),
      table(
        [t("App"), t("Permissions"), ""],
        all.map((g) => [
          [appIcon(g.application, "tiny-avatar"), " ", g.application.name],
          g.scopes.join(", "),
          small(
            t("Remove"),
            async () => {
              const question = t("{name} can no longer use your account.", { name: g.application.name });
              if (
                await confirmDelete(t("Remove"), question, () => app.rest.delete(`/oauth2/tokens/${g.id}`), t("Remove"))
              )
                redraw();
            },
            "danger",
          ),
        ]),
      ),
    ),
  );
}

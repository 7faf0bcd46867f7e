// teams.js - the settings page of the teams that own apps.
import { fill } from "../../dom.js";
import { quickForm, small, table } from "../../forms.js";
import { t } from "../../translate.js";
import { section } from "../server/shared.js";

export async function teams(app, body, redraw) {
  const all = await app.rest.get("/teams");
  const full = await Promise.all(
    all.map((x) =>
      app.rest.get(`/teams/${x.id}/members`).then(
        (members) => ({ ...x, members }),
        () => ({ ...x, members: [] }),
      ),
    ),
  );
  fill(
    body,
    full.map((x) =>
      section(
        x.name,
        table(
          [t("User"), t("Role"), ""],
          x.members.map((m) => [
            `@${m.user.username}${m.membership_state === 1 ? ` (${t("invited")})` : ""}`,
            m.role || t("admin"),
            small(
              t("Remove"),
              async () => {
                await app.tryCall(app.rest.delete(`/teams/${x.id}/members/${m.user.id}`));
                redraw();
              },
              "danger",
            ),
          ]),
        ),
        quickForm(
          [{ name: "username", label: t("Invite a user") }],
          t("Invite"),
          async (v) => {
            await app.rest.post(`/teams/${x.id}/members`, v);
            await redraw();
          },
          "inline-form",
        ),
      ),
    ),
    section(
      t("New team"),
      quickForm([{ name: "name", label: t("Name") }], t("Create"), async (v) => {
        await app.rest.post("/teams", v);
        await redraw();
      }),
    ),
  );
}

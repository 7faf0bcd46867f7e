// apps.js - the settings pages of the user's own apps.
import { dialog, fill, h, toast } from "../../dom.js";
import { quickForm, small, table } from "../../forms.js";
import { appIcon } from "../../images.js";
import { t } from "../../translate.js";
import { section } from "../server/shared.js";

export const appPage = (app, body, redraw, id) => (id ? oneApp(app, body, id, redraw) : apps(app, body));

async function apps(app, body) {
  const all = await app.rest.get("/applications?with_team_applications=true");
  fill(
    body,
    section(
      null,
      table(
        [t("App"), t("Bot"), ""],
        all.map((a) => [
          [appIcon(a, "tiny-avatar"), " ", h("a", { href: `/settings/apps/${a.id}` }, a.name)],
          a.bot ? `@${a.bot.username}` : "–",
          small(t("Edit"), () => app.go(`/settings/apps/${a.id}`)),
        ]),
      ),
    ),
    section(
      t("New app"),
      quickForm(
        [
          { name: "name", label: t("Name") },
          { name: "description", label: t("Description") },
        ],
        t("Create"),
        async (v) => {
          const made = await app.rest.post("/applications", v);
          await app.rest.post(`/applications/${made.id}/bot`, {}).catch(() => {});
          app.go(`/settings/apps/${made.id}`);
        },
      ),
    ),
  );
}

/** Shows a new token once. The server stores only the hash of a token, so the token cannot be shown again. */
function showSecret(title, secret) {
  return dialog(title, () =>
    h(
      "div.stack",
      null,
      h("p", null, t("This value is shown only once. Copy it now.")),
      h("div.secret", { tabindex: 0 }, secret),
      h(
        "div.actions",
        null,
        small(
          t("Copy"),
          () => {
            navigator.clipboard?.writeText(secret);
            toast(t("Copied"));
          },
          "primary",
        ),
      ),
    ),
  );
}

async function oneApp(app, body, id, redraw) {
  const a = await app.rest.get(`/applications/${id}`);
  const commands = await app.rest.get(`/applications/${id}/application-command-index`).then(
    (d) => d.application_commands,
    () => [],
  );
  const install = `${location.origin}/oauth2/authorize?client_id=${id}&scope=bot+applications.commands&permissions=0`;
  const bot = async () => {
    if (
      a.bot &&
      !(await app.confirm(
        t("New token"),
        t("The old token stops working at once, and its sessions are closed."),
        t("New token"),
      ))
    )
      return;
    const made = await app.tryCall(app.rest.post(`/applications/${id}/bot${a.bot ? "/reset" : ""}`, {}));
    if (!made) return;
    // Redraw the page before the dialog with the token opens, because a later redraw would discard typed text.
    await redraw();
    if (made.token) showSecret(t("The bot’s token"), made.token);
  };
  fill(
    body,
    section(
      a.name,
      quickForm(
        [
          { name: "name", label: t("Name"), value: a.name },
          { name: "description", label: t("Description"), value: a.description, rows: 2 },
        ],
        t("Save"),
        async (v) => {
          await app.rest.patch(`/applications/${id}`, v);
        },
      ),
    ),
    section(
      t("Bot"),
      h("p", null, a.bot ? `@${a.bot.username}` : t("This app has no bot yet.")),
      h("div", null, small(a.bot ? t("New token") : t("Create bot"), bot, "primary")),
    ),
    section(
      t("Install link"),
      h("input", {
        value: install,
        readonly: true,
        "aria-label": t("Install link"),
        onfocus: (e) => e.target.select(),
      }),
      h(
        "div",
        null,
        h(
          "a.button.secondary",
          { href: `/oauth2/authorize?client_id=${id}&scope=bot+applications.commands` },
          t("Add to a server"),
        ),
      ),
    ),
    section(
      t("Interactions endpoint"),
      quickForm(
        [
          {
            name: "interactions_endpoint_url",
            label: "URL",
            value: a.interactions_endpoint_url,
            hint: t(
              "Saving sends two PINGs. The endpoint must accept the signed one and refuse the wrongly signed one.",
            ),
          },
        ],
        t("Save and test"),
        async (v) => {
          await app.rest.patch(`/applications/${id}`, {
            interactions_endpoint_url: v.interactions_endpoint_url || null,
          });
          return t("The endpoint answers correctly");
        },
      ),
      h("p.hint", null, t("Public key:"), " ", h("code", null, a.verify_key)),
    ),
    section(
      t("Commands"),
      table(
        [t("Name"), t("Type"), t("Description")],
        commands.map((c) => [
          h("code", null, c.type === 1 || !c.type ? `/${c.name}` : c.name),
          ["", t("slash"), t("user"), t("message"), t("entry point")][c.type || 1],
          c.description,
        ]),
      ),
    ),
    section(
      t("Secret"),
      h(
        "div",
        null,
        small(t("New secret"), async () => {
          const made = await app.tryCall(app.rest.post(`/applications/${id}/reset`, {}));
          if (made?.secret) showSecret(t("The app’s secret"), made.secret);
        }),
      ),
    ),
    section(
      null,
      h(
        "div.actions",
        null,
        small(
          t("Delete"),
          async () => {
            if (await app.confirm(t("Delete"), t("Delete {name}?", { name: a.name }), t("Delete"))) {
              if (await app.tryCall(app.rest.post(`/applications/${id}/delete`, {}))) app.go("/settings/apps");
            }
          },
          "danger",
        ),
      ),
    ),
  );
}

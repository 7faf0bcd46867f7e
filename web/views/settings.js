// settings.js - user settings: account, privacy, sessions, apps, teams.
import { dialog, fill, h, toast } from "../dom.js";
import { dataUrl, quickForm, small, tabbedPage, table } from "../forms.js";
import { appIcon, avatar } from "../images.js";
import { sessions } from "./sessions.js";
import { security } from "./two-factor.js";
import { currentLanguage, languages, setLanguage, t } from "../translate.js";

const section = (title, ...rest) => h("section", null, title && h("h2", null, title), rest);

export async function mount(app, page, [tab, id]) {
  await app.ready();
  const tabs = [
    [null, t("Account")],
    ["profile", t("Profile"), (b) => profile(app, b)],
    ["security", t("Two-factor authentication"), (b, r) => security(app, b, r)],
    ["sessions", t("Sessions"), (b, r) => sessions(app, b, r)],
    [null, t("Privacy")],
    ["privacy", t("Privacy"), (b) => privacy(app, b)],
    ["grants", t("Authorised apps"), (b, r) => grants(app, b, r)],
    ["connections", t("Connections"), (b, r) => connections(app, b, r)],
    [null, t("Appearance")],
    ["language", t("Language"), (b) => language(app, b)],
    ["voice", t("Voice and video"), async (b) => fill(b, (await import("../voice-settings.js")).voiceSettings(app))],
    [null, t("For developers")],
    ["apps", t("My apps"), (b, r) => (id ? oneApp(app, b, id, r) : apps(app, b, r))],
    ["teams", t("Teams"), (b, r) => teams(app, b, r)],
  ];
  return tabbedPage(app, page, { base: "/settings", title: t("Settings"), tabs, active: tab, back: "/channels/@me" });
}

function profile(app, body) {
  const me = app.store.me,
    head = h("div.profile-head");
  const drawHead = (user) =>
    fill(
      head,
      avatar(user, "", "large-avatar"),
      h("div", null, h("strong", null, user.global_name || user.username), h("p.faint", null, `@${user.username}`)),
    );
  drawHead(me);
  fill(
    body,
    section(
      null,
      head,
      quickForm(
        [
          {
            name: "global_name",
            label: t("Display name"),
            value: me.global_name,
            hint: t("Shown instead of your username. Several people may have the same display name."),
          },
          { name: "bio", label: t("About me"), value: me.bio, rows: 3, hint: t("Shown in your profile.") },
          {
            name: "avatar",
            label: t("Picture"),
            type: "file",
            hint: t("Without a picture, a pattern made from your account is shown."),
          },
        ],
        t("Save"),
        async (v) => {
          drawHead(
            await app.rest.patch("/users/@me", {
              global_name: v.global_name || null,
              bio: v.bio,
              ...(v.avatar ? { avatar: await dataUrl(v.avatar) } : {}),
            }),
          );
        },
      ),
    ),
    section(
      t("Password"),
      quickForm(
        [
          { name: "password", label: t("Current password"), type: "password" },
          {
            name: "new_password",
            label: t("New password"),
            type: "password",
            hint: t("At least eight characters. A new password logs out all your other devices."),
          },
          ...(me.mfa_enabled ? [{ name: "code", label: t("Six-digit code or backup code") }] : []),
        ],
        t("Save"),
        async (v) => {
          await app.renew(app.rest.patch("/users/@me", v));
        },
      ),
    ),
    section(
      null,
      h(
        "div.actions",
        null,
        small(t("Log out"), () => app.logOut(), "danger"),
      ),
    ),
  );
}

function language(app, body) {
  const choice = h(
    "select",
    {
      "aria-label": t("Language of the web client"),
      onchange: () => {
        setLanguage(choice.value);
        location.reload();
      },
    },
    Object.entries(languages).map(([code, name]) =>
      h("option", { value: code, selected: code === currentLanguage() }, name),
    ),
  );
  fill(
    body,
    section(t("Appearance"), choice),
    section(
      t("Language for apps"),
      quickForm(
        [
          {
            name: "locale",
            label: t("Locale"),
            value: app.store.settings.locale || "en-US",
            hint: t("Apps show their commands in this language, for example de, fr or sv-SE."),
          },
        ],
        t("Save"),
        async (v) => {
          app.store.settings = { ...app.store.settings, ...(await app.rest.patch("/users/@me/settings", v)) };
          app.commands.cache.clear();
        },
      ),
    ),
  );
}

function privacy(app, body) {
  const s = app.store.settings,
    from = s.friend_source_flags || {};
  fill(
    body,
    section(
      t("Who can send you friend requests"),
      quickForm(
        [
          {
            name: "all",
            label: t("Everyone"),
            type: "checkbox",
            value: from.all,
            hint: t("Everyone includes people who share no server and no friend with you."),
          },
          {
            name: "mutual_friends",
            label: t("Friends of friends"),
            type: "checkbox",
            value: from.mutual_friends !== false,
          },
          {
            name: "mutual_guilds",
            label: t("Members of your servers"),
            type: "checkbox",
            value: from.mutual_guilds !== false,
          },
        ],
        t("Save"),
        async (v) => {
          app.store.settings = { ...s, ...(await app.rest.patch("/users/@me/settings", { friend_source_flags: v })) };
        },
      ),
    ),
    section(
      t("Messages"),
      quickForm(
        [
          {
            name: "default_guilds_restricted",
            label: t("Block direct messages from members of new servers"),
            type: "checkbox",
            value: s.default_guilds_restricted,
            hint: t("Applies to servers that you join from now on. Friends can always write to you."),
          },
          {
            name: "allow_game_friend_dms",
            label: t("Allow direct messages from game friends"),
            type: "checkbox",
            value: s.allow_game_friend_dms,
          },
        ],
        t("Save"),
        async (v) => {
          app.store.settings = { ...s, ...(await app.rest.patch("/users/@me/settings", v)) };
        },
      ),
    ),
  );
}

async function connections(app, body, redraw) {
  const all = await app.rest.get("/users/@me/connections");
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
      h(
        "div.actions",
        null,
        ["platform_a", "platform_b"].map((p) =>
          small(t("Connect {name}", { name: p.replace("_", " ") }), () => link(p)),
        ),
      ),
    ),
  );
}

async function grants(app, body, redraw) {
  const all = await app.rest.get("/oauth2/tokens");
  fill(
    body,
    section(
      null,
      table(
        [t("App"), t("Permissions"), ""],
        all.map((g) => [
          [appIcon(g.application, "tiny-avatar"), " ", g.application.name],
          g.scopes.join(", "),
          small(
            t("Remove"),
            async () => {
              await app.tryCall(app.rest.delete(`/oauth2/tokens/${g.id}`));
              redraw();
            },
            "danger",
          ),
        ]),
      ),
    ),
  );
}

/* --- apps --- */

async function apps(app, body, redraw) {
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

/** Shows a new token, which cannot be shown again, because the server stores only its hash. */
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
    await redraw(); // redrawn before the dialog with the token opens, because a later redraw would discard typed text
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

async function teams(app, body, redraw) {
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

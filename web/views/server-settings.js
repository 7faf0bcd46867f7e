// server-settings.js - server settings: roles, members, bans, invites, integrations, webhooks, emoji, audit log.
import { dialog, fill, h } from "../dom.js";
import { dataUrl, quickForm, small, tabbedPage, table } from "../forms.js";
import { emoji, relative } from "../markdown.js";
import { RIGHT_WORDS } from "../permission-labels.js";
import { PERMISSIONS, rightBit } from "../permissions.js";
import { isThread } from "../store.js";
import { t } from "../translate.js";

const section = (title, ...rest) => h("section", null, title && h("h2", null, title), rest);
const when = (id) => new Date(Number((BigInt(id) >> 22n) + 1420070400000n));

export async function mount(app, page, [id, tab]) {
  await app.ready();
  const g = app.store.guilds.get(id);
  if (!g) return app.go("/channels/@me", true);
  const draw = (f) => (b, r) => f(app, g, b, r);
  const tabs = [
    ["overview", t("Overview"), draw(overview)],
    ["roles", t("Roles"), draw(roles)],
    ["members", t("Members"), draw(members)],
    ["bans", t("Bans"), draw(bans)],
    ["invites", t("Invites"), draw(invites)],
    ["integrations", t("Integrations"), draw(integrations)],
    ["commands", t("Commands"), draw(commands)],
    ["webhooks", t("Webhooks"), draw(webhooks)],
    ["emoji", t("Emoji"), draw(emojis)],
    ["log", t("Audit log"), draw(auditLog)],
  ];
  return tabbedPage(app, page, {
    base: `/channels/${id}/settings`,
    title: g.name,
    tabs,
    active: tab,
    back: `/channels/${id}`,
  });
}

function overview(app, g, body) {
  fill(
    body,
    section(
      null,
      quickForm(
        [
          { name: "name", label: t("Name"), value: g.name },
          { name: "description", label: t("Description"), value: g.description, rows: 2 },
          { name: "icon", label: t("Icon"), type: "file" },
        ],
        t("Save"),
        async (v) => {
          await app.rest.patch(`/guilds/${g.id}`, {
            name: v.name,
            ...(v.description !== (g.description || "") ? { description: v.description || null } : {}),
            ...(v.icon ? { icon: await dataUrl(v.icon) } : {}),
          });
        },
      ),
    ),
    g.owner_id === app.store.me.id &&
      section(
        t("Two-factor authentication"),
        quickForm(
          [
            {
              name: "level",
              label: t("Require two-factor authentication for moderators"),
              type: "checkbox",
              value: g.mfa_level === 1,
              hint: t("First turn on two-factor authentication in your own settings."),
            },
          ],
          t("Save"),
          async (v) => {
            await app.rest.post(`/guilds/${g.id}/mfa`, { level: v.level ? 1 : 0 });
          },
        ),
      ),
    g.owner_id === app.store.me.id &&
      section(
        t("Delete server"),
        small(
          t("Delete server"),
          async () => {
            if (
              await app.confirm(
                t("Delete server"),
                t("Delete {name} with all its channels and messages?", { name: g.name }),
                t("Delete"),
              )
            ) {
              if (await app.tryCall(app.rest.delete(`/guilds/${g.id}`))) app.go("/channels/@me");
            }
          },
          "danger",
        ),
      ),
  );
}

async function roles(app, g, body, redraw) {
  const all = (await app.rest.get(`/guilds/${g.id}/roles`)).sort((a, b) => b.position - a.position);
  const move = async (r, by) => {
    await app.tryCall(app.rest.patch(`/guilds/${g.id}/roles`, [{ id: r.id, position: Math.max(1, r.position + by) }]));
    redraw();
  };
  const dot = (r) =>
    h(
      "span.chip",
      { style: { "--role": r.color ? `#${r.color.toString(16).padStart(6, "0")}` : "transparent" } },
      r.name,
    );
  fill(
    body,
    section(
      null,
      table(
        [t("Role"), t("Position"), ""],
        all.map((r) => [
          dot(r),
          String(r.position),
          r.managed
            ? t("managed by an app")
            : [
                small(t("Edit"), () => editRole(app, g, r, redraw)),
                " ",
                r.id !== g.id && [
                  small("↑", () => move(r, 1)),
                  " ",
                  small("↓", () => move(r, -1)),
                  " ",
                  small(
                    t("Delete"),
                    async () => {
                      await app.tryCall(app.rest.delete(`/guilds/${g.id}/roles/${r.id}`));
                      redraw();
                    },
                    "danger",
                  ),
                ],
              ],
        ]),
      ),
    ),
    section(
      t("New role"),
      quickForm(
        [{ name: "name", label: t("Name") }],
        t("Create"),
        async (v) => {
          await app.rest.post(`/guilds/${g.id}/roles`, v);
          await redraw();
        },
        "inline-form",
      ),
    ),
  );
}

function editRole(app, g, r, redraw) {
  return dialog(
    r.name,
    (close) => {
      const boxes = Object.keys(PERMISSIONS).map(
        (name) =>
          /** @type {[string, HTMLInputElement]} */ ([
            name,
            h("input", { type: "checkbox", checked: (BigInt(r.permissions) & rightBit(name)) !== 0n }),
          ]),
      );
      return [
        h(
          "div.rights",
          null,
          boxes.map(([name, box]) => h("label.check", null, box, RIGHT_WORDS[name])),
        ),
        quickForm(
          [
            ...(r.id === g.id ? [] : [{ name: "name", label: t("Name"), value: r.name }]),
            {
              name: "color",
              label: t("Colour"),
              type: "color",
              value: `#${(r.color || 0).toString(16).padStart(6, "0")}`,
            },
            { name: "hoist", label: t("Display separately in the member list"), type: "checkbox", value: r.hoist },
            {
              name: "mentionable",
              label: t("Allow anyone to mention this role"),
              type: "checkbox",
              value: r.mentionable,
            },
          ],
          t("Save"),
          async (v) => {
            let permissions = BigInt(r.permissions);
            for (const [name, box] of boxes)
              permissions = box.checked ? permissions | rightBit(name) : permissions & ~rightBit(name);
            await app.rest.patch(`/guilds/${g.id}/roles/${r.id}`, {
              ...v,
              color: parseInt(v.color.slice(1), 16),
              permissions: String(permissions),
            });
            await redraw();
            close();
          },
        ),
      ];
    },
    { class: "wide" },
  );
}

function members(app, g, body, redraw) {
  const all = [...g.members.values()].slice(0, 500);
  const roleNames = (m) =>
    m.roles
      .map((r) => g.roles.get(r)?.name)
      .filter(Boolean)
      .join(", ");
  const edit = (m) =>
    dialog(m.user.username, (close) => {
      const boxes = [...g.roles.values()]
        .filter((r) => r.id !== g.id && !r.managed)
        .map((r) => [r, h("input", { type: "checkbox", checked: m.roles.includes(r.id) })]);
      return [
        h(
          "div.choices",
          null,
          boxes.map(([r, box]) => h("label.choice", null, box, r.name)),
        ),
        quickForm([{ name: "nick", label: t("Nickname"), value: m.nick }], t("Save"), async (v) => {
          const managed = m.roles.filter((r) => g.roles.get(r)?.managed);
          const now = await app.rest.patch(`/guilds/${g.id}/members/${m.user.id}`, {
            ...(v.nick !== (m.nick || "") ? { nick: v.nick || null } : {}),
            roles: [...managed, ...boxes.filter(([, b]) => b.checked).map(([r]) => r.id)],
          });
          app.store.addMember(g, { ...m, ...now }); // the GUILD_MEMBER_UPDATE event may come later
          await redraw();
          close();
        }),
      ];
    });
  fill(
    body,
    section(
      null,
      table(
        [t("User"), t("Nickname"), t("Roles"), t("Member since"), ""],
        all.map((m) => [
          `@${m.user.username}`,
          m.nick || "",
          roleNames(m),
          relative(new Date(m.joined_at)),
          [
            small(t("Edit"), () => edit(m)),
            " ",
            small(
              t("Kick"),
              async () => {
                if (await app.confirm(t("Kick"), t("Kick {name}?", { name: m.user.username }), t("Kick"))) {
                  if (await app.tryCall(app.rest.delete(`/guilds/${g.id}/members/${m.user.id}`)))
                    g.members.delete(m.user.id);
                  redraw();
                }
              },
              "danger",
            ),
          ],
        ]),
      ),
    ),
  );
}

async function bans(app, g, body, redraw) {
  const all = await app.rest.get(`/guilds/${g.id}/bans`);
  fill(
    body,
    section(
      null,
      table(
        [t("User"), t("Reason"), ""],
        all.map((b) => [
          `@${b.user.username}`,
          b.reason || "",
          small(t("Revoke ban"), async () => {
            await app.tryCall(app.rest.delete(`/guilds/${g.id}/bans/${b.user.id}`));
            redraw();
          }),
        ]),
      ),
    ),
  );
}

async function invites(app, g, body, redraw) {
  const all = await app.rest.get(`/guilds/${g.id}/invites`);
  fill(
    body,
    section(
      null,
      table(
        [t("Invite"), t("Created by"), t("Times used"), t("Expires"), ""],
        all.map((i) => [
          h("a", { href: `/invite/${i.code}` }, i.code),
          i.inviter ? `@${i.inviter.username}` : "",
          i.max_uses ? t("{n} of {most}", { n: i.uses ?? 0, most: i.max_uses }) : String(i.uses ?? 0),
          i.expires_at ? relative(new Date(i.expires_at)) : t("never"),
          small(
            t("Delete"),
            async () => {
              await app.tryCall(app.rest.delete(`/invites/${i.code}`));
              redraw();
            },
            "danger",
          ),
        ]),
      ),
    ),
  );
}

async function integrations(app, g, body, redraw) {
  const all = await app.rest.get(`/guilds/${g.id}/integrations`);
  fill(
    body,
    section(
      null,
      table(
        [t("Name"), t("Type"), t("Created by"), ""],
        all.map((i) => [
          i.name,
          i.type,
          i.user ? `@${i.user.username}` : "",
          small(
            t("Remove"),
            async () => {
              if (await app.confirm(t("Remove"), t("Remove {name}?", { name: i.name }), t("Remove"))) {
                await app.tryCall(app.rest.delete(`/guilds/${g.id}/integrations/${i.id}`));
                redraw();
              }
            },
            "danger",
          ),
        ]),
      ),
    ),
  );
}

async function commands(app, g, body, redraw) {
  const { applications, application_commands: all } = await app.rest.get(`/guilds/${g.id}/application-command-index`);
  const name = new Map(applications.map((a) => [a.id, a.name]));
  fill(
    body,
    section(
      null,
      h("p.hint", null, t("Members with the required permission can use a command, unless an exception is set here.")),
      table(
        [t("Command"), t("App"), ""],
        all.map((c) => [
          h("code", null, `${(c.type || 1) === 1 ? "/" : ""}${c.name}`),
          name.get(c.application_id),
          small(t("Permissions"), () => permissions(app, g, c, redraw)),
        ]),
      ),
    ),
  );
}

async function permissions(app, g, c, redraw) {
  const path = `/applications/${c.application_id}/guilds/${g.id}/commands/${c.id}/permissions`;
  const now = await app.rest.get(path).then(
    (p) => p.permissions,
    () => [],
  );
  const targets = [
    ...[...g.roles.values()].map((r) => [1, r.id, `@${r.name.replace(/^@/, "")}`]),
    ...[...g.members.values()].map((m) => [2, m.user.id, m.user.username]),
    ...app.store
      .channelsOf(g)
      .filter((x) => !isThread(x))
      .map((x) => [3, x.id, `#${x.name}`]),
  ];
  return dialog(
    c.name,
    (close) => {
      const rows = targets.map(([type, id, words]) => {
        const set = now.find((p) => p.id === id);
        return {
          type,
          id,
          words,
          control: h(
            "select",
            { "aria-label": words },
            [
              ["", "–"],
              ["1", t("allowed")],
              ["0", t("denied")],
            ].map(([v, x]) =>
              h("option", { value: v, selected: v === (set ? String(Number(set.permission)) : "") }, x),
            ),
          ),
        };
      });
      return [
        table(
          [t("Applies to"), t("Allowed")],
          rows.map((r) => [r.words, r.control]),
        ),
        h(
          "div.actions",
          null,
          small(
            t("Save"),
            async () => {
              const permissions = rows
                .filter((r) => r.control.value !== "")
                .map((r) => ({ id: r.id, type: r.type, permission: r.control.value === "1" }));
              if (await app.tryCall(app.rest.put(path, { permissions }), t("Saved"))) {
                await redraw();
                close();
              }
            },
            "primary",
          ),
        ),
      ];
    },
    { class: "wide" },
  );
}

async function webhooks(app, g, body, redraw) {
  const all = await app.rest.get(`/guilds/${g.id}/webhooks`);
  const channels = app.store.channelsOf(g).filter((c) => c.type === 0);
  fill(
    body,
    section(
      null,
      table(
        [t("Name"), t("Channel"), "URL", ""],
        all.map((w) => [
          w.name,
          `#${app.store.channels.get(w.channel_id)?.name || ""}`,
          w.url ? h("code", null, w.url) : "",
          small(
            t("Delete"),
            async () => {
              await app.tryCall(app.rest.delete(`/webhooks/${w.id}`));
              redraw();
            },
            "danger",
          ),
        ]),
      ),
    ),
    section(
      t("New webhook"),
      quickForm(
        [
          { name: "name", label: t("Name") },
          { name: "channel", label: t("Channel"), options: channels.map((c) => [c.id, `#${c.name}`]) },
        ],
        t("Create"),
        async (v) => {
          await app.rest.post(`/channels/${v.channel}/webhooks`, { name: v.name });
          await redraw();
        },
        "inline-form",
      ),
    ),
  );
}

async function emojis(app, g, body, redraw) {
  const all = await app.rest.get(`/guilds/${g.id}/emojis`);
  fill(
    body,
    section(
      null,
      table(
        ["", t("Name"), ""],
        all.map((e) => [
          emoji(e.name, e.id, e.animated),
          `:${e.name}:`,
          small(
            t("Delete"),
            async () => {
              await app.tryCall(app.rest.delete(`/guilds/${g.id}/emojis/${e.id}`));
              redraw();
            },
            "danger",
          ),
        ]),
        t("Emoji"),
      ),
    ),
    section(
      t("New emoji"),
      quickForm(
        [
          { name: "name", label: t("Name") },
          { name: "image", label: t("Picture"), type: "file" },
        ],
        t("Add"),
        async (v) => {
          if (!v.image) throw new Error(t("Choose an image"));
          await app.rest.post(`/guilds/${g.id}/emojis`, { name: v.name, image: await dataUrl(v.image) });
          await redraw();
        },
      ),
    ),
  );
}

const ACTIONS = {
  1: t("changed the server"),
  10: t("created a channel"),
  11: t("changed a channel"),
  12: t("deleted a channel"),
  13: t("added permissions in a channel"),
  14: t("changed permissions in a channel"),
  15: t("removed permissions in a channel"),
  20: t("kicked"),
  21: t("removed inactive members"),
  22: t("banned"),
  23: t("unbanned"),
  24: t("changed the member"),
  25: t("changed the roles of"),
  26: t("moved a member in voice"),
  27: t("disconnected a member from voice"),
  28: t("added the bot"),
  30: t("created a role"),
  31: t("changed a role"),
  32: t("deleted a role"),
  40: t("created an invite"),
  42: t("deleted an invite"),
  50: t("created a webhook"),
  51: t("changed a webhook"),
  52: t("deleted a webhook"),
  60: t("created an emoji"),
  61: t("changed an emoji"),
  62: t("deleted an emoji"),
  72: t("deleted a message of"),
  73: t("deleted messages"),
  74: t("pinned a message"),
  75: t("unpinned a message"),
  80: t("added an integration"),
  81: t("changed an integration"),
  82: t("removed an integration"),
  83: t("started a stage"),
  84: t("changed a stage"),
  85: t("ended a stage"),
  110: t("created a thread"),
  111: t("changed a thread"),
  112: t("deleted a thread"),
  121: t("changed command permissions"),
};

async function auditLog(app, g, body) {
  const log = await app.rest.get(`/guilds/${g.id}/audit-logs?limit=100`);
  const user = new Map(log.users.map((u) => [u.id, u]));
  const name = (id) => user.get(id)?.username || app.store.channels.get(id)?.name || g.roles.get(id)?.name || id || "";
  const changes = (e) =>
    (e.changes || [])
      .map((c) => `${c.key}: ${JSON.stringify(c.old_value) ?? "–"} → ${JSON.stringify(c.new_value) ?? "–"}`)
      .join("\n");
  fill(
    body,
    section(
      null,
      table(
        [t("Time"), t("User"), t("Action"), t("Changes"), t("Reason")],
        log.audit_log_entries.map((e) => [
          relative(when(e.id)),
          `@${name(e.user_id)}`,
          `${ACTIONS[e.action_type] || t("action {n}", { n: e.action_type })} ${name(e.target_id)}`,
          h("small", null, changes(e)),
          e.reason || "",
        ]),
      ),
    ),
  );
}

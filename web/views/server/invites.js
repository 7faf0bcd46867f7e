// invites.js - the invites of a guild: create (with duration and number of uses), copy, revoke.
import { fill, h } from "../../dom.js";
import { quickForm, small, table } from "../../forms.js";
import { relative } from "../../markdown.js";
import { ANNOUNCEMENT, FORUM, STAGE, TEXT, VOICE } from "../../store.js";
import { t } from "../../translate.js";
import { confirmDelete, copyButton, live, section } from "./shared.js";

const INVITED_TO = new Set([TEXT, VOICE, ANNOUNCEMENT, STAGE, FORUM]);
/** @type {[number, string][]} */
export const AGES = [
  [1800, t("{n} minute|{n} minutes", { n: 30 })],
  [3600, t("{n} hour|{n} hours", { n: 1 })],
  [21600, t("{n} hour|{n} hours", { n: 6 })],
  [43200, t("{n} hour|{n} hours", { n: 12 })],
  [86400, t("{n} day|{n} days", { n: 1 })],
  [604800, t("{n} day|{n} days", { n: 7 })],
  [0, t("never")],
];
/** @type {[number, string][]} */
export const USES = [
  [0, t("No limit")],
  .../** @type {[number, string][]} */ ([1, 5, 10, 25, 50, 100].map((n) => [n, t("{n} use|{n} uses", { n })])),
];

const linkOf = (code) => `${location.origin}/invite/${code}`;

/** Returns the form fields for a new invite. @param {any} [channel] the preselected channel */
function rowsOf(app, g, channel) {
  const channels = app.store
    .channelsOf(g)
    .filter((c) => INVITED_TO.has(c.type) && app.store.may(c, "CREATE_INSTANT_INVITE"))
    .slice(0, 1000);
  return [
    {
      name: "channel",
      label: t("Channel"),
      options: /** @type {[any, string][]} */ (channels.map((c) => [c.id, `#${c.name}`])),
      value: channel?.id || g.system_channel_id,
    },
    { name: "max_age", label: t("Expires after"), options: AGES, value: 604800 },
    { name: "max_uses", label: t("Maximum number of uses"), options: USES, value: 0 },
    {
      name: "temporary",
      label: t("Temporary membership"),
      type: "checkbox",
      value: false,
      hint: t("A member who joins with this invite leaves the server when they go offline, unless they have a role."),
    },
  ];
}

const create = (app, v) =>
  app.rest.post(`/channels/${v.channel}/invites`, {
    max_age: Number(v.max_age),
    max_uses: Number(v.max_uses),
    temporary: v.temporary,
    unique: true,
  });

export async function invites(app, g, body, watch) {
  const revoke = (i) =>
    confirmDelete(
      t("Revoke invite"),
      t("Revoke the invite {code}? Nobody can join with it any more.", { code: i.code }),
      () => app.rest.delete(`/invites/${i.code}`),
      t("Revoke"),
    );
  const made = h("div", { role: "status" });
  const list = await live(watch, ["invites"], async () => {
    const all = await app.rest.get(`/guilds/${g.id}/invites`);
    return table(
      [t("Invite"), t("Channel"), t("Created by"), t("Times used"), t("Expires"), ""],
      all.map((i) => [
        h("a", { href: `/invite/${i.code}` }, i.code),
        i.channel ? `#${i.channel.name}` : "",
        i.inviter ? `@${i.inviter.username}` : "",
        i.max_uses ? t("{n} of {most}", { n: i.uses ?? 0, most: i.max_uses }) : String(i.uses ?? 0),
        i.expires_at ? relative(new Date(i.expires_at)) : t("never"),
        h(
          "div.row-actions",
          null,
          copyButton(app, linkOf(i.code), t("Copy {name}", { name: i.code })),
          small(t("Revoke"), () => revoke(i), "danger", `revoke:${i.code}`),
        ),
      ]),
    );
  });
  fill(
    body,
    section(null, list),
    app.store.mayInGuild(g, "CREATE_INSTANT_INVITE") &&
      section(
        t("New invite"),
        quickForm(rowsOf(app, g), t("Create"), async (v) => {
          const invite = await create(app, v);
          fill(
            made,
            h("code.secret", null, linkOf(invite.code)),
            " ",
            copyButton(app, linkOf(invite.code), t("Copy {name}", { name: invite.code })),
          );
          return t("The invite was created");
        }),
        made,
      ),
  );
}

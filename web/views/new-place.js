// new-place.js - the dialogs for a new channel or invite.
import { dialog, field, h } from "../dom.js";
import { small } from "../forms.js";
import { inviteRule } from "../registration-help.js";
import { ANNOUNCEMENT, CATEGORY, STAGE, VOICE } from "../store.js";
import { t } from "../translate.js";
import { AGES, USES } from "./server/invites.js";

const WEEK = 604800; // seconds

/**
 * Opens a dialog with an invite link. Creates another link when the user chooses another duration or number of uses.
 */
export async function invite(app, channel) {
  const select = (options, value) =>
    h(
      "select",
      { onchange: () => make() },
      options.map(([n, words]) => h("option", { value: n, selected: n === value }, words)),
    );
  const age = field(t("Expires after"), select(AGES, WEEK)),
    uses = field(t("Maximum number of uses"), select(USES, 0)),
    link = h("input", { readonly: true, "aria-label": t("Link"), onfocus: (e) => e.target.select() });
  const make = async () => {
    const made = await app.tryCall(
      app.rest.post(`/channels/${channel.id}/invites`, {
        max_age: Number(age.control.value),
        max_uses: Number(uses.control.value),
      }),
    );
    if (made) link.value = `${location.origin}/invite/${made.code}`;
    return made;
  };
  const copy = () => app.tryCall(Promise.resolve(navigator.clipboard?.writeText(link.value)), t("Copied"));
  if (!(await make())) return;
  dialog(t("Invite people"), () =>
    h("div.stack", null, h("div.row", null, link, small(t("Copy"), copy)), age, uses, inviteRule(app)),
  );
}

export async function addChannel(app, guild, category) {
  const kinds = [
    [0, t("Text")],
    [VOICE, t("Voice")],
    [STAGE, t("Stage")],
    [15, t("Forum")],
    [ANNOUNCEMENT, t("Announcements")],
    ...(category ? [] : [[CATEGORY, t("Category")]]),
  ];
  const made = await dialog(t("New channel"), (close) => {
    const name = field(t("Name"), h("input", { maxlength: 100, required: true })),
      type = field(
        t("Type"),
        h(
          "select",
          null,
          kinds.map(([n, words]) => h("option", { value: n }, words)),
        ),
      );
    return h(
      "form.stack",
      {
        onsubmit: (e) => {
          e.preventDefault();
          close({ name: name.control.value, type: Number(type.control.value) });
        },
      },
      name,
      type,
      h("div.actions", null, h("button.button.primary", { type: "submit" }, t("Create"))),
    );
  });
  if (made?.name)
    app.tryCall(app.rest.post(`/guilds/${guild.id}/channels`, { ...made, parent_id: category?.id ?? null }));
}

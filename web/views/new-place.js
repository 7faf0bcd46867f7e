// new-place.js - the dialogs for a new channel, group or invite.
import { dialog, field, h } from "../dom.js";
import { avatar } from "../images.js";
import { inviteRule } from "../registration-help.js";
import { ANNOUNCEMENT, CATEGORY, STAGE, VOICE } from "../store.js";
import { t } from "../translate.js";

export async function addGroup(app) {
  const friends = [...app.store.relationships.values()].filter((r) => r.type === 1);
  const chosen = await dialog(t("New group"), (close) => {
    const boxes = friends.map((r) => h("input", { type: "checkbox", value: r.id }));
    return h(
      "form.stack",
      {
        onsubmit: (e) => {
          e.preventDefault();
          close(boxes.filter((b) => b.checked).map((b) => b.value));
        },
      },
      h(
        "div.choices",
        null,
        friends.length
          ? friends.map((r, i) =>
              h("label.choice", null, boxes[i], avatar(r.user, "", "tiny-avatar"), app.store.nameOf(r.id)),
            )
          : t("You have no friends yet. Add friends before you create a group."),
      ),
      friends.length > 0 && h("div.actions", null, h("button.button.primary", { type: "submit" }, t("Start"))),
    );
  });
  if (!chosen?.length) return;
  const made = await app.tryCall(app.rest.post("/users/@me/channels", { recipients: chosen }));
  if (made) app.openPrivate(made);
}

export async function invite(app, channel) {
  const made = await app.tryCall(app.rest.post(`/channels/${channel.id}/invites`, { max_age: 604800 }));
  if (!made) return;
  const url = `${location.origin}/invite/${made.code}`;
  dialog(t("Invite people"), () =>
    h(
      "div.stack",
      null,
      h("input", { value: url, readonly: true, "aria-label": t("Link"), onfocus: (e) => e.target.select() }),
      h("p.hint", null, t("The invite link is valid for seven days.")),
      inviteRule(app),
    ),
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

// overview.js - the settings tab with name, description and icon of a guild, two-factor authentication, and deletion.
import { fill, h } from "../../dom.js";
import { quickForm, small } from "../../forms.js";
import { changedPictures, pictureRow } from "../../picture-field.js";
import { isThread } from "../../store.js";
import { t } from "../../translate.js";
import { formDialog, section } from "./shared.js";

function textChannels(app, g) {
  return /** @type {[string, string][]} */ ([
    ["", t("None")],
    ...app.store
      .channelsOf(g)
      .filter((c) => c.type === 0 && !isThread(c))
      .map((c) => [c.id, `#${c.name}`]),
  ]);
}

export function overview(app, g, body) {
  const owner = g.owner_id === app.store.me.id;
  const remove = async () => {
    const done = await formDialog(
      t("Delete server"),
      [{ name: "name", label: t("Name of the server"), required: true }],
      t("Delete"),
      (v) => {
        if (v.name !== g.name) throw new Error(t("This is not the name of the server."));
        return app.rest.delete(`/guilds/${g.id}`);
      },
      { intro: t("Delete {name} with all its channels and messages?", { name: g.name }), danger: true },
    );
    if (done) app.go("/channels/@me");
  };
  fill(
    body,
    section(
      null,
      quickForm(
        [
          { name: "name", label: t("Name"), value: g.name, required: true, props: { maxlength: 100 } },
          { name: "description", label: t("Description"), value: g.description, rows: 2, props: { maxlength: 300 } },
          pictureRow("icon", t("Icon"), { width: 512, height: 512, current: g.icon && `/icons/${g.id}/${g.icon}.png` }),
          {
            name: "system",
            label: t("Channel for system messages"),
            value: g.system_channel_id || "",
            options: textChannels(app, g),
          },
        ],
        t("Save"),
        async (v) => {
          await app.rest.patch(`/guilds/${g.id}`, {
            ...(v.name !== g.name ? { name: v.name } : {}),
            ...(v.description !== (g.description || "") ? { description: v.description || null } : {}),
            ...changedPictures(v, "icon"),
            ...(v.system !== (g.system_channel_id || "") ? { system_channel_id: v.system || null } : {}),
          });
        },
      ),
    ),
    owner &&
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
    owner && section(t("Delete server"), h("div", null, small(t("Delete server"), remove, "danger"))),
  );
}

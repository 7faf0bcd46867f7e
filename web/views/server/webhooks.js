// webhooks.js - the webhooks of a server: create, edit, copy the URL, delete.
import { fill, h } from "../../dom.js";
import { dataUrl, quickForm, small, table } from "../../forms.js";
import { ANNOUNCEMENT, TEXT, isForum, isVoice } from "../../store.js";
import { t } from "../../translate.js";
import { confirmDelete, copyButton, formDialog, live, section } from "./shared.js";

const addressOf = (w) => w.url || (w.token ? `${location.origin}/api/webhooks/${w.id}/${w.token}` : null);

export async function webhooks(app, g, body, watch) {
  const channels = () =>
    /** @type {[any, string][]} */ (
      app.store
        .channelsOf(g)
        .filter((c) => c.type === TEXT || c.type === ANNOUNCEMENT || isForum(c) || isVoice(c))
        .filter((c) => app.store.may(c, "MANAGE_WEBHOOKS"))
        .slice(0, 1000)
        .map((c) => [c.id, `#${c.name}`])
    );
  const rows = (w) => [
    { name: "name", label: t("Name"), value: w?.name, required: true, props: { maxlength: 80 } },
    { name: "channel_id", label: t("Channel"), options: channels(), value: w?.channel_id },
  ];
  const edit = (w) =>
    formDialog(
      w.name,
      [...rows(w), { name: "avatar", label: t("Avatar"), type: "file", props: { accept: "image/*" } }],
      t("Save"),
      async (v) =>
        app.rest.patch(`/webhooks/${w.id}`, {
          name: v.name,
          ...(v.channel_id !== w.channel_id ? { channel_id: v.channel_id } : {}),
          ...(v.avatar ? { avatar: await dataUrl(v.avatar) } : {}),
        }),
    );
  const remove = (w) =>
    confirmDelete(
      t("Delete webhook"),
      t("Delete the webhook {name}? Programs that use its URL can no longer send messages.", { name: w.name }),
      () => app.rest.delete(`/webhooks/${w.id}`),
    );
  const list = await live(watch, ["webhooks"], async () => {
    const all = await app.rest.get(`/guilds/${g.id}/webhooks`);
    return table(
      [t("Name"), t("Channel"), t("Created by"), ""],
      all.map((w) => [
        w.name,
        `#${app.store.channels.get(w.channel_id)?.name || ""}`,
        w.user ? `@${w.user.username}` : "",
        h(
          "div.row-actions",
          null,
          addressOf(w) && copyButton(app, addressOf(w), t("Copy the URL of {name}", { name: w.name })),
          small(t("Edit"), () => edit(w), "secondary", `edit:${w.id}`),
          small(t("Delete"), () => remove(w), "danger", `delete:${w.id}`),
        ),
      ]),
    );
  });
  fill(
    body,
    section(null, list),
    section(
      t("New webhook"),
      quickForm(
        rows(null),
        t("Create"),
        async (v) => {
          await app.rest.post(`/channels/${v.channel_id}/webhooks`, { name: v.name });
        },
        "inline-form",
      ),
    ),
  );
}

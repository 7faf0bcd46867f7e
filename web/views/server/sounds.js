// sounds.js - the soundboard of a server: upload, rename, delete.
import { fill, h } from "../../dom.js";
import { dataUrl, quickForm, small, table } from "../../forms.js";
import { t } from "../../translate.js";
import { confirmDelete, formDialog, live, section } from "./shared.js";

const MOST_BYTES = 512 * 1024;

const rows = (s) => [
  { name: "name", label: t("Name"), value: s?.name, required: true, props: { maxlength: 32, minlength: 2 } },
  {
    name: "volume",
    label: t("Volume (per cent)"),
    type: "number",
    value: Math.round((s?.volume ?? 1) * 100),
    props: { min: 0, max: 100 },
  },
  { name: "emoji", label: t("Emoji"), value: s?.emoji_name, props: { maxlength: 32 } },
];
const values = (v) => ({ name: v.name, volume: Number(v.volume) / 100, emoji_name: v.emoji || null });

export async function sounds(app, g, body, watch) {
  const manage = app.store.mayInGuild(g, "MANAGE_EXPRESSIONS"),
    path = `/guilds/${g.id}/soundboard-sounds`;
  const mine = (s) => manage || s.user?.id === app.store.me.id;
  const edit = (s) => formDialog(s.name, rows(s), t("Save"), (v) => app.rest.patch(`${path}/${s.sound_id}`, values(v)));
  const remove = (s) =>
    confirmDelete(t("Delete sound"), t("Delete the sound {name}?", { name: s.name }), () =>
      app.rest.delete(`${path}/${s.sound_id}`),
    );
  const list = await live(watch, ["sounds"], async () => {
    const { items } = await app.rest.get(path);
    return table(
      [t("Name"), t("Emoji"), t("Sound"), t("Created by"), ""],
      items.map((s) => [
        s.name,
        s.emoji_name || "",
        h("audio", { src: `/soundboard-sounds/${s.sound_id}`, controls: true, preload: "none", "aria-label": s.name }),
        s.user ? `@${s.user.username}` : "",
        mine(s) &&
          h(
            "div.row-actions",
            null,
            small(t("Edit"), () => edit(s), "secondary", `edit:${s.sound_id}`),
            small(t("Delete"), () => remove(s), "danger", `delete:${s.sound_id}`),
          ),
      ]),
      t("Soundboard"),
    );
  });
  fill(
    body,
    section(null, list),
    app.store.mayInGuild(g, "CREATE_EXPRESSIONS") &&
      section(
        t("New sound"),
        quickForm(
          [
            ...rows(null),
            {
              name: "file",
              label: t("File"),
              type: "file",
              props: { accept: "audio/mpeg,audio/ogg" },
              hint: t("MP3 or Ogg of at most 512 KiB and 5.2 seconds."),
            },
          ],
          t("Add"),
          async (v) => {
            if (!v.file) throw new Error(t("Choose a sound"));
            if (v.file.size > MOST_BYTES) throw new Error(t("The file is too large: at most {n} KiB.", { n: 512 }));
            await app.rest.post(path, { ...values(v), sound: await dataUrl(v.file) });
          },
        ),
      ),
  );
}

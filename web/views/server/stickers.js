// stickers.js - the stickers of a server: upload, rename, delete.
import { fill, h } from "../../dom.js";
import { quickForm, small, table } from "../../forms.js";
import { t } from "../../translate.js";
import { confirmDelete, formDialog, live, section } from "./shared.js";

const MOST_BYTES = 512 * 1024,
  LOTTIE = 3,
  GIF = 4;

const rows = (s) => [
  { name: "name", label: t("Name"), value: s?.name, required: true, props: { maxlength: 30 } },
  { name: "tags", label: t("Related emoji"), value: s?.tags, required: true, props: { maxlength: 200 } },
  { name: "description", label: t("Description"), value: s?.description, props: { maxlength: 100 } },
];

const image = (s) =>
  s.format_type === LOTTIE
    ? s.name
    : h("img.sticker-small", {
        src: `/stickers/${s.id}.${s.format_type === GIF ? "gif" : "png"}`,
        alt: "",
        loading: "lazy",
      });

export async function stickers(app, g, body, watch) {
  const manage = app.store.mayInGuild(g, "MANAGE_EXPRESSIONS"),
    path = `/guilds/${g.id}/stickers`;
  const mine = (s) => manage || s.user?.id === app.store.me.id;
  const edit = (s) =>
    formDialog(s.name, rows(s), t("Save"), (v) =>
      app.rest.patch(`${path}/${s.id}`, { name: v.name, tags: v.tags, description: v.description || null }),
    );
  const remove = (s) =>
    confirmDelete(t("Delete sticker"), t("Delete the sticker {name}?", { name: s.name }), () =>
      app.rest.delete(`${path}/${s.id}`),
    );
  const list = await live(watch, ["stickers"], async () => {
    const all = await app.rest.get(path);
    return table(
      ["", t("Name"), t("Related emoji"), t("Created by"), ""],
      all.map((s) => [
        image(s),
        s.name,
        s.tags,
        s.user ? `@${s.user.username}` : "",
        mine(s) &&
          h(
            "div.row-actions",
            null,
            small(t("Edit"), () => edit(s), "secondary", `edit:${s.id}`),
            small(t("Delete"), () => remove(s), "danger", `delete:${s.id}`),
          ),
      ]),
      t("Stickers"),
    );
  });
  fill(
    body,
    section(null, list),
    app.store.mayInGuild(g, "CREATE_EXPRESSIONS") &&
      section(
        t("New sticker"),
        quickForm(
          [
            ...rows(null),
            {
              name: "file",
              label: t("Picture"),
              type: "file",
              props: { accept: "image/png,image/apng,image/gif" },
              hint: t("PNG, APNG or GIF of at most 512 KiB and 320 × 320 pixels."),
            },
          ],
          t("Add"),
          async (v) => {
            if (!v.file) throw new Error(t("Choose an image"));
            if (v.file.size > MOST_BYTES) throw new Error(t("The file is too large: at most {n} KiB.", { n: 512 }));
            const form = new FormData();
            form.set("name", v.name);
            form.set("tags", v.tags);
            form.set("description", v.description);
            form.set("file", v.file);
            await app.rest.post(path, form);
          },
        ),
      ),
  );
}

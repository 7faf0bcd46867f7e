// emoji.js - the emoji of a server: upload, rename, delete.
import { fill, h } from "../../dom.js";
import { dataUrl, quickForm, small, table } from "../../forms.js";
import { emoji } from "../../markdown.js";
import { t } from "../../translate.js";
import { confirmDelete, formDialog, live, section } from "./shared.js";

const MOST_BYTES = 256 * 1024;

/** Makes an emoji name (letters, digits and _) from a file name. @param {File} file */
const nameOf = (file) =>
  file.name
    .replace(/\.\w+$/, "")
    .replace(/\W+/g, "_")
    .slice(0, 32);

export async function emojis(app, g, body, watch) {
  const manage = app.store.mayInGuild(g, "MANAGE_EXPRESSIONS"),
    path = `/guilds/${g.id}/emojis`;
  const mine = (e) => manage || e.user?.id === app.store.me.id;
  const rename = (e) =>
    formDialog(
      t("Rename"),
      [{ name: "name", label: t("Name"), value: e.name, required: true, props: { maxlength: 32 } }],
      t("Save"),
      (v) => app.rest.patch(`${path}/${e.id}`, { name: v.name }),
    );
  const remove = (e) =>
    confirmDelete(t("Delete emoji"), t("Delete the emoji {name}?", { name: `:${e.name}:` }), () =>
      app.rest.delete(`${path}/${e.id}`),
    );
  const list = await live(watch, ["guilds"], async () => {
    const all = await app.rest.get(path);
    return table(
      ["", t("Name"), t("Created by"), ""],
      all.map((e) => [
        emoji(e.name, e.id, e.animated),
        `:${e.name}:`,
        e.user ? `@${e.user.username}` : "",
        mine(e) &&
          h(
            "div.row-actions",
            null,
            small(t("Rename"), () => rename(e), "secondary", `rename:${e.id}`),
            small(t("Delete"), () => remove(e), "danger", `delete:${e.id}`),
          ),
      ]),
      t("Emoji"),
    );
  });
  fill(
    body,
    section(null, list),
    app.store.mayInGuild(g, "CREATE_EXPRESSIONS") &&
      section(
        t("New emoji"),
        quickForm(
          [
            {
              name: "name",
              label: t("Name"),
              props: { maxlength: 32 },
              hint: t("Letters, digits and underscores. Without a name, the name of the file is used."),
            },
            { name: "image", label: t("Picture"), type: "file", props: { accept: "image/*" } },
          ],
          t("Add"),
          async (v) => {
            if (!v.image) throw new Error(t("Choose an image"));
            if (v.image.size > MOST_BYTES) throw new Error(t("The file is too large: at most {n} KiB.", { n: 256 }));
            await app.rest.post(path, { name: v.name || nameOf(v.image), image: await dataUrl(v.image) });
          },
        ),
      ),
  );
}

// template.js - the template of a server: roles, channels and settings from which new servers are created.
import { fill, h } from "../../dom.js";
import { quickForm, small } from "../../forms.js";
import { relative } from "../../markdown.js";
import { t } from "../../translate.js";
import { confirmDelete, copyButton, formDialog, live, section } from "./shared.js";

export async function template(app, g, body, watch) {
  const path = `/guilds/${g.id}/templates`;
  const rows = (x) => [
    { name: "name", label: t("Name"), value: x?.name, required: true, props: { maxlength: 100 } },
    { name: "description", label: t("Description"), value: x?.description, props: { maxlength: 120 } },
  ];
  const values = (v) => ({ name: v.name, description: v.description || null });
  const list = await live(watch, ["guilds"], async (redraw) => {
    const [x] = await app.rest.get(path);
    const after = (call) => call.then(redraw);
    if (!x)
      return section(
        null,
        h("p", null, t("A template has the roles, channels and settings of this server, but no messages and members.")),
        quickForm(rows(null), t("Create"), (v) => after(app.rest.post(path, values(v)))),
      );
    const use = () =>
      formDialog(
        t("New server from this template"),
        [{ name: "name", label: t("Name"), required: true, props: { maxlength: 100 } }],
        t("Create"),
        async (v) => {
          const made = await app.rest.post(`/guilds/templates/${x.code}`, { name: v.name });
          app.openGuild(made.id);
        },
      );
    const remove = () =>
      confirmDelete(t("Delete template"), t("Delete the template {name}?", { name: x.name }), () =>
        after(app.rest.delete(`${path}/${x.code}`)),
      );
    return section(
      x.name,
      x.description && h("p", null, x.description),
      h("p", null, h("code", null, x.code), " ", copyButton(app, x.code, t("Copy {name}", { name: x.code }))),
      h(
        "p.faint",
        null,
        t("Used {n} time|Used {n} times", { n: x.usage_count }),
        " · ",
        t("updated {time}", { time: relative(new Date(x.updated_at)) }),
      ),
      x.is_dirty && h("p.changed-note", null, t("The server has changed since the last update of the template.")),
      h(
        "div.row-actions",
        null,
        small(
          t("Update the template from the server"),
          () => app.tryCall(after(app.rest.put(`${path}/${x.code}`)), t("Saved")),
          "primary",
        ),
        small(t("Edit"), () =>
          formDialog(x.name, rows(x), t("Save"), (v) => after(app.rest.patch(`${path}/${x.code}`, values(v)))),
        ),
        small(t("New server from this template"), use),
        small(t("Delete"), remove, "danger"),
      ),
    );
  });
  fill(body, list);
}

// widget.js - the settings of a guild's widget, which shows online members and a picture on other web sites.
import { fill, h } from "../../dom.js";
import { quickForm } from "../../forms.js";
import { t } from "../../translate.js";
import { copyButton, section } from "./shared.js";

export async function widget(app, g, body) {
  const path = `/guilds/${g.id}/widget`,
    now = await app.rest.get(path),
    channels = app.store.channelsOf(g).filter((c) => c.type === 0);
  const addresses = ["widget.json", "widget.png"].map((name) => `${location.origin}/api/v10/guilds/${g.id}/${name}`);
  fill(
    body,
    section(
      null,
      h("p.hint", null, t("Everybody can see who is online and an invite link, on other web sites, too.")),
      quickForm(
        [
          { name: "enabled", label: t("Enable the widget"), type: "checkbox", value: now.enabled },
          {
            name: "channel",
            label: t("Channel of the invite"),
            value: now.channel_id || "",
            options: [["", t("No invite")], ...channels.slice(0, 1000).map((c) => [c.id, `#${c.name}`])],
          },
        ],
        t("Save"),
        async (v) => {
          await app.rest.patch(path, { enabled: v.enabled, channel_id: v.channel || null });
        },
      ),
    ),
    section(
      t("Addresses"),
      addresses.map((url) =>
        h("p.row", null, h("code.grow", null, url), copyButton(app, url, t("Copy {name}", { name: url }))),
      ),
    ),
  );
}

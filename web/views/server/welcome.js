// welcome.js - the welcome screen: a description and up to five channels that new members see first.
import { fill, h } from "../../dom.js";
import { quickForm } from "../../forms.js";
import { isThread } from "../../store.js";
import { t } from "../../translate.js";
import { live, section } from "./shared.js";

const MOST_CHANNELS = 5;

export async function welcome(app, g, body, watch) {
  const path = `/guilds/${g.id}/welcome-screen`;
  const channels = /** @type {[any, string][]} */ ([
    ["", t("None")],
    ...app.store
      .channelsOf(g)
      .filter((c) => !isThread(c) && [0, 5, 15].includes(c.type))
      .slice(0, 1000)
      .map((c) => [c.id, `#${c.name}`]),
  ]);
  const form = await live(watch, [], async () => {
    const screen = await app.rest.get(path).catch((e) => {
      if (e.status === 404) return { description: "", welcome_channels: [] };
      throw e;
    });
    const rows = /** @type {any[]} */ ([
      {
        name: "enabled",
        label: t("Show the welcome screen to new members"),
        type: "checkbox",
        value: (g.features || []).includes("WELCOME_SCREEN_ENABLED"),
      },
      { name: "description", label: t("Description"), value: screen.description, rows: 2, props: { maxlength: 140 } },
    ]);
    for (let n = 1; n <= MOST_CHANNELS; n++) {
      const c = screen.welcome_channels[n - 1];
      rows.push(
        { name: `channel${n}`, label: t("Channel {n}", { n }), options: channels, value: c?.channel_id || "" },
        {
          name: `text${n}`,
          label: t("Description of channel {n} for new members", { n }),
          value: c?.description,
          props: { maxlength: 50 },
        },
        { name: `emoji${n}`, label: t("Emoji of channel {n}", { n }), value: c?.emoji_name, props: { maxlength: 32 } },
      );
    }
    return quickForm(
      rows,
      t("Save"),
      async (v) => {
        const list = [];
        for (let n = 1; n <= MOST_CHANNELS; n++) {
          if (!v[`channel${n}`]) continue;
          if (!v[`text${n}`]) throw new Error(t("Enter a description for channel {n}.", { n }));
          const before = screen.welcome_channels.find((c) => c.channel_id === v[`channel${n}`]),
            emoji = v[`emoji${n}`] || null;
          list.push({
            channel_id: v[`channel${n}`],
            description: v[`text${n}`],
            emoji_name: emoji,
            emoji_id: before?.emoji_name === emoji ? before.emoji_id : null,
          });
        }
        await app.rest.patch(path, { enabled: v.enabled, description: v.description || null, welcome_channels: list });
      },
      "welcome-form",
    );
  });
  fill(body, section(null, h("p.hint", null, t("New members see the welcome screen before anything else.")), form));
}

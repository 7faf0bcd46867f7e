// privacy.js - the settings page about who may send friend requests and direct messages to the user.
import { fill } from "../../dom.js";
import { quickForm } from "../../forms.js";
import { t } from "../../translate.js";
import { section } from "../server/shared.js";

export function privacy(app, body) {
  const s = app.store.settings,
    from = s.friend_source_flags || {};
  fill(
    body,
    section(
      t("Who can send you friend requests"),
      quickForm(
        [
          {
            name: "all",
            label: t("Everyone"),
            type: "checkbox",
            value: from.all,
            hint: t("Everyone includes people who share no server and no friend with you."),
          },
          {
            name: "mutual_friends",
            label: t("Friends of friends"),
            type: "checkbox",
            value: from.mutual_friends !== false,
          },
          {
            name: "mutual_guilds",
            label: t("Members of your servers"),
            type: "checkbox",
            value: from.mutual_guilds !== false,
          },
        ],
        t("Save"),
        async (v) => {
          app.store.settings = { ...s, ...(await app.rest.patch("/users/@me/settings", { friend_source_flags: v })) };
        },
      ),
    ),
    section(
      t("Messages"),
      quickForm(
        [
          {
            name: "default_guilds_restricted",
            label: t("Block direct messages from members of new servers"),
            type: "checkbox",
            value: s.default_guilds_restricted,
            hint: t("Applies to servers that you join from now on. Friends can always write to you."),
          },
          {
            name: "allow_game_friend_dms",
            label: t("Allow direct messages from game friends"),
            type: "checkbox",
            value: s.allow_game_friend_dms,
          },
        ],
        t("Save"),
        async (v) => {
          app.store.settings = { ...s, ...(await app.rest.patch("/users/@me/settings", v)) };
        },
      ),
    ),
  );
}

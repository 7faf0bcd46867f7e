// settings.js - the settings of a channel or category: overview and permissions.
import { fill, h } from "../../dom.js";
import { tabbedPage } from "../../forms.js";
import { permissionList } from "../../missing-permission.js";
import { t } from "../../translate.js";
import { Watch } from "../server/shared.js";
import { channelOverview } from "./overview.js";
import { channelPermissions } from "./permissions.js";

export async function mount(app, page, [guildId, id, tab]) {
  fill(page, h("p.loading-page", { role: "status" }, t("Connecting…")));
  await app.ready();
  if (!page.isConnected) return undefined;
  const g = app.store.guilds.get(guildId),
    c = app.store.channels.get(id),
    watch = new Watch(app);
  if (!g || !c) return app.go("/channels/@me", true);
  watch.on(["channels"], () => app.store.channels.has(id) || app.go(`/channels/${guildId}`, true));
  const guarded = (right, draw) => async (body) =>
    app.store.may(app.store.channels.get(id), right)
      ? draw(app, g, id, body, watch)
      : fill(
          body,
          h("p", null, t("You need the permission {names} for this page.", { names: permissionList([right]) })),
        );
  await tabbedPage(app, page, {
    base: `/channels/${guildId}/${id}/settings`,
    title: c.name,
    tabs: [
      ["overview", t("Overview"), guarded("MANAGE_CHANNELS", channelOverview)],
      ["permissions", t("Permissions"), guarded("MANAGE_ROLES", channelPermissions)],
    ],
    active: tab,
    back: `/channels/${guildId}/${id}`,
  });
  return () => watch.end();
}

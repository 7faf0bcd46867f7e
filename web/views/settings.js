// settings.js - the tabs of the user settings.
import { fill, h } from "../dom.js";
import { tabbedPage } from "../forms.js";
import { t } from "../translate.js";

/**
 * The tabs: path segment, label, and a function that imports the code of the tab. A tab without a path segment is a
 * heading.
 */
const TABS = [
  [null, t("Account")],
  ["account", t("My account"), async () => (await import("./user/account.js")).account],
  ["profile", t("Profile"), async () => (await import("./user/profile.js")).profile],
  ["security", t("Two-factor authentication"), async () => (await import("./two-factor.js")).security],
  ["sessions", t("Sessions"), async () => (await import("./sessions.js")).sessions],
  [null, t("Privacy")],
  ["privacy", t("Privacy"), async () => (await import("./user/privacy.js")).privacy],
  ["grants", t("Authorised apps"), async () => (await import("./user/authorized-apps.js")).grants],
  ["connections", t("Connections"), async () => (await import("./user/connections.js")).connections],
  [null, t("This web client")],
  ["appearance", t("Appearance and language"), async () => (await import("./user/appearance.js")).appearance],
  ["notifications", t("Notifications"), async () => notifications],
  ["keyboard", t("Keyboard shortcuts"), async () => (await import("./user/keyboard.js")).keyboard],
  ["voice", t("Voice and video"), async () => voice],
  [null, t("For developers")],
  ["apps", t("My apps"), async () => (await import("./user/apps.js")).appPage],
  ["teams", t("Teams"), async () => (await import("./user/teams.js")).teams],
];

async function notifications(app, body) {
  fill(body, h("section", null, (await import("./notification-menu.js")).deviceForm(app)));
}

async function voice(app, body) {
  fill(body, (await import("../voice-settings.js")).voiceSettings(app));
}

export async function mount(app, page, [tab, id]) {
  await app.ready();
  const tabs = TABS.map(([name, label, load]) => [
    name,
    label,
    load && (async (body, redraw) => (await load())(app, body, redraw, id)),
  ]);
  return tabbedPage(app, page, { base: "/settings", title: t("Settings"), tabs, active: tab, back: "/channels/@me" });
}

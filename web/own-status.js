// own-status.js - the user's own status, which the server stores: online, idle, do not disturb, invisible; custom text.
import { dialog, field, h } from "./dom.js";
import { t } from "./translate.js";

const CUSTOM = 4; // activity type of a custom status

/** Returns the text of a user's custom status, or "". */
export const statusText = (store, id) =>
  (id === store.me?.id ? ownText(store) : textOf(store.presences.get(id)?.activities)) || "";

const textOf = (activities) => (activities || []).find((a) => a.type === CUSTOM)?.state;

function ownText(store) {
  const { text, expires_at: end } = store.settings.custom_status || {};
  return end && Date.parse(end) < Date.now() ? "" : text;
}

/** Sends the stored status to the gateway. Called when a session begins, and after each change of the status. */
export function sendStatus(app) {
  const { store } = app,
    text = ownText(store),
    status = store.settings.status || "online",
    activities = text ? [{ type: CUSTOM, name: "Custom Status", state: text }] : [];
  app.gateway?.send(3, { status, since: 0, afk: false, activities });
  store.presences.set(store.me.id, { user: { id: store.me.id }, status, activities });
  store.touch("me", "presence");
}

/**
 * Stores a change of the status on the server, and sends it to the gateway.
 * @param {{status?: string, custom_status?: any}} change
 */
export async function changeStatus(app, change) {
  Object.assign(app.store.settings, change);
  sendStatus(app);
  await app.tryCall(app.rest.patch("/users/@me/settings", change));
}

const endOfDay = () => new Date(new Date().setHours(24, 0, 0, 0)).getTime() - Date.now();
/**
 * Times after which a status text is removed.
 * @returns {[string, string, () => number][]} value, label, duration in ms
 */
const times = () => [
  ["", t("Do not clear"), () => 0],
  ["30m", t("After 30 minutes"), () => 30 * 60000],
  ["4h", t("After 4 hours"), () => 4 * 3600000],
  ["today", t("At the end of the day"), endOfDay],
];

/** Asks the user for a status text. */
export async function askStatusText(app) {
  const chosen = await dialog(t("Custom status"), (close) => {
    const text = field(t("Status"), h("input", { maxlength: 128, autocomplete: "off" })),
      clear = field(
        t("Clear"),
        h(
          "select",
          null,
          times().map(([value, words]) => h("option", { value }, words)),
        ),
      );
    text.control.value = statusText(app.store, app.store.me.id);
    const send = (e) => {
      e.preventDefault();
      const ms = times().find(([value]) => value === clear.control.value)[2]();
      const words = text.control.value.trim();
      close({
        custom_status: words ? { text: words, expires_at: ms ? new Date(Date.now() + ms).toISOString() : null } : null,
      });
    };
    return h(
      "form.stack",
      { onsubmit: send },
      text,
      clear,
      h("div.actions", null, h("button.button.primary", { type: "submit" }, t("Save"))),
    );
  });
  if (chosen) await changeStatus(app, chosen);
}

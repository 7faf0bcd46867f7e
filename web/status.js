// status.js - the online status of a user: label and dot.
import { h } from "./dom.js";
import { t } from "./translate.js";

export const STATUS_WORDS = {
  online: t("online"),
  idle: t("idle"),
  dnd: t("do not disturb"),
  invisible: t("invisible"),
  offline: t("offline"),
};

export function statusDot(store, id) {
  const status = store.presences.get(id)?.status || (id === store.me.id ? "online" : "offline");
  return h("span.status", { dataset: { status }, role: "img", "aria-label": STATUS_WORDS[status] || status });
}

// status.js - whether somebody is here: the words for it, and the dot.
import { h } from "./dom.js";
import { t } from "./words.js";

export const STATUS_WORDS = {
  online: t("online"),
  idle: t("away"),
  dnd: t("does not want to be disturbed"),
  invisible: t("invisible"),
  offline: t("offline"),
};

export function statusDot(store, id) {
  const status = store.presences.get(id)?.status || (id === store.me.id ? "online" : "offline");
  return h("span.status", { dataset: { status }, role: "img", "aria-label": STATUS_WORDS[status] || status });
}

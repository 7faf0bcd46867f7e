// message-times.js - the times of messages: clock time, day, and which messages are shown as one group.
import { h } from "./dom.js";
import { locale, t } from "./translate.js";

const GROUPED_MS = 7 * 60 * 1000;
const clock = new Intl.DateTimeFormat(locale, { hour: "2-digit", minute: "2-digit" });
const day = new Intl.DateTimeFormat(locale, { dateStyle: "long" });
export const fullTime = new Intl.DateTimeFormat(locale, { dateStyle: "full", timeStyle: "short" });

export function sameDay(a, b) {
  return new Date(a.timestamp).toDateString() === new Date(b.timestamp).toDateString();
}

export function isContinued(m, before) {
  return (
    before &&
    before.author.id === m.author.id &&
    before.type === 0 &&
    m.type === 0 &&
    !m.webhook_id === !before.webhook_id &&
    sameDay(m, before) &&
    before.author.username === m.author.username &&
    new Date(m.timestamp).getTime() - new Date(before.timestamp).getTime() < GROUPED_MS
  );
}

export function stamp(m, small) {
  const at = new Date(m.timestamp);
  const words =
    small || at.toDateString() === new Date().toDateString()
      ? clock.format(at)
      : `${at.toLocaleDateString(locale)} ${clock.format(at)}`;
  return h("time.faint", { datetime: m.timestamp, title: fullTime.format(at) }, words);
}

export function dayName(date) {
  const today = new Date().toDateString(),
    yesterday = new Date(Date.now() - 86400000).toDateString();
  return date.toDateString() === today
    ? t("Today")
    : date.toDateString() === yesterday
      ? t("Yesterday")
      : day.format(date);
}

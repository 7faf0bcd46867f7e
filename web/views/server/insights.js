// insights.js - statistics of a server: members, joins, leaves and messages of the last 28 days.
import { fill, h } from "../../dom.js";
import { table } from "../../forms.js";
import { locale, t } from "../../translate.js";
import { section } from "./shared.js";

const MOST_CHANNELS = 10;

/**
 * A bar chart, hidden from screen readers, which read the table below the chart.
 * @param {{label: string, n: number}[]} days
 */
function chart(days) {
  const most = Math.max(1, ...days.map((d) => d.n));
  return h(
    "div.bars",
    { "aria-hidden": "true" },
    days.map(({ label, n }) => h("i", { title: `${label}: ${n}`, style: { "--share": String(n / most) } })),
  );
}

export async function insights(app, g, body) {
  const get = (path) => app.rest.get(`/guilds/${g.id}/analytics/${path}`),
    growth = (name) => get(`growth-activation/${name}`);
  const [members, joins, leavers, channels] = await Promise.all([
    growth("membership"),
    growth("joins"),
    growth("leavers"),
    get("engagement/text-channels"),
  ]);
  const day = new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeZone: "UTC" }),
    sent = new Map(),
    perChannel = new Map();
  for (const c of channels) {
    sent.set(c.day_pt, (sent.get(c.day_pt) || 0) + c.messages_sent);
    perChannel.set(c.channel_name, (perChannel.get(c.channel_name) || 0) + c.messages_sent);
  }
  const days = members.map((m, i) => ({
    label: day.format(new Date(m.day_pt)),
    members: m.total_membership,
    joins: joins[i]?.joins ?? 0,
    leaves: leavers[i]?.leavers ?? 0,
    messages: sent.get(m.day_pt) ?? 0,
  }));
  const bars = (name) => chart([...days].reverse().map((d) => ({ label: d.label, n: d[name] })));
  const active = [...perChannel].sort((a, b) => b[1] - a[1]).slice(0, MOST_CHANNELS);
  fill(
    body,
    h(
      "p.hint",
      null,
      t("The last 28 days (UTC). Messages in threads and in channels that you cannot see are not counted."),
    ),
    section(t("Members"), bars("members")),
    section(t("Messages"), bars("messages")),
    section(
      t("Most active channels"),
      active.length
        ? table(
            [t("Channel"), t("Messages")],
            active.map(([name, n]) => [`#${name}`, String(n)]),
          )
        : h("p.faint", null, t("No messages in this time.")),
    ),
    section(
      t("Days"),
      table(
        [t("Day"), t("Members"), t("Joined"), t("Left"), t("Messages")],
        days.map((d) => [d.label, ...[d.members, d.joins, d.leaves, d.messages].map(String)]),
      ),
    ),
  );
}

// bench-health.js - figures of the server, as small charts, and how long calls take.
import { fill, h } from "../dom.js";
import { table } from "../forms.js";

/** @type {[string, string|null, string][]} */
const CHARTS = [
  ["Calls a second", "guildhall_requests_total", "rate"], ["Events a second", "guildhall_dispatches_total", "rate"], ["Sessions", "guildhall_sessions", "now"], ["Connections", "guildhall_connections", "now"],
  ["Writes a sync", null, "writes"], ["Longest loop turn, ms", "guildhall_longest_turn_seconds", "ms"], ["Memory, MB", "guildhall_heap_bytes", "mb"], ["Bytes a second", "guildhall_sent_bytes_total", "rate"],
];
const POINTS = 150, EVERY_MS = 2000;

/** Figures by name, the largest where there are several; how long calls took by what they are about. */
function readMetrics(text) {
  const out = /** @type {any} */ ({ calls: new Map() });
  for (const line of text.split("\n")) {
    const m = /^(\w+)(?:\{([^}]*)\})? ([\d.eE+-]+)$/.exec(line);
    if (!m) continue;
    const bucket = m[1] === "guildhall_call_seconds_bucket" && /group="([^"]*)",le="([^"]*)"/.exec(m[2]);
    if (!bucket) out[m[1]] = Math.max(out[m[1]] ?? 0, Number(m[3]));
    else {
      if (!out.calls.has(bucket[1])) out.calls.set(bucket[1], new Map());
      out.calls.get(bucket[1]).set(bucket[2] === "+Inf" ? Infinity : Number(bucket[2]), Number(m[3]));
    }
  }
  return out;
}

function valueOf([, name, how], now, before) {
  const rate = (n) => (before ? Math.max(0, (now[n] - before[n]) / (EVERY_MS / 1000)) : 0);
  if (how === "rate") return rate(name);
  if (how === "writes") return rate("guildhall_store_commits_total") ? rate("guildhall_store_writes_total") / rate("guildhall_store_commits_total") : 0;
  const v = now[name] ?? 0;
  return how === "ms" ? v * 1000 : how === "mb" ? v / 1048576 : v;
}

function line(points) {
  const most = Math.max(1, ...points), svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"), path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", `0 0 ${POINTS} 50`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", points.map((v, i) => `${i ? "L" : "M"}${POINTS - points.length + i} ${(48 - (v / most) * 46).toFixed(1)}`).join(""));
  svg.append(path);
  return svg;
}

/** The time within which that part of a group's calls was answered, in milliseconds. */
function quantile(now, group, part) {
  const counts = [...now.calls.get(group)].sort((a, b) => a[0] - b[0]);
  const all = counts.at(-1)?.[1] ?? 0, found = all && counts.find(([, n]) => n >= all * part);
  return found ? found[0] * 1000 : 0;
}

function groupTable(now) {
  const ms = (x) => (x === Infinity ? "more" : x.toLocaleString(undefined, { maximumFractionDigits: 2 }));
  const groups = [...now.calls.keys()].map((group) => [group, Math.max(...now.calls.get(group).values())]).filter(([, n]) => n > 0).sort((a, b) => b[1] - a[1]);
  return table(["Calls about", "Calls", "Half within, ms", "99 of 100 within, ms"], groups.map(([group, n]) => [group, String(n), ms(quantile(now, group, 0.5)), ms(quantile(now, group, 0.99))]), "Calls by group");
}

export async function health(app, body) {
  const series = CHARTS.map(() => []), grid = h("div.charts"), groups = h("div");
  let before = null;
  fill(body, h("div.bench-scroll.stack", { tabindex: 0, role: "region", "aria-label": "Health" }, h("p.faint", null, "The same figures as /metrics, every two seconds, since this page was opened."), grid, groups));
  async function look() {
    const answer = await fetch("/metrics").catch(() => null);
    if (!answer?.ok) return fill(grid, h("p.field-error", { role: "alert" }, answer ? "This server shows its figures to its operator only (--metrics-token)." : "The server does not answer."));
    const now = readMetrics(await answer.text());
    CHARTS.forEach((c, i) => { series[i].push(valueOf(c, now, before)); if (series[i].length > POINTS) series[i].shift(); });
    before = now;
    fill(groups, h("h2", null, "Calls since the server began"), groupTable(now));
    fill(grid, CHARTS.map((c, i) => h("figure.chart", null, h("h2", null, c[0]), h("strong", null, series[i].at(-1).toLocaleString(undefined, { maximumFractionDigits: 1 })), line(series[i]))));
  }
  await look();
  const timer = setInterval(look, EVERY_MS);
  return () => clearInterval(timer);
}

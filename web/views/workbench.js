// workbench.js - the wire under the chat: what programs asked, what they were told, how the server is.
import { fill, h, icon } from "../dom.js";
import { small, table } from "../forms.js";
import { RowList } from "../list.js";
import { clock, pretty } from "../operator.js";
import { interactions } from "./bench-interactions.js";
import { sessions, trouble } from "./bench-operator.js";
import { reference } from "./bench-reference.js";
import { traffic } from "./bench-traffic.js";

const TABS = [["traffic", "Traffic", traffic], ["interactions", "Interactions", interactions], ["sessions", "Sessions", sessions], ["events", "Events", events], ["trouble", "Time and trouble", trouble], ["world", "World", world], ["health", "Health", health], ["reference", "Reference", reference]];

export async function mount(app, page, [tab]) {
  const found = TABS.find(([id]) => id === tab) || TABS[0];
  const body = h("div.bench-body");
  document.title = `${found[1]} · Workbench`;
  fill(page, h("div.bench", null, h("header.main-head", null, h("a.icon-button", { href: "/channels/@me", "aria-label": "Back to the chat", title: "Back to the chat" }, "←"), icon("wrench"), h("h1", null, "Workbench"),
    h("nav.tabs.inline", { "aria-label": "Workbench" }, TABS.map(([id, words]) => h("a.channel", { href: `/workbench/${id}`, "aria-current": id === found[0] ? "page" : null }, words)))), h("main.bench-body", null, body)));
  const end = await found[2](app, body);
  return () => end?.();
}

/** Everything that this session is told, as it comes. */
function events(app, body) {
  if (!app.rest.token) return fill(body, h("p.pad", null, "Enter as somebody to see what is sent to them. ", h("a", { href: "/login" }, "Enter")));
  const { store } = app;
  let words = "", paused = false, shown = null;
  const detail = h("aside.detail", { "aria-label": "Event", tabindex: 0 }), count = h("span.faint", { role: "status" });
  const list = new RowList({ height: 26, label: "Events", render: (e) => h("button.wire.event", { type: "button", "aria-current": shown === e ? "true" : null, onclick: () => { shown = e; fill(detail, h("strong", null, e.type), h("pre.json", { tabindex: 0 }, pretty(e.d))); list.redraw(); } },
    h("span.faint", null, clock(e.at)), h("span", null, e.type), h("span.faint", null, brief(e.d))) });
  list.follow = true;
  const draw = () => {
    if (paused) return;
    count.textContent = `${store.eventCount} events`;
    list.set(words ? store.events.filter((e) => e.type.toLowerCase().includes(words) || brief(e.d).toLowerCase().includes(words)) : store.events.slice());
  };
  list.el.addEventListener("scroll", () => { list.follow = list.el.scrollHeight - list.el.scrollTop - list.el.clientHeight < 60; }, { passive: true });
  fill(body, h("div.bench-tools", null, h("input", { type: "search", placeholder: "Filter", "aria-label": "Filter events", oninput: (e) => { words = e.target.value.toLowerCase(); draw(); } }),
    h("button.button.secondary", { type: "button", "aria-pressed": "false", onclick: (e) => { paused = !paused; e.currentTarget.setAttribute("aria-pressed", String(paused)); e.currentTarget.textContent = paused ? "Go on" : "Pause"; draw(); } }, "Pause"), count),
  h("div.split", null, list.el, detail));
  draw();
  const off = store.on("events", draw);
  return () => { off(); list.end(); };
}

function brief(d) {
  if (!d || typeof d !== "object") return "";
  return [d.content, d.name, d.user?.username || d.author?.username || d.member?.user?.username, d.guild_id && `guild ${d.guild_id}`, d.channel_id && `channel ${d.channel_id}`, d.id].filter(Boolean).join(" · ").slice(0, 300);
}

/** What there is, as far as this person sees it. */
async function world(app, body) {
  if (!app.rest.token) return fill(body, h("p.pad", null, h("a", { href: "/login" }, "Enter"), " to see what there is."));
  await app.ready();
  const { store } = app, apps = await app.rest.get("/applications").catch(() => []);
  const people = [...store.users.values()];
  fill(body, h("div.bench-scroll.stack", { tabindex: 0, role: "region", "aria-label": "World" },
    h("h2", null, `Guilds – ${store.guilds.size}`), table(["Name", "Id", "Members", "Channels"], [...store.guilds.values()].map((g) => [h("a", { href: `/channels/${g.id}` }, g.name), h("code", null, g.id), String(g.member_count ?? g.members.size), String(store.channelsOf(g).length)])),
    h("h2", null, `People – ${people.length}`), table(["Name", "Username", "Id", "Kind"], people.slice(0, 200).map((u) => [u.global_name || "", `@${u.username}`, h("code", null, u.id), u.bot ? "app" : "person"])),
    h("h2", null, `My apps – ${apps.length}`), table(["Name", "Id", "Bot"], apps.map((a) => [h("a", { href: `/settings/apps/${a.id}` }, a.name), h("code", null, a.id), a.bot ? `@${a.bot.username}` : "–"])),
    h("div", null, small("New app", () => app.go("/settings/apps"), "primary"))));
}

/* --- health --- */

const CHARTS = [
  ["Calls a second", "guildhall_requests_total", "rate"], ["Events a second", "guildhall_dispatches_total", "rate"], ["Sessions", "guildhall_sessions", "now"], ["Connections", "guildhall_connections", "now"],
  ["Writes a sync", null, "writes"], ["Longest loop turn, ms", "guildhall_longest_turn_seconds", "ms"], ["Memory, MB", "guildhall_heap_bytes", "mb"], ["Bytes a second", "guildhall_sent_bytes_total", "rate"],
];
const POINTS = 150, EVERY_MS = 2000;

function readMetrics(text) {
  const out = {};
  for (const line of text.split("\n")) {
    const m = /^(\w+)(?:\{[^}]*\})? ([\d.eE+-]+)$/.exec(line);
    if (m) out[m[1]] = Math.max(out[m[1]] ?? 0, Number(m[2]));
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

async function health(app, body) {
  const series = CHARTS.map(() => []), grid = h("div.charts");
  let before = null;
  fill(body, h("div.bench-scroll.stack", { tabindex: 0, role: "region", "aria-label": "Health" }, h("p.faint", null, "The same figures as /metrics, every two seconds, since this page was opened."), grid));
  async function look() {
    const answer = await fetch("/metrics").catch(() => null);
    if (!answer?.ok) return fill(grid, h("p.field-error", { role: "alert" }, answer ? "This server shows its figures to its operator only (--metrics-token)." : "The server does not answer."));
    const now = readMetrics(await answer.text());
    CHARTS.forEach((c, i) => { series[i].push(valueOf(c, now, before)); if (series[i].length > POINTS) series[i].shift(); });
    before = now;
    fill(grid, CHARTS.map((c, i) => h("figure.chart", null, h("h2", null, c[0]), h("strong", null, series[i].at(-1).toLocaleString(undefined, { maximumFractionDigits: 1 })), line(series[i]))));
  }
  await look();
  const timer = setInterval(look, EVERY_MS);
  return () => clearInterval(timer);
}



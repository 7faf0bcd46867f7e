// workbench.js - the wire under the chat: what programs asked, what they were told, how the server is.
import { fill, h, icon } from "../dom.js";
import { showCurrent } from "../forms.js";
import { RowList } from "../list.js";
import { clock, pretty } from "../operator.js";
import { health } from "./bench-health.js";
import { interactions } from "./bench-interactions.js";
import { sessions, trouble } from "./bench-operator.js";
import { reference } from "./bench-reference.js";
import { traffic } from "./bench-traffic.js";
import { world } from "./bench-world.js";

/** @type {[string, string, (app: any, body: HTMLElement) => any][]} */
const TABS = [["traffic", "Traffic", traffic], ["interactions", "Interactions", interactions], ["sessions", "Sessions", sessions], ["events", "Events", events], ["trouble", "Time and trouble", trouble], ["world", "World", world], ["health", "Health", health], ["reference", "Reference", reference]];

export async function mount(app, page, [tab]) {
  const found = TABS.find(([id]) => id === tab) || TABS[0];
  const body = h("div.bench-body");
  document.title = `${found[1]} · Workbench`;
  fill(page, h("div.bench", null, h("header.main-head", null, h("a.icon-button", { href: "/channels/@me", "aria-label": "Back to the chat", title: "Back to the chat" }, "←"), icon("wrench"), h("h1", null, "Workbench"),
    h("nav.tabs.inline", { "aria-label": "Workbench" }, TABS.map(([id, words]) => h("a.channel", { href: `/workbench/${id}`, "aria-current": id === found[0] ? "page" : null }, words)))), h("main.bench-body", null, body)));
  showCurrent(page);
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

// workbench.js - developer pages: traffic, events, interactions, sessions, health, reference, world.
import { fill, h } from "../dom.js";
import { icon } from "../icons.js";
import { showCurrent } from "../forms.js";
import { RowList } from "../list.js";
import { clock, pretty } from "../operator.js";
import { health } from "./workbench-health.js";
import { interactions } from "./workbench-interactions.js";
import { moderation } from "./workbench-moderation.js";
import { sessions, trouble } from "./workbench-operator.js";
import { reference } from "./workbench-reference.js";
import { traffic } from "./workbench-traffic.js";
import { errors, why } from "./workbench-why.js";
import { world } from "./workbench-world.js";
import { t } from "../translate.js";

/**
 * The tabs: path segment, label, and the function that draws the tab.
 * @type {[string, string, (app: any, body: HTMLElement) => any][]}
 */
const TABS = [
  ["traffic", t("Traffic"), traffic],
  ["interactions", t("Interactions"), interactions],
  ["sessions", t("Sessions"), sessions],
  ["events", t("Events"), events],
  ["why", t("Why?"), why],
  ["errors", t("Errors"), errors],
  ["trouble", t("Clock and simulated errors"), trouble],
  ["moderation", t("Moderation"), moderation],
  ["world", t("World"), world],
  ["health", t("Health"), health],
  ["reference", t("Reference"), reference],
];

export async function mount(app, page, [tab]) {
  const tabs = TABS.filter(([id]) => id !== "events" || !app.operatorOnly); // operatorOnly: no gateway session
  const found = tabs.find(([id]) => id === tab) || tabs[0];
  const body = h("div.bench-body");
  document.title = `${found[1]} · ${t("Workbench")}`;
  fill(
    page,
    h(
      "div.bench",
      null,
      h(
        "header.main-head",
        null,
        !app.operatorOnly &&
          h(
            "a.icon-button",
            { href: "/channels/@me", "aria-label": t("Back to the chat"), title: t("Back to the chat") },
            "←",
          ),
        icon("wrench"),
        h("h1", null, t("Workbench")),
        h(
          "nav.tabs.inline",
          { "aria-label": t("Workbench") },
          tabs.map(([id, words]) =>
            h("a.channel", { href: `/workbench/${id}`, "aria-current": id === found[0] ? "page" : null }, words),
          ),
          h("a.channel", { href: "/docs/testing-your-bot", "data-plain": true }, t("Documentation")),
        ),
      ),
      h("main.bench-body", null, body),
    ),
  );
  showCurrent(page);
  const end = await found[2](app, body);
  return () => end?.();
}

/** Shows all gateway events that this client's session receives, as they arrive. */
function events(app, body) {
  if (!app.rest.token)
    return fill(
      body,
      h(
        "p.pad",
        null,
        t("Log in to see the events that are sent to you."),
        " ",
        h("a", { href: "/login" }, t("Log in")),
      ),
    );
  const { store } = app;
  let words = "",
    paused = false,
    shown = null;
  const detail = h("aside.detail", { "aria-label": t("Event"), tabindex: 0 }),
    count = h("span.faint", { role: "status" });
  const list = new RowList({
    height: 26,
    label: t("Events"),
    render: (e) =>
      h(
        "button.wire.event",
        {
          type: "button",
          "aria-current": shown === e ? "true" : null,
          onclick: () => {
            shown = e;
            fill(detail, h("strong", null, e.type), h("pre.json", { tabindex: 0 }, pretty(e.d)));
            list.redraw();
          },
        },
        h("span.faint", null, clock(e.at)),
        h("span", null, e.type),
        h("span.faint", null, brief(e.d)),
      ),
  });
  list.follow = true;
  const draw = () => {
    if (paused) return;
    count.textContent = t("{n} event|{n} events", { n: store.eventCount });
    list.set(
      words
        ? store.events.filter((e) => e.type.toLowerCase().includes(words) || brief(e.d).toLowerCase().includes(words))
        : store.events.slice(),
    );
  };
  list.el.addEventListener(
    "scroll",
    () => {
      list.follow = list.el.scrollHeight - list.el.scrollTop - list.el.clientHeight < 60;
    },
    { passive: true },
  );
  fill(
    body,
    h(
      "div.bench-tools",
      null,
      h("input", {
        type: "search",
        placeholder: t("Filter"),
        "aria-label": t("Filter events"),
        oninput: (e) => {
          words = e.target.value.toLowerCase();
          draw();
        },
      }),
      h(
        "button.button.secondary",
        {
          type: "button",
          "aria-pressed": "false",
          onclick: (e) => {
            paused = !paused;
            e.currentTarget.setAttribute("aria-pressed", String(paused));
            e.currentTarget.textContent = paused ? t("Continue") : t("Pause");
            draw();
          },
        },
        t("Pause"),
      ),
      count,
    ),
    h("div.split", null, list.el, detail),
  );
  draw();
  const off = store.on("events", draw);
  return () => {
    off();
    list.end();
  };
}

function brief(d) {
  if (!d || typeof d !== "object") return "";
  return [
    d.content,
    d.name,
    d.user?.username || d.author?.username || d.member?.user?.username,
    d.guild_id && t("guild {id}", { id: d.guild_id }),
    d.channel_id && t("channel {id}", { id: d.channel_id }),
    d.id,
  ]
    .filter(Boolean)
    .join(" · ")
    .slice(0, 300);
}

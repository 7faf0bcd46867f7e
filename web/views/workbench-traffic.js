// workbench-traffic.js - live list of all API requests and gateway messages.
import { again } from "../request-form.js";
import { fill, h, toast } from "../dom.js";
import { small } from "../forms.js";
import { RowList } from "../list.js";
import { Feed, asOperator, cause, clock, laidOut } from "../operator.js";
import { t } from "../translate.js";

const OPS = {
  1: "Heartbeat",
  2: "Identify",
  3: "Presence",
  4: "Voice state",
  6: "Resume",
  7: "Reconnect",
  8: "Request members",
  9: "Invalid session",
  10: "Hello",
  11: "Heartbeat ACK",
};
const KINDS = {
  opened: t("socket"),
  closed: t("socket"),
  received: t("→ server"),
  sent: t("← client"),
  delivered: t("→ app"),
  refused: t("refused"),
};

export function traffic(app, body) {
  return asOperator(app, body, async () => {
    const filters = { text: "", who: "", status: "", kind: "" };
    let paused = false,
      shown = null;
    const detail = h("aside.detail", { "aria-label": t("Record"), tabindex: 0 }),
      count = h("span.faint", { role: "status" });
    const list = new RowList({
      height: 26,
      label: t("Traffic"),
      render: (r) =>
        row(r, shown === r, () => {
          shown = r;
          fill(detail, details(app, r));
          list.redraw();
        }),
    });
    list.follow = true;
    list.el.addEventListener(
      "scroll",
      () => {
        list.follow = list.el.scrollHeight - list.el.scrollTop - list.el.clientHeight < 60;
      },
      { passive: true },
    );
    const draw = () => {
      if (paused) return;
      const found = feed.records.filter((r) => fits(r, filters));
      count.textContent = t("{n} of {most} shown", { n: found.length, most: feed.records.length });
      list.set(found);
    };
    const feed = new Feed(draw);
    await feed.begin();
    const set = (name) => (e) => {
      filters[name] = e.target.value.toLowerCase();
      draw();
    };
    fill(
      body,
      h(
        "div.bench-tools",
        null,
        h("input", {
          type: "search",
          placeholder: t("Route, event, text"),
          "aria-label": t("Filter by text"),
          oninput: set("text"),
        }),
        h("input", { type: "search", placeholder: t("User"), "aria-label": t("Filter by user"), oninput: set("who") }),
        h(
          "select",
          { "aria-label": t("Type"), onchange: set("kind") },
          [
            ["", t("All")],
            ["call", t("Requests")],
            ["frame", t("Gateway")],
          ].map(([v, x]) => h("option", { value: v }, x)),
        ),
        h(
          "select",
          { "aria-label": t("Status"), onchange: set("status") },
          [
            ["", t("Any status")],
            ["error", t("Errors")],
            ["2", "2xx"],
            ["4", "4xx"],
            ["5", "5xx"],
          ].map(([v, x]) => h("option", { value: v }, x)),
        ),
        h(
          "button.button.secondary",
          {
            type: "button",
            onclick: (e) => {
              paused = !paused;
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
    return () => {
      feed.end();
      list.end();
    };
  });
}

function fits(r, f) {
  const request = r.kind === "call" || r.kind === "refused";
  if (f.kind && (f.kind === "call") !== request) return false;
  if (f.who && !(r.user?.username || "nobody").toLowerCase().includes(f.who)) return false;
  if (f.status === "error" && !(request && r.status >= 400)) return false;
  if (f.status && f.status !== "error" && String(r.status || "")[0] !== f.status) return false;
  return (
    !f.text ||
    [r.path, r.route, r.event, r.problem, r.hint, r.request, r.reply, r.d, r.request_headers, r.reply_headers].some(
      (x) => x && x.toLowerCase().includes(f.text),
    )
  );
}

function row(r, current, onclick) {
  const who = h("span.wide-only", null, r.user?.username || "–"),
    at = h("span.faint", null, clock(r.at));
  if (r.kind === "refused") {
    return h(
      "button.wire",
      { type: "button", "aria-current": current ? "true" : null, onclick },
      at,
      who,
      h("span.bad", null, r.status),
      h("span.faint.wide-only", null, KINDS[r.kind]),
      h("span", null, r.path, h("span.bad", null, `  ${r.problem}`)),
    );
  }
  if (r.kind !== "call") {
    return h(
      "button.wire",
      { type: "button", "aria-current": current ? "true" : null, onclick },
      at,
      who,
      h("span.faint", null, r.op !== undefined ? `op ${r.op}` : r.code || ""),
      h("span.faint.wide-only", null, KINDS[r.kind]),
      h("span", null, r.event || OPS[r.op] || r.kind),
    );
  }
  return h(
    "button.wire",
    { type: "button", "aria-current": current ? "true" : null, onclick },
    at,
    who,
    h("span", { class: r.status >= 400 ? "bad" : "ok" }, r.status),
    h("span.faint.wide-only", null, `${r.ms.toFixed(1)} ms`),
    h("span", null, h("strong", null, r.method), " ", r.path, r.problem && h("span.bad", null, `  ${r.problem}`)),
  );
}

const quoted = (text) => `'${String(text).replaceAll("'", "'\\''")}'`;

/** Returns the request as a curl command. The token is replaced by a placeholder. */
function curl(r) {
  const meant = (r.request_headers || "")
    .split("\n")
    .filter(
      (line) =>
        /^(content-type|x-(audit-log-reason|discord-locale|super-properties)):/i.test(line) && !/multipart/i.test(line),
    );
  const body = meant.map((line) => ` -H ${quoted(line)}`).join("") + (r.request ? ` -d ${quoted(r.request)}` : "");
  return `curl -X ${r.method} ${quoted(location.origin + r.path)} -H "Authorization: $token"${body}`;
}

/** The headers, collapsed. */
function headers(title, lines) {
  const all = (lines || "")
    .split("\n")
    .filter(Boolean)
    .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 2)]);
  return (
    all.length > 0 &&
    h(
      "details.headers",
      null,
      h("summary", null, `${title} (${all.length})`),
      h(
        "dl",
        null,
        all.map(([name, value]) => [h("dt", null, name), h("dd", null, value)]),
      ),
    )
  );
}

function details(app, r) {
  const text = (label, value, cut) =>
    value && [h("strong", null, label, cut && ` (${t("truncated")})`), h("pre.json", { tabindex: 0 }, laidOut(value))];
  if (r.kind === "refused")
    return [
      h("strong", null, t("Refused with {n}", { n: r.status })),
      h("p.faint", null, r.address),
      h("p", null, r.problem),
      h("p.faint", null, t("The request could not be parsed; no handler received it.")),
      r.path && h("code", null, r.path),
    ];
  if (r.kind !== "call")
    return [
      h("strong", null, `${r.event || r.kind}`),
      h(
        "p.faint",
        null,
        [
          r.user?.username || t("not identified yet"),
          t("socket {n}", { n: r.socket }),
          r.session && t("session {id}", { id: r.session }),
          r.s && `s ${r.s}`,
        ]
          .filter(Boolean)
          .join(" · "),
      ),
      r.reason && h("p.bad", null, r.reason),
      cause(r),
      text(t("Data"), r.d, r.d_cut),
    ];
  return [
    h("strong", null, `${r.method} ${r.template || r.path}`),
    h(
      "p.faint",
      null,
      [
        r.route || t("no such route"),
        r.user ? `${r.user.username} (${r.user.kind})` : t("no account"),
        r.address,
        `${r.ms} ms`,
      ].join(" · "),
    ),
    h("p", null, [r.status, r.code && t("code {n}", { n: r.code }), r.problem].filter(Boolean).join(" · ")),
    cause(r),
    headers(t("Request headers"), r.request_headers),
    headers(t("Response headers"), r.reply_headers),
    text(t("Request body"), r.request, r.request_cut),
    text(t("Response body"), r.reply, r.reply_cut),
    again(app, { method: r.method, path: r.path, body: r.request, cut: r.request_cut }),
    h("strong", null, t("As a curl command")),
    h("pre", { tabindex: 0 }, curl(r)),
    h(
      "div",
      null,
      small(t("Copy"), () => {
        navigator.clipboard?.writeText(curl(r));
        toast(t("Copied"));
      }),
    ),
  ];
}

// workbench-health.js - charts with the server's statistics of the last hour, one point per minute.
import { fill, h, refill } from "../dom.js";
import { table } from "../forms.js";
import { asOperator, clock, consoleCall } from "../operator.js";
import { locale, t } from "../translate.js";

const MINUTES = 60,
  EVERY_MS = 2000,
  MEBIBYTE = 1048576;
const perSecond = (name) => (m) => (m.seconds > 0 ? m[name] / m.seconds : 0);

/** The charts: label, and the function that returns the value for a minute. @type {[string, (m: any) => number][]} */
const CHARTS = [
  [t("Requests per second"), perSecond("calls")],
  [t("Events per second"), perSecond("events")],
  [t("Sessions"), (m) => m.sessions],
  [t("Connections"), (m) => m.connections],
  [t("Writes per disk sync"), (m) => (m.commits ? m.writes / m.commits : 0)],
  [t("Longest event-loop iteration, ms"), (m) => m.longest_turn_ms],
  [t("Memory, MiB"), (m) => m.memory_bytes / MEBIBYTE],
  [t("KiB sent per second"), (m) => perSecond("sent_bytes")(m) / 1024],
];

const number = (x) => x.toLocaleString(locale, { maximumFractionDigits: x < 10 ? 2 : 1 });

/** Draws a chart with one point per minute. The last point is the current minute, which is not over yet. */
function line(points) {
  const most = Math.max(1e-9, ...points),
    svg = document.createElementNS("http://www.w3.org/2000/svg", "svg"),
    path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  const at = (v, i) => `${MINUTES - points.length + 1 + i} ${(48 - (v / most) * 44).toFixed(1)}`;
  svg.setAttribute("viewBox", `0 0 ${MINUTES + 1} 50`);
  svg.setAttribute("preserveAspectRatio", "none");
  svg.setAttribute("aria-hidden", "true");
  // If there is only one minute, draw it as a horizontal line.
  path.setAttribute(
    "d",
    points.length > 1
      ? points.map((v, i) => `${i ? "L" : "M"}${at(v, i)}`).join("")
      : `M0 ${at(points[0], 0).split(" ")[1]}L${at(points[0], 0)}`,
  );
  svg.append(path);
  return svg;
}

function chart(title, points) {
  const most = Math.max(...points);
  return h(
    "figure.chart",
    null,
    h("figcaption", null, title),
    h("strong", null, number(points.at(-1))),
    h("small.faint", null, ` ${t("maximum {n}", { n: number(most) })}`),
    line(points),
  );
}

const bound = (ms) => (ms === null ? t("above the range") : number(ms));

/** The charts for one group of API requests. */
function groupCharts(g, minutes) {
  const slow = (list) => list.map((x) => x ?? 5000);
  return [
    chart(
      t("{name}: requests per second", { name: g.name }),
      g.minutes.calls.map((n, i) => (minutes[i].seconds > 0 ? n / minutes[i].seconds : 0)),
    ),
    chart(t("{name}: median latency, ms", { name: g.name }), slow(g.minutes.p50_ms)),
    chart(t("{name}: 99th percentile, ms", { name: g.name }), slow(g.minutes.p99_ms)),
  ];
}

export function health(app, body) {
  return asOperator(app, body, async () => {
    const grid = h("div.charts"),
      one = h("div.charts"),
      groups = h("div"),
      since = h("p.faint"),
      problem = h("p.field-error", { role: "alert", hidden: true });
    let chosen = "",
      last = null;
    const draw = ({ minutes, groups: all }) => {
      const sorted = [...all].sort((a, b) => b.calls - a.calls),
        found = sorted.find((g) => g.name === chosen) || sorted[0];
      since.textContent = t(
        "One point per minute since {time} UTC; the last one is still running. Totals are in /metrics.",
        { time: clock(Date.parse(minutes[0].at)).slice(0, 5) },
      );
      fill(
        grid,
        CHARTS.map(([title, value]) => chart(title, minutes.map(value))),
      );
      fill(one, found && groupCharts(found, minutes));
      refill(
        groups,
        table(
          [t("Resource"), t("Requests"), t("Median latency, ms"), t("99th percentile, ms")],
          sorted.map((g) => [
            h(
              "button.link",
              {
                type: "button",
                dataset: { key: g.name },
                "aria-pressed": String(g === found),
                onclick: () => {
                  chosen = g.name;
                  draw(last);
                },
              },
              g.name,
            ),
            String(g.calls),
            bound(g.p50_ms),
            bound(g.p99_ms),
          ]),
          t("Requests by group"),
        ),
      );
    };
    const refresh = async () => {
      last = await consoleCall("GET", "/health");
      problem.hidden = true;
      draw(last);
    };
    await refresh();
    fill(
      body,
      h(
        "div.bench-scroll.stack",
        { tabindex: 0, role: "region", "aria-label": t("Health") },
        since,
        problem,
        grid,
        h("h2", null, t("Requests by resource")),
        groups,
        one,
      ),
    );
    const timer = setInterval(
      () =>
        refresh().catch((e) => {
          problem.hidden = false;
          problem.textContent = e.status ? e.message : t("The server does not answer.");
        }),
      EVERY_MS,
    );
    return () => clearInterval(timer);
  });
}

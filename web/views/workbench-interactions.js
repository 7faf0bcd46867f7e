// workbench-interactions.js - the interactions of apps, with their steps on a time axis.
import { again } from "../request-form.js";
import { fill, h, refill } from "../dom.js";
import { table } from "../forms.js";
import { Feed, asOperator, cause, clock, laidOut } from "../operator.js";
import { t } from "../translate.js";

const KINDS = { 2: t("command"), 3: t("component"), 4: t("autocomplete"), 5: t("modal") };
const STEPS = {
  delivered: t("delivered"),
  acknowledged: t("acknowledged"),
  answered: t("answered"),
  "follow-up": t("follow-up"),
};
const LIMIT_MS = 3000,
  END_MS = 15 * 60 * 1000,
  MAX_RECORDS = 100;
const DEFERRED = [5, 6];

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/* --- grouping traffic records by interaction --- */

/** Groups the traffic records that belong to one interaction. */
class Gathered {
  constructor(records) {
    this.all = new Map();
    this.nonces = new Map();
    this.asked = new Map();
    for (const r of records) this.take(r, Date.parse(r.at));
    for (const one of this.all.values()) one.asked = this.asked.get(this.nonces.get(one.id));
  }
  one(id, at) {
    if (!this.all.has(id)) this.all.set(id, { id, at, steps: [] });
    return this.all.get(id);
  }
  step(one, kind, r, at) {
    one?.steps.push({ kind, at, status: r.status, problem: r.problem, hint: r.hint, docs: r.docs });
  }

  take(r, at) {
    const d = r.kind === "sent" && /^INTERACTION_/.test(r.event) ? parse(r.d) : null;
    if (r.kind === "call") this.takeCall(r, at);
    else if (r.kind === "delivered")
      this.step(
        this.one(/(\d+)$/.exec(r.path)?.[1], at),
        r.status === 200 ? "answered" : "delivered",
        r.status === 200 ? { status: 200 } : r,
        at,
      );
    else if (d?.application_id) {
      const one = Object.assign(this.one(d.id, at), { d, app: r.user?.username, text: r.d });
      this.step(one, "delivered", { status: 200 }, at);
    } else if (d && r.event === "INTERACTION_CREATE") {
      // An event without application_id was sent to the user's client; the app's event has an application_id.
      const one = this.one(d.id, at);
      one.by = r.user?.username;
      if (d.nonce) this.nonces.set(d.id, String(d.nonce));
    } else if (d && r.event === "INTERACTION_FAILURE") this.one(d.id, at).failed = { at, reason: d.reason_code };
  }

  takeCall(r, at) {
    const ack = /\/interactions\/(\d+)\//.exec(r.path),
      more = /^\/api(?:\/v\d+)?\/webhooks\/(\d+)\//.exec(r.path),
      body = parse(r.request);
    if (r.route === "create_interaction") {
      if (body?.nonce) this.asked.set(String(body.nonce), { path: r.path, body });
    } else if (ack) this.step(this.one(ack[1], at), DEFERRED.includes(body?.type) ? "acknowledged" : "answered", r, at);
    else if (more) {
      const one = [...this.all.values()].reverse().find((x) => x.d?.application_id === more[1] && x.at <= at);
      this.step(
        one,
        r.method === "POST"
          ? "follow-up"
          : /@original/.test(r.path) && r.method === "PATCH"
            ? "answered"
            : r.method.toLowerCase(),
        r,
        at,
      );
    }
  }
}

/**
 * Returns user, command and app of an interaction. These are read from the event to the app, or else from the request
 * of the user's client.
 */
function factsOf(one) {
  const d = one.d || one.asked?.body || {},
    user = one.d?.member?.user || one.d?.user;
  const name = d.data?.name || d.data?.custom_id || "";
  return {
    who: user?.username || one.by || "",
    what: `${d.type === 2 && (d.data?.type ?? 1) === 1 ? "/" : ""}${name} (${KINDS[d.type] || t("interaction")})`,
    app: one.app || (d.application_id ? t("app {id}", { id: d.application_id }) : ""),
  };
}

/* --- time axis --- */

/**
 * Returns the position (0 to 1) of a time in the second half of the time axis. This half is logarithmic.
 * @param {number} ms
 */
const afterLimit = (ms) => Math.log(ms / LIMIT_MS) / Math.log(END_MS / LIMIT_MS);

/** Returns the position of a time on the axis. 3 seconds are in the middle (50 %), 15 minutes at the end (100 %). */
const positionOf = (ms) =>
  `${ms <= LIMIT_MS ? (Math.max(0, ms) / LIMIT_MS) * 50 : Math.min(100, 50 + 50 * afterLimit(ms))}%`;
const span = (ms) => (ms < 10000 ? `${ms} ms` : `${Math.round(ms / 1000)} s`);
const stepWords = (s, one) => t("{step} after {time}", { step: STEPS[s.kind] || s.kind, time: span(s.at - one.at) });
const isGood = (s) => s.status > 0 && s.status < 400;

function bar(one) {
  const end = one.steps.filter((s) => s.kind !== "delivered" && isGood(s)).at(-1)?.at ?? one.failed?.at;
  const summary = [
    t("created"),
    ...one.steps.map((s) => `${stepWords(s, one)}${isGood(s) ? "" : ` (${s.status || t("no response")})`}`),
    ...(one.failed ? [t("failed after {time}", { time: span(one.failed.at - one.at) })] : []),
  ].join(", ");
  return h(
    "div.timeline",
    { role: "img", "aria-label": summary, title: summary },
    end &&
      h("i", { class: one.failed ? "bad" : "", style: { left: "0", width: `max(${positionOf(end - one.at)}, 3px)` } }),
    h("b", { style: { left: positionOf(LIMIT_MS) } }, h("small", null, "3 s")),
    h("b.last", { style: { left: "100%" } }, h("small", null, t("15 min"))),
    one.steps.map((s) =>
      h("u", { class: `${s.kind} ${isGood(s) ? "" : "bad"}`, style: { left: positionOf(s.at - one.at) } }),
    ),
    one.failed && h("u.bad", { style: { left: positionOf(one.failed.at - one.at) } }),
  );
}

function outcome(one) {
  const first = one.steps.find((s) => s.kind !== "delivered" && isGood(s)),
    refused = one.steps.find((s) => !isGood(s));
  const more = one.steps.filter((s) => s.kind === "follow-up").length,
    answered = one.steps.find((s) => s.kind === "answered" && isGood(s));
  if (refused)
    return [
      h("span.bad", null, `${refused.status || t("no response")} ${refused.problem || t("refused")}`),
      cause(refused),
    ];
  if (first) {
    const later = first.kind === "acknowledged" && (answered ? stepWords(answered, one) : t("not answered yet"));
    return [
      stepWords({ ...first, kind: later ? first.kind : "answered" }, one),
      later,
      more > 0 && t("{n} follow-up|{n} follow-ups", { n: more }),
    ]
      .filter(Boolean)
      .join(", ");
  }
  return one.failed
    ? h("span.bad", null, one.failed.reason === 2 ? t("no response within 3 s") : t("the app is offline"))
    : t("waiting");
}

export function interactions(app, body) {
  return asOperator(app, body, async () => {
    const rows = h("div"),
      detail = { steps: h("div"), text: h("div"), again: h("div") };
    let shown = null; // the interaction whose details are shown
    // A repeated request needs a new nonce and the session id of this client.
    const repeat = (one) => ({
      method: "POST",
      path: one.asked.path,
      body: JSON.stringify({
        ...one.asked.body,
        nonce: String(Date.now()),
        ...(app.store.session ? { session_id: app.store.session } : {}),
      }),
    });
    const steps = (one) =>
      table(
        [t("Step"), t("Time since the start"), t("Status"), ""],
        one.steps.map((s) => [
          STEPS[s.kind] || s.kind,
          span(s.at - one.at),
          String(s.status || t("none")),
          [s.problem || "", cause(s)],
        ]),
        t("Steps"),
      );
    const show = (one) => {
      const other = shown?.id !== one.id;
      fill(detail.steps, h("h2", null, t("Steps")), steps(one));
      if (other || !shown.text)
        fill(detail.text, one.text && [h("h2", null, t("Payload")), h("pre.json", { tabindex: 0 }, laidOut(one.text))]);
      // Keep the form while the same interaction is shown, because the user may have edited it.
      if (other || !shown.asked) fill(detail.again, one.asked && again(app, repeat(one)));
      shown = one;
    };
    const draw = () => {
      const { all } = new Gathered(feed.records),
        now = all.get(shown?.id);
      refill(
        rows,
        table(
          [t("Time"), t("User"), t("Interaction"), t("App"), t("Timeline (15 minutes)"), t("Outcome")],
          [...all.values()]
            .reverse()
            .slice(0, MAX_RECORDS)
            .map((one) => {
              const { who, what, app: name } = factsOf(one);
              return [
                clock(one.at),
                who,
                h("button.link", { type: "button", dataset: { key: one.id }, onclick: () => show(one) }, what),
                name,
                bar(one),
                outcome(one),
              ];
            }),
          t("Interactions"),
        ),
      );
      // A request is recorded after the events that it caused, so the shown interaction may get further steps later.
      if (now && (now.steps.length !== shown.steps.length || (now.asked && !shown.asked) || (now.text && !shown.text)))
        show(now);
    };
    const feed = new Feed(draw);
    await feed.begin();
    fill(
      body,
      h(
        "div.bench-scroll.stack",
        { tabindex: 0, role: "region", "aria-label": t("Interactions") },
        h(
          "p.faint",
          null,
          t("Marks: delivered, acknowledged, answered, follow-ups. Left half: 3 seconds. Right end: 15 minutes."),
        ),
        rows,
        h("div", null, detail.steps, detail.text, detail.again),
      ),
    );
    draw();
    return () => feed.end();
  });
}

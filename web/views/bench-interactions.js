// bench-interactions.js - what became of each use of an app, on an axis of time.
import { again } from "../again.js";
import { fill, h } from "../dom.js";
import { table } from "../forms.js";
import { Feed, asOperator, clock, laidOut } from "../operator.js";

const KINDS = { 2: "command", 3: "component", 4: "autocomplete", 5: "modal" };
const AXIS_MS = 4000, LIMIT_MS = 3000;

function parse(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

/** Puts records together that belong to one interaction. */
function gather(records) {
  const all = new Map(), nonces = new Map(), asked = new Map();
  for (const r of records) {
    if (r.kind === "sent" && r.event === "INTERACTION_CREATE") {
      const d = parse(r.d);
      if (d?.application_id) all.set(d.id, { id: d.id, at: Date.parse(r.at), d, app: r.user?.username, steps: [], text: r.d });
      else if (d?.nonce) nonces.set(d.id, String(d.nonce)); // the person's own client is told of it
    } else if (r.kind === "sent" && r.event === "INTERACTION_FAILURE") {
      const d = parse(r.d), one = d && all.get(d.id);
      if (one) one.failed = { at: Date.parse(r.at), reason: d.reason_code };
    } else if (r.kind === "call" && r.route === "create_interaction") {
      const body = parse(r.request);
      if (body?.nonce) asked.set(String(body.nonce), { path: r.path, body });
    } else if (r.kind === "call") addStep(all, r);
  }
  for (const one of all.values()) one.asked = asked.get(nonces.get(one.id));
  return [...all.values()].reverse();
}

function addStep(all, r) {
  const ack = /\/interactions\/(\d+)\//.exec(r.path), more = /^\/api(?:\/v\d+)?\/webhooks\/(\d+)\//.exec(r.path);
  const at = Date.parse(r.at);
  if (ack) all.get(ack[1])?.steps.push({ kind: "callback", at, status: r.status, problem: r.problem });
  else if (more) {
    const one = [...all.values()].reverse().find((x) => x.d.application_id === more[1] && x.at <= at);
    one?.steps.push({ kind: r.method === "POST" ? "follow-up" : r.method.toLowerCase(), at, status: r.status, problem: r.problem });
  }
}

function bar(one) {
  const place = (ms) => `${Math.min(100, Math.max(0, (ms / AXIS_MS) * 100))}%`;
  const ack = one.steps.find((s) => s.kind === "callback" && s.status < 400), end = ack?.at ?? one.failed?.at;
  return h("div.timeline", { role: "img", "aria-label": end ? `${end - one.at} ms` : "not answered" }, end && h("i", { class: ack ? "" : "bad", style: { left: "0", width: place(Math.max(end - one.at, 40)) } }), h("b", { style: { left: place(LIMIT_MS) }, title: "3 s" }));
}

function outcome(one) {
  const ack = one.steps.find((s) => s.kind === "callback" && s.status < 400), refused = one.steps.find((s) => s.status >= 400);
  const more = one.steps.filter((s) => s.kind === "follow-up").length;
  if (refused) return h("span.bad", null, `${refused.status} ${refused.problem || "refused"}`);
  if (ack) return `answered after ${ack.at - one.at} ms${more ? `, ${more} follow-ups` : ""}`;
  return one.failed ? h("span.bad", null, one.failed.reason === 2 ? "no answer in 3 s" : "the app is not there") : "waiting";
}

export function interactions(app, body) {
  return asOperator(app, body, async () => {
    const place = h("div"), detail = h("div");
    // A client may use a nonce once, and names its own session.
    const repeat = (one) => ({ method: "POST", path: one.asked.path, body: JSON.stringify({ ...one.asked.body, nonce: String(Date.now()), ...(app.store.session ? { session_id: app.store.session } : {}) }) });
    const show = (one) => fill(detail, h("h2", null, "Payload"), h("pre.json", { tabindex: 0 }, laidOut(one.text)), one.asked && again(app, repeat(one)));
    const draw = () => fill(place, table(["When", "Who", "What", "App", "", "Outcome"], gather(feed.records).slice(0, 100).map((one) => {
      const user = one.d.member?.user || one.d.user, name = one.d.data?.name || one.d.data?.custom_id || "";
      return [clock(one.at), user?.username || "", h("button.link", { type: "button", onclick: () => show(one) }, `${one.d.type === 2 && one.d.data?.type === 1 ? "/" : ""}${name} (${KINDS[one.d.type] || one.d.type})`), one.app || "", bar(one), outcome(one)];
    }), "Interactions"));
    const feed = new Feed(draw);
    await feed.begin();
    fill(body, h("div.bench-scroll.stack", { tabindex: 0, role: "region", "aria-label": "Interactions" }, h("p.faint", null, "A bar ends when the app has answered; the line is at three seconds. Apps that are called by HTTP are seen by their answers only."), place, detail));
    draw();
    return () => feed.end();
  });
}

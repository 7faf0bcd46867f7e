// bench-operator.js - sessions that one can push, the clock, and faults on demand.
import { dialog, fill, h } from "../dom.js";
import { quickForm, small, table } from "../forms.js";
import { asOperator, consoleCall, pretty } from "../operator.js";

const EVERY_MS = 2000;

/** Draws again and again, and says what the operator is told when that fails. */
function refreshed(app, body, draw) {
  return asOperator(app, body, async () => {
    await draw();
    const timer = setInterval(() => document.querySelector("dialog") || draw().catch(() => {}), EVERY_MS);
    return () => clearInterval(timer);
  });
}

const ACTIONS = [["reconnect", "Reconnect (op 7)"], ["resumable", "Invalid, may resume (op 9)"], ["invalidate", "Invalid (op 9)"]];

export function sessions(app, body) {
  return refreshed(app, body, async () => {
    const { users = {}, sessions: all = [] } = await consoleCall("GET", "/sessions");
    const order = (s, b) => consoleCall("POST", `/sessions/${encodeURIComponent(s.session_id)}`, b);
    const act = (s) => dialog("Push a session", (close) => h("div.stack", null, ACTIONS.map(([action, words]) => small(words, () => { close(); app.tryCall(order(s, { action }), "Done"); })),
      quickForm([{ name: "code", label: "Close with a code", value: "4000" }], "Close", async (v) => { await order(s, { action: "close", code: Number(v.code) }); close(); })));
    fill(body, h("div.bench-scroll", { tabindex: 0, role: "region", "aria-label": "Sessions" }, table(["Who", "Kind", "Shard", "Transport", "Events", "Waiting", "Client", ""], all.map((s) => [users[s.user_id] || s.user_id, s.bot ? "bot" : "person", s.shard ? [].concat(s.shard).join("/") : "", s.connected ? s.transport : "away", String(s.events), String(s.waiting), s.client || "",
      [small("Show", () => dialog("Session", () => h("pre.json", { tabindex: 0 }, pretty(s)))), " ", small("Push", () => act(s))]]), "Sessions")));
  });
}

export function trouble(app, body) {
  return refreshed(app, body, async () => {
    const [now, faults] = await Promise.all([consoleCall("GET", "/clock"), consoleCall("GET", "/faults")]);
    if (body.querySelector("form:focus-within")) return;
    const list = Array.isArray(faults) ? faults : faults.faults || [];
    const move = (b) => app.tryCall(consoleCall("POST", "/clock", b), "The clock was moved");
    const moved = now.moved_ms ? `, moved by ${Math.round(now.moved_ms / 1000)} s` : "";
    fill(body, h("div.bench-scroll.stack", { tabindex: 0, role: "region", "aria-label": "Time and trouble" },
      h("h2", null, "The clock"), h("p", null, `${now.now}${moved}`), h("div.inline-form", null, [["+10 s", 10000], ["+1 min", 60000], ["+15 min", 900000], ["+1 h", 3600000], ["+1 day", 86400000]].map(([words, ms]) => small(words, () => move({ advance_ms: ms }))), small("Back to now", () => move({ reset: true }), "danger")),
      h("h2", null, "Faults"), table(["Calls", "What happens", "Left", "Hits", ""], list.map((f) => [h("code", null, `${f.method || "any"} ${f.path}`), [f.status, f.delay_ms && `after ${f.delay_ms} ms`, f.drop && "cut off"].filter(Boolean).join(", "), f.times ? String(f.times) : "always", String(f.hits ?? 0), small("Take back", () => app.tryCall(consoleCall("DELETE", `/faults/${f.id}`)))]), "Faults"),
      quickForm([{ name: "method", label: "Method", options: [["", "any"], ["GET", "GET"], ["POST", "POST"], ["PUT", "PUT"], ["PATCH", "PATCH"], ["DELETE", "DELETE"]] }, { name: "path", label: "Path", value: "/channels/*/messages" }, { name: "status", label: "Status", value: "500" }, { name: "delay_ms", label: "Delay, ms", value: "" }, { name: "times", label: "Times", value: "1" }], "Make it so", async (v) => {
        const number = (x) => (x === "" ? undefined : Number(x));
        await consoleCall("POST", "/faults", { ...(v.method ? { method: v.method } : {}), path: v.path, status: number(v.status), delay_ms: number(v.delay_ms), times: number(v.times) });
      }, "inline-form"), list.length > 0 && small("Take all back", () => app.tryCall(consoleCall("DELETE", "/faults")), "danger")));
  });
}

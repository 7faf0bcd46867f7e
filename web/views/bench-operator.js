// bench-operator.js - sessions that one can push, the clock, and faults on demand.
import { dialog, fill, h, refill } from "../dom.js";
import { quickForm, small, table } from "../forms.js";
import { asOperator, consoleCall, pretty } from "../operator.js";
import { fileSize } from "../pictures.js";

const EVERY_MS = 2000;

/** Draws again and again, and says what the operator is told when that fails. */
function refreshed(app, body, place, draw) {
  return asOperator(app, body, async () => {
    await draw();
    if (place) fill(body, place);
    const timer = setInterval(() => document.querySelector("dialog") || draw().catch(() => {}), EVERY_MS);
    return () => clearInterval(timer);
  });
}

const INTENTS = ["GUILDS", "GUILD_MEMBERS", "GUILD_MODERATION", "GUILD_EXPRESSIONS", "GUILD_INTEGRATIONS", "GUILD_WEBHOOKS", "GUILD_INVITES", "GUILD_VOICE_STATES", "GUILD_PRESENCES", "GUILD_MESSAGES", "GUILD_MESSAGE_REACTIONS", "GUILD_MESSAGE_TYPING", "DIRECT_MESSAGES", "DIRECT_MESSAGE_REACTIONS", "DIRECT_MESSAGE_TYPING", "MESSAGE_CONTENT", "GUILD_SCHEDULED_EVENTS", "", "", "", "AUTO_MODERATION_CONFIGURATION", "AUTO_MODERATION_EXECUTION", "", "", "GUILD_MESSAGE_POLLS", "DIRECT_MESSAGE_POLLS"];

/** Of a bot what it asked for; people are told everything that concerns them. */
function intentsOf(s) {
  if (!s.bot) return "all";
  return Array.from({ length: 32 }, (_, i) => i).filter((i) => (s.intents >>> i) & 1).map((i) => (INTENTS[i] || `bit ${i}`).toLowerCase()).join(", ") || "none";
}

/** "json, zlib" of a socket, as two facts. */
const encodingOf = (s) => (s.connected ? s.transport.split(", ")[0] : "away");
const compressionOf = (s) => (s.connected ? s.transport.split(", ")[1] || "none" : "");

const ACTIONS = [["reconnect", "Reconnect (op 7)"], ["resumable", "Invalid, may resume (op 9)"], ["invalidate", "Invalid (op 9)"]];

export function sessions(app, body) {
  const place = h("div.bench-scroll", { tabindex: 0, role: "region", "aria-label": "Sessions" });
  return refreshed(app, body, place, async () => {
    const { users = {}, sessions: all = [] } = await consoleCall("GET", "/sessions");
    const order = (s, b) => consoleCall("POST", `/sessions/${encodeURIComponent(s.session_id)}`, b);
    const act = (s) => dialog("Push a session", (close) => h("div.stack", null, ACTIONS.map(([action, words]) => small(words, () => { close(); app.tryCall(order(s, { action }), "Done"); })),
      quickForm([{ name: "code", label: "Close with a code", value: "4000" }], "Close", async (v) => { await order(s, { action: "close", code: Number(v.code) }); close(); })));
    refill(place, table(["Who", "Kind", "Shard", "Intents", "Encoding", "Compression", "Sequence", "Behind", "Buffered", "Client", ""], all.map((s) => [users[s.user_id] || s.user_id, s.bot ? "bot" : "person", s.bot && s.shard ? [].concat(s.shard).join("/") : "", intentsOf(s), encodingOf(s), compressionOf(s), String(s.events), `${s.waiting} events`, fileSize(s.buffered_bytes), (s.client || "").split("|").filter(Boolean).join(", "),
      [small("Show", () => dialog("Session", () => h("pre.json", { tabindex: 0 }, pretty(s))), "secondary", `show ${s.session_id}`), " ", small("Push", () => act(s), "secondary", `push ${s.session_id}`)]]), "Sessions"));
  });
}

export function trouble(app, body) {
  return refreshed(app, body, null, async () => {
    const [now, faults] = await Promise.all([consoleCall("GET", "/clock"), consoleCall("GET", "/faults")]);
    if (body.querySelector("form:focus-within")) return;
    const list = Array.isArray(faults) ? faults : faults.faults || [];
    const move = (b) => app.tryCall(consoleCall("POST", "/clock", b), "The clock was moved");
    const moved = now.moved_ms ? `, moved by ${Math.round(now.moved_ms / 1000)} s` : "";
    fill(body, h("div.bench-scroll.stack", { tabindex: 0, role: "region", "aria-label": "Time and trouble" },
      h("h2", null, "The clock"), h("p", null, `${now.now}${moved}`), h("div.inline-form", null, [["+10 s", 10000], ["+1 min", 60000], ["+15 min", 900000], ["+1 h", 3600000], ["+1 day", 86400000]].map(([words, ms]) => small(words, () => move({ advance_ms: ms }))), small("Back to now", () => move({ reset: true }), "danger")),
      h("h2", null, "Faults"), table(["Calls", "What happens", "Left", "Hits", ""], list.map((f) => [h("code", null, f.path === "events" ? "all events" : `${f.method || "any"} ${f.path}`), [f.status, f.delay_ms && `after ${f.delay_ms} ms`, f.drop && "cut off"].filter(Boolean).join(", "), f.times ? String(f.times) : "always", String(f.hits ?? 0), small("Take back", () => app.tryCall(consoleCall("DELETE", `/faults/${f.id}`)))]), "Faults"),
      quickForm([{ name: "method", label: "Method", options: [["", "any"], ["GET", "GET"], ["POST", "POST"], ["PUT", "PUT"], ["PATCH", "PATCH"], ["DELETE", "DELETE"]] }, { name: "path", label: "Path", value: "/channels/*/messages" }, { name: "status", label: "Status", value: "500" }, { name: "delay_ms", label: "Delay, ms", value: "" }, { name: "times", label: "Times", value: "1" }], "Make it so", async (v) => {
        const number = (x) => (x === "" ? undefined : Number(x));
        await consoleCall("POST", "/faults", { ...(v.method ? { method: v.method } : {}), path: v.path, status: number(v.status), delay_ms: number(v.delay_ms), times: number(v.times) });
      }, "inline-form"), h("h2", null, "Events"), quickForm([{ name: "delay_ms", label: "Tell every session of everything so much later, ms", value: "3000" }], "Delay events", async (v) => { await consoleCall("POST", "/faults", { path: "events", delay_ms: Number(v.delay_ms) }); }, "inline-form"), list.length > 0 && h("div", null, small("Take all back", () => app.tryCall(consoleCall("DELETE", "/faults")), "danger"))));
  });
}

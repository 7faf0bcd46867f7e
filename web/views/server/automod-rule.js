// automod-rule.js - the dialog that creates or changes a rule of auto moderation.
import { isThread } from "../../store.js";
import { t } from "../../translate.js";
import { choiceRow, formDialog, rolesOf } from "./shared.js";

const KEYWORD = 1,
  SPAM = 3,
  PRESET = 4,
  MENTIONS = 5,
  PROFILE = 6;
const BLOCK = 1,
  ALERT = 2,
  TIME_OUT = 3,
  QUARANTINE = 4;
const ON_MESSAGE = 1,
  ON_MEMBER = 2;

/** The trigger types of rules: the label, and the actions that a rule with this trigger type can take. */
export const TRIGGERS = {
  [KEYWORD]: { label: t("Block words in messages"), actions: [BLOCK, ALERT, TIME_OUT] },
  [SPAM]: { label: t("Block suspected spam"), actions: [BLOCK, ALERT] },
  [PRESET]: { label: t("Block commonly flagged words"), actions: [BLOCK, ALERT] },
  [MENTIONS]: { label: t("Block messages with many mentions"), actions: [BLOCK, ALERT, TIME_OUT] },
  [PROFILE]: { label: t("Block words in names"), actions: [QUARANTINE, ALERT] },
};
export const ACTIONS = {
  [BLOCK]: t("Block the message"),
  [ALERT]: t("Send an alert"),
  [TIME_OUT]: t("Time out the member"),
  [QUARANTINE]: t("Prevent the member from writing and speaking"),
};
/** @type {[string, string][]} */
const PRESETS = [
  ["1", t("Insults")],
  ["2", t("Sexual content")],
  ["3", t("Slurs")],
];
/** @type {[number, string][]} */
const TIMES = [
  [60, t("{n} minute|{n} minutes", { n: 1 })],
  [300, t("{n} minute|{n} minutes", { n: 5 })],
  [600, t("{n} minute|{n} minutes", { n: 10 })],
  [3600, t("{n} hour|{n} hours", { n: 1 })],
  [86400, t("{n} day|{n} days", { n: 1 })],
  [604800, t("{n} week|{n} weeks", { n: 1 })],
];

const listOf = (text) =>
  text
    .split(/[\n,]/)
    .map((x) => x.trim())
    .filter(Boolean);
const linesOf = (text) =>
  text
    .split("\n")
    .map((x) => x.trim())
    .filter(Boolean);

function triggerRows(type, m) {
  const words = type === KEYWORD || type === PROFILE;
  return [
    words && {
      name: "keyword_filter",
      label: t("Blocked words"),
      rows: 3,
      value: (m.keyword_filter || []).join(", "),
      hint: t("Separate words by commas. cat* blocks words that begin with cat, *cat blocks words that end with cat."),
    },
    words && {
      name: "regex_patterns",
      label: t("Regular expressions"),
      rows: 2,
      value: (m.regex_patterns || []).join("\n"),
      hint: t("One regular expression per line, at most 10."),
    },
    type === PRESET && choiceRow("presets", t("Blocked word lists"), PRESETS, (m.presets || []).map(String)),
    (words || type === PRESET) && {
      name: "allow_list",
      label: t("Words that this rule allows"),
      rows: 2,
      value: (m.allow_list || []).join(", "),
    },
    type === MENTIONS && {
      name: "mention_total_limit",
      label: t("Mentions per message"),
      type: "number",
      value: m.mention_total_limit ?? 20,
      props: { min: 1, max: 50 },
    },
  ].filter(Boolean);
}

function metadataOf(type, v) {
  if (type === SPAM) return null;
  if (type === MENTIONS) return { mention_total_limit: Number(v.mention_total_limit) };
  if (type === PRESET) return { presets: v.presets.map(Number), allow_list: listOf(v.allow_list) };
  return {
    keyword_filter: listOf(v.keyword_filter),
    regex_patterns: linesOf(v.regex_patterns),
    allow_list: listOf(v.allow_list),
  };
}

function actionsOf(type, v) {
  const out = [];
  for (const action of TRIGGERS[type].actions) {
    if (!v.actions.includes(String(action))) continue;
    if (action === ALERT) {
      if (!v.channel) throw new Error(t("Choose a channel for the alerts."));
      out.push({ type: ALERT, metadata: { channel_id: v.channel } });
    } else if (action === TIME_OUT) out.push({ type: TIME_OUT, metadata: { duration_seconds: Number(v.duration) } });
    else if (action === BLOCK && v.message) out.push({ type: BLOCK, metadata: { custom_message: v.message } });
    else out.push({ type: action, metadata: {} });
  }
  if (!out.length) throw new Error(t("Choose at least one action."));
  return out;
}

/** Opens the dialog that edits a rule. @param {any} r the rule; null means a new rule */
export function editRule(app, g, r, type) {
  const { label, actions } = TRIGGERS[type],
    path = `/guilds/${g.id}/auto-moderation/rules`,
    of = (action) => r?.actions.find((a) => a.type === action);
  const channels = app.store.channelsOf(g).filter((c) => c.type === 0 && !isThread(c));
  const chosen = r ? r.actions.map((a) => String(a.type)) : [String(actions[0])];
  const pairs = (list) => /** @type {[string, string][]} */ (list.slice(0, 500).map((c) => [c.id, `#${c.name}`]));
  const rows = /** @type {any[]} */ (
    [
      { name: "name", label: t("Name"), value: r?.name ?? label, required: true, props: { maxlength: 100 } },
      ...triggerRows(type, r?.trigger_metadata || {}),
      choiceRow(
        "actions",
        t("Actions"),
        actions.map((a) => [String(a), ACTIONS[a]]),
        chosen,
      ),
      actions.includes(BLOCK) && {
        name: "message",
        label: t("Message to the author"),
        value: of(BLOCK)?.metadata?.custom_message,
        props: { maxlength: 150 },
      },
      {
        name: "channel",
        label: t("Channel for alerts"),
        value: of(ALERT)?.metadata?.channel_id || "",
        options: [["", t("None")], ...pairs(channels)],
      },
      actions.includes(TIME_OUT) && {
        name: "duration",
        label: t("Duration of the time-out"),
        value: of(TIME_OUT)?.metadata?.duration_seconds ?? 60,
        options: TIMES,
      },
      choiceRow(
        "exempt_roles",
        t("Roles that are exempt from this rule"),
        rolesOf(g)
          .filter((x) => x.id !== g.id)
          .map((x) => [x.id, x.name]),
        r?.exempt_roles || [],
      ),
      choiceRow(
        "exempt_channels",
        t("Channels that are exempt from this rule"),
        pairs(channels).slice(0, 100),
        r?.exempt_channels || [],
      ),
    ].filter(Boolean)
  );
  return formDialog(
    r ? r.name : label,
    rows,
    r ? t("Save") : t("Create"),
    async (v) => {
      const metadata = metadataOf(type, v);
      const body = {
        name: v.name,
        event_type: type === PROFILE ? ON_MEMBER : ON_MESSAGE,
        ...(metadata ? { trigger_metadata: metadata } : {}),
        actions: actionsOf(type, v),
        exempt_roles: v.exempt_roles,
        exempt_channels: v.exempt_channels,
      };
      return r
        ? app.rest.patch(`${path}/${r.id}`, body)
        : app.rest.post(path, { ...body, trigger_type: type, enabled: true });
    },
    { wide: true },
  );
}

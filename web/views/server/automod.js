// automod.js - the rules of auto moderation: a list, and switches, editing and deletion for each rule.
import { fill, h } from "../../dom.js";
import { below, menu } from "../../menu.js";
import { small } from "../../forms.js";
import { t } from "../../translate.js";
import { ACTIONS, TRIGGERS, editRule } from "./automod-rule.js";
import { confirmDelete, live, section } from "./shared.js";

// Maximum number of rules by trigger type: 6 keyword rules (type 1). For types that are not listed, the maximum is 1.
const MOST_OF_TYPE = { 1: 6 };

function summary(app, r) {
  const m = r.trigger_metadata || {},
    channel = (a) => app.store.channels.get(a.metadata?.channel_id)?.name;
  const words = [...(m.keyword_filter || []), ...(m.regex_patterns || []).map((x) => `/${x}/`)];
  return [
    h("p", null, TRIGGERS[r.trigger_type]?.label || ""),
    words.length > 0 &&
      h(
        "div.chips",
        null,
        words.slice(0, 12).map((w) => h("span.chip", null, w)),
        words.length > 12 && h("span.chip", null, `+${words.length - 12}`),
      ),
    m.mention_total_limit > 0 && h("p.faint", null, t("More than {n} mentions", { n: m.mention_total_limit })),
    h(
      "p.faint",
      null,
      r.actions
        .map((a) => [ACTIONS[a.type] || "", channel(a) && ` (#${channel(a)})`].filter(Boolean).join(""))
        .join(" · "),
    ),
  ];
}

export async function automod(app, g, body, watch) {
  const path = `/guilds/${g.id}/auto-moderation/rules`;
  let rules = [];
  const set = (r, enabled) => app.tryCall(app.rest.patch(`${path}/${r.id}`, { enabled }));
  const remove = (r) =>
    confirmDelete(t("Delete rule"), t("Delete the rule {name}?", { name: r.name }), () =>
      app.rest.delete(`${path}/${r.id}`),
    );
  const create = (at) => {
    const left = Object.entries(TRIGGERS).filter(
      ([type]) => rules.filter((r) => r.trigger_type === Number(type)).length < (MOST_OF_TYPE[type] || 1),
    );
    menu(
      below(at),
      left.map(([type, { label }]) => ({ label, icon: "plus", run: () => editRule(app, g, null, Number(type)) })),
      t("New rule"),
    );
  };
  const card = (r) =>
    h(
      "article.event-card",
      { "aria-label": r.name },
      h("h2", null, r.name, " ", !r.enabled && h("span.tag", null, t("off"))),
      summary(app, r),
      h(
        "div.row-actions",
        null,
        small(r.enabled ? t("Turn off") : t("Turn on"), () => set(r, !r.enabled), "secondary", `set:${r.id}`),
        small(t("Edit"), () => editRule(app, g, r, r.trigger_type), "secondary", `edit:${r.id}`),
        small(t("Delete"), () => remove(r), "danger", `delete:${r.id}`),
      ),
    );
  const list = await live(watch, ["rules"], async () => {
    rules = await app.rest.get(path);
    return rules.length ? rules.map(card) : h("p.faint", null, t("There are no rules yet."));
  });
  fill(
    body,
    section(
      null,
      h("p.hint", null, t("Rules apply neither to apps nor to members with the permission “Manage server”.")),
      h(
        "div",
        null,
        small(t("New rule"), (e) => create(e.currentTarget), "primary"),
      ),
    ),
    section(null, list),
  );
}

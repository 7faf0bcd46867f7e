// audit-log.js - the audit log of a guild, with filters by user and by action.
import { dialog, fill, h } from "../../dom.js";
import { small, table } from "../../forms.js";
import { relative } from "../../markdown.js";
import { memberSearch } from "../../member-search.js";
import { t } from "../../translate.js";
import { ACTION_WORDS, changeLines } from "./audit-words.js";
import { live, section, timeOf } from "./shared.js";

const PAGE = 50,
  SEARCH = "search";

export async function auditLog(app, g, body, watch) {
  const users = new Map();
  let user = "",
    action = "",
    pages = 1,
    redraw = async () => {};
  /** Requests the audit log, newest entries first, page by page until as many pages are loaded as the list shows. */
  const read = async () => {
    const out = { audit_log_entries: [], names: new Map() };
    for (let n = 0, before = ""; n < pages; n++) {
      const query = new URLSearchParams({ limit: String(PAGE) });
      if (user) query.set("user_id", user);
      if (action) query.set("action_type", action);
      if (before) query.set("before", before);
      const log = await app.rest.get(`/guilds/${g.id}/audit-logs?${query}`);
      log.users.forEach((u) => users.set(u.id, u));
      const lists = [log.webhooks, log.integrations, log.threads, log.application_commands];
      for (const x of [...lists, log.auto_moderation_rules, log.guild_scheduled_events].flat())
        if (x?.id) out.names.set(x.id, x.name);
      out.audit_log_entries.push(...log.audit_log_entries);
      if (log.audit_log_entries.length < PAGE) break;
      before = log.audit_log_entries.at(-1).id;
    }
    return out;
  };
  const userFilter = h("select", {
    "aria-label": t("User"),
    onchange: async () => {
      if (userFilter.value === SEARCH) {
        userFilter.value = user;
        const found = await dialog(t("Search members"), (close) => memberSearch(app, g, (m) => close(m.user)));
        if (!found) return;
        users.set(found.id, found);
        user = found.id;
      } else user = userFilter.value;
      pages = 1;
      redraw();
    },
  });
  const actionFilter = h(
    "select",
    {
      "aria-label": t("Action"),
      onchange: () => {
        action = actionFilter.value;
        pages = 1;
        redraw();
      },
    },
    h("option", { value: "" }, t("All actions")),
    Object.entries(ACTION_WORDS).map(([n, words]) => h("option", { value: n }, words)),
  );
  const drawUsers = () => {
    fill(
      userFilter,
      h("option", { value: "" }, t("All users")),
      [...users.values()].slice(0, 200).map((u) => h("option", { value: u.id }, `@${u.username}`)),
      h("option", { value: SEARCH }, t("Search for a member…")),
    );
    userFilter.value = user;
  };

  const list = await live(watch, ["audit"], async (again) => {
    redraw = again;
    const log = await read();
    drawUsers();
    const known = (id) =>
      users.get(id)?.username || app.store.channels.get(id)?.name || g.roles.get(id)?.name || log.names.get(id);
    /**
     * Returns the name of the object that an audit log entry is about. A deleted object's name is read from the changes
     * of the entry.
     */
    const target = (e) => {
      const named = (e.changes || []).find((c) => c.key === "name" || c.key === "code");
      return (
        known(e.target_id) || named?.new_value || named?.old_value || (e.target_id === g.id ? "" : e.target_id) || ""
      );
    };
    const more = async () => {
      pages++;
      await again();
    };
    return [
      table(
        [t("Time"), t("User"), t("Action"), t("Changes"), t("Reason")],
        log.audit_log_entries.map((e) => [
          relative(timeOf(e.id)),
          e.user_id ? `@${known(e.user_id) || e.user_id}` : "",
          `${ACTION_WORDS[e.action_type] || t("action {n}", { n: e.action_type })} ${target(e)}`,
          h(
            "ul.changes",
            null,
            changeLines(e, known).map((line) => h("li", null, line)),
          ),
          e.reason || "",
        ]),
      ),
      log.audit_log_entries.length === PAGE * pages && h("div", null, small(t("Show more"), more)),
    ];
  });
  fill(body, section(null, h("div.filters", null, userFilter, actionFilter), list));
}

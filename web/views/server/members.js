// members.js - the members of a guild, at most 100 at once: search, roles, nickname, time-out, kick, ban.
import { fill, h } from "../../dom.js";
import { below, menu } from "../../menu.js";
import { iconButton } from "../../icons.js";
import { small, table } from "../../forms.js";
import { relative } from "../../markdown.js";
import { findMembers } from "../../member-search.js";
import { t } from "../../translate.js";
import { ban, editMember, endTimeOut, isAbove, kick, timeOut, timedOut } from "./member-actions.js";
import { live, rolesOf, section } from "./shared.js";

const SHOWN = 100,
  WAIT_MS = 250;

export async function members(app, g, body, watch) {
  let text = "",
    role = "",
    timer;
  /**
   * Ids of the members that the search has found. null means that nothing was searched: the first loaded members are
   * shown.
   * @type {string[]|null}
   */
  let found = null;

  const search = async () => {
    const asked = text;
    if (text) {
      const list = await findMembers(app, g, text, SHOWN);
      if (asked !== text) return;
      found = list.map((m) => m.user.id);
    } else if (role) {
      found = await app.rest.get(`/guilds/${g.id}/roles/${role}/member-ids`);
      const unknown = found.filter((id) => !g.members.has(id));
      if (unknown.length) app.gateway.send(8, { guild_id: g.id, user_ids: unknown.slice(0, SHOWN) });
    } else {
      found = null;
      app.gateway.send(8, { guild_id: g.id, query: "", limit: SHOWN });
    }
  };
  const shown = () => {
    if (found)
      return found
        .map((id) => g.members.get(id))
        .filter((m) => m && (!role || m.roles.includes(role)))
        .slice(0, SHOWN);
    const first = [];
    for (const m of g.members.values()) {
      first.push(m);
      if (first.length === SHOWN) break;
    }
    return first;
  };
  const may = (right) => app.store.mayInGuild(g, right);
  const more = (m, at) => {
    const path = m.user.id;
    menu(
      below(at),
      [
        may("MODERATE_MEMBERS") &&
          (timedOut(m)
            ? { label: t("End the time-out"), icon: "mic", run: () => endTimeOut(app, g, m) }
            : { label: t("Time out"), icon: "muted", run: () => timeOut(app, g, m) }),
        { label: t("Copy ID"), icon: "hash", run: () => navigator.clipboard?.writeText(path) },
        may("BAN_MEMBERS") && { label: t("Ban"), icon: "close", danger: true, run: () => ban(app, g, m) },
      ].filter(Boolean),
      t("More"),
    );
  };
  const actions = (m) => {
    const above = isAbove(app, g, m),
      own = m.user.id === app.store.me.id;
    return h(
      "div.row-actions",
      null,
      (above || own || g.owner_id === app.store.me.id) &&
        (may("MANAGE_ROLES") || may("MANAGE_NICKNAMES") || own) &&
        small(t("Edit"), () => editMember(app, g, m), "secondary", `edit:${m.user.id}`),
      above && may("KICK_MEMBERS") && small(t("Kick"), () => kick(app, g, m), "danger", `kick:${m.user.id}`),
      above &&
        iconButton("more", t("More about {name}", { name: m.user.username }), (e) => more(m, e.currentTarget), {
          dataset: { key: `more:${m.user.id}` },
        }),
    );
  };
  const roleNames = (m) =>
    m.roles
      .map((r) => g.roles.get(r)?.name)
      .filter(Boolean)
      .join(", ");
  const draw = () => {
    const list = shown();
    return [
      table(
        [t("User"), t("Nickname"), t("Roles"), t("Member since"), ""],
        list.map((m) => [
          [
            `@${m.user.username}`,
            timedOut(m) && h("span.tag", null, t("timed out until {time}", { time: timedOut(m).toLocaleString() })),
          ],
          m.nick || "",
          roleNames(m),
          m.joined_at ? relative(new Date(m.joined_at)) : "",
          actions(m),
        ]),
      ),
      list.length === SHOWN &&
        h("p.hint", null, t("The first {n} members are shown. Search for a name to find others.", { n: SHOWN })),
    ];
  };
  await search();
  let redraw = async () => {};
  const list = await live(watch, ["members", "guilds"], (again) => {
    redraw = again;
    return draw();
  });
  const problem = h("p.field-error", { role: "alert", hidden: true });
  const searchAgain = async () => {
    try {
      problem.hidden = true;
      await search();
      await redraw();
    } catch (e) {
      problem.hidden = false;
      problem.textContent = e.message;
    }
  };
  const input = h("input", {
    type: "search",
    placeholder: t("Search members"),
    "aria-label": t("Search members"),
    oninput: () => {
      text = input.value.trim();
      clearTimeout(timer);
      timer = setTimeout(searchAgain, WAIT_MS);
    },
  });
  const filter = h(
    "select",
    {
      "aria-label": t("Role"),
      onchange: () => {
        role = filter.value;
        searchAgain();
      },
    },
    h("option", { value: "" }, t("All roles")),
    rolesOf(g)
      .filter((r) => r.id !== g.id)
      .map((r) => h("option", { value: r.id }, r.name)),
  );
  fill(body, section(null, h("div.filters", null, input, filter), problem, list));
}

// overwrite-editor.js - the three states (deny, inherit, allow) of the permissions of one role or member in a channel.
import { fill, h } from "../../dom.js";
import { PERMISSION_LABELS } from "../../permission-labels.js";
import { channelGroups, matches } from "../../permission-groups.js";
import { rightBit } from "../../permissions.js";
import { t } from "../../translate.js";

const STATES = ["deny", "inherit", "allow"],
  SIGNS = { deny: "✕", inherit: "–", allow: "✓" };
let number = 0;

const stateOf = (overwrite, name) =>
  BigInt(overwrite.deny) & rightBit(name) ? "deny" : BigInt(overwrite.allow) & rightBit(name) ? "allow" : "inherit";

/**
 * Edits one permission overwrite.
 * @param {any} app @param {any} channel @param {{id: string, type: number, allow: string, deny: string}} overwrite
 * @param {{changed: () => void, saved: () => void, remove: () => void}} on
 */
export function overwriteEditor(app, channel, overwrite, on) {
  const words = { deny: t("Deny"), inherit: t("Inherit"), allow: t("Allow") };
  const now = new Map();
  const problem = h("p.field-error", { role: "alert", hidden: true }),
    done = h("p.good", { role: "status" });
  const row = (name) => {
    const group = `overwrite-${++number}`,
      own = app.store.may(channel, name);
    return h(
      "div.tri",
      { role: "radiogroup", "aria-label": PERMISSION_LABELS[name], dataset: { permission: name } },
      h("span.tri-name", null, PERMISSION_LABELS[name]),
      h(
        "span.tri-states",
        null,
        STATES.map((state) =>
          h(
            "label",
            { class: state, title: words[state] },
            h("input", {
              type: "radio",
              name: group,
              value: state,
              "aria-label": words[state],
              disabled: !own,
              checked: stateOf(overwrite, name) === state,
              onchange: () => {
                now.set(name, state);
                done.textContent = "";
                on.changed();
              },
            }),
            h("span", { "aria-hidden": "true" }, SIGNS[state]),
          ),
        ),
      ),
    );
  };
  const groups = channelGroups(channel).map(([heading, names]) => ({
    el: h("h3", null, heading),
    rows: names.map((name) => ({ name, el: row(name) })),
  }));
  const search = h("input", {
    type: "search",
    placeholder: t("Search permissions"),
    "aria-label": t("Search permissions"),
    oninput: () => {
      const text = search.value.trim().toLowerCase();
      for (const g of groups) {
        for (const r of g.rows) r.el.hidden = !matches(r.name, text);
        g.el.hidden = g.rows.every((r) => r.el.hidden);
      }
    },
  });
  const save = async () => {
    let allow = BigInt(overwrite.allow),
      deny = BigInt(overwrite.deny);
    for (const [name, state] of now) {
      const bit = rightBit(/** @type {any} */ (name));
      allow = state === "allow" ? allow | bit : allow & ~bit;
      deny = state === "deny" ? deny | bit : deny & ~bit;
    }
    problem.hidden = true;
    try {
      await app.rest.put(`/channels/${channel.id}/permissions/${overwrite.id}`, {
        type: overwrite.type,
        allow: String(allow),
        deny: String(deny),
      });
      Object.assign(overwrite, { allow: String(allow), deny: String(deny) });
      now.clear();
      done.textContent = t("Saved");
      on.saved();
    } catch (e) {
      problem.hidden = false;
      problem.textContent = e.words || e.message;
    }
  };
  const el = h("div.stack");
  return fill(
    el,
    search,
    h("p.hint", null, t("You can only change permissions that you have in this channel.")),
    groups.map((g) => [g.el, g.rows.map((r) => r.el)]),
    problem,
    h(
      "div.form-foot.sticky",
      null,
      h("button.button.primary", { type: "button", onclick: save }, t("Save")),
      h("button.button.danger", { type: "button", onclick: on.remove }, t("Remove")),
      done,
    ),
  );
}

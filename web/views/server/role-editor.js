// role-editor.js - name, colour and permissions of a role, in a dialog.
import { dialog, h } from "../../dom.js";
import { quickForm } from "../../forms.js";
import { PERMISSION_LABELS } from "../../permission-labels.js";
import { matches, roleGroups } from "../../permission-groups.js";
import { rightBit } from "../../permissions.js";
import { t } from "../../translate.js";

/**
 * Check boxes for permissions, with a search field. The user can only change permissions that he has (`own`).
 * @param {bigint} permissions
 * @param {(name: string) => boolean} own
 */
function permissionBoxes(permissions, own) {
  const boxes = new Map();
  const groups = roleGroups().map(([heading, names]) => {
    const labels = names.map((name) => {
      const box = h("input", {
        type: "checkbox",
        checked: (permissions & rightBit(/** @type {any} */ (name))) !== 0n,
        disabled: !own(name),
      });
      boxes.set(name, box);
      return { name, el: h("label.check", null, box, PERMISSION_LABELS[name]) };
    });
    return {
      labels,
      el: h(
        "fieldset.right-group",
        null,
        h("legend", null, heading),
        h(
          "div.rights",
          null,
          labels.map((l) => l.el),
        ),
      ),
    };
  });
  const none = h("p.faint", { hidden: true, role: "status" }, t("No permission has this name."));
  const search = h("input", {
    type: "search",
    placeholder: t("Search permissions"),
    "aria-label": t("Search permissions"),
    oninput: () => {
      const text = search.value.trim().toLowerCase();
      for (const g of groups) {
        for (const l of g.labels) l.el.hidden = !matches(l.name, text);
        g.el.hidden = g.labels.every((l) => l.el.hidden);
      }
      none.hidden = groups.some((g) => !g.el.hidden);
    },
  });
  const value = () => {
    let all = permissions;
    for (const [name, box] of boxes) all = box.checked ? all | rightBit(name) : all & ~rightBit(name);
    return all;
  };
  return {
    el: h(
      "div.stack",
      null,
      search,
      groups.map((g) => g.el),
      none,
    ),
    value,
  };
}

export function editRole(app, g, r) {
  const everyone = r.id === g.id,
    boxes = permissionBoxes(BigInt(r.permissions), (name) => app.store.mayInGuild(g, name));
  return dialog(
    r.name,
    (close) => {
      const form = quickForm(
        everyone
          ? []
          : [
              {
                name: "name",
                label: t("Name"),
                value: r.name,
                required: true,
                props: { maxlength: 100, disabled: r.managed },
              },
              {
                name: "color",
                label: t("Colour"),
                type: "color",
                value: `#${(r.color || 0).toString(16).padStart(6, "0")}`,
                hint: t("If you choose black, the role has no colour."),
              },
              { name: "hoist", label: t("Display separately in the member list"), type: "checkbox", value: r.hoist },
              {
                name: "mentionable",
                label: t("Allow anyone to mention this role"),
                type: "checkbox",
                value: r.mentionable,
              },
            ],
        t("Save"),
        async (v) => {
          const permissions = boxes.value(),
            color = v.color ? parseInt(v.color.slice(1), 16) : r.color;
          await app.rest.patch(`/guilds/${g.id}/roles/${r.id}`, {
            ...(everyone ? {} : { hoist: v.hoist, mentionable: v.mentionable, color }),
            ...(everyone || r.managed || v.name === r.name ? {} : { name: v.name }),
            ...(permissions === BigInt(r.permissions) ? {} : { permissions: String(permissions) }),
          });
          close(true);
        },
      );
      form.querySelector(".form-foot").classList.add("sticky");
      const problem = form.querySelector(":scope > .field-error");
      problem.before(h("h3", null, t("Permissions")), boxes.el);
      return form;
    },
    { class: "wide" },
  );
}

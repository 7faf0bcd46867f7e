// command-form.js - the input fields for the options of a command, with choices and autocomplete.
import { suggest } from "./autocomplete.js";
import { localised, ownName, nonce, interact, runCommand } from "./commands.js";
import { fill, h } from "./dom.js";
import { iconButton } from "./icons.js";
import { appIcon } from "./images.js";
import { isThread } from "./store.js";
import { t } from "./translate.js";

const STRING = 3,
  INTEGER = 4,
  BOOLEAN = 5,
  USER = 6,
  CHANNEL = 7,
  ROLE = 8,
  MENTIONABLE = 9,
  NUMBER = 10,
  ATTACHMENT = 11;

/** Input fields for the options of a command. @returns {{el: HTMLElement, focus: () => void}} */
export function commandForm(app, channel, leaf, close) {
  const locale = app.store.settings.locale,
    files = [];
  const problem = h("p.field-error", { role: "alert", hidden: true });
  const fields = h("div.command-fields"),
    more = h("div.command-more");
  const made = new Map();
  const required = leaf.options.filter((o) => o.required),
    optional = leaf.options.filter((o) => !o.required);

  const collect = () => [...made.values()].map((f) => f.value()).filter((v) => v !== null);
  const show = (o, focus) => {
    const f = optionField(app, channel, leaf, o, { locale, files, collect });
    made.set(o.name, f);
    fields.append(f.el);
    drawMore();
    if (focus) f.control.focus();
  };
  const drawMore = () =>
    fill(
      more,
      optional
        .filter((o) => !made.has(o.name))
        .map((o) =>
          h(
            "button.chip",
            { type: "button", title: localised(o, "description", locale), onclick: () => show(o, true) },
            `+ ${localised(o, "name", locale)}`,
          ),
        ),
    );

  const form = h(
    "form.command-form",
    { "aria-label": `/${leaf.name}`, novalidate: true },
    h(
      "div.command-head",
      null,
      appIcon(leaf.app, "tiny-avatar"),
      h("strong", null, `/${leaf.name}`),
      h("span.faint.clip", null, leaf.description),
      iconButton("close", t("Cancel"), () => close()),
    ),
    fields,
    more,
    problem,
    h(
      "div.command-foot",
      null,
      h("span.hint", null, t("Enter to send, Esc to cancel")),
      h("button.button.primary", { type: "submit" }, t("Send")),
    ),
  );
  required.forEach((o) => show(o, false));
  drawMore();

  form.addEventListener("keydown", (e) => e.key === "Escape" && (e.stopPropagation(), close()));
  form.addEventListener("submit", async (e) => {
    e.preventDefault();
    if (![...made.values()].map((f) => f.check()).every(Boolean)) return;
    const values = collect();
    form.classList.add("loading");
    try {
      const attachments = files.map((f, i) => ({ id: String(i), filename: f.name }));
      close();
      await runCommand(app, channel, leaf, values, attachments.length ? { attachments } : {}, files);
    } catch (refusal) {
      app.notice(channel, "").fail(`/${leaf.name}: ${refusal.words || refusal.message}`);
    }
  });
  return {
    el: form,
    focus: () =>
      /** @type {HTMLElement} */ (
        fields.querySelector("input, select, textarea") || form.querySelector("button[type=submit]")
      ).focus(),
  };
}

function choicesOf(app, channel, o) {
  const { store } = app,
    guild = store.guildOf(channel);
  const people = guild ? [...guild.members.values()].map((m) => m.user) : [store.me, ...(channel.recipients || [])];
  const users = people.map((u) => ({ name: `${store.nameOf(u.id, guild)} (@${u.username})`, value: u.id }));
  const roles = guild
    ? [...guild.roles.values()].map((r) => ({ name: `@${r.name.replace(/^@/, "")}`, value: r.id }))
    : [];
  if (o.type === USER) return users;
  if (o.type === ROLE) return roles;
  if (o.type === MENTIONABLE) return [...users, ...roles];
  if (o.type === CHANNEL)
    return guild
      ? store
          .channelsOf(guild)
          .filter((c) => !isThread(c) && (!o.channel_types?.length || o.channel_types.includes(c.type)))
          .map((c) => ({ name: `#${c.name}`, value: c.id }))
      : [];
  if (o.type === BOOLEAN)
    return [
      { name: t("True"), value: true },
      { name: t("False"), value: false },
    ];
  return (o.choices || []).map((c) => ({ name: c.name_localized || c.name, value: c.value }));
}

function optionField(app, channel, leaf, o, { locale, files, collect }) {
  const label = localised(o, "name", locale),
    hint = localised(o, "description", locale);
  const choices = choicesOf(app, channel, o);
  const id = `option-${nonce()}`;
  const error = h("span.field-error", { role: "alert", hidden: true });
  let control,
    read,
    picked = null;
  if (choices.length) {
    control = h(
      "select",
      { id },
      h("option", { value: "" }, ""),
      choices.map((c, i) => h("option", { value: String(i) }, c.name)),
    );
    read = () => (control.value === "" ? undefined : choices[Number(control.value)].value);
  } else if (o.type === ATTACHMENT) {
    control = h("input", { id, type: "file" });
    read = () => {
      if (!control.files.length) return undefined;
      if (!files.includes(control.files[0])) files.push(control.files[0]);
      return String(files.indexOf(control.files[0]));
    };
  } else {
    const numeric = o.type === INTEGER || o.type === NUMBER;
    control = h("input", {
      id,
      type: "text",
      inputmode: numeric ? "decimal" : null,
      maxlength: o.max_length,
      autocomplete: "off",
    });
    read = () => {
      if (control.value === "") return undefined;
      if (picked && picked.name === control.value) return picked.value;
      return numeric ? Number(control.value) : control.value;
    };
  }
  const el = h(
    "div.command-field",
    null,
    h("label", { for: id, title: hint }, label, o.required && h("span.required", { "aria-hidden": "true" }, "*")),
    control,
    h("small.hint", null, hint),
    error,
  );
  if (o.autocomplete) {
    el.append(
      suggest(control, {
        label: hint,
        row: (c) => c.name,
        choose: (c) => {
          picked = c;
          control.value = c.name;
        },
        find: () => complete(app, channel, leaf, o, control.value, collect),
      }).list,
    );
  }
  const problem = () => {
    const v = read();
    if (v === undefined) return o.required ? t("Required") : "";
    if ((o.type === INTEGER && !Number.isSafeInteger(v)) || (o.type === NUMBER && !Number.isFinite(v)))
      return t("Not a number");
    if (typeof v === "number" && v < (o.min_value ?? -Infinity)) return t("At least {n}", { n: o.min_value });
    if (typeof v === "number" && v > (o.max_value ?? Infinity)) return t("At most {n}", { n: o.max_value });
    if (o.type === STRING && [...String(v)].length < (o.min_length || 0))
      return t("At least {n} character|At least {n} characters", { n: o.min_length });
    return "";
  };
  return {
    el,
    control,
    check() {
      const words = problem();
      error.hidden = !words;
      error.textContent = words;
      control.setAttribute("aria-invalid", String(!!words));
      return !words;
    },
    value() {
      const v = read();
      return v === undefined ? null : { type: o.type, name: ownName(o), value: v };
    },
  };
}

async function complete(app, channel, leaf, o, text, collect) {
  const others = collect().filter((v) => v.name !== ownName(o));
  const value = o.type === STRING ? text : text;
  let options = [...others, { type: o.type, name: ownName(o), value, focused: true }];
  for (const node of [...leaf.path].reverse()) options = [{ type: node.type, name: ownName(node), options }];
  const { command } = leaf;
  try {
    const end = await interact(app, channel, {
      type: 4,
      application_id: command.application_id,
      data: { id: command.id, name: ownName(command), type: 1, version: command.version, options },
    });
    return end.type === "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE" ? end.d.choices || [] : [];
  } catch {
    return [];
  }
}

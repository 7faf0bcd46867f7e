// onboarding.js - onboarding of a guild: the default channels, and the questions for new members.
import { fill, h } from "../../dom.js";
import { quickForm, small } from "../../forms.js";
import { isThread } from "../../store.js";
import { t } from "../../translate.js";
import { choiceRow, confirmDelete, formDialog, live, rolesOf, section } from "./shared.js";

const MOST_OPTIONS = 8,
  MOST_CHANNELS = 200;

/**
 * Converts a prompt of a response to the form that a request needs, where the emoji of an option is in separate fields.
 */
const draftOf = (p) => ({
  ...p,
  options: p.options.map(({ emoji, ...o }) => ({
    ...o,
    emoji_id: emoji?.id ?? null,
    emoji_name: emoji?.name ?? null,
    emoji_animated: emoji?.animated ?? false,
  })),
});

export async function onboarding(app, g, body, watch) {
  const path = `/guilds/${g.id}/onboarding`;
  const channels = /** @type {[string, string][]} */ (
    app.store
      .channelsOf(g)
      .filter((c) => !isThread(c) && [0, 5, 15].includes(c.type))
      .slice(0, MOST_CHANNELS)
      .map((c) => [c.id, `#${c.name}`])
  );
  const roles = /** @type {[string, string][]} */ (
    rolesOf(g)
      .filter((r) => r.id !== g.id && !r.managed)
      .map((r) => [r.id, r.name])
  );

  /**
   * Opens the dialog that edits a question.
   * @param {any} p null for a new one
   * @param {(p: any) => Promise<any>} save
   */
  const editPrompt = (p, save) => {
    const rows = /** @type {any[]} */ ([
      { name: "title", label: t("Question"), value: p?.title, required: true, props: { maxlength: 100 } },
      { name: "single", label: t("Only one answer"), type: "checkbox", value: p?.single_select ?? false },
      { name: "required", label: t("An answer is required"), type: "checkbox", value: p?.required ?? false },
      {
        name: "first",
        label: t("Ask new members this before they see the server"),
        type: "checkbox",
        value: p?.in_onboarding ?? true,
      },
    ]);
    for (let n = 1; n <= Math.max(MOST_OPTIONS, p?.options.length || 0); n++) {
      const o = p?.options[n - 1];
      rows.push(
        { name: `option${n}`, label: t("Answer {n}", { n }), value: o?.title, props: { maxlength: 50 } },
        {
          name: `role${n}`,
          label: t("Role for answer {n}", { n }),
          value: o?.role_ids[0] || "",
          options: [["", t("None")], ...roles],
        },
        {
          name: `channel${n}`,
          label: t("Channel for answer {n}", { n }),
          value: o?.channel_ids[0] || "",
          options: [["", t("None")], ...channels],
        },
      );
    }
    const count = (rows.length - 4) / 3;
    return formDialog(
      p?.title || t("New question"),
      rows,
      t("Save"),
      (v) => {
        const options = [];
        for (let n = 1; n <= count; n++) {
          const o = p?.options[n - 1],
            role = v[`role${n}`],
            channel = v[`channel${n}`];
          if (!v[`option${n}`]) continue;
          if (!role && !channel) throw new Error(t("Choose a role or a channel for answer {n}.", { n }));
          options.push({
            ...(o || { description: "" }),
            title: v[`option${n}`],
            role_ids: role ? [role, ...(o?.role_ids.slice(1) || [])] : [],
            channel_ids: channel ? [channel, ...(o?.channel_ids.slice(1) || [])] : [],
          });
        }
        if (!options.length) throw new Error(t("Enter at least one answer."));
        return save({
          id: p?.id ?? String(Date.now()),
          type: p?.type ?? 0,
          title: v.title,
          single_select: v.single,
          required: v.required,
          in_onboarding: v.first,
          options,
        });
      },
      { wide: true },
    );
  };

  const el = await live(watch, ["onboarding"], async (redraw) => {
    const now = await app.rest.get(path);
    const put = async (change) => {
      await app.rest.put(path, change);
      await redraw();
    };
    const putPrompts = (prompts) => put({ prompts: prompts.map(draftOf) });
    return [
      section(
        null,
        quickForm(
          [
            {
              name: "enabled",
              label: t("Turn on onboarding"),
              type: "checkbox",
              value: now.enabled,
              hint: t("Onboarding needs at least 7 default channels. Everyone must be able to write in 5 of them."),
            },
            choiceRow("channels", t("Default channels"), channels, now.default_channel_ids),
          ],
          t("Save"),
          (v) => put({ enabled: v.enabled, default_channel_ids: v.channels }),
        ),
      ),
      section(
        t("Questions"),
        now.prompts.map((p) =>
          h(
            "article.event-card",
            { "aria-label": p.title },
            h("h3", null, p.title),
            h(
              "div.chips",
              null,
              p.options.map((o) => h("span.chip", null, o.title)),
            ),
            h(
              "div.row-actions",
              null,
              small(t("Edit"), () =>
                editPrompt(p, (next) => putPrompts(now.prompts.map((x) => (x.id === p.id ? next : x)))),
              ),
              small(
                t("Delete"),
                () =>
                  confirmDelete(t("Delete question"), t("Delete the question {name}?", { name: p.title }), () =>
                    putPrompts(now.prompts.filter((x) => x !== p)),
                  ),
                "danger",
              ),
            ),
          ),
        ),
        h(
          "div",
          null,
          small(t("New question"), () => editPrompt(null, (p) => putPrompts([...now.prompts, p])), "primary"),
        ),
      ),
    ];
  });
  fill(body, el);
}

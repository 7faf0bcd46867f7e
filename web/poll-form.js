// poll-form.js - the dialog for a new poll.
import { dialog, field, fill, h } from "./dom.js";
import { iconButton } from "./icons.js";
import { t } from "./translate.js";

const MOST_ANSWERS = 10;
/** @returns {[number, string][]} hours */
const durations = () => [
  [1, t("1 hour")],
  [4, t("4 hours")],
  [8, t("8 hours")],
  [24, t("24 hours")],
  [72, t("3 days")],
  [168, t("1 week")],
  [336, t("2 weeks")],
];

/** Opens the dialog and sends the poll. If the server refuses the poll, the dialog stays open. */
export function createPoll(app, channel) {
  return dialog(t("Create poll"), (close) => {
    const question = field(t("Question"), h("input", { maxlength: 300, required: true })),
      duration = field(
        t("Duration"),
        h(
          "select",
          null,
          durations().map(([n, words]) => h("option", { value: n, selected: n === 24 }, words)),
        ),
      ),
      many = h("input", { type: "checkbox" }),
      list = h("div.stack", { role: "group", "aria-label": t("Answers") }),
      problem = h("p.field-error", { role: "alert", hidden: true });
    let answers = ["", ""];
    const more = h(
      "button.button.secondary",
      {
        type: "button",
        onclick: () => {
          answers.push("");
          draw();
          /** @type {HTMLElement|null} */ (list.querySelector(".row:last-child input"))?.focus();
        },
      },
      t("Add another answer"),
    );
    const draw = () => {
      more.hidden = answers.length >= MOST_ANSWERS;
      fill(
        list,
        answers.map((text, i) =>
          h(
            "div.row",
            null,
            h("input.grow", {
              value: text,
              maxlength: 55,
              "aria-label": t("Answer {n}", { n: i + 1 }),
              placeholder: t("Answer {n}", { n: i + 1 }),
              oninput: (e) => (answers[i] = e.target.value),
            }),
            answers.length > 1 &&
              iconButton("trash", t("Remove answer {n}", { n: i + 1 }), () => {
                answers = answers.filter((_, at) => at !== i);
                draw();
              }),
          ),
        ),
      );
    };
    draw();
    const send = async (e) => {
      e.preventDefault();
      const filled = answers.map((a) => a.trim()).filter(Boolean);
      question.problem(question.control.value.trim() ? "" : t("Write a question."));
      problem.hidden = filled.length > 0;
      problem.textContent = t("Write at least one answer.");
      if (!question.control.value.trim() || !filled.length) return;
      const poll = {
        question: { text: question.control.value.trim() },
        answers: filled.map((text) => ({ poll_media: { text } })),
        duration: Number(duration.control.value),
        allow_multiselect: many.checked,
      };
      try {
        await app.rest.post(`/channels/${channel.id}/messages`, { poll });
        close(true);
      } catch (x) {
        problem.hidden = false;
        problem.textContent = t("The poll was not sent: {reason}", { reason: x.words || x.message });
      }
    };
    return h(
      "form.stack",
      { onsubmit: send, novalidate: true },
      question,
      h("h3", null, t("Answers")),
      list,
      h("div", null, more),
      duration,
      h("label.choice", null, many, t("Allow several answers")),
      problem,
      h("div.actions", null, h("button.button.primary", { type: "submit" }, t("Post"))),
    );
  });
}

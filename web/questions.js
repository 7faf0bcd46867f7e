// questions.js - dialogs that ask one question: a line of text, a confirmation, the name of a thread.
import { dialog, h } from "./dom.js";
import { t } from "./translate.js";

export async function startThread(app, channel, m) {
  const name = await ask(t("Start a thread"), t("Name"), "");
  if (!name) return;
  const made = await app.tryCall(
    app.rest.post(`/channels/${channel.id}${m ? `/messages/${m.id}` : ""}/threads`, m ? { name } : { name, type: 11 }),
  );
  if (made) app.openChannel(made);
}

/** Asks for one line of text in a dialog; resolves to null if the user cancels the dialog. */
export function ask(title, label, value, action) {
  return dialog(title, (close) => {
    const input = h("input", { "aria-label": label, placeholder: label, required: true });
    input.value = value || "";
    return h(
      "form.stack",
      {
        onsubmit: (e) => {
          e.preventDefault();
          close(input.value.trim());
        },
      },
      input,
      h("div.actions", null, h("button.button.primary", { type: "submit" }, action || t("Save"))),
    );
  });
}

export function confirm(title, words, action) {
  return dialog(title, (close) =>
    h(
      "div.stack",
      null,
      h("p", null, words),
      h(
        "div.actions",
        null,
        h("button.button.secondary", { type: "button", onclick: () => close(false) }, t("Cancel")),
        h("button.button.danger", { type: "button", onclick: () => close(true) }, action),
      ),
    ),
  );
}

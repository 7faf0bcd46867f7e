// message-editor.js - edits a message inside the message list: Enter saves, Escape cancels.
import { h } from "./dom.js";
import { replaceNames } from "./emoji-names.js";
import { MentionNames } from "./mention-names.js";
import { t } from "./translate.js";

/** Draws a message again when the user begins or ends editing it. */
const redraw = (app, { channel, id }) => app.store.changeMessage(channel, id, (m) => ({ ...m }));

/** Shows the editor in a message. Only one message can be edited at a time. */
export function startEditing(app, channel, m) {
  const before = app.editing;
  app.editing = { id: m.id, channel: channel.id, text: null, fresh: true };
  if (before) redraw(app, before);
  redraw(app, app.editing);
}

function stopEditing(app) {
  const { editing } = app;
  app.editing = null;
  if (editing) redraw(app, editing);
}

/** The text field for editing a message. The typed text survives when the message is drawn again. */
export function messageEditor(app, channel, m) {
  const { store, editing } = app,
    guild = store.guildOf(channel),
    names = new MentionNames(store, guild);
  const input = h("textarea.edit-field", { rows: 1, maxlength: 4000, "aria-label": t("Edit message") });
  const grow = () => {
    input.style.height = "auto";
    input.style.height = `${Math.min(input.scrollHeight, 320)}px`;
  };
  const end = () => {
    if (app.editing !== editing) return; // the user is editing another message now
    stopEditing(app);
    app.focusComposer();
  };
  const save = async () => {
    if (input.disabled) return;
    input.disabled = true;
    const text = await replaceNames(names.encode(input.value.trim()), guild?.emojis);
    if (!text && !m.attachments?.length) {
      end();
      return app.deleteMessage(channel, m, false);
    }
    if (text === m.content) return end();
    const done = await app.tryCall(app.rest.patch(`/channels/${channel.id}/messages/${m.id}`, { content: text }));
    input.disabled = false;
    if (done) end();
    else input.focus();
  };
  input.value = editing.text ?? names.decode(m.content);
  input.addEventListener("input", () => {
    editing.text = input.value;
    grow();
  });
  input.addEventListener("keydown", (e) => {
    e.stopPropagation(); // in this field, the keyboard shortcuts of the message list do not apply
    if (e.key === "Escape") end();
    else if (e.key === "Enter" && !e.shiftKey && !e.isComposing) save();
    else return;
    e.preventDefault();
  });
  requestAnimationFrame(() => {
    grow();
    if (editing.fresh) input.focus();
    editing.fresh = false;
  });
  const link = (words, run) => h("button.link", { type: "button", onclick: run }, words);
  return h(
    "div.edit",
    null,
    input,
    h("p.hint", null, t("Escape:"), " ", link(t("Cancel"), end), " · ", t("Enter:"), " ", link(t("Save"), save)),
  );
}

// composer-parts.js - parts of the message field: the menu of the plus button, and the texts above the field.
import { announce, fill, h } from "./dom.js";
import { below, menu } from "./menu.js";
import { iconButton } from "./icons.js";
import { createPoll } from "./poll-form.js";
import { t } from "./translate.js";
import { canRecord, recordVoice } from "./voice-recorder.js";

/**
 * Opens the menu of the plus button.
 * @param {{file: () => void, record: HTMLElement, sent: () => void}} how record: element for the recorder
 */
export function attachMenu(app, channel, at, how) {
  const may = (right) => !channel.guild_id || app.store.may(channel, right);
  menu(
    below(at),
    [
      { label: t("Upload a file"), icon: "plus", run: how.file },
      may("SEND_POLLS") && {
        label: t("Create poll"),
        icon: "poll",
        run: async () => (await createPoll(app, channel)) && how.sent(),
      },
      canRecord() &&
        may("SEND_VOICE_MESSAGES") && {
          label: t("Record voice message"),
          icon: "mic",
          run: () => recordVoice(app, channel, how.record),
        },
    ].filter(Boolean),
    t("Attach"),
  );
}

/** The list of progress and error texts above the message field. */
export function noticeList(app, channel) {
  const el = h("div.notices", { "aria-live": "polite" });
  const draw = () =>
    fill(
      el,
      (app.notices.get(channel.id) || [])
        .filter((n) => n.words)
        .map((n) =>
          h(
            "div.notice",
            { class: n.bad ? "bad" : "" },
            n.words,
            iconButton("close", t("Dismiss"), () => n.end()),
          ),
        ),
    );
  draw();
  return { el, end: app.store.on("notices", draw) };
}

/** Shows a progress text above the message field of a channel. */
export function addNotice(app, channel, words) {
  const list = app.notices.get(channel.id) || [];
  const note = { words, bad: false };
  note.end = () => {
    app.notices.set(
      channel.id,
      (app.notices.get(channel.id) || []).filter((n) => n !== note),
    );
    app.store.touch("notices");
  };
  note.fail = (text) => {
    note.words = text;
    note.bad = true;
    announce(text);
    app.store.touch("notices");
  };
  app.notices.set(channel.id, [...list, note]);
  app.store.touch("notices");
  return note;
}

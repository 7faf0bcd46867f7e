// keyboard.js - the settings page with the keyboard shortcuts.
import { fill, h } from "../../dom.js";
import { t } from "../../translate.js";
import { section } from "../server/shared.js";

export function keyboard(app, body) {
  const keys = [
    [[t("Ctrl"), "K"], t("Jump to a server, channel or person")],
    [[t("Ctrl"), "F"], t("Search messages")],
    [["↑", "↓"], t("Move in a list, or between messages")],
    [["↑"], t("Edit your last message, if the message field is empty")],
    [["E"], t("Edit the focused message")],
    [["R"], t("Reply to the focused message")],
    [["F"], t("Forward the focused message")],
    [[t("Del")], t("Delete the focused message")],
    [["Alt", "↑ ↓"], t("Move the focused channel or role")],
    [["/"], t("List the commands of apps")],
    [[t("Shift"), t("Enter")], t("New line in the message field")],
    [["Esc"], t("Close a dialog, or mark the channel as read")],
  ];
  fill(
    body,
    section(
      null,
      h(
        "dl.keys",
        null,
        keys.map(([names, words]) => [
          h(
            "dt",
            null,
            names.map((x) => h("kbd", null, x)),
          ),
          h("dd", null, words),
        ]),
      ),
    ),
  );
}

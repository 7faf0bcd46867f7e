// report-message.js - reports a message to the operator of the server.
import { dialog, h, toast } from "./dom.js";
import { quickForm } from "./forms.js";
import { t } from "./translate.js";

/** Labels of report reasons by their number. For any other number, the label from the server is shown. */
const LABELS = { 2: t("Spam or fraud"), 3: t("Abuse or harassment"), 4: t("Illegal content"), 5: t("Something else") };

/** Asks for a reason and sends the report. @param {any} app @param {any} channel @param {any} m */
export async function reportMessage(app, channel, m) {
  const reasons = await app.tryCall(app.rest.get("/report"));
  if (!reasons) return;
  await dialog(t("Report message"), (close) =>
    h(
      "div.stack",
      null,
      h("p", null, t("The operator of this server sees the message, your name and what you write here.")),
      quickForm(
        [
          { name: "reason", label: t("Reason"), options: reasons.map((r) => [r.reason, LABELS[r.reason] || r.label]) },
          { name: "comment", label: t("Comment (optional)"), rows: 3, props: { maxlength: 1000 } },
        ],
        t("Report"),
        async (v) => {
          const comment = v.comment.trim() ? { comment: v.comment.trim() } : {};
          await app.rest.post("/report", {
            channel_id: channel.id,
            message_id: m.id,
            reason: Number(v.reason),
            ...comment,
          });
          close();
          toast(t("Reported. The operator of this server will review the message."));
        },
      ),
    ),
  );
}

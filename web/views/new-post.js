// new-post.js - the dialog for a new post in a forum: title, message, tags, files.
import { dialog, field, h } from "../dom.js";
import { emoji } from "../markdown.js";
import { t } from "../translate.js";
import { Uploads, formOf, progressLine } from "../uploads.js";

const REQUIRE_TAG = 1 << 4,
  MODERATED = "MANAGE_THREADS",
  MOST_TAGS = 5;

/** Opens the dialog for a new post in a forum. If the server refuses the post, the dialog stays open. */
export async function newPost(app, channel) {
  const made = await dialog(t("New post"), (close) => {
    const name = field(t("Title"), h("input", { maxlength: 100, required: true })),
      text = field(t("Message"), h("textarea", { rows: 5, maxlength: 2000 })),
      problem = h("p.field-error", { role: "alert", hidden: true }),
      running = h("div"),
      uploads = new Uploads(() => {});
    const usable = (channel.available_tags || []).filter((x) => !x.moderated || app.store.may(channel, MODERATED)),
      boxes = usable.map((x) => h("input", { type: "checkbox", value: x.id })),
      chosen = () => boxes.filter((b) => b.checked).map((b) => b.value);
    const picker = h("input", {
      type: "file",
      multiple: true,
      "aria-label": t("Files"),
      onchange: () => {
        uploads.add([...picker.files]);
        picker.value = "";
      },
    });
    const fail = (words) => {
      problem.hidden = !words;
      problem.textContent = words;
    };
    const send = async (e) => {
      e.preventDefault();
      const tags = chosen();
      name.problem(name.control.value.trim() ? "" : t("Write a title."));
      text.problem(text.control.value.trim() || uploads.list.length ? "" : t("Write a message or add a file."));
      if (!name.control.value.trim() || (!text.control.value.trim() && !uploads.list.length)) return;
      if (channel.flags & REQUIRE_TAG && !tags.length) return fail(t("Choose at least one tag."));
      if (tags.length > MOST_TAGS) return fail(t("Choose at most 5 tags."));
      fail("");
      const body = { name: name.control.value.trim(), ...(tags.length ? { applied_tags: tags } : {}) },
        message = { content: text.control.value },
        path = `/channels/${channel.id}/threads`;
      try {
        close(
          uploads.list.length ? await upload(path, body, message) : await app.rest.post(path, { ...body, message }),
        );
      } catch (x) {
        fail(t("The post was not sent: {reason}", { reason: x.words || x.message }));
      }
    };
    async function upload(path, body, message) {
      const control = new AbortController(),
        progress = progressLine(t("Files"), () => control.abort()),
        form = formOf({}, uploads.list);
      const { attachments } = JSON.parse(String(form.get("payload_json")));
      form.set("payload_json", JSON.stringify({ ...body, message: { ...message, attachments } }));
      running.replaceChildren(progress.el);
      try {
        return await app.rest.upload(path, form, progress.show, control.signal);
      } finally {
        running.replaceChildren();
      }
    }
    return h(
      "form.stack",
      { onsubmit: send, novalidate: true },
      name,
      text,
      usable.length > 0 &&
        h(
          "fieldset.chips",
          null,
          h("legend", null, t("Tags")),
          usable.map((x, i) =>
            h(
              "label.chip",
              null,
              boxes[i],
              x.emoji_id || x.emoji_name ? emoji(x.emoji_name || x.name, x.emoji_id) : null,
              x.name,
            ),
          ),
        ),
      picker,
      uploads.problem,
      uploads.el,
      running,
      problem,
      h("div.actions", null, h("button.button.primary", { type: "submit" }, t("Post"))),
    );
  });
  if (made) app.openChannel(made);
}

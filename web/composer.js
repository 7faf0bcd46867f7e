// composer.js - the message field: text, files, replies, commands, emoji, GIFs, stickers, polls, voice messages.
import { commandForm } from "./command-form.js";
import { findCommandsFor, findNames, suggestionRow, suggestionText, wordBefore } from "./composer-suggestions.js";
import { attachMenu, noticeList } from "./composer-parts.js";
import { fill, h } from "./dom.js";
import { icon, iconButton } from "./icons.js";
import { draftOf, saveDraft } from "./drafts.js";
import { replaceNames } from "./emoji-names.js";
import { pickEmoji } from "./emoji-picker.js";
import { MentionNames } from "./mention-names.js";
import { pickGif } from "./pickers.js";
import { pickSticker } from "./sticker-picker.js";
import { isThread } from "./store.js";
import { suggest } from "./autocomplete.js";
import { t } from "./translate.js";
import { Uploads, formOf, progressLine } from "./uploads.js";

const EDITABLE = new Set([0, 19]); // types of messages that their author may edit: default and reply
const TYPING_MS = 8000,
  DRAFT_MS = 300,
  PATIENCE_MS = 400;

/**
 * Returns the message field of a channel.
 * @param {{sent?: () => void}} [events] sent: called when a message was sent
 */
export function composer(app, channel, events = {}) {
  const { store } = app,
    guild = store.guildOf(channel),
    path = `/channels/${channel.id}/messages`;
  const name = `${channel.guild_id ? "#" : "@"}${store.nameOfChannel(channel)}`;
  const names = new MentionNames(store, guild);
  let reply = null,
    typedAt = 0,
    draftTimer;

  const input = h("textarea", {
    rows: 1,
    "aria-label": `${t("Message")} ${name}`,
    placeholder: `${t("Message")} ${name}`,
    maxlength: 4000,
  });
  const above = h("div.composer-above"),
    notices = noticeList(app, channel),
    commandContext = h("div"),
    recording = h("div"),
    running = h("div");
  const uploads = new Uploads(() => input.focus());
  const picker = h("input", {
    type: "file",
    multiple: true,
    hidden: true,
    onchange: () => {
      uploads.add([...picker.files]);
      picker.value = "";
    },
  });
  const attach = { file: () => picker.click(), record: recording, sent: () => events.sent?.() };
  const line = h(
    "form.composer-line",
    null,
    iconButton("plus", t("Attach"), (e) => attachMenu(app, channel, e.currentTarget, attach), {
      "aria-haspopup": "menu",
    }),
    picker,
    input,
    iconButton("gif", t("GIFs"), (e) => pickGif(app, e.currentTarget, (g) => post({ content: g.url || g.src }))),
    iconButton("sticker", t("Stickers"), (e) =>
      pickSticker(app, guild, e.currentTarget, (s) => post({ sticker_ids: [s.id] })),
    ),
    iconButton("smile", t("Emoji"), (e) => pickEmoji(guild, e.currentTarget, insertEmoji)),
    h("button.icon-button.send", { type: "submit", "aria-label": t("Send"), title: t("Send") }, icon("send")),
  );
  const suggestions = suggest(input, {
    label: t("Suggestions"),
    find: () =>
      isCommand() ? findCommandsFor(app, channel, input.value.slice(1)) : findNames(app, channel, wordBefore(input)),
    row: (s) => suggestionRow(app, guild, s),
    choose: takeSuggestion,
    group: (s) => s.group,
    awaited: isCommand,
  });
  const el = h(
    "div.composer",
    null,
    notices.el,
    running,
    commandContext,
    recording,
    above,
    uploads.problem,
    uploads.el,
    suggestions.list,
    line,
  );

  function isCommand() {
    return /^\/[^\n]*$/.test(input.value);
  }

  function takeSuggestion(s) {
    if (s.leaf) return openCommand(s.leaf);
    const at = input.selectionStart - wordBefore(input).length;
    input.setRangeText(suggestionText(names, s), at, input.selectionStart, "end");
    changed();
  }

  function openCommand(leaf) {
    write("");
    if (!leaf.options.length) return submitBare(leaf);
    const form = commandForm(app, channel, leaf, () => {
      fill(commandContext);
      line.hidden = false;
      input.focus();
    });
    line.hidden = true;
    fill(commandContext, form.el);
    form.focus();
  }

  function submitBare(leaf) {
    const form = commandForm(app, channel, leaf, () => {});
    if (!(form.el instanceof HTMLFormElement)) return;
    el.append(form.el);
    form.el.requestSubmit();
    form.el.remove();
  }

  /* --- text --- */

  function insertEmoji(e) {
    input.setRangeText(e.id ? `${names.emoji(e)} ` : e.name, input.selectionStart, input.selectionEnd, "end");
    input.focus();
    changed();
  }
  function grow() {
    input.style.height = "auto";
    input.style.height = `${Math.min(input.scrollHeight, 240)}px`;
  }
  function write(text) {
    input.value = text;
    changed();
  }
  function changed() {
    grow();
    clearTimeout(draftTimer);
    draftTimer = setTimeout(keepDraft, DRAFT_MS);
  }
  function keepDraft() {
    clearTimeout(draftTimer);
    if (store.me) saveDraft(store.me.id, channel.id, names.encode(input.value));
  }

  function typing() {
    if (Date.now() - typedAt < TYPING_MS || !input.value || input.value.startsWith("/")) return;
    typedAt = Date.now();
    app.rest.post(`/channels/${channel.id}/typing`).catch(() => {});
  }

  function setReply(m) {
    reply = m;
    drawAbove();
  }

  function drawAbove() {
    fill(
      above,
      reply &&
        h(
          "div.composer-note",
          null,
          icon("reply"),
          h(
            "button.plain.clip",
            { type: "button", title: t("Jump to the original message"), onclick: () => app.jumpTo(reply.id) },
            `${t("Reply")}: ${store.nameOf(reply.author.id, guild)}`,
          ),
          iconButton("close", t("Cancel"), () => setReply(null)),
        ),
    );
  }

  /* --- sending --- */

  /** Uploads files with a message. Shows a progress bar and a button that cancels the upload. */
  async function upload(body, files) {
    const control = new AbortController(),
      words = files.length === 1 ? files[0].file.name : t("{n} file|{n} files", { n: files.length });
    const progress = progressLine(words, () => control.abort());
    running.append(progress.el);
    try {
      return await app.rest.upload(path, formOf(body, files), progress.show, control.signal);
    } catch (e) {
      uploads.say(
        control.signal.aborted ? "" : t("The files were not sent: {reason}", { reason: e.words || e.message }),
      );
      return null;
    } finally {
      progress.el.remove();
    }
  }

  /** Sends a message. If the user has chosen a message to answer, sends it as a reply. */
  async function post(body, files = []) {
    const answered = reply;
    if (reply) body = { ...body, message_reference: { message_id: reply.id } };
    setReply(null);
    let note = /** @type {any} */ (null);
    const slow = setTimeout(() => {
      if (!files.length) note = app.notice(channel, t("Sending…"));
    }, PATIENCE_MS);
    const sent = files.length ? await upload(body, files) : await app.tryCall(app.rest.post(path, body));
    clearTimeout(slow);
    note?.end();
    if (sent) {
      Uploads.release(files);
      return events.sent?.();
    }
    // If the server refuses the message, put reply, files and text into the message field again.
    if (answered) setReply(answered);
    if (files.length) uploads.restore(files);
    if (!input.value && body.content) write(names.decode(body.content));
  }

  async function submit() {
    const typed = input.value.trim();
    if (!typed && !uploads.list.length) return;
    const files = uploads.take();
    uploads.say("");
    input.value = "";
    grow();
    saveDraft(store.me.id, channel.id, "");
    return post({ content: await replaceNames(names.encode(typed), guild?.emojis) }, files);
  }

  line.addEventListener("submit", (e) => {
    e.preventDefault();
    submit();
  });
  input.addEventListener("input", () => {
    changed();
    typing();
  });
  input.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      submit();
    } else if (e.key === "Escape" && reply) setReply(null);
    else if (e.key === "ArrowUp" && !input.value) {
      const own = store.log(channel.id).list.findLast((m) => m.author.id === store.me.id && EDITABLE.has(m.type));
      if (!own) return;
      e.preventDefault();
      app.editMessage(channel, own);
    }
  });
  input.addEventListener("paste", (e) => e.clipboardData.files.length && uploads.add([...e.clipboardData.files]));

  function drawPermissions() {
    const now = store.channels.get(channel.id) || channel,
      locked = isThread(now) && now.thread_metadata?.locked && !store.may(now, "MANAGE_THREADS"),
      may = store.may(channel, "SEND_MESSAGES") && !locked;
    input.disabled = !may;
    input.placeholder = may ? `${t("Message")} ${name}` : t("You do not have permission to send messages here.");
    for (const b of line.querySelectorAll("button")) b.disabled = !may;
  }

  drawPermissions();
  input.value = names.decode(draftOf(store.me.id, channel.id));
  requestAnimationFrame(grow);
  const off = [notices.end, store.on("members", drawPermissions), store.on("channels", drawPermissions)];
  return {
    el,
    focus: () => input.focus(),
    reply: (m) => {
      setReply(m);
      input.focus();
    },
    files: (list) => uploads.add(list),
    end: () => {
      keepDraft();
      Uploads.release(uploads.list);
      off.forEach((f) => f());
    },
  };
}

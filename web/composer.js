// composer.js - the message field: text, files, replies, edits, commands, emoji, GIFs.
import { commandForm, commandRow, findCommands } from "./commands.js";
import { fill, h, icon, iconButton } from "./dom.js";
import { pickEmoji, pickGif } from "./pickers.js";
import { avatar } from "./images.js";
import { isThread } from "./store.js";
import { suggest } from "./autocomplete.js";
import { t } from "./translate.js";

const EDITABLE = new Set([0, 19]); // message types that their author may edit: default, reply
const TYPING_MS = 8000,
  MOST_FILES = 10,
  PATIENCE_MS = 400;

export function composer(app, channel) {
  const { store } = app,
    guild = store.guildOf(channel);
  const name = `${channel.guild_id ? "#" : "@"}${store.nameOfChannel(channel)}`;
  let reply = null,
    editing = null,
    files = [],
    typedAt = 0;

  const input = h("textarea", {
    rows: 1,
    "aria-label": `${t("Message")} ${name}`,
    placeholder: `${t("Message")} ${name}`,
    maxlength: 4000,
  });
  const above = h("div.composer-above"),
    notices = h("div.notices", { "aria-live": "polite" }),
    commandContext = h("div");
  const picker = h("input", {
    type: "file",
    multiple: true,
    hidden: true,
    onchange: () => addFiles([...picker.files]),
  });
  const line = h(
    "form.composer-line",
    null,
    iconButton("plus", t("Attach files"), () => picker.click()),
    picker,
    input,
    iconButton("gif", t("GIFs"), (e) => pickGif(app, e.currentTarget, (g) => sendText(g.url || g.src))),
    iconButton("smile", t("Emoji"), (e) => pickEmoji(guild, e.currentTarget, insertEmoji)),
    h("button.icon-button.send", { type: "submit", "aria-label": t("Send"), title: t("Send") }, icon("bolt")),
  );
  const suggestions = suggest(input, {
    label: t("Suggestions"),
    find: findSuggestions,
    row: suggestionRow,
    choose: takeSuggestion,
    group: (s) => s.group,
    awaited: isCommand,
  });
  const el = h("div.composer", null, notices, commandContext, above, suggestions.list, line);

  /* --- suggestions: commands, members, channels --- */

  function wordBefore() {
    return /(?:^|\s)([@#:][\w.-]*)$/.exec(input.value.slice(0, input.selectionStart))?.[1] || "";
  }

  function isCommand() {
    return !editing && /^\/[^\n]*$/.test(input.value);
  }

  async function findSuggestions() {
    if (isCommand()) {
      const found = await findCommands(app, channel, input.value.slice(1)).catch(() => []);
      return found.map((leaf) => ({ leaf, group: leaf.app?.name }));
    }
    const word = wordBefore(),
      text = word.slice(1).toLowerCase();
    if (word.length < 2) return [];
    if (word[0] === "@") {
      const people = guild ? [...guild.members.values()].map((m) => m.user) : channel.recipients || [];
      return people
        .filter((u) => `${store.nameOf(u.id, guild)} ${u.username}`.toLowerCase().includes(text))
        .slice(0, 8)
        .map((user) => ({ user, group: t("Members") }));
    }
    if (word[0] === "#" && guild)
      return store
        .channelsOf(guild)
        .filter((c) => c.name?.toLowerCase().includes(text) && c.type !== 4)
        .slice(0, 8)
        .map((c) => ({ channel: c, group: t("Channels") }));
    if (word[0] === ":" && guild)
      return guild.emojis
        .filter((e) => e.name.toLowerCase().includes(text))
        .slice(0, 8)
        .map((e) => ({ emoji: e, group: t("Emoji") }));
    return [];
  }

  function suggestionRow(s) {
    if (s.leaf) return commandRow(s.leaf);
    if (s.user)
      return [
        avatar(s.user, "", "tiny-avatar"),
        h("span.suggestion-main", null, h("strong", null, store.nameOf(s.user.id, guild))),
        h("span.faint", null, `@${s.user.username}`),
      ];
    return s.channel ? `#${s.channel.name}` : `:${s.emoji.name}:`;
  }

  function takeSuggestion(s) {
    if (s.leaf) return openCommand(s.leaf);
    const at = input.selectionStart - wordBefore().length;
    const words = s.user ? `<@${s.user.id}> ` : s.channel ? `<#${s.channel.id}> ` : emojiText(s.emoji);
    input.setRangeText(words, at, input.selectionStart, "end");
    grow();
  }

  function openCommand(leaf) {
    input.value = "";
    grow();
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

  function emojiText(e) {
    return e.id ? `<${e.animated ? "a" : ""}:${e.name}:${e.id}> ` : e.name;
  }
  function insertEmoji(e) {
    input.setRangeText(emojiText(e), input.selectionStart, input.selectionEnd, "end");
    input.focus();
  }
  function grow() {
    input.style.height = "auto";
    input.style.height = `${Math.min(input.scrollHeight, 240)}px`;
  }

  function typing() {
    if (Date.now() - typedAt < TYPING_MS || !input.value || input.value.startsWith("/")) return;
    typedAt = Date.now();
    app.rest.post(`/channels/${channel.id}/typing`).catch(() => {});
  }

  function addFiles(more) {
    files = [...files, ...more].slice(0, MOST_FILES);
    drawAbove();
    input.focus();
  }

  function drawAbove() {
    fill(
      above,
      reply &&
        h(
          "div.composer-note",
          null,
          icon("reply"),
          `${t("Reply")}: ${store.nameOf(reply.author.id, guild)}`,
          iconButton("close", t("Cancel"), () => {
            reply = null;
            drawAbove();
          }),
        ),
      editing && h("div.composer-note", null, icon("edit"), t("Edit"), iconButton("close", t("Cancel"), stopEditing)),
      files.map((f) =>
        h(
          "div.composer-note",
          null,
          f.name,
          iconButton("close", `${t("Remove")} ${f.name}`, () => {
            files = files.filter((x) => x !== f);
            drawAbove();
          }),
        ),
      ),
    );
  }

  function stopEditing() {
    editing = null;
    input.value = "";
    drawAbove();
    grow();
    input.focus();
  }

  function draft(content) {
    const body = { content };
    if (reply) body.message_reference = { message_id: reply.id };
    if (!files.length) return body;
    const form = new FormData();
    form.append(
      "payload_json",
      JSON.stringify({ ...body, attachments: files.map((f, i) => ({ id: String(i), filename: f.name })) }),
    );
    files.forEach((f, i) => form.append(`files[${i}]`, f));
    return form;
  }

  async function sendText(content) {
    const path = `/channels/${channel.id}/messages`;
    if (editing) {
      const m = editing;
      stopEditing(); // text written after this is a new message
      if (!(await app.tryCall(app.rest.patch(`${path}/${m.id}`, { content }))) && !input.value) edit({ ...m, content });
      return;
    }
    const body = draft(content),
      before = { reply, files };
    let note = /** @type {any} */ (null);
    input.value = "";
    reply = null;
    files = [];
    drawAbove();
    grow();
    const slow = setTimeout(() => {
      note = app.notice(channel, t("Sending…"));
    }, PATIENCE_MS);
    const sent = await app.tryCall(app.rest.post(path, body));
    clearTimeout(slow);
    note?.end();
    if (sent) return;
    // If the server refuses the message, put its text back into the field.
    ({ reply, files } = before);
    if (!input.value) input.value = content;
    drawAbove();
    grow();
  }

  function submit() {
    const content = input.value.trim();
    if (content || files.length) sendText(content);
  }

  line.addEventListener("submit", (e) => {
    e.preventDefault();
    submit();
  });
  input.addEventListener("input", () => {
    grow();
    typing();
  });
  input.addEventListener("keydown", (e) => {
    if (e.key === "Enter" && !e.shiftKey && !e.isComposing) {
      e.preventDefault();
      submit();
    } else if (e.key === "Escape" && editing) stopEditing();
    else if (e.key === "Escape" && reply) {
      reply = null;
      drawAbove();
    } else if (e.key === "ArrowUp" && !input.value) {
      const own = store
        .log(channel.id)
        .list.filter((m) => m.author.id === store.me.id && EDITABLE.has(m.type))
        .at(-1);
      if (own) {
        e.preventDefault();
        edit(own);
      }
    }
  });
  input.addEventListener("paste", (e) => e.clipboardData.files.length && addFiles([...e.clipboardData.files]));

  function edit(m) {
    editing = m;
    reply = null;
    input.value = m.content;
    drawAbove();
    grow();
    input.focus();
  }

  function drawNotices() {
    fill(
      notices,
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
  }

  function drawPermissions() {
    const may = store.may(channel, "SEND_MESSAGES") && !(isThread(channel) && channel.thread_metadata?.locked);
    input.disabled = !may;
    input.placeholder = may ? `${t("Message")} ${name}` : t("You do not have permission to send messages here.");
    for (const b of line.querySelectorAll("button")) b.disabled = !may;
  }

  drawNotices();
  drawPermissions();
  const off = [
    store.on("notices", drawNotices),
    store.on("members", drawPermissions),
    store.on("channels", drawPermissions),
  ];
  return {
    el,
    focus: () => input.focus(),
    reply: (m) => {
      reply = m;
      editing = null;
      drawAbove();
      input.focus();
    },
    edit,
    files: addFiles,
    text: () => (editing ? "" : input.value),
    write: (text) => {
      input.value = text;
      grow();
    },
    end: () => off.forEach((f) => f()),
  };
}

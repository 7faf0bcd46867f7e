// uploads.js - the files of an unsent message: previews, names, spoilers, and the progress of the upload.
import { fill, h } from "./dom.js";
import { icon, iconButton } from "./icons.js";
import { fileSize } from "./images.js";
import { t } from "./translate.js";

const MOST_FILES = 10;

/**
 * A file that the user has chosen to send.
 * @typedef {{file: File, url: string, spoiler: boolean, description: string}} Chosen
 */

/**
 * Lets the user drop files on an element. While the user drags files over the element, it shows a hint.
 * @param {HTMLElement} el
 */
export function acceptFiles(el, take) {
  let timer;
  el.dataset.dropWords = t("Drop files here to attach them");
  el.addEventListener("dragover", (e) => {
    if (!e.dataTransfer.types.includes("Files")) return;
    e.preventDefault();
    el.classList.add("dropping");
    clearTimeout(timer); // while files are above the element, dragover is sent at least every 350 ms
    timer = setTimeout(() => el.classList.remove("dropping"), 500);
  });
  el.addEventListener("drop", (e) => {
    el.classList.remove("dropping");
    if (!e.dataTransfer.files.length) return;
    e.preventDefault();
    take([...e.dataTransfer.files]);
  });
}

export class Uploads {
  /** `changed` is called after each change of the list. @param {() => void} changed */
  constructor(changed) {
    this.changed = changed;
    /** @type {Chosen[]} */
    this.list = [];
    this.el = h("div.upload-previews", { role: "group", "aria-label": t("Files"), hidden: true });
    this.problem = h("p.field-error", { role: "alert", hidden: true });
  }

  /** @param {File[]} files */
  add(files) {
    const room = MOST_FILES - this.list.length,
      fresh = files
        .slice(0, room)
        .map((file) => ({
          file,
          url: file.type.startsWith("image/") ? URL.createObjectURL(file) : "",
          spoiler: false,
          description: "",
        }));
    this.say(files.length > room ? t("A message can have at most 10 files. The other files were not added.") : "");
    this.list.push(...fresh);
    this.draw();
  }

  say(words) {
    this.problem.hidden = !words;
    this.problem.textContent = words;
  }

  /** Returns the files of the unsent message and removes them from the list. @returns {Chosen[]} */
  take() {
    const list = this.list;
    this.list = [];
    this.draw();
    return list;
  }

  /** Adds files to the list again after they could not be sent. @param {Chosen[]} list */
  restore(list) {
    this.list = [...list, ...this.list];
    this.draw();
  }

  /** @param {Chosen[]} list */
  static release(list) {
    list.forEach((c) => c.url && URL.revokeObjectURL(c.url));
  }

  draw() {
    this.el.hidden = !this.list.length;
    fill(
      this.el,
      this.list.map((c) => this.card(c)),
    );
    this.changed();
  }

  card(c) {
    const name = c.file.name;
    return h(
      "figure.upload-card",
      null,
      c.url
        ? h("img", { src: c.url, alt: "", class: c.spoiler ? "spoiled" : "" })
        : h("span.file-mark", null, icon("link")),
      h("figcaption.clip", { title: name }, name, h("small.faint", null, ` ${fileSize(c.file.size)}`)),
      h("input", {
        value: c.description,
        maxlength: 1024,
        "aria-label": t("Description of {name}", { name }),
        placeholder: t("Description"),
        oninput: (e) => (c.description = e.target.value),
      }),
      h(
        "div.upload-tools",
        null,
        h(
          "label.choice",
          null,
          h("input", {
            type: "checkbox",
            checked: c.spoiler,
            onchange: (e) => {
              c.spoiler = e.target.checked;
              this.draw();
            },
          }),
          t("Spoiler"),
        ),
        iconButton("close", `${t("Remove")} ${name}`, () => {
          Uploads.release([c]);
          this.list = this.list.filter((x) => x !== c);
          this.draw();
        }),
      ),
    );
  }
}

const sentName = (c) => (c.spoiler && !c.file.name.startsWith("SPOILER_") ? `SPOILER_${c.file.name}` : c.file.name);

/** Returns the multipart body of a message with files. @param {any} body @param {Chosen[]} list @returns {FormData} */
export function formOf(body, list) {
  const form = new FormData();
  const attachments = list.map((c, i) => ({
    id: String(i),
    filename: sentName(c),
    ...(c.description ? { description: c.description } : {}),
  }));
  form.append("payload_json", JSON.stringify({ ...body, attachments }));
  list.forEach((c, i) => form.append(`files[${i}]`, c.file, sentName(c)));
  return form;
}

/** Shows the progress of an upload, and a button that cancels it. @param {() => void} cancel */
export function progressLine(words, cancel) {
  const bar = h("progress", { max: 1, "aria-label": words }),
    percent = h("span.faint");
  const el = h(
    "div.upload-progress",
    { role: "group", "aria-label": words },
    h("span.clip", null, words),
    bar,
    percent,
    iconButton("close", t("Cancel the upload"), cancel),
  );
  const show = (share) => {
    bar.value = share;
    percent.textContent = `${Math.round(100 * share)} %`;
  };
  return { el, show };
}

// picture-field.js - a form field for a picture: choose, crop, remove.
import { fill, h } from "./dom.js";
import { t } from "./translate.js";

let number = 0;

/**
 * Returns an element of `rows` for quickForm. The value of the field is a data: URL, null if the user removed the
 * picture, or undefined if the picture is unchanged.
 * @param {string} name @param {string} label
 * @param {{width: number, height: number, round?: boolean, current: string|null, hint?: string}} shape current: path
 */
export function pictureRow(name, label, shape) {
  const id = `picture-${++number}`;
  let value = /** @type {string|null|undefined} */ (undefined);
  const preview = h("div.picture-preview", { class: shape.round ? "round" : "" }),
    problem = h("p.field-error", { role: "alert", hidden: true });
  const remove = h("button.button.secondary", { type: "button", onclick: () => set(null) }, t("Remove"));
  const set = (next) => {
    value = next;
    draw();
  };
  const draw = () => {
    const shown = value === undefined ? shape.current : value;
    fill(preview, shown && h("img", { src: shown, alt: "" }));
    preview.hidden = remove.hidden = !shown;
  };
  const input = h("input.hidden-text", {
    type: "file",
    id,
    accept: "image/png,image/jpeg,image/gif,image/webp",
    "aria-label": label,
    onchange: async () => {
      const [file] = input.files;
      input.value = "";
      problem.hidden = true;
      if (!file) return;
      try {
        const { cropPicture } = await import("./crop.js"),
          cut = await cropPicture(file, shape);
        if (cut) set(cut);
      } catch {
        problem.hidden = false;
        problem.textContent = t("This file is not a picture. Choose a PNG, JPEG, GIF or WebP file.");
      }
    },
  });
  draw();
  const el = h(
    "div.picture-field",
    null,
    h("span.picture-label", null, label),
    preview,
    h("div.row", null, input, h("label.button.secondary", { for: id }, t("Choose a picture")), remove),
    shape.hint && h("p.hint", null, shape.hint),
    problem,
  );
  return { name, label, custom: { el, value: () => value } };
}

/** Returns those pictures of a form that the user has changed, as fields of a request. */
export const changedPictures = (values, ...names) =>
  Object.fromEntries(names.filter((n) => values[n] !== undefined).map((n) => [n, values[n]]));

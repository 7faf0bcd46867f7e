// picture-viewer.js - shows a picture in full size. The arrow keys show the other pictures in the message list.
import { dialog, fill, h } from "./dom.js";
import { iconButton } from "./icons.js";
import { t } from "./translate.js";

/**
 * Shows the picture to which a link leads. The arrow keys change to the other pictures in the message list.
 * @param {HTMLAnchorElement} link
 */
export function showPicture(link) {
  const box = link.closest(".messages, .attachments") || link.parentElement,
    all = /** @type {HTMLAnchorElement[]} */ ([...box.querySelectorAll("a.attachment-picture")]);
  let at = Math.max(0, all.indexOf(link)),
    large = false;
  const stage = h("div.viewer-stage"),
    caption = h("p.faint.clip", { role: "status" }),
    original = h("a.button.secondary", { target: "_blank", rel: "noopener" }, t("Open original"));
  const step = (by) => {
    if (at + by < 0 || at + by >= all.length) return;
    at += by;
    large = false;
    draw();
  };
  const previous = iconButton("reply", t("Previous picture"), () => step(-1)),
    next = iconButton("forward", t("Next picture"), () => step(1)),
    zoom = iconButton("search", t("Zoom"), () => {
      large = !large;
      draw();
    });
  function draw() {
    const from = all[at].querySelector("img"),
      path = all[at].getAttribute("href");
    const img = h("img", {
      src: path,
      alt: from?.alt || "",
      onclick: () => zoom.click(),
      onerror: () =>
        fill(stage, h("p.field-error", { role: "alert" }, t("The picture could not be loaded. It may be deleted."))),
    });
    stage.classList.toggle("large", large);
    fill(stage, img);
    caption.textContent = all.length > 1 ? `${from?.alt || ""} (${at + 1}/${all.length})` : from?.alt || "";
    original.setAttribute("href", path);
    zoom.setAttribute("aria-pressed", String(large));
    previous.disabled = at === 0;
    next.disabled = at === all.length - 1;
  }
  dialog(
    t("Picture"),
    () => {
      const body = h(
        "div.viewer",
        null,
        stage,
        h("div.viewer-line", null, caption, h("span.grow"), previous, next, zoom, original),
      );
      draw();
      return body;
    },
    {
      class: "viewer-dialog",
      onkeydown: (e) => {
        if (e.key === "ArrowLeft") step(-1);
        else if (e.key === "ArrowRight") step(1);
        else if (e.key === "Home") step(-at);
        else if (e.key === "End") step(all.length - 1 - at);
        else if (e.key === "+" || e.key === "-") {
          large = e.key === "+";
          draw();
        } else return;
        e.preventDefault();
      },
    },
  );
}

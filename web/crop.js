// crop.js - the dialog that cuts a picture to a shape: drag or arrow keys move it, a slider or the wheel zooms.
import { dialog, h } from "./dom.js";
import { dataUrl } from "./forms.js";
import { t } from "./translate.js";

const MOST_ZOOM = 5,
  STEP = 10; // pixels of the preview by which an arrow key moves the picture

/**
 * Returns the part of a picture that is visible in a frame. The picture covers the whole frame, and is moved by
 * `offset` (pixels of the frame).
 * @param {{width: number, height: number}} picture @param {{width: number, height: number}} frame
 * @param {number} zoom 1: the picture just covers the frame @param {{x: number, y: number}} offset is limited
 */
export function cropOf(picture, frame, zoom, offset) {
  const scale = Math.max(frame.width / picture.width, frame.height / picture.height) * zoom,
    limit = (size, room) => Math.max(0, (size * scale - room) / 2),
    clamp = (v, most) => Math.max(-most, Math.min(most, v));
  offset.x = clamp(offset.x, limit(picture.width, frame.width));
  offset.y = clamp(offset.y, limit(picture.height, frame.height));
  const width = frame.width / scale,
    height = frame.height / scale;
  return {
    x: picture.width / 2 - width / 2 - offset.x / scale,
    y: picture.height / 2 - height / 2 - offset.y / scale,
    width,
    height,
  };
}

/**
 * Lets the user crop a picture. An animated GIF is not cropped, because a canvas shows only its first frame.
 * @param {File} file @param {{width: number, height: number, round?: boolean}} shape size of the result in pixels
 * @returns {Promise<string|undefined>} a data: URL; undefined if the user cancels
 */
export async function cropPicture(file, shape) {
  if (file.type === "image/gif") return dataUrl(file);
  const picture = await createImageBitmap(file);
  const frame = { width: 320, height: Math.round((320 * shape.height) / shape.width) },
    offset = { x: 0, y: 0 };
  const view = h("canvas.crop-view", {
    ...frame,
    class: shape.round ? "round" : "",
    tabindex: 0,
    role: "img",
    "aria-label": t("Picture. Move it with the arrow keys."),
  });
  const zoom = h("input", { type: "range", min: 1, max: MOST_ZOOM, step: 0.01, "aria-label": t("Zoom") });
  zoom.value = "1";
  const draw = (canvas = view) => {
    const part = cropOf(picture, frame, Number(zoom.value), offset),
      paint = canvas.getContext("2d");
    paint.imageSmoothingQuality = "high";
    paint.clearRect(0, 0, canvas.width, canvas.height);
    paint.drawImage(picture, part.x, part.y, part.width, part.height, 0, 0, canvas.width, canvas.height);
    return canvas;
  };
  const move = (x, y) => {
    offset.x += x;
    offset.y += y;
    draw();
  };
  view.addEventListener("pointerdown", (e) => view.setPointerCapture(e.pointerId));
  view.addEventListener("pointermove", (e) => e.buttons && move(e.movementX, e.movementY));
  view.addEventListener("keydown", (e) => {
    const by = { ArrowLeft: [-STEP, 0], ArrowRight: [STEP, 0], ArrowUp: [0, -STEP], ArrowDown: [0, STEP] }[e.key];
    if (!by) return;
    e.preventDefault();
    move(by[0], by[1]);
  });
  view.addEventListener("wheel", (e) => {
    e.preventDefault();
    zoom.value = String(Number(zoom.value) - e.deltaY / 400);
    draw();
  });
  zoom.addEventListener("input", () => draw());
  draw();
  const result = () => draw(h("canvas", { width: shape.width, height: shape.height })).toDataURL("image/png");
  return dialog(t("Edit picture"), (close) =>
    h(
      "div.stack.crop",
      null,
      view,
      h("label.crop-zoom", null, t("Zoom"), zoom),
      h(
        "div.actions",
        null,
        h("button.button.secondary", { type: "button", onclick: () => close() }, t("Cancel")),
        h("button.button.primary", { type: "button", autofocus: true, onclick: () => close(result()) }, t("Apply")),
      ),
    ),
  );
}

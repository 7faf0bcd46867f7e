// icons.js - the icons of the pages, drawn as SVG paths, and buttons with an icon.
import { h } from "./dom.js";

const PATHS = {
  hash: "M5 9h14M4 15h14M10 4 8 20M16 4l-2 16",
  voice: "M4 9v6h4l5 4V5L8 9zM16 9a4 4 0 0 1 0 6M18 6a8 8 0 0 1 0 12",
  stage: "M12 3v12M8 7l4-4 4 4M5 14a7 7 0 0 0 14 0M8 21h8",
  forum: "M4 5h16v11H9l-5 4zM8 9h8M8 12h5",
  thread: "M6 4v10a4 4 0 0 0 4 4h8M14 14l4 4-4 4",
  announcement: "M4 10v4l11 5V5zM15 9a4 4 0 0 1 0 6M7 15v5h3v-4",
  people: "M9 11a3.5 3.5 0 1 0 0-7 3.5 3.5 0 0 0 0 7M3 20a6 6 0 0 1 12 0M16 4a3.5 3.5 0 0 1 0 7M18 14a6 6 0 0 1 3 6",
  gear: "M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6M12 2v3M12 19v3M2 12h3M19 12h3M5 5l2 2M17 17l2 2M5 19l2-2M17 7l2-2",
  plus: "M12 5v14M5 12h14",
  smile: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18M8.5 14.5a4 4 0 0 0 7 0M9 10h.01M15 10h.01",
  pin: "M9 4h6l-1 6 3 3H7l3-3zM12 13v7",
  reply: "M10 8 5 12l5 4M5 12h9a5 5 0 0 1 5 5v1",
  edit: "M4 20h4L19 9l-4-4L4 16z",
  trash: "M5 7h14M10 7V4h4v3M7 7l1 13h8l1-13",
  close: "M6 6l12 12M18 6 6 18",
  more: "M6 12h.01M12 12h.01M18 12h.01",
  menu: "M4 7h16M4 12h16M4 17h16",
  mic: "M12 14a3 3 0 0 0 3-3V6a3 3 0 0 0-6 0v5a3 3 0 0 0 3 3M6 11a6 6 0 0 0 12 0M12 17v4",
  muted: "M9 9v2a3 3 0 0 0 5 2M15 10V6a3 3 0 0 0-6-1M6 11a6 6 0 0 0 9 5M18 11a6 6 0 0 1-.5 2.5M12 17v4M4 4l16 16",
  deaf: "M4 15v-3a8 8 0 0 1 13-6M20 12v3M4 15h3v5H4zM17 15h3v5h-3zM4 4l16 16",
  headphones: "M4 15v-3a8 8 0 0 1 16 0v3M4 15h3v5H4zM17 15h3v5h-3z",
  camera: "M4 7h11v10H4zM15 11l5-3v8l-5-3",
  "camera-off": "M9 7h6v6M15 11l5-3v8l-5-3M13 17H4V7h1M4 4l16 16",
  screen: "M3 5h18v11H3zM9 20h6M12 13V8M9.5 10.5 12 8l2.5 2.5",
  music: "M9 18V6l10-2v12M9 18a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0M19 16a2.5 2.5 0 1 1-5 0 2.5 2.5 0 0 1 5 0",
  phone: "M6 4h3l2 5-2.5 1.5a11 11 0 0 0 5 5L15 13l5 2v3a2 2 0 0 1-2 2A14 14 0 0 1 4 6a2 2 0 0 1 2-2",
  hangup: "M3 14c0-3 4-5 9-5s9 2 9 5l-1 2-4-1v-3a12 12 0 0 0-8 0v3l-4 1z",
  signal: "M5 20v-4M12 20v-9M19 20V4",
  leave: "M14 4h5v16h-5M4 12h10M10 8l4 4-4 4",
  wrench: "M14 6a4 4 0 0 1 5 5l-9 9-5-5 9-9M14 6l4-2 2 2-2 4",
  gif: "M4 6h16v12H4zM10 10H7v4h3v-2M13 10v4M17 14v-4h2M17 12h2",
  bolt: "M13 3 5 14h6l-1 7 8-11h-6z",
  search: "M10.5 17a6.5 6.5 0 1 0 0-13 6.5 6.5 0 0 0 0 13M15.5 15.5 21 21",
  bell: "M6 16V11a6 6 0 0 1 12 0v5l2 2H4zM10 21h4",
  "bell-off": "M6 16V11a6 6 0 0 1 9-5M18 11v5l2 2H8M10 21h4M4 4l16 16",
  forward: "M14 8l5 4-5 4M19 12h-9a5 5 0 0 0-5 5v1",
  link: "M10 14a4 4 0 0 0 6 0l3-3a4 4 0 0 0-6-6l-1 1M14 10a4 4 0 0 0-6 0l-3 3a4 4 0 0 0 6 6l1-1",
  check: "M5 13l4 4L19 7",
  play: "M8 5l11 7-11 7z",
  pause: "M8 5v14M16 5v14",
  stop: "M7 7h10v10H7z",
  lock: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6 0v3",
  unlock: "M6 11h12v9H6zM9 11V8a3 3 0 0 1 6-1",
  archive: "M4 5h16v4H4zM6 9v10h12V9M10 13h4",
  unarchive: "M4 5h16v4H4zM6 9v10h12V9M12 18v-6M9.5 14l2.5-2 2.5 2",
  poll: "M5 20V10M12 20V4M19 20v-7",
  sticker: "M5 4h14v9l-6 7H5zM13 20v-7h6",
  send: "M4 12 20 4l-5 16-4-6z",
  up: "M12 19V5M6 11l6-6 6 6",
  down: "M12 5v14M6 13l6 6 6-6",
  eye: "M2 12s4-7 10-7 10 7 10 7-4 7-10 7S2 12 2 12M12 15a3 3 0 1 0 0-6 3 3 0 0 0 0 6",
  user: "M12 11a4 4 0 1 0 0-8 4 4 0 0 0 0 8M5 21a7 7 0 0 1 14 0",
  hand:
    "M8 12V6a1.5 1.5 0 0 1 3 0v5V4a1.5 1.5 0 0 1 3 0v7V6a1.5 1.5 0 0 1 3 0v8a6 6 0 0 1-11 3" +
    "l-3-5a1.5 1.5 0 0 1 3-1z",
};

/** @param {keyof typeof PATHS | string} name */
export function icon(name) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const path = document.createElementNS("http://www.w3.org/2000/svg", "path");
  svg.setAttribute("viewBox", "0 0 24 24");
  svg.setAttribute("class", "icon");
  svg.setAttribute("aria-hidden", "true");
  path.setAttribute("d", PATHS[name] || PATHS.more);
  svg.appendChild(path);
  return svg;
}

/** A button with an icon and an accessible label. */
export function iconButton(name, label, onclick, props) {
  return h("button.icon-button", { type: "button", "aria-label": label, title: label, onclick, ...props }, icon(name));
}

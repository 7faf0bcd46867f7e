// pattern.js - draws the avatar of a user without a picture: a symmetric pattern that follows from the user's id.

const SVG = "http://www.w3.org/2000/svg";
const HUES = [174, 200, 222, 262, 290, 330, 356, 18, 36, 96, 140];
/** Shapes of one cell of 8 × 8 units, relative to its corner. */
const SHAPES = [
  "h8v8h-8z", // square
  "h8a8 8 0 0 1-8 8z", // quarter circle at the left top
  "m8 0v8h-8a8 8 0 0 1 8-8z", // quarter circle at the right bottom
  "h8l-8 8z", // triangle
  "m0 4a4 4 0 0 1 8 0a4 4 0 0 1-8 0z", // circle
  "", // nothing
];
/** The same shapes mirrored. */
const MIRRORED = ["h8v8h-8z", "h8v8a8 8 0 0 1-8-8z", "m0 0v8h8a8 8 0 0 0-8-8z", "h8v8z", SHAPES[4], ""];

/** 32 bits that depend on every digit of the id (FNV-1a with a final mix). @param {string} text */
function hash(text) {
  let x = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) x = Math.imul(x ^ text.charCodeAt(i), 0x01000193);
  x = Math.imul(x ^ (x >>> 16), 0x85ebca6b);
  x = Math.imul(x ^ (x >>> 13), 0xc2b2ae35);
  return (x ^ (x >>> 16)) >>> 0;
}

/**
 * What is drawn for an id: background, foreground and the outline of a pattern of 3 × 3 cells.
 * @param {string|number|undefined} id
 */
export function patternOf(id) {
  const bits = hash(`user ${id ?? ""}`),
    hue = HUES[bits % HUES.length],
    cells = hash(`cells ${id ?? ""}`);
  let outline = "";
  for (let i = 0; i < 6; i++) {
    // Three cells at the left and three in the middle; the middle one is never empty.
    const row = i % 3,
      middle = i > 2,
      shape = Math.floor(cells / 6 ** i) % (i === 4 ? 5 : 6);
    if (!SHAPES[shape]) continue;
    outline += `M${middle ? 8 : 0} ${row * 8}${SHAPES[shape]}`;
    if (!middle) outline += `M16 ${row * 8}${MIRRORED[shape]}`;
  }
  return { background: `hsl(${hue} 45% 24%)`, foreground: `hsl(${(hue + 20) % 360} 70% 80%)`, outline };
}

/** @param {string|number|undefined} id @param {string} kind the CSS class of the avatar */
export function pattern(id, kind) {
  const { background, foreground, outline } = patternOf(id),
    svg = document.createElementNS(SVG, "svg"),
    ground = document.createElementNS(SVG, "rect"),
    path = document.createElementNS(SVG, "path");
  svg.setAttribute("viewBox", "-4 -4 32 32");
  svg.setAttribute("class", `${kind} pattern`);
  svg.setAttribute("aria-hidden", "true");
  for (const [name, value] of Object.entries({ x: -4, y: -4, width: 32, height: 32, fill: background }))
    ground.setAttribute(name, String(value));
  path.setAttribute("d", outline);
  path.setAttribute("fill", foreground);
  svg.append(ground, path);
  return svg;
}

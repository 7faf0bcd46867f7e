// qr.js - encodes a text of up to 213 bytes as a QR code (ISO/IEC 18004): byte mode, level M, versions 1 to 10.

/**
 * For each version at level M: number of error correction codewords per block, number of blocks in the first group,
 * number of their data codewords, number of blocks in the second group (each with one more data codeword).
 * @type {[number, number, number, number][]}
 */
const BLOCKS = [
  [10, 1, 16, 0],
  [16, 1, 28, 0],
  [26, 1, 44, 0],
  [18, 2, 32, 0],
  [24, 2, 43, 0],
  [16, 4, 27, 0],
  [18, 4, 31, 0],
  [22, 2, 38, 2],
  [22, 3, 36, 2],
  [26, 4, 43, 1],
];
const ALIGNMENT = [[], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50]];

/* --- arithmetic in GF(256) --- */

const EXP = new Uint8Array(512),
  LOG = new Uint8Array(256);
for (let i = 0, x = 1; i < 255; i++) {
  EXP[i] = EXP[i + 255] = x;
  LOG[x] = i;
  x = x & 128 ? ((x << 1) ^ 0x11d) & 255 : x << 1;
}
const times = (a, b) => (a && b ? EXP[LOG[a] + LOG[b]] : 0);

/** Returns the n error correction codewords of a block. @param {number[]} data @param {number} n */
function correction(data, n) {
  let generator = [1];
  for (let i = 0; i < n; i++) {
    const next = new Array(generator.length + 1).fill(0);
    generator.forEach((g, k) => {
      next[k] ^= g;
      next[k + 1] ^= times(g, EXP[i]);
    });
    generator = next;
  }
  const rest = [...data, ...new Array(n).fill(0)];
  for (let i = 0; i < data.length; i++) {
    const factor = rest[i];
    if (factor)
      generator.forEach((g, k) => {
        rest[i + k] ^= times(g, factor);
      });
  }
  return rest.slice(data.length);
}

/* --- text to codewords --- */

const capacity = ([, a, size, b]) => a * size + b * (size + 1);

/** Returns version and codewords of a text. @returns {{version: number, words: number[]}} */
function codewords(text) {
  const bytes = new TextEncoder().encode(text);
  const version = 1 + BLOCKS.findIndex((b, i) => bytes.length + (i < 9 ? 2 : 3) <= capacity(b));
  if (!version) throw new Error("too long for a QR code");
  const bits = [],
    put = (value, n) => {
      while (n--) bits.push((value >> n) & 1);
    };
  put(4, 4);
  put(bytes.length, version < 10 ? 8 : 16);
  bytes.forEach((b) => put(b, 8));
  const room = capacity(BLOCKS[version - 1]);
  put(0, Math.min(4, room * 8 - bits.length));
  while (bits.length % 8) bits.push(0);
  const data = [];
  for (let i = 0; i < bits.length; i += 8) data.push(parseInt(bits.slice(i, i + 8).join(""), 2));
  for (let pad = 0xec; data.length < room; pad ^= 0xec ^ 0x11) data.push(pad);
  return { version, words: interleave(data, BLOCKS[version - 1]) };
}

function interleave(data, [n, a, size, b]) {
  const blocks = [];
  for (let i = 0, at = 0; i < a + b; i++) {
    const length = size + (i < a ? 0 : 1);
    blocks.push(data.slice(at, at + length));
    at += length;
  }
  const tails = blocks.map((block) => correction(block, n)),
    out = [];
  for (let i = 0; i <= size; i++) for (const block of blocks) if (i < block.length) out.push(block[i]);
  for (let i = 0; i < n; i++) for (const tail of tails) out.push(tail[i]);
  return out;
}

/* --- codewords to modules (the dark and light squares) --- */

const MASKS = [
  (r, c) => (r + c) % 2,
  (r) => r % 2,
  (r, c) => c % 3,
  (r, c) => (r + c) % 3,
  (r, c) => (Math.floor(r / 2) + Math.floor(c / 3)) % 2,
  (r, c) => ((r * c) % 2) + ((r * c) % 3),
  (r, c) => (((r * c) % 2) + ((r * c) % 3)) % 2,
  (r, c) => (((r + c) % 2) + ((r * c) % 3)) % 2,
];

/** Appends the check bits of a BCH code. */
function checked(value, n, generator) {
  let rest = value << n;
  for (let bit = 31 - Math.clz32(rest); bit >= n; bit = 31 - Math.clz32(rest)) rest ^= generator << (bit - n);
  return (value << n) | rest;
}

class Picture {
  constructor(version) {
    this.size = 17 + 4 * version;
    this.dark = Array.from({ length: this.size }, () => new Array(this.size).fill(false));
    this.fixed = Array.from({ length: this.size }, () => new Array(this.size).fill(false));
    for (const [r, c] of [
      [0, 0],
      [0, this.size - 7],
      [this.size - 7, 0],
    ])
      this.square(r, c, 7, -1);
    const centers = ALIGNMENT[version - 1],
      last = centers.at(-1);
    for (const r of centers)
      for (const c of centers)
        if (!((r === 6 && c === 6) || (r === 6 && c === last) || (r === last && c === 6)))
          this.square(r - 2, c - 2, 5, 0);
    for (let i = 8; i < this.size - 8; i++)
      for (const [r, c] of [
        [6, i],
        [i, 6],
      ])
        this.set(r, c, i % 2 === 0);
    this.format(0);
    if (version >= 7) this.version(version);
  }
  set(r, c, dark) {
    if (r < 0 || c < 0 || r >= this.size || c >= this.size) return;
    this.dark[r][c] = !!dark;
    this.fixed[r][c] = true;
  }
  /** Draws a finder or alignment pattern; an edge of -1 adds the light separator. */
  square(row, column, n, edge) {
    for (let r = edge; r < n - edge; r++) {
      for (let c = edge; c < n - edge; c++) {
        const ring = Math.max(Math.abs(r - (n - 1) / 2), Math.abs(c - (n - 1) / 2));
        this.set(row + r, column + c, n === 7 ? ring !== 2 && ring < 4 : ring !== 1);
      }
    }
  }
  /** Writes both copies of the format information (level M and the mask). */
  format(mask) {
    const bits = checked(mask, 10, 0x537) ^ 0x5412,
      n = this.size;
    for (let i = 0; i < 15; i++) {
      const dark = (bits >> i) & 1;
      if (i < 8) this.set(8, n - 1 - i, dark);
      else this.set(n - 15 + i, 8, dark);
      if (i < 6) this.set(i, 8, dark);
      else if (i < 8) this.set(i + 1, 8, dark);
      else this.set(8, i === 8 ? 7 : 14 - i, dark);
    }
    this.set(n - 8, 8, true);
  }
  version(version) {
    const bits = checked(version, 12, 0x1f25);
    for (let i = 0; i < 18; i++) {
      const a = this.size - 11 + (i % 3),
        b = Math.floor(i / 3);
      this.set(a, b, (bits >> i) & 1);
      this.set(b, a, (bits >> i) & 1);
    }
  }
  /** Writes the data bits: two columns at a time, alternately upwards and downwards, from right to left. */
  fill(words) {
    let i = 0;
    for (let right = this.size - 1; right > 0; right -= 2) {
      if (right === 6) right = 5;
      const upwards = ((right + 1) & 2) === 0;
      for (let step = 0; step < this.size; step++) {
        const r = upwards ? this.size - 1 - step : step;
        for (const c of [right, right - 1]) {
          if (this.fixed[r][c]) continue;
          this.dark[r][c] = ((words[i >> 3] >> (7 - (i & 7))) & 1) === 1;
          i++;
        }
      }
    }
  }
  mask(mask) {
    for (let r = 0; r < this.size; r++)
      for (let c = 0; c < this.size; c++)
        if (!this.fixed[r][c] && MASKS[mask](r, c) === 0) this.dark[r][c] = !this.dark[r][c];
  }
  /**
   * Returns the penalty of a mask, for long runs, blocks, patterns that look like finders, and unequal numbers of dark
   * and light modules.
   */
  penalty() {
    const n = this.size,
      turned = this.dark.map((_, c) => this.dark.map((row) => row[c]));
    let points = 0,
      dark = 0;
    for (const row of [...this.dark, ...turned]) {
      const text = row.map((d) => (d ? "1" : "0")).join("");
      for (const run of text.match(/0{5,}|1{5,}/g) || []) points += run.length - 2;
      for (let i = 0; i + 11 <= n; i++)
        if (text.startsWith("10111010000", i) || text.startsWith("00001011101", i)) points += 40;
    }
    for (let r = 0; r < n; r++) {
      for (let c = 0; c < n; c++) {
        dark += Number(this.dark[r][c]);
        if (
          r &&
          c &&
          new Set([this.dark[r][c], this.dark[r - 1][c], this.dark[r][c - 1], this.dark[r - 1][c - 1]]).size === 1
        )
          points += 3;
      }
    }
    return points + 10 * Math.floor(Math.abs((dark * 100) / (n * n) - 50) / 5);
  }
}

/**
 * Returns the rows of dark (true) and light modules. The quiet zone around them is not included.
 * @param {string} text
 * @returns {boolean[][]}
 */
export function qrModules(text) {
  const { version, words } = codewords(text),
    picture = new Picture(version);
  picture.fill(words);
  const costs = MASKS.map((_, i) => {
    picture.mask(i);
    picture.format(i);
    const cost = picture.penalty();
    picture.mask(i);
    return cost;
  });
  const best = costs.indexOf(Math.min(...costs));
  picture.mask(best);
  picture.format(best);
  return picture.dark;
}

const QUIET = 4,
  LONGEST = 213;

/**
 * Returns the QR code as an SVG, dark on light. Returns null if the text is too long.
 * @param {string} text
 * @param {string} label
 */
export function qrPicture(text, label) {
  if (new TextEncoder().encode(text).length > LONGEST) return null;
  const rows = qrModules(text),
    size = rows.length + 2 * QUIET;
  const make = (tag, props) => {
    const el = document.createElementNS("http://www.w3.org/2000/svg", tag);
    for (const [name, value] of Object.entries(props)) el.setAttribute(name, value);
    return el;
  };
  const svg = make("svg", {
    class: "qr",
    viewBox: `0 0 ${size} ${size}`,
    role: "img",
    "aria-label": label,
    "shape-rendering": "crispEdges",
  });
  svg.append(
    make("rect", { width: size, height: size, fill: "#fff" }),
    make("path", {
      fill: "#000",
      d: rows.flatMap((row, r) => row.map((dark, c) => (dark ? `M${c + QUIET} ${r + QUIET}h1v1h-1z` : ""))).join(""),
    }),
  );
  return svg;
}

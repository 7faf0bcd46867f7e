// qr_reader.js - an independent QR code reader, which detects faults of the pages' QR code writer.
import assert from "node:assert/strict";

/** Format information for level M and each mask: ISO/IEC 18004, table C.1. */
const FORMATS = ["101010000010010", "101000100100101", "101111001111100", "101101101001011", "100010111111001", "100000011001110", "100111110010111", "100101010100000"];
/** Version information of versions 7 to 10: table D.1. */
const VERSIONS = ["000111110010010100", "001000010110111100", "001001101010011001", "001010010011010011"];
/** Data codewords of each block at level M, and correction codewords of one: table 9. @type {[number[], number][]} */
const BLOCKS = [[[16], 10], [[28], 16], [[44], 26], [[32, 32], 18], [[43, 43], 24], [[27, 27, 27, 27], 16], [[31, 31, 31, 31], 18], [[38, 38, 39, 39], 22], [[36, 36, 36, 37, 37], 22], [[43, 43, 43, 43, 44], 26]];
const CENTRES = [[], [], [6, 18], [6, 22], [6, 26], [6, 30], [6, 34], [6, 22, 38], [6, 24, 42], [6, 26, 46], [6, 28, 50]];

function multiply(a, b) {
  let product = 0;
  for (let bit = 7; bit >= 0; bit--) {
    product = (product << 1) ^ (product & 0x80 ? 0x11d : 0);
    if ((b >> bit) & 1) product ^= a;
  }
  return product & 0xff;
}

/** Returns whether the block is zero at every root of its generator. */
function hasNoFault(block, checks) {
  for (let i = 0, root = 1; i < checks; i++, root = multiply(root, 2)) if (block.reduce((sum, word) => multiply(sum, root) ^ word, 0) !== 0) return false;
  return true;
}

// Example of the standard's annex: 01234567 in version 1 at level M.
assert.ok(hasNoFault([0x10, 0x20, 0x0c, 0x56, 0x61, 0x80, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11, 0xec, 0x11, 0xa5, 0x24, 0xd4, 0xc1, 0xed, 0x36, 0xc7, 0x87, 0x2c, 0x55], 10));

function isReserved(version, size, r, c) {
  const corner = (r < 9 && c < 9) || (r < 9 && c >= size - 8) || (r >= size - 8 && c < 9);
  const versions = version >= 7 && ((r < 6 && c >= size - 11) || (c < 6 && r >= size - 11));
  const near = (x) => CENTRES[version].find((centre) => Math.abs(centre - x) <= 2);
  const [a, b] = [near(r), near(c)], last = size - 7;
  const aligned = a !== undefined && b !== undefined && !((a === 6 && b === 6) || (a === 6 && b === last) || (a === last && b === 6));
  return corner || versions || aligned || r === 6 || c === 6;
}

function isTurned(mask, i, j) {
  return [(i + j) % 2, i % 2, j % 3, (i + j) % 3, (Math.floor(i / 2) + Math.floor(j / 3)) % 2, ((i * j) % 2) + ((i * j) % 3), (((i * j) % 2) + ((i * j) % 3)) % 2, (((i + j) % 2) + ((i * j) % 3)) % 2][mask] === 0;
}

/** Reads both copies of the format information, the highest bit first. */
function readFormats(rows) {
  const n = rows.length, bit = (r, c) => (rows[r][c] ? "1" : "0");
  const one = [[8, 0], [8, 1], [8, 2], [8, 3], [8, 4], [8, 5], [8, 7], [8, 8], [7, 8], [5, 8], [4, 8], [3, 8], [2, 8], [1, 8], [0, 8]];
  const two = [...[1, 2, 3, 4, 5, 6, 7].map((k) => [n - k, 8]), ...[8, 7, 6, 5, 4, 3, 2, 1].map((k) => [8, n - k])];
  return [one, two].map((cells) => cells.map(([r, c]) => bit(r, c)).join(""));
}

function checkPatterns(rows, version) {
  const n = rows.length, eye = ["1111111", "1000001", "1011101", "1011101", "1011101", "1000001", "1111111"];
  for (const [top, left] of [[0, 0], [0, n - 7], [n - 7, 0]]) eye.forEach((line, r) => [...line].forEach((x, c) => assert.equal(rows[top + r][left + c], x === "1", "an eye")));
  for (let i = 8; i < n - 8; i++) assert.ok(rows[6][i] === (i % 2 === 0) && rows[i][6] === (i % 2 === 0), "a timing line");
  assert.ok(rows[n - 8][8], "the dark module");
  if (version < 7) return;
  let text = "";
  for (let i = 17; i >= 0; i--) text += rows[Math.floor(i / 3)][n - 11 + (i % 3)] ? "1" : "0";
  assert.equal(text, VERSIONS[version - 7]);
}

function readWords(rows, version, mask) {
  const n = rows.length, bits = [];
  for (let right = n - 1, up = true; right > 0; right -= 2, up = !up) {
    if (right === 6) right--;
    for (let k = 0; k < n; k++) {
      const r = up ? n - 1 - k : k;
      for (const c of [right, right - 1]) if (!isReserved(version, n, r, c)) bits.push(rows[r][c] !== isTurned(mask, r, c) ? 1 : 0);
    }
  }
  const words = [];
  for (let i = 0; i + 8 <= bits.length; i += 8) words.push(bits.slice(i, i + 8).reduce((w, b) => (w << 1) | b, 0));
  return words;
}

/** @param {boolean[][]} rows dark modules @returns {string} */
export function readQr(rows) {
  const version = (rows.length - 17) / 4;
  assert.ok(Number.isInteger(version) && version >= 1 && version <= 10, `${rows.length} modules`);
  checkPatterns(rows, version);
  const [one, two] = readFormats(rows), mask = FORMATS.indexOf(one);
  assert.equal(one, two);
  assert.ok(mask >= 0, one);
  const words = readWords(rows, version, mask), [sizes, checks] = BLOCKS[version - 1];
  const blocks = sizes.map(() => []), tails = sizes.map(() => []);
  for (let i = 0; i < Math.max(...sizes); i++) sizes.forEach((size, b) => i < size && blocks[b].push(words.shift()));
  for (let i = 0; i < checks; i++) sizes.forEach((_, b) => tails[b].push(words.shift()));
  blocks.forEach((block, b) => assert.ok(hasNoFault([...block, ...tails[b]], checks), `block ${b}`));
  const bits = blocks.flat().map((w) => w.toString(2).padStart(8, "0")).join(""), wide = version < 10 ? 8 : 16;
  assert.equal(bits.slice(0, 4), "0100", "bytes");
  const length = parseInt(bits.slice(4, 4 + wide), 2), from = 4 + wide;
  return Buffer.from(Array.from({ length }, (_, i) => parseInt(bits.slice(from + i * 8, from + i * 8 + 8), 2))).toString();
}

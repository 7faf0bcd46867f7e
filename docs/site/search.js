// search.js - finds sections of the documentation in the browser. search-index.js has their texts:
// [page, anchor, title, text] of each section. All words of the query must occur in a section; titles count most.
"use strict";

const MAX_RESULTS = 50;
const EXCERPT = 160;

/** Returns how well a section matches the words, or 0. @param {string[]} words @param {string} title @param {string} text */
function score(words, title, text) {
  let sum = 0;
  for (const word of words) {
    const inTitle = title.includes(word);
    if (!inTitle && !text.includes(word)) return 0;
    sum += inTitle ? (title.split(" ").includes(word) ? 60 : 20) : 2;
  }
  const query = words.join(" ");
  sum += title === query ? 1000 : title.split(" ").includes(query) ? 300 : title.startsWith(query) ? 200 : 0;
  return sum - Math.min(title.length, 100) / 100; // a shorter title is the better match
}

let sections = []; // rows of the index, also in lower case
let sectionsOf = null;

function prepare(index) {
  if (sectionsOf === index) return;
  sectionsOf = index;
  sections = index.map(([page, anchor, title, text]) => ({ page, anchor, title, text, lowerTitle: title.toLowerCase(), lowerText: text.toLowerCase() }));
}

/** Finds sections. @param {string} query @param {Array<[string, string, string, string]>} index */
function find(query, index) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  if (!words.length) return [];
  prepare(index);
  const found = [];
  for (const section of sections) {
    const points = score(words, section.lowerTitle, section.lowerText);
    if (points > 0) found.push({ ...section, points });
  }
  return found.sort((a, b) => b.points - a.points);
}

/** Returns the part of a text around the first word that it contains. */
function excerpt(text, query) {
  const lower = text.toLowerCase(), at = query.toLowerCase().split(/\s+/).map((w) => lower.indexOf(w)).find((i) => i >= 0) ?? 0;
  const from = Math.max(0, at - EXCERPT / 2);
  return (from ? "…" : "") + text.slice(from, from + EXCERPT) + (from + EXCERPT < text.length ? "…" : "");
}

function row(result, query) {
  const li = document.createElement("li"), link = document.createElement("a"), text = document.createElement("p");
  link.href = result.page + (result.anchor ? `#${result.anchor}` : "");
  link.textContent = result.title;
  text.textContent = excerpt(result.text, query);
  text.className = "where";
  li.append(link, text);
  return li;
}

function showResults(list, count, input) {
  const query = input.value.trim(), found = find(query, window.searchIndex);
  list.replaceChildren(...found.slice(0, MAX_RESULTS).map((result) => row(result, query)));
  const words = found.length === 1 ? "1 section" : `${found.length} sections`;
  count.textContent = !query ? "Type a route, an error code, an option or any words." : found.length > MAX_RESULTS ? `${words}; the first ${MAX_RESULTS} are shown.` : found.length ? `${words}.` : "Nothing was found. Try fewer or other words.";
  document.title = query ? `${query} - Search - Guildhall` : "Search - Guildhall";
}

function start() {
  const input = document.getElementById("query"), list = document.getElementById("results");
  document.addEventListener("keydown", (e) => {
    if (e.key !== "/" || e.ctrlKey || e.metaKey || e.altKey || e.target.matches("input, textarea")) return;
    e.preventDefault();
    input.focus();
  });
  if (!list) return;
  const count = document.getElementById("result-count");
  input.value = new URLSearchParams(location.search).get("q") ?? "";
  input.addEventListener("input", () => {
    if (location.protocol !== "file:") history.replaceState(null, "", `?q=${encodeURIComponent(input.value)}`);
    showResults(list, count, input);
  });
  input.form.addEventListener("submit", (e) => e.preventDefault());
  showResults(list, count, input);
  input.focus();
}

if (typeof document === "undefined") module.exports = { find };
else start();

// words.js - the words of the pages, in the person's language. They stand in the pages in English; a table has them in each other one.

export const languages = { en: "English", de: "Deutsch" };

/** @type {Record<string, () => Promise<Record<string, string>>>} */
const TABLES = { de: async () => (await import("./german.js")).GERMAN };

const wanted = (localStorage.getItem("language") || navigator.language || "en").slice(0, 2);
const language = wanted in TABLES ? wanted : "en";
// Only the table that is needed is fetched, and before any page is drawn.
const table = (await TABLES[language]?.().catch(() => null)) || {}; // without it the pages speak English

/** How dates and numbers are written: as in the browser's own region where it speaks this language. */
export const locale = navigator.language?.startsWith(language) ? navigator.language : language;

/**
 * A text in the person's language. Values are inserted once, so braces in an inserted name stay as they are.
 * A text with a plural has two forms, "{n} message|{n} messages": the first is used if the value n is 1.
 * @param {string} text in English, as it stands in the tables
 * @param {Record<string, any>} [values] the values for the names in braces
 */
export function t(text, values) {
  const forms = (Object.hasOwn(table, text) ? table[text] : text).split("|");
  const words = forms[Number(values?.n) === 1 ? 0 : forms.length - 1];
  return values ? words.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)) : words;
}

export const currentLanguage = () => language;

/** For the pages that are opened from now on. @param {string} code */
export function setLanguage(code) {
  localStorage.setItem("language", code);
}
document.documentElement.lang = language;

// translate.js - translates the texts of the pages. The code has the English texts; every other language has a table.

export const languages = { en: "English", de: "Deutsch" };

/** @type {Record<string, () => Promise<Record<string, string>>>} */
const TABLES = { de: async () => (await import("./german.js")).GERMAN };

const wanted = (localStorage.getItem("language") || navigator.language || "en").slice(0, 2);
const language = wanted in TABLES ? wanted : "en";
// Fetches the table of the chosen language, before the first page is drawn.
const table = (await TABLES[language]?.().catch(() => null)) || {}; // without the table, texts are English

/** The locale for dates and numbers. If the browser's language is the chosen one, its region is used, too. */
export const locale = navigator.language?.startsWith(language) ? navigator.language : language;

/**
 * Translates a text into the user's language. Values are inserted once, so braces in an inserted name stay as they are.
 * A text with a plural has two forms, "{n} message|{n} messages": the first is used if the value n is 1.
 * @param {string} text the English text, which is the key of the tables
 * @param {Record<string, any>} [values] the values for the names in braces
 */
export function t(text, values) {
  const forms = (Object.hasOwn(table, text) ? table[text] : text).split("|");
  const words = forms[Number(values?.n) === 1 ? 0 : forms.length - 1];
  return values ? words.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)) : words;
}

export const currentLanguage = () => language;

/** Stores the language; it takes effect when the page is loaded again. @param {string} code */
export function setLanguage(code) {
  localStorage.setItem("language", code);
}
document.documentElement.lang = language;

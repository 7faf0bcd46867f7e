// translate.js - translates the English texts in the code, by one table for each other language.

export const languages = { en: "English", de: "Deutsch" };

/**
 * Imports the tables of a language: the texts of the pages, and the messages of the server.
 * @type {Record<string, () => Promise<Record<string, string>[]>>}
 */
const TABLES = { de: () => import("./german.js").then((m) => [m.GERMAN, m.MESSAGES]) };

const wanted = (localStorage.getItem("language") || navigator.language || "en").slice(0, 2);
const language = wanted in TABLES ? wanted : "en";
// Fetch the table of the chosen language before the first page is drawn; without the table, the texts are English.
const [table, messages] = (await TABLES[language]?.().catch(() => null)) || [{}, {}];

/**
 * The locale for dates and numbers. If the browser's language is the chosen language, the browser's region is used too.
 */
export const locale = navigator.language?.startsWith(language) ? navigator.language : language;

/**
 * Translates a text into the user's language. Braces in an inserted value are not replaced again. A text with a plural
 * has two forms, "{n} message|{n} messages": the first is used if the value n is 1.
 * @param {string} text the English text, which is the key of the tables
 * @param {Record<string, any>} [values] the values for the names in braces
 */
export function t(text, values) {
  const forms = (Object.hasOwn(table, text) ? table[text] : text).split("|");
  const words = forms[Number(values?.n) === 1 ? 0 : forms.length - 1];
  return values ? words.replace(/\{(\w+)\}/g, (whole, name) => (name in values ? String(values[name]) : whole)) : words;
}

/**
 * Translates a message of the server. In the tables, the keys of these messages have "#" instead of each number.
 * @param {string} text
 */
export function fromServer(text) {
  const numbers = text.match(/\d+/g) || [],
    found = messages[text.replace(/\d+/g, "#")];
  return found ? found.replace(/#/g, () => numbers.shift()) : text;
}

export const currentLanguage = () => language;

/**
 * Stores the language that the user has chosen. The language is used when the page is loaded again.
 * @param {string} code
 */
export function setLanguage(code) {
  localStorage.setItem("language", code);
}
document.documentElement.lang = language;

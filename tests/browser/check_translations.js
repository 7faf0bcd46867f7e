// check_translations.js - checks that every text of the pages is translated into every language.
//
//     node check_translations.js FOLDER_OF_THE_PAGES
//
// Parses the scripts with the TypeScript compiler. A text is a string that is displayed (a child of
// an element, a label) or that reads as words elsewhere; it must be the argument of t(). Names of
// the protocol and of the program are not translated.
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import ts from "typescript";

const [folder] = process.argv.slice(2);
const TABLES = { "german.js": "GERMAN" };

/** Which arguments of these functions are displayed. @type {Record<string, (i: number) => boolean>} */
const SHOWN_ARGUMENTS = {
  h: (i) => i >= 2, fill: (i) => i >= 1, refill: (i) => i >= 1, toast: (i) => i === 0, announce: (i) => i === 0, iconButton: (i) => i === 1,
  field: (i) => i !== 1, dialog: (i) => i === 0, small: (i) => i === 0, table: () => true, section: (i) => i === 0, problem: () => true,
};
const SHOWN_PROPERTIES = new Set(["aria-label", "title", "placeholder", "alt", "label", "words", "detail", "hint"]);
const SHOWN_TARGETS = /\.(textContent|placeholder)$|^document\.title$/;

/** Functions whose arguments are code: selectors, names of events, routes and properties. */
const CODE_CALLS = /(^|\.)(querySelector|querySelectorAll|closest|arrowKeys|matchMedia|matches|addEventListener|removeEventListener|setAttribute|startsWith|endsWith|includes|replace|replaceAll|createElementNS|getItem|setItem|removeItem|set|get|delete|on|touch|icon|may|mayInGuild|Event)$/;
const CODE_PROPERTIES = new Set(["rel", "type", "class", "href", "src", "icon", "Authorization", "browser"]);

/** Names that are equal in every language: of this program, of opcodes and methods, of units. */
const NAMES = new Set(["Guildhall", "openapi.json", "English", "Deutsch", "APP", "HOOK", "GIF", "URL", "LIVE", "GET", "POST", "PUT", "PATCH", "DELETE", "platform_a", "platform_b",
  "Heartbeat", "Identify", "Presence", "Voice state", "Resume", "Reconnect", "Request members", "Invalid session", "Hello", "Heartbeat ACK", "+1 min", "+15 min", "2xx", "4xx", "5xx", "call", "frame", "error", "too long for a QR code", "Backquote", "Custom Status", "Alt", "Esc", "Edge", "Opera", "Firefox", "Chrome", "Safari", "Windows", "Android", "Linux", "nack pli", "ccm fir", "o=- 1 1 IN IP4 127.0.0.1", "sudo guildhall user add NAME", "sudo guildhall invite create 5"]);
const NAMES_INSIDE = /\b(op|ms|min|KB|MB|KiB|MiB|curl|Guildhall|Bot|Bearer)\b|^\/\S*/g;

const readsAsWords = (text) => /[A-Za-z]{2,}[,.:]? [A-Za-z(\d]/.test(text) || /^[A-Z][a-z]+[^-/]*$/.test(text);
const hasLetters = (text) => /[A-Za-z]{2}/.test(text);

/** Returns whether a string is displayed; "maybe" if only its words can tell that. @returns {"shown"|"code"|"maybe"} */
function locationOf(node) {
  for (let child = node, at = node.parent; at; child = at, at = at.parent) {
    if (ts.isCallExpression(at) || ts.isNewExpression(at)) {
      if (at.expression === child) continue;
      const name = at.expression.getText(), i = at.arguments.indexOf(child);
      if (SHOWN_ARGUMENTS[name.split(".").pop()]) return SHOWN_ARGUMENTS[name.split(".").pop()](i) ? "shown" : i === 0 ? "code" : "maybe";
      return i === 0 && CODE_CALLS.test(name) ? "code" : "maybe";
    }
    if (ts.isPropertyAssignment(at)) return at.name === child || CODE_PROPERTIES.has(at.name.text) ? "code" : SHOWN_PROPERTIES.has(at.name.text) ? "shown" : "maybe";
    if (ts.isImportDeclaration(at) || ts.isCaseClause(at) || ts.isElementAccessExpression(at)) return "code";
    if (ts.isConditionalExpression(at) && at.condition === child) return "code";
    if (ts.isBinaryExpression(at)) {
      if (at.operatorToken.kind === ts.SyntaxKind.EqualsToken) return SHOWN_TARGETS.test(at.left.getText()) ? "shown" : "maybe";
      if (/===|!==|\bin\b/.test(at.operatorToken.getText())) return "code";
      continue;
    }
    const mapped = ts.isArrowFunction(at) && at.body === child && ts.isCallExpression(at.parent) && at.parent.expression.getText().endsWith(".map");
    if (mapped) at = at.parent;
    else if (!ts.isConditionalExpression(at) && !ts.isParenthesizedExpression(at) && !ts.isArrayLiteralExpression(at) && !ts.isTemplateSpan(at) && !ts.isTemplateExpression(at) && !ts.isPropertyAccessExpression(at)) return "maybe";
  }
  return "maybe";
}

/** Returns whether a string with these pieces is a text. */
function isText(node, pieces) {
  if (pieces.length === 1 && NAMES.has(pieces[0])) return false;
  const rest = pieces.map((x) => x.replace(NAMES_INSIDE, "").trim()).filter(hasLetters);
  if (!rest.length) return false;
  const location = locationOf(node);
  return location === "shown" || (location === "maybe" && rest.some(readsAsWords));
}

/** Calls received(text) for each translated text and lost(node) for each untranslated one. */
function readTexts(source, received, lost) {
  const walk = (node) => {
    if (ts.isCallExpression(node) && node.expression.getText() === "t") {
      const [text, ...rest] = node.arguments;
      if (ts.isStringLiteral(text)) received(text.text);
      else lost(node);
      rest.forEach(walk);
      return;
    }
    if (ts.isStringLiteral(node) || ts.isNoSubstitutionTemplateLiteral(node)) {
      if (isText(node, [node.text])) lost(node);
    } else if (ts.isTemplateExpression(node) && isText(node, [node.head.text, ...node.templateSpans.map((s) => s.literal.text)])) lost(node);
    ts.forEachChild(node, walk);
  };
  walk(source);
}

const scripts = readdirSync(folder, { recursive: true }).map(String).filter((name) => name.endsWith(".js") && !(name in TABLES));
const used = new Set(), problems = [];
for (const name of scripts) {
  const source = ts.createSourceFile(name, readFileSync(join(folder, name), "utf8"), ts.ScriptTarget.Latest, true);
  const lost = (node) => problems.push(`${name}:${source.getLineAndCharacterOfPosition(node.getStart()).line + 1}: ${node.getText()} is not translated by t("…")`);
  if (name !== "words.js") readTexts(source, (text) => used.add(text), lost);
}

const bracesOf = (text) => [...text.matchAll(/\{\w+\}/g)].map(String).sort().join();
for (const [file, table] of Object.entries(TABLES)) {
  const words = (await import(pathToFileURL(join(folder, file)).href))[table];
  for (const text of used) {
    if (!words[text]) problems.push(`${file} lacks ${JSON.stringify(text)}`);
    else if (bracesOf(words[text]) !== bracesOf(text)) problems.push(`${file} has other braces for ${JSON.stringify(text)}`);
  }
  for (const text of Object.keys(words)) if (!used.has(text)) problems.push(`${file} has ${JSON.stringify(text)}, which no page uses`);
}
/** Each translated message of the server must occur in the server's source. In the table, # stands for a number. */
const { MESSAGES } = await import(pathToFileURL(join(folder, "german.js")).href), source = join(folder, "../src");
const ofServer = readdirSync(source, { recursive: true }).map(String).filter((name) => /\.(c|h|def)$/.test(name)).map((name) => readFileSync(join(source, name), "utf8")).join("\n").replace(/"\s*\n\s*"/g, "").replace(/%\w+|\d+/g, "#");
for (const text of Object.keys(MESSAGES)) if (!ofServer.includes(`"${text}`)) problems.push(`german.js has ${JSON.stringify(text)}, which the server does not send`);
if (used.size < 500) problems.push(`only ${used.size} texts were found`);
console.log(problems.join("\n") || `${used.size} texts in ${scripts.length} scripts, in ${Object.keys(TABLES).length + 1} languages`);
process.exit(problems.length ? 1 : 0);

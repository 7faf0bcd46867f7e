"""shorten_web - removes comments, spaces and line breaks that have no meaning from scripts and style sheets.

A line break stays where JavaScript may insert a semicolon. A browser test compares the tokens of each script with
those of its source. `--web-files web` serves the sources, with their line numbers.
"""
import re

TOKEN = re.compile(r"""
    (?P<comment>//[^\n]*|/\*.*?\*/)
  | "(?:[^"\\\n]|\\.)*" | '(?:[^'\\\n]|\\.)*'
  | [\w$]+
  | (?P<space>[ \t]+)
  | \n | .
""", re.X | re.S)
REGEX = re.compile(r"/(?:[^/\\\[\n]|\\.|\[(?:[^\]\\\n]|\\.)*\])+/[a-z]*")
# After these a slash begins a regular expression; after others it divides.
BEFORE_REGEX = {*"(,=:[!&|?{};+>", "return", "typeof", "case", "of", "in", "else", "await", "throw", ""}
PUNCTUATION = set("(){}[],;:?=<>!&|*%^~.\"'`")
OPENED = set("([{,:?=&|>")  # a statement does not end after these
CONTINUED = set(")]}.?:&|")  # a statement does not begin with these
SIGNS = set("+-/")  # two of them next to each other could become one token


def end_of_template(text, at):
    """Returns the index after the template literal that begins at `at`."""
    at += 1
    while text[at] != "`":
        if text[at] == "\\":
            at += 2
        elif text.startswith("${", at):
            depth, at = 1, at + 2
            while depth:
                if text[at] == "`":
                    at = end_of_template(text, at)
                elif text[at] in "\"'":
                    at = TOKEN.match(text, at).end()
                else:
                    depth += {"{": 1, "}": -1}.get(text[at], 0)
                    at += 1
        else:
            at += 1
    return at + 1


def needs_space(before, after):
    return not (before in PUNCTUATION or after in PUNCTUATION or (before in SIGNS) != (after in SIGNS))


def shorten_script(text):
    out, at, last, space, line = [], 0, "", False, False
    while at < len(text):
        if text[at] == "`":
            end = end_of_template(text, at)
        elif text[at] == "/" and text[at + 1] not in "/*" and last in BEFORE_REGEX:
            end = REGEX.match(text, at).end()
        else:
            found = TOKEN.match(text, at)
            end = found.end()
            if found["comment"] or found["space"] or found[0] == "\n":
                space, line, at = True, line or "\n" in found[0], end
                continue
        token, at = text[at:end], end
        if line and out and out[-1][-1] not in OPENED and token[0] not in CONTINUED:
            out.append("\n")
        elif space and out and needs_space(out[-1][-1], token[0]):
            out.append(" ")
        out.append(token)
        space = line = False
        last = token if re.match(r"[\w$]", token) else token[-1]
    return "".join(out) + "\n"


def shorten_style(text):
    text = re.sub(r"/\*.*?\*/", lambda comment: "\n" * comment[0].count("\n"), text, flags=re.S)
    text = re.sub(r"^[ \t]+", "", text, flags=re.M)
    return re.sub(r"([:,]) +", r"\1", text).replace(" {", "{").replace(";\n}", "\n}")

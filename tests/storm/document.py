"""Generates requests from an OpenAPI document: valid and invalid values for schemas, and checks of
replies."""

import base64
import re

PICTURE = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==")
PNG = "data:image/png;base64," + base64.b64encode(PICTURE).decode()
SOUND = "data:audio/mpeg;base64," + base64.b64encode((b"\xff\xfb\x90\x64" + bytes(413)) * 10).decode()
WORDS = ["a", "ada", "bob-1", "x" * 32, "x" * 33, "x" * 100, "x" * 101, "x" * 2000, "x" * 2001, "", " ", "\u202e",
         "\0", "\n", "é", "日本語", "😀" * 30, "<@1>", "@everyone", "http://127.0.0.1:1/", "javascript:1", "../..",
         "%00", "'; drop table users; --", "null", "true", "1e9", "-1", "a,b", PNG]
NUMBERS = [0, 1, -1, 2, 3, 100, 101, 1000, 65535, 2**31 - 1, 2**31, 2**53, 2**63 - 1, 2**63, -2**63, 2**64, 1e308,
           1.5, -0.0]
STRANGE = [None, True, False, 0, -1, 1.5, "", "x", [], {}, [[]], [None], {"a": {}}, 2**64, "0", "\ud800"]
IDS = ["0", "1", "18446744073709551615", "18446744073709551616", "-1", "x", "00", "9" * 40]


class Document:
    """The operations and schemas of a document; `ids` returns existing ids of a kind."""

    def __init__(self, document, rng, ids):
        self.schemas = document["components"]["schemas"]
        self.rng = rng
        self.ids = ids
        self.wild = True  # invalid values may be generated
        self.operations = [
            (path, method.upper(), operation)
            for path, methods in document["paths"].items()
            for method, operation in methods.items()
        ]

    def resolved(self, schema):
        while "$ref" in schema:
            schema = self.schemas[schema["$ref"].rpartition("/")[2]]
        return schema

    # --- values ------------------------------------------------------------------------

    def an_id(self, kind):
        known = self.ids(kind)
        if known and (not self.wild or self.rng.random() < 0.93):
            return self.rng.choice(known)
        return self.rng.choice(IDS)

    def value(self, schema, name="", depth=0):
        rng = self.rng
        if self.wild and rng.random() < 0.04:
            return rng.choice(STRANGE)
        schema = self.resolved(schema)
        kind = schema.get("type")
        if isinstance(kind, list):
            kind = rng.choice(kind)
        if "enum" in schema and (not self.wild or rng.random() < 0.95):
            return rng.choice(schema["enum"])
        made = getattr(self, f"a_{kind}", None) if isinstance(kind, str) else None
        return made(schema, name, depth) if made else rng.choice(STRANGE)

    def a_null(self, *_):
        return None

    def a_boolean(self, *_):
        return self.rng.random() < 0.5

    def a_integer(self, schema, *_):
        low, high = schema.get("minimum"), schema.get("maximum")
        if not self.wild:
            return self.rng.choice([n for n in (low, high, 1, 2, 5) if n is not None and n >= (low or 0)
                                    and (high is None or n <= high)] or [low or 0])
        edges = [n for e in (low, high) if e is not None for n in (e - 1, e, e + 1)]
        if edges and self.rng.random() < 0.7:
            return self.rng.choice(edges[1:-1] or edges)
        return self.rng.choice([0, 1, 2, 3, 5, 10, 60, *edges] if self.rng.random() < 0.8 else NUMBERS)

    def a_number(self, schema, *_):
        return self.a_integer(schema)

    def a_string(self, schema, name, *_):
        rng = self.rng
        form = schema.get("format")
        if form == "snowflake":
            return self.an_id(name.removesuffix("s").removesuffix("_id") or "")
        if form == "uint64":
            return rng.choice(["0", "8", "2048", str(2**63), str(2**64), "x"])
        if form == "date-time":
            return rng.choice(["2026-11-15T00:00:00Z", "2030-01-01T00:00:00.5+02:00", "9999-12-31T23:59:59Z", "soon"])
        if form == "uri":
            return rng.choice(["https://example.org/a", "http://127.0.0.1:9/", "x:y", "//"])
        low, high = schema.get("minLength", 0), schema.get("maxLength")
        if not self.wild and "image" not in name and name not in ("icon", "avatar", "banner", "splash"):
            return rng.choice(["roll", "general", "ada", "words"])[:high] if low <= 3 else "a" * low
        if high and rng.random() < 0.5:
            most = min(high, 70000)
            n = rng.choice([max(low - 1, 0), low, low + 1, most - 1, most, most + 1])
            return rng.choice("ab é"[:3]) * max(n, 0)
        if name == "sound" and rng.random() < 0.7:
            return SOUND
        if rng.random() < 0.3:
            return PNG
        return rng.choice(WORDS) if rng.random() < 0.4 else rng.choice(["ada", "general", "roll", "some words", "b_1"])

    def a_array(self, schema, name, depth):
        most = schema.get("maxItems", 3)
        n = self.rng.choice([0, 1, 1, 2, 3]) if depth < 4 else 0
        n = max(n, schema.get("minItems", 0))
        if self.wild and depth < 2 and self.rng.random() < 0.05:
            n = min(most + 1, 120)
        return [self.value(schema.get("items", {}), name, depth + 1) for _ in range(n)]

    def a_object(self, schema, _name, depth):
        made = {}
        required = schema.get("required", [])
        for key, of in schema.get("properties", {}).items():
            chance = 0.97 if key in required else 0.35 if depth < 3 else 0.1
            if self.rng.random() < chance and depth < 8:
                made[key] = self.value(of, key, depth + 1)
        if "additionalProperties" in schema and isinstance(schema["additionalProperties"], dict):
            for key in self.rng.sample(["en-US", "de", "1", "x" * 50], self.rng.randrange(3)):
                made[key] = self.value(schema["additionalProperties"], key, depth + 1)
        if self.wild and self.rng.random() < 0.02:
            made[self.rng.choice(["__proto__", "id", "x" * 200, "\0"])] = 1
        return made

    # --- replies -----------------------------------------------------------------------

    def mismatch(self, schema, value, at="answer"):
        """Returns why a value does not fit the schema, or None."""
        schema = self.resolved(schema)
        kinds = schema.get("type")
        if kinds is None:
            return None
        kinds = kinds if isinstance(kinds, list) else [kinds]
        kind = kind_of(value)
        if kind not in kinds and not (kind == "integer" and "number" in kinds):
            return f"{at} is {kind}, not {'/'.join(kinds)}"
        if "enum" in schema and value is not None and value not in schema["enum"]:
            return f"{at} is {value!r}, none of {schema['enum']}"
        if kind == "string" and schema.get("format") == "snowflake" and not re.fullmatch(r"\d{1,20}", value):
            return f"{at} is no id: {value!r}"
        if kind == "array":
            parts = [(schema.get("items", {}), v, f"{at}[{i}]") for i, v in enumerate(value)]
        elif kind == "object":
            missing = [k for k in schema.get("required", []) if k not in value]
            if missing:
                return f"{at} lacks {missing}"
            known = schema.get("properties", {})
            parts = [(known[k], v, f"{at}.{k}") for k, v in value.items() if k in known]
        else:
            parts = []
        return next((why for part in parts if (why := self.mismatch(*part))), None)


def kind_of(value):
    if value is None:
        return "null"
    if isinstance(value, bool):
        return "boolean"
    for type_, name in ((int, "integer"), (float, "number"), (str, "string"), (list, "array")):
        if isinstance(value, type_):
            return name
    return "object"

/* describe.c - writes schemas as JSON Schema 2020-12, which OpenAPI 3.1 uses. */
#include "json/internal.h"

#include "base/buf.h"

static const char *json_type(enum kind kind)
{
    switch (kind) {
    case KIND_INT:
        return "integer";
    case KIND_REAL:
        return "number";
    case KIND_BOOL:
        return "boolean";
    case KIND_ARRAY:
        return "array";
    case KIND_MAP:
    case KIND_OBJECT:
        return "object";
    case KIND_RAW:
        return NULL; /* any JSON type */
    default:
        return "string";
    }
}

static const char *json_format(enum kind kind)
{
    switch (kind) {
    case KIND_ID:
        return "snowflake";
    case KIND_BITS:
        return "uint64";
    case KIND_TIME:
        return "date-time";
    case KIND_IMAGE:
        return "uri";
    default:
        return NULL;
    }
}

static void text_member(struct json *j, struct str name, const char *text)
{
    if (!text)
        return;
    json_key(j, name);
    json_text(j, str_of(text));
}

static void int_member(struct json *j, struct str name, int64_t v)
{
    json_key(j, name);
    json_int(j, v);
}

static void describe_limits(struct json *j, const struct type *type)
{
    static const struct {
        struct str min, max;
    } words[] = {
        [KIND_STRING] = { STR_INIT("minLength"), STR_INIT("maxLength") },
        [KIND_INT] = { STR_INIT("minimum"), STR_INIT("maximum") },
        [KIND_REAL] = { STR_INIT("minimum"), STR_INIT("maximum") },
        [KIND_ARRAY] = { STR_INIT("minItems"), STR_INIT("maxItems") },
        [KIND_MAP] = { STR_INIT("minProperties"), STR_INIT("maxProperties") },
        [KIND_OBJECT] = { .min = { NULL, 0 } },
    };
    bool number = type->kind == KIND_INT || type->kind == KIND_REAL;
    int64_t limit;

    if (!words[type->kind].min.p)
        return;
    if (type_minimum(type, &limit) && (number || limit))
        int_member(j, words[type->kind].min, limit);
    if (type_maximum(type, &limit) && (number || limit))
        int_member(j, words[type->kind].max, limit);
}

static void describe_choices(struct json *j, const struct type *type, bool nullable)
{
    if (!type->choices || type->flags & TYPE_LOOSE_ENUM)
        return;
    json_name(j, "enum");
    json_array(j);
    for (const struct choice *c = type->choices; c->doc; c++) {
        if (c->text)
            json_text(j, str_of(c->text));
        else
            json_int(j, c->value);
    }
    if (nullable)
        json_null(j);
    json_array_end(j);
}

static void describe_type(struct json *j, const struct type *type, bool nullable)
{
    const char *name = json_type(type->kind);

    if (!name)
        return;
    json_name(j, "type");
    if (nullable)
        json_array(j);
    json_text(j, str_of(name));
    if (nullable) {
        json_text(j, STR("null"));
        json_array_end(j);
    }
    text_member(j, STR("format"), json_format(type->kind));
}

static void describe_reference(struct json *j, const struct schema *schema)
{
    json_name(j, "$ref");
    struct buf path;
    buf_init(&path, 1024);
    buf_printf(&path, "#/components/schemas/%s", schema->name);
    json_text(j, buf_str(&path));
    buf_clear(&path);
}

static void describe_nullable_reference(struct json *j, const struct schema *schema)
{
    json_name(j, "anyOf");
    json_array(j);
    json_object(j);
    describe_reference(j, schema);
    json_object_end(j);
    json_object(j);
    text_member(j, STR("type"), "null");
    json_object_end(j);
    json_array_end(j);
}

static void describe_default(struct json *j, const struct field *f)
{
    if (!(f->flags & OPTIONAL))
        return;
    switch (f->member) {
    case MEMBER_STR:
        text_member(j, STR("default"), f->fallback_text);
        break;
    case MEMBER_INT:
        if (f->type->kind == KIND_INT)
            int_member(j, STR("default"), f->fallback);
        break;
    case MEMBER_REAL:
        int_member(j, STR("default"), f->fallback);
        break;
    case MEMBER_BOOL:
        json_name(j, "default");
        json_bool(j, f->fallback != 0);
        break;
    case MEMBER_U64:
        if (f->type->kind == KIND_BITS) {
            json_name(j, "default");
            json_id(j, (uint64_t)f->fallback);
        }
        break;
    default:
        break;
    }
}

static void describe_field(struct json *j, const struct field *f);

static void describe_fields(struct json *j, const struct schema *schema)
{
    bool required = false;

    json_name(j, "properties");
    json_object(j);
    for (const struct field *f = schema->fields; f->name.p; f++) {
        json_key(j, f->name);
        describe_field(j, f);
        required |= !(f->flags & OPTIONAL);
    }
    json_object_end(j);
    if (!required)
        return;
    json_name(j, "required");
    json_array(j);
    for (const struct field *f = schema->fields; f->name.p; f++)
        if (!(f->flags & OPTIONAL))
            json_text(j, f->name);
    json_array_end(j);
}

/* Writes the JSON Schema members of a type into an open object. */
static void describe_members(struct json *j, const struct type *type, bool nullable)
{
    type = type_shown(type);
    bool named = type->kind == KIND_OBJECT && type->schema->name;

    if (named && nullable) {
        describe_nullable_reference(j, type->schema);
        return;
    }
    if (named) {
        describe_reference(j, type->schema);
        return;
    }
    describe_type(j, type, nullable);
    describe_limits(j, type);
    describe_choices(j, type, nullable);
    if (type->kind == KIND_ARRAY || type->kind == KIND_MAP) {
        json_key(j, type->kind == KIND_ARRAY ? STR("items") : STR("additionalProperties"));
        schema_describe(j, type->of);
    }
    if (type->kind == KIND_OBJECT)
        describe_fields(j, type->schema);
}

static void describe_field(struct json *j, const struct field *f)
{
    json_object(j);
    describe_members(j, f->type, f->flags & NULLABLE);
    text_member(j, STR("description"), f->doc ? f->doc : f->type->doc);
    describe_default(j, f);
    if (f->flags & DEPRECATED) {
        json_name(j, "deprecated");
        json_bool(j, true);
    }
    json_object_end(j);
}

void schema_describe(struct json *j, const struct type *type)
{
    json_object(j);
    describe_members(j, type, false);
    text_member(j, STR("description"), type->doc);
    json_object_end(j);
}

void schema_describe_object(struct json *j, const struct schema *schema)
{
    json_object(j);
    text_member(j, STR("type"), "object");
    text_member(j, STR("description"), schema->doc);
    describe_fields(j, schema);
    json_object_end(j);
}

static const char *kind_word(const struct type *type)
{
    static const char *const words[] = {
        [KIND_STRING] = "string",  [KIND_INT] = "integer",  [KIND_REAL] = "number",
        [KIND_BOOL] = "boolean",   [KIND_ID] = "snowflake", [KIND_BITS] = "bitset",
        [KIND_TIME] = "timestamp", [KIND_IMAGE] = "image",  [KIND_RAW] = "any",
        [KIND_ARRAY] = "array",    [KIND_MAP] = "map",      [KIND_OBJECT] = "object",
    };

    if (type->kind == KIND_OBJECT && type->schema->name)
        return type->schema->name;
    return words[type->kind];
}

static const char *unit_word(enum kind kind)
{
    switch (kind) {
    case KIND_STRING:
        return " characters";
    case KIND_ARRAY:
    case KIND_MAP:
        return " items";
    case KIND_IMAGE:
        return " bytes";
    default:
        return "";
    }
}

/* Appends the limits as a phrase: ", 1-32 characters", ", at least 1", ", at most 10 items". */
static void phrase_limits(struct buf *out, const struct type *type)
{
    bool number = type->kind == KIND_INT || type->kind == KIND_REAL;
    int64_t min, max;
    bool low = type_minimum(type, &min) && (number || min);
    bool high = type_maximum(type, &max) && (number || max);

    if (low && high && min < 0)
        buf_printf(out, ", %lld to %lld", (long long)min, (long long)max);
    else if (low && high && min == max)
        buf_printf(out, ", exactly %lld", (long long)min);
    else if (low && high)
        buf_printf(out, ", %lld-%lld", (long long)min, (long long)max);
    else if (low)
        buf_printf(out, ", at least %lld", (long long)min);
    else if (high)
        buf_printf(out, ", at most %lld", (long long)max);
    else
        return;
    buf_add_str(out, str_of(unit_word(type->kind)));
}

void schema_phrase(struct buf *out, const struct type *type)
{
    type = type_shown(type);
    buf_add_str(out, str_of(kind_word(type)));
    if (type->kind == KIND_ARRAY || type->kind == KIND_MAP) {
        buf_add_char(out, '[');
        schema_phrase(out, type->of);
        buf_add_char(out, ']');
    }
    phrase_limits(out, type);
}

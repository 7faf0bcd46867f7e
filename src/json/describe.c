/* describe.c - writes schemas as JSON Schema 2020-12, which OpenAPI 3.1 uses. */
#include "json/internal.h"

#include "base/buf.h"

static const char *get_json_schema_type_name(enum json_type_kind kind)
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
        return NULL; /* any JSON type is allowed */
    default:
        return "string";
    }
}

static const char *get_json_schema_format(enum json_type_kind kind)
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

static void write_text_member(struct json_writer *j, struct str name, const char *text)
{
    if (!text)
        return;
    json_write_key(j, name);
    json_write_text(j, str_of(text));
}

static void write_int_member(struct json_writer *j, struct str name, int64_t v)
{
    json_write_key(j, name);
    json_write_int(j, v);
}

static void write_type_limits(struct json_writer *j, const struct type *type)
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
    if (json_type_get_minimum(type, &limit) && (number || limit))
        write_int_member(j, words[type->kind].min, limit);
    if (json_type_get_maximum(type, &limit) && (number || limit))
        write_int_member(j, words[type->kind].max, limit);
}

static void write_enum_values(struct json_writer *j, const struct type *type, bool nullable)
{
    if (!type->choices || type->flags & TYPE_LOOSE_ENUM)
        return;
    json_write_name(j, "enum");
    json_begin_array(j);
    for (const struct enum_choice *c = type->choices; c->doc; c++) {
        if (c->text)
            json_write_text(j, str_of(c->text));
        else
            json_write_int(j, c->value);
    }
    if (nullable)
        json_write_null(j);
    json_end_array(j);
}

static void write_type_name(struct json_writer *j, const struct type *type, bool nullable)
{
    const char *name = get_json_schema_type_name(type->kind);

    if (!name)
        return;
    json_write_name(j, "type");
    if (nullable)
        json_begin_array(j);
    json_write_text(j, str_of(name));
    if (nullable) {
        json_write_text(j, STR("null"));
        json_end_array(j);
    }
    write_text_member(j, STR("format"), get_json_schema_format(type->kind));
}

static void write_schema_reference(struct json_writer *j, const struct schema *schema)
{
    json_write_name(j, "$ref");
    struct buf path;
    buf_init(&path, 1024);
    buf_printf(&path, "#/components/schemas/%s", schema->name);
    json_write_text(j, buf_as_str(&path));
    buf_clear(&path);
}

static void write_nullable_reference(struct json_writer *j, const struct schema *schema)
{
    json_write_name(j, "anyOf");
    json_begin_array(j);
    json_begin_object(j);
    write_schema_reference(j, schema);
    json_end_object(j);
    json_begin_object(j);
    write_text_member(j, STR("type"), "null");
    json_end_object(j);
    json_end_array(j);
}

static void write_field_default(struct json_writer *j, const struct field *f)
{
    if (!(f->flags & OPTIONAL))
        return;
    switch (f->member) {
    case MEMBER_STR:
        write_text_member(j, STR("default"), f->fallback_text);
        break;
    case MEMBER_INT:
        if (f->type->kind == KIND_INT)
            write_int_member(j, STR("default"), f->fallback);
        break;
    case MEMBER_REAL:
        write_int_member(j, STR("default"), f->fallback);
        break;
    case MEMBER_BOOL:
        json_write_name(j, "default");
        json_write_bool(j, f->fallback != 0);
        break;
    case MEMBER_U64:
        if (f->type->kind == KIND_BITS) {
            json_write_name(j, "default");
            json_write_id(j, (uint64_t)f->fallback);
        }
        break;
    default:
        break;
    }
}

static void write_field_schema(struct json_writer *j, const struct field *f);

static void write_fields_schema(struct json_writer *j, const struct schema *schema)
{
    bool required = false;

    json_write_name(j, "properties");
    json_begin_object(j);
    for (const struct field *f = schema->fields; f->name.p; f++) {
        json_write_key(j, f->name);
        write_field_schema(j, f);
        required |= !(f->flags & OPTIONAL);
    }
    json_end_object(j);
    if (!required)
        return;
    json_write_name(j, "required");
    json_begin_array(j);
    for (const struct field *f = schema->fields; f->name.p; f++)
        if (!(f->flags & OPTIONAL))
            json_write_text(j, f->name);
    json_end_array(j);
}

/* Writes the JSON Schema members of a type into an object that the caller has begun. */
static void write_type_schema_members(struct json_writer *j, const struct type *type, bool nullable)
{
    type = type_get_documented_type(type);
    bool named = type->kind == KIND_OBJECT && type->schema->name;

    if (named && nullable) {
        write_nullable_reference(j, type->schema);
        return;
    }
    if (named) {
        write_schema_reference(j, type->schema);
        return;
    }
    write_type_name(j, type, nullable);
    write_type_limits(j, type);
    write_enum_values(j, type, nullable);
    if (type->kind == KIND_ARRAY || type->kind == KIND_MAP) {
        json_write_key(j, type->kind == KIND_ARRAY ? STR("items") : STR("additionalProperties"));
        schema_write_json_schema(j, type->of);
    }
    if (type->kind == KIND_OBJECT)
        write_fields_schema(j, type->schema);
}

static void write_field_schema(struct json_writer *j, const struct field *f)
{
    json_begin_object(j);
    write_type_schema_members(j, f->type, f->flags & NULLABLE);
    write_text_member(j, STR("description"), f->doc ? f->doc : f->type->doc);
    write_field_default(j, f);
    if (f->flags & DEPRECATED) {
        json_write_name(j, "deprecated");
        json_write_bool(j, true);
    }
    json_end_object(j);
}

void schema_write_json_schema(struct json_writer *j, const struct type *type)
{
    json_begin_object(j);
    write_type_schema_members(j, type, false);
    write_text_member(j, STR("description"), type->doc);
    json_end_object(j);
}

void schema_write_json_schema_component(struct json_writer *j, const struct schema *schema)
{
    json_begin_object(j);
    write_text_member(j, STR("type"), "object");
    write_text_member(j, STR("description"), schema->doc);
    write_fields_schema(j, schema);
    json_end_object(j);
}

static const char *get_type_kind_name(const struct type *type)
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

static const char *get_limit_unit_name(enum json_type_kind kind)
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
static void append_limits_phrase(struct buf *out, const struct type *type)
{
    bool number = type->kind == KIND_INT || type->kind == KIND_REAL;
    int64_t min, max;
    bool low = json_type_get_minimum(type, &min) && (number || min);
    bool high = json_type_get_maximum(type, &max) && (number || max);

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
    buf_add_str(out, str_of(get_limit_unit_name(type->kind)));
}

void schema_append_type_in_words(struct buf *out, const struct type *type)
{
    type = type_get_documented_type(type);
    buf_add_str(out, str_of(get_type_kind_name(type)));
    if (type->kind == KIND_ARRAY || type->kind == KIND_MAP) {
        buf_add_char(out, '[');
        schema_append_type_in_words(out, type->of);
        buf_add_char(out, ']');
    }
    append_limits_phrase(out, type);
}

/* json_members.c - reads fields of JSON objects as text, without a schema. */
#include "tools/copy/archive/json_members.h"

#include <limits.h>

#include "json/read.h"

static void begin_reading_json_object(struct json_reader *r, struct str text, struct arena *arena)
{
    json_reader_init(r, text, arena);
    r->values_max = UINT_MAX;
}

struct str json_member_get_raw_text(struct str object, const char *name)
{
    struct arena *arena = arena_new_small();
    struct str key, raw, found = { 0 };
    struct json_reader r;

    begin_reading_json_object(&r, object, arena);
    if (json_peek_kind(&r) == JSON_OBJECT) {
        json_enter_container(&r);
        while (!found.p && json_next_member(&r, &key) && json_skip_value(&r, &raw))
            if (str_is(key, name))
                found = raw;
    }
    arena_free(arena);
    return str_is(found, "null") ? (struct str){ 0 } : found;
}

struct str json_member_get_text(struct arena *arena, struct str object, const char *name)
{
    struct str raw = json_member_get_raw_text(object, name), text = { 0 };
    struct json_reader r;

    begin_reading_json_object(&r, raw, arena);
    if (raw.n && json_peek_kind(&r) == JSON_STRING && json_read_string(&r, &text))
        return text;
    return (struct str){ 0 };
}

int64_t json_member_int(struct str object, const char *name)
{
    int64_t value = 0;

    return json_parse_int_text(json_member_get_raw_text(object, name), &value) ? value : 0;
}

snowflake json_member_get_id(struct str object, const char *name)
{
    return (snowflake)json_member_int(object, name);
}

bool json_member_is_true(struct str object, const char *name)
{
    return str_is(json_member_get_raw_text(object, name), "true");
}

struct list json_array_get_items(struct arena *arena, struct str array)
{
    struct list items = { 0 };
    struct json_reader r;
    struct str raw;

    begin_reading_json_object(&r, array, arena);
    if (!array.n || json_peek_kind(&r) != JSON_ARRAY)
        return items;
    json_enter_container(&r);
    while (json_next_item(&r) && json_skip_value(&r, &raw))
        *(struct str *)list_append(arena, &items, sizeof raw) = raw;
    return items;
}

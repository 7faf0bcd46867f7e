/* dom.c - parses JSON into a tree, for tests that examine replies. */
#include "dom.h"

#include <string.h>

static bool read_value(struct json_reader *r, struct dom *d);

static struct dom *add_item(struct json_reader *r, struct dom *d, size_t *room)
{
    if (d->count == *room) {
        *room = *room ? *room * 2 : 8;
        struct dom *more = arena_array(r->arena, struct dom, *room);
        if (d->count)
            memcpy(more, d->items, d->count * sizeof *more);
        d->items = more;
    }
    return &d->items[d->count++];
}

static bool read_items(struct json_reader *r, struct dom *d)
{
    size_t room = 0;
    struct str key;

    json_enter_container(r);
    r->values = 1; /* replies may have more values than the limit for requests */
    if (d->kind == JSON_OBJECT) {
        while (json_next_member(r, &key)) {
            struct dom *item = add_item(r, d, &room);

            item->key = key;
            if (!read_value(r, item))
                return false;
        }
    } else {
        while (json_next_item(r))
            if (!read_value(r, add_item(r, d, &room)))
                return false;
    }
    return json_reader_has_no_error(r);
}

static bool read_value(struct json_reader *r, struct dom *d)
{
    struct json_number number;

    d->kind = json_peek_kind(r);
    switch (d->kind) {
    case JSON_NULL:
        return json_read_null(r);
    case JSON_BOOL:
        return json_read_bool(r, &d->truth);
    case JSON_NUMBER:
        if (!json_read_number(r, &number))
            return false;
        d->text = number.raw;
        return true;
    case JSON_STRING:
        return json_read_string(r, &d->text);
    case JSON_ARRAY:
    case JSON_OBJECT:
        return read_items(r, d);
    default:
        return false;
    }
}

struct dom *dom_parse(struct arena *a, struct str text)
{
    struct dom *d = arena_alloc(a, sizeof *d);
    struct json_reader r;

    json_reader_init(&r, text, a);
    return read_value(&r, d) && json_is_at_end(&r) ? d : NULL;
}

const struct dom *dom_member(const struct dom *d, struct str key)
{
    if (!d || d->kind != JSON_OBJECT)
        return NULL;
    for (size_t i = 0; i < d->count; i++)
        if (str_eq(d->items[i].key, key))
            return &d->items[i];
    return NULL;
}

const struct dom *dom_at(const struct dom *d, const char *path)
{
    struct str rest = str_of(path);

    while (d && rest.n) {
        struct str key = str_cut(&rest, '.');
        uint64_t index;

        if (d->kind == JSON_ARRAY)
            d = str_to_u64(key, &index) && index < d->count ? &d->items[index] : NULL;
        else
            d = dom_member(d, key);
    }
    return d;
}

static bool differs(struct arena *a, const char *path, const char *what, struct str *ret_where)
{
    *ret_where = str_printf(a, "%s %s", *path ? path : "the value", what);
    return false;
}

static bool contains(const struct dom *actual, const struct dom *expected, struct arena *a,
                     const char *path, struct str *where)
{
    if (!actual)
        return differs(a, path, "is missing", where);
    if (actual->kind != expected->kind)
        return differs(a, path, "has another kind", where);
    if (expected->kind == JSON_BOOL && actual->truth != expected->truth)
        return differs(a, path, "is the other boolean", where);
    if ((expected->kind == JSON_STRING || expected->kind == JSON_NUMBER) &&
        !str_eq(actual->text, expected->text))
        return differs(
            a, path,
            str_printf(a, "is '%.*s', not '%.*s'", STR_ARGS(actual->text), STR_ARGS(expected->text))
                .p,
            where);
    if (expected->kind == JSON_ARRAY && actual->count != expected->count)
        return differs(a, path, "has another number of items", where);
    for (size_t i = 0; i < expected->count; i++) {
        bool object = expected->kind == JSON_OBJECT;
        const struct dom *item = &expected->items[i];
        struct str next = object ? str_printf(a, "%s.%.*s", path, STR_ARGS(item->key))
                                 : str_printf(a, "%s[%zu]", path, i);
        const struct dom *found = object ? dom_member(actual, item->key) : &actual->items[i];

        if (!contains(found, item, a, next.p, where))
            return false;
    }
    return true;
}

bool dom_contains(const struct dom *actual, const struct dom *expected, struct arena *a,
                  struct str *ret_where)
{
    return contains(actual, expected, a, "", ret_where);
}

/* differences.c - compares two JSON bodies and describes their differences in words.
 *
 * Fields are searched linearly, which takes quadratic time in the number of fields of an object,
 * but bodies have at most 128 KiB (TRAFFIC_MAX_TEXT). */
#include "tools/replay/differences.h"

#include "json/read.h"

enum { VALUE_MAX_BYTES = 80, RANDOM_ID_HEX = 32 };

static void append_shortened_json_value(struct buf *out, struct str json)
{
    size_t n = json.n;

    if (n > VALUE_MAX_BYTES) {
        n = VALUE_MAX_BYTES;
        while (n && ((unsigned char)json.p[n] & 0xc0) == 0x80)
            n--;
    }
    buf_add(out, json.p, n);
    if (n < json.n)
        buf_add_lit(out, "…");
}

static void append_difference_sentence(struct body_comparison *c, struct str path,
                                       const char *before, struct str recorded, const char *between,
                                       struct str now)
{
    if (c->out->n)
        buf_add_lit(c->out, "; ");
    buf_add_str(c->out, path.n ? path : STR("the body"));
    buf_add_str(c->out, str_of(before));
    append_shortened_json_value(c->out, recorded);
    buf_add_str(c->out, str_of(between));
    append_shortened_json_value(c->out, now);
}

static enum json_value_kind json_kind_of(struct str json, struct arena *arena)
{
    struct json_reader r;

    json_reader_init(&r, json, arena);
    return json_peek_kind(&r);
}

static bool text_is_json(struct str text, struct arena *arena)
{
    struct json_reader r;

    json_reader_init(&r, text, arena);
    return json_skip_value(&r, NULL) && json_is_at_end(&r);
}

static struct str decode_json_string(struct str json, struct arena *arena)
{
    struct json_reader r;
    struct str text = { 0 };

    json_reader_init(&r, json, arena);
    json_read_string(&r, &text);
    return text;
}

static bool find_json_member(struct str object, struct str name, struct arena *arena,
                             struct str *ret)
{
    struct json_reader r;
    struct str key;

    json_reader_init(&r, object, arena);
    json_enter_container(&r);
    while (json_next_member(&r, &key))
        if (!json_skip_value(&r, ret) || str_eq(key, name))
            return json_reader_has_no_error(&r);
    return false;
}

static bool is_random_id(struct str id)
{
    for (size_t i = 0; i < id.n; i++)
        if (!memchr("0123456789abcdef", id.p[i], 16))
            return false;
    return id.n == RANDOM_ID_HEX;
}

static bool json_path_ends_with(struct str path, const char *end)
{
    struct str last = path;

    for (struct str rest = path; rest.n;)
        last = str_cut(&rest, '.');
    return str_is(last, end);
}

static void compare_json_strings(struct body_comparison *c, struct str path, struct str recorded,
                                 struct str now)
{
    struct str a = decode_json_string(recorded, c->arena), b = decode_json_string(now, c->arena);

    if (str_eq(a, b) || str_is(a, "***") || json_path_ends_with(path, "nonce"))
        return;
    if (json_path_ends_with(path, "custom_id")) {
        c->custom_id_changed(c->arg, a, b);
        if (is_random_id(a) && is_random_id(b))
            return;
    }
    append_difference_sentence(c, path, " was ", recorded, ", is now ", now);
}

static void compare_json_values(struct body_comparison *c, struct str path, struct str recorded,
                                struct str now);

static struct str join_member_path(struct body_comparison *c, struct str path, struct str name)
{
    return path.n ? STR_CONCAT(c->arena, path, STR("."), name) : name;
}

static void compare_json_objects(struct body_comparison *c, struct str path, struct str recorded,
                                 struct str now)
{
    struct json_reader r;
    struct str name, a, b;

    json_reader_init(&r, recorded, c->arena);
    json_enter_container(&r);
    while (json_next_member(&r, &name) && json_skip_value(&r, &a)) {
        if (find_json_member(now, name, c->arena, &b))
            compare_json_values(c, join_member_path(c, path, name), a, b);
        else if (!str_is(name, "nonce"))
            append_difference_sentence(c, join_member_path(c, path, name), " was ", a,
                                       ", is now absent", STR(""));
    }
    json_reader_init(&r, now, c->arena);
    json_enter_container(&r);
    while (json_next_member(&r, &name) && json_skip_value(&r, &b))
        if (!find_json_member(recorded, name, c->arena, &a) && !str_is(name, "nonce"))
            append_difference_sentence(c, join_member_path(c, path, name), " was absent, is now ",
                                       STR(""), "", b);
}

static void compare_json_arrays(struct body_comparison *c, struct str path, struct str recorded,
                                struct str now)
{
    struct json_reader old, new;
    size_t i = 0;

    json_reader_init(&old, recorded, c->arena);
    json_reader_init(&new, now, c->arena);
    json_enter_container(&old);
    json_enter_container(&new);
    for (;; i++) {
        struct str a, b, index = str_printf(c->arena, "%zu", i);
        bool has_old = json_next_item(&old) && json_skip_value(&old, &a);
        bool has_new = json_next_item(&new) && json_skip_value(&new, &b);

        if (!has_old && !has_new)
            return;
        if (has_old && has_new)
            compare_json_values(c, join_member_path(c, path, index), a, b);
        else if (has_old)
            append_difference_sentence(c, join_member_path(c, path, index), " was ", a,
                                       ", is now absent", STR(""));
        else
            append_difference_sentence(c, join_member_path(c, path, index), " was absent, is now ",
                                       STR(""), "", b);
        /* Stop here: a JSON reader that has reached the end of its array must not be used again. */
        if (!has_old || !has_new)
            return;
    }
}

static void compare_json_values(struct body_comparison *c, struct str path, struct str recorded,
                                struct str now)
{
    enum json_value_kind kind = json_kind_of(recorded, c->arena);

    if (str_eq(recorded, now))
        return;
    bool same_kind = kind == json_kind_of(now, c->arena);
    if (same_kind && kind == JSON_OBJECT)
        compare_json_objects(c, path, recorded, now);
    else if (same_kind && kind == JSON_ARRAY)
        compare_json_arrays(c, path, recorded, now);
    else if (same_kind && kind == JSON_STRING)
        compare_json_strings(c, path, recorded, now);
    else
        append_difference_sentence(c, path, " was ", recorded, ", is now ", now);
}

void compare_json_bodies(struct body_comparison *c, struct str recorded, struct str now)
{
    if (str_eq(recorded, now))
        return;
    if (text_is_json(recorded, c->arena) && text_is_json(now, c->arena))
        compare_json_values(c, STR(""), recorded, now);
    else
        append_difference_sentence(c, STR(""), " was ", recorded.n ? recorded : STR("empty"),
                                   ", is now ", now.n ? now : STR("empty"));
}

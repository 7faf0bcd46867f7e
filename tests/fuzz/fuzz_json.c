/* fuzz_json.c - fuzzes the JSON reader and writer. Both readers must agree on what is valid
 * JSON, and the writer's output must parse and serialize to the same text. */
#include "fuzz.h"

#include <math.h>

#include "base/arena.h"
#include "base/utf8.h"
#include "json/read.h"
#include "json/write.h"

static void copy_value(struct json_reader *r, struct json_writer *j);

static void copy_object(struct json_reader *r, struct json_writer *j)
{
    struct str key;

    json_enter_container(r);
    json_begin_object(j);
    while (json_next_member(r, &key)) {
        FUZZ_CHECK(utf8_is_valid(key));
        json_write_escaped_key(j, key);
        copy_value(r, j);
    }
    json_end_object(j);
}

static void copy_array(struct json_reader *r, struct json_writer *j)
{
    json_enter_container(r);
    json_begin_array(j);
    while (json_next_item(r))
        copy_value(r, j);
    json_end_array(j);
}

static void copy_number(struct json_reader *r, struct json_writer *j)
{
    struct json_number n;

    if (!json_read_number(r, &n))
        return;
    if (n.kind == NUMBER_INT)
        json_write_int(j, n.i);
    else if (n.kind == NUMBER_REAL && isfinite(n.d))
        json_write_real(j, n.d);
    else
        json_write_raw(j, n.raw);
}

static void copy_value(struct json_reader *r, struct json_writer *j)
{
    struct str s;
    bool b;

    switch (json_peek_kind(r)) {
    case JSON_OBJECT:
        copy_object(r, j);
        break;
    case JSON_ARRAY:
        copy_array(r, j);
        break;
    case JSON_NUMBER:
        copy_number(r, j);
        break;
    case JSON_STRING:
        if (json_read_string(r, &s)) {
            FUZZ_CHECK(utf8_is_valid(s));
            json_write_text(j, s);
        }
        break;
    case JSON_BOOL:
        if (json_read_bool(r, &b))
            json_write_bool(j, b);
        break;
    case JSON_NULL:
        if (json_read_null(r))
            json_write_null(j);
        break;
    case JSON_BAD:
        break;
    }
}

static bool copy_text(struct str text, struct arena *arena, struct buf *out)
{
    struct json_reader r;
    struct json_writer j = json_writer_to_buf(out);

    json_reader_init(&r, text, arena);
    copy_value(&r, &j);
    FUZZ_CHECK(!buf_is_full(out));
    return json_is_at_end(&r);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct str text = { (const char *)data, size };
    struct arena *arena = arena_new();
    struct buf once, twice;

    buf_init(&once, 64 << 20);
    buf_init(&twice, 64 << 20);
    bool valid = json_is_valid(text);
    FUZZ_CHECK(copy_text(text, arena, &once) == valid);
    if (valid) {
        FUZZ_CHECK(utf8_is_valid(text));
        FUZZ_CHECK(json_is_valid(buf_as_str(&once)));
        FUZZ_CHECK(copy_text(buf_as_str(&once), arena, &twice));
        FUZZ_CHECK(str_eq(buf_as_str(&once), buf_as_str(&twice)));
    }
    buf_clear(&once);
    buf_clear(&twice);
    arena_free(arena);
    return 0;
}

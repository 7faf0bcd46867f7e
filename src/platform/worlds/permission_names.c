/* permission_names.c - reads and writes permission sets as lists of names. */
#include "platform/worlds/import_export.h"

#include "json/read.h"
#include "model/permissions/permissions.h"

static bool parse_permission_name(struct str word, uint64_t *ret)
{
    if (str_is(word, "ALL") || str_is(word, "DEFAULT")) {
        *ret = str_is(word, "ALL") ? PERMISSIONS_ALL : PERMISSIONS_DEFAULT;
        return true;
    }
    for (unsigned bit = 0; bit < 64; bit++) {
        if (get_permission_name(bit) && str_is(word, get_permission_name(bit))) {
            *ret = UINT64_C(1) << bit;
            return true;
        }
    }
    return str_to_u64(word, ret);
}

bool permission_names_parse(struct str json, struct arena *arena, uint64_t *ret,
                            struct str *ret_wrong)
{
    struct json_reader r;
    struct str word;
    uint64_t some, all = 0;

    json_reader_init(&r, json, arena);
    *ret_wrong = json;
    switch (json_peek_kind(&r)) {
    case JSON_ARRAY:
        json_enter_container(&r);
        while (json_next_item(&r)) {
            if (json_peek_kind(&r) != JSON_STRING || !json_read_string(&r, &word))
                return false;
            *ret_wrong = word;
            if (!parse_permission_name(word, &some))
                return false;
            all |= some;
        }
        *ret = all & PERMISSIONS_ALL;
        return json_reader_has_no_error(&r);
    case JSON_STRING:
        json_read_string(&r, &word);
        break;
    case JSON_NUMBER:
        word = str_trim(json);
        break;
    default:
        return false;
    }
    if (!parse_permission_name(word, &all))
        return false;
    *ret = all & PERMISSIONS_ALL;
    return true;
}

struct opt_str permission_names_encode(uint64_t perms, struct arena *arena)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, 64 * 1024);
    json_begin_array(&j);
    for (unsigned bit = 0; bit < 64; bit++)
        if (perms >> bit & 1 && get_permission_name(bit))
            json_write_text(&j, str_of(get_permission_name(bit)));
    json_end_array(&j);
    struct str text = buf_move_to_arena(&out, arena);
    return (struct opt_str){ GIVEN, text };
}

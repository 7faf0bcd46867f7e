/* rights.c - reads and writes permission sets as lists of names. */
#include "platform/worlds/file.h"

#include "json/read.h"
#include "model/permissions/permissions.h"

static bool right_named(struct str word, uint64_t *ret)
{
    if (str_is(word, "ALL") || str_is(word, "DEFAULT")) {
        *ret = str_is(word, "ALL") ? PERMISSIONS_ALL : PERMISSIONS_DEFAULT;
        return true;
    }
    for (unsigned bit = 0; bit < 64; bit++) {
        if (permission_name(bit) && str_is(word, permission_name(bit))) {
            *ret = UINT64_C(1) << bit;
            return true;
        }
    }
    return str_to_u64(word, ret);
}

bool rights_read(struct str json, struct arena *arena, uint64_t *ret, struct str *ret_wrong)
{
    struct json_reader r;
    struct str word;
    uint64_t some, all = 0;

    json_reader_init(&r, json, arena);
    *ret_wrong = json;
    switch (json_peek(&r)) {
    case JSON_ARRAY:
        json_enter(&r);
        while (json_next_item(&r)) {
            if (json_peek(&r) != JSON_STRING || !json_take_string(&r, &word))
                return false;
            *ret_wrong = word;
            if (!right_named(word, &some))
                return false;
            all |= some;
        }
        *ret = all & PERMISSIONS_ALL;
        return json_ok(&r);
    case JSON_STRING:
        json_take_string(&r, &word);
        break;
    case JSON_NUMBER:
        word = str_trim(json);
        break;
    default:
        return false;
    }
    if (!right_named(word, &all))
        return false;
    *ret = all & PERMISSIONS_ALL;
    return true;
}

struct opt_str rights_write(uint64_t rights, struct arena *arena)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, 64 * 1024);
    json_array(&j);
    for (unsigned bit = 0; bit < 64; bit++)
        if (rights >> bit & 1 && permission_name(bit))
            json_text(&j, str_of(permission_name(bit)));
    json_array_end(&j);
    struct str text = buf_take(&out, arena);
    return (struct opt_str){ GIVEN, text };
}

/* old_api_encoding.c - encodes permissions and overwrites as API versions 6 and 7 do. */
#include "model/text/old_api_encoding.h"

#include <string.h>

enum { MAX_DEPTH = 64, OLD_PERMISSION_BITS = 0x7fffffff };

bool parse_api_version(struct str segment, int *ret)
{
    uint64_t number;

    if (segment.n < 2 || segment.p[0] != 'v' || !str_to_u64(str_skip_bytes(segment, 1), &number) ||
        number < VERSION_OLDEST || number > VERSION_NEWEST)
        return false;
    *ret = (int)number;
    return true;
}

/* State while JSON is copied. `at` is the read position. `from` is the start of the text that was
 * not copied yet. overwrites[depth] is true if the read position is inside of permission_overwrites
 * at that depth. */
struct old_encoding {
    const char *at, *end, *from;
    struct buf *out;
    size_t depth;
    bool overwrites[MAX_DEPTH];
};

/* Returns the string at the read position, with its quotation marks. */
static struct str read_string_at_position(const struct old_encoding *r)
{
    const char *p = r->at, *slash;

    do {
        p = memchr(p + 1, '"', (size_t)(r->end - p - 1));
        if (!p)
            return str_slice(r->at, (size_t)(r->end - r->at));
        for (slash = p; slash[-1] == '\\';)
            slash--;
    } while ((p - slash) % 2);
    return str_slice(r->at, (size_t)(p + 1 - r->at));
}

static void copy_unchanged_text(struct old_encoding *r)
{
    buf_add(r->out, r->from, (size_t)(r->at - r->from));
    r->from = r->at;
}

/* Encodes a permission set: "8" becomes the number 8. The string is repeated in a second field,
 * whose name ends with "_new". */
static void encode_permission_set(struct old_encoding *r, struct str key)
{
    struct str text =
        r->at < r->end && *r->at == '"' ? read_string_at_position(r) : (struct str){ 0 };
    uint64_t bits;

    if (text.n < 3 || !str_to_u64(str_slice(text.p + 1, text.n - 2), &bits))
        return;
    copy_unchanged_text(r);
    buf_add_u64(r->out, bits & OLD_PERMISSION_BITS);
    buf_add_char(r->out, ',');
    buf_add(r->out, key.p, key.n - 1);
    buf_add_lit(r->out, "_new\":");
    r->at += text.n;
}

static void encode_overwrite_type(struct old_encoding *r)
{
    if (r->at + 1 >= r->end || (*r->at != '0' && *r->at != '1') ||
        (r->at[1] != ',' && r->at[1] != '}'))
        return;
    copy_unchanged_text(r);
    buf_add_str(r->out, *r->at == '0' ? STR("\"role\"") : STR("\"member\""));
    r->from = ++r->at;
}

/* Copies a string. If the string names a field with permissions, also encodes the value. */
static void encode_string_or_field(struct old_encoding *r)
{
    struct str key = read_string_at_position(r);

    r->at += key.n;
    if (r->at >= r->end || *r->at != ':')
        return;
    r->at++;
    if (str_is(key, "\"permissions\"") || str_is(key, "\"allow\"") || str_is(key, "\"deny\""))
        encode_permission_set(r, key);
    else if (str_is(key, "\"type\"") && r->overwrites[r->depth])
        encode_overwrite_type(r);
    else if (str_is(key, "\"permission_overwrites\"") && r->at < r->end && *r->at == '[') {
        r->at++;
        if (r->depth + 1 < MAX_DEPTH)
            r->overwrites[++r->depth] = true;
    }
}

void encode_json_for_old_api(struct str json, struct buf *out)
{
    struct old_encoding r = { json.p, json.p + json.n, json.p, out, 0, { false } };

    while (r.at < r.end) {
        char c = *r.at;

        if (c == '"') {
            encode_string_or_field(&r);
            continue;
        }
        if ((c == '{' || c == '[') && r.depth + 1 < MAX_DEPTH) {
            r.overwrites[r.depth + 1] = r.overwrites[r.depth];
            r.depth++;
        } else if ((c == '}' || c == ']') && r.depth) {
            r.depth--;
        }
        r.at++;
    }
    copy_unchanged_text(&r);
}

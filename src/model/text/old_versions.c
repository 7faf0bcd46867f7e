/* old_versions.c - encodes permissions and overwrites as API versions 6 and 7 do. */
#include "model/text/old_versions.h"

#include <string.h>

enum { MOST_DEPTH = 64, OLD_BITS = 0x7fffffff };

bool version_read(struct str segment, int *ret)
{
    uint64_t number;

    if (segment.n < 2 || segment.p[0] != 'v' || !str_to_u64(str_from(segment, 1), &number) ||
        number < VERSION_OLDEST || number > VERSION_NEWEST)
        return false;
    *ret = (int)number;
    return true;
}

/* State of the copy. at: read position; from: start of the text that is not copied yet; overwrites:
 * whether the array or object at each depth is part of permission_overwrites. */
struct respelling {
    const char *at, *end, *from;
    struct buf *out;
    size_t depth;
    bool overwrites[MOST_DEPTH];
};

/* Returns the string at the read position, with its quotation marks. */
static struct str string_here(const struct respelling *r)
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

static void respelling_copy(struct respelling *r)
{
    buf_add(r->out, r->from, (size_t)(r->at - r->from));
    r->from = r->at;
}

/* Encodes a permission set: "8" becomes 8, and "8" is repeated under the key with "_new". */
static void respell_bits(struct respelling *r, struct str key)
{
    struct str text = r->at < r->end && *r->at == '"' ? string_here(r) : (struct str){ 0 };
    uint64_t bits;

    if (text.n < 3 || !str_to_u64(str_slice(text.p + 1, text.n - 2), &bits))
        return;
    respelling_copy(r);
    buf_add_u64(r->out, bits & OLD_BITS);
    buf_add_char(r->out, ',');
    buf_add(r->out, key.p, key.n - 1);
    buf_add_lit(r->out, "_new\":");
    r->at += text.n;
}

static void respell_type(struct respelling *r)
{
    if (r->at + 1 >= r->end || (*r->at != '0' && *r->at != '1') ||
        (r->at[1] != ',' && r->at[1] != '}'))
        return;
    respelling_copy(r);
    buf_add_str(r->out, *r->at == '0' ? STR("\"role\"") : STR("\"member\""));
    r->from = ++r->at;
}

/* Copies a string; if it is a key, also encodes its value. */
static void respell_string(struct respelling *r)
{
    struct str key = string_here(r);

    r->at += key.n;
    if (r->at >= r->end || *r->at != ':')
        return;
    r->at++;
    if (str_is(key, "\"permissions\"") || str_is(key, "\"allow\"") || str_is(key, "\"deny\""))
        respell_bits(r, key);
    else if (str_is(key, "\"type\"") && r->overwrites[r->depth])
        respell_type(r);
    else if (str_is(key, "\"permission_overwrites\"") && r->at < r->end && *r->at == '[') {
        r->at++;
        if (r->depth + 1 < MOST_DEPTH)
            r->overwrites[++r->depth] = true;
    }
}

void old_spelling(struct str json, struct buf *out)
{
    struct respelling r = { json.p, json.p + json.n, json.p, out, 0, { false } };

    while (r.at < r.end) {
        char c = *r.at;

        if (c == '"') {
            respell_string(&r);
            continue;
        }
        if ((c == '{' || c == '[') && r.depth + 1 < MOST_DEPTH) {
            r.overwrites[r.depth + 1] = r.overwrites[r.depth];
            r.depth++;
        } else if ((c == '}' || c == ']') && r.depth) {
            r.depth--;
        }
        r.at++;
    }
    respelling_copy(&r);
}

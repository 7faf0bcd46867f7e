/* old_versions.c - how versions 6 and 7 of the interface spell permissions and overwrites. */
#include "model/old_versions.h"

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

/* Where in the text we are. overwrites: whether the list or object at each depth belongs to a
 * channel's overwrites. */
struct respelling {
    const char *at, *end;
    struct buf *out;
    size_t depth;
    bool overwrites[MOST_DEPTH];
};

/* A string with its quotation marks, from where we are. */
static struct str string_here(const struct respelling *r)
{
    const char *p = r->at + 1;

    while (p < r->end && *p != '"')
        p += *p == '\\' ? 2 : 1;
    return str_slice(r->at, (size_t)((p < r->end ? p + 1 : r->end) - r->at));
}

static void respelling_copy(struct respelling *r, size_t n)
{
    buf_add(r->out, r->at, n);
    r->at += n;
}

/* A permission set, where one stands: "8" becomes 8 and, under the second key, "8". */
static void respell_bits(struct respelling *r, struct str key)
{
    struct str text = r->at < r->end && *r->at == '"' ? string_here(r) : (struct str){ 0 };
    uint64_t bits;

    if (text.n < 3 || !str_to_u64(str_slice(text.p + 1, text.n - 2), &bits))
        return;
    buf_printf(r->out, "%llu,\"%.*s_new\":", (unsigned long long)(bits & OLD_BITS),
               STR_FMT(str_slice(key.p + 1, key.n - 2)));
    respelling_copy(r, text.n);
}

static void respell_type(struct respelling *r)
{
    if (r->at + 1 >= r->end || (*r->at != '0' && *r->at != '1') ||
        (r->at[1] != ',' && r->at[1] != '}'))
        return;
    buf_add_str(r->out, *r->at == '0' ? STR("\"role\"") : STR("\"member\""));
    r->at++;
}

/* A string that is a member's name is followed by its value. */
static void respell_string(struct respelling *r)
{
    struct str key = string_here(r);

    respelling_copy(r, key.n);
    if (r->at >= r->end || *r->at != ':')
        return;
    respelling_copy(r, 1);
    if (str_is(key, "\"permissions\"") || str_is(key, "\"allow\"") || str_is(key, "\"deny\""))
        respell_bits(r, key);
    else if (str_is(key, "\"type\"") && r->overwrites[r->depth])
        respell_type(r);
    else if (str_is(key, "\"permission_overwrites\"") && r->at < r->end && *r->at == '[') {
        respelling_copy(r, 1);
        if (r->depth + 1 < MOST_DEPTH)
            r->overwrites[++r->depth] = true;
    }
}

void old_spelling(struct str json, struct buf *out)
{
    struct respelling r = { json.p, json.p + json.n, out, 0, { false } };

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
        respelling_copy(&r, 1);
    }
}

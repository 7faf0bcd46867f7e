/* list_id.c - computes the id of a member list from a channel's overwrites. */
#include "gateway/member_lists/list_id.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "model/permissions/permissions.h"

static uint32_t rotate_left(uint32_t v, int by)
{
    return v << by | v >> (32 - by);
}

static uint32_t murmur_mix(uint32_t block)
{
    return rotate_left(block * 0xcc9e2d51U, 15) * 0x1b873593U;
}

static uint32_t murmur_finish(uint32_t h)
{
    h = (h ^ h >> 16) * 0x85ebca6bU;
    h = (h ^ h >> 13) * 0xc2b2ae35U;
    return h ^ h >> 16;
}

uint32_t murmur3_hash32(const void *bytes, size_t count)
{
    const unsigned char *p = bytes, *end = count ? p + count / 4 * 4 : p;
    uint32_t h = 0, rest = 0;

    for (; p < end; p += 4) {
        uint32_t block = p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;

        h = rotate_left(h ^ murmur_mix(block), 13) * 5 + 0xe6546b64U;
    }
    for (size_t i = count % 4; i; i--)
        rest = rest << 8 | p[i - 1];
    if (count % 4)
        h ^= murmur_mix(rest);
    return murmur_finish(h ^ (uint32_t)count);
}

enum { OVERWRITE_TEXT_BYTES = 32 }; /* maximum length of "allow:" or "deny:" with an id, in bytes */

static int compare_overwrite_texts(const void *a, const void *b)
{
    return strcmp(a, b);
}

static size_t format_view_channel_overwrites(const struct overwrite *o, size_t count,
                                             char (*ret)[OVERWRITE_TEXT_BYTES])
{
    const uint64_t view = PERMISSION(VIEW_CHANNEL);
    size_t n = 0;

    for (size_t i = 0; i < count; i++)
        if ((o[i].allow | o[i].deny) & view)
            snprintf(ret[n++], OVERWRITE_TEXT_BYTES, "%s:%llu",
                     o[i].allow & view ? "allow" : "deny", (unsigned long long)o[i].id);
    qsort(ret, n, sizeof *ret, compare_overwrite_texts);
    return n;
}

static bool overwrites_deny_view_channel(const struct overwrite *o, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (o[i].deny & ~o[i].allow & PERMISSION(VIEW_CHANNEL))
            return true;
    return false;
}

void compute_member_list_id(bool everybody, const struct overwrite *overwrites, size_t count,
                            char ret[LIST_ID_MAX])
{
    char(*texts)[OVERWRITE_TEXT_BYTES];
    struct buf joined;

    if (everybody && !overwrites_deny_view_channel(overwrites, count)) {
        snprintf(ret, LIST_ID_MAX, "everyone");
        return;
    }
    texts = mem_new((count + 1) * sizeof *texts);
    buf_init(&joined, (count + 1) * sizeof *texts);
    size_t n = format_view_channel_overwrites(overwrites, count, texts);
    for (size_t i = 0; i < n; i++) {
        if (i)
            buf_add_lit(&joined, ",");
        buf_add_str(&joined, str_of(texts[i]));
    }
    snprintf(ret, LIST_ID_MAX, "%u", murmur3_hash32(joined.p, joined.n));
    buf_clear(&joined);
    mem_free(texts);
}

/* merging.c - merges the segments of the FTS5 index in steps, on SQLite.
 *
 * Each transaction that writes to the index adds a segment, and a search reads each segment. FTS5's
 * own merging (automerge) is disabled, because it merges hundreds of pages in one transaction.
 * While messages are indexed, segments of similar size are merged (usermerge). When no message is
 * left to index, all segments are merged into one if the small ones have a quarter of the size of
 * the largest, so that a page is rewritten about five times. */
#include "platform/search/internal.h"

enum {
    STEP_PAGES = 16, /* pages per step, about 5 ms; a step ends only between two terms */
    STRUCTURE_COOKIE_BYTES = 4,
    /* If more segments exist, the job merges some before it indexes. With 64 of similar size, FTS5
     * would merge all of them in one transaction (crisismerge). */
    MAX_SEGMENTS = 32,
};

/* The segments of the index, from FTS5's structure record: a cookie, then the numbers of levels and
 * segments and a counter, then for each level the number of segments that are being merged and the
 * number of segments, and for each segment its id, first page and last page. */
struct index_segments {
    int64_t count, pages, largest;
    bool merging; /* whether a merge has begun */
};

/* Removes and returns a number in SQLite's format: 7 bits per byte, the highest first. All numbers
 * here have less than 9 bytes. */
static int64_t read_varint(struct str *bytes)
{
    int64_t n = 0;

    while (bytes->n) {
        unsigned char c = (unsigned char)bytes->p[0];

        *bytes = str_skip_bytes(*bytes, 1);
        n = (n << 7) | (c & 0x7f);
        if (!(c & 0x80))
            break;
    }
    return n;
}

static struct index_segments parse_structure(struct str bytes)
{
    struct index_segments s = { 0 };

    bytes = str_skip_bytes(bytes, STRUCTURE_COOKIE_BYTES);
    int64_t levels = read_varint(&bytes);

    read_varint(&bytes);
    read_varint(&bytes);
    for (; levels > 0 && bytes.n; levels--) {
        s.merging = read_varint(&bytes) > 0 || s.merging;
        for (int64_t left = read_varint(&bytes); left > 0 && bytes.n; left--) {
            read_varint(&bytes);
            int64_t first = read_varint(&bytes), pages = read_varint(&bytes) - first + 1;

            s.count++;
            s.pages += pages;
            s.largest = pages > s.largest ? pages : s.largest;
        }
    }
    return s;
}

/* FTS5 writes the record without a statement of ours. random() keeps it out of the query cache. */
static const char READ_STRUCTURE[] =
    "select block from message_index_data where id = 10 and random() is not null";
/* A negative number of pages begins to merge all segments into one. */
static const char MERGE[] = "insert into message_index (message_index, rank) values ('merge', $1)";

static enum err read_structure(struct call *call, struct str *ret)
{
    struct rows r;
    bool found;
    enum err e = tx_one(call->tx, READ_STRUCTURE, NO_BIND, &r, &found);

    *ret = !e && found ? row_bytes(&r, 0) : (struct str){ 0 };
    return e;
}

enum err message_index_has_many_segments(struct call *call, bool *ret)
{
    struct str structure = { 0 };
    enum err e = message_index_is_sqlite(call) ? read_structure(call, &structure) : OK;

    *ret = !e && parse_structure(structure).count > MAX_SEGMENTS;
    return e;
}

enum err message_index_merge_step(struct call *call, bool all, bool *ret_merged)
{
    struct str before, after;

    *ret_merged = false;
    if (!message_index_is_sqlite(call))
        return OK;
    enum err e = read_structure(call, &before);
    if (e)
        return e;
    struct index_segments s = parse_structure(before);
    bool begin = all && !s.merging && s.count > 1 && 4 * (s.pages - s.largest) >= s.largest;

    e = tx_exec(call->tx, MERGE, BIND(v_int(begin ? -STEP_PAGES : STEP_PAGES)), NULL);
    if (!e)
        e = read_structure(call, &after);
    *ret_merged = !e && !str_eq(before, after);
    return e;
}

/* prefix_search.c - finds messages with a word that begins with a prefix, on SQLite.
 *
 * FTS5 merges the rows of all words with the prefix before it returns the first row, even those of
 * other guilds. This takes seconds if the words are common. So the newest (or oldest) messages that
 * match the other filters are read first, and their terms are compared with the prefix. Only if few
 * of them match, and the prefix is not common in other guilds, FTS5 searches, because it then has
 * few rows to merge. */
#include "platform/search/internal.h"

#include "model/fields/ids.h"

enum {
    SAMPLE = 500,                   /* messages that are always read */
    MAX_MESSAGES_READ = 80000,      /* messages that are read at most: about 50 ms */
    SAMPLE_PARTS = 5,               /* parts of the sample of all guilds */
    COMMON_ELSEWHERE = SAMPLE / 50, /* matches in that sample from which a prefix may be common */
};

struct prefix_scan {
    struct call *call;
    struct str query; /* the filters without the prefix, as an FTS5 query */
    struct str prefix;
    struct search_id_range left; /* messages that are not read yet; .limit is that of the search */
    struct list found;           /* snowflakes */
    size_t count;                /* messages that were read */
    bool finished;               /* whether all messages were read, or enough were found */
};

/* Returns whether the character is part of a term, as FTS5's tokenizer decides. */
static bool is_term_char(char c)
{
    return (c & 0x80) || c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
           (c >= 'A' && c <= 'Z');
}

static bool terms_have_prefix(struct str terms, struct str prefix)
{
    for (size_t i = 0; i + prefix.n <= terms.n; i++) {
        const char *p = memchr(terms.p + i, prefix.p[0], terms.n - prefix.n + 1 - i);

        if (!p)
            return false;
        i = (size_t)(p - terms.p);
        if ((i == 0 || !is_term_char(p[-1])) && memcmp(p, prefix.p, prefix.n) == 0)
            return true;
    }
    return false;
}

/* Joins FTS5's own table, because the column `words` of the index takes twice as long. */
#define READ_TERMS                                                            \
    "select i.rowid, c.c0 from message_index i join message_index_content c " \
    "on c.id = i.rowid where i.message_index match $1 and i.rowid > $2 and "  \
    "i.rowid < $3 order by i.rowid "
static const char READ_NEWEST_TERMS[] = READ_TERMS "desc limit $4";
static const char READ_OLDEST_TERMS[] = READ_TERMS "asc limit $4";

static enum err prefix_scan_read(struct prefix_scan *s, size_t limit)
{
    struct search_id_range *left = &s->left;
    size_t before = s->count;
    struct rows r;
    enum err e = tx_query(
        s->call->tx, left->oldest ? SQL(READ_OLDEST_TERMS) : SQL(READ_NEWEST_TERMS),
        BIND(v_text(s->query), v_id(left->above), v_id(left->below), v_int((int64_t)limit)), &r);

    if (e)
        return e;
    r.lent = true;
    while ((int64_t)s->found.count < left->limit && rows_next(&r)) {
        snowflake id = row_id(&r, 0);

        *(left->oldest ? &left->above : &left->below) = id;
        s->count++;
        if (terms_have_prefix(row_text(&r, 1), s->prefix))
            id_list_add(s->call->arena, &s->found, id);
    }
    s->finished = (int64_t)s->found.count == left->limit || s->count - before < limit;
    return rows_end(&r);
}

/* Returns whether reading at most MAX_MESSAGES_READ messages probably finds enough of them. */
static bool prefix_is_common(const struct prefix_scan *s)
{
    return s->found.count * MAX_MESSAGES_READ >= s->count * (size_t)s->left.limit;
}

static const char READ_ID_RANGE[] =
    "select (select min(id) from messages), (select max(id) from messages)";
static const char READ_TERMS_OF_ALL[] =
    "select words from message_index where rowid <= $1 order by rowid desc limit $2";

/* Counts the messages with the prefix among SAMPLE messages of all guilds. The sample has parts
 * that are spread over the time since the first message. */
static enum err count_prefix_in_all_guilds(const struct prefix_scan *s, size_t *ret)
{
    struct tx *tx = s->call->tx;
    struct rows r;
    bool found;
    enum err e = tx_one(tx, READ_ID_RANGE, NO_BIND, &r, &found);
    snowflake first = e ? 0 : row_id(&r, 0), last = e ? 0 : row_id(&r, 1);

    *ret = 0;
    for (snowflake i = 1; !e && i <= SAMPLE_PARTS; i++) {
        e = tx_query(
            tx, READ_TERMS_OF_ALL,
            BIND(v_id(first + (last - first) / SAMPLE_PARTS * i), v_int(SAMPLE / SAMPLE_PARTS)),
            &r);
        r.lent = true;
        while (!e && rows_next(&r))
            *ret += terms_have_prefix(row_text(&r, 0), s->prefix);
        e = e ? e : rows_end(&r);
    }
    return e;
}

/* Determines whether the prefix is much more common in all guilds than in the messages that match
 * the other filters. Then FTS5 would mostly read rows of other guilds. */
static enum err find_whether_prefix_is_common_elsewhere(const struct prefix_scan *s, bool *ret)
{
    size_t count;
    enum err e = count_prefix_in_all_guilds(s, &count);

    *ret = !e && count >= COMMON_ELSEWHERE && count > 4 * s->found.count;
    return e;
}

static struct search_term_filter *find_prefix_filter(const struct search_terms *t)
{
    struct search_term_filter *g = t->groups.items;

    for (size_t i = 0; i < t->groups.count; i++)
        if (g[i].prefix)
            return &g[i];
    return NULL;
}

static struct str format_query_without_filter(struct arena *a, const struct search_terms *t,
                                              const struct search_term_filter *without)
{
    const struct search_term_filter *g = t->groups.items;
    struct search_terms others = { 0 };

    for (size_t i = 0; i < t->groups.count; i++)
        if (&g[i] != without)
            *search_terms_add_filter(a, &others) = g[i];
    return search_terms_to_index_query(a, &others, true);
}

/* Searches for the exact word. If this finds less than the limit, *ret stays unchanged. */
static enum err find_exact_word(struct call *call, struct search_terms *t,
                                struct search_term_filter *word, const struct search_id_range *r,
                                struct list *ret)
{
    struct search_phrase *p = t->phrases.items;
    struct search_terms word_only = { 0 };
    struct list exact;

    word->prefix = false;
    *search_terms_add_filter(call->arena, &word_only) = *word;
    /* The word alone is found faster than together with, for example, a large guild. */
    enum err e = message_index_find_terms(call, &word_only, r, &exact);
    if (!e && (int64_t)exact.count == r->limit)
        e = message_index_find_terms(call, t, r, &exact);
    word->prefix = e || (int64_t)exact.count < r->limit;
    if (word->prefix)
        return e;
    for (size_t i = 0; i < t->phrases.count; i++)
        p[i].prefix = false;
    *ret = exact;
    return OK;
}

enum err message_index_search(struct call *call, struct search_terms *t,
                              const struct search_id_range *r, bool exact_word_suffices,
                              struct list *ret)
{
    struct search_term_filter *word = message_index_is_sqlite(call) ? find_prefix_filter(t) : NULL;

    if (!word)
        return message_index_find_terms(call, t, r, ret);
    struct prefix_scan s = { .call = call,
                             .query = format_query_without_filter(call->arena, t, word),
                             .prefix = *(const struct str *)word->any.items,
                             .left = *r };
    enum err e = prefix_scan_read(&s, SAMPLE);
    /* If the sample contains all messages, fewer than the limit have the exact word. */
    if (!e && exact_word_suffices && !s.finished)
        e = find_exact_word(call, t, word, r, ret);
    if (e || !word->prefix)
        return e;
    bool reads_more = !s.finished && prefix_is_common(&s);
    if (!s.finished && !reads_more)
        e = find_whether_prefix_is_common_elsewhere(&s, &reads_more);
    if (!e && reads_more)
        e = prefix_scan_read(&s, MAX_MESSAGES_READ - SAMPLE);
    if (e || !s.finished)
        return e ? e : message_index_find_terms(call, t, r, ret);
    *ret = s.found;
    return OK;
}

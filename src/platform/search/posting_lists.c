/* posting_lists.c - splits the posting lists of common terms, on SQLite.
 *
 * FTS5 merges a posting list, the list of all messages with a term, in one step, which blocks the
 * writer. So a list ends after about 100,000 messages, and further messages get the next list: the
 * terms "word", "word_1", "word_2" and so on. A search reads all of them. About one in 256 messages
 * of each term is counted in message_index_terms, and only once, so that edits add no lists. */
#include "platform/search/internal.h"

#include <inttypes.h>
#include <sodium.h>
#include <stdlib.h>

#include "base/hash.h"
#include "model/fields/rows.h"

enum {
    COUNTED_ONE_IN = 256,
    COUNTED_PER_LIST = 400, /* also in READ_LONG_TERMS and in the index of the table */
};

struct long_term {
    int64_t digest, counted;
};

static const char READ_LONG_TERMS[] =
    "select digest, counted from message_index_terms where counted >= 400 order by digest";
static const char ADD_COUNTED_MESSAGE[] =
    "insert into message_index_counted (digest, message_id) values ($1, $2) on conflict do nothing";
static const char COUNT_TERM[] = "insert into message_index_terms (digest, counted) values ($1, 1) "
                                 "on conflict (digest) do update set counted = counted + 1";

static void long_term_from_row(const struct rows *r, void *ret)
{
    *(struct long_term *)ret = (struct long_term){ row_int(r, 0), row_int(r, 1) };
}

enum err message_index_read_long_terms(struct call *call, struct list *ret)
{
    *ret = (struct list){ 0 };
    return message_index_is_sqlite(call)
               ? tx_read_list(call->tx, READ_LONG_TERMS, NO_BIND, sizeof(struct long_term),
                              long_term_from_row, ret)
               : OK;
}

static int64_t digest_search_term(struct str term)
{
    static const unsigned char key[crypto_shorthash_KEYBYTES]; /* constant: digests are stored */
    int64_t digest;

    crypto_shorthash((unsigned char *)&digest, (const unsigned char *)term.p, term.n, key);
    return digest;
}

static int compare_long_terms(const void *a, const void *b)
{
    int64_t x = ((const struct long_term *)a)->digest, y = ((const struct long_term *)b)->digest;

    return (x > y) - (x < y);
}

int64_t last_posting_list_of_term(const struct list *long_terms, struct str term)
{
    if (!long_terms->count)
        return 0;
    struct long_term key = { .digest = digest_search_term(term) };
    const struct long_term *t =
        bsearch(&key, long_terms->items, long_terms->count, sizeof key, compare_long_terms);
    return t ? t->counted / COUNTED_PER_LIST : 0;
}

enum err message_index_count_terms(struct call *call, const struct search_document *d)
{
    const struct str *m = d->marks.items;
    int64_t added;
    enum err e = OK;

    for (size_t i = 0; !e && i < d->marks.count; i++) {
        int64_t digest = digest_search_term(m[i]);

        if (hash_u64((uint64_t)digest ^ d->id) % COUNTED_ONE_IN)
            continue;
        e = tx_exec(call->tx, ADD_COUNTED_MESSAGE, BIND(v_int(digest), v_id(d->id)), &added);
        if (!e && added)
            e = tx_exec(call->tx, COUNT_TERM, BIND(v_int(digest)), NULL);
    }
    return e;
}

static void add_further_posting_lists(struct arena *a, const struct list *long_terms,
                                      struct list *terms)
{
    for (size_t i = 0, count = terms->count; i < count; i++) {
        struct str term = ((const struct str *)terms->items)[i];
        int64_t last = last_posting_list_of_term(long_terms, term);

        for (int64_t n = 1; n <= last; n++)
            *(struct str *)list_append(a, terms, sizeof term) =
                str_printf(a, "%.*s_%" PRId64, STR_ARGS(term), n);
    }
}

enum err search_terms_add_posting_lists(struct call *call, struct search_terms *t)
{
    struct search_term_filter *g = t->groups.items;
    struct list long_terms;
    enum err e = message_index_read_long_terms(call, &long_terms);

    for (size_t i = 0; !e && i < t->groups.count; i++) {
        add_further_posting_lists(call->arena, &long_terms, &g[i].any);
        add_further_posting_lists(call->arena, &long_terms, &g[i].unless);
    }
    return e;
}

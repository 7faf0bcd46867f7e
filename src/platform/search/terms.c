/* terms.c - converts a search to terms and an index query, and evaluates the terms on one
 * message. */
#include "platform/search/internal.h"

#include <stdlib.h>

#include "base/utf8.h"
#include "model/text/search_words.h"

/* Minimum number of characters of a prefix. Shorter prefixes match too many words. */
enum { SHORTEST_PREFIX = 4 };

struct search_term_filter *search_terms_add_filter(struct arena *a, struct search_terms *t)
{
    return list_append(a, &t->groups, sizeof(struct search_term_filter));
}

void search_term_filter_add_term(struct arena *a, struct search_term_filter *g, struct str mark)
{
    *(struct str *)list_append(a, &g->any, sizeof mark) = mark;
}

/* --- filters -------------------------------------------------------------------------- */

static void add_id_filter(struct arena *a, struct search_terms *t, char kind,
                          const struct list *ids)
{
    struct search_term_filter *g = ids->count ? search_terms_add_filter(a, t) : NULL;

    for (size_t i = 0; i < ids->count; i++)
        search_term_filter_add_term(a, g,
                                    search_term_of_id(a, kind, ((const snowflake *)ids->items)[i]));
}

static void add_name_filter(struct arena *a, struct search_terms *t, char kind,
                            const struct list *names)
{
    struct search_term_filter *g = names->count ? search_terms_add_filter(a, t) : NULL;

    for (size_t i = 0; i < names->count; i++)
        search_term_filter_add_term(
            a, g, search_term_of_name(a, kind, ((const struct str *)names->items)[i]));
}

static void add_flag_filter(struct arena *a, struct search_terms *t, const char *mark,
                            const struct opt_bool *wanted)
{
    if (wanted->given != GIVEN)
        return;
    struct search_term_filter *g = search_terms_add_filter(a, t);
    g->none = !wanted->value;
    search_term_filter_add_term(a, g, str_of(mark));
}

/* Adds up to two filters: messages must have one of the values, and none of the values that start
 * with a minus. `before` is the prefix of the index terms. */
static void add_include_and_exclude_filters(struct arena *a, struct search_terms *t,
                                            const struct list *kinds, const char *before)
{
    const struct str *k = kinds->items;
    struct search_term_filter some = { 0 }, none = { .none = true };

    for (size_t i = 0; i < kinds->count; i++) {
        bool minus = k[i].p[0] == '-';

        search_term_filter_add_term(a, minus ? &none : &some,
                                    STR_CONCAT(a, str_of(before), str_skip_bytes(k[i], minus)));
    }
    if (some.any.count)
        *search_terms_add_filter(a, t) = some;
    if (none.any.count)
        *search_terms_add_filter(a, t) = none;
}

/* Adds the filter for author_type. Messages of users have no index term of their own: they are
 * those without the terms for bots and webhooks. */
static void add_author_type_filter(struct arena *a, struct search_terms *t,
                                   const struct list *kinds)
{
    static const char *const names[] = { "user", "bot", "webhook" };
    bool some[3] = { 0 }, none[3] = { 0 }, any = false;

    for (size_t i = 0; i < kinds->count; i++) {
        struct str k = ((const struct str *)kinds->items)[i];
        bool minus = k.p[0] == '-';

        for (int n = 0; n < 3; n++)
            if (str_is(str_skip_bytes(k, minus), names[n]))
                *(minus ? &none[n] : &some[n]) = true;
        any = any || !minus;
    }
    for (int n = 0; n < 3; n++)
        none[n] = none[n] || (any && !some[n]);
    if (none[0]) {
        struct search_term_filter *g = search_terms_add_filter(a, t);

        search_term_filter_add_term(a, g, STR("_bot"));
        search_term_filter_add_term(a, g, STR("_webhook"));
    }
    for (int n = 1; n < 3; n++)
        if (none[n])
            add_flag_filter(a, t, n == 1 ? "_bot" : "_webhook", &(struct opt_bool){ GIVEN, false });
}

/* --- words ---------------------------------------------------------------------------- */

static struct search_phrase parse_phrase(struct arena *a, struct str text, int64_t slop)
{
    struct search_phrase p = { .words =
                                   split_into_search_words(a, normalize_search_text(a, text), true),
                               .slop = slop };
    const struct str *w = p.words.items;

    p.prefix = p.words.count && utf8_length(w[p.words.count - 1]) >= SHORTEST_PREFIX;
    return p;
}

static void add_word_filters(struct arena *a, struct search_terms *t, const struct search_phrase *p)
{
    for (size_t i = 0; i < p->words.count; i++) {
        struct search_term_filter *g = search_terms_add_filter(a, t);

        g->prefix = p->prefix && i + 1 == p->words.count;
        search_term_filter_add_term(a, g, ((const struct str *)p->words.items)[i]);
    }
}

static void append_nonempty_phrase(struct arena *a, struct list *to, const struct search_phrase *p)
{
    if (p->words.count)
        *(struct search_phrase *)list_append(a, to, sizeof *p) = *p;
}

/* Parses a phrase such as "2|some words": the slop (number of other words allowed in between), then
 * the words. If the text has no number, the slop is the parameter. */
static struct search_phrase parse_phrase_with_slop(struct arena *a, struct str part, int64_t slop)
{
    struct str rest = part, number = str_cut(&rest, '|');
    int64_t own;

    if (number.n < part.n && str_to_i64(number, &own) && own >= 0 && own <= 100)
        return parse_phrase(a, rest, own);
    return parse_phrase(a, part, slop);
}

/* Adds a filter that matches no message, because the query contains no word. */
static void add_never_matching_filter(struct arena *a, struct search_terms *t)
{
    search_term_filter_add_term(a, search_terms_add_filter(a, t), STR("_nothing"));
}

/* Adds filters for the phrases of the query. The index query only requires the first word of one of
 * the phrases; search_terms_match_content then checks the whole phrases. Phrases without words
 * match nothing and are skipped. */
static void add_contents_filter(struct arena *a, struct search_terms *t,
                                const struct search_query *q)
{
    struct search_term_filter g = { 0 };

    for (size_t i = 0; i < q->contents.count; i++) {
        struct search_phrase p =
            parse_phrase_with_slop(a, ((const struct str *)q->contents.items)[i], q->slop);

        p.prefix = false;
        append_nonempty_phrase(a, &t->any_phrases, &p);
        if (p.words.count)
            search_term_filter_add_term(a, &g, ((const struct str *)p.words.items)[0]);
    }
    if (g.any.count)
        *search_terms_add_filter(a, t) = g;
    else if (q->contents.count)
        add_never_matching_filter(a, t);
}

/* Adds a filter for file names. If the query has one name, a message must have all words of the
 * name. If it has several names, one word of any name suffices. */
static void add_filename_filter(struct arena *a, struct search_terms *t, const struct list *names)
{
    struct search_term_filter *g = NULL;

    for (size_t i = 0; i < names->count; i++) {
        struct list words = split_into_search_words(
            a, normalize_search_text(a, ((const struct str *)names->items)[i]), true);

        for (size_t n = 0; n < words.count; n++) {
            if (!g || names->count == 1)
                g = search_terms_add_filter(a, t);
            search_term_filter_add_term(
                a, g, search_term_of_word(a, 'n', ((const struct str *)words.items)[n]));
        }
    }
    if (names->count && !g)
        add_never_matching_filter(a, t);
}

void search_terms_add_query(struct arena *a, const struct search_query *q, struct search_terms *t)
{
    struct search_phrase content = parse_phrase(a, q->content.value, q->slop);

    add_word_filters(a, t, &content);
    if (str_trim(q->content.value).n && !content.words.count)
        add_never_matching_filter(a, t);
    append_nonempty_phrase(a, &t->phrases, &content);
    add_contents_filter(a, t, q);
    add_id_filter(a, t, 'a', &q->author_id);
    add_author_type_filter(a, t, &q->author_type);
    add_id_filter(a, t, 'm', &q->mentions);
    add_id_filter(a, t, 'r', &q->mentions_role_id);
    add_id_filter(a, t, 's', &q->replied_to_user_id);
    add_id_filter(a, t, 'w', &q->replied_to_message_id);
    add_flag_filter(a, t, "_everyone", &q->mention_everyone);
    add_flag_filter(a, t, "_pinned", &q->pinned);
    add_include_and_exclude_filters(a, t, &q->has, "_has");
    add_include_and_exclude_filters(a, t, &q->embed_type, "_t");
    add_name_filter(a, t, 'v', &q->embed_provider);
    add_name_filter(a, t, 'h', &q->link_hostname);
    add_name_filter(a, t, 'x', &q->attachment_extension);
    add_filename_filter(a, t, &q->attachment_filename);
}

/* --- query text ----------------------------------------------------------------------- */

/* Writes alternatives: ("a" OR "b") for SQLite, ('a' | 'b') for PostgreSQL. The terms need no
 * escapes, because they contain only letters, digits and underscores. If `prefix` is true, writes
 * only the first: the others are its further posting lists, which begin with it. */
static void write_term_alternatives(struct buf *out, const struct list *marks, bool prefix,
                                    bool sqlite)
{
    const struct str *m = marks->items;
    const char *quote = sqlite ? "\"" : "'";

    buf_add_char(out, '(');
    for (size_t i = 0; i < (prefix ? 1 : marks->count); i++)
        buf_printf(out, "%s%s%.*s%s%s",
                   i == 0   ? ""
                   : sqlite ? " OR "
                            : " | ",
                   quote, STR_ARGS(m[i]), quote,
                   !prefix  ? ""
                   : sqlite ? "*"
                            : ":*");
    buf_add_char(out, ')');
}

static void write_term_exclusion(struct buf *out, const struct search_term_filter *g, bool sqlite)
{
    buf_add_str(out, sqlite ? STR(" NOT (") : STR(" & !("));
    write_term_alternatives(out, &g->any, false, sqlite);
    if (g->unless.count) {
        buf_add_str(out, sqlite ? STR(" NOT ") : STR(" & !"));
        write_term_alternatives(out, &g->unless, false, sqlite);
    }
    buf_add_char(out, ')');
}

struct str search_terms_to_index_query(struct arena *a, const struct search_terms *t, bool sqlite)
{
    const struct search_term_filter *g = t->groups.items;
    struct buf text;
    bool first = true;

    buf_init(&text, 1024 * 1024);
    buf_add_char(&text, '(');
    for (size_t i = 0; i < t->groups.count; i++) {
        if (g[i].none)
            continue;
        if (!first)
            buf_add_str(&text, sqlite ? STR(" AND ") : STR(" & "));
        write_term_alternatives(&text, &g[i].any, g[i].prefix, sqlite);
        first = false;
    }
    buf_add_char(&text, ')');
    for (size_t i = 0; i < t->groups.count; i++)
        if (g[i].none)
            write_term_exclusion(&text, &g[i], sqlite);
    return buf_move_to_arena(&text, a);
}

/* --- evaluation on one message -------------------------------------------------------- */

static int compare_search_terms(const void *a, const void *b)
{
    return str_cmp(*(const struct str *)a, *(const struct str *)b);
}

/* Searches the sorted terms of a message for a term or, if prefix is true, for a term that starts
 * with `mark`. */
static bool document_has_term(const struct search_document *d, struct str mark, bool prefix)
{
    const struct str *m = d->marks.items;
    size_t low = 0, high = d->marks.count;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (str_cmp(m[middle], mark) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    return low < d->marks.count && (prefix ? str_starts_with(m[low], mark) : str_eq(m[low], mark));
}

static bool document_has_any_term(const struct search_document *d, const struct list *marks,
                                  bool prefix)
{
    for (size_t i = 0; i < marks->count; i++)
        if (document_has_term(d, ((const struct str *)marks->items)[i], prefix))
            return true;
    return false;
}

static bool filter_matches_document(const struct search_document *d,
                                    const struct search_term_filter *g)
{
    bool any = document_has_any_term(d, &g->any, g->prefix);

    return g->none ? !any || document_has_any_term(d, &g->unless, false) : any;
}

bool search_terms_match_message(const struct search_terms *t, struct search_document *d)
{
    const struct search_term_filter *g = t->groups.items;

    if (d->marks.count)
        qsort(d->marks.items, d->marks.count, sizeof(struct str), compare_search_terms);
    for (size_t i = 0; i < t->groups.count; i++)
        if (!filter_matches_document(d, &g[i]))
            return false;
    return true;
}

/* --- word order and distance ---------------------------------------------------------- */

static bool phrase_word_matches(const struct search_phrase *p, size_t n, struct str word)
{
    struct str wanted = ((const struct str *)p->words.items)[n];

    return p->prefix && n + 1 == p->words.count ? str_starts_with(word, wanted)
                                                : str_eq(word, wanted);
}

/* Returns whether a text contains the phrase. While word n of the phrase is processed,
 * matched_at[i] is true if it matches word i of the text and the previous words match before it.
 * Takes O(text length × phrase length). */
static bool phrase_matches(struct arena *a, const struct search_phrase *p, const struct list *words)
{
    const struct str *w = words->items;
    bool *matched_at = arena_array(a, bool, words->count + 1), any = true;

    for (size_t n = 0; n < p->words.count && any; n++) {
        int64_t last =
            -1; /* index of the last text word that matched the previous word of the phrase */

        any = false;
        for (size_t i = 0; i < words->count; i++) {
            bool near = n == 0 || (last >= 0 && (int64_t)i - last - 1 <= p->slop);
            bool before = matched_at[i];

            matched_at[i] = near && phrase_word_matches(p, n, w[i]);
            any = any || matched_at[i];
            if (before)
                last = (int64_t)i;
        }
    }
    return any && words->count;
}

static size_t count_matching_words(const struct search_phrase *p, const struct list *words)
{
    size_t found = 0;

    for (size_t i = 0; i < words->count; i++)
        for (size_t n = 0; n < p->words.count; n++)
            if (phrase_word_matches(p, n, ((const struct str *)words->items)[i])) {
                found++;
                break;
            }
    return found;
}

bool search_terms_match_content(struct arena *a, const struct search_terms *t, struct str content,
                                double *ret_score)
{
    struct list words = split_into_search_words(a, normalize_search_text(a, content), false);
    const struct search_phrase *all = t->phrases.items, *any = t->any_phrases.items;
    bool good = t->any_phrases.count == 0;
    size_t found = 0;

    for (size_t i = 0; i < t->phrases.count; i++) {
        if (!phrase_matches(a, &all[i], &words))
            return false;
        found += count_matching_words(&all[i], &words);
    }
    for (size_t i = 0; i < t->any_phrases.count; i++) {
        good = good || phrase_matches(a, &any[i], &words);
        found += count_matching_words(&any[i], &words);
    }
    *ret_score = (double)found / (double)(words.count + 4);
    return good;
}

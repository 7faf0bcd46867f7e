/* internal.h - what the files of search/ share. */
#ifndef PLATFORM_SEARCH_INTERNAL_H
#define PLATFORM_SEARCH_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "platform/search/search.h"

enum {
    SEARCH_MOST = 10000,    /* results that are counted: the last page ends here */
    SEARCH_UNINDEXED = 2000 /* messages that a search looks through itself */
};

/* --- document.c: a message as marks --------------------------------------------------- */

struct search_document {
    snowflake id;
    struct list marks; /* struct str */
};

/* Marks of things with an id, such as "_g81384788765712384". */
struct str mark_of_id(struct arena *a, char kind, snowflake id);
/* Marks of names, which may be long or have any characters: a digest of the name in lower case. */
struct str mark_of_name(struct arena *a, char kind, struct str name);
/* Marks of words, such as those of a file's name. */
struct str mark_of_word(struct arena *a, char kind, struct str word);

/* So many of the noted messages: the newest first, or the oldest. ret: struct search_document. */
enum err documents_unindexed(struct tx *tx, bool newest, int64_t limit, struct list *ret);

/* --- query.c: what may be asked for --------------------------------------------------- */

struct search_query {
    int64_t limit, offset, slop;
    struct opt_id min_id, max_id;
    struct opt_str content, sort_by, sort_order;
    struct list contents, channel_id, author_id, author_type, mentions, mentions_role_id,
        replied_to_user_id, replied_to_message_id, has, embed_type, embed_provider, link_hostname,
        attachment_extension, attachment_filename;
    struct opt_bool mention_everyone, pinned, include_nsfw;
};
extern const struct schema guild_search_schema, channel_search_schema;

/* --- terms.c: a search as a question to the index --------------------------------------- */

/* One of these marks, or none of them. */
struct term_group {
    struct list any; /* struct str */
    bool prefix;     /* the only one is the beginning of a word */
    bool none;
    struct list unless; /* struct str: with none, one of these makes it good again */
};
/* Words that stand in this order with so many others between two of them at most. */
struct term_phrase {
    struct list words; /* struct str */
    int64_t slop;
    bool prefix; /* the last one may be the beginning of a word */
};
struct search_terms {
    struct list groups;      /* struct term_group: all of them hold */
    struct list phrases;     /* struct term_phrase: all of them hold */
    struct list any_phrases; /* struct term_phrase: one of them holds */
};

struct term_group *terms_group(struct arena *a, struct search_terms *t);
void terms_add_mark(struct arena *a, struct term_group *g, struct str mark);
/* What the query says, except where. */
void terms_of_query(struct arena *a, const struct search_query *q, struct search_terms *t);
/* For the index of this engine. */
struct str terms_text(struct arena *a, const struct search_terms *t, bool sqlite);
bool terms_match(const struct search_terms *t, struct search_document *d);
/* Do the words of this content stand as they should? *ret_score: how much of it they are. */
bool terms_match_content(struct arena *a, const struct search_terms *t, struct str content,
                         double *ret_score);

/* --- places.c: where the caller may search --------------------------------------------- */

/* ERR_MISSING_ACCESS: nowhere in the guild of the path. */
enum err places_of_guild(struct call *call, const struct search_query *q, struct search_terms *t);

/* --- index.c: the store's own engine -------------------------------------------------- */

struct search_range {
    snowflake above, below; /* both exclusive */
    bool oldest;            /* first */
    int64_t limit;
};
enum err message_index_find(struct call *call, const struct search_terms *t,
                            const struct search_range *r, struct list *ret);
/* On SQLite, a word is not taken for the beginning of others where SEARCH_MOST messages have it as
 * it stands, with all else that is asked: it fills an answer, and FTS5 would read the rows of all
 * words that begin so. For terms that are not judged by contents besides. */
enum err message_index_settle(struct call *call, struct search_terms *t,
                              const struct search_range *r);
/* Contents of some messages, by id: for each one row of id and content. */
enum err message_index_contents(struct call *call, const snowflake *ids, size_t count,
                                struct rows *ret);
enum err message_index_put(struct call *call, const struct search_document *d);

/* --- indexing.c ----------------------------------------------------------------------- */

extern const struct job_kind message_indexing;
/* Sees to it that noted messages are indexed soon: a call's `after`. */
void indexing_wake(struct call *call);
enum err indexing_hears(struct call *call, const struct message_made *made);

#endif

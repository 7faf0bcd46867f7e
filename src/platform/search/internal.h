/* internal.h - declarations shared by the files of search/. */
#ifndef PLATFORM_SEARCH_INTERNAL_H
#define PLATFORM_SEARCH_INTERNAL_H

#include "api/hooks.h"
#include "api/jobs/jobs.h"
#include "platform/search/search.h"

enum {
    SEARCH_MAX_RESULTS = 10000, /* maximum number of results of a search, over all pages */
    SEARCH_MAX_UNINDEXED = 2000 /* maximum number of unindexed messages that one search scans */
};

/* --- document.c: search terms of a message -------------------------------------------- */

struct search_document {
    snowflake id;
    struct list marks; /* struct str */
    struct str content, embeds;
    struct list files;
};

/* Returns the index term for an object id, such as "_g81384788765712384". */
struct str search_term_of_id(struct arena *a, char kind, snowflake id);
/* Returns the index term for a name: a digest of the name in lower case, because names may have any
 * length and characters. */
struct str search_term_of_name(struct arena *a, char kind, struct str name);
/* Returns the index term for a word, such as a word of a file name. */
struct str search_term_of_word(struct arena *a, char kind, struct str word);

enum unindexed_document_order {
    UNINDEXED_NEWEST,
    UNINDEXED_OLDEST_LOCKED /* oldest first; locks the rows and skips rows that are locked */
};
/* Reads at most `limit` unindexed messages (struct search_document) in the given order, without the
 * terms of their contents. */
enum err read_unindexed_documents(struct tx *tx, enum unindexed_document_order order, int64_t limit,
                                  struct list *ret);
/* Adds the terms of content, embeds and files. Call it once per document. It is not part of the
 * read, because a long message takes a millisecond, and the indexing job has a time limit. */
void search_document_add_content_terms(struct arena *a, struct search_document *d);

/* --- query.c: query parameters -------------------------------------------------------- */

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

/* --- terms.c: index queries ----------------------------------------------------------- */

/* A filter of a search. A message matches if it has at least one of the terms in .any or, if .none
 * is true, none of them. */
struct search_term_filter {
    struct list any; /* struct str */
    bool prefix;     /* whether words that start with the single term in `any` match, too */
    bool none;
    struct list unless; /* terms (struct str) with which a message matches although .none is true */
};
/* Words that a message must contain in this order. Between two neighbours, at most `slop` other
 * words may occur. */
struct search_phrase {
    struct list words; /* struct str */
    int64_t slop;
    bool prefix; /* the last word is a prefix */
};
struct search_terms {
    struct list groups;      /* struct search_term_filter: all must match */
    struct list phrases;     /* struct search_phrase: all must match */
    struct list any_phrases; /* struct search_phrase: one must match */
};

struct search_term_filter *search_terms_add_filter(struct arena *a, struct search_terms *t);
void search_term_filter_add_term(struct arena *a, struct search_term_filter *g, struct str mark);
/* Adds the filters of the search query, but not its channel filter. */
void search_terms_add_query(struct arena *a, const struct search_query *q, struct search_terms *t);
/* Formats the terms as a full-text query for SQLite's FTS5 or PostgreSQL's tsquery. */
struct str search_terms_to_index_query(struct arena *a, const struct search_terms *t, bool sqlite);
bool search_terms_match_message(const struct search_terms *t, struct search_document *d);
/* Checks order and distance of words in a message's content. *ret_score is the fraction of the
 * words that match. */
bool search_terms_match_content(struct arena *a, const struct search_terms *t, struct str content,
                                double *ret_score);

/* --- searchable_channels.c: channels that the caller may search ----------------------- */

/* Adds filters for the guild and for the channels that the caller can read. Returns
 * ERR_MISSING_PERMISSIONS if the caller can read no channel. */
enum err search_terms_add_guild_channels(struct call *call, const struct search_query *q,
                                         struct search_terms *t);
/* Before a search on a standby: reads the channels on the primary, so that
 * search_terms_add_guild_channels also excludes those that have just become unreadable. */
enum err search_read_channels_of_primary(struct call *call);

/* --- index.c: full-text index --------------------------------------------------------- */

struct search_id_range {
    snowflake above, below; /* message ids, both exclusive */
    bool oldest;            /* oldest first */
    int64_t limit;
};
bool message_index_is_sqlite(const struct call *call);
enum err message_index_find_terms(struct call *call, const struct search_terms *t,
                                  const struct search_id_range *r, struct list *ret);
/* Formats ids as a SQL parameter: a JSON array for SQLite, a PostgreSQL array otherwise. */
struct str format_ids_as_sql_search_parameter(struct arena *a, const snowflake *ids, size_t count,
                                              bool sqlite);
/* Reads id and content of these messages, as the columns of *ret. */
enum err message_index_read_contents(struct call *call, const snowflake *ids, size_t count,
                                     struct rows *ret);
/* Saves the terms of a message. `replace` is true if the index may already contain the message. */
enum err message_index_save_documents(struct call *call, const struct search_document *d,
                                      const struct list *long_terms, bool replace);

/* On SQLite, messages above an id, the progress of the index, are not indexed yet and need no row
 * in message_unindexed. On PostgreSQL there is no such id: *ret is the largest id, and advancing
 * the progress does nothing. */
enum err message_index_read_progress(struct call *call, snowflake *ret);
enum err message_index_advance_progress(struct call *call, snowflake id);
/* Call it only if no message above the progress has to be indexed. */
enum err message_index_advance_progress_to_newest(struct call *call);

/* --- prefix_search.c ------------------------------------------------------------------ */

/* Finds messages by their terms. If `exact_word_suffices` is true, a search on SQLite that finds
 * r->limit messages with the exact word does not look for words that begin with it, and disables
 * the prefixes of `t`. Set it only if the terms need no check of message contents. */
enum err message_index_search(struct call *call, struct search_terms *t,
                              const struct search_id_range *r, bool exact_word_suffices,
                              struct list *ret);

/* --- posting_lists.c: several posting lists per common term, on SQLite ----------------- */

/* Reads the terms that have several posting lists. On PostgreSQL there are none. */
enum err message_index_read_long_terms(struct call *call, struct list *ret);
/* Returns the number of the list to which messages are added. The first one is 0. */
int64_t last_posting_list_of_term(const struct list *long_terms, struct str term);
enum err message_index_count_terms(struct call *call, const struct search_document *d);
/* Adds the further posting lists of each term as alternatives. */
enum err search_terms_add_posting_lists(struct call *call, struct search_terms *t);

/* --- merging.c ------------------------------------------------------------------------ */

/* Sets *ret to whether segments must be merged before more messages are indexed. */
enum err message_index_has_many_segments(struct call *call, bool *ret);
/* On SQLite, merges some pages of the index's segments. `all` is true if all segments may be merged
 * into one. Sets *ret_merged to whether there was something to merge. On PostgreSQL does nothing.
 */
enum err message_index_merge_step(struct call *call, bool all, bool *ret_merged);

/* --- indexing.c ----------------------------------------------------------------------- */

extern const struct job_kind message_indexing;
/* Schedules indexing of new messages. Set it as the call's .after, so that it runs after the
 * commit. */
void schedule_message_indexing(struct call *call);
enum err message_indexing_on_message_create(struct call *call, const struct message_creation *made);

#endif

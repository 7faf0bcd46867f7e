/* internal.h - declarations shared by the files of gifs/. */
#ifndef GIFS_INTERNAL_H
#define GIFS_INTERNAL_H

#include "api/jobs/jobs.h"
#include "gifs/gifs.h"
#include "model/text/search_words.h"

enum {
    GIFS_MAX_QUERY = 256, /* characters */
    GIFS_MAX_TERM = 64,
    GIFS_MAX_TAG = 64,
    GIFS_CATEGORIES = 24,
    GIFS_CATEGORY_MIN = 4, /* minimum number of GIFs that a tag needs to be listed as a category */
};

/* Times in microseconds. */
#define SECOND INT64_C(1000000)
#define MINUTE (60 * SECOND)
#define HOUR   (60 * MINUTE)
#define DAY    (24 * HOUR)

/* If an account chooses the same GIF several times in this window, it counts once. */
#define GIFS_PICK_WINDOW_US (10 * MINUTE)
#define GIFS_TERM_WINDOW_US (7 * DAY) /* A use of a search term counts for this time. */
/* Interval of the count job as long as there are new choices. */
#define GIFS_COUNT_INTERVAL_US SECOND

/* --- config.c ------------------------------------------------------------------------- */

enum gif_source { GIFS_LOCAL, GIFS_UPSTREAM, GIFS_MERGED, GIFS_OFF };

struct gif_config {
    enum gif_source source;
    int64_t cap; /* number of the highest rating that is served; 0 is "g" */
    struct str categories, blocked_words, provider, provider_key, media_hosts;
};
const struct gif_config *gif_get_config(void);

/* Parses a rating: "g" is 0, "r" is 3. Returns -1 if it is unknown. */
int64_t parse_gif_rating(struct str name);

/* --- file_formats.c ------------------------------------------------------------------- */

/* File formats of the API. PREVIEW is a still picture. */
#define GIF_FORMATS(F)                            \
    F(MP4, "mp4", "mp4", "video/mp4")             \
    F(TINYMP4, "tinymp4", "mp4", "video/mp4")     \
    F(NANOMP4, "nanomp4", "mp4", "video/mp4")     \
    F(WEBM, "webm", "webm", "video/webm")         \
    F(TINYWEBM, "tinywebm", "webm", "video/webm") \
    F(NANOWEBM, "nanowebm", "webm", "video/webm") \
    F(GIF, "gif", "gif", "image/gif")             \
    F(MEDIUMGIF, "mediumgif", "gif", "image/gif") \
    F(TINYGIF, "tinygif", "gif", "image/gif")     \
    F(NANOGIF, "nanogif", "gif", "image/gif")     \
    F(WEBP, "webp", "webp", "image/webp")         \
    F(TINYWEBP, "tinywebp", "webp", "image/webp") \
    F(NANOWEBP, "nanowebp", "webp", "image/webp") \
    F(PREVIEW, "preview", "png", "image/png")

enum gif_format {
#define F(name, word, extension, type) GIF_##name,
    GIF_FORMATS(F)
#undef F
        GIF_FORMAT_COUNT
};

struct gif_format_info {
    struct str word, extension, type;
};
extern const struct gif_format_info gif_formats[GIF_FORMAT_COUNT];

/* Returns the format with this name, or mp4 if the name is unknown. */
enum gif_format parse_requested_gif_format(struct str word);
/* Finds a format by name; "loopedmp4" means mp4. Returns false if there is none. */
bool find_gif_format(struct str word, enum gif_format *ret);

struct gif_size {
    uint32_t width, height; /* size in pixels; 0 if the GIF has no file in this format */
};
struct gif_media_sizes {
    struct gif_size of[GIF_FORMAT_COUNT];
};
/* Parse and format the column `media`. */
struct gif_media_sizes parse_gif_media_sizes(struct str text);
struct str format_gif_media_sizes(struct arena *a, const struct gif_media_sizes *m);

/* Chooses the file for a requested format: that format, or else a similar one of the same file
 * type, or else a GIF, or else any. */
enum gif_format choose_gif_format(const struct gif_media_sizes *m, enum gif_format wanted);

/* --- objects of the API --------------------------------------------------------------- */

struct gif {
    struct str id, title, url, src, gif_src, preview;
    int64_t width, height;
    int64_t n; /* number of the row; not sent */
};
struct gif_category {
    struct str name, src;
};
struct gif_trends {
    struct list categories, gifs;
};

struct gif_query {
    struct str q, media_format;
    struct opt_str locale;
    int64_t limit;
};
struct gif_select_body {
    struct str id, q;
};

extern const struct schema gif_term_query, gif_suggest_query, gif_search_query, gif_trends_query,
    gif_list_query;
extern const struct type gifs_reply, gif_trends_reply, gif_terms_reply, gif_choice_body;

/* --- gif_request.c: query of a request ------------------------------------------------ */

struct gif_request {
    struct call *call;
    struct str q; /* normalised search text */
    struct str locale, language;
    enum gif_format format;
    size_t limit;
    int64_t cap;
    double today; /* days since 1970 */
};
enum err read_gif_request(struct call *call, struct gif_request *ret);
double days_since_epoch(int64_t us);

/* Returns the language of a locale: the text before the first '-'. */
struct str get_language_of_locale(struct str locale);

/* Heat is a logarithmic popularity that decays with time (gif_request.c). gif_popularity_from_heat
 * computes today's popularity; gif_heat_add_selection computes the heat after one more choice. */
double gif_popularity_from_heat(double heat, double today);
double gif_heat_add_selection(double heat, double today);

/* --- rows.c --------------------------------------------------------------------------- */

/* A search result: the number of a GIF, and the keys by which results are sorted. */
struct gif_search_hit {
    int64_t n;
    double score;
    /* Language of the GIF: 0 for any language or the caller's locale, 1 for the caller's language,
     * 2 for others. */
    int tier;
    /* Search pass that found the GIF; results of later passes come last. */
    int pass;
};

/* Reads the GIFs of search results, in the order of the results. Skips GIFs that were deleted. */
enum err read_gif_objects(const struct gif_request *w, const struct gif_search_hit *hits,
                          size_t count, struct list *ret);

/* --- full_text_index.c: full-text index of the engine --------------------------------- */

enum gif_search_word_match { MATCH_ALL, MATCH_ANY };

/* Starts the full-text query: GIF number, text score, heat (popularity), weight, language tier. */
enum err gif_full_text_index_search(const struct gif_request *w, const struct list *words,
                                    enum gif_search_word_match match, struct rows *ret);
enum err gif_full_text_index_write_entry(struct tx *tx, const char *engine, int64_t n,
                                         struct str title, struct str tags, struct str description);
/* Reads rows of `gifs` by number, with the columns n, id, title, media. */
enum err read_gif_rows(struct call *call, const struct gif_search_hit *hits, size_t count,
                       struct rows *ret);

/* --- search.c, trending.c, suggestions.c: lists --------------------------------------- */

enum err search_gif_catalogue(const struct gif_request *w, struct list *ret);
enum err read_trending_gifs(const struct gif_request *w, size_t limit, struct list *ret);
enum err read_gif_categories(const struct gif_request *w, struct list *ret);
/* Read lists of at most w->limit search terms (struct str). */
enum err read_trending_gif_search_terms(const struct gif_request *w, struct list *ret);
enum err read_gif_search_suggestions(const struct gif_request *w, struct list *ret);
/* Adds a search term to the list, unless it is a duplicate, equals the query itself, or the list is
 * full. */
void add_suggested_gif_search_term(const struct gif_request *w, struct list *terms,
                                   struct str term);

/* --- provider_queries.c: the provider ------------------------------------------------- */

/* Functions that run before the handler. They fail if GIFs are disabled. If a provider is
 * configured, they send queries to it and pass its responses to the handler. */
enum err send_gif_search_to_provider(struct call *call);
enum err request_gif_suggestions_of_provider(struct call *call);
enum err request_gif_trends_of_provider(struct call *call);
enum err request_trending_gifs_of_provider(struct call *call);
enum err request_trending_gif_terms_of_provider(struct call *call);
/* If the chosen GIF is from the provider, sends the choice to the provider without waiting for the
 * response. */
void forward_gif_selection_to_provider(struct call *call);

enum gif_provider_list_kind { UPSTREAM_GIFS, UPSTREAM_CATEGORIES, UPSTREAM_TERMS, UPSTREAM_KINDS };

struct gif_provider_query_result {
    bool asked, failed;
    struct str body; /* the provider's response, which may be stale; .p is NULL if there is none */
};
struct gif_provider_query {
    /* Path and query of the request, without the provider's API key; .p is NULL if no query is
     * needed. */
    struct str key;
    struct gif_provider_query_result answer;
};
/* The provider queries of an HTTP request. */
struct provider_queries {
    struct gif_provider_query of[UPSTREAM_KINDS];
    int open; /* number of queries without a response; one more while queries are being started */
};

/* Returns whether the local catalogue must be searched in addition to the provider. */
bool should_search_local_gif_catalogue(const struct call *call);

/* --- provider_responses.c ------------------------------------------------------------- */

bool is_valid_gif_provider_response(enum gif_provider_list_kind kind, struct str body);
/* Append the provider's results to the list, up to the limit. Return ERR_UNAVAILABLE if the
 * provider failed and there are no local results. */
enum err add_gifs_of_provider_results(const struct gif_request *w, struct list *gifs);
enum err add_gif_categories_of_provider_results(const struct gif_request *w,
                                                struct list *categories);
enum err add_gif_search_terms_of_provider_results(const struct gif_request *w, struct list *terms);

/* --- provider_cache.c: cached answers of the provider --------------------------------- */

enum cached_gif_response_age { CACHED_NOT, CACHED_FRESH, CACHED_OLD, CACHED_TOO_OLD };

/* Copies a cached response. Sets ret_refresh to true if the caller must refresh it; for each stale
 * response this is set for one caller only. */
enum cached_gif_response_age gif_provider_cache_find(struct str key, struct arena *a,
                                                     struct str *ret, bool *ret_refresh);
void gif_provider_cache_store(struct str key, struct str body);
void gif_provider_cache_record_failed_refresh(struct str key);
/* Circuit breaker of the provider: returns false for 30 seconds after five failures in a row. */
bool gif_provider_circuit_breaker_allows_request(void);
void gif_provider_circuit_breaker_record_result(bool success);

/* --- record_choice.c ------------------------------------------------------------------ */

/* Makes the next choice schedule the job that counts choices. Call this function when a server
 * starts. */
void reset_schedule_of_gif_selection_count(void);
/* Record that a user selected a GIF. Call prepare_recording_of_selected_gif on the event loop, then
 * insert_gif_selection in the transaction. */
void prepare_recording_of_selected_gif(struct call *call);
enum err insert_gif_selection(struct call *call, struct str id, struct str locale);

/* --- count_choices.c, statistics_cleanup.c -------------------------------------------- */

extern const struct job_kind gif_count_job;
/* Deletes a limited number of old rows of statistics. Sets `more` to true if such rows are left. */
enum err delete_old_gif_statistics(struct call *call, bool *more);

/* --- gif_file_routes.c ---------------------------------------------------------------- */

void format_gif_blob_name(char out[64], int64_t n, enum gif_format format);
/* Returns the page name "{slug}-{id}", which is the end of the URL of a GIF's page. */
struct str format_gif_page_name(struct arena *a, struct str title, struct str id);

/* --- probe_file.c: file type and size ------------------------------------------------- */

/* Returns whether the bytes have this file format. ret is set to 0 if the file does not state its
 * size. */
bool check_gif_file_format_and_read_size(struct str bytes, enum gif_format format,
                                         struct gif_size *ret);

/* --- import: a GIF before it is stored ------------------------------------------------ */

struct gif_file {
    enum gif_format format;
    struct str bytes;
    struct gif_size size;
};
struct imported_gif {
    struct str id, title, description, locale, url, rating;
    struct list tags;  /* struct str */
    struct list media; /* pairs (struct string_pair) of format and file: path or URL */
    struct opt_int width, height, created_at;
    double weight;
};

/* Reads the rows of an import file: JSON array, JSON lines or CSV (import_reader.c). */
struct gif_import_reader {
    struct str rest;
    struct list columns; /* CSV: struct str */
    enum draft_form { FORM_ARRAY, FORM_LINES, FORM_CSV } form;
};
void gif_import_reader_init(struct gif_import_reader *r, struct str text, struct arena *a);
/* Reads the next row. Returns false at the end of the file. `form` has the errors of the row. */
bool gif_import_reader_next(struct gif_import_reader *r, struct arena *a, struct form *form,
                            struct imported_gif **ret);

/* Writes a GIF and its files, in a transaction. *ret_new is true if the id is new. */
enum err write_imported_gif(struct tx *tx, struct store *store, const struct imported_gif *draft,
                            const struct list *files, bool *ret_new);
/* Marks the blobs that write_imported_gif stored as committed; call after the commit. */
void mark_gif_blobs_committed(struct store *store);
/* Counts the GIFs of all tags again; call after the last write_imported_gif. */
enum err recount_gif_tags(struct tx *tx);

#endif

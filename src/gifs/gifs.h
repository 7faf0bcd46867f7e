/* gifs.h - GIF search in a local catalogue, and optionally at an external provider. Owns the
 * catalogue (rows, full-text index, files as blobs) and the statistics from which trends and
 * suggestions are computed. No route reveals which GIFs an account selected. `guildhall gifs
 * import` fills the catalogue. May include platform/ and lower layers. Start with routes.c, then
 * search.c; provider_queries.c sends requests to the provider. */
#ifndef GIFS_GIFS_H
#define GIFS_GIFS_H

#include "api/api.h"

extern const struct domain gifs_domain; /* routes below /api/gifs */
/* Routes below /gifs, which are outside of /api: files and pages. */
extern const struct domain gif_files_domain;

/* --- operator settings ---------------------------------------------------------------- */

struct gifs_options {
    const char *source; /* "local", "upstream", "merged" or "off" */
    const char *rating; /* highest rating that is served: "g", "pg", "pg13" or "r" */
    /* Categories such as "happy,sad", which fill up the list if too few are trending. */
    const char *categories;
    /* Words; a search term that contains one of them is never suggested. */
    const char *blocked_words;
    const char *provider;     /* base URL of the provider */
    const char *provider_key; /* key that is sent to the provider, and never to clients */
    /* Hosts from which files of the provider may come: " .example.org,…". */
    const char *media_hosts;
};

/* Sets the options; call this function before the server starts. If an option is invalid, returns
 * false with an error message in ret_problem. The strings are not copied. */
bool gifs_set_options(const struct gifs_options *options, const char **ret_problem);
/* Clears the cache of provider responses. Call this function after the event loops have ended. */
void gifs_clear_provider_cache(void);

/* --- import --------------------------------------------------------------------------- */

struct gifs_import {
    struct str text;    /* the import file: JSON array, JSON lines, or CSV with a header */
    const char *folder; /* folder to which file names in `text` are relative */
    /* Downloads a URL. Returns true with the bytes in ret, or false with an error message in
     * ret_problem. If fetch is NULL, rows that contain URLs are refused. */
    bool (*fetch)(void *arg, const char *url, struct buf *ret, const char **ret_problem);
    void *fetch_arg;
    /* Called for each row that was refused. Row numbers begin with 1. */
    void (*problem)(void *arg, size_t row, struct str what);
    void *problem_arg;
};
struct gifs_import_report {
    size_t made, renewed, refused;
};
/* Imports all valid rows in one transaction, so that a running server never sees half a catalogue.
 * A row with an existing id replaces that GIF and retains its popularity. */
enum err gifs_import(struct store *store, const struct gifs_import *in,
                     struct gifs_import_report *ret);

/* Rebuilds the full-text index. Needed after a catalogue was moved from another database engine. */
enum err gifs_rebuild_full_text_index(struct store *store);

/* Imports a small catalogue of generated animations. */
enum err gifs_import_demo(struct store *store, struct gifs_import_report *ret);

#endif

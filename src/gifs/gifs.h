/* gifs.h - GIF search in a local catalogue, and optionally at an external provider. Owns the
 * catalogue (rows, full-text index, files as blobs) and the statistics from which trends and
 * suggestions are computed. No route reveals which GIFs an account selected. `guildhall gifs
 * import` fills the catalogue. May include platform/ and lower layers. Start with routes.c, then
 * search.c; provider_queries.c sends requests to the provider. */
#ifndef GIFS_GIFS_H
#define GIFS_GIFS_H

#include "api/api.h"

extern const struct domain gifs_domain;      /* routes below /api/gifs */
extern const struct domain gif_files_domain; /* routes /gifs outside of /api: files and pages */

/* --- operator settings ---------------------------------------------------------------- */

struct gifs_options {
    const char *source;        /* "local", "upstream", "merged" or "off" */
    const char *rating;        /* "g", "pg", "pg13" or "r": the highest rating that is served */
    const char *categories;    /* such as "happy,sad"; used if too few categories are trending */
    const char *blocked_words; /* search terms with one of these words are never suggested */
    const char *provider;      /* base URL of the provider */
    const char *provider_key;  /* sent to the provider, never to clients */
    const char *media_hosts;   /* permitted hosts of the provider's files, "*.example.org,…" */
};

/* Sets the options; call before the server starts. Returns false with an error message in
 * *ret_problem. The texts are not copied. */
bool gifs_set_options(const struct gifs_options *options, const char **ret_problem);
/* Clears the cache of provider responses; call after the loops have ended. */
void gifs_clear_provider_cache(void);

/* --- import --------------------------------------------------------------------------- */

struct gifs_import {
    struct str text;    /* JSON array, JSON lines, or CSV with a header */
    const char *folder; /* folder of the relative file names in `text` */
    /* Downloads a URL. Returns true with the bytes in ret, or false with an error message in
     * *ret_problem. If fetch is NULL, rows with URLs are refused. */
    bool (*fetch)(void *arg, const char *url, struct buf *ret, const char **ret_problem);
    void *fetch_arg;
    /* Called for each refused row; row numbers begin with 1. */
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

/* Rebuilds the full-text index, for a catalogue that was moved from another engine. */
enum err gifs_reindex(struct store *store);

/* Imports a small catalogue of generated animations. */
enum err gifs_import_demo(struct store *store, struct gifs_import_report *ret);

#endif

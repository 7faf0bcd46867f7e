/* gifs.h - GIFs to search for: a catalogue of our own, and another server's.
 *
 * The catalogue lies in the store: rows, an index of words in the store's own
 * engine, files as blobs. `guildhall gifs import` fills it. What people choose moves
 * trends and suggestions, and nobody can see who chose what. */
#ifndef GIFS_GIFS_H
#define GIFS_GIFS_H

#include "api/api.h"

extern const struct domain gifs_domain;      /* /gifs below /api */
extern const struct domain gif_files_domain; /* /gifs at the root: files and pages */

/* --- what an operator sets ------------------------------------------------------------ */

struct gifs_options {
    const char *source;        /* "local", "upstream", "merged" or "off" */
    const char *rating;        /* "g", "pg", "pg13" or "r": the most that is served */
    const char *categories;    /* "happy,sad": shown when too few are trending */
    const char *blocked_words; /* terms with one of these are never suggested */
    const char *provider;      /* base URL of another server */
    const char *provider_key;  /* told to it, never to clients */
    const char *media_hosts;   /* hosts that its pictures may lie on, "*.example.org,…" */
};

/* Before the server starts. False with a sentence about the option in *ret_problem. The
 * texts must stay. */
bool gifs_set(const struct gifs_options *options, const char **ret_problem);
/* Lets go of what was remembered of the other server; after the loops have ended. */
void gifs_forget(void);

/* --- import --------------------------------------------------------------------------- */

struct gifs_import {
    struct str text;    /* JSON array, JSON lines, or CSV with a header */
    const char *folder; /* file names in it are relative to this one */
    /* Gets what https:// names: true with the bytes in ret, or false with a sentence in
     * *ret_problem. NULL: such rows are refused. */
    bool (*fetch)(void *arg, const char *url, struct buf *ret, const char **ret_problem);
    void *fetch_arg;
    /* Told of each row that cannot be taken; rows count from 1. */
    void (*problem)(void *arg, size_t row, struct str what);
    void *problem_arg;
};
struct gifs_report {
    size_t made, renewed, refused;
};
/* All rows that are right, in one transaction: a running server sees the old catalogue,
 * then the new one. A row with a known id takes the other's place and keeps its
 * popularity. */
enum err gifs_import(struct store *store, const struct gifs_import *in, struct gifs_report *ret);

/* Puts the words of all GIFs into the engine's index: of a catalogue that came from another one. */
enum err gifs_reindex(struct store *store);

/* A small catalogue of moving patterns, drawn on the spot. */
enum err gifs_import_demo(struct store *store, struct gifs_report *ret);

#endif

/* gifs.h - GIF catalogues for tests. */
#ifndef TESTS_GIFS_H
#define TESTS_GIFS_H

#include "world.h"

/* Creates a folder with one small file of each format: f.gif (498x280), medium.gif (448x252),
 * tiny.gif (220x124), nano.gif (120x68), f.mp4 (640x360), tiny.mp4 (320x180), f.webm (640x360),
 * f.webp (498x280), still.png (220x124), and not.gif, which is no GIF. */
const char *world_gif_folder(struct world *w);

struct gif_import {
    size_t made, renewed, refused;
    const char *problems; /* one line per problem: "2: …" */
};
/* Imports rows while the server runs; JSON with single quotes, or CSV. */
struct gif_import world_import_gifs(struct world *w, const char *text);
/* Imports the text byte for byte. */
struct gif_import world_import_gif_text(struct world *w, struct str text);

/* Advances the clock until choices are counted, and waits for the count. */
void world_count_choices(struct world *w);

/* Returns the ids that a reply lists, separated by spaces. */
const char *gif_ids(struct answer a);
/* Expects that a search finds these ids, in this order. */
#define expect_gifs(w, query, ids) expect_gifs_at(__FILE__, __LINE__, (w), (query), (ids))
void expect_gifs_at(const char *file, int line, struct world *w, const char *query,
                    const char *ids);

#endif

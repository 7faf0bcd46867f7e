/* world_files.h - imports and exports world files in tests. */
#ifndef TESTS_WORLD_FILES_H
#define TESTS_WORLD_FILES_H

#include "platform/worlds/worlds.h"
#include "world.h"

/* Converts JSON with single quotes. */
struct str world_text(struct world *w, const char *text);
enum err world_file_into(struct world *w, struct store *store, struct str text, bool tokens,
                         struct world_file_import_report *ret);
/* Imports a world file into the world's store and expects success. */
struct world_file_import_report world_file_here(struct world *w, const char *json);
/* Expects that the import fails with these lines and inserts nothing. */
#define expect_file_refused(w, json, lines) \
    expect_file_refused_at(__FILE__, __LINE__, w, json, lines)
void expect_file_refused_at(const char *file, int line, struct world *w, const char *json,
                            const char *lines);

struct str world_exported(struct world *w, struct store *store);
struct str world_exported_here(struct world *w);
#define expect_same(a, b) expect_same_at(__FILE__, __LINE__, a, b)
void expect_same_at(const char *file, int line, struct str a, struct str b);
const struct imported_object_count *report_count(const struct world_file_import_report *r,
                                                 const char *what);

/* Another, empty store of the same engine. */
struct elsewhere {
    char folder[64];
    char *postgres;
    struct store *store;
};
struct elsewhere elsewhere_open(struct world *w);
void elsewhere_close(struct elsewhere *e);
/* Expects that the export, imported into another store, is exported as the same text. */
#define expect_round_trip(w) expect_round_trip_at(__FILE__, __LINE__, w)
void expect_round_trip_at(const char *file, int line, struct world *w);

#endif

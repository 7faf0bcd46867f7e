/* world_files.c - imports and exports world files in tests. */
#include "world_files.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "postgres.h"

struct str world_text(struct world *w, const char *text)
{
    struct str s = str_dup(world_arena(w), str_of(text));

    for (size_t i = 0; i < s.n; i++)
        if (s.p[i] == '\'')
            ((char *)s.p)[i] = '"';
    return s;
}

enum err world_file_into(struct world *w, struct store *store, struct str text, bool tokens,
                         struct world_file_import_report *ret)
{
    struct world_file_import_options options = { .auth = guildhall_get_auth(world_server(w)),
                                                 .password_cost = { .ops = 1,
                                                                    .memory = 1024 * 1024 },
                                                 .tokens = tokens,
                                                 .domains = guildhall_domains };

    return world_file_import(store, &options, text, world_arena(w), ret);
}

struct world_file_import_report world_file_here(struct world *w, const char *json)
{
    struct world_file_import_report report;
    enum err e = world_file_into(w, guildhall_get_store(world_server(w)), world_text(w, json), true,
                                 &report);

    if (e)
        fail_test(__FILE__, __LINE__, "the import failed with %s: %.*s", error_info(e)->name,
                  STR_ARGS(report.problems));
    return report;
}

void expect_file_refused_at(const char *file, int line, struct world *w, const char *json,
                            const char *lines)
{
    struct store *store = guildhall_get_store(world_server(w));
    struct world_file_import_report report;
    bool empty;

    if (!world_file_into(w, store, world_text(w, json), false, &report))
        fail_test(file, line, "the file was not refused");
    if (!str_is(report.problems, lines))
        fail_test(file, line, "the problems are:\n%.*s", STR_ARGS(report.problems));
    if (store_has_no_accounts(store, &empty) || !empty)
        fail_test(file, line, "the refused file was partly imported");
}

struct str world_exported(struct world *w, struct store *store)
{
    struct buf out;
    bool importable;

    buf_init(&out, SIZE_MAX);
    expect(world_file_export(store, guildhall_domains, NULL, &out, &importable) == OK);
    expect(importable);
    struct str text = str_dup(world_arena(w), buf_str(&out));
    buf_clear(&out);
    return text;
}

struct str world_exported_here(struct world *w)
{
    return world_exported(w, guildhall_get_store(world_server(w)));
}

void expect_same_at(const char *file, int line, struct str a, struct str b)
{
    size_t at = 0;

    while (at < a.n && at < b.n && a.p[at] == b.p[at])
        at++;
    if (!str_eq(a, b))
        fail_test(file, line, "the exports differ:\n%.*s\n%.*s",
                  (int)(a.n - at < 200 ? a.n - at : 200), a.p + at,
                  (int)(b.n - at < 200 ? b.n - at : 200), b.p + at);
}

const struct imported_object_count *report_count(const struct world_file_import_report *r,
                                                 const char *what)
{
    for (const struct imported_object_count *c = r->counts; c->what; c++)
        if (strcmp(c->what, what) == 0)
            return c;
    return NULL;
}

/* --- another, empty store of the same engine ------------------------------------------ */

struct elsewhere elsewhere_open(struct world *w)
{
    struct elsewhere e = { .folder = "/tmp/guildhall-test-XXXXXX" };

    expect(mkdtemp(e.folder));
    if (world_config(w)->store)
        e.postgres = test_postgres_new();
    struct store_options options = { .folder = e.folder, .postgres = e.postgres, .readers = 1 };
    expect(store_open(&options, &e.store) == OK);
    return e;
}

static int remove_entry(const char *path, const struct stat *st, int kind, struct FTW *ftw)
{
    (void)st, (void)kind, (void)ftw;
    return remove(path);
}

void elsewhere_close(struct elsewhere *e)
{
    store_close(e->store);
    test_postgres_free(e->postgres);
    nftw(e->folder, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

void expect_round_trip_at(const char *file, int line, struct world *w)
{
    struct elsewhere other = elsewhere_open(w);
    struct world_file_import_report report;
    struct str first = world_exported_here(w);
    enum err e = world_file_into(w, other.store, first, false, &report);
    struct str second = e ? report.problems : world_exported(w, other.store);

    elsewhere_close(&other);
    expect_same_at(file, line, first, second);
}

/* queued_import.c - a world file that was sent to a running server. The import runs after the
 * server of this process has stopped. */
#include <pthread.h>

#include "base/log.h"
#include "base/mem.h"
#include "json/write.h"
#include "platform/worlds/import_export.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *queued_text; /* NULL if no file is queued */
static size_t queued_length;
static int import_number; /* number of imports in this process */
static struct buf outcome;

void world_file_import_enqueue(struct str text)
{
    pthread_mutex_lock(&lock);
    mem_free(queued_text);
    queued_text = memcpy(mem_resize(NULL, text.n + 1), text.p, text.n);
    queued_length = text.n;
    pthread_mutex_unlock(&lock);
}

static void write_imported_object_counts_json(struct json_writer *j,
                                              const struct world_file_import_report *report)
{
    json_write_name(j, "counts");
    json_begin_object(j);
    for (const struct imported_object_count *c = report->counts; c->what; c++) {
        json_write_key(j, str_of(c->what));
        json_begin_object(j);
        json_write_name(j, "made");
        json_write_int(j, c->made);
        json_write_name(j, "known");
        json_write_int(j, c->known);
        json_end_object(j);
    }
    json_end_object(j);
}

static void record_import_outcome(enum err e, const struct world_file_import_report *report)
{
    struct json_writer j = json_writer_to_buf(&outcome);

    buf_clear(&outcome);
    buf_init(&outcome, SIZE_MAX);
    json_begin_object(&j);
    json_write_name(&j, "number");
    json_write_int(&j, ++import_number);
    json_write_name(&j, "imported");
    json_write_bool(&j, e == OK);
    json_write_name(&j, "problems");
    json_write_text(&j,
                    e == ERR_STORE_CONFLICT ? STR("an id in the file belongs to another object\n")
                    : e && !report->problems.n ? STR("the import failed: see the server's log\n")
                                               : report->problems);
    write_imported_object_counts_json(&j, report);
    json_end_object(&j);
}

bool world_file_import_is_queued(void)
{
    pthread_mutex_lock(&lock);
    bool waits = queued_text != NULL;
    pthread_mutex_unlock(&lock);
    return waits;
}

static void finish_queued_import(enum err e, const struct world_file_import_report *report)
{
    record_import_outcome(e, report);
    if (e)
        log_error("worlds: the import failed; the store was not changed");
    mem_free(queued_text);
    queued_text = NULL;
}

void world_file_import_run_queued(struct store *store,
                                  const struct world_file_import_options *options)
{
    struct world_file_import_report report = { 0 };
    struct arena *arena = arena_new();

    pthread_mutex_lock(&lock);
    struct str text = str_slice(queued_text, queued_length);
    finish_queued_import(world_file_import(store, options, text, arena, &report), &report);
    pthread_mutex_unlock(&lock);
    arena_free(arena);
}

void world_file_import_record_failure(void)
{
    pthread_mutex_lock(&lock);
    finish_queued_import(ERR_UNAVAILABLE, &(struct world_file_import_report){ 0 });
    pthread_mutex_unlock(&lock);
}

void write_last_world_file_import_json(struct buf *out)
{
    pthread_mutex_lock(&lock);
    if (import_number)
        buf_add_str(out, buf_as_str(&outcome));
    else
        buf_add_lit(out, "{\"number\":0}");
    pthread_mutex_unlock(&lock);
}

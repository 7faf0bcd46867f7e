/* waiting.c - a world file that waits for import until the server of this process has stopped. */
#include <pthread.h>

#include "base/log.h"
#include "base/mem.h"
#include "json/write.h"
#include "platform/worlds/file.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *text_waiting; /* NULL: no file is queued */
static size_t text_length;
static int number; /* number of imports of this process so far */
static struct buf outcome;

void world_import_later(struct str text)
{
    pthread_mutex_lock(&lock);
    mem_free(text_waiting);
    text_waiting = memcpy(mem_resize(NULL, text.n + 1), text.p, text.n);
    text_length = text.n;
    pthread_mutex_unlock(&lock);
}

static void note_counts(struct json *j, const struct world_report *report)
{
    json_name(j, "counts");
    json_object(j);
    for (const struct world_count *c = report->counts; c->what; c++) {
        json_key(j, str_of(c->what));
        json_object(j);
        json_name(j, "made");
        json_int(j, c->made);
        json_name(j, "known");
        json_int(j, c->known);
        json_object_end(j);
    }
    json_object_end(j);
}

static void note_outcome(enum err e, const struct world_report *report)
{
    struct json j = json_to(&outcome);

    buf_clear(&outcome);
    buf_init(&outcome, SIZE_MAX);
    json_object(&j);
    json_name(&j, "number");
    json_int(&j, ++number);
    json_name(&j, "imported");
    json_bool(&j, e == OK);
    json_name(&j, "problems");
    json_text(&j, e == ERR_STORE_CONFLICT    ? STR("an id in the file belongs to another object\n")
                  : e && !report->problems.n ? STR("the import failed: see the server's log\n")
                                             : report->problems);
    note_counts(&j, report);
    json_object_end(&j);
}

bool world_import_waits(void)
{
    pthread_mutex_lock(&lock);
    bool waits = text_waiting != NULL;
    pthread_mutex_unlock(&lock);
    return waits;
}

static void end_waiting(enum err e, const struct world_report *report)
{
    note_outcome(e, report);
    if (e)
        log_error("worlds: the import failed; the store was not changed");
    mem_free(text_waiting);
    text_waiting = NULL;
}

void world_import_waiting(struct store *store, const struct world_options *options)
{
    struct world_report report = { 0 };
    struct arena *arena = arena_new();

    pthread_mutex_lock(&lock);
    struct str text = str_slice(text_waiting, text_length);
    end_waiting(world_import(store, options, text, arena, &report), &report);
    pthread_mutex_unlock(&lock);
    arena_free(arena);
}

void world_import_given_up(void)
{
    pthread_mutex_lock(&lock);
    end_waiting(ERR_UNAVAILABLE, &(struct world_report){ 0 });
    pthread_mutex_unlock(&lock);
}

void world_last_import(struct buf *out)
{
    pthread_mutex_lock(&lock);
    if (number)
        buf_add_str(out, buf_str(&outcome));
    else
        buf_add_lit(out, "{\"number\":0}");
    pthread_mutex_unlock(&lock);
}

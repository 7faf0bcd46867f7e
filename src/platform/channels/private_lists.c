/* private_lists.c - writes a user's private channels as JSON with bounded memory.
 *
 * Channels are read in pages ordered by id but returned ordered by their latest message. Only the
 * encoded texts, a quarter of the size of the structs, are held in memory and sorted at the end. */
#include <stdlib.h>

#include "base/mem.h"
#include "platform/channels/internal.h"

enum { PAGE = 500, MOST_TEXT = 64 * 1024 * 1024 };

struct written_channel {
    snowflake latest;
    size_t at, n;
};

struct written_channels {
    struct buf text;
    struct written_channel *all;
    size_t count, cap;
};

static snowflake channel_latest(const struct channel *c)
{
    return c->last_message_id.given == GIVEN ? c->last_message_id.value : c->id;
}

static int by_latest(const void *a, const void *b)
{
    const struct written_channel *x = a, *y = b;

    return (x->latest < y->latest) - (x->latest > y->latest);
}

static void note_written(struct written_channels *w, const struct channel *c, size_t at)
{
    if (w->count == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 64;
        w->all = mem_resize(w->all, w->cap * sizeof *w->all);
    }
    w->all[w->count++] = (struct written_channel){ channel_latest(c), at, w->text.n - at };
}

static void write_page(struct written_channels *w, const struct list *page, channel_writer *write,
                       void *arg)
{
    const struct channel *c = page->items;

    for (size_t i = 0; i < page->count; i++) {
        struct json j = json_to(&w->text);
        size_t at = w->text.n;

        write(arg, &c[i], &j);
        note_written(w, &c[i], at);
    }
}

static enum err write_pages(struct tx *tx, snowflake user_id, struct arena *scratch,
                            struct written_channels *w, channel_writer *write, void *arg)
{
    struct list page = { 0 };
    snowflake after = 0;

    do {
        arena_reset(scratch);
        list_reserve(scratch, &page, sizeof(struct channel), PAGE);
        enum err e = user_channels_page(tx, user_id, after, PAGE, &page);
        if (e)
            return e;
        write_page(w, &page, write, arg);
        if (page.count)
            after = ((const struct channel *)page.items)[page.count - 1].id;
    } while (page.count == PAGE);
    return buf_full(&w->text) ? ERR_ANSWER_TOO_LARGE : OK;
}

static void write_in_order(struct written_channels *w, struct json *out)
{
    if (w->count)
        qsort(w->all, w->count, sizeof *w->all, by_latest);
    json_array(out);
    for (size_t i = 0; i < w->count; i++)
        json_raw(out, str_slice(w->text.p + w->all[i].at, w->all[i].n));
    json_array_end(out);
}

enum err user_channels_write(struct tx *tx, snowflake user_id, channel_writer *write, void *arg,
                             struct json *out)
{
    struct written_channels w = { 0 };
    struct arena *scratch = arena_new(), *before = tx_use_arena(tx, scratch);

    buf_init(&w.text, MOST_TEXT);
    enum err e = write_pages(tx, user_id, scratch, &w, write, arg);
    tx_use_arena(tx, before);
    arena_free(scratch);
    if (!e)
        write_in_order(&w, out);
    buf_clear(&w.text);
    mem_free(w.all);
    return e;
}

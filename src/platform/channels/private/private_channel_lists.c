/* private_channel_lists.c - writes a user's private channels as JSON with bounded memory. Channels
 * are read in pages ordered by id, but the reply is ordered by latest message. So the JSON of all
 * channels is collected and sorted at the end. JSON needs a quarter of the memory of channel
 * structs. */
#include <stdlib.h>

#include "base/mem.h"
#include "platform/channels/internal.h"

enum { PAGE = 500, MOST_TEXT = 64 * 1024 * 1024 };

struct encoded_channel {
    snowflake latest;
    size_t at, n;
};

struct encoded_channels {
    struct buf text;
    struct encoded_channel *all;
    size_t count, cap;
};

static snowflake last_message_id_or_channel_id(const struct channel *c)
{
    return c->last_message_id.given == GIVEN ? c->last_message_id.value : c->id;
}

static int compare_channels_latest_first(const void *a, const void *b)
{
    const struct encoded_channel *x = a, *y = b;

    return (x->latest < y->latest) - (x->latest > y->latest);
}

static void record_json_range_of_channel(struct encoded_channels *w, const struct channel *c,
                                         size_t at)
{
    if (w->count == w->cap) {
        w->cap = w->cap ? w->cap * 2 : 64;
        w->all = mem_resize(w->all, w->cap * sizeof *w->all);
    }
    w->all[w->count++] =
        (struct encoded_channel){ last_message_id_or_channel_id(c), at, w->text.n - at };
}

static void encode_page_of_channels(struct encoded_channels *w, const struct list *page,
                                    channel_json_writer *write, void *arg)
{
    const struct channel *c = page->items;

    for (size_t i = 0; i < page->count; i++) {
        struct json_writer j = json_writer_to_buf(&w->text);
        size_t at = w->text.n;

        write(arg, &c[i], &j);
        record_json_range_of_channel(w, &c[i], at);
    }
}

static enum err encode_all_pages_of_channels(struct tx *tx, snowflake user_id,
                                             struct arena *scratch, struct encoded_channels *w,
                                             channel_json_writer *write, void *arg)
{
    struct list page = { 0 };
    snowflake after = 0;

    do {
        arena_reset(scratch);
        list_reserve(scratch, &page, sizeof(struct channel), PAGE);
        enum err e = user_private_channels_list_page(tx, user_id, after, PAGE, &page);
        if (e)
            return e;
        encode_page_of_channels(w, &page, write, arg);
        if (page.count)
            after = ((const struct channel *)page.items)[page.count - 1].id;
    } while (page.count == PAGE);
    return buf_is_full(&w->text) ? ERR_ANSWER_TOO_LARGE : OK;
}

static void write_sorted_channels(struct encoded_channels *w, struct json_writer *out)
{
    if (w->count)
        qsort(w->all, w->count, sizeof *w->all, compare_channels_latest_first);
    json_begin_array(out);
    for (size_t i = 0; i < w->count; i++)
        json_write_raw(out, str_slice(w->text.p + w->all[i].at, w->all[i].n));
    json_end_array(out);
}

enum err write_user_private_channels_json(struct tx *tx, snowflake user_id,
                                          channel_json_writer *write, void *arg,
                                          struct json_writer *out)
{
    struct encoded_channels w = { 0 };
    struct arena *scratch = arena_new(), *before = tx_replace_arena(tx, scratch);

    buf_init(&w.text, MOST_TEXT);
    enum err e = encode_all_pages_of_channels(tx, user_id, scratch, &w, write, arg);
    tx_replace_arena(tx, before);
    arena_free(scratch);
    if (!e)
        write_sorted_channels(&w, out);
    buf_clear(&w.text);
    mem_free(w.all);
    return e;
}

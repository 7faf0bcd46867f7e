/* seen_channels.c - channels that a session gains or loses while it moves to another loop.
 *
 * While a session moves, events may change which channels it can view. The view of the new loop
 * has these changes already, so the channels that were visible when the session left are
 * compared with the channels that are visible now. */
#include "gateway/fanout/seen_channels.h"

#include <stdlib.h>

#include "base/mem.h"
#include "gateway/fanout/sight.h"
#include "gateway/fanout/thread_sync.h"
#include "gateway/sessions/session.h"
#include "gateway/views/topics.h"
#include "gateway/views/view.h"
#include "gateway/wire/protocol.h"

static void seen_append(struct seen_channels *c, struct seen_channel item)
{
    if (c->count == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 32;
        c->items = mem_resize(c->items, c->cap * sizeof *c->items);
    }
    c->items[c->count++] = item;
}

static int compare_ids(const void *a, const void *b)
{
    snowflake x = ((const struct seen_channel *)a)->id, y = ((const struct seen_channel *)b)->id;

    return x < y ? -1 : x > y;
}

void seen_channels_add(struct seen_channels *c, const struct seat *seat)
{
    const struct guild_view *v = seat->topic->view;
    uint32_t from = c->count;
    size_t at = 0;

    if (!v)
        return;
    struct rights_of who = sight_rights(seat);
    for (const struct place_rule *p; (p = map_next(&v->channels, &at));)
        if (!channel_is_thread(p->type) && sight_shows(&who, p))
            seen_append(
                c, (struct seen_channel){ .guild_id = v->guild_id, .id = p->id, .type = p->type });
    if (c->count > from)
        qsort(c->items + from, c->count - from, sizeof *c->items, compare_ids);
}

/* Returns the first item of a guild; *ret_count is the number of its items. */
static const struct seen_channel *find_guild(const struct seen_channels *c, snowflake guild_id,
                                             uint32_t *ret_count)
{
    uint32_t from = 0, to;

    while (from < c->count && c->items[from].guild_id != guild_id)
        from++;
    for (to = from; to < c->count && c->items[to].guild_id == guild_id;)
        to++;
    *ret_count = to - from;
    return c->items + from;
}

static void append_change(struct seen_channels *ret, const struct seen_channel *item, bool shown)
{
    struct seen_channel change = *item;

    change.shown = shown;
    seen_append(ret, change);
}

void seen_channels_compare(const struct seen_channels *before, const struct seat *seat,
                           struct seen_channels *ret)
{
    struct seen_channels now = { 0 };
    uint32_t count, i = 0, k = 0;
    const struct seen_channel *old = find_guild(before, seat->topic->id, &count);

    seen_channels_add(&now, seat);
    while (i < count || k < now.count) {
        if (k == now.count || (i < count && old[i].id < now.items[k].id))
            append_change(ret, &old[i++], false);
        else if (i == count || now.items[k].id < old[i].id)
            append_change(ret, &now.items[k++], true);
        else
            i++, k++;
    }
    seen_channels_clear(&now);
}

enum err seen_channels_read(struct seen_channels *changes, const struct gateway_source *source,
                            struct tx *tx)
{
    struct buf out;
    enum err e = OK;

    buf_init(&out, MAX_PAYLOAD);
    for (uint32_t i = 0; i < changes->count && !e; i++) {
        struct json j = json_to(&out);

        buf_reset(&out);
        /* Reset, because the read may be restarted. */
        changes->items[i].payload = (struct str){ 0 };
        e = source->channel(tx, changes->items[i].id, &j);
        if (!e)
            changes->items[i].payload = buf_take(&out, tx_arena(tx));
        else if (e == ERR_UNKNOWN_CHANNEL)
            e = OK;
    }
    buf_clear(&out);
    return e;
}

/* Sends CHANNEL_DELETE for a channel that is deleted in the store; it has only the ids and the
 * type. */
static void tell_gone(const struct seen_channel *c, struct session *s)
{
    struct buf out;
    struct json j = json_to(&out);

    buf_init(&out, MAX_PAYLOAD);
    json_object(&j);
    json_name(&j, "id");
    json_id(&j, c->id);
    json_name(&j, "guild_id");
    json_id(&j, c->guild_id);
    json_name(&j, "type");
    json_int(&j, c->type);
    json_object_end(&j);
    session_tell(s, EVENT_CHANNEL_DELETE, buf_str(&out));
    buf_clear(&out);
}

/* Requests the threads of one guild's gained channels. Items of a guild are adjacent; *at moves
 * to the end of them. */
static void sync_threads(const struct seen_channels *changes, uint32_t *at, struct session *s)
{
    snowflake guild_id = changes->items[*at].guild_id;
    snowflake *ids = mem_new(changes->count * sizeof *ids);
    size_t count = 0;

    for (; *at < changes->count && changes->items[*at].guild_id == guild_id; ++*at)
        if (changes->items[*at].shown && changes->items[*at].payload.p)
            ids[count++] = changes->items[*at].id;
    if (count)
        thread_sync_begin(s, guild_id, ids, count);
    mem_free(ids);
}

void seen_channels_tell(const struct seen_channels *changes, struct session *s)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        const struct seen_channel *c = &changes->items[i];

        if (c->payload.p)
            session_tell(s, c->shown ? EVENT_CHANNEL_CREATE : EVENT_CHANNEL_DELETE, c->payload);
        else if (!c->shown)
            tell_gone(c, s);
    }
    for (uint32_t i = 0; i < changes->count;)
        sync_threads(changes, &i, s);
}

void seen_channels_clear(struct seen_channels *c)
{
    mem_free(c->items);
    *c = (struct seen_channels){ 0 };
}

/* visible_channels.c - channels that a session gains or loses while it moves to another loop.
 *
 * While a session moves, events may change which channels it can view. The guild view of the new
 * loop already includes these changes. So the channels that were visible when the session left its
 * former loop are compared with the channels that are visible now. */
#include "gateway/fanout/visible_channels.h"

#include <stdlib.h>

#include "base/mem.h"
#include "gateway/fanout/channel_visibility.h"
#include "gateway/fanout/thread_sync.h"
#include "gateway/sessions/session.h"
#include "gateway/subscriptions/topics.h"
#include "gateway/subscriptions/guild_view.h"
#include "gateway/wire/protocol.h"

static void visible_channels_append(struct visible_channels *c, struct visible_channel item)
{
    if (c->count == c->cap) {
        c->cap = c->cap ? c->cap * 2 : 32;
        c->items = mem_resize(c->items, c->cap * sizeof *c->items);
    }
    c->items[c->count++] = item;
}

static int compare_channel_ids(const void *a, const void *b)
{
    snowflake x = ((const struct visible_channel *)a)->id,
              y = ((const struct visible_channel *)b)->id;

    return x < y ? -1 : x > y;
}

void visible_channels_add_all_of_subscription(struct visible_channels *c,
                                              const struct topic_subscription *seat)
{
    const struct guild_view *v = seat->topic->view;
    uint32_t from = c->count;
    size_t at = 0;

    if (!v)
        return;
    struct permission_computation_input who = subscription_get_permissions_ignoring_timeout(seat);
    for (const struct channel_overwrites *p; (p = map_next_value(&v->channels, &at));)
        if (!channel_is_thread(p->type) && member_can_view_channel(&who, p))
            visible_channels_append(c, (struct visible_channel){
                                           .guild_id = v->guild_id, .id = p->id, .type = p->type });
    if (c->count > from)
        qsort(c->items + from, c->count - from, sizeof *c->items, compare_channel_ids);
}

/* Returns the first channel of the guild in the list c; sets *ret_count to the number of the
 * guild's channels. */
static const struct visible_channel *find_guild_channels(const struct visible_channels *c,
                                                         snowflake guild_id, uint32_t *ret_count)
{
    uint32_t from = 0, to;

    while (from < c->count && c->items[from].guild_id != guild_id)
        from++;
    for (to = from; to < c->count && c->items[to].guild_id == guild_id;)
        to++;
    *ret_count = to - from;
    return c->items + from;
}

static void append_gained_or_lost_channel(struct visible_channels *ret,
                                          const struct visible_channel *item, bool shown)
{
    struct visible_channel change = *item;

    change.gained = shown;
    visible_channels_append(ret, change);
}

void visible_channels_add_differences(const struct visible_channels *before,
                                      const struct topic_subscription *seat,
                                      struct visible_channels *ret)
{
    struct visible_channels now = { 0 };
    uint32_t count, i = 0, k = 0;
    const struct visible_channel *old = find_guild_channels(before, seat->topic->id, &count);

    visible_channels_add_all_of_subscription(&now, seat);
    while (i < count || k < now.count) {
        if (k == now.count || (i < count && old[i].id < now.items[k].id))
            append_gained_or_lost_channel(ret, &old[i++], false);
        else if (i == count || now.items[k].id < old[i].id)
            append_gained_or_lost_channel(ret, &now.items[k++], true);
        else
            i++, k++;
    }
    visible_channels_clear(&now);
}

enum err visible_channels_read_channel_json(struct visible_channels *changes,
                                            const struct gateway_source *source, struct tx *tx)
{
    struct buf out;
    enum err e = OK;

    buf_init(&out, MAX_PAYLOAD);
    for (uint32_t i = 0; i < changes->count && !e; i++) {
        struct json_writer j = json_writer_to_buf(&out);

        buf_reset(&out);
        /* Reset the payload that an earlier run of this store read may have set. */
        changes->items[i].payload = (struct str){ 0 };
        e = source->channel(tx, changes->items[i].id, &j);
        if (!e)
            changes->items[i].payload = buf_move_to_arena(&out, tx_arena(tx));
        else if (e == ERR_UNKNOWN_CHANNEL)
            e = OK;
    }
    buf_clear(&out);
    return e;
}

/* Sends CHANNEL_DELETE with only ids and type, because the channel was deleted from the store. */
static void send_deleted_channel(const struct visible_channel *c, struct session *s)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, MAX_PAYLOAD);
    json_begin_object(&j);
    json_write_name(&j, "id");
    json_write_id(&j, c->id);
    json_write_name(&j, "guild_id");
    json_write_id(&j, c->guild_id);
    json_write_name(&j, "type");
    json_write_int(&j, c->type);
    json_end_object(&j);
    session_deliver_payload(s, EVENT_CHANNEL_DELETE, buf_as_str(&out));
    buf_clear(&out);
}

/* Requests the Discord threads of the channels that the session gained in one guild. The channels
 * of a guild are adjacent in `changes`; the index *at is advanced past them. */
static void send_threads_of_gained_channels(const struct visible_channels *changes, uint32_t *at,
                                            struct session *s)
{
    snowflake guild_id = changes->items[*at].guild_id;
    snowflake *ids = mem_new(changes->count * sizeof *ids);
    size_t count = 0;

    for (; *at < changes->count && changes->items[*at].guild_id == guild_id; ++*at)
        if (changes->items[*at].gained && changes->items[*at].payload.p)
            ids[count++] = changes->items[*at].id;
    if (count)
        begin_sending_thread_list_sync(s, guild_id, ids, count);
    mem_free(ids);
}

void visible_channels_send_changes(const struct visible_channels *changes, struct session *s)
{
    for (uint32_t i = 0; i < changes->count; i++) {
        const struct visible_channel *c = &changes->items[i];

        if (c->payload.p)
            session_deliver_payload(s, c->gained ? EVENT_CHANNEL_CREATE : EVENT_CHANNEL_DELETE,
                                    c->payload);
        else if (!c->gained)
            send_deleted_channel(c, s);
    }
    for (uint32_t i = 0; i < changes->count;)
        send_threads_of_gained_channels(changes, &i, s);
}

void visible_channels_clear(struct visible_channels *c)
{
    mem_free(c->items);
    *c = (struct visible_channels){ 0 };
}

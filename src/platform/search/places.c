/* places.c - restricts a guild search to the channels that the caller may read. */
#include "platform/search/internal.h"

#include "model/fields/ids.h"
#include "platform/channels/channels.h"

/* Readable channels, other channels, and channels in which the caller sees all private threads. */
struct search_places {
    struct list open, shut, kept; /* snowflakes */
    bool reads;                   /* the caller can read at least one channel */
};

static void places_sort(struct call *call, const struct search_query *q,
                        const struct list *channels, struct search_places *p)
{
    const struct channel *c = channels->items;
    const uint64_t reading = PERMISSION(VIEW_CHANNEL) | PERMISSION(READ_MESSAGE_HISTORY);

    for (size_t i = 0; i < channels->count; i++) {
        const struct list *o = &c[i].permission_overwrites.value;
        uint64_t rights = rights_in_channel(&call->target.standing->rights_of, c[i].type, o->items,
                                            o->count, false);
        bool reads = (rights & reading) == reading;
        bool hidden = c[i].nsfw.value && !q->include_nsfw.value;

        if (c[i].type == CHANNEL_CATEGORY)
            continue;
        p->reads = p->reads || reads;
        ids_add(call->arena, reads && !hidden ? &p->open : &p->shut, c[i].id);
        if (rights & PERMISSION(MANAGE_THREADS))
            ids_add(call->arena, &p->kept, c[i].id);
    }
}

static void add_places(struct arena *a, struct list *marks, const struct list *ids, const char *of)
{
    for (size_t i = 0; i < ids->count; i++)
        for (const char *kind = of; *kind; kind++)
            *(struct str *)list_add(a, marks, sizeof(struct str)) =
                mark_of_id(a, *kind, ((const snowflake *)ids->items)[i]);
}

/* Reads the newest 500 private threads of the caller. Older ones are not searched. */
static const char PRIVATE_THREADS[] =
    "select t.thread_id from thread_members t join channels c on c.id = t.thread_id "
    "where t.user_id = $1 and t.guild_id = $2 and c.type = 12 order by t.thread_id desc limit 500";

/* The index still contains messages of channels that are being deleted, and the guild of those
 * channels is unknown. Beyond 500 channels, message_found skips their messages. */
static const char BEING_DELETED[] =
    "select key from jobs where kind = 'channel-leftovers' order by key limit 500";

static enum err leave_out_deleted(struct call *call, struct search_terms *t)
{
    struct list ids;
    enum err e = tx_ids(call->tx, BEING_DELETED, NULL, 0, &ids);

    if (e || !ids.count)
        return e;
    struct term_group *g = terms_group(call->arena, t);
    g->none = true;
    add_places(call->arena, &g->any, &ids, "cp");
    return OK;
}

static enum err add_private_threads(struct call *call, const struct search_places *p,
                                    struct search_terms *t)
{
    struct term_group *g = terms_group(call->arena, t);
    struct list joined;
    enum err e = tx_ids(call->tx, PRIVATE_THREADS,
                        BIND(v_id(call->caller->id), v_id(call->target.guild->id)), &joined);

    if (e)
        return e;
    g->none = true;
    terms_add_mark(call->arena, g, STR("_private"));
    add_places(call->arena, &g->unless, &joined, "c");
    add_places(call->arena, &g->unless, &p->kept, "p");
    return OK;
}

enum err places_of_guild(struct call *call, const struct search_query *q, struct search_terms *t)
{
    snowflake guild_id = call->target.guild->id;
    struct search_places p = { 0 };
    struct list channels, threads;
    enum err e = guild_channels(call->tx, guild_id, &channels, &threads);

    if (e)
        return e;
    places_sort(call, q, &channels, &p);
    if (!p.reads)
        return ERR_MISSING_PERMISSIONS;
    terms_add_mark(call->arena, terms_group(call->arena, t),
                   mark_of_id(call->arena, 'g', guild_id));
    /* Both lists express the same filter, so the shorter one is used. */
    bool by_shut = p.shut.count <= p.open.count;
    if (!by_shut || p.shut.count) {
        struct term_group *g = terms_group(call->arena, t);

        g->none = by_shut;
        add_places(call->arena, &g->any, by_shut ? &p.shut : &p.open, "cp");
        if (!g->any.count)
            terms_add_mark(call->arena, g, STR("_nowhere"));
    }
    if (q->channel_id.count)
        add_places(call->arena, &terms_group(call->arena, t)->any, &q->channel_id, "c");
    e = leave_out_deleted(call, t);
    return e ? e : add_private_threads(call, &p, t);
}

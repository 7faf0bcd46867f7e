/* searchable_channels.c - restricts a guild search to the channels that the caller may read. */
#include "platform/search/internal.h"

#include "model/fields/ids.h"
#include "platform/channels/channels.h"

/* Lists of channels: those that the caller can read (open), cannot read (unreadable), and those in
 * which the caller can see all private threads (thread_managed); private threads that the caller
 * has joined, and channels that are being deleted. */
struct searchable_channels {
    struct list open, unreadable, thread_managed, joined, being_deleted; /* snowflakes */
    bool reads; /* whether the caller can read at least one channel of the guild */
};

static void classify_channels_by_access(struct call *call, const struct search_query *q,
                                        const struct list *channels, struct searchable_channels *p)
{
    const struct channel *c = channels->items;
    const uint64_t reading = PERMISSION(VIEW_CHANNEL) | PERMISSION(READ_MESSAGE_HISTORY);

    for (size_t i = 0; i < channels->count; i++) {
        const struct list *o = &c[i].permission_overwrites.value;
        uint64_t perms = permissions_in_channel(&call->target.member_access->input, c[i].type,
                                                o->items, o->count, false);
        bool reads = (perms & reading) == reading;
        bool hidden = c[i].nsfw.value && !q->include_nsfw.value;

        if (c[i].type == CHANNEL_CATEGORY)
            continue;
        p->reads = p->reads || reads;
        id_list_add(call->arena, reads && !hidden ? &p->open : &p->unreadable, c[i].id);
        if (perms & PERMISSION(MANAGE_THREADS))
            id_list_add(call->arena, &p->thread_managed, c[i].id);
    }
}

static void add_channel_id_terms(struct arena *a, struct list *marks, const struct list *ids,
                                 const char *of)
{
    for (size_t i = 0; i < ids->count; i++)
        for (const char *kind = of; *kind; kind++)
            *(struct str *)list_append(a, marks, sizeof(struct str)) =
                search_term_of_id(a, *kind, ((const snowflake *)ids->items)[i]);
}

/* Selects the newest 500 private threads that the caller has joined. Older private threads are not
 * searched. */
static const char PRIVATE_THREADS[] =
    "select t.thread_id from thread_members t join channels c on c.id = t.thread_id "
    "where t.user_id = $1 and t.guild_id = $2 and c.type = 12 order by t.thread_id desc limit 500";

/* Selects channels that are being deleted: the index still contains their messages, and their guild
 * is no longer known. At most 500 are excluded by the query; message_find_unless_ephemeral skips
 * messages of the others. */
static const char BEING_DELETED[] =
    "select key from jobs where kind = 'channel-leftovers' order by key limit 500";

/* Reads all that decides in which channels the caller may search. */
static enum err searchable_channels_read(struct call *call, struct searchable_channels *p)
{
    snowflake guild_id = call->target.guild->id;
    struct list channels, threads;
    enum err e = guild_channels_list(call->tx, guild_id, &channels, &threads);

    *p = (struct searchable_channels){ 0 };
    if (e)
        return e;
    classify_channels_by_access(call, call->query, &channels, p);
    if (!p->reads)
        return call_get_missing_permissions_error(call, PERMISSION(READ_MESSAGE_HISTORY));
    e = tx_read_ids(call->tx, BEING_DELETED, NULL, 0, &p->being_deleted);
    return e ? e
             : tx_read_ids(call->tx, PRIVATE_THREADS, BIND(v_id(call->caller->id), v_id(guild_id)),
                           &p->joined);
}

/* Excluding the unreadable channels and requiring one of the readable channels are equivalent; uses
 * the shorter list. */
static void add_filter_for_readable_channels(struct arena *a, const struct searchable_channels *p,
                                             struct search_terms *t)
{
    bool by_shut = p->unreadable.count <= p->open.count;

    if (by_shut && !p->unreadable.count)
        return;
    struct search_term_filter *g = search_terms_add_filter(a, t);
    g->none = by_shut;
    add_channel_id_terms(a, &g->any, by_shut ? &p->unreadable : &p->open, "cp");
    if (!g->any.count)
        search_term_filter_add_term(a, g, STR("_nowhere"));
}

static void exclude_unsearchable_channels(struct arena *a, const struct searchable_channels *p,
                                          struct search_terms *t)
{
    add_filter_for_readable_channels(a, p, t);
    if (p->being_deleted.count) {
        struct search_term_filter *g = search_terms_add_filter(a, t);

        g->none = true;
        add_channel_id_terms(a, &g->any, &p->being_deleted, "cp");
    }
    struct search_term_filter *g = search_terms_add_filter(a, t);
    g->none = true;
    search_term_filter_add_term(a, g, STR("_private"));
    add_channel_id_terms(a, &g->unless, &p->joined, "c");
    add_channel_id_terms(a, &g->unless, &p->thread_managed, "p");
}

enum err search_read_channels_of_primary(struct call *call)
{
    struct searchable_channels *p = call_store_stage_data(call, "searchable_channels", sizeof *p);

    return searchable_channels_read(call, p);
}

enum err search_terms_add_guild_channels(struct call *call, const struct search_query *q,
                                         struct search_terms *t)
{
    const struct searchable_channels *of_primary = call_get_stage_data(call, "searchable_channels");
    struct searchable_channels p;
    enum err e = searchable_channels_read(call, &p);

    if (e)
        return e;
    search_term_filter_add_term(call->arena, search_terms_add_filter(call->arena, t),
                                search_term_of_id(call->arena, 'g', call->target.guild->id));
    exclude_unsearchable_channels(call->arena, &p, t);
    if (of_primary) /* this transaction reads a standby: what is not readable there is excluded, too
                     */
        exclude_unsearchable_channels(call->arena, of_primary, t);
    if (q->channel_id.count)
        add_channel_id_terms(call->arena, &search_terms_add_filter(call->arena, t)->any,
                             &q->channel_id, "c");
    return OK;
}

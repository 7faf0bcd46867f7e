/* crash_recovery.c - rebuilds the session of a crashed node, from its journal and the event log.
 *
 * The journal, or its replica if the machine is lost, has the number of the last event that the
 * session was sent. The store has the session's guilds, the event log has the missed events. The
 * journal does not have the channels that the user could view. So the session is invalid if a
 * missed event changes these channels, because the client would not get the resulting
 * CHANNEL_CREATE and CHANNEL_DELETE events. It is also invalid if its guilds have changed. */
#include "gateway/resume/crash_recovery.h"

#include "base/test_faults.h"
#include "cluster/cluster.h"
#include "gateway/resume/session_serialization.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/sessions/gateway_loop.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/sessions/registry.h"

enum { RECOVERED_SESSION_MAX_BYTES = 4 * 1024 * 1024 };

static bool journal_slot_shard_has_guild(const struct journal_slot *slot, snowflake guild_id)
{
    return slot->shard_count && (guild_id >> 22) % slot->shard_count == slot->shard_id;
}

static void remove_guilds_of_other_shards(const struct journal_slot *slot, struct list *guilds)
{
    snowflake *ids = guilds->items;
    size_t n = 0;

    for (size_t i = 0; i < guilds->count; i++)
        if (journal_slot_shard_has_guild(slot, ids[i]))
            ids[n++] = ids[i];
    guilds->count = n;
}

static bool journal_slot_belongs_to_client(const struct journal_slot *slot,
                                           const struct resume_request *r)
{
    return slot->user_id == r->authentication.caller.id && str_is(str_of(r->id), slot->id);
}

/* Returns whether the session had the guilds that its account has now. GUILD_DELETE of a deleted
 * guild is sent to sessions in that guild only, so a session that is recovered without the guild
 * would not receive it. */
static bool session_had_these_guilds(const struct journal_slot *slot, const struct list *guilds)
{
    uint64_t hash = 0;

    for (size_t i = 0; i < guilds->count; i++)
        hash ^= journal_hash_guild(((const snowflake *)guilds->items)[i]);
    return hash == slot->guilds;
}

/* *ret stays empty if the session cannot be recovered. */
static enum err serialize_crashed_session(struct tx *tx, const struct gateway_source *source,
                                          const struct found_journal_session *entry, uint64_t seq,
                                          struct str *ret)
{
    struct list guilds = { 0 };
    struct buf out;
    enum err e = source->guilds(tx, entry->slot->user_id, &guilds);

    if (e)
        return e;
    remove_guilds_of_other_shards(entry->slot, &guilds);
    if (!session_had_these_guilds(entry->slot, &guilds))
        return OK;
    buf_init(&out, RECOVERED_SESSION_MAX_BYTES);
    serialize_recovered_session(entry, seq, &guilds, &out);
    if (!buf_is_full(&out))
        *ret = str_dup(tx_arena(tx), buf_as_str(&out));
    buf_clear(&out);
    return OK;
}

static enum journal_find_result find_session_in_replica(const struct gateway *g,
                                                        const struct resume_request *r,
                                                        uint32_t identity, struct arena *arena,
                                                        struct found_journal_session *ret)
{
    if (!g->replica)
        return JOURNAL_UNKNOWN;
    if (r->bad_seq)
        return JOURNAL_UNUSABLE;
    enum journal_find_result verdict =
        replica_find_session(g->replica, identity, r->number, r->seq, arena, ret);
    if (verdict != JOURNAL_FOUND)
        return verdict;
    return journal_slot_belongs_to_client(ret->slot, r) ? JOURNAL_FOUND : JOURNAL_UNUSABLE;
}

enum err take_over_crashed_session(const struct gateway *g, struct tx *tx,
                                   const struct resume_request *r, uint32_t identity, bool silent,
                                   enum journal_find_result *ret_answer, struct str *ret)
{
    const struct gateway_source *source = g->options.source;
    uint32_t me = cluster_node_identity(g->cluster);
    struct found_journal_session entry;
    bool moved = false;
    enum journal_find_result answer = JOURNAL_UNKNOWN;

    if (g->options.journal)
        answer = journal_find_session(g->options.journal, identity, r->number, r->seq, tx_arena(tx),
                                      &entry);
    if ((answer == JOURNAL_UNKNOWN || answer == JOURNAL_OWNER_ALIVE) && silent)
        answer = find_session_in_replica(g, r, identity, tx_arena(tx), &entry);
    *ret = STR("");
    *ret_answer = answer;
    if (answer < JOURNAL_INSUFFICIENT) /* the owner is perhaps only slow */
        return OK;
    *ret_answer = JOURNAL_INSUFFICIENT;
    if (answer == JOURNAL_INSUFFICIENT || r->bad_seq ||
        !journal_slot_belongs_to_client(entry.slot, r))
        return session_owner_row_delete(tx, r->number, identity);
    enum err e = session_owner_row_compare_and_set(tx, r->number, identity, me, &moved);
    if (!e && moved)
        e = serialize_crashed_session(tx, source, &entry, r->seq, ret);
    if (!e && ret->n)
        *ret_answer = JOURNAL_FOUND;
    else if (!e && moved)
        e = session_owner_row_delete(tx, r->number, me);
    return e;
}

static bool event_changes_visible_channels(const struct gateway_event *n, snowflake user_id)
{
    switch (n->type) {
    case EVENT_GUILD_ROLE_UPDATE:
    case EVENT_GUILD_ROLE_DELETE:
    case EVENT_CHANNEL_CREATE:
    case EVENT_CHANNEL_UPDATE:
    case EVENT_CHANNEL_DELETE:
        return true;
    case EVENT_GUILD_UPDATE:
        return n->routing.guild.owner_id != 0;
    case EVENT_GUILD_MEMBER_UPDATE:
        return event_routing_get_user_id(&n->routing) == user_id;
    default:
        return false;
    }
}

/* Returns whether an event changes the session's guilds or the channels that its user can view.
 * Returns false for bots: bots know all channels, and their permissions are read again when the
 * session arrives. */
static bool event_changes_guilds_or_channels(const struct gateway_event *n, const struct session *s)
{
    bool moves = n->type == EVENT_GUILD_CREATE || n->type == EVENT_GUILD_DELETE;

    switch (n->to.kind) {
    case AUDIENCE_USER:
        return n->to.id == s->caller.id && moves;
    case AUDIENCE_GUILD:
        return (moves || (!s->bot && event_changes_visible_channels(n, s->caller.id))) &&
               session_subscription_find(&s->subscriptions, AUDIENCE_GUILD, n->to.id);
    default:
        return false;
    }
}

bool recovered_session_can_continue(const struct session_transfer *h, const struct session *s)
{
    struct retained_events *recent = &h->to->resume.retained;
    struct gateway_event *n;

    if (test_fault_is_enabled(TEST_FAULT_INEXACT_RECOVERY))
        return true;
    for (size_t i = 0; i < h->missed.count; i++)
        if (event_changes_guilds_or_channels(h->missed.items[i], s))
            return false;
    for (uint64_t i = h->since; (n = retained_event_at(recent, i)); i++)
        if (event_changes_guilds_or_channels(n, s))
            return false;
    return true;
}

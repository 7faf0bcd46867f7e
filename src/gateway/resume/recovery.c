/* recovery.c - rebuilds a session whose node crashed, from its journal and the event log.
 *
 * The journal, or its replica if the machine is lost, has the number of the last event that the
 * session was sent. The store has its guilds, the log has the missed events. The channels that
 * its user could view are not known, so the session is invalid if a missed event changes them:
 * its client would not get the resulting CHANNEL_CREATE and CHANNEL_DELETE events. */
#include "gateway/resume/recovery.h"

#include "base/planted.h"
#include "cluster/cluster.h"
#include "gateway/resume/session_bytes.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/sessions/hub.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/sessions/registry.h"

enum { RECOVERED_BYTES = 4 * 1024 * 1024 };

static bool shard_has(const struct journal_slot *slot, snowflake guild_id)
{
    return slot->shard_count && (guild_id >> 22) % slot->shard_count == slot->shard_id;
}

static void keep_shard(const struct journal_slot *slot, struct list *guilds)
{
    snowflake *ids = guilds->items;
    size_t n = 0;

    for (size_t i = 0; i < guilds->count; i++)
        if (shard_has(slot, ids[i]))
            ids[n++] = ids[i];
    guilds->count = n;
}

static bool is_of_client(const struct journal_slot *slot, const struct resumption *r)
{
    return slot->user_id == r->greeting.caller.id && str_is(str_of(r->id), slot->id);
}

static enum err recovery_write(struct tx *tx, const struct gateway_source *source,
                               const struct journal_entry *entry, uint64_t seq, struct str *ret)
{
    struct list guilds = { 0 };
    struct buf out;
    enum err e = source->guilds(tx, entry->slot->user_id, &guilds);

    if (e)
        return e;
    keep_shard(entry->slot, &guilds);
    buf_init(&out, RECOVERED_BYTES);
    session_write_recovered(entry, seq, &guilds, &out);
    if (!buf_full(&out))
        *ret = str_dup(tx_arena(tx), buf_str(&out));
    buf_clear(&out);
    return OK;
}

static enum journal_verdict find_in_replica(const struct gateway *g, const struct resumption *r,
                                            uint32_t identity, struct arena *arena,
                                            struct journal_entry *ret)
{
    if (!g->replica)
        return JOURNAL_UNKNOWN;
    if (r->bad_seq)
        return JOURNAL_UNFIT;
    enum journal_verdict verdict =
        replica_find(g->replica, identity, r->number, r->seq, arena, ret);
    if (verdict != JOURNAL_FOUND)
        return verdict;
    return is_of_client(ret->slot, r) ? JOURNAL_FOUND : JOURNAL_UNFIT;
}

enum err recovery_take(const struct gateway *g, struct tx *tx, const struct resumption *r,
                       uint32_t identity, bool silent, enum journal_verdict *ret_answer,
                       struct str *ret)
{
    const struct gateway_source *source = g->options.source;
    uint32_t me = cluster_identity(g->cluster);
    struct journal_entry entry;
    bool moved = false;
    enum journal_verdict answer = JOURNAL_UNKNOWN;

    if (g->options.journal)
        answer =
            journal_find(g->options.journal, identity, r->number, r->seq, tx_arena(tx), &entry);
    if ((answer == JOURNAL_UNKNOWN || answer == JOURNAL_LIVES) && silent)
        answer = find_in_replica(g, r, identity, tx_arena(tx), &entry);
    *ret = STR("");
    *ret_answer = answer;
    if (answer < JOURNAL_GONE) /* the owner may only be slow */
        return OK;
    *ret_answer = JOURNAL_GONE;
    if (answer == JOURNAL_GONE || r->bad_seq || !is_of_client(entry.slot, r))
        return owner_row_remove(tx, r->number, identity);
    enum err e = owner_row_change(tx, r->number, identity, me, &moved);
    if (!e && moved)
        e = recovery_write(tx, source, &entry, r->seq, ret);
    if (!e && ret->n)
        *ret_answer = JOURNAL_FOUND;
    return e;
}

static bool changes_sight(const struct news *n, snowflake user_id)
{
    switch (n->event) {
    case EVENT_GUILD_ROLE_UPDATE:
    case EVENT_GUILD_ROLE_DELETE:
    case EVENT_CHANNEL_CREATE:
    case EVENT_CHANNEL_UPDATE:
    case EVENT_CHANNEL_DELETE:
        return true;
    case EVENT_GUILD_UPDATE:
        return n->facts.guild.owner_id != 0;
    case EVENT_GUILD_MEMBER_UPDATE:
        return facts_about(&n->facts) == user_id;
    default:
        return false;
    }
}

/* A bot is not concerned by channel changes: it knows all channels, and its permissions are read
 * when it arrives. */
static bool changes_what_it_sees(const struct news *n, const struct session *s)
{
    bool moves = n->event == EVENT_GUILD_CREATE || n->event == EVENT_GUILD_DELETE;

    switch (n->to.kind) {
    case SUBJECT_USER:
        return n->to.id == s->caller.id && moves;
    case SUBJECT_GUILD:
        return (moves || (!s->bot && changes_sight(n, s->caller.id))) &&
               seat_find(&s->seats, SUBJECT_GUILD, n->to.id);
    default:
        return false;
    }
}

bool recovery_is_exact(const struct handover *h, const struct session *s)
{
    struct recent_events *recent = &h->to->resume.recent;
    struct news *n;

    if (fault_planted(PLANTED_BLIND_SIGHT))
        return true;
    for (size_t i = 0; i < h->missed_count; i++)
        if (changes_what_it_sees(h->missed[i], s))
            return false;
    for (uint64_t i = h->since; (n = recent_at(recent, i)); i++)
        if (changes_what_it_sees(n, s))
            return false;
    return true;
}

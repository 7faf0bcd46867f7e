/* recovery.c - a session whose server was killed, taken up from its ledger and the log.
 *
 * The ledger, or what is kept here of one whose machine is gone (replica.h), says what the session
 * was told last, the store where it sits, the log what it missed. What it saw before nobody knows
 * any more, so when somebody changed what it sees, since the server was killed, the session is
 * over: its client would not hear of channels that came and went. */
#include "gateway/resume/recovery.h"

#include "base/planted.h"
#include "cluster/cluster.h"
#include "gateway/resume/session_bytes.h"
#include "gateway/resume/journal/owner_rows.h"
#include "gateway/sessions/hub.h"
#include "gateway/resume/journal/replica.h"
#include "gateway/sessions/registry.h"

enum { RECOVERED_BYTES = 4 * 1024 * 1024 };

static bool shard_has(const struct ledger_slot *slot, snowflake guild_id)
{
    return slot->shard_count && (guild_id >> 22) % slot->shard_count == slot->shard_id;
}

static void keep_of_shard(const struct ledger_slot *slot, struct list *guilds)
{
    snowflake *ids = guilds->items;
    size_t n = 0;

    for (size_t i = 0; i < guilds->count; i++)
        if (shard_has(slot, ids[i]))
            ids[n++] = ids[i];
    guilds->count = n;
}

static bool is_of_client(const struct ledger_slot *slot, const struct resumption *r)
{
    return slot->user_id == r->greeting.caller.id && str_is(str_of(r->id), slot->id);
}

static enum err recovery_write(struct tx *tx, const struct gateway_source *source,
                               const struct ledger_entry *entry, uint64_t seq, struct str *ret)
{
    struct list guilds = { 0 };
    struct buf out;
    enum err e = source->guilds(tx, entry->slot->user_id, &guilds);

    if (e)
        return e;
    keep_of_shard(entry->slot, &guilds);
    buf_init(&out, RECOVERED_BYTES);
    session_write_recovered(entry, seq, &guilds, &out);
    if (!buf_full(&out))
        *ret = str_dup(tx_arena(tx), buf_str(&out));
    buf_clear(&out);
    return OK;
}

static enum ledger_answer find_kept(const struct gateway *g, const struct resumption *r,
                                    uint32_t identity, struct arena *arena,
                                    struct ledger_entry *ret)
{
    if (!g->keeper)
        return LEDGER_UNKNOWN;
    if (r->bad_seq)
        return LEDGER_UNFIT;
    switch (keeper_find(g->keeper, identity, r->number, r->seq, arena, ret)) {
    case KEPT_NONE:
        return LEDGER_UNKNOWN;
    case KEPT_SHORT:
        return LEDGER_SHORT;
    case KEPT_UNFIT:
        return LEDGER_UNFIT;
    case KEPT_FOUND:
        break;
    }
    return is_of_client(ret->slot, r) ? LEDGER_FOUND : LEDGER_UNFIT;
}

enum err recovery_take(const struct gateway *g, struct tx *tx, const struct resumption *r,
                       uint32_t identity, bool silent, enum ledger_answer *ret_answer,
                       struct str *ret)
{
    const struct gateway_source *source = g->options.source;
    uint32_t me = cluster_identity(g->cluster);
    struct ledger_entry entry;
    bool moved = false;
    enum ledger_answer answer = LEDGER_UNKNOWN;

    if (g->options.ledger)
        answer = ledger_find(g->options.ledger, identity, r->number, r->seq, tx_arena(tx), &entry);
    if ((answer == LEDGER_UNKNOWN || answer == LEDGER_LIVES) && silent)
        answer = find_kept(g, r, identity, tx_arena(tx), &entry);
    *ret = STR("");
    *ret_answer = answer;
    if (answer < LEDGER_GONE) /* its server may only be slow */
        return OK;
    *ret_answer = LEDGER_GONE;
    if (answer == LEDGER_GONE || r->bad_seq || !is_of_client(entry.slot, r))
        return owner_row_remove(tx, r->number, identity);
    enum err e = owner_row_change(tx, r->number, identity, me, &moved);
    if (!e && moved)
        e = recovery_write(tx, source, &entry, r->seq, ret);
    if (!e && ret->n)
        *ret_answer = LEDGER_FOUND;
    return e;
}

/* --- what nobody can compare any more ------------------------------------------------- */

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

/* Bots know every channel, and what they may hear of is asked for now. */
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
    struct recent_events *recent = &h->to->recent;
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

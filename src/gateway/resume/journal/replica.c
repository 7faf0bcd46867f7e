/* replica.c - what sessions of other servers were told, kept here in case their machine goes. */
#include "gateway/resume/journal/replica.h"

#include "base/clock.h"
#include "base/mem.h"
#include "gateway/resume/journal/replica_internal.h"
#include "gateway/sessions/session.h"

enum {
    MOST_SERVERS = 4096, /* that said that they keep */
    DROPPED_AT_ONCE = 1024,
    SLOW_MS = 60 * 1000, /* in which a server tells of each session several times */
};

struct keeper *keeper_new(void)
{
    struct keeper *k = mem_new(sizeof *k);

    pthread_mutex_init(&k->lock, NULL);
    map_init(&k->servers);
    map_init(&k->sessions);
    map_init(&k->keepers);
    links_init(&k->by_age);
    return k;
}

void keeper_free(struct keeper *k)
{
    size_t at = 0;

    if (!k)
        return;
    for (struct kept_session *s; (s = map_next(&k->sessions, &at));)
        mem_free(s);
    at = 0;
    for (struct kept_server *s; (s = map_next(&k->servers, &at));)
        mem_free(s);
    map_clear(&k->sessions);
    map_clear(&k->servers);
    map_clear(&k->keepers);
    pthread_mutex_destroy(&k->lock);
    mem_free(k);
}

/* --- who keeps ------------------------------------------------------------------------ */

void keeper_write_here(struct buf *out, uint32_t identity)
{
    serial_put(out, KEEPER_HERE);
    serial_put(out, identity);
    serial_put(out, LEDGER_MAGIC);
}

static void hear_here(struct keeper *k, uint32_t identity, struct serial_reader *in)
{
    uint64_t magic = serial_get(in);

    if (!in->bad && magic == LEDGER_MAGIC && k->keepers.count < MOST_SERVERS)
        map_put(&k->keepers, identity, k);
}

/* Those who are gone are dropped from who said that they keep: who lives says it again. */
static void keepers_take_living(struct keeper *k, const uint32_t *identities, size_t count)
{
    struct map living;

    map_init(&living);
    for (size_t i = 0; i < count; i++)
        if (map_get(&k->keepers, identities[i]))
            map_put(&living, identities[i], k);
    map_clear(&k->keepers);
    k->keepers = living;
}

uint32_t keeper_choose(struct keeper *k, uint32_t me, const uint32_t *identities, size_t count)
{
    uint32_t next = 0, first = 0;

    pthread_mutex_lock(&k->lock);
    keepers_take_living(k, identities, count);
    for (size_t i = 0; i < count; i++) {
        uint32_t id = identities[i];

        if (id == me || !map_get(&k->keepers, id))
            continue;
        if (id > me && (!next || id < next))
            next = id;
        if (!first || id < first)
            first = id;
    }
    pthread_mutex_unlock(&k->lock);
    return next ? next : first;
}

/* --- all that is heard ---------------------------------------------------------------- */

static void hear_missed(struct serial_reader *in, struct keeper_reply *ret)
{
    uint64_t hub = serial_get(in);

    ret->anew = !in->bad && hub < LEDGER_HUBS;
    ret->hub = (unsigned)hub;
}

void keeper_hear(struct keeper *k, struct str message, struct keeper_reply *ret)
{
    struct serial_reader in = { .rest = message };
    uint64_t kind = serial_get(&in);
    uint32_t identity = (uint32_t)serial_get(&in);

    ret->to = 0;
    ret->number = 0;
    ret->anew = false;
    if (in.bad)
        return;
    pthread_mutex_lock(&k->lock);
    if (kind == KEEPER_COPIES)
        keeper_hear_copies(k, identity, &in, ret);
    else if (kind == KEEPER_MISSED)
        hear_missed(&in, ret);
    else if (kind == KEEPER_ASK)
        keeper_hear_question(k, identity, &in, ret);
    else if (kind == KEEPER_ANSWER)
        keeper_hear_answer(k, identity, &in, ret);
    else if (kind == KEEPER_UNFIT)
        keeper_hear_unfit(k, identity, &in, ret);
    else if (kind == KEEPER_HERE)
        hear_here(k, identity, &in);
    pthread_mutex_unlock(&k->lock);
}

enum kept_answer keeper_find(struct keeper *k, uint32_t identity, uint64_t number, uint64_t seq,
                             struct arena *arena, struct ledger_entry *ret)
{
    pthread_mutex_lock(&k->lock);
    const struct kept_session *s = kept_session_find(k, number, identity);
    enum kept_answer answer = kept_judge(k, s, seq, &ret->seen);
    if (answer == KEPT_FOUND) {
        ret->slot = arena_alloc(arena, sizeof *ret->slot);
        *ret->slot = s->slot;
    }
    pthread_mutex_unlock(&k->lock);
    return answer;
}

/* --- what nobody needs any more ------------------------------------------------------- */

static bool is_forgotten(int64_t heard_ms, int64_t now_ms)
{
    return now_ms - heard_ms > AWAY_MS + SLOW_MS;
}

/* The oldest stand first, so that nobody who may stay is looked at. */
void keeper_tidy(struct keeper *k, int64_t now_ms)
{
    size_t count = 0, at = 0;
    struct kept_server *silent = NULL;

    pthread_mutex_lock(&k->lock);
    for (; count < DROPPED_AT_ONCE && !links_empty(&k->by_age); count++) {
        const struct kept_session *s = container_of(k->by_age.next, struct kept_session, link);

        if (!is_forgotten(s->heard_ms, now_ms))
            break;
        kept_session_drop(k, s->number);
    }
    for (struct kept_server *s; (s = map_next(&k->servers, &at));)
        if (is_forgotten(s->heard_ms, now_ms))
            silent = s;
    if (silent) {
        map_remove(&k->servers, silent->identity);
        mem_free(silent);
    }
    if (count)
        k->full = false;
    pthread_mutex_unlock(&k->lock);
}

uint64_t keeper_count(struct keeper *k)
{
    pthread_mutex_lock(&k->lock);
    uint64_t count = k->sessions.count;
    pthread_mutex_unlock(&k->lock);
    return count;
}

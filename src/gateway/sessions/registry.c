/* registry.c - all accounts and sessions of the process, limits per account and IP address. */
#include "gateway/sessions/registry.h"

#include <sodium.h>

#include "base/clock.h"
#include "base/hash.h"
#include "base/mem.h"
#include "gateway/sessions/gateway_loop.h"

enum { DAY_MS = 24 * 60 * 60 * 1000, START_INTERVAL_MS = 5000, START_BURST = 5 };

bool registry_count_unauthenticated_socket(struct gateway *g, uint64_t key)
{
    uintptr_t max = g->options.max_unauthenticated ? g->options.max_unauthenticated : 64;

    pthread_mutex_lock(&g->lock);
    uintptr_t count = (uintptr_t)map_find_value(&g->unauthenticated, key);
    bool ok = count < max;
    if (ok)
        map_set_value(&g->unauthenticated, key, (void *)(count + 1));
    pthread_mutex_unlock(&g->lock);
    return ok;
}

void registry_uncount_unauthenticated_socket(struct gateway *g, uint64_t key)
{
    pthread_mutex_lock(&g->lock);
    uintptr_t count = (uintptr_t)map_find_value(&g->unauthenticated, key);
    if (count > 1)
        map_set_value(&g->unauthenticated, key, (void *)(count - 1));
    else
        map_remove_value(&g->unauthenticated, key);
    pthread_mutex_unlock(&g->lock);
}

static struct gateway_account *account_get_or_create(struct gateway *g, snowflake id)
{
    struct gateway_account *a = map_find_value(&g->accounts, id);

    if (!a) {
        a = mem_new(sizeof *a);
        a->id = id;
        linked_list_init(&a->sessions);
        linked_list_init(&a->remotes);
        map_set_value(&g->accounts, id, a);
    }
    return a;
}

static unsigned session_starts_today(const struct gateway_account *a)
{
    return a->starts_day == (uint16_t)current_day_number() ? a->starts : 0;
}

/* Raises the account's number of session starts of today to at least `known`. */
static void raise_session_starts_today(struct gateway_account *a, uint64_t known)
{
    unsigned starts = session_starts_today(a);

    a->starts_day = (uint16_t)current_day_number();
    a->starts = (uint16_t)(known <= starts ? starts : known < UINT16_MAX ? known : UINT16_MAX);
}

/* Removes an account from the registry if it has no sessions and started no sessions today. */
static void free_account_if_unused(struct gateway *g, struct gateway_account *a)
{
    if (a->session_count || a->remote_count || session_starts_today(a))
        return;
    map_remove_value(&g->accounts, a->id);
    gateway_account_free(a);
}

void gateway_account_free(struct gateway_account *a)
{
    for (struct announced_presence *s = a->announced.next, *next; s; s = next) {
        next = s->next;
        mem_free(s);
    }
    mem_free(a->others);
    mem_free(a);
}

struct announced_presence *account_get_announced_presence(struct gateway_account *a,
                                                          uint32_t shard_id, uint32_t shard_count)
{
    struct announced_presence *s = &a->announced;

    while (s && s->shard_count && (s->shard_id != shard_id || s->shard_count != shard_count))
        s = s->next;
    if (s && s->shard_count)
        return s;
    if (!s) {
        s = mem_new(sizeof *s);
        s->next = a->announced.next;
        a->announced.next = s;
    }
    s->shard_id = shard_id;
    s->shard_count = shard_count;
    memset(&s->statuses, PRESENCE_INVISIBLE, sizeof s->statuses);
    return s;
}

static void account_add_session(struct gateway *g, struct gateway_account *a, struct session *s)
{
    a->session_count++;
    linked_list_append(&a->sessions, &s->of_user);
    s->listed = true;
    map_set_value(&g->sessions, s->number, s);
    atomic_fetch_add(&g->count.session_count, 1);
}

void registry_add_restored_session(struct gateway *g, struct session *s)
{
    pthread_mutex_lock(&g->lock);
    account_add_session(g, account_get_or_create(g, s->caller.id), s);
    pthread_mutex_unlock(&g->lock);
}

bool registry_add_session(struct gateway *g, struct session *s)
{
    unsigned max = g->options.max_sessions ? g->options.max_sessions : 50;

    pthread_mutex_lock(&g->lock);
    struct gateway_account *a = account_get_or_create(g, s->caller.id);
    bool ok = s->bot || a->session_count + a->remote_count < max;
    if (ok) {
        account_add_session(g, a, s);
    } else {
        free_account_if_unused(g, a);
    }
    pthread_mutex_unlock(&g->lock);
    return ok;
}

void registry_remove_session(struct gateway *g, struct session *s)
{
    pthread_mutex_lock(&g->lock);
    if (s->listed) {
        struct gateway_account *a = map_find_value(&g->accounts, s->caller.id);

        linked_list_remove(&s->of_user);
        s->listed = false;
        map_remove_value(&g->sessions, s->number);
        atomic_fetch_sub(&g->count.session_count, 1);
        a->session_count--;
        free_account_if_unused(g, a);
    }
    pthread_mutex_unlock(&g->lock);
}

/* --- sessions of other nodes ---------------------------------------------------------- */

void remote_session_add(struct gateway *g, struct remote_session *r)
{
    struct gateway_account *a = account_get_or_create(g, r->user_id);

    a->remote_count++;
    linked_list_append(&a->remotes, &r->of_user);
    map_set_value(&g->remotes, r->number, r);
}

void remote_session_remove(struct gateway *g, struct remote_session *r)
{
    struct gateway_account *a = map_find_value(&g->accounts, r->user_id);

    linked_list_remove(&r->of_user);
    linked_list_remove(&r->of_node);
    map_remove_value(&g->remotes, r->number);
    a->remote_count--;
    free_account_if_unused(g, a);
}

void remote_session_free(struct remote_session *r)
{
    if (!r)
        return;
    mem_free((void *)(uintptr_t)r->presence.p);
    mem_free(r->guilds);
    mem_free(r);
}

struct gateway_loop *registry_find_loop_of_session(struct gateway *g, uint64_t number)
{
    pthread_mutex_lock(&g->lock);
    struct session *s = map_find_value(&g->sessions, number);
    struct gateway_loop *h = s ? s->gateway_loop : map_find_value(&g->arriving, number);
    pthread_mutex_unlock(&g->lock);
    return h;
}

bool registry_has_session(struct gateway *g, uint64_t number)
{
    pthread_mutex_lock(&g->lock);
    bool has = map_find_value(&g->sessions, number);
    pthread_mutex_unlock(&g->lock);
    return has;
}

void registry_set_loop_of_arriving_session(struct gateway *g, uint64_t number,
                                           struct gateway_loop *hub)
{
    pthread_mutex_lock(&g->lock);
    if (hub)
        map_set_value(&g->arriving, number, hub);
    else
        map_remove_value(&g->arriving, number);
    pthread_mutex_unlock(&g->lock);
}

/* Reads the session number, which is the first half of a session id. */
bool session_id_parse(struct str id, uint64_t *ret_number)
{
    unsigned char bytes[SESSION_ID / 2];
    size_t n;

    if (id.n != SESSION_ID ||
        sodium_hex2bin(bytes, sizeof bytes, id.p, id.n, NULL, &n, NULL) != 0 || n != sizeof bytes)
        return false;
    memcpy(ret_number, bytes, sizeof *ret_number);
    return true;
}

bool gateway_find_session(struct gateway *g, snowflake user_id, struct str session_id,
                          uint64_t *ret)
{
    uint64_t number;

    if (!session_id_parse(session_id, &number))
        return false;
    pthread_mutex_lock(&g->lock);
    const struct session *s = map_find_value(&g->sessions, number);
    const struct remote_session *r = map_find_value(&g->remotes, number);
    bool found = (s && s->caller.id == user_id && session_has_id(s, session_id)) ||
                 (r && r->user_id == user_id && str_eq(str_of(r->id), session_id));
    pthread_mutex_unlock(&g->lock);
    if (found)
        *ret = number;
    return found;
}

struct session *registry_find_session_on_loop(struct gateway_loop *h, uint64_t number)
{
    pthread_mutex_lock(&h->gateway->lock);
    struct session *s = map_find_value(&h->gateway->sessions, number);
    bool here = s && s->gateway_loop == h && s->link.next;
    pthread_mutex_unlock(&h->gateway->lock);
    return here ? s : NULL;
}

static int64_t *session_start_bucket_of_key(struct gateway_account *a, uint32_t key)
{
    if (!key)
        return &a->full_ms;
    if (!a->others)
        a->others = mem_new((GATEWAY_CONCURRENCY - 1) * sizeof *a->others);
    return &a->others[key - 1];
}

/* Takes a token from the token bucket of a rate limit key: the bucket allows five session starts at
 * once, then one every five seconds. */
static bool session_start_bucket_consume(int64_t *full_ms, int64_t now)
{
    int64_t from = *full_ms > now ? *full_ms : now;

    if (from + START_INTERVAL_MS - now > START_BURST * START_INTERVAL_MS)
        return false;
    *full_ms = from + START_INTERVAL_MS;
    return true;
}

int64_t current_day_number(void)
{
    return clock_ms() / DAY_MS;
}

bool registry_count_session_start(struct gateway *g, snowflake id, uint32_t shard_id, int64_t known,
                                  int64_t *ret)
{
    int64_t now = clock_ms();

    *ret = 0;
    if (g->options.no_limits)
        return true;
    pthread_mutex_lock(&g->lock);
    struct gateway_account *a = account_get_or_create(g, id);
    /* The number from the store includes session starts before a restart and on other nodes. */
    raise_session_starts_today(a, known > 0 ? (uint64_t)known : 0);
    bool ok = a->starts < GATEWAY_STARTS_A_DAY &&
              session_start_bucket_consume(
                  session_start_bucket_of_key(a, shard_id % GATEWAY_CONCURRENCY), now);
    if (ok)
        *ret = ++a->starts;
    pthread_mutex_unlock(&g->lock);
    return ok;
}

struct session_starts registry_read_session_starts(struct gateway *g, snowflake id,
                                                   uint32_t shard_id)
{
    struct session_starts s = { .user_id = id, .key = shard_id % GATEWAY_CONCURRENCY };

    pthread_mutex_lock(&g->lock);
    struct gateway_account *a = map_find_value(&g->accounts, id);
    if (a) {
        s.full_ms = *session_start_bucket_of_key(a, s.key);
        s.day = current_day_number();
        s.starts = session_starts_today(a);
    }
    pthread_mutex_unlock(&g->lock);
    return s;
}

void registry_add_remote_session_starts(struct gateway *g, const struct session_starts *s)
{
    int64_t *full_ms;

    if (s->key >= GATEWAY_CONCURRENCY || s->day != current_day_number() || g->options.no_limits)
        return;
    pthread_mutex_lock(&g->lock);
    struct gateway_account *a = account_get_or_create(g, s->user_id);
    raise_session_starts_today(a, s->starts);
    full_ms = session_start_bucket_of_key(a, s->key);
    *full_ms = s->full_ms > *full_ms ? s->full_ms : *full_ms;
    pthread_mutex_unlock(&g->lock);
}

unsigned gateway_count_session_starts_left(struct gateway *g, snowflake bot_id)
{
    pthread_mutex_lock(&g->lock);
    const struct gateway_account *a = map_find_value(&g->accounts, bot_id);
    unsigned used = a ? session_starts_today(a) : 0;
    pthread_mutex_unlock(&g->lock);
    return used < GATEWAY_STARTS_A_DAY ? GATEWAY_STARTS_A_DAY - used : 0;
}

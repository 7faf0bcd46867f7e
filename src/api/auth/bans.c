/* bans.c - IP address ranges banned by the operator: the copy in memory, and the rows. */
#include "api/auth/bans.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "model/fields/rows.h"

struct bans {
    pthread_rwlock_t lock; /* protects items */
    _Atomic size_t count;  /* read without the lock, because most servers have no bans */
    struct network *items;
};

struct bans *bans_new(void)
{
    struct bans *b = mem_new(sizeof *b);

    pthread_rwlock_init(&b->lock, NULL);
    return b;
}

void bans_free(struct bans *b)
{
    if (!b)
        return;
    pthread_rwlock_destroy(&b->lock);
    mem_free(b->items);
    mem_free(b);
}

bool bans_hold(struct bans *b, struct str address)
{
    struct address a;
    bool held = false;

    if (!atomic_load_explicit(&b->count, memory_order_relaxed) || !address_parse(address, &a))
        return false;
    pthread_rwlock_rdlock(&b->lock);
    for (size_t i = 0; i < b->count && !held; i++)
        held = network_holds(&b->items[i], &a);
    pthread_rwlock_unlock(&b->lock);
    return held;
}

/* Returns the index of the range, or b->count. The caller holds the lock. */
static size_t bans_find(const struct bans *b, const struct network *n)
{
    size_t i = 0;

    while (i < b->count && (b->items[i].bits != n->bits ||
                            memcmp(&b->items[i].address, &n->address, sizeof n->address) != 0))
        i++;
    return i;
}

void bans_put(struct bans *b, const struct network *n)
{
    pthread_rwlock_wrlock(&b->lock);
    if (bans_find(b, n) == b->count) {
        b->items = mem_resize(b->items, (b->count + 1) * sizeof *b->items);
        b->items[b->count++] = *n;
    }
    pthread_rwlock_unlock(&b->lock);
}

void bans_drop(struct bans *b, const struct network *n)
{
    pthread_rwlock_wrlock(&b->lock);
    size_t i = bans_find(b, n);
    if (i < b->count) {
        b->items[i] = b->items[b->count - 1];
        b->count--;
    }
    pthread_rwlock_unlock(&b->lock);
}

static void read_ban(const struct rows *r, void *ret)
{
    *(struct address_ban *)ret =
        (struct address_ban){ row_id(r, 0), row_text(r, 1), row_text(r, 2), row_int(r, 3) };
}

static const char BANS_AFTER[] = "select id, range, reason, created_at from address_bans "
                                 "where id > $1 order by id limit $2";

enum err ban_list(struct tx *tx, snowflake after, int64_t limit, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_list(tx, BANS_AFTER, BIND(v_id(after), v_int(limit)), sizeof(struct address_ban),
                   read_ban, ret);
}

static enum err load_rows(struct tx *tx, void *arg)
{
    struct bans *b = arg;
    struct list all;
    enum err e = ban_list(tx, 0, BANS_MAX, &all);
    const struct address_ban *rows = all.items;
    struct network n;

    for (size_t i = 0; !e && i < all.count; i++)
        if (network_parse(rows[i].range, &n))
            bans_put(b, &n);
    return e;
}

enum err bans_load(struct bans *b, struct store *store)
{
    struct arena *arena = arena_new();
    enum err e = store_run(store, STORE_READ, arena, load_rows, b);

    arena_free(arena);
    return e;
}

/* Formats a range. Networks are stored as IPv6; IPv4 ranges are written with their own prefix
 * length. */
static struct str range_text(struct arena *arena, const struct network *n)
{
    char text[ADDRESS_TEXT];
    size_t length = address_write(&n->address, text);
    bool four = !memchr(text, ':', length);

    return str_printf(arena, "%.*s/%u", (int)length, text, four ? n->bits - 96 : n->bits);
}

static const char COUNT_BANS[] = "select count(*) from address_bans";
static const char ADD_BAN[] =
    "insert into address_bans (id, range, reason, created_at) values ($1, $2, $3, $4) "
    "on conflict do nothing";

enum err ban_add(struct call *call, const struct network *n, struct str reason,
                 struct address_ban *ret)
{
    struct rows row;
    bool found;
    int64_t new = 0;
    enum err e = tx_one(call->tx, COUNT_BANS, NO_BIND, &row, &found);

    if (!e && row_int(&row, 0) >= BANS_MAX)
        return ERR_RATE_LIMITED;
    *ret = (struct address_ban){ snowflake_new(), range_text(call->arena, n), reason, clock_us() };
    if (!e)
        e = tx_exec(call->tx, ADD_BAN,
                    BIND(v_id(ret->id), v_text(ret->range), v_text(reason), v_int(ret->created_at)),
                    &new);
    if (e || !new)
        return e ? e : ERR_STORE_CONFLICT;
    call_ban_addresses(call, n, true);
    return OK;
}

static const char LIFT_BAN[] =
    "delete from address_bans where id = $1 returning id, range, reason, created_at";

enum err ban_lift(struct call *call, snowflake id, struct address_ban *ret)
{
    struct network n;
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, LIFT_BAN, BIND(v_id(id)), &row, &found);

    if (e || !found)
        return e ? e : ERR_NOT_FOUND;
    read_ban(&row, ret);
    if (network_parse(ret->range, &n))
        call_ban_addresses(call, &n, false);
    return OK;
}

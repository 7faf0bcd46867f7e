/* address_bans.c - IP address ranges banned by the operator: copy in memory, and database rows. */
#include "api/auth/address_bans.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/mem.h"
#include "model/fields/rows.h"

struct address_ban_set {
    pthread_rwlock_t lock; /* protects items */
    _Atomic size_t count;  /* number of banned ranges; readable without the lock, so that servers
                            * without bans need no lock */
    struct ip_network *items;
};

struct address_ban_set *address_ban_set_new(void)
{
    struct address_ban_set *b = mem_new(sizeof *b);

    pthread_rwlock_init(&b->lock, NULL);
    return b;
}

void address_ban_set_free(struct address_ban_set *b)
{
    if (!b)
        return;
    pthread_rwlock_destroy(&b->lock);
    mem_free(b->items);
    mem_free(b);
}

bool address_ban_set_contains(struct address_ban_set *b, struct str address)
{
    struct ip_address a;
    bool banned = false;

    if (!atomic_load_explicit(&b->count, memory_order_relaxed) || !ip_address_parse(address, &a))
        return false;
    pthread_rwlock_rdlock(&b->lock);
    for (size_t i = 0; i < b->count && !banned; i++)
        banned = ip_network_contains(&b->items[i], &a);
    pthread_rwlock_unlock(&b->lock);
    return banned;
}

/* Returns the index of a banned range; if the range is not banned, returns b->count. The caller
 * holds the lock. */
static size_t find_banned_network(const struct address_ban_set *b, const struct ip_network *n)
{
    size_t i = 0;

    while (i < b->count && (b->items[i].bits != n->bits ||
                            memcmp(&b->items[i].address, &n->address, sizeof n->address) != 0))
        i++;
    return i;
}

void address_ban_set_add(struct address_ban_set *b, const struct ip_network *n)
{
    pthread_rwlock_wrlock(&b->lock);
    if (find_banned_network(b, n) == b->count) {
        b->items = mem_resize(b->items, (b->count + 1) * sizeof *b->items);
        b->items[b->count++] = *n;
    }
    pthread_rwlock_unlock(&b->lock);
}

void address_ban_set_remove(struct address_ban_set *b, const struct ip_network *n)
{
    pthread_rwlock_wrlock(&b->lock);
    size_t i = find_banned_network(b, n);
    if (i < b->count) {
        b->items[i] = b->items[b->count - 1];
        b->count--;
    }
    pthread_rwlock_unlock(&b->lock);
}

static void address_ban_from_row(const struct rows *r, void *ret)
{
    *(struct address_ban *)ret =
        (struct address_ban){ row_id(r, 0), row_text(r, 1), row_text(r, 2), row_int(r, 3) };
}

static const char BANS_AFTER[] = "select id, range, reason, created_at from address_bans "
                                 "where id > $1 order by id limit $2";

enum err list_address_bans(struct tx *tx, snowflake after, int64_t limit, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, BANS_AFTER, BIND(v_id(after), v_int(limit)), sizeof(struct address_ban),
                        address_ban_from_row, ret);
}

static enum err read_address_ban_rows(struct tx *tx, void *arg)
{
    struct address_ban_set *b = arg;
    struct list all;
    enum err e = list_address_bans(tx, 0, ADDRESS_BANS_MAX, &all);
    const struct address_ban *rows = all.items;
    struct ip_network n;

    for (size_t i = 0; !e && i < all.count; i++)
        if (ip_network_parse(rows[i].range, &n))
            address_ban_set_add(b, &n);
    return e;
}

enum err address_ban_set_read(struct address_ban_set *b, struct store *store)
{
    struct arena *arena = arena_new();
    enum err e = store_run_transaction_and_wait(store, STORE_READ, arena, read_address_ban_rows, b);

    arena_free(arena);
    return e;
}

/* Formats a range as text. Ranges are stored as IPv6; an IPv4 range is written with its IPv4 prefix
 * length. */
static struct str format_address_range(struct arena *arena, const struct ip_network *n)
{
    char text[ADDRESS_TEXT_SIZE];
    size_t length = ip_address_format(&n->address, text);
    bool four = !memchr(text, ':', length);

    return str_printf(arena, "%.*s/%u", (int)length, text, four ? n->bits - 96 : n->bits);
}

static const char COUNT_BANS[] = "select count(*) from address_bans";
static const char ADD_BAN[] =
    "insert into address_bans (id, range, reason, created_at) values ($1, $2, $3, $4) "
    "on conflict do nothing";

enum err insert_address_ban(struct call *call, const struct ip_network *n, struct str reason,
                            struct address_ban *ret)
{
    int64_t number = 0;
    int64_t new = 0;
    enum err e = tx_read_int(call->tx, COUNT_BANS, NO_BIND, &number);

    if (!e && number >= ADDRESS_BANS_MAX)
        return ERR_RATE_LIMITED;
    *ret = (struct address_ban){ snowflake_new(), format_address_range(call->arena, n), reason,
                                 clock_us() };
    if (!e)
        e = tx_exec(call->tx, ADD_BAN,
                    BIND(v_id(ret->id), v_text(ret->range), v_text(reason), v_int(ret->created_at)),
                    &new);
    if (e || !new)
        return e ? e : ERR_STORE_CONFLICT;
    call_set_address_range_banned(call, n, true);
    return OK;
}

static const char LIFT_BAN[] =
    "delete from address_bans where id = $1 returning id, range, reason, created_at";

enum err delete_address_ban(struct call *call, snowflake id, struct address_ban *ret)
{
    struct ip_network n;
    struct rows row;
    enum err e = tx_one_or(call->tx, LIFT_BAN, BIND(v_id(id)), ERR_NOT_FOUND, &row);

    if (e)
        return e;
    address_ban_from_row(&row, ret);
    if (ip_network_parse(ret->range, &n))
        call_set_address_range_banned(call, &n, false);
    return OK;
}

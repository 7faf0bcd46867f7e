/* password_attempts.c - rate limits for wrong passwords.
 *
 * Wrong passwords of all routes share three counters: per address, per address and login, and per
 * login from addresses that have never logged in to the account. An attacker is slowed down, but
 * the owner is not locked out: the third counter does not apply to an address from which the owner
 * has logged in before. SECURITY.md has the reasoning. */
#include "platform/accounts/internal.h"

#include <arpa/inet.h>

#include "base/clock.h"
#include "base/mem.h"
#include "net/http/server.h"

enum { DIGEST = 16 };

static const struct rate_limit limit_wrong_by_address = {
    .name = "wrong-password", .count = 5, .window_s = 60, .strict = true
};
static const struct rate_limit limit_wrong_by_address_and_login = {
    .name = "wrong-password-here", .count = 10, .window_s = 1800, .strict = true
};
static const struct rate_limit limit_wrong_by_login = {
    .name = "wrong-password-anonymous", .count = 60, .window_s = 1800, .strict = true
};

/* --- known IP addresses of an account ------------------------------------------------ */

/* IPv6 addresses are counted per /64, because one customer usually has a whole /64. */
static struct str caller_ip_address_key(const struct call *call)
{
    struct str text = call->exchange->remote;
    unsigned char bytes[16];

    if (inet_pton(AF_INET6, str_dup_cstring(call->arena, text), bytes) != 1 ||
        str_starts_with(text, STR("::ffff:")))
        return text;
    return str_dup(call->arena, str_slice((const char *)bytes, 8));
}

/* The table stores keyed hashes of IP addresses instead of the addresses, so that a copy of the
 * table does not reveal where users are. */
static struct str derive_known_ip_address_digest(const struct call *call, snowflake user_id)
{
    unsigned char *digest = arena_alloc(call->arena, DIGEST);

    auth_derive_key(api_get_options(call->api)->auth, "known-address", user_id,
                    caller_ip_address_key(call), digest, DIGEST);
    return str_slice((const char *)digest, DIGEST);
}

static const char FIND_ADDRESS[] =
    "select 1 from known_addresses where user_id = $1 and address = $2";

enum err known_login_address_find(struct call *call, snowflake user_id, bool *ret_known)
{
    return tx_exists(call->tx, FIND_ADDRESS,
                     BIND(v_id(user_id), v_bytes(derive_known_ip_address_digest(call, user_id))),
                     ret_known);
}

static const char SAVE_ADDRESS[] =
    "insert into known_addresses (user_id, address, seen_at) values ($1, $2, $3) "
    "on conflict (user_id, address) do update set seen_at = excluded.seen_at";
static const char DROP_OLDEST[] =
    "delete from known_addresses where user_id = $1 and address not in "
    "(select address from known_addresses where user_id = $1 "
    "order by seen_at desc, address limit 20)";

enum err known_login_address_save(struct call *call, snowflake user_id)
{
    enum err e = tx_exec(call->tx, SAVE_ADDRESS,
                         BIND(v_id(user_id), v_bytes(derive_known_ip_address_digest(call, user_id)),
                              v_int(clock_us())),
                         NULL);

    return e ? e : tx_exec(call->tx, DROP_OLDEST, BIND(v_id(user_id)), NULL);
}

static const char DELETE_ADDRESSES[] = "delete from known_addresses where user_id = $1";

enum err known_login_addresses_delete(struct call *call, snowflake user_id)
{
    return tx_exec(call->tx, DELETE_ADDRESSES, BIND(v_id(user_id)), NULL);
}

struct attempt_counter {
    const struct rate_limit *limit;
    struct str key;
};

static void uncount_password_attempts(struct call *call, const struct attempt_counter *counts,
                                      size_t n)
{
    while (n)
        n--, call_revert_rate_limit_count(call, counts[n].limit, counts[n].key);
}

/* Counts every attempt before the check, so that parallel attempts cannot exceed the limit, and
 * uncounts the attempt if the password was right. */
enum err password_check_and_count_attempt(struct call *call, const struct password_attempt *g,
                                          bool *ret_right)
{
    struct str address = caller_ip_address_key(call);
    const struct attempt_counter counts[] = {
        { &limit_wrong_by_address, address },
        { &limit_wrong_by_address_and_login, STR_CONCAT(call->arena, address, STR(" "), g->login) },
        { &limit_wrong_by_login, g->login },
    };
    size_t count = COUNT_OF(counts) - (g->known_address ? 1 : 0);

    for (size_t i = 0; i < count; i++) {
        enum err e = call_count_against_rate_limit(call, counts[i].limit, counts[i].key);

        if (e) {
            uncount_password_attempts(call, counts, i);
            return e;
        }
    }
    *ret_right = password_verify(call->api, g->hash, g->password);
    if (*ret_right)
        uncount_password_attempts(call, counts, count);
    return OK;
}

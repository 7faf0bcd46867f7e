/* links.c - mailed links (verify an address, reset a password): creation, lookup, use. */
#include "platform/accounts/mail/links.h"

#include <sodium.h>

#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "net/client/mailer.h"
#include "net/http/server.h"
#include "platform/accounts/internal.h"

enum { SALT_BYTES = 16, TOKEN_BYTES = 32, ADDRESS_BYTES = 16 };

#define SECOND_US INT64_C(1000000)
#define HOUR_US   (3600 * SECOND_US)

/* Mails per hour: to one address, for one account, and requested by one client address. Each limit
 * counts regardless of the other two. */
enum { MAILS_TO_ADDRESS = 5, MAILS_FOR_ACCOUNT = 10, MAILS_FOR_CLIENT = 20 };

static int64_t link_life_us(enum link_purpose purpose)
{
    return (purpose == LINK_RESET ? 1 : 24) * HOUR_US;
}

bool mail_is_on(const struct call *call)
{
    return api_options(call->api)->mailer != NULL;
}

/* --- mailboxes ------------------------------------------------------------------------ */

static struct value mailbox_key(const struct call *call, const char *kind, struct str whose)
{
    unsigned char *digest = arena_alloc(call->arena, ADDRESS_BYTES);

    auth_derive(api_options(call->api)->auth, kind, 0, whose, digest, ADDRESS_BYTES);
    return v_bytes(str_slice((const char *)digest, ADDRESS_BYTES));
}

static const char FIND_MAILBOX[] = "select since, mails from mailboxes where address = $1";
static const char KEEP_MAILBOX[] =
    "insert into mailboxes (address, since, mails) values ($1, $2, $3) "
    "on conflict (address) do update set since = excluded.since, mails = excluded.mails";
static const char DROP_MAILBOXES[] =
    "delete from mailboxes where address in "
    "(select address from mailboxes where since <= $1 order by since limit 100)";

static enum err mailbox_count(struct call *call, struct value key, int64_t most,
                              int64_t *ret_wait_ms)
{
    int64_t now = clock_us(), since = now, mails = 0;
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FIND_MAILBOX, BIND(key), &row, &found);

    if (e)
        return e;
    if (found && row_int(&row, 0) > now - HOUR_US) {
        since = row_int(&row, 0);
        mails = row_int(&row, 1);
    }
    *ret_wait_ms = mails >= most ? (since + HOUR_US - now) / 1000 + 1 : 0;
    if (*ret_wait_ms)
        return OK;
    return tx_exec(call->tx, KEEP_MAILBOX, BIND(key, v_int(since), v_int(mails + 1)), NULL);
}

/* Jobs have no client address; the request that scheduled the job was already counted. */
enum err mail_count_client(struct call *call, int64_t *ret_wait_ms)
{
    struct str client = { 0 };

    *ret_wait_ms = 0;
    if (!call->exchange)
        return OK;
    client = str_slice((const char *)&call->exchange->address, sizeof call->exchange->address);
    return mailbox_count(call, mailbox_key(call, "mail-client", client), MAILS_FOR_CLIENT,
                         ret_wait_ms);
}

static enum err mails_count(struct call *call, const struct user *u, int64_t *ret_wait_ms)
{
    struct str account = str_slice((const char *)&u->id, sizeof u->id);
    enum err e = tx_exec(call->tx, DROP_MAILBOXES, BIND(v_int(clock_us() - HOUR_US)), NULL);

    if (!e)
        e = mail_count_client(call, ret_wait_ms);
    if (!e && !*ret_wait_ms)
        e = mailbox_count(call, mailbox_key(call, "mail-account", account), MAILS_FOR_ACCOUNT,
                          ret_wait_ms);
    if (!e && !*ret_wait_ms)
        e = mailbox_count(call, mailbox_key(call, "mailbox", u->email.value), MAILS_TO_ADDRESS,
                          ret_wait_ms);
    return e;
}

/* --- links ---------------------------------------------------------------------------- */

static const char FIND_LINK[] =
    "select l.address, l.salt, l.expires_at, u.email from mailed_links l "
    "join users u on u.id = l.user_id "
    "where l.user_id = $1 and l.purpose = $2 and u.disabled = 0";

enum err link_row_find(struct call *call, snowflake user_id, enum link_purpose purpose,
                       struct link_row *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FIND_LINK, BIND(v_id(user_id), v_int(purpose)), &row, &found);

    *ret = (struct link_row){ .user_id = user_id, .purpose = purpose };
    if (e || !found)
        return e;
    ret->address = row_text(&row, 0);
    ret->salt = row_null(&row, 1) ? (struct str){ 0 } : row_bytes(&row, 1);
    ret->expires_at = row_int(&row, 2);
    ret->is_good = ret->salt.n && ret->expires_at > clock_us() && !row_null(&row, 3) &&
                   str_eq(ret->address, row_text(&row, 3));
    return OK;
}

static struct str new_salt(struct arena *a)
{
    unsigned char *salt = arena_alloc(a, SALT_BYTES);

    randombytes_buf(salt, SALT_BYTES);
    return str_slice((const char *)salt, SALT_BYTES);
}

static const char KEEP_LINK[] =
    "insert into mailed_links (user_id, purpose, address, salt, expires_at) "
    "values ($1, $2, $3, $4, $5) on conflict (user_id, purpose) do update set "
    "address = excluded.address, salt = excluded.salt, expires_at = excluded.expires_at";

/* A valid link remains unchanged: another requester must neither invalidate nor extend it. */
enum err link_send(struct call *call, const struct user *u, enum link_purpose purpose,
                   int64_t *ret_wait_ms)
{
    struct link_row l;
    enum err e = mails_count(call, u, ret_wait_ms);

    if (e || *ret_wait_ms)
        return e;
    e = link_row_find(call, u->id, purpose, &l);
    if (e)
        return e;
    e = tx_exec(call->tx, KEEP_LINK,
                BIND(v_id(u->id), v_int(purpose), v_text(u->email.value),
                     v_bytes(l.is_good ? l.salt : new_salt(call->arena)),
                     v_int(l.is_good ? l.expires_at : clock_us() + link_life_us(purpose))),
                NULL);
    return e ? e
             : job_schedule(call, purpose == LINK_RESET ? &mail_reset_job : &mail_verify_job, u->id,
                            clock_us(), STR("0"));
}

static void derive_token(const struct call *call, const struct link_row *l,
                         unsigned char out[TOKEN_BYTES])
{
    auth_derive(api_options(call->api)->auth,
                l->purpose == LINK_RESET ? "mailed-reset" : "mailed-verify", l->user_id, l->salt,
                out, TOKEN_BYTES);
}

struct str link_token(const struct call *call, const struct link_row *l)
{
    unsigned char bytes[TOKEN_BYTES];

    derive_token(call, l, bytes);
    struct str text = str_base64url(call->arena, bytes, sizeof bytes);
    return str_printf(call->arena, "%llu.%.*s", (unsigned long long)l->user_id, STR_FMT(text));
}

static bool token_fits(const struct call *call, const struct link_row *l, struct str text)
{
    unsigned char given[TOKEN_BYTES], right[TOKEN_BYTES];
    size_t n;

    if (!l->is_good || !str_base64url_decode(text, given, sizeof given, &n) || n != TOKEN_BYTES)
        return false;
    derive_token(call, l, right);
    return sodium_memcmp(given, right, TOKEN_BYTES) == 0;
}

enum err link_find(struct call *call, struct str token, enum link_purpose purpose, struct user *ret)
{
    struct link_row l = { 0 };
    struct str text = token, id = str_cut(&text, '.');
    snowflake user_id;
    enum err e = OK;

    if (snowflake_parse(id, &user_id))
        e = link_row_find(call, user_id, purpose, &l);
    if (e)
        return e;
    if (!token_fits(call, &l, text))
        return call_invalid(call, "token", "TOKEN_INVALID",
                            "This link is invalid, already used, or expired. Request a new one.");
    return user_find(call->tx, l.user_id, ret);
}

static const char USE_LINK[] =
    "update mailed_links set salt = null where user_id = $1 and purpose = $2";

enum err links_void(struct call *call, snowflake user_id, enum link_purpose purpose)
{
    return tx_exec(call->tx, USE_LINK, BIND(v_id(user_id), v_int(purpose)), NULL);
}

enum err link_use(struct call *call, struct str token, enum link_purpose purpose, struct user *ret)
{
    enum err e = link_find(call, token, purpose, ret);

    return e ? e : links_void(call, ret->id, purpose);
}

/* mailed_links.c - mailed links (verify an address, reset a password): creation, lookup, use. */
#include "platform/accounts/mail/mailed_links.h"

#include <sodium.h>

#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "net/client/mailer.h"
#include "net/http/server.h"
#include "platform/accounts/internal.h"

enum { SALT_BYTES = 16, TOKEN_BYTES = 32, ADDRESS_BYTES = 16 };

#define SECOND_US INT64_C(1000000)
#define HOUR_US   (3600 * SECOND_US)

/* Maximum number of mails per hour: to one address, for one account, requested by one IP
 * address. */
enum { MAILS_TO_ADDRESS = 5, MAILS_FOR_ACCOUNT = 10, MAILS_FOR_CLIENT = 20 };

static int64_t link_lifetime_us(enum mailed_link_purpose purpose)
{
    return (purpose == LINK_RESET ? 1 : 24) * HOUR_US;
}

bool mail_is_configured(const struct call *call)
{
    return api_get_options(call->api)->mailer != NULL;
}

/* --- counting mails per address, account and client ---------------------------------- */

static struct value mail_counter_key(const struct call *call, const char *kind, struct str whose)
{
    unsigned char *digest = arena_alloc(call->arena, ADDRESS_BYTES);

    auth_derive_key(api_get_options(call->api)->auth, kind, 0, whose, digest, ADDRESS_BYTES);
    return v_bytes(str_slice((const char *)digest, ADDRESS_BYTES));
}

static const char FIND_MAILBOX[] = "select since, mails from mailboxes where address = $1";
static const char SAVE_MAILBOX[] =
    "insert into mailboxes (address, since, mails) values ($1, $2, $3) "
    "on conflict (address) do update set since = excluded.since, mails = excluded.mails";
static const char DROP_MAILBOXES[] =
    "delete from mailboxes where address in "
    "(select address from mailboxes where since <= $1 order by since limit 100)";

static enum err count_mail_against_limit(struct call *call, struct value key, int64_t most,
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
    return tx_exec(call->tx, SAVE_MAILBOX, BIND(key, v_int(since), v_int(mails + 1)), NULL);
}

/* Counts a mail request of the client's IP address. Does nothing in a job, which has no client; the
 * request that scheduled the job was counted. */
enum err count_mail_request_of_client(struct call *call, int64_t *ret_wait_ms)
{
    struct str client = { 0 };

    *ret_wait_ms = 0;
    if (!call->exchange)
        return OK;
    client = str_slice((const char *)&call->exchange->address, sizeof call->exchange->address);
    return count_mail_against_limit(call, mail_counter_key(call, "mail-client", client),
                                    MAILS_FOR_CLIENT, ret_wait_ms);
}

static enum err count_mail_to_user_against_limit(struct call *call, const struct user *u,
                                                 int64_t *ret_wait_ms)
{
    struct str account = str_slice((const char *)&u->id, sizeof u->id);
    enum err e = tx_exec(call->tx, DROP_MAILBOXES, BIND(v_int(clock_us() - HOUR_US)), NULL);

    if (!e)
        e = count_mail_request_of_client(call, ret_wait_ms);
    if (!e && !*ret_wait_ms)
        e = count_mail_against_limit(call, mail_counter_key(call, "mail-account", account),
                                     MAILS_FOR_ACCOUNT, ret_wait_ms);
    if (!e && !*ret_wait_ms)
        e = count_mail_against_limit(call, mail_counter_key(call, "mailbox", u->email.value),
                                     MAILS_TO_ADDRESS, ret_wait_ms);
    return e;
}

/* --- rows of mailed links ------------------------------------------------------------ */

static const char FIND_LINK[] =
    "select l.address, l.salt, l.expires_at, u.email from mailed_links l "
    "join users u on u.id = l.user_id "
    "where l.user_id = $1 and l.purpose = $2 and u.disabled = 0";

enum err mailed_link_read(struct call *call, snowflake user_id, enum mailed_link_purpose purpose,
                          struct mailed_link *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FIND_LINK, BIND(v_id(user_id), v_int(purpose)), &row, &found);

    *ret = (struct mailed_link){ .user_id = user_id, .purpose = purpose };
    if (e || !found)
        return e;
    ret->address = row_text(&row, 0);
    ret->salt = row_column_is_null(&row, 1) ? (struct str){ 0 } : row_bytes(&row, 1);
    ret->expires_at = row_int(&row, 2);
    ret->is_valid = ret->salt.n && ret->expires_at > clock_us() && !row_column_is_null(&row, 3) &&
                    str_eq(ret->address, row_text(&row, 3));
    return OK;
}

static struct str create_link_salt(struct arena *a)
{
    unsigned char *salt = arena_alloc(a, SALT_BYTES);

    randombytes_buf(salt, SALT_BYTES);
    return str_slice((const char *)salt, SALT_BYTES);
}

static const char SAVE_LINK[] =
    "insert into mailed_links (user_id, purpose, address, salt, expires_at) "
    "values ($1, $2, $3, $4, $5) on conflict (user_id, purpose) do update set "
    "address = excluded.address, salt = excluded.salt, expires_at = excluded.expires_at";

/* If a valid link exists, sends it again unchanged. Anyone can request a mail for an account, so a
 * request must neither invalidate the link nor extend its validity. */
enum err mailed_link_send(struct call *call, const struct user *u, enum mailed_link_purpose purpose,
                          int64_t *ret_wait_ms)
{
    struct mailed_link l;
    enum err e = count_mail_to_user_against_limit(call, u, ret_wait_ms);

    if (e || *ret_wait_ms)
        return e;
    e = mailed_link_read(call, u->id, purpose, &l);
    if (e)
        return e;
    e = tx_exec(call->tx, SAVE_LINK,
                BIND(v_id(u->id), v_int(purpose), v_text(u->email.value),
                     v_bytes(l.is_valid ? l.salt : create_link_salt(call->arena)),
                     v_int(l.is_valid ? l.expires_at : clock_us() + link_lifetime_us(purpose))),
                NULL);
    return e ? e
             : job_schedule(call, purpose == LINK_RESET ? &mail_reset_job : &mail_verify_job, u->id,
                            clock_us(), STR("0"));
}

static void derive_link_token(const struct call *call, const struct mailed_link *l,
                              unsigned char out[TOKEN_BYTES])
{
    auth_derive_key(api_get_options(call->api)->auth,
                    l->purpose == LINK_RESET ? "mailed-reset" : "mailed-verify", l->user_id,
                    l->salt, out, TOKEN_BYTES);
}

struct str mailed_link_derive_token(const struct call *call, const struct mailed_link *l)
{
    unsigned char bytes[TOKEN_BYTES];

    derive_link_token(call, l, bytes);
    struct str text = str_base64url_encode(call->arena, bytes, sizeof bytes);
    return str_printf(call->arena, "%llu.%.*s", (unsigned long long)l->user_id, STR_ARGS(text));
}

static bool link_token_matches(const struct call *call, const struct mailed_link *l,
                               struct str text)
{
    unsigned char given[TOKEN_BYTES], right[TOKEN_BYTES];
    size_t n;

    if (!l->is_valid || !str_base64url_decode(text, given, sizeof given, &n) || n != TOKEN_BYTES)
        return false;
    derive_link_token(call, l, right);
    return sodium_memcmp(given, right, TOKEN_BYTES) == 0;
}

enum err mailed_link_find_user(struct call *call, struct str token,
                               enum mailed_link_purpose purpose, struct user *ret)
{
    struct mailed_link l = { 0 };
    struct str text = token, id = str_cut(&text, '.');
    snowflake user_id;
    enum err e = OK;

    if (snowflake_parse(id, &user_id))
        e = mailed_link_read(call, user_id, purpose, &l);
    if (e)
        return e;
    if (!link_token_matches(call, &l, text))
        return call_add_field_error(
            call, "token", "TOKEN_INVALID",
            "This link is invalid, already used, or expired. Request a new one.");
    return user_find(call->tx, l.user_id, ret);
}

static const char USE_LINK[] =
    "update mailed_links set salt = null where user_id = $1 and purpose = $2";

enum err mailed_links_invalidate(struct call *call, snowflake user_id,
                                 enum mailed_link_purpose purpose)
{
    return tx_exec(call->tx, USE_LINK, BIND(v_id(user_id), v_int(purpose)), NULL);
}

enum err mailed_link_consume(struct call *call, struct str token, enum mailed_link_purpose purpose,
                             struct user *ret)
{
    enum err e = mailed_link_find_user(call, token, purpose, ret);

    return e ? e : mailed_links_invalidate(call, ret->id, purpose);
}

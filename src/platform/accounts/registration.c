/* registration.c - decides whether a caller may register; registration codes of the operator. */
#include "platform/accounts/internal.h"

#include <sodium.h>

#include "api/jobs/jobs.h"
#include "base/clock.h"
#include "model/fields/rows.h"
#include "platform/accounts/operator.h"

/* --- registration codes ----------------------------------------------------------------- */

static struct str registration_code_prefix(struct str code)
{
    return str_slice(code.p, code.n < 8 ? code.n : 8);
}

static const char PLAIN_CODES[] =
    "select code from registration_invites where code like 'reg-%' limit 100";
static const char HASH_CODE[] =
    "update registration_invites set code = $2, id = $3, prefix = $4 where code = $1";

/* Replaces registration codes that earlier program versions stored in plain text by their digests.
 */
static enum err digest_unhashed_registration_codes(struct call *call, size_t *ret_count)
{
    struct list codes = { 0 };
    struct rows rows;
    enum err e = tx_query(call->tx, PLAIN_CODES, NO_BIND, &rows);

    if (e)
        return e;
    while (rows_next(&rows))
        *(struct str *)list_append(call->arena, &codes, sizeof(struct str)) =
            str_dup(call->arena, row_text(&rows, 0));
    e = rows_end(&rows);
    const struct str *code = codes.items;
    for (size_t i = 0; !e && i < codes.count; i++)
        e = tx_exec(call->tx, HASH_CODE,
                    BIND(v_text(code[i]),
                         v_text(random_secret_compute_digest(call->arena, code[i])),
                         v_id(snowflake_new()), v_text(registration_code_prefix(code[i]))),
                    NULL);
    *ret_count = codes.count;
    return e;
}

static enum err run_registration_code_hashing_job(struct call *call, const struct job *job)
{
    size_t count;
    enum err e = digest_unhashed_registration_codes(call, &count);

    return e || !count ? e : job_schedule(call, job->kind, job->key, clock_us(), STR(""));
}

const struct job_kind registration_codes_job = {
    .name = "registration-codes",
    .doc = "Replaces registration codes in plain text by their digests.",
    .run = run_registration_code_hashing_job,
};

static const char ADD_INVITE[] =
    "insert into registration_invites (code, uses_left, expires_at, created_at, id, prefix) "
    "values ($1, $2, $3, $4, $5, $6)";
/* Deletes registration codes that are expired or used up. */
static const char DROP_INVITES[] =
    "delete from registration_invites where code in (select code from registration_invites "
    "where expires_at <= $1 or uses_left <= 0 limit 100)";

enum err registration_invite_create(struct call *call, struct registration_invite *i)
{
    unsigned char bytes[12];
    size_t sealed;
    enum err e = tx_exec(call->tx, DROP_INVITES, BIND(v_int(clock_us())), NULL);

    if (!e)
        e = digest_unhashed_registration_codes(call, &sealed);
    if (e)
        return e;
    randombytes_buf(bytes, sizeof bytes);
    i->id = snowflake_new();
    i->created_at = clock_us();
    i->code = STR_CONCAT(call->arena, STR("reg-"),
                         str_base64url_encode(call->arena, bytes, sizeof bytes));
    i->prefix = registration_code_prefix(i->code);
    return tx_exec(call->tx, ADD_INVITE,
                   BIND(v_text(random_secret_compute_digest(call->arena, i->code)), v_int(i->uses),
                        v_int(i->expires_at), v_int(i->created_at), v_id(i->id), v_text(i->prefix)),
                   NULL);
}

#define INVITE_COLUMNS "id, prefix, uses_left, expires_at, created_at"

static void registration_invite_from_row(const struct rows *r, void *ret)
{
    *(struct registration_invite *)ret = (struct registration_invite){
        .id = row_id(r, 0),
        .prefix = row_text(r, 1),
        .uses = row_int(r, 2),
        .expires_at = row_int(r, 3),
        .created_at = row_int(r, 4),
    };
}

static const char INVITES_AFTER[] =
    "select " INVITE_COLUMNS " from registration_invites where id > $1 and expires_at > $3 and "
    "uses_left > 0 order by id limit $2";

enum err registration_invites_list(struct tx *tx, snowflake after, int64_t limit, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, INVITES_AFTER, BIND(v_id(after), v_int(limit), v_int(clock_us())),
                        sizeof(struct registration_invite), registration_invite_from_row, ret);
}

static const char REVOKE_INVITE[] =
    "delete from registration_invites where id = $1 or code in ($2, $3) returning " INVITE_COLUMNS;

enum err registration_invite_revoke(struct call *call, struct str name,
                                    struct registration_invite *ret)
{
    snowflake id = 0;

    if (!snowflake_parse(name, &id) && !str_starts_with(name, STR("reg-")))
        return ERR_NOT_FOUND;
    /* Rows of earlier program versions (plain codes) have the id 0. If `name` is a code, bind -1 as
     * the id, so that no row matches by id. */
    struct value by_id = id ? v_id(id) : v_int(-1);
    return tx_read_first(
        call->tx, REVOKE_INVITE,
        BIND(by_id, v_text(random_secret_compute_digest(call->arena, name)), v_text(name)),
        registration_invite_from_row, ret, ERR_NOT_FOUND);
}

/* --- checking a registration --------------------------------------------------------- */

/* Finds the row by the code's digest or, if an earlier program version stored it, by the plain
 * code. A digest does not start with "reg-", so a stored digest cannot be used as a code. */
static const char USE_INVITE[] = "update registration_invites set uses_left = uses_left - 1 "
                                 "where code in ($1, $3) and uses_left > 0 and expires_at > $2";

static enum err consume_registration_code(struct call *call, struct opt_str code, bool *ret_used)
{
    int64_t changed = 0;
    enum err e = code.given != GIVEN
                     ? OK
                     : tx_exec(call->tx, USE_INVITE,
                               BIND(v_text(code.value), v_int(clock_us()),
                                    v_text(random_secret_compute_digest(call->arena, code.value))),
                               &changed);

    *ret_used = changed > 0;
    return e;
}

enum err require_registration_open(struct call *call)
{
    return api_get_registration_mode_for_call(call) == REGISTRATION_CLOSED ? ERR_FEATURE_DISABLED
                                                                           : OK;
}

enum err check_registration_and_consume_code(struct call *call, struct opt_str *invite,
                                             bool *ret_guild_required)
{
    enum registration_mode mode = api_get_registration_mode_for_call(call);
    bool used = false;

    /* A value that starts with "reg-" is a registration code; any other value is a guild invite. */
    if (invite->given == GIVEN && str_starts_with(invite->value, STR("reg-"))) {
        enum err e = consume_registration_code(call, *invite, &used);

        if (e)
            return e;
        if (used)
            *invite = (struct opt_str){ 0 };
    }
    if (used || mode == REGISTRATION_OPEN)
        return OK;
    /* Later in this transaction, the new account accepts the guild invite, which fails if the
     * invite is invalid. */
    *ret_guild_required = mode == REGISTRATION_GUILD_INVITE && invite->given == GIVEN;
    if (*ret_guild_required)
        return OK;
    return invite->given == GIVEN
               ? call_add_field_error(
                     call, "invite", "INVITE_INVALID",
                     "This invitation code is not valid, or it has expired. Ask the operator of the "
                     "server for a new one.")
               : call_add_field_error(
                     call, "invite", "INVITE_REQUIRED",
                     "This server asks for an invitation code. Ask its operator for one.");
}

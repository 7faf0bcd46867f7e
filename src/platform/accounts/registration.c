/* registration.c - who may make an account, and the invitations for it. */
#include "platform/accounts/internal.h"

#include <sodium.h>

#include "base/clock.h"
#include "platform/accounts/operator.h"

static const char ADD_INVITE[] =
    "insert into registration_invites (code, uses_left, expires_at, created_at) "
    "values ($1, $2, $3, $4)";
/* Those that nobody can use any more. */
static const char DROP_INVITES[] =
    "delete from registration_invites where code in (select code from registration_invites "
    "where expires_at <= $1 or uses_left <= 0 limit 100)";

enum err registration_invite_make(struct call *call, struct registration_invite *i)
{
    unsigned char bytes[12];
    enum err e = tx_exec(call->tx, DROP_INVITES, BIND(v_int(clock_us())), NULL);

    randombytes_buf(bytes, sizeof bytes);
    i->code = STR_CONCAT(call->arena, STR("reg-"), str_base64url(call->arena, bytes, sizeof bytes));
    return e ? e
             : tx_exec(
                   call->tx, ADD_INVITE,
                   BIND(v_text(i->code), v_int(i->uses), v_int(i->expires_at), v_int(clock_us())),
                   NULL);
}

static const char USE_INVITE[] = "update registration_invites set uses_left = uses_left - 1 "
                                 "where code = $1 and uses_left > 0 and expires_at > $2";

static enum err use_invite(struct call *call, struct opt_str code, bool *ret_used)
{
    int64_t changed = 0;
    enum err e =
        code.given != GIVEN
            ? OK
            : tx_exec(call->tx, USE_INVITE, BIND(v_text(code.value), v_int(clock_us())), &changed);

    *ret_used = changed > 0;
    return e;
}

enum err registration_check(struct call *call)
{
    return api_registration(call) == REGISTRATION_CLOSED ? ERR_FEATURE_DISABLED : OK;
}

enum err registration_admit(struct call *call, struct opt_str *invite, bool *ret_guild_required)
{
    enum registration_mode mode = api_registration(call);
    bool used = false;

    /* Other invitations lead to guilds and have no such beginning. */
    if (invite->given == GIVEN && str_starts(invite->value, STR("reg-"))) {
        enum err e = use_invite(call, *invite, &used);

        if (e)
            return e;
        if (used)
            *invite = (struct opt_str){ 0 };
    }
    if (used || mode == REGISTRATION_OPEN)
        return OK;
    /* The invite is looked up when it is accepted, in this transaction. */
    *ret_guild_required = mode == REGISTRATION_GUILD_INVITE && invite->given == GIVEN;
    if (*ret_guild_required)
        return OK;
    return invite->given == GIVEN
               ? call_invalid(
                     call, "invite", "INVITE_INVALID",
                     "This invitation code is not valid, or it has expired. Ask the operator of the "
                     "server for a new one.")
               : call_invalid(call, "invite", "INVITE_REQUIRED",
                              "This server asks for an invitation code. Ask its operator for one.");
}

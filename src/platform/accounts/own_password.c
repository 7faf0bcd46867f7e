/* own_password.c - asks the caller for the password again before sensitive changes.
 *
 * A stolen token alone must not suffice. Attempts count towards the log-in limits. */
#include "platform/accounts/internal.h"

struct own_password {
    struct str given;
    struct str hash; /* hash to match; p == NULL: the account has no password */
    struct str username;
    bool known_address;
};

static enum err look_at_own_password(struct call *call)
{
    struct own_password *p = call_passed(call, "caller_password");
    struct user user;
    enum err e = user_find(call->tx, call->caller->id, &user);

    if (e)
        return e;
    p->hash = user.password_hash;
    p->username = user.username;
    return address_find(call, user.id, &p->known_address);
}

enum err refuse_own_password(struct call *call)
{
    return call_invalid(call, "password", "PASSWORD_DOES_NOT_MATCH", "Password does not match.");
}

static enum err check_own_password(struct call *call)
{
    const struct own_password *p = call_passed(call, "caller_password");
    struct guess guess = { p->username, p->hash, p->given, p->known_address };
    bool right = true;
    enum err e = p->hash.p ? password_guess(call, &guess, &right) : OK;

    return e ? e : right ? OK : refuse_own_password(call);
}

void own_password_ask(struct call *call, struct str given)
{
    struct own_password *p = call_pass(call, "caller_password", sizeof *p);

    p->given = given;
    call->look = look_at_own_password;
    call->hash = check_own_password;
}

enum err own_password_find(struct call *call, struct user *ret)
{
    const struct own_password *p = call_passed(call, "caller_password");
    enum err e = user_find(call->tx, call->caller->id, ret);

    if (e)
        return e;
    return str_eq(ret->password_hash, p->hash) ? OK : refuse_own_password(call);
}

/* caller_password.c - checks the caller's password again before sensitive changes.
 *
 * A stolen token alone must not suffice for them. Attempts count towards the log-in limits. */
#include "platform/accounts/internal.h"

struct caller_password {
    const char *field; /* name of the field in the body */
    struct str given;
    struct str hash; /* the account's password hash; p is NULL if it has no password */
    struct str username;
    bool known_address;
};

static enum err read_caller_password(struct call *call)
{
    struct caller_password *p = call_get_stage_data(call, "caller_password");
    struct user user;
    enum err e = user_find(call->tx, call->caller->id, &user);

    if (e)
        return e;
    p->hash = user.password_hash;
    p->username = user.username;
    return known_login_address_find(call, user.id, &p->known_address);
}

static enum err refuse_password_in_field(struct call *call, const char *field)
{
    return call_add_field_error(call, field, "PASSWORD_DOES_NOT_MATCH", "Password does not match.");
}

enum err refuse_wrong_password(struct call *call)
{
    return refuse_password_in_field(call, "password");
}

static enum err check_caller_password(struct call *call)
{
    const struct caller_password *p = call_get_stage_data(call, "caller_password");
    struct password_attempt guess = { p->username, p->hash, p->given, p->known_address };
    bool right = true;
    enum err e = p->hash.p ? password_check_and_count_attempt(call, &guess, &right) : OK;

    return e ? e : right ? OK : refuse_password_in_field(call, p->field);
}

void require_caller_password(struct call *call, struct str given)
{
    require_caller_password_in_field(call, given, "password");
}

void require_caller_password_in_field(struct call *call, struct str given, const char *field)
{
    struct caller_password *p = call_store_stage_data(call, "caller_password", sizeof *p);

    p->field = field;
    p->given = given;
    call->read = read_caller_password;
    call->hash = check_caller_password;
}

enum err read_caller_after_password_check(struct call *call, struct user *ret)
{
    const struct caller_password *p = call_get_stage_data(call, "caller_password");
    enum err e = user_find(call->tx, call->caller->id, ret);

    if (e)
        return e;
    return str_eq(ret->password_hash, p->hash) ? OK : refuse_password_in_field(call, p->field);
}

/* deletion_routes.c - POST /users/@me/delete (deletion after 14 days) and /users/@me/disable. */
#include "platform/accounts/internal.h"
#include "platform/accounts/mfa/mfa.h"
#include "platform/accounts/operator.h"

struct account_deletion_request {
    struct str password;
    struct opt_str code;
};

static const struct field deletion_fields[] = {
    { FIELD(struct account_deletion_request, password), .type = &type_entered_password },
    { FIELD(struct account_deletion_request, code), .type = &type_mfa_code,
      .flags = OPTIONAL | NULLABLE, .doc = "Code of the second factor, if the account has one" },
    { 0 },
};
static const struct schema deletion_schema = {
    .name = "AccountDeletion",
    .size = sizeof(struct account_deletion_request),
    .fields = deletion_fields,
    .doc = "Confirms that the caller owns the account.",
};
const struct type account_deletion_body = { .kind = KIND_OBJECT, .schema = &deletion_schema };

enum err require_password_and_mfa_code_of_caller(struct call *call)
{
    const struct account_deletion_request *in = call->body;

    require_caller_password(call, in->password);
    return mfa_count_code_attempt_of_caller(call, &in->code);
}

static enum err check_caller_password_and_second_factor(struct call *call, struct user *ret,
                                                        bool *ret_verified)
{
    const struct account_deletion_request *in = call->body;
    enum err e = read_caller_after_password_check(call, ret);

    *ret_verified = false;
    return e ? e : check_caller_second_factor(call, ret, &in->code, ret_verified);
}

/* Schedules the deletion and disables the account. A log-in with undelete cancels the deletion. */
enum err delete_account(struct call *call)
{
    struct user user;
    bool verified;
    enum err e = check_caller_password_and_second_factor(call, &user, &verified);

    return e || !verified ? e : account_schedule_deletion(call, &user);
}

/* Disables the account until its owner logs in with the field undelete. */
enum err disable_account(struct call *call)
{
    struct user user;
    bool verified;
    enum err e = check_caller_password_and_second_factor(call, &user, &verified);

    return e || !verified ? e : account_disable_by_owner(call, &user);
}

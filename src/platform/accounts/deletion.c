/* deletion.c - POST /users/@me/delete and disable: an account goes, in two weeks, or rests. */
#include "platform/accounts/internal.h"
#include "platform/accounts/mfa/mfa.h"
#include "platform/accounts/operator.h"

struct account_deletion_request {
    struct str password;
    struct opt_str code;
};

static const struct type type_deletion_code = { .kind = KIND_STRING,
                                                .flags = TYPE_TRIM,
                                                .max = 32,
                                                .doc = "Of the second factor, if there is one" };

static const struct field deletion_fields[] = {
    { FIELD(struct account_deletion_request, password), .type = &type_given_password },
    { FIELD(struct account_deletion_request, code), .type = &type_deletion_code,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema deletion_schema = {
    .name = "AccountDeletion",
    .size = sizeof(struct account_deletion_request),
    .fields = deletion_fields,
    .doc = "Who asks must be the account's owner.",
};
const struct type account_deletion_body = { .kind = KIND_OBJECT, .schema = &deletion_schema };

enum err prepare_delete_account(struct call *call)
{
    const struct account_deletion_request *in = call->body;

    own_password_ask(call, in->password);
    return in->code.given == GIVEN ? mfa_count_own_try(call) : OK;
}

static enum err use_deletion_code(struct call *call, snowflake user_id)
{
    const struct account_deletion_request *in = call->body;
    struct str code = in->code.given == GIVEN ? in->code.value : STR("");
    struct mfa m;
    enum err e = mfa_find(call, user_id, &m);

    if (e)
        return e;
    return code.n == TOTP_DIGITS ? mfa_use_totp(call, &m, code) : mfa_use_backup(call, &m, code);
}

static enum err find_owner(struct call *call, struct user *ret)
{
    const struct account_deletion_request *in = call->body;
    enum err e = own_password_find(call, ret);

    if (!e && ret->mfa_enabled)
        e = use_deletion_code(call, ret->id);
    if (!e && in->code.given == GIVEN)
        call->after = mfa_own_try_was_right;
    return e;
}

/* The account cannot be used from now on; logging in with undelete takes it back. */
enum err delete_account(struct call *call)
{
    struct user user;
    enum err e = find_owner(call, &user);

    return e ? e : account_delete(call, &user);
}

/* The same, for as long as nobody takes it back. */
enum err disable_account(struct call *call)
{
    struct user user;
    enum err e = find_owner(call, &user);

    return e ? e : account_pause(call, &user);
}

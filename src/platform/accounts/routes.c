/* routes.c - register, log in, log out, and read accounts. */
#include "platform/accounts/internal.h"

#include <sodium.h>

#include "api/deletion.h"
#include "api/hooks.h"
#include "base/clock.h"
#include "base/timestamp.h"
#include "net/client/mailer.h"
#include "net/http/server.h"
#include "platform/accounts/mail/mailed_links.h"
#include "platform/accounts/mfa/mfa.h"
#include "platform/accounts/mfa/webauthn_credentials.h"
#include "platform/accounts/operator.h"

enum { LEAST_AGE = 13 };

/* Five log-ins per minute per IP address. The limit also applies to authenticated callers:
 * otherwise an attacker with many tokens could use all of them to guess passwords. */
static const struct rate_limit limit_login = {
    .name = "login", .count = 5, .window_s = 60, .by_address = true, .strict = true
};

static const struct rate_limit limit_identity_claim = {
    .name = "identity-claim", .count = 10, .window_s = 60, .by_address = true, .strict = true
};

static struct str format_current_date(struct arena *a)
{
    char *text = arena_alloc(a, TIMESTAMP_TEXT_SIZE);

    timestamp_format(clock_us(), text);
    return str_slice(text, 10);
}

enum err check_date_of_birth_is_allowed(struct call *call, struct opt_str date)
{
    int64_t days;

    if (date.given != GIVEN)
        return OK;
    if (!date_parse(date.value, &days))
        return call_add_field_error(call, "date_of_birth", "DATE_TIME_TYPE_PARSE",
                                    "Could not parse the date. Should be YYYY-MM-DD.");
    if (age_in_years_on(date.value, format_current_date(call->arena)) < LEAST_AGE)
        return call_add_field_error(call, "date_of_birth", "DATE_OF_BIRTH_UNDERAGE",
                                    "You need to be 13 or older in order to use this service.");
    return OK;
}

/* Refuses an email address to which no mail can be sent, because it could never be verified. */
enum err check_email_is_allowed(struct call *call, struct opt_str email)
{
    if (email.given != GIVEN || !mail_is_configured(call) || mail_address_is_sendable(email.value))
        return OK;
    return call_add_field_error(call, "email", "EMAIL_TYPE_INVALID_EMAIL",
                                "Not a well formed email address.");
}

enum err check_username_is_allowed(struct call *call, struct str name)
{
    if (username_is_reserved(name))
        return call_add_field_error(call, "username", "USERNAME_RESERVED",
                                    "This name is reserved.");
    return OK;
}

enum err refuse_username_or_email_in_use(struct call *call, const char *field)
{
    if (strcmp(field, "email") == 0)
        return call_add_field_error(call, field, "EMAIL_ALREADY_REGISTERED",
                                    "Email is already registered.");
    return call_add_field_error(
        call, field, "USERNAME_ALREADY_TAKEN",
        "Username is unavailable. Try adding numbers, letters, underscores or periods.");
}

enum err issue_login_token(struct call *call, snowflake id, struct str *ret)
{
    struct token_to_issue grant = {
        .kind = CALLER_USER,
        .user_id = id,
        .scopes = STR(""),
        .client = http_find_header(call->exchange->request, STR("User-Agent")),
    };

    return auth_issue_token(api_get_options(call->api)->auth, call->tx, &grant, ret);
}

/* --- POST /auth/register -------------------------------------------------------------- */

static enum err hash_registration_password(struct call *call)
{
    const struct registration_request *in = call->body;
    struct str *hash = call_store_stage_data(call, "str", sizeof *hash);

    return password_hash(call->api, call->arena, in->password.value, hash);
}

static enum err validate_registration_request(struct call *call)
{
    const struct registration_request *in = call->body;
    enum err closed = require_registration_open(call);

    if (closed)
        return closed;
    enum err name = check_username_is_allowed(call, in->username);
    enum err date = check_date_of_birth_is_allowed(call, in->date_of_birth);
    enum err email = check_email_is_allowed(call, in->email);
    if (in->password.given == GIVEN)
        call->hash = hash_registration_password;
    return name ? name : date ? date : email;
}

/* POST /auth/register. The new account's locale is that of the request. */
static enum err register_account(struct call *call)
{
    const struct registration_request *in = call->body;
    const struct str *hash = call_get_stage_data(call, "str");
    struct token_reply out;
    const char *taken;
    int64_t wait_ms; /* not used: the reply is the same if a rate limit delays the mail */
    struct user user = {
        .id = snowflake_new(),
        .username = in->username,
        .global_name = in->global_name,
        .email = in->email,
        .password_hash = hash ? *hash : (struct str){ 0 },
        .date_of_birth = in->date_of_birth.value,
        /* If no mail server is configured, no address can be verified, so every address counts as
         * verified. */
        .verified = !mail_is_configured(call),
    };

    struct opt_str invite = in->invite;
    bool guild_required = false;
    enum err e = check_registration_and_consume_code(call, &invite, &guild_required);
    if (!e)
        e = determine_request_locale(call, &user.locale);
    if (!e)
        e = user_insert(call->tx, &user, &taken);
    if (e)
        return e;
    if (taken)
        return refuse_username_or_email_in_use(call, taken);
    e = hook_account_created(call, &(struct account_creation){ user.id, invite, guild_required });
    if (!e && hash)
        e = known_login_address_save(call, user.id);
    if (!e && mail_is_configured(call) && in->email.given == GIVEN)
        e = mailed_link_send(call, &user, LINK_VERIFY, &wait_ms);
    if (!e)
        e = issue_login_token(call, user.id, &out.token);
    return e ? e : call_reply_with_object(call, &out);
}

/* --- POST /auth/login ----------------------------------------------------------------- */

static enum err refuse_invalid_login(struct call *call)
{
    call_add_field_error(call, "login", "INVALID_LOGIN", "Login or password is invalid.");
    return call_add_field_error(call, "password", "INVALID_LOGIN", "Login or password is invalid.");
}

/* The account with the login that the client sent, read before the password check. */
struct login_attempt {
    struct user user; /* account with the login of the request; all zero if there is none */
    bool known_address;
};

/* Runs the same steps for unknown and known logins, so that the response time does not reveal which
 * logins exist. */
static enum err read_login_account(struct call *call)
{
    const struct login_request *in = call->body;
    struct login_attempt *entrance = call_store_stage_data(call, "login_attempt", sizeof *entrance);
    bool found;
    enum err e = user_find_by_login(call->tx, in->login, &entrance->user, &found);

    return e ? e : known_login_address_find(call, entrance->user.id, &entrance->known_address);
}

static enum err verify_login_password(struct call *call)
{
    const struct login_request *in = call->body;
    const struct login_attempt *entrance = call_get_stage_data(call, "login_attempt");
    struct password_attempt guess = { in->login, entrance->user.password_hash, in->password,
                                      entrance->known_address };
    bool right;
    enum err e = password_check_and_count_attempt(call, &guess, &right);

    if (!e && !right)
        call_log_refusal(call, REFUSED_PASSWORD);
    return e ? e : right ? OK : refuse_invalid_login(call);
}

static enum err schedule_login_password_check(struct call *call)
{
    call->read = read_login_account;
    call->hash = verify_login_password;
    return OK;
}

enum err reply_with_login_token(struct call *call, const struct user *user)
{
    struct user_settings all;
    struct login_settings settings;
    struct login_reply out = { .user_id = user->id,
                               .user_settings = &settings,
                               .settings = &settings };
    enum err e = user_settings_find(call->tx, user->id, &all);

    if (e)
        return e;
    settings = (struct login_settings){ all.locale.value, all.theme.value };
    e = known_login_address_save(call, user->id);
    if (!e)
        e = issue_login_token(call, user->id, &out.token.value);
    out.token.given = GIVEN;
    return e ? e : call_reply_with_object(call, &out);
}

static struct opt_bool optional_bool_from_bool(bool yes)
{
    return (struct opt_bool){ GIVEN, yes };
}

enum err reply_to_login_after_password_check(struct call *call, const struct user *user,
                                             bool undelete)
{
    unsigned char instance[16];
    struct opt_str challenge;
    struct mfa_settings m;

    if (!user->mfa_enabled)
        return reply_with_login_token(call, user);
    randombytes_buf(instance, sizeof instance);
    struct str ticket = mfa_ticket_create(call, user, undelete ? TICKET_UNDELETE : TICKET_LOGIN);
    enum err e = mfa_settings_find(call, user->id, &m);
    if (!e)
        e = webauthn_encode_request_options(call, user->id, ticket, &challenge);
    if (e)
        return e;
    return call_reply_with_object(
        call,
        &(struct login_reply){
            .user_id = user->id,
            .mfa = optional_bool_from_bool(true),
            .sms = optional_bool_from_bool(false),
            .totp = optional_bool_from_bool(m.has_totp),
            .backup = optional_bool_from_bool(true),
            .webauthn = challenge,
            .ticket = { GIVEN, ticket },
            .login_instance_id = { GIVEN, str_hex_encode(call->arena, instance, sizeof instance) },
        });
}

static enum err log_in(struct call *call)
{
    const struct login_request *in = call->body;
    const struct login_attempt *entrance = call_get_stage_data(call, "login_attempt");
    const struct user *looked_at = &entrance->user;
    struct user user;

    enum err e = user_find(call->tx, looked_at->id, &user);
    if (e)
        return e;
    /* Another request may have changed the password after this request's password was checked. */
    if (!str_eq(user.password_hash, looked_at->password_hash))
        return refuse_invalid_login(call);
    if (user.disabled && !(user.paused && in->undelete))
        return ERR_ACCOUNT_DISABLED;
    if (user.deleting && !in->undelete)
        return ERR_ACCOUNT_DELETING;
    /* If the account has a second factor, a pending deletion is not cancelled here but after the
     * check of the code. */
    bool undelete = user.deleting || user.paused;
    if (undelete && !user.mfa_enabled)
        e = account_cancel_deletion(call, &user);
    return e ? e : reply_to_login_after_password_check(call, &user, undelete);
}

/* POST /auth/logout: revokes the token of this request at once. */
static enum err log_out(struct call *call)
{
    call_revoke_session_token(call, call->caller->id, call->caller->session);
    return auth_delete_token(call->tx, call->caller->session);
}

/* Replies to an app with an OAuth2 bearer token, which sees fewer fields of the account than its
 * owner does. */
static enum err reply_with_oauth2_user(struct call *call, const struct user *user)
{
    bool email = call->caller->scopes & auth_oauth2_scope_bit(STR("email"));
    struct buf text;
    struct json_writer j = json_writer_to_buf(&text);

    buf_init(&text, CALL_MAX_REPLY);
    schema_encode_object(&j, email ? &oauth2_user_with_email_schema : &oauth2_user_schema, user);
    return call_reply_with_buf(call, STR("application/json"), &text);
}

static enum err get_current_user(struct call *call)
{
    struct user user;
    enum err e = user_find(call->tx, call->caller->id, &user);

    if (e)
        return e;
    return call->caller->kind == CALLER_BEARER ? reply_with_oauth2_user(call, &user)
                                               : call_reply_with_object(call, &user);
}

static enum err get_user(struct call *call)
{
    return call_reply_with_object(call, call->target.user);
}

static enum err resolve_user(struct call *call)
{
    call->target.user = arena_alloc(call->arena, sizeof *call->target.user);
    return user_find(call->tx, call_get_path_id(call, "user.id"), call->target.user);
}

static const struct path_resolver resolvers[] = {
    {
        .name = "user.id",
        .field = "user_id",
        .me = true,
        .doc = "A user's id, or @me for the caller.",
        .resolve = resolve_user,
    },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/auth/register",
        .name = "register_account",
        .doc = "Register an account.",
        .auth = AUTH_OPEN,
        .body = &registration_body,
        .reply = &token_reply,
        .fires = (const enum event[]){ EVENT_GUILD_CREATE, EVENT_GUILD_MEMBER_ADD, AUTOMOD_EVENTS,
                                       EVENT_CHANNEL_RECIPIENT_ADD, EVENT_CHANNEL_CREATE,
                                       FRIEND_EVENTS, EVENT_INVITE_DELETE, EVENT_NONE },
        .limit = &limit_login,
        .prepare = validate_registration_request,
        .handle = register_account,
    },
    {
        .method = POST,
        .path = "/auth/login",
        .name = "log_in",
        .doc = "Log in: get a token for an account.",
        .auth = AUTH_OPEN,
        .body = &login_body,
        .reply = &login_reply,
        .limit = &limit_login,
        .prepare = schedule_login_password_check,
        .handle = log_in,
    },
    {
        .method = POST,
        .path = "/auth/claim",
        .name = "claim_account",
        .doc = "Claim the account that a copied guild has for the caller, with the code that they "
               "received on the other server: set a password and log in.",
        .auth = AUTH_OPEN,
        .body = &account_claim_body,
        .reply = &login_reply,
        .limit = &limit_login,
        .prepare = validate_account_claim_request,
        .handle = claim_account,
    },
    {
        .method = POST,
        .path = "/auth/claim/identity",
        .name = "start_identity_claim",
        .doc = "Start claiming an account of a copied guild by logging in at the server from which "
               "it was copied (OAuth2).",
        .auth = AUTH_OPEN,
        .reply = &identity_claim_start_reply,
        .limit = &limit_identity_claim,
        .prepare = require_claim_provider_configured,
        .handle = start_identity_claim,
    },
    {
        .method = POST,
        .path = "/auth/claim/identity/callback",
        .name = "complete_identity_claim",
        .doc = "Exchange the code with which the other server has redirected the browser for a "
               "code that claims the caller's account.",
        .auth = AUTH_OPEN,
        .body = &identity_claim_body,
        .reply = &identity_claim_code_reply,
        .limit = &limit_identity_claim,
        .prepare = schedule_identity_claim_verification,
        .handle = complete_identity_claim,
    },
    {
        .method = POST,
        .path = "/auth/logout",
        .name = "log_out",
        .doc = "Log out: revoke the token of this request.",
        .auth = AUTH_USER,
        .handle = log_out,
    },
    {
        .method = GET,
        .path = "/users/@me",
        .name = "get_current_user",
        .doc = "The caller's account. Apps get fewer fields, and the email only with its scope.",
        .auth = AUTH_USER | AUTH_BOT | AUTH_BEARER,
        .scope = "identify",
        .reply = &current_user_reply,
        .handle = get_current_user,
    },
    {
        .method = PATCH,
        .path = "/users/@me",
        .name = "modify_current_user",
        .doc = "Change the caller's own account. Bots change name, avatar and banner only.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &user_patch_body,
        .max_body = BODY_MAX_WITH_IMAGES(2),
        .reply = &patched_user_reply,
        .fires = (const enum event[]){ EVENT_USER_UPDATE, EVENT_GUILD_MEMBER_UPDATE,
                                       EVENT_PRESENCE_UPDATE, EVENT_NONE },
        .prepare = validate_current_user_patch,
        .handle = modify_current_user,
    },
    {
        .method = POST,
        .path = "/users/@me/delete",
        .name = "delete_account",
        .doc = "Delete the caller's account after 14 days; until then a login with undelete "
               "cancels it. Refused while the account owns guilds, applications or teams.",
        .auth = AUTH_USER,
        .body = &account_deletion_body,
        .prepare = require_password_and_mfa_code_of_caller,
        .handle = delete_account,
    },
    {
        .method = POST,
        .path = "/users/@me/disable",
        .name = "disable_account",
        .doc = "Disable the caller's account until a login with undelete enables it.",
        .auth = AUTH_USER,
        .body = &account_deletion_body,
        .prepare = require_password_and_mfa_code_of_caller,
        .handle = disable_account,
    },
    {
        .method = GET,
        .path = "/users/{user.id}",
        .name = "get_user",
        .doc = "The public fields of an account.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &public_user_reply,
        .handle = get_user,
    },
    { 0 },
};

const struct domain accounts_domain = {
    .name = "Accounts",
    .doc = "Accounts, registration and log-in.",
    .routes = routes,
    .world = &accounts_world,
    .resolvers = resolvers,
    .jobs = (const struct job_kind *const[]){ &account_erasure_job, &account_deletion_job,
                                              &registration_codes_job, NULL },
    .hooks = &(const struct hook_listeners){ .member_joined = user_settings_restrict_dms_of_guild },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_OF(WITH_ACCOUNT, "notes", "user_id", "target_id") },
            { DELETE_FEW(WITH_ACCOUNT, "user_settings", "user_id") },
            { DELETE_FEW(WITH_ACCOUNT, "settings_protos", "user_id") },
            { DELETE_FEW(WITH_ACCOUNT, "mfa", "user_id") },
            { DELETE_FEW(WITH_ACCOUNT, "mailed_links", "user_id") },
            { DELETE_FEW(WITH_ACCOUNT, "known_addresses", "user_id") },
            { DELETE_FEW(WITH_ACCOUNT, "placeholder_accounts", "user_id") },
            { 0 } },
};

enum err account_create(struct tx *tx, struct auth *auth, const struct account_to_create *draft,
                        struct user *ret_user, struct str *ret_token)
{
    struct user user = {
        .id = snowflake_new(),
        .username = draft->username,
        .global_name = { draft->global_name.n ? GIVEN : ABSENT, draft->global_name },
        .password_hash = draft->password_hash,
        .locale = STR("en-US"),
        .verified = true,
        .bot = { draft->bot ? GIVEN : ABSENT, draft->bot },
    };
    struct token_to_issue grant = { .kind = draft->bot ? CALLER_BOT : CALLER_USER,
                                    .user_id = user.id,
                                    .scopes = STR("") };
    const char *taken;

    enum err e = user_insert(tx, &user, &taken);
    if (e)
        return e;
    if (taken)
        return ERR_STORE_CONFLICT;
    *ret_user = user;
    return auth_issue_token(auth, tx, &grant, ret_token);
}

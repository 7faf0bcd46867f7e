/* token.c - issues and revokes access tokens: for codes, refresh tokens and client credentials. */
#include "platform/oauth2/internal.h"

#include <sodium.h>

#include "base/clock.h"
#include "net/http/server.h"
#include "platform/guilds/guilds.h"

/* --- client authentication ------------------------------------------------------------ */

/* Parses an HTTP Basic credential "Basic base64(id:secret)". Id and secret are percent-encoded (RFC
 * 6749 2.3.1). */
static bool parse_basic_credentials(struct call *call, struct str *ret_id, struct str *ret_secret)
{
    struct str header = str_trim(call->exchange->request->authorization);
    struct str word = str_cut(&header, ' '), pair;

    if (!str_eq_nocase(word, STR("Basic")) ||
        !str_base64_decode(call->arena, str_trim(header), &pair))
        return false;
    struct str id = str_cut(&pair, ':');
    return str_percent_decode(call->arena, id, true, ret_id) &&
           str_percent_decode(call->arena, pair, true, ret_secret);
}

static bool has_basic_credentials(const struct call *call)
{
    struct str header = str_trim(call->exchange->request->authorization);

    return str_eq_nocase(str_cut(&header, ' '), STR("Basic"));
}

/* Finds the client's application. *ret_known is true if the application exists and the secret is
 * right. */
static enum err authenticate_client(struct call *call, const struct opt_str *form_id,
                                    const struct opt_str *form_secret, struct application *ret,
                                    bool *ret_known)
{
    struct str id_text = form_id->value, secret = form_secret->value;
    snowflake id;

    *ret = (struct application){ 0 };
    *ret_known = false;
    if (has_basic_credentials(call) && !parse_basic_credentials(call, &id_text, &secret))
        return OK;
    if (!snowflake_parse(id_text, &id))
        return OK;
    enum err e = application_find(call->tx, id, ret);
    if (e == ERR_UNKNOWN_APPLICATION)
        return OK;
    if (!e)
        *ret_known =
            application_client_secret_matches(api_get_options(call->api)->auth, ret, secret);
    return e;
}

static enum err reply_invalid_client(struct call *call)
{
    return oauth2_reply_error(call, 401, "invalid_client", "Unknown application, or wrong secret.");
}

/* --- issuing -------------------------------------------------------------------------- */

enum err oauth2_access_token_issue(struct call *call, snowflake user_id, snowflake application_id,
                                   const struct oauth2_scopes *scopes, struct str code,
                                   struct access_token_reply *ret)
{
    struct token_to_issue grant = {
        .kind = CALLER_BEARER,
        .user_id = user_id,
        .application_id = application_id,
        .scopes = scopes->text,
        .expires_at = clock_us() + ACCESS_SECONDS * INT64_C(1000000),
        .code = code,
    };

    ret->token_type = STR("Bearer");
    ret->scope = scopes->text;
    ret->expires_in = ACCESS_SECONDS;
    enum err e = delete_expired_oauth2_tokens(call->tx, user_id, application_id);
    return e ? e
             : auth_issue_token(api_get_options(call->api)->auth, call->tx, &grant,
                                &ret->access_token);
}

static enum err issue_refresh_token(struct call *call, snowflake user_id, snowflake application_id,
                                    struct str scopes, struct str code,
                                    struct access_token_reply *ret)
{
    struct token_to_issue grant = {
        .kind = CALLER_REFRESH,
        .user_id = user_id,
        .application_id = application_id,
        .scopes = scopes,
        .code = code,
    };

    ret->refresh_token.given = GIVEN;
    return auth_issue_token(api_get_options(call->api)->auth, call->tx, &grant,
                            &ret->refresh_token.value);
}

/* --- grant_type=authorization_code ---------------------------------------------------- */

/* Installs the app of a code whose installation is pending, with the permissions of the user who
 * granted the code. *ret_may is false if that user no longer has the permission to install it. */
static enum err install_pending_application(struct call *call, const struct application *a,
                                            const struct authorization_code *code,
                                            const struct oauth2_scopes *scopes, bool *ret_may)
{
    struct caller *person = arena_alloc(call->arena, sizeof *person);
    const struct caller *before = call->caller;
    struct oauth2_authorization_request r = { .application = (struct application *)a,
                                              .integration_type =
                                                  (enum integration_type)code->integration_type };

    *person = (struct caller){ .kind = CALLER_USER, .id = code->user_id };
    call->caller = person;
    enum err e = check_install_permission(call, &r, code->guild_id);
    *ret_may = e != ERR_MISSING_PERMISSIONS && e != ERR_GUILD_MFA_REQUIRED &&
               e != ERR_MISSING_ACCESS && e != ERR_UNKNOWN_GUILD && e != ERR_APPLICATION_NOT_YOURS;
    if (!*ret_may)
        e = OK;
    else if (!e)
        e = install_application(call, a, scopes, r.integration_type, code->guild_id,
                                code->permissions);
    call->caller = before;
    return e;
}

static enum err add_guild_to_reply(struct call *call, snowflake guild_id,
                                   struct access_token_reply *out)
{
    struct guild *guild = arena_alloc(call->arena, sizeof *guild);
    enum err e = guild_find(call->tx, guild_id, guild);

    if (e)
        return e == ERR_UNKNOWN_GUILD ? OK : e;
    out->guild = guild;
    return guild_read_roles_emojis_and_other_lists(call, guild);
}

static enum err issue_tokens_for_code(struct call *call, const struct application *a,
                                      const struct authorization_code *code, struct str digest)
{
    struct access_token_reply out = { 0 };
    struct oauth2_scopes scopes;
    bool may = true;

    oauth2_scopes_parse(call->arena, code->scopes, &scopes);
    enum err e =
        code->webhook_channel_id ? read_whether_user_may_create_webhook(call, code, &may) : OK;
    if (!e && may && code->pending)
        e = install_pending_application(call, a, code, &scopes, &may);
    if (!e && may && code->webhook_channel_id)
        e = create_incoming_webhook(call, a, code, &out.webhook);
    if (!e && out.webhook)
        e = authorization_code_record_webhook(call->tx, digest, out.webhook->id);
    if (!e && !may)
        return oauth2_reply_error(call, 400, "invalid_grant",
                                  "The user lost the required permissions.");
    if (!e)
        e = oauth2_authorization_add_scopes(
            call, &(struct account_app_installation){ code->user_id, a->id }, &scopes, false);
    if (!e)
        e = oauth2_access_token_issue(call, code->user_id, a->id, &scopes, digest, &out);
    if (!e)
        e = issue_refresh_token(call, code->user_id, a->id, scopes.text, digest, &out);
    if (!e && oauth2_scopes_contain(&scopes, "openid"))
        e = openid_get_signed_id_token(call, code->user_id, a->id, code->nonce, &out.id_token);
    if (!e && code->guild_id && oauth2_scopes_contain(&scopes, "bot"))
        e = add_guild_to_reply(call, code->guild_id, &out);
    return e ? e : call_reply_with_object(call, &out);
}

/* Revokes the tokens of a code that is used for the second time, because the code has leaked then
 * (RFC 6749 4.1.2). Also deletes the webhook that was created for the code, because its URL is a
 * credential. */
static enum err revoke_tokens_of_reused_code(struct call *call,
                                             const struct authorization_code *code,
                                             struct str digest)
{
    enum err e = revoke_oauth2_tokens_of_code(call, code->user_id, digest);

    if (!e)
        e = delete_incoming_webhook(call, code);
    return e ? e
             : oauth2_reply_error(call, 400, "invalid_grant",
                                  "The code is unknown, used or expired.");
}

static bool verifier_matches_challenge(struct call *call, struct str verifier, struct str challenge)
{
    unsigned char hash[crypto_hash_sha256_BYTES];

    crypto_hash_sha256(hash, (const unsigned char *)verifier.p, verifier.n);
    struct str made = str_base64url_encode(call->arena, hash, sizeof hash);
    return made.n == challenge.n && sodium_memcmp(made.p, challenge.p, made.n) == 0;
}

/* Checks the code verifier against the code's challenge (RFC 7636). Returns NULL if it is right,
 * else an error sentence. A verifier for a code without a challenge is refused, because an attacker
 * may have removed the challenge. */
static const char *check_code_verifier(struct call *call, const struct authorization_code *code,
                                       const char **ret_error)
{
    const struct oauth2_token_form *in = call->body;
    struct str verifier = in->code_verifier.value;

    *ret_error = "invalid_request";
    if (!code->challenge.p && in->code_verifier.given != GIVEN)
        return NULL;
    if (in->code_verifier.given != GIVEN)
        return "The code_verifier is missing.";
    if (verifier.n < VERIFIER_LEAST || verifier.n > VERIFIER_MOST)
        return "A code_verifier has 43 to 128 characters.";
    *ret_error = "invalid_grant";
    if (!code->challenge.p || !verifier_matches_challenge(call, verifier, code->challenge))
        return "The code_verifier does not match.";
    return NULL;
}

static enum err exchange_authorization_code(struct call *call, const struct application *a)
{
    const struct oauth2_token_form *in = call->body;
    struct str digest = authorization_code_compute_digest(call, in->code.value);
    struct authorization_code code;
    const char *error, *wrong;
    struct user user;
    bool found;

    if (in->code.given != GIVEN)
        return oauth2_reply_error(call, 400, "invalid_request", "The code is missing.");
    enum err e = authorization_code_find(call->tx, digest, &code, &found);
    if (e)
        return e;
    if (!found || code.application_id != a->id || code.expires_at <= clock_us())
        return oauth2_reply_error(call, 400, "invalid_grant",
                                  "The code is unknown, used or expired.");
    if (!str_eq(code.redirect_uri, in->redirect_uri.value))
        return oauth2_reply_error(call, 400, "invalid_grant",
                                  "The redirect_uri differs from the request.");
    wrong = check_code_verifier(call, &code, &error);
    if (wrong)
        return oauth2_reply_error(call, 400, error, wrong);
    /* This check runs after check_code_verifier. Otherwise a person who knows only the code could
     * revoke the tokens. */
    if (code.used)
        return revoke_tokens_of_reused_code(call, &code, digest);
    e = user_find(call->tx, code.user_id, &user);
    if (e)
        return e;
    if (user.disabled || user.deleting)
        return oauth2_reply_error(call, 400, "invalid_grant",
                                  "The account is disabled or deleted.");
    e = authorization_code_mark_used(call->tx, digest);
    return e ? e : issue_tokens_for_code(call, a, &code, digest);
}

/* --- grant_type=refresh_token --------------------------------------------------------- */

static enum err exchange_refresh_token(struct call *call, const struct application *a)
{
    const struct oauth2_token_form *in = call->body;
    struct auth *auth = api_get_options(call->api)->auth;
    struct access_token_reply out = { 0 };
    struct oauth2_scopes granted, asked;
    struct parsed_credential credential;
    struct caller holder;
    struct str text, code;

    enum err e = ERR_UNAUTHORIZED;
    if (parse_credential_token(CALLER_REFRESH, in->refresh_token.value, &credential))
        e = auth_find_stored_token(auth, call->tx, &credential, &holder);
    if (e == ERR_UNAUTHORIZED ||
        (!e && (holder.application_id != a->id || holder.disabled || holder.deleting)))
        return oauth2_reply_error(call, 400, "invalid_grant",
                                  "The refresh token is unknown or used.");
    if (!e)
        e = oauth2_token_read_scopes(call->tx, credential.session, &text);
    if (!e)
        e = oauth2_token_read_code_digest(call->tx, credential.session, &code);
    if (e)
        return e;

    oauth2_scopes_parse(call->arena, text, &granted);
    asked = granted;
    if (in->scope.given == GIVEN &&
        (!oauth2_scopes_parse(call->arena, in->scope.value, &asked) || asked.bits & ~granted.bits))
        return oauth2_reply_error(call, 400, "invalid_scope",
                                  "The requested scopes exceed the granted scopes.");
    e = auth_delete_token(call->tx, credential.session);
    if (!e)
        e = oauth2_access_token_issue(call, holder.id, a->id, &asked, code, &out);
    if (!e)
        e = issue_refresh_token(call, holder.id, a->id, granted.text, code, &out);
    if (!e && oauth2_scopes_contain(&asked, "openid"))
        e = openid_get_signed_id_token(call, holder.id, a->id, (struct str){ 0 }, &out.id_token);
    return e ? e : call_reply_with_object(call, &out);
}

/* --- grant_type=client_credentials ---------------------------------------------------- */

/* Issues a token for the application's owner (client credentials grant). Applications of teams get
 * only a few scopes. */
static enum err exchange_client_credentials(struct call *call, const struct application *a)
{
    const struct oauth2_token_form *in = call->body;
    uint64_t for_teams = auth_oauth2_scope_bit(STR("applications.commands.update")) |
                         auth_oauth2_scope_bit(STR("identify"));
    struct access_token_reply out = { 0 };
    struct oauth2_scopes scopes;

    if (!oauth2_scopes_parse(call->arena, in->scope.value, &scopes) ||
        oauth2_scopes_contain(&scopes, "bot") || oauth2_scopes_contain(&scopes, "openid") ||
        oauth2_scopes_contain(&scopes, "webhook.incoming") ||
        (a->team_id && scopes.bits & ~for_teams))
        return oauth2_reply_error(call, 400, "invalid_scope",
                                  "A requested scope is not available here.");
    enum err e =
        oauth2_access_token_issue(call, a->owner_id, a->id, &scopes, (struct str){ 0 }, &out);
    return e ? e : call_reply_with_object(call, &out);
}

/* Returns true if a public client sends a code verifier instead of a secret. check_code_verifier
 * refuses the exchange if the code has no challenge. */
static bool is_public_client_exchange(const struct call *call, const struct application *a)
{
    const struct oauth2_token_form *in = call->body;

    return a->flags & APPLICATION_PUBLIC_CLIENT && !has_basic_credentials(call) &&
           in->client_secret.given != GIVEN && in->code_verifier.given == GIVEN &&
           str_is(in->grant_type.value, "authorization_code");
}

/* Requests the id token, so that it is signed before the write transaction begins. Does nothing for
 * an invalid request; the handler then replies with the error. */
static enum err request_id_token_if_needed(struct call *call)
{
    const struct oauth2_token_form *in = call->body;
    bool by_code = str_is(in->grant_type.value, "authorization_code"), found = false;
    struct authorization_code code;
    struct parsed_credential credential;
    struct caller holder;
    struct oauth2_scopes scopes;
    struct str text;
    enum err e = OK;

    if (by_code && in->code.given == GIVEN) {
        e = authorization_code_find(
            call->tx, authorization_code_compute_digest(call, in->code.value), &code, &found);
        if (!e && found && !code.used && oauth2_scopes_parse(call->arena, code.scopes, &scopes) &&
            oauth2_scopes_contain(&scopes, "openid"))
            e = openid_sign_id_token_in_compute_stage(call, code.user_id, code.application_id,
                                                      code.nonce);
    } else if (!by_code &&
               parse_credential_token(CALLER_REFRESH, in->refresh_token.value, &credential)) {
        e = auth_find_stored_token(api_get_options(call->api)->auth, call->tx, &credential,
                                   &holder);
        if (e == ERR_UNAUTHORIZED)
            return OK;
        if (!e)
            e = oauth2_token_read_scopes(call->tx, credential.session, &text);
        if (!e && oauth2_scopes_parse(call->arena, text, &scopes) &&
            oauth2_scopes_contain(&scopes, "openid"))
            e = openid_sign_id_token_in_compute_stage(call, holder.id, holder.application_id,
                                                      (struct str){ 0 });
    }
    return e;
}

enum err schedule_id_token_for_token_exchange(struct call *call)
{
    const struct oauth2_token_form *in = call->body;

    if (str_is(in->grant_type.value, "authorization_code") ||
        (str_is(in->grant_type.value, "refresh_token") && in->refresh_token.given == GIVEN))
        call->read = request_id_token_if_needed;
    return OK;
}

/* POST /oauth2/token */
enum err exchange_token(struct call *call)
{
    const struct oauth2_token_form *in = call->body;
    struct str type = in->grant_type.value;
    struct application a;
    bool known;

    enum err e = authenticate_client(call, &in->client_id, &in->client_secret, &a, &known);
    if (e)
        return e;
    if (!known && !is_public_client_exchange(call, &a))
        return reply_invalid_client(call);
    call_add_header(call, "Cache-Control", STR("no-store"));
    if (str_is(type, "authorization_code"))
        return exchange_authorization_code(call, &a);
    if (str_is(type, "refresh_token"))
        return exchange_refresh_token(call, &a);
    if (str_is(type, "client_credentials"))
        return exchange_client_credentials(call, &a);
    if (in->grant_type.given != GIVEN)
        return oauth2_reply_error(call, 400, "invalid_request", "The grant_type is missing.");
    return oauth2_reply_error(call, 400, "unsupported_grant_type",
                              "This server does not support this grant_type.");
}

/* --- POST /oauth2/token/revoke -------------------------------------------------------- */

static enum err find_user_and_application_of_token(struct call *call, struct str token,
                                                   struct caller *ret, bool *found)
{
    static const enum caller_kind kinds[] = { CALLER_BEARER, CALLER_REFRESH };
    struct parsed_credential credential;

    *found = false;
    for (int i = 0; i < 2 && !*found; i++) {
        enum err e = ERR_UNAUTHORIZED;

        if (parse_credential_token(kinds[i], token, &credential))
            e = auth_find_stored_token(api_get_options(call->api)->auth, call->tx, &credential,
                                       ret);
        if (e && e != ERR_UNAUTHORIZED)
            return e;
        *found = !e;
    }
    return OK;
}

static enum err delete_authorization_of_token_user(struct call *call, const struct caller *holder)
{
    struct oauth2_authorization a;
    bool found;
    enum err e =
        oauth2_authorization_find_of_user(call->tx, holder->id, holder->application_id, &a, &found);

    /* If the app is installed on the account, the authorization remains until the user removes
     * it. */
    if (e || !found || a.installed)
        return e;
    return oauth2_authorization_delete(call, &a);
}

/* POST /oauth2/token/revoke. A caller without client credentials may revoke every token that the
 * caller knows; an authenticated client only its own tokens. An unknown token is not an error (RFC
 * 7009). */
enum err revoke_token(struct call *call)
{
    const struct token_revoke_form *in = call->body;
    bool says_who = has_basic_credentials(call) || in->client_id.given == GIVEN;
    struct application a = { 0 };
    struct caller holder;
    bool known = true, found;
    enum err e = OK;

    if (says_who)
        e = authenticate_client(call, &in->client_id, &in->client_secret, &a, &known);
    if (e)
        return e;
    if (!known)
        return reply_invalid_client(call);
    if (in->token.given != GIVEN)
        return oauth2_reply_error(call, 400, "invalid_request", "The token is missing.");
    e = find_user_and_application_of_token(call, in->token.value, &holder, &found);
    if (!e && found && (!says_who || holder.application_id == a.id)) {
        e = revoke_oauth2_tokens_of_application(call, holder.id, holder.application_id);
        if (!e)
            e = delete_authorization_of_token_user(call, &holder);
    }
    return e ? e : call_reply_with_object(call, &(struct empty_json_reply){ 0 });
}

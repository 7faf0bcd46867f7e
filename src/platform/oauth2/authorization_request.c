/* authorization_request.c - validates an authorization request, and installs the application. */
#include "platform/oauth2/internal.h"

#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

static bool redirect_uri_is_registered(const struct application *a, struct str uri)
{
    for (size_t i = 0; i < a->redirect_uris.count; i++)
        if (str_eq(((const struct str *)a->redirect_uris.items)[i], uri))
            return true;
    return false;
}

/* Refuses a redirect URI that the application has not registered, because the code is sent to that
 * URI. */
static enum err parse_redirect_uri(struct call *call, struct oauth2_authorization_request *r)
{
    const struct oauth2_authorize_query *q = call->query;
    const struct application *a = r->application;

    if (q->redirect_uri.given == GIVEN && !redirect_uri_is_registered(a, q->redirect_uri.value))
        return call_add_field_error(call, "redirect_uri", "INVALID_REDIRECT_URI",
                                    "The application has not registered this redirect URI.");
    if (q->redirect_uri.given == GIVEN)
        r->redirect_uri = q->redirect_uri.value;
    else if ((r->with_code && a->redirect_uris.count == 1) ||
             (r->with_token && a->redirect_uris.count))
        r->redirect_uri = *(const struct str *)a->redirect_uris.items;
    else if (r->with_code || r->with_token)
        return call_add_field_error(call, "redirect_uri", FORM_REQUIRED);
    return OK;
}

static enum err parse_requested_scopes(struct call *call, struct oauth2_authorization_request *r)
{
    const struct oauth2_authorize_query *q = call->query;

    if (!oauth2_scopes_parse(call->arena, q->scope, &r->scopes) ||
        oauth2_scopes_contain(&r->scopes, "applications.commands.update"))
        return call_add_field_error(call, "scope", "ENUM_TYPE_COERCE",
                                    "No scope, or a scope that cannot be requested here.");
    r->installs = oauth2_scopes_contain(&r->scopes, "bot") ||
                  oauth2_scopes_contain(&r->scopes, "applications.commands");
    return OK;
}

/* Checks whether the implicit grant (token in the redirect URL) is allowed: only for public
 * clients, and not for scopes and installations that need a code exchange. */
static enum err check_implicit_grant(struct call *call,
                                     const struct oauth2_authorization_request *r)
{
    const struct application *a = r->application;

    if (!(a->flags & APPLICATION_PUBLIC_CLIENT) ||
        (r->installs && a->integration_require_code_grant))
        return call_add_field_error(call, "response_type", FORM_CHOICES,
                                    "Value must be one of ('code').");
    if (oauth2_scopes_contain(&r->scopes, "bot"))
        return call_add_field_error(call, "scope", "ENUM_TYPE_COERCE",
                                    "bot cannot be used with response_type=token.");
    if (oauth2_scopes_contain(&r->scopes, "openid"))
        return call_add_field_error(call, "scope", "ENUM_TYPE_COERCE",
                                    "openid needs response_type=code.");
    if (oauth2_scopes_contain(&r->scopes, "webhook.incoming"))
        return call_add_field_error(call, "scope", "ENUM_TYPE_COERCE",
                                    "webhook.incoming needs response_type=code.");
    return OK;
}

/* Requires a response type (code or token), unless the request only installs an app that does not
 * require a code grant. */
static enum err parse_response_type(struct call *call, struct oauth2_authorization_request *r)
{
    const struct oauth2_authorize_query *q = call->query;
    uint64_t alone =
        auth_oauth2_scope_bit(STR("bot")) | auth_oauth2_scope_bit(STR("applications.commands"));

    r->with_token = str_is(q->response_type.value, "token");
    r->with_code = q->response_type.given == GIVEN && !r->with_token;
    if (r->with_token)
        return check_implicit_grant(call, r);
    if (!r->with_code &&
        (r->scopes.bits & ~alone || r->application->integration_require_code_grant))
        return call_add_field_error(call, "response_type", FORM_REQUIRED);
    return OK;
}

/* Requires code_challenge and its method together. Without a method, RFC 7636 assumes "plain",
 * which this server does not support. */
static enum err check_code_challenge(struct call *call)
{
    const struct oauth2_authorize_query *q = call->query;

    if (q->code_challenge.given == q->code_challenge_method.given)
        return OK;
    return call_add_field_error(
        call, q->code_challenge.given == GIVEN ? "code_challenge_method" : "code_challenge",
        FORM_REQUIRED);
}

static enum err parse_integration_type(struct call *call, const struct opt_int *chosen,
                                       struct oauth2_authorization_request *r)
{
    const struct oauth2_authorize_query *q = call->query;
    const struct application *a = r->application;

    if (chosen && chosen->given == GIVEN)
        r->integration_type = (enum integration_type)chosen->value;
    else if (q->integration_type.given == GIVEN)
        r->integration_type = (enum integration_type)q->integration_type.value;
    else
        r->integration_type =
            application_can_be_installed(a, INSTALL_GUILD) ? INSTALL_GUILD : INSTALL_USER;
    if (!r->installs)
        return OK;
    if (!application_can_be_installed(a, r->integration_type))
        return call_add_field_error(call, "integration_type", "BASE_TYPE_CHOICES",
                                    "The application cannot be installed there.");
    if (r->integration_type == INSTALL_USER &&
        (oauth2_scopes_contain(&r->scopes, "bot") ||
         !oauth2_scopes_contain(&r->scopes, "applications.commands")))
        return call_add_field_error(call, "scope", "ENUM_TYPE_COERCE",
                                    "Only applications.commands can be installed on an account.");
    return OK;
}

enum err oauth2_authorization_request_parse(struct call *call,
                                            const struct opt_int *integration_type,
                                            struct oauth2_authorization_request *ret)
{
    const struct oauth2_authorize_query *q = call->query;

    *ret = (struct oauth2_authorization_request){ .application = arena_alloc(
                                                      call->arena, sizeof *ret->application) };
    enum err e = application_find(call->tx, q->client_id, ret->application);
    if (!e)
        e = parse_requested_scopes(call, ret);
    if (!e)
        e = parse_response_type(call, ret);
    if (!e)
        e = parse_redirect_uri(call, ret);
    if (!e)
        e = check_code_challenge(call);
    return e ? e : parse_integration_type(call, integration_type, ret);
}

/* --- installing ----------------------------------------------------------------------- */

enum err check_application_is_public(struct call *call,
                                     const struct oauth2_authorization_request *r)
{
    enum team_access_level level;

    if (r->application->integration_public)
        return OK;
    enum err e = application_read_access_level(call->tx, r->application, call->caller, &level);
    return e || level >= TEAM_ACCESS_DEVELOPER ? e : ERR_APPLICATION_NOT_YOURS;
}

enum err check_install_permission(struct call *call, const struct oauth2_authorization_request *r,
                                  snowflake guild_id)
{
    struct member_access standing;
    enum err e = check_application_is_public(call, r);

    if (e || r->integration_type == INSTALL_USER)
        return e;
    if (!guild_id)
        return call_add_field_error(call, "guild_id", FORM_REQUIRED);
    e = member_access_find(call->tx, guild_id, call->caller->id, &standing);
    if (e)
        return e;
    return standing.permissions & PERMISSION(MANAGE_GUILD)
               ? OK
               : get_error_for_permissions_missing_in_guild(&standing, PERMISSION(MANAGE_GUILD));
}

static enum err install_application_on_account(struct call *call, const struct application *a,
                                               const struct oauth2_scopes *s)
{
    struct user_application_event ref = { a->id };
    enum err e = oauth2_authorization_add_scopes(
        call, &(struct account_app_installation){ call->caller->id, a->id }, s, true);

    if (!e)
        call_emit_event(call, EVENT_USER_APPLICATION_UPDATE, audience_of_user(call->caller->id),
                        &user_application_event_schema, &ref);
    return e;
}

/* Returns the scopes that belong to the guild's integration. The other scopes belong to the user's
 * authorization. */
static struct list scopes_of_guild_integration(struct arena *arena, const struct oauth2_scopes *s)
{
    struct list list = { 0 };

    if (oauth2_scopes_contain(s, "bot"))
        *(struct str *)list_append(arena, &list, sizeof(struct str)) = STR("bot");
    if (oauth2_scopes_contain(s, "applications.commands"))
        *(struct str *)list_append(arena, &list, sizeof(struct str)) = STR("applications.commands");
    if (oauth2_scopes_contain(s, "webhook.incoming"))
        *(struct str *)list_append(arena, &list, sizeof(struct str)) = STR("webhook.incoming");
    return list;
}

enum err install_application(struct call *call, const struct application *a,
                             const struct oauth2_scopes *s, enum integration_type type,
                             snowflake guild_id, uint64_t permissions)
{
    struct member_access standing;

    if (type == INSTALL_USER)
        return install_application_on_account(call, a, s);
    enum err e = member_access_find(call->tx, guild_id, call->caller->id, &standing);
    if (e)
        return e;
    struct app_installation in = {
        .application = a,
        .guild_id = guild_id,
        .user_id = call->caller->id,
        .scopes = scopes_of_guild_integration(call->arena, s),
        /* The app gets only those requested permissions that the installing user has, too. */
        .permissions = permissions & PERMISSIONS_ALL & standing.permissions,
        .installer = &standing,
    };
    return application_install_in_guild(call, &in);
}

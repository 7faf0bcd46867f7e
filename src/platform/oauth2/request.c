/* request.c - validates an authorization request, and installs the application. */
#include "platform/oauth2/internal.h"

#include "platform/guilds/guilds.h"
#include "platform/members/members.h"

static bool is_registered(const struct application *a, struct str uri)
{
    for (size_t i = 0; i < a->redirect_uris.count; i++)
        if (str_eq(((const struct str *)a->redirect_uris.items)[i], uri))
            return true;
    return false;
}

/* Refuses an unregistered redirect URI, so that it never receives a reply. */
static enum err read_redirect(struct call *call, struct request *r)
{
    const struct authorize_query *q = call->query;
    const struct application *a = r->application;

    if (q->redirect_uri.given == GIVEN && !is_registered(a, q->redirect_uri.value))
        return call_invalid(call, "redirect_uri", "INVALID_REDIRECT_URI",
                            "The application has not registered this redirect URI.");
    if (q->redirect_uri.given == GIVEN)
        r->redirect_uri = q->redirect_uri.value;
    else if ((r->with_code && a->redirect_uris.count == 1) ||
             (r->with_token && a->redirect_uris.count))
        r->redirect_uri = *(const struct str *)a->redirect_uris.items;
    else if (r->with_code || r->with_token)
        return call_invalid(call, "redirect_uri", FORM_REQUIRED);
    return OK;
}

static enum err read_scopes(struct call *call, struct request *r)
{
    const struct authorize_query *q = call->query;

    if (!scopes_parse(call->arena, q->scope, &r->scopes) ||
        scopes_have(&r->scopes, "applications.commands.update"))
        return call_invalid(call, "scope", "ENUM_TYPE_COERCE",
                            "No scope, or a scope that cannot be requested here.");
    r->installs =
        scopes_have(&r->scopes, "bot") || scopes_have(&r->scopes, "applications.commands");
    return OK;
}

/* Allows the implicit grant only for public clients, because the token is part of a URL, and not
 * for scopes and installs that need a code exchange. */
static enum err check_implicit(struct call *call, const struct request *r)
{
    const struct application *a = r->application;

    if (!(a->flags & APPLICATION_PUBLIC_CLIENT) ||
        (r->installs && a->integration_require_code_grant))
        return call_invalid(call, "response_type", FORM_CHOICES, "Value must be one of ('code').");
    if (scopes_have(&r->scopes, "bot"))
        return call_invalid(call, "scope", "ENUM_TYPE_COERCE",
                            "bot cannot be used with response_type=token.");
    if (scopes_have(&r->scopes, "openid"))
        return call_invalid(call, "scope", "ENUM_TYPE_COERCE", "openid needs response_type=code.");
    if (scopes_have(&r->scopes, "webhook.incoming"))
        return call_invalid(call, "scope", "ENUM_TYPE_COERCE",
                            "webhook.incoming needs response_type=code.");
    return OK;
}

/* Requires a code, unless the app is only installed and does not demand a code. */
static enum err read_response_type(struct call *call, struct request *r)
{
    const struct authorize_query *q = call->query;
    uint64_t alone = auth_scope(STR("bot")) | auth_scope(STR("applications.commands"));

    r->with_token = str_is(q->response_type.value, "token");
    r->with_code = q->response_type.given == GIVEN && !r->with_token;
    if (r->with_token)
        return check_implicit(call, r);
    if (!r->with_code &&
        (r->scopes.bits & ~alone || r->application->integration_require_code_grant))
        return call_invalid(call, "response_type", FORM_REQUIRED);
    return OK;
}

/* Requires challenge and method together: without a method RFC 7636 assumes "plain", which is not
 * supported. */
static enum err check_challenge(struct call *call)
{
    const struct authorize_query *q = call->query;

    if (q->code_challenge.given == q->code_challenge_method.given)
        return OK;
    return call_invalid(
        call, q->code_challenge.given == GIVEN ? "code_challenge_method" : "code_challenge",
        FORM_REQUIRED);
}

static enum err read_place(struct call *call, const struct opt_int *chosen, struct request *r)
{
    const struct authorize_query *q = call->query;
    const struct application *a = r->application;

    if (chosen && chosen->given == GIVEN)
        r->integration_type = (enum integration_type)chosen->value;
    else if (q->integration_type.given == GIVEN)
        r->integration_type = (enum integration_type)q->integration_type.value;
    else
        r->integration_type = application_installs(a, INSTALL_GUILD) ? INSTALL_GUILD : INSTALL_USER;
    if (!r->installs)
        return OK;
    if (!application_installs(a, r->integration_type))
        return call_invalid(call, "integration_type", "BASE_TYPE_CHOICES",
                            "The application cannot be installed there.");
    if (r->integration_type == INSTALL_USER &&
        (scopes_have(&r->scopes, "bot") || !scopes_have(&r->scopes, "applications.commands")))
        return call_invalid(call, "scope", "ENUM_TYPE_COERCE",
                            "Only applications.commands can be installed on an account.");
    return OK;
}

enum err request_read(struct call *call, const struct opt_int *integration_type,
                      struct request *ret)
{
    const struct authorize_query *q = call->query;

    *ret = (struct request){ .application = arena_alloc(call->arena, sizeof *ret->application) };
    enum err e = application_find(call->tx, q->client_id, ret->application);
    if (!e)
        e = read_scopes(call, ret);
    if (!e)
        e = read_response_type(call, ret);
    if (!e)
        e = read_redirect(call, ret);
    if (!e)
        e = check_challenge(call);
    return e ? e : read_place(call, integration_type, ret);
}

/* --- installing ----------------------------------------------------------------------- */

enum err request_check_public(struct call *call, const struct request *r)
{
    enum maker_level level;

    if (r->application->integration_public)
        return OK;
    enum err e = application_level(call->tx, r->application, call->caller, &level);
    return e || level >= MAKER_DEVELOPER ? e : ERR_APPLICATION_NOT_YOURS;
}

enum err request_check_place(struct call *call, const struct request *r, snowflake guild_id)
{
    struct standing standing;
    enum err e = request_check_public(call, r);

    if (e || r->integration_type == INSTALL_USER)
        return e;
    if (!guild_id)
        return call_invalid(call, "guild_id", FORM_REQUIRED);
    e = standing_find(call->tx, guild_id, call->caller->id, &standing);
    if (e)
        return e;
    return standing.rights & PERMISSION(MANAGE_GUILD)
               ? OK
               : standing_lacks(&standing, PERMISSION(MANAGE_GUILD));
}

static enum err install_on_account(struct call *call, const struct application *a,
                                   const struct scopes *s)
{
    struct application_ref ref = { a->id };
    enum err e = authorization_add(call, &(struct account_app){ call->caller->id, a->id }, s, true);

    if (!e)
        call_emit(call, EVENT_USER_APPLICATION_UPDATE, to_user(call->caller->id),
                  &application_ref_schema, &ref);
    return e;
}

/* Returns the scopes of the guild's integration; the others belong to the user. */
static struct list guild_scopes(struct arena *arena, const struct scopes *s)
{
    struct list list = { 0 };

    if (scopes_have(s, "bot"))
        *(struct str *)list_add(arena, &list, sizeof(struct str)) = STR("bot");
    if (scopes_have(s, "applications.commands"))
        *(struct str *)list_add(arena, &list, sizeof(struct str)) = STR("applications.commands");
    if (scopes_have(s, "webhook.incoming"))
        *(struct str *)list_add(arena, &list, sizeof(struct str)) = STR("webhook.incoming");
    return list;
}

enum err request_install(struct call *call, const struct application *a, const struct scopes *s,
                         enum integration_type type, snowflake guild_id, uint64_t permissions)
{
    struct standing standing;

    if (type == INSTALL_USER)
        return install_on_account(call, a, s);
    enum err e = standing_find(call->tx, guild_id, call->caller->id, &standing);
    if (e)
        return e;
    struct installation in = {
        .application = a,
        .guild_id = guild_id,
        .user_id = call->caller->id,
        .scopes = guild_scopes(call->arena, s),
        /* The app gets only permissions that its installer has. */
        .permissions = permissions & PERMISSIONS_ALL & standing.rights,
        .installer = &standing,
    };
    return application_install_guild(call, &in);
}

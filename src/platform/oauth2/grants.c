/* grants.c - lists and revokes authorizations. */
#include "platform/oauth2/internal.h"

/* GET /oauth2/@me: application, scopes and user of the access token of this request. */
enum err get_current_authorization(struct call *call)
{
    const struct caller *caller = call->caller;
    struct application application;
    struct oauth2_scopes scopes;
    struct user user;
    struct str text;

    enum err e = application_find(call->tx, caller->application_id, &application);
    if (!e)
        e = oauth2_token_read_scopes(call->tx, caller->session, &text);
    if (!e)
        e = user_find(call->tx, caller->id, &user);
    if (e)
        return e;
    oauth2_scopes_parse(call->arena, text, &scopes);
    struct current_authorization out = {
        .application = &application,
        .scopes = scopes.list,
        .expires = { caller->expires_at ? GIVEN : GIVEN_NULL, caller->expires_at },
        .user = oauth2_scopes_contain(&scopes, "identify") ? &user : NULL,
    };
    return call_reply_with_object(call, &out);
}

static bool authorization_is_of_application(const struct opt_list *ids, snowflake id)
{
    if (ids->given != GIVEN)
        return true;
    for (size_t i = 0; i < ids->value.count; i++)
        if (((const snowflake *)ids->value.items)[i] == id)
            return true;
    return false;
}

static enum err reply_with_authorizations(struct call *call, const struct opt_list *ids)
{
    struct list all, out = { 0 };
    enum err e = oauth2_authorizations_read_of_user(call->tx, call->caller->id, &all);

    if (e)
        return e;
    for (size_t i = 0; i < all.count; i++) {
        const struct oauth2_authorization *a = (const struct oauth2_authorization *)all.items + i;

        if (authorization_is_of_application(ids, a->application_id))
            *(struct oauth2_authorization *)list_append(call->arena, &out, sizeof *a) = *a;
    }
    return call_reply_with_object(call, &out);
}

/* GET /oauth2/tokens */
enum err list_grants(struct call *call)
{
    const struct authorizations_query *q = call->query;

    return reply_with_authorizations(call, &q->application_ids);
}

/* GET /oauth2/applications/{application.id}/tokens */
enum err list_application_grants(struct call *call)
{
    struct opt_list only = { GIVEN, { &call->target.application->id, 1 } };

    return reply_with_authorizations(call, &only);
}

/* DELETE /oauth2/tokens/{authorization.id}: deletes the authorization and uninstalls the
 * application from the account. */
enum err delete_grant(struct call *call)
{
    struct oauth2_authorization a;
    enum err e = oauth2_authorization_find(call->tx, call_get_path_id(call, "authorization.id"),
                                           call->caller->id, &a);

    if (!e)
        e = revoke_oauth2_tokens_of_application(call, a.user_id, a.application_id);
    if (!e)
        e = oauth2_authorization_delete(call, &a);
    if (e)
        return e;
    call_emit_event(call, EVENT_USER_APPLICATION_REMOVE, audience_of_user(a.user_id),
                    &user_application_event_schema,
                    &(struct user_application_event){ a.application_id });
    return OK;
}

/* provider.c - sends a request to the local or the HTTP provider of a platform. */
#include "integrations/providers/provider.h"

#include "platform/accounts/accounts.h"

void platform_provider_send_request(struct api *api, struct loop *loop,
                                    const struct platform_provider_request *q)
{
    static const struct platform_provider_response unavailable = { .result = PROVIDER_TEMPORARY };

    if (!platform_is_enabled(q->platform))
        q->done(q->arg, &unavailable);
    else if (platform_get_provider_url(q->platform).p)
        platform_provider_send_http_request(api, loop, q);
    else
        platform_provider_send_local_request(api, loop, q);
}

/* Returns the URL of the server's link page for both kinds of provider, because this page displays
 * the user to whom the account will be linked. OAuth2 states have only characters that need no
 * escaping. */
struct str platform_provider_get_authorize_url(struct call *call, enum platform p, struct str state)
{
    struct str link_url =
        STR_CONCAT(call->arena, api_get_base_url(call, "http"), STR("/connections/"),
                   platform_get_database_name(p), STR("/link"));

    if (!platform_get_provider_url(p).p)
        return STR_CONCAT(call->arena, link_url, STR("?state="), state);
    return STR_CONCAT(call->arena, platform_get_provider_url(p), STR("/authorize?state="), state,
                      STR("&redirect_uri="), link_url);
}

/* provider.c - sends a request to the local or the HTTP provider of a platform. */
#include "integrations/providers/provider.h"

#include "platform/accounts/accounts.h"

void provider_ask(struct api *api, struct loop *loop, const struct provider_question *q)
{
    static const struct provider_answer nobody = { .result = PROVIDER_TEMPORARY };

    if (!platform_is_on(q->platform))
        q->done(q->arg, &nobody);
    else if (platform_url(q->platform).p)
        provider_ask_http(api, loop, q);
    else
        provider_ask_local(api, loop, q);
}

/* Both URLs lead to our page, which shows the account that gets the link. States contain only
 * characters that need no escaping. */
struct str provider_authorize_url(struct call *call, enum platform p, struct str state)
{
    struct str ours = STR_CONCAT(call->arena, api_url(call, "http"), STR("/connections/"),
                                 platform_name(p), STR("/link"));

    if (!platform_url(p).p)
        return STR_CONCAT(call->arena, ours, STR("?state="), state);
    return STR_CONCAT(call->arena, platform_url(p), STR("/authorize?state="), state,
                      STR("&redirect_uri="), ours);
}

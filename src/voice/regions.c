/* regions.c - routes that list the voice regions. */
#include "voice/internal.h"

#include "model/configured/regions.h"
#include "net/http/server.h"

/* GET /voice/regions */
static enum err list_voice_regions(struct call *call)
{
    struct list regions = voice_regions_list_for_client(call->arena, call->exchange->remote, false);

    return call_reply_with_object(call, &regions);
}

/* GET /guilds/{guild.id}/regions */
static enum err list_guild_regions(struct call *call)
{
    struct list regions = voice_regions_list_for_client(
        call->arena, call->exchange->remote, guild_may_use_vip_regions(call->target.guild));

    return call_reply_with_object(call, &regions);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/voice/regions",
        .name = "list_voice_regions",
        .doc = "Lists the voice regions.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_regions,
        .store = ROUTE_STORE_NONE,
        .handle = list_voice_regions,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/regions",
        .name = "list_guild_regions",
        .doc = "Lists the voice regions that a guild can use.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_regions,
        .handle = list_guild_regions,
    },
    { 0 },
};

const struct domain regions_domain = {
    .name = "Voice regions",
    .doc = "Regions in which voice channels can be hosted.",
    .routes = routes,
};

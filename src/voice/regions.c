/* regions.c - GET /voice/regions. */
#include "voice/voice.h"

#include "model/regions.h"

/* GET /voice/regions */
static enum err list_voice_regions(struct call *call)
{
    struct list regions = regions_list();

    return call_reply(call, &regions);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/voice/regions",
        .name = "list_voice_regions",
        .doc = "Regions that a voice channel can be put in.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_regions,
        .store = ROUTE_STORE_NONE,
        .handle = list_voice_regions,
    },
    { 0 },
};

const struct domain voice_domain = {
    .name = "Voice",
    .doc = "Voice regions.",
    .routes = routes,
};

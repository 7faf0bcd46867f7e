/* preview.c - guild previews for users who are not members. */
#include "platform/guilds/internal.h"

#include "api/hooks.h"
#include "gateway/gateway.h"
#include "model/emoji.h"
#include "model/sticker.h"

/* clang-format off */
#define BASIC_FIELDS                                                                               \
    { FIELD(struct guild, id), .type = &type_id },                                                 \
    { FIELD(struct guild, name), .type = &type_guild_name },                                       \
    { FIELD(struct guild, icon), .type = &type_asset_hash, .flags = NULLABLE },                    \
    { FIELD(struct guild, description), .type = &type_text, .flags = NULLABLE },                   \
    { FIELD(struct guild, home_header), .type = &type_asset_hash, .flags = NULLABLE },             \
    { FIELD(struct guild, splash), .type = &type_asset_hash, .flags = NULLABLE },                  \
    { FIELD(struct guild, discovery_splash), .type = &type_asset_hash, .flags = NULLABLE },        \
    { FIELD(struct guild, features), .type = &type_raw, .doc = "Names of features" }
/* clang-format on */

static const struct field basic_fields[] = { BASIC_FIELDS, { 0 } };
static const struct schema basic_schema = {
    .name = "BasicGuild",
    .size = sizeof(struct guild),
    .fields = basic_fields,
    .doc = "The basic fields of a guild.",
};
const struct type basic_guild_reply = { .kind = KIND_OBJECT, .schema = &basic_schema };

static const struct field preview_fields[] = {
    BASIC_FIELDS,
    { FIELD(struct guild, emojis), .type = &type_emojis },
    { FIELD(struct guild, stickers), .type = &type_stickers },
    { FIELD(struct guild, approximate_member_count), .type = &type_count },
    { FIELD(struct guild, approximate_presence_count), .type = &type_count },
    { 0 },
};
static const struct schema preview_schema = {
    .name = "GuildPreview",
    .size = sizeof(struct guild),
    .fields = preview_fields,
    .doc = "A guild as users who are not members see it.",
};
const struct type guild_preview_reply = { .kind = KIND_OBJECT, .schema = &preview_schema };

enum err require_discoverable_guild(struct call *call)
{
    return guild_has_feature(call->target.guild, "DISCOVERABLE") ? OK : ERR_UNKNOWN_GUILD;
}

enum err get_guild_preview(struct call *call)
{
    struct guild *g = call->target.guild;

    g->approximate_member_count = opt_int_present(g->member_count);
    g->approximate_presence_count =
        opt_int_present(gateway_online_member_count(api_get_options(call->api)->gateway, g->id));
    enum err e = hook_guild_object_fill(call, g);
    return e ? e : call_reply_with_object(call, g);
}

enum err get_basic_guild(struct call *call)
{
    return call_reply_with_object(call, call->target.guild);
}

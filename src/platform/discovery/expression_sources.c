/* expression_sources.c - where an emoji or a sticker is from. A guild is shown only if it is in the
 * public list and its managers did not turn this off (emoji_discoverability_enabled). Otherwise the
 * answer is the same as for an id that does not exist. */
#include "model/fields/types.h"
#include "platform/applications/applications.h"
#include "platform/discovery/internal.h"
#include "platform/stickers/stickers.h"

enum { EXPRESSIONS_SHOWN_MAX = 30 };

struct emoji_guild {
    snowflake id;
    struct str name;
    struct opt_str icon, description;
    struct str features; /* JSON */
    struct list emojis;  /* struct emoji */
    int64_t premium_tier, premium_subscription_count, approximate_member_count,
        approximate_presence_count;
};
struct emoji_application {
    snowflake id;
    struct str name;
};
struct emoji_source {
    struct str type;
    struct opt_object guild, application;
};

/* --- schemas ---------------------------------------------------------------------------- */

static const struct field guild_fields[] = {
    { FIELD(struct emoji_guild, id), .type = &type_id },
    { FIELD(struct emoji_guild, name), .type = &type_text },
    { FIELD(struct emoji_guild, icon), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct emoji_guild, description), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct emoji_guild, features), .type = &type_raw, .doc = "Names of features" },
    { FIELD(struct emoji_guild, emojis), .type = &type_emojis, .doc = "At most 30" },
    { FIELD(struct emoji_guild, premium_tier), .type = &type_count },
    { FIELD(struct emoji_guild, premium_subscription_count), .type = &type_count },
    { FIELD(struct emoji_guild, approximate_member_count), .type = &type_count },
    { FIELD(struct emoji_guild, approximate_presence_count), .type = &type_count },
    { 0 },
};
static const struct schema emoji_guild_schema = {
    .name = "EmojiGuild",
    .size = sizeof(struct emoji_guild),
    .fields = guild_fields,
    .doc = "The guild that an emoji is from.",
};
static const struct type type_emoji_guild = { .kind = KIND_OBJECT, .schema = &emoji_guild_schema };

static const struct field application_fields[] = {
    { FIELD(struct emoji_application, id), .type = &type_id },
    { FIELD(struct emoji_application, name), .type = &type_text },
    { 0 },
};
static const struct schema emoji_application_schema = {
    .name = "EmojiApplication",
    .size = sizeof(struct emoji_application),
    .fields = application_fields,
    .doc = "The application that an emoji is from.",
};
static const struct type type_emoji_application = { .kind = KIND_OBJECT,
                                                    .schema = &emoji_application_schema };

static const struct field source_fields[] = {
    { FIELD(struct emoji_source, type), .type = &type_text, .doc = "GUILD or APPLICATION" },
    { FIELD(struct emoji_source, guild), .type = &type_emoji_guild, .flags = NULLABLE },
    { FIELD(struct emoji_source, application), .type = &type_emoji_application, .flags = NULLABLE },
    { 0 },
};
static const struct schema emoji_source_schema = {
    .name = "EmojiSource",
    .size = sizeof(struct emoji_source),
    .fields = source_fields,
    .doc = "The guild or application that an emoji is from.",
};
const struct type emoji_source_reply = { .kind = KIND_OBJECT, .schema = &emoji_source_schema };

/* --- handlers --------------------------------------------------------------------------- */

/* Reads the guild that shows its expressions to everybody. `unknown` is the error if there is no
 * such guild. */
static enum err find_guild_of_expression(struct call *call, snowflake id, enum err unknown,
                                         struct discoverable_guild *ret)
{
    bool found = false;
    enum err e = id ? discoverable_guild_find(call, id, ret, &found) : OK;

    if (e)
        return e;
    return found && ret->shows_expressions ? OK : unknown;
}

static struct list list_first_expressions(struct list all)
{
    all.count = all.count > EXPRESSIONS_SHOWN_MAX ? EXPRESSIONS_SHOWN_MAX : all.count;
    return all;
}

/* GET /emojis/{emoji.id}/guild */
enum err get_emoji_guild(struct call *call)
{
    struct discoverable_guild g;
    struct list emojis;
    enum err e =
        find_guild_of_expression(call, call->target.emoji->guild_id, ERR_UNKNOWN_EMOJI, &g);

    if (!e)
        e = guild_emojis_list(call->tx, g.id, &emojis);
    if (e)
        return e;
    g.emojis = (struct opt_list){ GIVEN, list_first_expressions(emojis) };
    g.emoji_count = (struct opt_int){ GIVEN, (int64_t)emojis.count };
    return call_reply_with_object(call, &g);
}

static enum err reply_with_application_of_emoji(struct call *call, snowflake application_id)
{
    struct application a;
    enum err e = application_find(call->tx, application_id, &a);

    if (e)
        return e == ERR_UNKNOWN_APPLICATION ? ERR_UNKNOWN_EMOJI : e;
    struct emoji_application shown = { .id = a.id, .name = a.name };
    return call_reply_with_object(call, &(struct emoji_source){ .type = STR("APPLICATION"),
                                                                .guild.given = GIVEN_NULL,
                                                                .application = { GIVEN, &shown } });
}

/* GET /emojis/{emoji.id}/source */
enum err get_emoji_source(struct call *call)
{
    const struct emoji *emoji = call->target.emoji;
    struct discoverable_guild g;
    struct list emojis;

    if (emoji->application_id)
        return reply_with_application_of_emoji(call, emoji->application_id);
    enum err e = find_guild_of_expression(call, emoji->guild_id, ERR_UNKNOWN_EMOJI, &g);
    if (!e)
        e = guild_emojis_list(call->tx, g.id, &emojis);
    if (e)
        return e;
    struct emoji_guild shown = {
        .id = g.id,
        .name = g.name,
        .icon = g.icon,
        .description = g.description,
        .features = g.features,
        .emojis = list_first_expressions(emojis),
        .premium_subscription_count = g.premium_subscription_count,
        .approximate_member_count = g.approximate_member_count,
        .approximate_presence_count = g.approximate_presence_count,
    };
    return call_reply_with_object(call, &(struct emoji_source){ .type = STR("GUILD"),
                                                                .guild = { GIVEN, &shown },
                                                                .application.given = GIVEN_NULL });
}

/* GET /stickers/{sticker.id}/guild */
enum err get_sticker_guild(struct call *call)
{
    struct discoverable_guild g;
    struct sticker s;
    struct list stickers;
    enum err e = sticker_find(call->tx, call_get_path_id(call, "sticker.id"), &s);

    if (!e)
        e = find_guild_of_expression(call, s.guild_id, ERR_UNKNOWN_STICKER, &g);
    if (!e)
        e = guild_stickers_read(call->tx, g.id, &stickers);
    if (e)
        return e;
    g.stickers = (struct opt_list){ GIVEN, list_first_expressions(stickers) };
    g.sticker_count = (struct opt_int){ GIVEN, (int64_t)stickers.count };
    return call_reply_with_object(call, &g);
}

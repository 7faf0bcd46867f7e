/* emoji.c - JSON schema of custom emoji. */
#include "model/fields/types.h"
#include "model/emoji.h"

static bool is_emoji_name(struct str s)
{
    for (size_t i = 0; i < s.n; i++) {
        char c = s.p[i], lower = (char)(c | 0x20);

        if (!((lower >= 'a' && lower <= 'z') || (c >= '0' && c <= '9') || c == '_'))
            return false;
    }
    return true;
}

static const struct string_rule rule_emoji_name = { is_emoji_name, FORM_REGEX };
const struct type type_emoji_name = { .kind = KIND_STRING,
                                      .rule = &rule_emoji_name,
                                      .min = 2,
                                      .max = 32,
                                      .doc = "Letters, digits and _" };

static const struct field emoji_fields[] = {
    { FIELD(struct emoji, id), .type = &type_id },
    { FIELD(struct emoji, name), .type = &type_emoji_name },
    { FIELD(struct emoji, roles), .type = &type_ids,
      .doc = "Roles that may use the emoji; empty: everyone" },
    { FIELD(struct emoji, user), .type = &type_partial_user, .flags = OPTIONAL,
      .doc = "Uploader; only for members who may manage emoji" },
    { FIELD(struct emoji, require_colons), .type = &type_bool },
    { FIELD(struct emoji, managed), .type = &type_bool },
    { FIELD(struct emoji, animated), .type = &type_bool },
    { FIELD(struct emoji, available), .type = &type_bool },
    { 0 },
};
static const struct schema emoji_schema = {
    .name = "Emoji",
    .size = sizeof(struct emoji),
    .fields = emoji_fields,
    .doc = "A custom emoji of a guild or an application.",
};
const struct type type_emoji = { .kind = KIND_OBJECT, .schema = &emoji_schema };
const struct type type_emojis = { .kind = KIND_ARRAY, .of = &type_emoji };

static const struct field event_fields[] = {
    { FIELD(struct guild_emojis_event, guild_id), .type = &type_id },
    { FIELD(struct guild_emojis_event, emojis), .type = &type_emojis },
    { 0 },
};
const struct schema guild_emojis_event_schema = {
    .name = "GuildEmojisEvent",
    .size = sizeof(struct guild_emojis_event),
    .fields = event_fields,
    .doc = "All emoji of a guild, after a change.",
};

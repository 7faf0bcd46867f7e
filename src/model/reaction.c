/* reaction.c - JSON schemas of reactions and their events. */
#include "model/reaction.h"

#include "model/text/reaction_text.h"
#include "model/fields/types.h"

static const struct field emoji_fields[] = {
    { FIELD(struct reaction_emoji, id), .type = &type_id, .flags = NULLABLE },
    { FIELD(struct reaction_emoji, name), .type = &type_text },
    { FIELD(struct reaction_emoji, animated), .type = &type_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct schema emoji_schema_of_reaction = {
    .name = "ReactionEmoji",
    .size = sizeof(struct reaction_emoji),
    .fields = emoji_fields,
    .doc = "A Unicode emoji without an id, or a custom emoji.",
};
const struct type type_reaction_emoji = { .kind = KIND_OBJECT,
                                          .schema = &emoji_schema_of_reaction };

static const struct field details_fields[] = {
    { FIELD(struct reaction_count_details, normal), .type = &type_count },
    { FIELD(struct reaction_count_details, burst), .type = &type_count },
    { 0 },
};
static const struct schema details_schema = {
    .name = "ReactionCountDetails",
    .size = sizeof(struct reaction_count_details),
    .fields = details_fields,
    .doc = "The number of normal and burst reactions.",
};
static const struct type type_details = { .kind = KIND_OBJECT, .schema = &details_schema };
static const struct type type_colors = { .kind = KIND_ARRAY, .of = &type_text };

static const struct field reaction_fields[] = {
    { FIELD(struct reaction, emoji), .type = &type_reaction_emoji },
    { FIELD(struct reaction, count), .type = &type_count },
    { FIELD(struct reaction, count_details), .type = &type_details },
    { FIELD(struct reaction, me), .type = &type_bool },
    { FIELD(struct reaction, me_burst), .type = &type_bool },
    { FIELD(struct reaction, burst_colors), .type = &type_colors },
    { 0 },
};
static const struct schema reaction_schema = {
    .name = "Reaction",
    .size = sizeof(struct reaction),
    .fields = reaction_fields,
    .doc = "A reaction to a message, with the number of users.",
};
static const struct type type_reaction = { .kind = KIND_OBJECT, .schema = &reaction_schema };
static const struct type type_reaction_array = { .kind = KIND_ARRAY, .of = &type_reaction };
const struct type type_reactions = { .kind = KIND_RAW,
                                     .of = &type_reaction_array,
                                     .show = write_reactions_json };

/* clang-format off */
#define REACTION_LOCATION_FIELDS                                                                                      \
    { FIELD(struct reaction_event, channel_id), .type = &type_id },                                \
    { FIELD(struct reaction_event, message_id), .type = &type_id },                                \
    { FIELD(struct reaction_event, guild_id), .type = &type_id, .flags = OPTIONAL }
#define REACTION_EMOJI_FIELDS                                                                                       \
    { FIELD(struct reaction_event, user_id), .type = &type_id, .flags = OPTIONAL },                \
    { FIELD(struct reaction_event, emoji), .type = &type_reaction_emoji },                         \
    { FIELD(struct reaction_event, burst), .type = &type_bool },                                   \
    { FIELD(struct reaction_event, type), .type = &type_count }
/* clang-format on */

static const struct field added_fields[] = {
    REACTION_LOCATION_FIELDS,
    REACTION_EMOJI_FIELDS,
    { FIELD(struct reaction_event, message_author_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct reaction_event, member), .type = &type_member, .flags = OPTIONAL },
    { FIELD(struct reaction_event, burst_colors), .type = &type_colors, .flags = OPTIONAL },
    { 0 },
};
static const struct field removed_fields[] = { REACTION_LOCATION_FIELDS,
                                               REACTION_EMOJI_FIELDS,
                                               { 0 } };
static const struct field emoji_removed_fields[] = {
    REACTION_LOCATION_FIELDS,
    { FIELD(struct reaction_event, emoji), .type = &type_reaction_emoji },
    { 0 },
};
static const struct field all_removed_fields[] = { REACTION_LOCATION_FIELDS, { 0 } };

const struct schema reaction_added_schema = {
    .name = "ReactionAdded",
    .size = sizeof(struct reaction_event),
    .fields = added_fields,
    .doc = "A user added a reaction to a message.",
};
const struct schema reaction_removed_schema = {
    .name = "ReactionRemoved",
    .size = sizeof(struct reaction_event),
    .fields = removed_fields,
    .doc = "A reaction of a user was removed from a message.",
};
const struct schema reaction_emoji_removed_schema = {
    .name = "ReactionEmojiRemoved",
    .size = sizeof(struct reaction_event),
    .fields = emoji_removed_fields,
    .doc = "All reactions with one emoji were removed from a message.",
};
const struct schema reactions_removed_schema = {
    .name = "ReactionsRemoved",
    .size = sizeof(struct reaction_event),
    .fields = all_removed_fields,
    .doc = "All reactions were removed from a message.",
};

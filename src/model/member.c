/* member.c - JSON schemas of guild members. */
#include "model/fields/types.h"
#include "model/member.h"

const struct type type_nick = { .kind = KIND_STRING,
                                .rule = &rule_visible_name,
                                .flags = TYPE_TRIM,
                                .max = 32,
                                .doc = "Nickname in this guild" };

/* clang-format off */
#define MEMBER_FIELDS                                                                              \
    { FIELD(struct member, user), .type = &type_partial_user, .flags = OPTIONAL },                 \
    { FIELD(struct member, nick), .type = &type_nick, .flags = NULLABLE },                         \
    { FIELD(struct member, avatar), .type = &type_asset_hash, .flags = NULLABLE },                 \
    { FIELD(struct member, banner), .type = &type_asset_hash, .flags = NULLABLE },                 \
    { FIELD(struct member, roles), .type = &type_ids },                                            \
    { FIELD(struct member, joined_at), .type = &type_time },                                       \
    { FIELD(struct member, premium_since), .type = &type_time, .flags = NULLABLE },                \
    { FIELD(struct member, deaf), .type = &type_bool },                                            \
    { FIELD(struct member, mute), .type = &type_bool },                                            \
    { FIELD(struct member, pending), .type = &type_bool },                                         \
    { FIELD(struct member, communication_disabled_until), .type = &type_time, .flags = NULLABLE }, \
    { FIELD(struct member, flags), .type = &type_count },                                          \
    { FIELD(struct member, permissions), .type = &type_permissions, .flags = OPTIONAL }
/* clang-format on */

static const struct field member_fields[] = { MEMBER_FIELDS, { 0 } };
static const struct field guild_member_fields[] = {
    { FIELD(struct member, guild_id), .type = &type_id },
    MEMBER_FIELDS,
    { 0 },
};
const struct schema member_schema = {
    .name = "Member",
    .size = sizeof(struct member),
    .fields = member_fields,
    .doc = "A member of a guild.",
};
const struct schema guild_member_schema = {
    .name = "GuildMember",
    .size = sizeof(struct member),
    .fields = guild_member_fields,
    .doc = "A member of a guild, as sent in events.",
};
const struct type type_member = { .kind = KIND_OBJECT, .schema = &member_schema };
const struct type type_members = { .kind = KIND_ARRAY, .of = &type_member };

int64_t member_restricted_until(const struct member *m)
{
    const struct opt_int *until = &m->communication_disabled_until;

    if (m->pending || m->flags & MEMBER_QUARANTINED)
        return INT64_MAX;
    return until->given == GIVEN ? until->value : 0;
}

/* thread.c - JSON schemas of thread members and their events. */
#include "model/thread.h"

static const struct type type_presence = { .kind = KIND_RAW, .doc = "Presence" };

static const struct field mute_fields[] = {
    { FIELD(struct mute_config, end_time), .type = &type_time, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct mute_config, selected_time_window), .type = &type_int, .flags = OPTIONAL,
      .fallback = -1, .doc = "Seconds; -1: until unmuted" },
    { 0 },
};
static const struct schema mute_config_schema = {
    .name = "MuteConfig",
    .size = sizeof(struct mute_config),
    .fields = mute_fields,
    .doc = "How long a mute lasts.",
};
const struct type type_mute_config = { .kind = KIND_OBJECT, .schema = &mute_config_schema };

static const struct field member_fields[] = {
    { FIELD(struct thread_member, id), .type = &type_id, .flags = OPTIONAL,
      .doc = "Thread id; absent in a guild's list of threads" },
    { FIELD(struct thread_member, user_id), .type = &type_id, .flags = OPTIONAL },
    { FIELD(struct thread_member, join_timestamp), .type = &type_time },
    { FIELD(struct thread_member, flags), .type = &type_count },
    { FIELD(struct thread_member, member), .type = &type_member, .flags = OPTIONAL,
      .doc = "If the request asked for it, and for added members" },
    { FIELD(struct thread_member, presence), .type = &type_presence, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct thread_member, muted), .type = &type_bool, .flags = OPTIONAL,
      .doc = "Only in data for the user itself" },
    { FIELD(struct thread_member, mute_config), .type = &type_mute_config, .flags = OPTIONAL },
    { FIELD(struct thread_member, guild_id), .type = &type_id, .flags = OPTIONAL },
    { 0 },
};
const struct schema thread_member_schema = {
    .name = "ThreadMember",
    .size = sizeof(struct thread_member),
    .fields = member_fields,
    .doc = "A member of a thread.",
};
const struct type type_thread_member = { .kind = KIND_OBJECT, .schema = &thread_member_schema };
const struct type type_thread_members = { .kind = KIND_ARRAY, .of = &type_thread_member };

static const struct field update_fields[] = {
    { FIELD(struct thread_members_update, id), .type = &type_id },
    { FIELD(struct thread_members_update, guild_id), .type = &type_id },
    { FIELD(struct thread_members_update, member_count), .type = &type_count, .doc = "At most 50" },
    { FIELD(struct thread_members_update, added_members), .type = &type_thread_members,
      .flags = OPTIONAL },
    { FIELD(struct thread_members_update, removed_member_ids), .type = &type_ids,
      .flags = OPTIONAL },
    { 0 },
};
const struct schema thread_members_update_schema = {
    .name = "ThreadMembersUpdate",
    .size = sizeof(struct thread_members_update),
    .fields = update_fields,
    .doc = "Members who were added to a thread or removed from it.",
};

static const struct field sync_fields[] = {
    { FIELD(struct thread_list_sync, guild_id), .type = &type_id },
    { FIELD(struct thread_list_sync, channel_ids), .type = &type_ids, .flags = OPTIONAL },
    { FIELD(struct thread_list_sync, threads), .type = &type_channels },
    { FIELD(struct thread_list_sync, members), .type = &type_thread_members },
    { 0 },
};
const struct schema thread_list_sync_schema = {
    .name = "ThreadListSync",
    .size = sizeof(struct thread_list_sync),
    .fields = sync_fields,
    .doc = "Active threads of channels that the receiver can view now.",
};

/* facts.c - what the gateway itself needs to know from a payload. */
#include "gateway/facts.h"

#include "base/log.h"
#include "model/types.h"

struct ref {
    snowflake id;
};
struct role_ref {
    snowflake id;
    uint64_t permissions;
};

/* All that may be of interest, whatever the event. */
struct sight {
    snowflake id, owner_id, user_id, role_id;
    const struct ref *user, *author;
    const struct role_ref *role;
    int64_t type;
    struct opt_id parent_id;
    struct opt_list permission_overwrites;
    struct list roles, mentions;
    struct opt_int communication_disabled_until;
};

static const struct type any_id = { .kind = KIND_ID };
static const struct type any_bits = { .kind = KIND_BITS };
static const struct type any_int = { .kind = KIND_INT };
static const struct type any_time = { .kind = KIND_TIME };
static const struct field ref_fields[] = {
    { FIELD(struct ref, id), .type = &any_id },
    { 0 },
};
static const struct schema ref_schema = { .size = sizeof(struct ref), .fields = ref_fields };
static const struct type any_ref = { .kind = KIND_OBJECT, .schema = &ref_schema };
static const struct field role_fields[] = {
    { FIELD(struct role_ref, id), .type = &any_id },
    { FIELD(struct role_ref, permissions), .type = &any_bits, .flags = OPTIONAL },
    { 0 },
};
static const struct schema role_schema_ = { .size = sizeof(struct role_ref),
                                            .fields = role_fields };
static const struct type any_role = { .kind = KIND_OBJECT, .schema = &role_schema_ };
static const struct field overwrite_fields[] = {
    { FIELD(struct overwrite, id), .type = &any_id },
    { FIELD(struct overwrite, type), .type = &any_int },
    { FIELD(struct overwrite, allow), .type = &any_bits },
    { FIELD(struct overwrite, deny), .type = &any_bits },
    { 0 },
};
static const struct schema overwrite_rows = { .size = sizeof(struct overwrite),
                                              .fields = overwrite_fields };
static const struct type any_overwrite = { .kind = KIND_OBJECT, .schema = &overwrite_rows };
static const struct type any_overwrites = { .kind = KIND_ARRAY, .of = &any_overwrite };
static const struct type any_ids = { .kind = KIND_ARRAY, .of = &any_id };
static const struct type any_refs = { .kind = KIND_ARRAY, .of = &any_ref };

enum { MAYBE = OPTIONAL | NULLABLE };

static const struct field guild_fields[] = {
    { FIELD(struct sight, id), .type = &any_id },
    { FIELD(struct sight, owner_id), .type = &any_id, .flags = OPTIONAL },
    { 0 },
};
static const struct field role_event_fields[] = {
    { FIELD(struct sight, role), .type = &any_role, .flags = OPTIONAL },
    { FIELD(struct sight, role_id), .type = &any_id, .flags = OPTIONAL },
    { 0 },
};
static const struct field channel_fields[] = {
    { FIELD(struct sight, id), .type = &any_id },
    { FIELD(struct sight, type), .type = &any_int, .flags = OPTIONAL },
    { FIELD(struct sight, owner_id), .type = &any_id, .flags = OPTIONAL },
    { FIELD(struct sight, parent_id), .type = &any_id, .flags = MAYBE },
    { FIELD(struct sight, permission_overwrites), .type = &any_overwrites, .flags = MAYBE },
    { 0 },
};
static const struct field member_fields[] = {
    { FIELD(struct sight, user), .type = &any_ref, .flags = OPTIONAL },
    { FIELD(struct sight, user_id), .type = &any_id, .flags = OPTIONAL },
    { FIELD(struct sight, roles), .type = &any_ids, .flags = OPTIONAL },
    { FIELD(struct sight, communication_disabled_until), .type = &any_time, .flags = MAYBE },
    { 0 },
};
static const struct field message_fields[] = {
    { FIELD(struct sight, author), .type = &any_ref, .flags = OPTIONAL },
    { FIELD(struct sight, mentions), .type = &any_refs, .flags = OPTIONAL },
    { 0 },
};

static const struct schema schemas[] = {
    { .size = sizeof(struct sight), .fields = guild_fields },
    { .size = sizeof(struct sight), .fields = role_event_fields },
    { .size = sizeof(struct sight), .fields = channel_fields },
    { .size = sizeof(struct sight), .fields = member_fields },
    { .size = sizeof(struct sight), .fields = message_fields },
};

static const struct schema *schema_of(enum event event)
{
    switch (event) {
    case EVENT_GUILD_CREATE:
    case EVENT_GUILD_UPDATE:
    case EVENT_GUILD_DELETE:
        return &schemas[0];
    case EVENT_GUILD_ROLE_CREATE:
    case EVENT_GUILD_ROLE_UPDATE:
    case EVENT_GUILD_ROLE_DELETE:
        return &schemas[1];
    case EVENT_CHANNEL_CREATE:
    case EVENT_CHANNEL_UPDATE:
    case EVENT_CHANNEL_DELETE:
    case EVENT_THREAD_CREATE:
    case EVENT_THREAD_UPDATE:
    case EVENT_THREAD_DELETE:
        return &schemas[2];
    case EVENT_GUILD_MEMBER_ADD:
    case EVENT_GUILD_MEMBER_UPDATE:
    case EVENT_GUILD_MEMBER_REMOVE:
    case EVENT_PRESENCE_UPDATE:
    case EVENT_VOICE_STATE_UPDATE:
        return &schemas[3];
    case EVENT_MESSAGE_CREATE:
    case EVENT_MESSAGE_UPDATE:
        return &schemas[4];
    default:
        return NULL;
    }
}

static void copy(const struct sight *s, struct facts *f)
{
    f->id = s->id;
    f->owner_id = s->owner_id;
    f->about = s->user ? s->user->id : s->user_id;
    f->role_id = s->role ? s->role->id : s->role_id;
    f->permissions = s->role ? s->role->permissions : 0;
    f->channel.id = s->id;
    f->channel.type = s->type;
    f->channel.owner_id = (struct opt_id){ s->owner_id ? GIVEN : ABSENT, s->owner_id };
    f->channel.parent_id = s->parent_id;
    f->channel.permission_overwrites = s->permission_overwrites;
    f->member.roles = s->roles;
    f->member.communication_disabled_until = s->communication_disabled_until;
    f->author = s->author ? s->author->id : 0;
    f->mentioned = s->mentions;
}

bool facts_read(enum event event, struct str payload, struct arena *arena, struct facts *ret)
{
    const struct schema *schema = schema_of(event);
    struct type type = { .kind = KIND_OBJECT, .schema = schema };
    struct form form = { .arena = arena };
    void *sight;

    memset(ret, 0, sizeof *ret);
    if (!schema)
        return true;
    if (schema_decode(&type, payload, &form, &sight)) {
        log_warn("gateway: a payload of %s is not what such an event holds", event_name(event));
        return false;
    }
    copy(sight, ret);
    return true;
}

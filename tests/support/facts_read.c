/* facts_read.c - reads the routing fields of an event from its JSON payload. The server takes
 * these fields from structs; this independent implementation lets tests compare both. */
#include "facts_read.h"

#include <string.h>

#include "model/member.h"
#include "model/fields/types.h"

struct ref {
    snowflake id;
};
struct role_ref {
    snowflake id;
    uint64_t permissions;
};

/* The payload fields that the check needs of any event. */
struct said {
    snowflake id, owner_id, user_id, role_id, application_id;
    const struct ref *user, *author;
    const struct role_ref *role;
    int64_t type;
    struct opt_list permission_overwrites;
    struct list roles, mentions, added_members, removed_member_ids;
    struct opt_int communication_disabled_until;
    int64_t flags;
    bool pending;
};

static const struct type any_id = { .kind = KIND_ID };
static const struct type any_bits = { .kind = KIND_BITS };
static const struct type any_int = { .kind = KIND_INT };
static const struct type any_bool = { .kind = KIND_BOOL };
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
static const struct schema role_rows = { .size = sizeof(struct role_ref), .fields = role_fields };
static const struct type any_role = { .kind = KIND_OBJECT, .schema = &role_rows };
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
static const struct field thread_member_fields[] = {
    { FIELD_AS(struct ref, id, "user_id"), .type = &any_id },
    { 0 },
};
static const struct schema thread_member_rows = { .size = sizeof(struct ref),
                                                  .fields = thread_member_fields };
static const struct type any_thread_member = { .kind = KIND_OBJECT, .schema = &thread_member_rows };
static const struct type any_thread_members = { .kind = KIND_ARRAY, .of = &any_thread_member };

enum { MAYBE = OPTIONAL | NULLABLE };

static const struct field guild_fields[] = {
    { FIELD(struct said, id), .type = &any_id },
    { FIELD(struct said, owner_id), .type = &any_id, .flags = OPTIONAL },
    { 0 },
};
static const struct field role_event_fields[] = {
    { FIELD(struct said, role), .type = &any_role, .flags = OPTIONAL },
    { FIELD(struct said, role_id), .type = &any_id, .flags = OPTIONAL },
    { 0 },
};
static const struct field channel_fields[] = {
    { FIELD(struct said, id), .type = &any_id },
    { FIELD(struct said, type), .type = &any_int, .flags = OPTIONAL },
    { FIELD(struct said, permission_overwrites), .type = &any_overwrites, .flags = MAYBE },
    { 0 },
};
static const struct field member_fields[] = {
    { FIELD(struct said, user), .type = &any_ref, .flags = OPTIONAL },
    { FIELD(struct said, user_id), .type = &any_id, .flags = OPTIONAL },
    { FIELD(struct said, roles), .type = &any_ids, .flags = OPTIONAL },
    { FIELD(struct said, communication_disabled_until), .type = &any_time, .flags = MAYBE },
    { FIELD(struct said, flags), .type = &any_int, .flags = OPTIONAL },
    { FIELD(struct said, pending), .type = &any_bool, .flags = OPTIONAL },
    { 0 },
};
static const struct field message_fields[] = {
    { FIELD(struct said, author), .type = &any_ref, .flags = OPTIONAL },
    { FIELD(struct said, application_id), .type = &any_id, .flags = OPTIONAL },
    { FIELD(struct said, mentions), .type = &any_refs, .flags = OPTIONAL },
    { 0 },
};

static const struct field people_fields[] = {
    { FIELD(struct said, added_members), .type = &any_thread_members, .flags = OPTIONAL },
    { FIELD(struct said, removed_member_ids), .type = &any_ids, .flags = OPTIONAL },
    { 0 },
};

static const struct schema schemas[] = {
    [ROUTING_GUILD] = { .size = sizeof(struct said), .fields = guild_fields },
    [ROUTING_ROLE] = { .size = sizeof(struct said), .fields = role_event_fields },
    [ROUTING_CHANNEL] = { .size = sizeof(struct said), .fields = channel_fields },
    [ROUTING_MEMBER] = { .size = sizeof(struct said), .fields = member_fields },
    [ROUTING_MESSAGE] = { .size = sizeof(struct said), .fields = message_fields },
    [ROUTING_USERS] = { .size = sizeof(struct said), .fields = people_fields },
};

/* Fills the header and returns the items. */
static struct list fill_routing_fields(const struct said *s, struct event_routing *f)
{
    switch ((enum event_routing_kind)f->kind) {
    case ROUTING_GUILD:
        f->guild.id = s->id;
        f->guild.owner_id = s->owner_id;
        break;
    case ROUTING_ROLE:
        f->role.id = s->role ? s->role->id : s->role_id;
        f->role.permissions = s->role ? s->role->permissions : 0;
        break;
    case ROUTING_CHANNEL:
        f->channel.id = s->id;
        f->channel.type = s->type;
        return s->permission_overwrites.value;
    case ROUTING_MEMBER:
        f->member.user_id = s->user ? s->user->id : s->user_id;
        f->member.restrained_until = s->pending || s->flags & MEMBER_QUARANTINED
                                         ? INT64_MAX
                                         : s->communication_disabled_until.value;
        return s->roles;
    case ROUTING_MESSAGE:
        f->message.author_id = s->author ? s->author->id : 0;
        f->message.application_id = s->application_id;
        return s->mentions; /* struct ref has the layout of an id */
    case ROUTING_USERS:
        return s->added_members.count ? s->added_members : s->removed_member_ids;
    case ROUTING_NONE:
        break;
    }
    return (struct list){ 0 };
}

const struct event_routing *facts_read(enum event event, struct str payload, struct arena *arena)
{
    struct event_routing head = { .kind = event_routing_kind(event) };
    struct type type = { .kind = KIND_OBJECT, .schema = &schemas[head.kind] };
    struct form form = { .arena = arena };
    void *said;

    if (!head.kind || schema_decode(&type, payload, &form, &said))
        return NULL;
    struct list items = fill_routing_fields(said, &head);
    head.count = (uint32_t)items.count;
    struct event_routing *f = arena_alloc(arena, event_routing_size(&head));
    *f = head;
    if (items.count)
        memcpy(f + 1, items.items, event_routing_size(f) - sizeof *f);
    return f;
}

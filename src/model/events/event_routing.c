/* event_routing.c - extracts the routing fields of an event from its struct. */
#include "model/events/event_routing.h"

#include <assert.h>
#include <string.h>

#include "model/guild.h"
#include "model/message.h"
#include "model/presence.h"
#include "model/thread.h"
#include "model/voice_state.h"

/* --- functions that extract routing fields: one per kind of event ------------------------ */

static const struct list *extract_guild(const void *object, struct event_routing *f)
{
    const struct guild *g = object;

    f->guild.id = g->id;
    f->guild.owner_id = g->owner_id;
    return NULL;
}

static const struct list *extract_deleted_guild(const void *object, struct event_routing *f)
{
    f->guild.id = ((const struct guild_delete_event *)object)->id;
    return NULL;
}

static const struct list *extract_role(const void *object, struct event_routing *f)
{
    const struct role *r = ((const struct guild_role_event *)object)->role;

    f->role.id = r->id;
    f->role.permissions = r->permissions;
    return NULL;
}

static const struct list *extract_deleted_role(const void *object, struct event_routing *f)
{
    f->role.id = ((const struct guild_role_delete_event *)object)->role_id;
    return NULL;
}

static const struct list *extract_channel(const void *object, struct event_routing *f)
{
    const struct channel *c = object;

    f->channel.id = c->id;
    f->channel.type = c->type;
    return c->permission_overwrites.given == GIVEN ? &c->permission_overwrites.value : NULL;
}

static const struct list *extract_member(const void *object, struct event_routing *f)
{
    const struct member *m = object;

    f->member.user_id = m->user_id;
    f->member.restrained_until = member_restricted_until(m);
    return &m->roles;
}

static const struct list *extract_removed_member(const void *object, struct event_routing *f)
{
    f->member.user_id = ((const struct guild_user_event *)object)->user->id;
    return NULL;
}

static const struct list *extract_presence(const void *object, struct event_routing *f)
{
    f->member.user_id = ((const struct presence *)object)->user->id;
    return NULL;
}

static const struct list *extract_voice_state(const void *object, struct event_routing *f)
{
    f->member.user_id = ((const struct voice_state *)object)->user_id;
    return NULL;
}

static const struct list *extract_message(const void *object, struct event_routing *f)
{
    const struct message *m = object;

    f->message.author_id = m->author ? m->author->id : 0;
    f->message.application_id = m->application_id.value;
    return &m->mentions;
}

static const struct list *extract_affected_users(const void *object, struct event_routing *f)
{
    (void)f;
    return &((const struct thread_members_update *)object)->affected_user_ids;
}

/* Schema of each event, and the function that extracts its routing fields. */
static const struct event_routing_row {
    enum event_routing_kind kind;
    const struct schema *schema;
    const struct list *(*extract)(const void *object, struct event_routing *f);
} rows[EVENT_COUNT] = {
    [EVENT_GUILD_CREATE] = { ROUTING_GUILD, &gateway_guild_schema, extract_guild },
    [EVENT_GUILD_UPDATE] = { ROUTING_GUILD, &guild_schema, extract_guild },
    [EVENT_GUILD_DELETE] = { ROUTING_GUILD, &guild_delete_event_schema, extract_deleted_guild },
    [EVENT_GUILD_ROLE_CREATE] = { ROUTING_ROLE, &guild_role_event_schema, extract_role },
    [EVENT_GUILD_ROLE_UPDATE] = { ROUTING_ROLE, &guild_role_event_schema, extract_role },
    [EVENT_GUILD_ROLE_DELETE] = { ROUTING_ROLE, &guild_role_delete_event_schema,
                                  extract_deleted_role },
    [EVENT_CHANNEL_CREATE] = { ROUTING_CHANNEL, &channel_schema, extract_channel },
    [EVENT_CHANNEL_UPDATE] = { ROUTING_CHANNEL, &channel_schema, extract_channel },
    [EVENT_CHANNEL_DELETE] = { ROUTING_CHANNEL, &channel_schema, extract_channel },
    [EVENT_GUILD_MEMBER_ADD] = { ROUTING_MEMBER, &guild_member_schema, extract_member },
    [EVENT_GUILD_MEMBER_UPDATE] = { ROUTING_MEMBER, &guild_member_schema, extract_member },
    [EVENT_GUILD_MEMBER_REMOVE] = { ROUTING_MEMBER, &guild_user_event_schema,
                                    extract_removed_member },
    [EVENT_PRESENCE_UPDATE] = { ROUTING_MEMBER, &presence_schema, extract_presence },
    [EVENT_VOICE_STATE_UPDATE] = { ROUTING_MEMBER, &voice_state_schema, extract_voice_state },
    [EVENT_MESSAGE_CREATE] = { ROUTING_MESSAGE, &gateway_message_schema, extract_message },
    [EVENT_MESSAGE_UPDATE] = { ROUTING_MESSAGE, &gateway_message_schema, extract_message },
    [EVENT_THREAD_MEMBERS_UPDATE] = { ROUTING_USERS, &thread_members_update_schema,
                                      extract_affected_users },
};

enum event_routing_kind event_routing_kind(enum event event)
{
    return rows[event].kind;
}

static size_t get_routing_list_item_size(const struct event_routing *f)
{
    return f->kind == ROUTING_CHANNEL ? sizeof(struct overwrite) : sizeof(snowflake);
}

size_t event_routing_size(const struct event_routing *f)
{
    return sizeof *f + f->count * get_routing_list_item_size(f);
}

/* Copies the first struct field of each list item, for example the id of a mentioned user. */
static void copy_routing_list_items(struct event_routing *f, const struct list *list)
{
    size_t size = get_routing_list_item_size(f),
           step = f->kind == ROUTING_MESSAGE ? sizeof(struct mentioned_user) : size;
    const char *from = list->items;
    char *to = (char *)(f + 1);

    for (uint32_t i = 0; i < f->count; i++, from += step, to += size)
        memcpy(to, from, size);
}

const struct event_routing *event_routing_extract(enum event event, const struct schema *schema,
                                                  const void *object, struct arena *arena)
{
    const struct event_routing_row *row = &rows[event];
    struct event_routing head = { .kind = row->kind };

    if (!row->extract)
        return NULL;
    assert(schema == row->schema);
    const struct list *items = row->extract(object, &head);
    head.count = items ? (uint32_t)items->count : 0;
    struct event_routing *f = arena_alloc(arena, event_routing_size(&head));
    *f = head;
    if (f->count)
        copy_routing_list_items(f, items);
    return f;
}

/* facts.c - extracts the routing fields of an event from its struct. */
#include "model/events/facts.h"

#include <assert.h>
#include <string.h>

#include "model/guild.h"
#include "model/message.h"
#include "model/presence.h"
#include "model/thread.h"
#include "model/voice_state.h"

/* --- one function per kind: fills the struct, returns the items -------------------------- */

static const struct list *take_guild(const void *object, struct facts *f)
{
    const struct guild *g = object;

    f->guild.id = g->id;
    f->guild.owner_id = g->owner_id;
    return NULL;
}

static const struct list *take_guild_ref(const void *object, struct facts *f)
{
    f->guild.id = ((const struct guild_ref *)object)->id;
    return NULL;
}

static const struct list *take_role(const void *object, struct facts *f)
{
    const struct role *r = ((const struct guild_role_event *)object)->role;

    f->role.id = r->id;
    f->role.permissions = r->permissions;
    return NULL;
}

static const struct list *take_role_gone(const void *object, struct facts *f)
{
    f->role.id = ((const struct guild_role_gone *)object)->role_id;
    return NULL;
}

static const struct list *take_channel(const void *object, struct facts *f)
{
    const struct channel *c = object;

    f->channel.id = c->id;
    f->channel.type = c->type;
    return c->permission_overwrites.given == GIVEN ? &c->permission_overwrites.value : NULL;
}

static const struct list *take_member(const void *object, struct facts *f)
{
    const struct member *m = object;

    f->member.user_id = m->user_id;
    f->member.restrained_until = member_restrained_until(m);
    return &m->roles;
}

static const struct list *take_member_gone(const void *object, struct facts *f)
{
    f->member.user_id = ((const struct guild_user_event *)object)->user->id;
    return NULL;
}

static const struct list *take_presence(const void *object, struct facts *f)
{
    f->member.user_id = ((const struct presence *)object)->user->id;
    return NULL;
}

static const struct list *take_voice_state(const void *object, struct facts *f)
{
    f->member.user_id = ((const struct voice_state *)object)->user_id;
    return NULL;
}

static const struct list *take_message(const void *object, struct facts *f)
{
    const struct message *m = object;

    f->message.author_id = m->author ? m->author->id : 0;
    f->message.application_id = m->application_id.value;
    return &m->mentions;
}

static const struct list *take_people(const void *object, struct facts *f)
{
    (void)f;
    return &((const struct thread_members_update *)object)->concerned;
}

/* Schema of each event, and the function that extracts its routing fields. */
static const struct facts_row {
    enum facts_kind kind;
    const struct schema *schema;
    const struct list *(*take)(const void *object, struct facts *f);
} rows[EVENT_COUNT] = {
    [EVENT_GUILD_CREATE] = { FACTS_GUILD, &gateway_guild_schema, take_guild },
    [EVENT_GUILD_UPDATE] = { FACTS_GUILD, &guild_schema, take_guild },
    [EVENT_GUILD_DELETE] = { FACTS_GUILD, &guild_ref_schema, take_guild_ref },
    [EVENT_GUILD_ROLE_CREATE] = { FACTS_ROLE, &guild_role_event_schema, take_role },
    [EVENT_GUILD_ROLE_UPDATE] = { FACTS_ROLE, &guild_role_event_schema, take_role },
    [EVENT_GUILD_ROLE_DELETE] = { FACTS_ROLE, &guild_role_gone_schema, take_role_gone },
    [EVENT_CHANNEL_CREATE] = { FACTS_CHANNEL, &channel_schema, take_channel },
    [EVENT_CHANNEL_UPDATE] = { FACTS_CHANNEL, &channel_schema, take_channel },
    [EVENT_CHANNEL_DELETE] = { FACTS_CHANNEL, &channel_schema, take_channel },
    [EVENT_GUILD_MEMBER_ADD] = { FACTS_MEMBER, &guild_member_schema, take_member },
    [EVENT_GUILD_MEMBER_UPDATE] = { FACTS_MEMBER, &guild_member_schema, take_member },
    [EVENT_GUILD_MEMBER_REMOVE] = { FACTS_MEMBER, &guild_user_event_schema, take_member_gone },
    [EVENT_PRESENCE_UPDATE] = { FACTS_MEMBER, &presence_schema, take_presence },
    [EVENT_VOICE_STATE_UPDATE] = { FACTS_MEMBER, &voice_state_schema, take_voice_state },
    [EVENT_MESSAGE_CREATE] = { FACTS_MESSAGE, &gateway_message_schema, take_message },
    [EVENT_MESSAGE_UPDATE] = { FACTS_MESSAGE, &gateway_message_schema, take_message },
    [EVENT_THREAD_MEMBERS_UPDATE] = { FACTS_PEOPLE, &thread_members_update_schema, take_people },
};

enum facts_kind facts_kind(enum event event)
{
    return rows[event].kind;
}

static size_t item_size(const struct facts *f)
{
    return f->kind == FACTS_CHANNEL ? sizeof(struct overwrite) : sizeof(snowflake);
}

size_t facts_size(const struct facts *f)
{
    return sizeof *f + f->count * item_size(f);
}

/* Copies the first member of each list element, which is the item. */
static void copy_items(struct facts *f, const struct list *list)
{
    size_t size = item_size(f), step = f->kind == FACTS_MESSAGE ? sizeof(struct mention) : size;
    const char *from = list->items;
    char *to = (char *)(f + 1);

    for (uint32_t i = 0; i < f->count; i++, from += step, to += size)
        memcpy(to, from, size);
}

const struct facts *facts_of(enum event event, const struct schema *schema, const void *object,
                             struct arena *arena)
{
    const struct facts_row *row = &rows[event];
    struct facts head = { .kind = row->kind };

    if (!row->take)
        return NULL;
    assert(schema == row->schema);
    const struct list *items = row->take(object, &head);
    head.count = items ? (uint32_t)items->count : 0;
    struct facts *f = arena_alloc(arena, facts_size(&head));
    *f = head;
    if (f->count)
        copy_items(f, items);
    return f;
}

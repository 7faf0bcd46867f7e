/* written.c - encodes members and relationships as JSON once, for all sessions that get them. */
#include "gateway/capabilities.h"

#include "gateway/wire/protocol.h"
#include "model/relationship.h"

static bool stands_apart(const void *arg, struct str name)
{
    (void)arg;
    return !str_is(name, "user");
}

static struct written_person write_person(struct arena *arena, struct buf *out,
                                          const struct schema *schema, const void *object,
                                          const struct user *user)
{
    struct written_person p = { .id = user->id };
    struct json j = json_to(out);

    buf_reset(out);
    json_object(&j);
    schema_encode_some(&j, schema, object, stands_apart, NULL);
    json_name(&j, "user_id");
    json_id(&j, user->id);
    json_object_end(&j);
    p.object = str_dup(arena, buf_str(out));
    buf_reset(out);
    j = json_to(out);
    schema_encode_object(&j, &partial_user_schema, user);
    p.user = str_dup(arena, buf_str(out));
    return p;
}

/* Schemas of a list of members or relationships, and the user of an item. */
struct people_kind {
    const struct type *list;
    const struct schema *item;
    const struct user *(*user_of)(const void *item);
};

static struct written_people write_each(struct arena *arena, const struct people_kind *kind,
                                        const struct list *list)
{
    struct written_people all = { .count = list->count };
    const char *item = list->items;
    struct buf out;

    all.each = arena_array(arena, struct written_person, all.count + 1);
    buf_init(&out, MAX_PAYLOAD);
    for (size_t i = 0; i < all.count; i++, item += kind->item->size)
        all.each[i] = write_person(arena, &out, kind->item, item, kind->user_of(item));
    buf_clear(&out);
    return all;
}

static struct written_people write_together(struct arena *arena, const struct people_kind *kind,
                                            const struct list *list)
{
    struct written_people all = { .count = list->count };
    const char *item = list->items;
    struct buf out;
    struct json j = json_to(&out);

    all.each = arena_array(arena, struct written_person, all.count + 1);
    for (size_t i = 0; i < all.count; i++, item += kind->item->size)
        all.each[i].id = kind->user_of(item)->id;
    buf_init(&out, MAX_PAYLOAD);
    schema_encode(&j, kind->list, list);
    all.list = buf_take(&out, arena);
    return all;
}

static const struct user *user_of_member(const void *item)
{
    return ((const struct member *)item)->user;
}

static const struct user *user_of_relationship(const void *item)
{
    return ((const struct relationship *)item)->user;
}

struct written_people members_write(struct arena *arena, const struct list *members, bool refers)
{
    static const struct people_kind kind = { &type_members, &member_schema, user_of_member };

    return (refers ? write_each : write_together)(arena, &kind, members);
}

struct written_people relationships_write(struct arena *arena, const struct list *relationships,
                                          bool refers)
{
    static const struct people_kind kind = { &type_relationships, &relationship_schema,
                                             user_of_relationship };

    return (refers ? write_each : write_together)(arena, &kind, relationships);
}

static struct str text_copy(struct arena *arena, struct str text)
{
    return text.n ? str_dup(arena, text) : text;
}

struct written_people *people_copy(struct arena *arena, const struct written_people *people)
{
    struct written_people *own = arena_alloc(arena, sizeof *own);

    own->list = text_copy(arena, people->list);
    own->count = people->count;
    own->each = arena_array(arena, struct written_person, people->count + 1);
    for (size_t i = 0; i < people->count; i++)
        own->each[i] =
            (struct written_person){ people->each[i].id, text_copy(arena, people->each[i].object),
                                     text_copy(arena, people->each[i].user) };
    return own;
}

/* encoded_users.c - encodes members and relationships as JSON once, for all their receivers. */
#include "gateway/capabilities.h"

#include "gateway/wire/protocol.h"
#include "model/relationship.h"

static struct encoded_member encode_user_object(struct arena *arena, struct buf *out,
                                                const struct schema *schema, const void *object,
                                                const struct user *user)
{
    struct encoded_member p = { .id = user->id };
    struct json_writer j = json_writer_to_buf(out);

    buf_reset(out);
    json_begin_object(&j);
    schema_encode_fields(&j, schema, object, field_is_not_user, NULL);
    json_write_name(&j, "user_id");
    json_write_id(&j, user->id);
    json_end_object(&j);
    p.object = str_dup(arena, buf_as_str(out));
    buf_reset(out);
    j = json_writer_to_buf(out);
    schema_encode_object(&j, &partial_user_schema, user);
    p.user = str_dup(arena, buf_as_str(out));
    return p;
}

/* Describes a list of members or relationships: its schemas, how to find an element's user. */
struct user_list_kind {
    const struct type *list;
    const struct schema *item;
    const struct user *(*user_of)(const void *item);
};

static struct encoded_members encode_users_separately(struct arena *arena,
                                                      const struct user_list_kind *kind,
                                                      const struct list *list)
{
    struct encoded_members all = { .count = list->count };
    const char *item = list->items;
    struct buf out;

    all.each = arena_array(arena, struct encoded_member, all.count + 1);
    buf_init(&out, MAX_PAYLOAD);
    for (size_t i = 0; i < all.count; i++, item += kind->item->size)
        all.each[i] = encode_user_object(arena, &out, kind->item, item, kind->user_of(item));
    buf_clear(&out);
    return all;
}

static struct encoded_members encode_users_as_list(struct arena *arena,
                                                   const struct user_list_kind *kind,
                                                   const struct list *list)
{
    struct encoded_members all = { .count = list->count };
    const char *item = list->items;
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    all.each = arena_array(arena, struct encoded_member, all.count + 1);
    for (size_t i = 0; i < all.count; i++, item += kind->item->size)
        all.each[i].id = kind->user_of(item)->id;
    buf_init(&out, MAX_PAYLOAD);
    schema_encode(&j, kind->list, list);
    all.list = buf_move_to_arena(&out, arena);
    return all;
}

static const struct user *user_from_member(const void *item)
{
    return ((const struct member *)item)->user;
}

static const struct user *user_from_relationship(const void *item)
{
    return ((const struct relationship *)item)->user;
}

struct encoded_members encode_guild_members_json(struct arena *arena, const struct list *members,
                                                 bool refers)
{
    static const struct user_list_kind kind = { &type_members, &member_schema, user_from_member };

    return (refers ? encode_users_separately : encode_users_as_list)(arena, &kind, members);
}

struct encoded_members encode_relationships_json(struct arena *arena,
                                                 const struct list *relationships, bool refers)
{
    static const struct user_list_kind kind = { &type_relationships, &relationship_schema,
                                                user_from_relationship };

    return (refers ? encode_users_separately : encode_users_as_list)(arena, &kind, relationships);
}

static struct str copy_text_to_arena(struct arena *arena, struct str text)
{
    return text.n ? str_dup(arena, text) : text;
}

struct encoded_members *copy_encoded_guild_members(struct arena *arena,
                                                   const struct encoded_members *people)
{
    struct encoded_members *own = arena_alloc(arena, sizeof *own);

    own->list = copy_text_to_arena(arena, people->list);
    own->count = people->count;
    own->each = arena_array(arena, struct encoded_member, people->count + 1);
    for (size_t i = 0; i < people->count; i++)
        own->each[i] = (struct encoded_member){ people->each[i].id,
                                                copy_text_to_arena(arena, people->each[i].object),
                                                copy_text_to_arena(arena, people->each[i].user) };
    return own;
}

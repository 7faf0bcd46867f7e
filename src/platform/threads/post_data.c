/* post_data.c - POST …/post-data: replies with authors and first messages of several forum
 * posts. */
#include "platform/threads/internal.h"

#include "platform/accounts/users.h"

enum { MOST_POSTS = 25 };

struct post_data_body {
    struct list thread_ids; /* snowflakes */
};
struct post_data {
    const struct member *owner;
    const struct message *first_message;
};
struct post_data_item {
    struct str key;
    struct post_data data;
};
struct post_data_reply {
    struct list threads; /* struct post_data_item */
};

static const struct type type_posts = { .kind = KIND_ARRAY, .max = MOST_POSTS, .of = &type_id };
static const struct field body_fields[] = {
    { FIELD(struct post_data_body, thread_ids), .type = &type_posts },
    { 0 },
};
static const struct schema post_data_body_schema = {
    .name = "PostDataRequest",
    .size = sizeof(struct post_data_body),
    .fields = body_fields,
    .doc = "Posts of a forum.",
};
const struct type post_data_body = { .kind = KIND_OBJECT, .schema = &post_data_body_schema };

static const struct field post_data_fields[] = {
    { FIELD(struct post_data, owner), .type = &type_member, .flags = NULLABLE },
    { FIELD(struct post_data, first_message), .type = &type_message, .flags = NULLABLE },
    { 0 },
};
static const struct schema post_data_schema = {
    .name = "PostData",
    .size = sizeof(struct post_data),
    .fields = post_data_fields,
    .doc = "Author and first message of a post; null if deleted.",
};
static const struct type type_post_data = { .kind = KIND_OBJECT, .schema = &post_data_schema };
static const struct type type_posts_data = { .kind = KIND_MAP, .of = &type_post_data };
static const struct field reply_fields[] = {
    { FIELD(struct post_data_reply, threads), .type = &type_posts_data },
    { 0 },
};
static const struct schema post_data_reply_schema = {
    .name = "PostsData",
    .size = sizeof(struct post_data_reply),
    .fields = reply_fields,
    .doc = "Authors and first messages of posts, by thread id.",
};
const struct type post_data_reply = { .kind = KIND_OBJECT, .schema = &post_data_reply_schema };

static enum err read_post_owner(struct call *call, const struct channel *post,
                                struct post_data *ret)
{
    struct member *owner = arena_alloc(call->arena, sizeof *owner);
    struct user *user = arena_alloc(call->arena, sizeof *user);
    enum err e = member_find(call->tx, post->guild_id.value, post->owner_id.value, owner);

    if (!e)
        e = user_find_partial(call->tx, post->owner_id.value, user);
    owner->user = user;
    ret->owner = e ? NULL : owner;
    return e == ERR_UNKNOWN_MEMBER ? OK : e;
}

static enum err read_first_message_of_post(struct call *call, const struct channel *post,
                                           struct post_data *ret)
{
    struct message *first = arena_alloc(call->arena, sizeof *first);
    enum err e = message_find(call, post->id, post->id, first);

    ret->first_message = e ? NULL : first;
    return e == ERR_UNKNOWN_MESSAGE ? OK : e;
}

static bool id_occurs_earlier_in_list(const snowflake *ids, size_t at)
{
    for (size_t i = 0; i < at; i++)
        if (ids[i] == ids[at])
            return true;
    return false;
}

/* Adds the data of a forum post to the reply. Skips threads that are deleted or belong to another
 * channel. */
static enum err append_data_of_forum_post(struct call *call, snowflake id,
                                          struct post_data_reply *out)
{
    struct channel *post = arena_alloc(call->arena, sizeof *post);
    enum err e = channel_find(call->tx, id, post);

    if (e)
        return e == ERR_UNKNOWN_CHANNEL ? OK : e;
    if (!channel_is_thread(post->type) || post->parent_id.value != call->target.channel->id)
        return OK;
    struct post_data_item *item = list_append(call->arena, &out->threads, sizeof *item);
    item->key = str_printf(call->arena, "%llu", (unsigned long long)id);
    e = read_post_owner(call, post, &item->data);
    return e ? e : read_first_message_of_post(call, post, &item->data);
}

/* POST /channels/{channel.id}/post-data */
enum err get_post_data(struct call *call)
{
    const struct post_data_body *in = call->body;
    const snowflake *ids = in->thread_ids.items;
    struct post_data_reply out = { 0 };
    enum err e = OK;

    if (!channel_is_forum_or_media(call->target.channel->type))
        return ERR_CHANNEL_TYPE;
    if (!(call->target.permissions & PERMISSION(READ_MESSAGE_HISTORY)))
        return call_get_missing_permissions_error(call, PERMISSION(READ_MESSAGE_HISTORY));
    for (size_t i = 0; !e && i < in->thread_ids.count; i++)
        e = id_occurs_earlier_in_list(ids, i) ? OK : append_data_of_forum_post(call, ids[i], &out);
    return e ? e : call_reply_with_object(call, &out);
}

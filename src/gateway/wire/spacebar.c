/* spacebar.c - form of events for clients that found the gateway by Spacebar's discovery. */
#include "gateway/wire/spacebar.h"

#include <string.h>

#include "json/read.h"
#include "json/write.h"

/* Fields of a JSON object that show whether it is a guild member. */
struct object_parts {
    struct str user, author, guild_id;
    bool has_id, has_joined_at;
};

/* State while a payload is copied. */
struct spacebar_copy {
    struct arena *arena;
    struct json_writer json;
    struct str guild_id; /* the guild of the payload, as JSON; empty outside of guilds */
};

static bool find_object_parts(const struct spacebar_copy *c, struct str object,
                              struct object_parts *ret)
{
    struct json_reader r;
    struct str key, value;

    *ret = (struct object_parts){ 0 };
    json_reader_init(&r, object, c->arena);
    json_enter_container(&r);
    while (json_next_member(&r, &key)) {
        if (!json_skip_value(&r, &value))
            return false;
        if (str_is(key, "user"))
            ret->user = value;
        else if (str_is(key, "author"))
            ret->author = value;
        else if (str_is(key, "guild_id"))
            ret->guild_id = value;
        ret->has_id = ret->has_id || str_is(key, "id");
        ret->has_joined_at = ret->has_joined_at || str_is(key, "joined_at");
    }
    return json_reader_has_no_error(&r);
}

/* Returns the id of a user object as JSON; empty if the value is not an object with an id. */
static struct str id_of_user(const struct spacebar_copy *c, struct str user)
{
    struct json_reader r;
    struct str key, value;

    json_reader_init(&r, user, c->arena);
    if (json_peek_kind(&r) != JSON_OBJECT)
        return STR("");
    json_enter_container(&r);
    while (json_next_member(&r, &key) && json_skip_value(&r, &value))
        if (str_is(key, "id"))
            return value;
    return STR("");
}

static void write_member_ids(struct spacebar_copy *c, const struct object_parts *parts,
                             struct str author)
{
    struct str id = id_of_user(c, parts->user.n ? parts->user : author);

    if (!id.n)
        return;
    json_write_name(&c->json, "id");
    json_write_raw(&c->json, id);
    if (!parts->guild_id.n && c->guild_id.n) {
        json_write_name(&c->json, "guild_id");
        json_write_raw(&c->json, c->guild_id);
    }
    if (!parts->user.n) {
        json_write_name(&c->json, "user");
        json_write_raw(&c->json, author);
    }
}

/* The id of @everyone is that of the guild. */
static void write_roles_with_everyone(struct spacebar_copy *c, struct str roles)
{
    struct json_reader r;
    struct str role;

    json_begin_array(&c->json);
    json_write_raw(&c->json, c->guild_id);
    json_reader_init(&r, roles, c->arena);
    json_enter_container(&r);
    while (json_next_item(&r) && json_skip_value(&r, &role))
        json_write_raw(&c->json, role);
    json_end_array(&c->json);
}

/* `author` is the author of the message whose member this value is, else empty. */
static bool copy_value(struct spacebar_copy *c, struct str value, struct str author);

static bool copy_object(struct spacebar_copy *c, struct str object, struct str author)
{
    struct object_parts parts;
    struct json_reader r;
    struct str key, value;

    if (!find_object_parts(c, object, &parts))
        return false;
    bool is_member = parts.has_joined_at && !parts.has_id && (parts.user.n || author.n);
    json_begin_object(&c->json);
    if (is_member)
        write_member_ids(c, &parts, author);
    json_reader_init(&r, object, c->arena);
    json_enter_container(&r);
    while (json_next_member(&r, &key)) {
        if (!json_skip_value(&r, &value))
            return false;
        json_write_escaped_key(&c->json, key);
        if (is_member && c->guild_id.n && str_is(key, "roles"))
            write_roles_with_everyone(c, value);
        else if (!copy_value(c, value, str_is(key, "member") ? parts.author : STR("")))
            return false;
    }
    json_end_object(&c->json);
    return true;
}

static bool copy_array(struct spacebar_copy *c, struct str array)
{
    struct json_reader r;
    struct str value;

    json_reader_init(&r, array, c->arena);
    json_enter_container(&r);
    json_begin_array(&c->json);
    while (json_next_item(&r))
        if (!json_skip_value(&r, &value) || !copy_value(c, value, STR("")))
            return false;
    json_end_array(&c->json);
    return true;
}

static bool copy_value(struct spacebar_copy *c, struct str value, struct str author)
{
    if (value.n && value.p[0] == '{')
        return copy_object(c, value, author);
    if (value.n && value.p[0] == '[')
        return copy_array(c, value);
    json_write_raw(&c->json, value);
    return true;
}

void encode_json_for_spacebar(struct str json, struct arena *arena, struct buf *out)
{
    struct spacebar_copy c = { .arena = arena, .json = json_writer_to_buf(out) };
    struct object_parts parts;
    size_t before = out->n;

    if (memmem(json.p, json.n, "\"joined_at\"", 11) && find_object_parts(&c, json, &parts)) {
        c.guild_id = parts.guild_id;
        if (copy_object(&c, json, STR("")))
            return;
    }
    out->n = before;
    buf_add_str(out, json);
}

/* world_users.c - writes placeholder accounts for the people to whom entries of world files
 * refer. */
#include "tools/copy/convert/world_members.h"

#include <ctype.h>
#include <inttypes.h>

/* Returns a username that the rules here accept: names of bots may have other characters. */
static struct str create_username_from_name(struct arena *arena, struct str name, snowflake id)
{
    char *out = arena_alloc(arena, 64);
    size_t n = 0;

    for (size_t i = 0; i < name.n && n < 32; i++) {
        unsigned char ch = (unsigned char)name.p[i];
        bool plain = isascii(ch) && (isalnum(ch) || ch == '_' || ch == '.');

        if (plain && !(ch == '.' && n && out[n - 1] == '.'))
            out[n++] = (char)tolower(ch);
        else if (!plain && (!n || out[n - 1] != '_'))
            out[n++] = '_';
    }
    if (n < 2)
        return str_printf(arena, "user_%" PRIu64, id);
    return str_slice(out, n);
}

static void write_world_user(struct guild_copy_conversion *c, struct arena *arena, struct str user,
                             snowflake id)
{
    static const struct json_member_renaming names[] = { { "bot", NULL },
                                                         { "public_flags", NULL },
                                                         { 0 } };
    struct str name = json_member_get_text(arena, user, "username"),
               made = create_username_from_name(arena, name, id);
    struct json_writer j = json_writer_to_buf(&c->users.text);

    json_begin_object(&j);
    json_write_name(&j, "id");
    json_write_id(&j, id);
    json_write_name(&j, "username");
    json_write_text(&j, made);
    json_write_name(&j, "placeholder");
    json_write_bool(&j, true);
    if (json_member_get_raw_text(user, "global_name").n)
        copy_json_members(&j, user,
                          (const struct json_member_renaming[]){ { "global_name", NULL }, { 0 } });
    else if (name.n && name.n <= 32 && !str_eq(name, made)) {
        json_write_name(&j, "global_name"); /* shows the name as it was */
        json_write_text(&j, name);
    }
    copy_json_members(&j, user, names);
    if (c->people)
        copy_json_members(&j, user,
                          (const struct json_member_renaming[]){ { "avatar", NULL }, { 0 } });
    json_end_object(&j);
    world_file_entries_end_entry(&c->users);
}

static char queued_with_name, queued_without_name;

void add_user_to_world_file(struct guild_copy_conversion *c, struct arena *arena, struct str user)
{
    snowflake id = json_member_get_id(user, "id");

    if (!id || guild_copy_id_is_known(&c->known.users, id) ||
        map_find_value(&c->queued, id) == &queued_with_name)
        return;
    map_set_value(&c->queued, id, &queued_with_name);
    write_world_user(c, arena, user, id);
}

void add_user_id_to_world_file(struct guild_copy_conversion *c, struct arena *arena, snowflake id)
{
    if (!id || guild_copy_id_is_known(&c->known.users, id) ||
        guild_copy_id_is_known(&c->queued, id))
        return;
    map_set_value(&c->queued, id, &queued_without_name);
    write_world_user(c, arena, STR("{}"), id);
}

void mark_added_users_as_known(struct guild_copy_conversion *c)
{
    for (size_t i = 0; i < c->queued.cap; i++)
        if (c->queued.slots[i].value == &queued_with_name)
            guild_copy_add_known_id(&c->known.users, c->queued.slots[i].key);
    map_clear(&c->queued);
}

void write_user_reference(struct guild_copy_conversion *c, struct arena *arena,
                          struct json_writer *j, const char *name, struct str user, snowflake id)
{
    if (user.n)
        add_user_to_world_file(c, arena, user);
    else
        add_user_id_to_world_file(c, arena, id);
    if (user.n)
        id = json_member_get_id(user, "id");
    if (!id)
        return;
    json_write_key(j, str_of(name));
    json_write_id(j, id);
}

void write_user_references(struct guild_copy_conversion *c, struct arena *arena,
                           struct json_writer *j, const char *name, struct str users)
{
    struct list items = json_array_get_items(arena, users);

    json_write_key(j, str_of(name));
    json_begin_array(j);
    for (size_t i = 0; i < items.count; i++) {
        struct str user = ((struct str *)items.items)[i];

        add_user_to_world_file(c, arena, user);
        json_write_id(j, json_member_get_id(user, "id"));
    }
    json_end_array(j);
}

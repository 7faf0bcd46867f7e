/* missing.c - finds objects that were deleted on the source server while no events were received.
 * Compares the ids in the archive before and after a copy. */
#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "base/mem.h"
#include "tools/copy/follow/follow.h"

struct archived_object {
    snowflake id, channel; /* channel: of a message */
};
struct guild_archive_ids {
    struct arena *arena;
    struct map channels, roles, members, messages; /* id to struct archived_object */
};
struct id_reader {
    struct guild_archive_ids *ids;
    struct map *to;
    snowflake channel;
};

static void add_object_id_of_archive(struct id_reader *r, snowflake id)
{
    struct archived_object *object = arena_alloc(r->ids->arena, sizeof *object);

    *object = (struct archived_object){ id, r->channel };
    if (id)
        map_set_value(r->to, id, object);
}

static bool add_id_of_archive_line(void *arg, struct str line, int64_t next_offset,
                                   struct arena *arena)
{
    struct id_reader *r = arg;

    (void)next_offset, (void)arena;
    add_object_id_of_archive(r, json_member_get_id(line, "id"));
    return true;
}

static bool add_member_id_of_archive_line(void *arg, struct str line, int64_t next_offset,
                                          struct arena *arena)
{
    (void)next_offset, (void)arena;
    add_object_id_of_archive(arg, json_member_get_id(json_member_get_raw_text(line, "user"), "id"));
    return true;
}

static bool add_role_ids_of_archive(void *arg, struct str line, int64_t next_offset,
                                    struct arena *arena)
{
    struct list roles = json_array_get_items(arena, json_member_get_raw_text(line, "roles"));

    (void)next_offset;
    for (size_t i = 0; i < roles.count; i++)
        add_object_id_of_archive(arg, json_member_get_id(((struct str *)roles.items)[i], "id"));
    return true;
}

static void read_channel_ids_of_archive(struct guild_archive_ids *ids,
                                        const struct guild_archive *a)
{
    static const char *const kinds[] = { "public", "private" };
    struct id_reader r = { .ids = ids, .to = &ids->channels };
    const struct archived_object *parent;
    struct map parents;
    size_t at = 0;
    char name[100];

    map_init(&parents);
    r.to = &parents;
    guild_archive_for_each_line(a, "channels.jsonl", 0, add_id_of_archive_line, &r);
    r.to = &ids->channels;
    guild_archive_for_each_line(a, "channels.jsonl", 0, add_id_of_archive_line, &r);
    guild_archive_for_each_line(a, "active_threads.jsonl", 0, add_id_of_archive_line, &r);
    while ((parent = map_next_value(&parents, &at)))
        for (size_t i = 0; i < COUNT_OF(kinds); i++) {
            snprintf(name, sizeof name, "archived_threads/%" PRIu64 ".%s.jsonl", parent->id,
                     kinds[i]);
            guild_archive_for_each_line(a, name, 0, add_id_of_archive_line, &r);
        }
    map_clear(&parents);
}

/* Reads the ids of the messages with at least the id `since`; the copy reads these messages
 * again. */
static void read_message_ids_of_archive(struct guild_archive_ids *ids,
                                        const struct guild_archive *a, snowflake channel,
                                        snowflake since)
{
    struct id_reader r = { ids, &ids->messages, channel };
    struct guild_archive_line_file list;
    snowflake before;
    char name[100], path[1200];
    off_t offset;

    snprintf(name, sizeof name, "messages/%" PRIu64 ".jsonl", channel);
    guild_archive_format_path(a, path, "%s", name);
    if (access(path, F_OK) != 0)
        return;
    if (guild_archive_line_file_open(a, name, "id", &list) &&
        guild_archive_line_file_find_offset_of_id(&list, since, &offset, &before))
        guild_archive_for_each_line(a, name, offset, add_id_of_archive_line, &r);
    guild_archive_line_file_close(&list);
}

struct guild_archive_ids *guild_archive_ids_read(const struct guild_archive *a,
                                                 snowflake messages_since)
{
    struct guild_archive_ids *ids = mem_new(sizeof *ids);
    struct id_reader r = { .ids = ids };
    const struct archived_object *channel;
    size_t at = 0;

    ids->arena = arena_new();
    map_init(&ids->channels);
    map_init(&ids->roles);
    map_init(&ids->members);
    map_init(&ids->messages);
    read_channel_ids_of_archive(ids, a);
    r.to = &ids->roles;
    guild_archive_for_each_line(a, "guild.jsonl", 0, add_role_ids_of_archive, &r);
    r.to = &ids->members;
    guild_archive_for_each_line(a, "members.jsonl", 0, add_member_id_of_archive_line, &r);
    while ((channel = map_next_value(&ids->channels, &at)))
        read_message_ids_of_archive(ids, a, channel->id, messages_since);
    return ids;
}

void guild_archive_ids_free(struct guild_archive_ids *ids)
{
    if (!ids)
        return;
    map_clear(&ids->channels);
    map_clear(&ids->roles);
    map_clear(&ids->members);
    map_clear(&ids->messages);
    arena_free(ids->arena);
    mem_free(ids);
}

/* --- reactions ----------------------------------------------------------------------- */

struct reaction_reader {
    struct guild_follower *follow;
    bool ok;
};

/* Adds the reactions of a message. Reactions that this server already has stay unchanged. */
static bool add_reactions_of_archived_message(void *arg, struct str line, int64_t next_offset,
                                              struct arena *arena)
{
    struct reaction_reader *r = arg;
    struct list reactions =
        json_array_get_items(arena, json_member_get_raw_text(line, "reactions"));
    struct list users =
        json_array_get_items(arena, json_member_get_raw_text(line, "reaction_users"));

    (void)next_offset;
    for (size_t i = 0; i < reactions.count && i < users.count; i++) {
        struct str emoji =
            follow_format_emoji_of_reaction(arena, ((struct str *)reactions.items)[i]);
        struct list ids = json_array_get_items(arena, ((struct str *)users.items)[i]);

        for (size_t k = 0; k < ids.count && r->ok; k++) {
            snowflake user = json_member_get_id(((struct str *)ids.items)[k], "id");

            if (user && user != r->follow->bot)
                r->ok = follow_run_server_command(
                    r->follow,
                    "mirror-reaction\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64
                    "\t%.*s\tadded",
                    r->follow->options->download->guild, json_member_get_id(line, "channel_id"),
                    json_member_get_id(line, "id"), user, STR_ARGS(emoji));
        }
    }
    return r->ok;
}

bool follow_add_missed_reactions(struct guild_follower *f, snowflake since)
{
    struct guild_archive_ids *ids = guild_archive_ids_read(f->archive, UINT64_MAX);
    struct reaction_reader r = { f, true };
    const struct archived_object *channel;

    for (size_t at = 0; r.ok && (channel = map_next_value(&ids->channels, &at));) {
        struct guild_archive_line_file list;
        char name[100], path[1200];
        snowflake before;
        off_t offset;

        snprintf(name, sizeof name, "messages/%" PRIu64 ".jsonl", channel->id);
        guild_archive_format_path(f->archive, path, "%s", name);
        if (access(path, F_OK) != 0)
            continue;
        if (guild_archive_line_file_open(f->archive, name, "id", &list) &&
            guild_archive_line_file_find_offset_of_id(&list, since, &offset, &before))
            guild_archive_for_each_line(f->archive, name, offset, add_reactions_of_archived_message,
                                        &r);
        guild_archive_line_file_close(&list);
    }
    guild_archive_ids_free(ids);
    return r.ok;
}

/* --- deletions ----------------------------------------------------------------------- */

bool follow_delete_objects_missing_in_archive(struct guild_follower *f,
                                              const struct guild_archive_ids *before)
{
    struct guild_archive_ids *now =
        guild_archive_ids_read(f->archive, f->download_options.read_again_since);
    snowflake guild = f->options->download->guild;
    const struct archived_object *o;
    bool ok = true;

    for (size_t at = 0; ok && (o = map_next_value(&before->channels, &at));)
        if (!map_find_value(&now->channels, o->id))
            ok = follow_run_server_command(f, "mirror-channel\t%" PRIu64 "\t%" PRIu64 "\tdeleted",
                                           guild, o->id);
    for (size_t at = 0; ok && (o = map_next_value(&before->roles, &at));)
        if (!map_find_value(&now->roles, o->id))
            ok = follow_run_server_command(f, "mirror-role\t%" PRIu64 "\t%" PRIu64 "\tdeleted",
                                           guild, o->id);
    for (size_t at = 0; ok && (o = map_next_value(&before->members, &at));)
        if (!map_find_value(&now->members, o->id))
            ok = follow_run_server_command(f, "mirror-member\t%" PRIu64 "\t%" PRIu64 "\tdeleted",
                                           guild, o->id);
    for (size_t at = 0; ok && (o = map_next_value(&before->messages, &at));)
        if (!map_find_value(&now->messages, o->id) && map_find_value(&now->channels, o->channel))
            ok = follow_run_server_command(f, "mirror-deletion\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64,
                                           guild, o->channel, o->id);
    guild_archive_ids_free(now);
    return ok;
}

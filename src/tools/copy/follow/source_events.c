/* source_events.c - applies events of the source server to the copy on this server. */
#include <inttypes.h>
#include <stdio.h>

#include "base/clock.h"
#include "base/mem.h"
#include "json/read.h"
#include "tools/copy/follow/follow.h"

enum { READ_LISTS_AFTER_S = 2, IDS_PER_COMMAND = 100 };

/* --- messages ------------------------------------------------------------------------ */

/* Appends a new message to the archive, so that the next copy continues after this message. A
 * message with a smaller id than the last one is not appended: the next copy finds it, because it
 * reads the messages of the last day again. */
static bool append_to_archive(struct guild_follower *f, snowflake channel, snowflake id,
                              struct str message)
{
    struct guild_archive_line_file list;
    char name[100];
    struct buf line;
    bool ok = true;

    snprintf(name, sizeof name, "messages/%" PRIu64 ".jsonl", channel);
    if (!guild_archive_line_file_open(f->archive, name, "id", &list))
        return false;
    if (id > list.last) {
        buf_init(&line, SIZE_MAX);
        buf_add_str(&line, message);
        for (size_t i = 0; i < line.n; i++)
            if (line.p[i] == '\n' || line.p[i] == '\r')
                line.p[i] = ' ';
        buf_add_char(&line, '\n');
        ok = guild_archive_line_file_append(&list, buf_as_str(&line));
        buf_clear(&line);
    }
    guild_archive_line_file_close(&list);
    return ok;
}

/* Imports the lists of the guild again, because the message is in a channel that is not known
 * yet. */
static bool fetch_unknown_channel(struct guild_follower *f, snowflake channel)
{
    char path[100];
    struct buf out;

    snprintf(path, sizeof path, "/channels/%" PRIu64, channel);
    buf_init(&out, SIZE_MAX);
    enum guild_copy_result result =
        source_server_connection_send_request(&f->connection, "GET", path, (struct str){ 0 }, &out);
    bool ok = result != COPY_OK || live_import_channel(f->import, buf_as_str(&out));
    if (ok && result == COPY_OK)
        ok = follow_run_server_command(f, "mirror-channel\t%" PRIu64 "\t%" PRIu64 "\tcreated",
                                       f->options->download->guild, channel);
    buf_clear(&out);
    return ok;
}

static bool import_message(struct guild_follower *f, snowflake channel, snowflake id,
                           struct str message)
{
    enum live_import_result change;

    if (download_files_of_message(&f->connection, f->archive, &f->download_options, message) ==
            COPY_STOPPED ||
        !live_import_message(f->import, message, &change))
        return false;
    if (change == LIVE_UNKNOWN_CHANNEL &&
        (!fetch_unknown_channel(f, channel) || !live_import_message(f->import, message, &change)))
        return false;
    if (change == LIVE_UNCHANGED || change == LIVE_UNKNOWN_CHANNEL)
        return true;
    return follow_run_server_command(f, "mirror-message\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%s",
                                     f->options->download->guild, channel, id,
                                     change == LIVE_CREATED  ? "created"
                                     : change == LIVE_EDITED ? "edited"
                                                             : "unpinned");
}

static bool apply_message(struct guild_follower *f, struct str message, bool created)
{
    snowflake channel = json_member_get_id(message, "channel_id"),
              id = json_member_get_id(message, "id");

    if (guild_copy_skipped_ids_contain_message(&f->skipped, message) ||
        json_member_int(message, "flags") & 64)
        return true; /* posted from here, deleted, or ephemeral */
    if (created && f->back)
        source_guild_poster_ignore_event_of_message(f->back, id);
    if (created && !append_to_archive(f, channel, id, message))
        return false;
    return import_message(f, channel, id, message);
}

/* Applies a message update, which may contain only the fields that have changed. */
static bool apply_message_update(struct guild_follower *f, struct str update)
{
    char path[200];
    struct buf out;

    if (json_member_get_raw_text(update, "author").n &&
        json_member_get_raw_text(update, "content").n)
        return apply_message(f, update, false);
    snprintf(path, sizeof path, "/channels/%" PRIu64 "/messages/%" PRIu64,
             json_member_get_id(update, "channel_id"), json_member_get_id(update, "id"));
    buf_init(&out, SIZE_MAX);
    enum guild_copy_result result =
        source_server_connection_send_request(&f->connection, "GET", path, (struct str){ 0 }, &out);
    bool ok =
        result == COPY_REFUSED || (result == COPY_OK && apply_message(f, buf_as_str(&out), false));
    buf_clear(&out);
    return ok;
}

/* Deletes the copy of a message on this server. If the message was posted from this server, deletes
 * the original message on this server. */
static bool delete_message(struct guild_follower *f, snowflake channel, snowflake id)
{
    snowflake original = f->back ? source_guild_poster_find_original_message_id(f->back, id) : 0;

    return guild_copy_record_skipped_message(&f->skipped, f->archive, id) &&
           follow_run_server_command(f, "mirror-deletion\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64,
                                     f->options->download->guild, channel,
                                     original ? original : id);
}

static bool apply_message_delete(struct guild_follower *f, struct str d)
{
    return delete_message(f, json_member_get_id(d, "channel_id"), json_member_get_id(d, "id"));
}

static bool apply_message_delete_bulk(struct guild_follower *f, struct str d)
{
    struct arena *arena = arena_new_small();
    struct list ids = json_array_get_items(arena, json_member_get_raw_text(d, "ids"));
    snowflake channel = json_member_get_id(d, "channel_id");
    struct buf words;
    bool ok = true;

    buf_init(&words, 4096);
    for (size_t i = 0; i < ids.count && ok; i++) {
        int64_t number = 0;

        json_parse_int_text(((struct str *)ids.items)[i], &number);
        if (f->back && source_guild_poster_find_original_message_id(f->back, (snowflake)number)) {
            ok = delete_message(f, channel, (snowflake)number);
            continue;
        }
        ok = guild_copy_record_skipped_message(&f->skipped, f->archive, (snowflake)number);
        buf_printf(&words, "%s%" PRId64, words.n ? "," : "", number);
    }
    if (ok && words.n)
        ok = follow_run_server_command(f, "mirror-deletion\t%" PRIu64 "\t%" PRIu64 "\t%.*s",
                                       f->options->download->guild, channel,
                                       STR_ARGS(buf_as_str(&words)));
    buf_clear(&words);
    arena_free(arena);
    return ok;
}

/* --- reactions ----------------------------------------------------------------------- */

struct str follow_format_emoji_of_reaction(struct arena *arena, struct str event)
{
    struct str emoji = json_member_get_raw_text(event, "emoji"),
               name = json_member_get_text(arena, emoji, "name");
    snowflake id = json_member_get_id(emoji, "id");

    if (!id)
        return name.n ? name : STR("-");
    return str_printf(arena, "%.*s:%" PRIu64, STR_ARGS(name.n ? name : STR("_")), id);
}

/* Applies a reaction event. `user` is 0 if the event is about all users. */
static bool apply_reaction(struct guild_follower *f, struct str d, bool added)
{
    snowflake user = json_member_get_id(d, "user_id"),
              message = json_member_get_id(d, "message_id");
    snowflake original =
        f->back ? source_guild_poster_find_original_message_id(f->back, message) : 0;
    struct arena *arena = arena_new_small();
    struct str emoji = follow_format_emoji_of_reaction(arena, d);

    if (original)
        message = original;
    bool ok = true;
    if (user != f->bot || !user) { /* reactions of the bot stand for people on this server */
        if (f->back && user)
            source_guild_poster_ignore_event_of_reaction(f->back, message, user, emoji, added);
        ok = follow_run_server_command(
            f, "mirror-reaction\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%" PRIu64 "\t%.*s\t%s",
            f->options->download->guild, json_member_get_id(d, "channel_id"), message, user,
            STR_ARGS(emoji), added ? "added" : "removed");
    }
    arena_free(arena);
    return ok;
}

static bool apply_reaction_add(struct guild_follower *f, struct str d)
{
    return apply_reaction(f, d, true);
}

static bool apply_reaction_remove(struct guild_follower *f, struct str d)
{
    return apply_reaction(f, d, false);
}

/* --- the guild ----------------------------------------------------------------------- */

static bool apply_channel(struct guild_follower *f, struct str d, const char *change)
{
    return live_import_channel(f->import, d) &&
           follow_run_server_command(f, "mirror-channel\t%" PRIu64 "\t%" PRIu64 "\t%s",
                                     f->options->download->guild, json_member_get_id(d, "id"),
                                     change);
}

static bool apply_channel_create(struct guild_follower *f, struct str d)
{
    return live_import_has_copied_channel(f->import, json_member_get_id(d, "id"))
               ? apply_channel(f, d, "changed") /* THREAD_CREATE after joining */
               : apply_channel(f, d, "created");
}

static bool apply_channel_update(struct guild_follower *f, struct str d)
{
    return apply_channel(f, d, "changed");
}

static bool apply_channel_delete(struct guild_follower *f, struct str d)
{
    return follow_run_server_command(f, "mirror-channel\t%" PRIu64 "\t%" PRIu64 "\tdeleted",
                                     f->options->download->guild, json_member_get_id(d, "id"));
}

static bool apply_role(struct guild_follower *f, struct str d, const char *change)
{
    struct str role = json_member_get_raw_text(d, "role");

    return live_import_role(f->import, role) &&
           follow_run_server_command(f, "mirror-role\t%" PRIu64 "\t%" PRIu64 "\t%s",
                                     f->options->download->guild, json_member_get_id(role, "id"),
                                     change);
}

static bool apply_role_create(struct guild_follower *f, struct str d)
{
    return apply_role(f, d, "created");
}

static bool apply_role_update(struct guild_follower *f, struct str d)
{
    return apply_role(f, d, "changed");
}

static bool apply_role_delete(struct guild_follower *f, struct str d)
{
    return follow_run_server_command(f, "mirror-role\t%" PRIu64 "\t%" PRIu64 "\tdeleted",
                                     f->options->download->guild, json_member_get_id(d, "role_id"));
}

static bool send_mirror_member_command(struct guild_follower *f, struct str d, const char *change)
{
    return follow_run_server_command(
        f, "mirror-member\t%" PRIu64 "\t%" PRIu64 "\t%s", f->options->download->guild,
        json_member_get_id(json_member_get_raw_text(d, "user"), "id"), change);
}

static bool apply_member_add(struct guild_follower *f, struct str d)
{
    return live_import_member(f->import, d) && send_mirror_member_command(f, d, "created");
}

static bool apply_member_update(struct guild_follower *f, struct str d)
{
    return live_import_member(f->import, d) && send_mirror_member_command(f, d, "changed");
}

static bool apply_member_remove(struct guild_follower *f, struct str d)
{
    return send_mirror_member_command(f, d, "deleted");
}

/* Reads all other lists again. After that, the whole guild is sent to the sessions on this
 * server. */
static bool schedule_download_of_guild_lists(struct guild_follower *f, struct str d)
{
    (void)d;
    f->lists_changed = true;
    f->read_lists_at = clock_monotonic_ns() + READ_LISTS_AFTER_S * INT64_C(1000000000);
    return true;
}

static bool apply_ban_add(struct guild_follower *f, struct str d)
{
    return apply_member_remove(f, d) && schedule_download_of_guild_lists(f, d);
}

static bool apply_ban_remove(struct guild_follower *f, struct str d)
{
    return send_mirror_member_command(f, d, "unbanned");
}

static bool apply_message_create(struct guild_follower *f, struct str d)
{
    return apply_message(f, d, true);
}

static const struct source_event {
    const char *name;
    bool (*apply)(struct guild_follower *f, struct str d);
    bool people; /* not with --people names */
} source_events[] = {
    { "MESSAGE_CREATE", apply_message_create, false },
    { "MESSAGE_UPDATE", apply_message_update, false },
    { "MESSAGE_DELETE", apply_message_delete, false },
    { "MESSAGE_DELETE_BULK", apply_message_delete_bulk, false },
    { "MESSAGE_REACTION_ADD", apply_reaction_add, true },
    { "MESSAGE_REACTION_REMOVE", apply_reaction_remove, true },
    { "MESSAGE_REACTION_REMOVE_ALL", apply_reaction_remove, true },
    { "MESSAGE_REACTION_REMOVE_EMOJI", apply_reaction_remove, true },
    { "CHANNEL_CREATE", apply_channel_create, false },
    { "CHANNEL_UPDATE", apply_channel_update, false },
    { "CHANNEL_DELETE", apply_channel_delete, false },
    { "THREAD_CREATE", apply_channel_create, false },
    { "THREAD_UPDATE", apply_channel_update, false },
    { "THREAD_DELETE", apply_channel_delete, false },
    { "GUILD_ROLE_CREATE", apply_role_create, false },
    { "GUILD_ROLE_UPDATE", apply_role_update, false },
    { "GUILD_ROLE_DELETE", apply_role_delete, false },
    { "GUILD_MEMBER_ADD", apply_member_add, true },
    { "GUILD_MEMBER_UPDATE", apply_member_update, true },
    { "GUILD_MEMBER_REMOVE", apply_member_remove, true },
    { "GUILD_BAN_ADD", apply_ban_add, true },
    { "GUILD_BAN_REMOVE", apply_ban_remove, true },
    { "GUILD_UPDATE", schedule_download_of_guild_lists, false },
    { "GUILD_EMOJIS_UPDATE", schedule_download_of_guild_lists, false },
    { "GUILD_STICKERS_UPDATE", schedule_download_of_guild_lists, false },
    { "GUILD_SOUNDBOARD_SOUND_CREATE", schedule_download_of_guild_lists, false },
    { "GUILD_SOUNDBOARD_SOUND_UPDATE", schedule_download_of_guild_lists, false },
    { "GUILD_SCHEDULED_EVENT_CREATE", schedule_download_of_guild_lists, false },
    { "GUILD_SCHEDULED_EVENT_UPDATE", schedule_download_of_guild_lists, false },
    { "AUTO_MODERATION_RULE_CREATE", schedule_download_of_guild_lists, false },
    { "AUTO_MODERATION_RULE_UPDATE", schedule_download_of_guild_lists, false },
    { "WEBHOOKS_UPDATE", schedule_download_of_guild_lists, false },
    { "INVITE_CREATE", schedule_download_of_guild_lists, false },
};

bool follow_apply_source_event(struct guild_follower *f, const struct followed_guild_event *e)
{
    for (size_t i = 0; i < COUNT_OF(source_events); i++)
        if (str_is(str_of(e->name), source_events[i].name))
            return (source_events[i].people && !f->options->download->people) ||
                   source_events[i].apply(f, str_of(e->data));
    return true;
}

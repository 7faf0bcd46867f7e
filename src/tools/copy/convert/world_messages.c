/* world_messages.c - converts messages to entries of world files. */
#include "tools/copy/convert/world_members.h"

#include <inttypes.h>

static struct str format_emoji_as_text(struct arena *arena, struct str emoji)
{
    struct str name = json_member_get_text(arena, emoji, "name");
    snowflake id = json_member_get_id(emoji, "id");

    if (!id)
        return name;
    return str_printf(arena, "%.*s:%" PRIu64, STR_ARGS(name.n ? name : STR("_")), id);
}

static void write_reactions(struct guild_copy_conversion *c, struct arena *arena,
                            struct json_writer *j, struct str message)
{
    struct list reactions =
        json_array_get_items(arena, json_member_get_raw_text(message, "reactions"));
    struct list users =
        json_array_get_items(arena, json_member_get_raw_text(message, "reaction_users"));

    if (!users.count)
        return;
    json_write_name(j, "reactions");
    json_begin_array(j);
    for (size_t i = 0; i < reactions.count && i < users.count; i++) {
        if (((struct str *)users.items)[i].n <= 2) /* nobody: [] */
            continue;
        json_begin_object(j);
        json_write_name(j, "emoji");
        json_write_text(
            j, format_emoji_as_text(
                   arena, json_member_get_raw_text(((struct str *)reactions.items)[i], "emoji")));
        write_user_references(c, arena, j, "users", ((struct str *)users.items)[i]);
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_message_poll(struct guild_copy_conversion *c, struct arena *arena,
                               struct json_writer *j, struct str message)
{
    struct str poll = json_member_get_raw_text(message, "poll");
    struct list answers = json_array_get_items(arena, json_member_get_raw_text(poll, "answers"));
    struct list voters =
        json_array_get_items(arena, json_member_get_raw_text(message, "poll_voters"));

    if (!poll.n)
        return;
    json_write_name(j, "poll");
    json_begin_object(j);
    write_json_member_raw(
        j, "question",
        json_member_get_raw_text(json_member_get_raw_text(poll, "question"), "text"));
    write_json_member_raw(j, "ends_at", json_member_get_raw_text(poll, "expiry"));
    write_json_member_raw(j, "allow_multiselect",
                          json_member_get_raw_text(poll, "allow_multiselect"));
    json_write_name(j, "answers");
    json_begin_array(j);
    for (size_t i = 0; i < answers.count; i++) {
        struct str media = json_member_get_raw_text(((struct str *)answers.items)[i], "poll_media"),
                   emoji = json_member_get_raw_text(media, "emoji"),
                   text = json_member_get_raw_text(media, "text");

        json_begin_object(j);
        write_json_member_raw(j, "text", text.n ? text : STR("\"-\""));
        if (emoji.n) {
            json_write_name(j, "emoji");
            json_write_text(j, format_emoji_as_text(arena, emoji));
        }
        if (i < voters.count)
            write_user_references(c, arena, j, "users", ((struct str *)voters.items)[i]);
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

static void write_forwarded_message(struct json_writer *j, struct arena *arena, struct str message,
                                    struct str reference)
{
    static const struct json_member_renaming origin[] = {
        { "channel_id", NULL }, { "message_id", NULL }, { "guild_id", NULL }, { 0 }
    };
    static const struct json_member_renaming names[] = {
        { "content", NULL },
        { "timestamp", NULL },
        { "type", NULL },
        { "edited_timestamp", NULL },
        { "flags", NULL },
        { "mentions", NULL },
        { "mention_roles", NULL },
        { "embeds", NULL },
        { "components", NULL },
        { "sticker_items", NULL },
        { 0 },
    };
    struct list snapshots =
        json_array_get_items(arena, json_member_get_raw_text(message, "message_snapshots"));

    if (!snapshots.count)
        return;
    json_write_name(j, "forward");
    json_begin_object(j);
    copy_json_members(j, reference, origin);
    copy_json_members(j, json_member_get_raw_text(*(struct str *)snapshots.items, "message"),
                      names);
    json_end_object(j);
}

static void write_message_author(struct guild_copy_conversion *c, struct arena *arena,
                                 struct json_writer *j, struct str message)
{
    struct str author = json_member_get_raw_text(message, "author"),
               webhook = json_member_get_raw_text(message, "webhook_id");

    /* A response to an interaction has the app's id as webhook id, and the app's bot as author. */
    bool by_app = webhook.n && str_eq(webhook, json_member_get_raw_text(message, "application_id"));
    if (webhook.n && !by_app) {
        write_json_member_raw(j, "webhook", webhook);
        write_json_member_raw(j, "username", json_member_get_raw_text(author, "username"));
        return;
    }
    write_user_reference(c, arena, j, "author", author, 0);
}

static void write_message_mentions(struct guild_copy_conversion *c, struct arena *arena,
                                   struct json_writer *j, struct str message)
{
    struct str mentions = json_member_get_raw_text(message, "mentions");

    if (mentions.n > 2)
        write_user_references(c, arena, j, "mentions", mentions);
    write_json_member_raw(j, "mention_roles", json_member_get_raw_text(message, "mention_roles"));
}

bool write_world_message(struct guild_copy_conversion *c, struct arena *arena, struct str message,
                         struct buf *out)
{
    static const struct json_member_renaming names[] = {
        { "id", NULL },
        { "content", NULL },
        { "edited_timestamp", "edited_at" },
        { "embeds", NULL },
        { "type", NULL },
        { "flags", NULL },
        { "tts", NULL },
        { "mention_everyone", NULL },
        { "components", NULL },
        { "attachments", NULL },
        { "sticker_items", NULL },
        { "application_id", NULL },
        { "interaction_metadata", NULL },
        { 0 },
    };
    struct str reference = json_member_get_raw_text(message, "message_reference");
    const struct str *pinned_at = map_find_value(&c->pinned_at, json_member_get_id(message, "id"));
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    copy_json_members(&j, message, names);
    write_json_member_raw(&j, "pinned",
                          pinned_at ? STR("true") : json_member_get_raw_text(message, "pinned"));
    if (pinned_at)
        write_json_member_raw(&j, "pinned_at", *pinned_at);
    write_message_author(c, arena, &j, message);
    write_message_mentions(c, arena, &j, message);
    if (json_member_get_raw_text(message, "message_snapshots").n)
        write_forwarded_message(&j, arena, message, reference);
    else
        write_json_member_raw(&j, "reference", reference);
    if (c->people)
        write_reactions(c, arena, &j, message);
    write_message_poll(c, arena, &j, message);
    json_end_object(&j);
    return true;
}

/* world_entries.c - converts objects of the interface to entries of world files.
 *
 * An entry may refer only to objects that exist, because an import refuses other references. A
 * reference to something that was deleted on the other server is omitted and counted. */
#include "tools/copy/copy.h"

#include <ctype.h>
#include <inttypes.h>

#include "base/mem.h"
#include "model/channel.h"
#include "model/message.h"

/* --- writing members -------------------------------------------------------------------- */

/* A member that is copied under another name or the same. */
struct member_name {
    const char *from, *to; /* to: NULL if the name stays */
};

static void write_raw_member(struct json_writer *j, const char *name, struct str raw)
{
    if (!raw.n)
        return;
    json_write_key(j, str_of(name));
    json_write_raw(j, raw);
}

static void copy_members(struct json_writer *j, struct str object, const struct member_name *names)
{
    for (; names->from; names++)
        write_raw_member(j, names->to ? names->to : names->from,
                         json_member_raw(object, names->from));
}

bool is_known_id(const struct map *ids, snowflake id)
{
    return id && map_get(ids, id);
}

void add_known_id(struct map *ids, snowflake id)
{
    static char known;

    if (id)
        map_put(ids, id, &known);
}

/* Writes a reference if its object exists. */
static void write_reference(struct copy_conversion *c, struct json_writer *j, const char *name,
                            const struct map *ids, snowflake id)
{
    if (!id)
        return;
    if (!is_known_id(ids, id)) {
        c->omitted++;
        return;
    }
    json_write_key(j, str_of(name));
    json_write_id(j, id);
}

static snowflake parse_raw_id(struct str raw)
{
    int64_t id = 0;

    return json_parse_int_text(raw, &id) ? (snowflake)id : 0;
}

/* Writes a list of references without those whose objects do not exist. */
static void write_references(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                             const char *name, const struct map *ids, struct str array)
{
    struct list items = json_array_items(arena, array);

    if (!array.n)
        return;
    json_write_key(j, str_of(name));
    json_begin_array(j);
    for (size_t i = 0; i < items.count; i++) {
        snowflake id = parse_raw_id(((struct str *)items.items)[i]);

        if (is_known_id(ids, id))
            json_write_id(j, id);
        else
            c->omitted++;
    }
    json_end_array(j);
}

static void write_words_member(struct json_writer *j, const char *name, const char *const *words,
                               size_t count, int64_t value)
{
    if (value < 0 || (size_t)value >= count || !words[value])
        return;
    json_write_key(j, str_of(name));
    json_write_text(j, str_of(words[value]));
}

/* Writes a file of the archive as a data URI, if the archive has it. */
static void write_data_uri(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                           const char *name, const char *type, const char *folder, snowflake id)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    struct buf bytes, text;
    char path[1200], piece[16384];
    size_t n;

    guild_archive_path(c->archive, path, "files/%s/%" PRIu64, folder, id);
    FILE *f = fopen(path, "re");
    if (!f)
        return;
    buf_init(&bytes, 1024 * 1024);
    buf_init(&text, 2 * 1024 * 1024);
    while ((n = fread(piece, 1, sizeof piece, f)) > 0)
        buf_add(&bytes, piece, n);
    fclose(f);
    buf_printf(&text, "data:%s;base64,", type);
    for (size_t i = 0; i < bytes.n; i += 3) {
        const unsigned char *p = (const unsigned char *)bytes.p + i;
        size_t left = bytes.n - i;
        uint32_t v =
            (uint32_t)p[0] << 16 | (left > 1 ? (uint32_t)p[1] << 8 : 0) | (left > 2 ? p[2] : 0);

        buf_add_char(&text, digits[v >> 18]);
        buf_add_char(&text, digits[v >> 12 & 63]);
        buf_add_char(&text, left > 1 ? digits[v >> 6 & 63] : '=');
        buf_add_char(&text, left > 2 ? digits[v & 63] : '=');
    }
    if (bytes.n && !buf_is_full(&bytes)) {
        json_write_key(j, str_of(name));
        json_write_text(j, str_dup(arena, buf_str(&text)));
    }
    buf_clear(&bytes);
    buf_clear(&text);
}

/* --- accounts ------------------------------------------------------------------------------ */

/* Returns a username that the rules here accept: names of bots may have other characters. */
static struct str make_username(struct arena *arena, struct str name, snowflake id)
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

void world_entries_clear(struct world_entries *e)
{
    buf_reset(&e->text);
    e->count = 0;
}

void world_entries_end_entry(struct world_entries *e)
{
    if (e->count == e->capacity) {
        e->capacity = e->capacity ? e->capacity * 2 : 64;
        e->ends = mem_resize(e->ends, e->capacity * sizeof *e->ends);
    }
    e->ends[e->count++] = e->text.n;
    buf_add_char(&e->text, ',');
}

static void write_world_user(struct copy_conversion *c, struct arena *arena, struct str user,
                             snowflake id)
{
    static const struct member_name names[] = { { "bot", NULL }, { "public_flags", NULL }, { 0 } };
    struct str name = json_member_text(arena, user, "username"),
               made = make_username(arena, name, id);
    struct json_writer j = json_writer_to_buf(&c->users.text);

    json_begin_object(&j);
    json_write_name(&j, "id");
    json_write_id(&j, id);
    json_write_name(&j, "username");
    json_write_text(&j, made);
    json_write_name(&j, "placeholder");
    json_write_bool(&j, true);
    if (json_member_raw(user, "global_name").n)
        copy_members(&j, user, (const struct member_name[]){ { "global_name", NULL }, { 0 } });
    else if (name.n && name.n <= 32 && !str_eq(name, made)) {
        json_write_name(&j, "global_name"); /* shows the name as it was */
        json_write_text(&j, name);
    }
    copy_members(&j, user, names);
    if (c->people)
        copy_members(&j, user, (const struct member_name[]){ { "avatar", NULL }, { 0 } });
    json_end_object(&j);
    world_entries_end_entry(&c->users);
}

static char queued_with_name, queued_without_name;

void queue_world_user(struct copy_conversion *c, struct arena *arena, struct str user)
{
    snowflake id = json_member_id(user, "id");

    if (!id || is_known_id(&c->known.users, id) || map_get(&c->queued, id) == &queued_with_name)
        return;
    map_put(&c->queued, id, &queued_with_name);
    write_world_user(c, arena, user, id);
}

/* Adds an account of which only the id is known, because the person has left. A later object with
 * the person's name replaces it. */
static void queue_user_id(struct copy_conversion *c, struct arena *arena, snowflake id)
{
    if (!id || is_known_id(&c->known.users, id) || is_known_id(&c->queued, id))
        return;
    map_put(&c->queued, id, &queued_without_name);
    write_world_user(c, arena, STR("{}"), id);
}

void mark_queued_users_known(struct copy_conversion *c)
{
    for (size_t i = 0; i < c->queued.cap; i++)
        if (c->queued.slots[i].value == &queued_with_name)
            add_known_id(&c->known.users, c->queued.slots[i].key);
    map_clear(&c->queued);
}

/* Writes a reference to an account, which is added if it is not known. */
static void write_user(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                       const char *name, struct str user, snowflake id)
{
    if (user.n)
        queue_world_user(c, arena, user);
    else
        queue_user_id(c, arena, id);
    if (user.n)
        id = json_member_id(user, "id");
    if (!id)
        return;
    json_write_key(j, str_of(name));
    json_write_id(j, id);
}

static void write_users(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                        const char *name, struct str users)
{
    struct list items = json_array_items(arena, users);

    json_write_key(j, str_of(name));
    json_begin_array(j);
    for (size_t i = 0; i < items.count; i++) {
        struct str user = ((struct str *)items.items)[i];

        queue_world_user(c, arena, user);
        json_write_id(j, json_member_id(user, "id"));
    }
    json_end_array(j);
}

/* --- guild and roles -------------------------------------------------------------------------- */

bool write_world_guild(struct copy_conversion *c, struct arena *arena, struct str guild,
                       struct buf *out)
{
    static const struct member_name names[] = {
        { "id", NULL },
        { "name", NULL },
        { "description", NULL },
        { "features", NULL },
        { "preferred_locale", NULL },
        { "afk_timeout", NULL },
        { "system_channel_flags", NULL },
        { "verification_level", NULL },
        { "default_message_notifications", NULL },
        { "explicit_content_filter", NULL },
        { "mfa_level", NULL },
        { "premium_progress_bar_enabled", NULL },
        { "icon", NULL },
        { "banner", NULL },
        { "splash", NULL },
        { "discovery_splash", NULL },
        { 0 },
    };
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    copy_members(&j, guild, names);
    write_user(c, arena, &j, "owner", (struct str){ 0 }, json_member_id(guild, "owner_id"));
    write_reference(c, &j, "afk_channel", &c->known.channels,
                    json_member_id(guild, "afk_channel_id"));
    write_reference(c, &j, "system_channel", &c->known.channels,
                    json_member_id(guild, "system_channel_id"));
    write_reference(c, &j, "rules_channel", &c->known.channels,
                    json_member_id(guild, "rules_channel_id"));
    write_reference(c, &j, "public_updates_channel", &c->known.channels,
                    json_member_id(guild, "public_updates_channel_id"));
    write_reference(c, &j, "safety_alerts_channel", &c->known.channels,
                    json_member_id(guild, "safety_alerts_channel_id"));
    json_end_object(&j);
    return true;
}

bool write_world_role(struct copy_conversion *c, struct arena *arena, struct str role,
                      struct buf *out)
{
    static const struct member_name names[] = {
        { "id", NULL },
        { "name", NULL },
        { "permissions", NULL },
        { "color", NULL },
        { "position", NULL },
        { "hoist", NULL },
        { "mentionable", NULL },
        { "managed", NULL },
        { "flags", NULL },
        { "unicode_emoji", NULL },
        { 0 },
    };
    static const struct member_name colors[] = { { "secondary_color", NULL },
                                                 { "tertiary_color", NULL },
                                                 { 0 } };
    struct json_writer j = json_writer_to_buf(out);
    snowflake bot = json_member_id(json_member_raw(role, "tags"), "bot_id");

    json_begin_object(&j);
    copy_members(&j, role, names);
    copy_members(&j, json_member_raw(role, "colors"), colors);
    if (bot)
        write_user(c, arena, &j, "bot", (struct str){ 0 }, bot);
    json_end_object(&j);
    return true;
}

/* --- channels ---------------------------------------------------------------------- */

static const char *const channel_type_words[] = {
    [CHANNEL_TEXT] = "text",
    [CHANNEL_VOICE] = "voice",
    [CHANNEL_CATEGORY] = "category",
    [CHANNEL_ANNOUNCEMENT] = "news",
    [CHANNEL_THREAD] = "thread",
    [CHANNEL_ANNOUNCEMENT_THREAD] = "news_thread",
    [CHANNEL_PRIVATE_THREAD] = "private_thread",
    [CHANNEL_STAGE] = "stage",
    [CHANNEL_FORUM] = "forum",
    [CHANNEL_MEDIA] = "media",
};

const char *world_channel_type(int64_t type)
{
    bool known = type >= 0 && (size_t)type < COUNT_OF(channel_type_words);

    return known ? channel_type_words[type] : NULL;
}

static void write_overwrites(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                             struct str channel)
{
    static const struct member_name names[] = { { "allow", NULL }, { "deny", NULL }, { 0 } };
    struct list items = json_array_items(arena, json_member_raw(channel, "permission_overwrites"));

    json_write_name(j, "overwrites");
    json_begin_array(j);
    for (size_t i = 0; i < items.count; i++) {
        struct str overwrite = ((struct str *)items.items)[i];
        bool member = json_member_int(overwrite, "type") == 1;
        snowflake id = json_member_id(overwrite, "id");

        if (member ? !c->people : !is_known_id(&c->known.roles, id)) {
            c->omitted++;
            continue;
        }
        json_begin_object(j);
        if (member)
            write_user(c, arena, j, "member", (struct str){ 0 }, id);
        else
            write_reference(c, j, "role", &c->known.roles, id);
        copy_members(j, overwrite, names);
        json_end_object(j);
    }
    json_end_array(j);
}

/* Writes an emoji that is given as two members, one of which is null. */
static void write_emoji_reference(struct copy_conversion *c, struct json_writer *j,
                                  const char *name, struct str object)
{
    snowflake id = json_member_id(object, "emoji_id");

    if (id)
        write_reference(c, j, name, &c->known.emojis, id);
    else
        write_raw_member(j, name, json_member_raw(object, "emoji_name"));
}

static void write_forum_tags(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                             struct str channel)
{
    static const struct member_name names[] = {
        { "id", NULL }, { "name", NULL }, { "moderated", NULL }, { 0 }
    };
    struct list items = json_array_items(arena, json_member_raw(channel, "available_tags"));

    if (!items.count)
        return;
    json_write_name(j, "tags");
    json_begin_array(j);
    for (size_t i = 0; i < items.count; i++) {
        json_begin_object(j);
        copy_members(j, ((struct str *)items.items)[i], names);
        write_emoji_reference(c, j, "emoji", ((struct str *)items.items)[i]);
        json_end_object(j);
    }
    json_end_array(j);
}

struct member_reader {
    struct copy_conversion *conversion;
    struct json_writer *j;
};

static bool write_thread_member(void *arg, struct str line, int64_t next_offset,
                                struct arena *arena)
{
    struct member_reader *r = arg;
    snowflake id = json_member_id(line, "user_id");

    (void)next_offset;
    queue_user_id(r->conversion, arena, id);
    if (id)
        json_write_id(r->j, id);
    return true;
}

static void write_thread(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                         struct str thread)
{
    static const struct member_name names[] = {
        { "archived", NULL },
        { "archive_timestamp", "archived_at" },
        { "auto_archive_duration", NULL },
        { "locked", NULL },
        { "invitable", NULL },
        { 0 },
    };
    struct member_reader r = { c, j };
    char name[100];

    copy_members(j, json_member_raw(thread, "thread_metadata"), names);
    write_user(c, arena, j, "owner", (struct str){ 0 }, json_member_id(thread, "owner_id"));
    write_raw_member(j, "applied_tags", json_member_raw(thread, "applied_tags"));
    if (!c->people)
        return;
    snprintf(name, sizeof name, "thread_members/%" PRIu64 ".jsonl", json_member_id(thread, "id"));
    json_write_name(j, "people");
    json_begin_array(j);
    guild_archive_for_each_line(c->archive, name, 0, write_thread_member, &r);
    json_end_array(j);
}

bool write_world_channel(struct copy_conversion *c, struct arena *arena, struct str channel,
                         struct buf *out)
{
    static const struct member_name names[] = {
        { "id", NULL },
        { "name", NULL },
        { "topic", NULL },
        { "position", NULL },
        { "nsfw", NULL },
        { "rate_limit_per_user", NULL },
        { "bitrate", NULL },
        { "user_limit", NULL },
        { "rtc_region", NULL },
        { "video_quality_mode", NULL },
        { "flags", NULL },
        { "default_auto_archive_duration", NULL },
        { "default_thread_rate_limit_per_user", NULL },
        { "default_sort_order", NULL },
        { "default_forum_layout", NULL },
        { "default_tag_setting", NULL },
        { 0 },
    };
    int64_t type = json_member_int(channel, "type");
    struct json_writer j = json_writer_to_buf(out);

    if (!world_channel_type(type))
        return false;
    json_begin_object(&j);
    copy_members(&j, channel, names);
    write_words_member(&j, "type", channel_type_words, COUNT_OF(channel_type_words), type);
    write_reference(c, &j, "parent", &c->known.channels, json_member_id(channel, "parent_id"));
    if (channel_is_thread(type)) {
        write_thread(c, arena, &j, channel);
    } else {
        write_overwrites(c, arena, &j, channel);
        write_forum_tags(c, arena, &j, channel);
        write_emoji_reference(c, &j, "default_reaction",
                              json_member_raw(channel, "default_reaction_emoji"));
    }
    json_end_object(&j);
    return true;
}

/* --- people ------------------------------------------------------------------------ */

bool write_world_member(struct copy_conversion *c, struct arena *arena, struct str member,
                        struct buf *out)
{
    static const struct member_name names[] = {
        { "nick", NULL },
        { "joined_at", NULL },
        { "premium_since", NULL },
        { "flags", NULL },
        { "mute", NULL },
        { "deaf", NULL },
        { "pending", NULL },
        { "communication_disabled_until", "timed_out_until" },
        { 0 },
    };
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    write_user(c, arena, &j, "user", json_member_raw(member, "user"), 0);
    copy_members(&j, member, names);
    write_references(c, arena, &j, "roles", &c->known.roles, json_member_raw(member, "roles"));
    json_end_object(&j);
    return true;
}

bool write_world_ban(struct copy_conversion *c, struct arena *arena, struct str ban,
                     struct buf *out)
{
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    write_user(c, arena, &j, "user", json_member_raw(ban, "user"), 0);
    copy_members(&j, ban, (const struct member_name[]){ { "reason", NULL }, { 0 } });
    json_end_object(&j);
    return true;
}

/* --- emoji, stickers, sounds ------------------------------------------------------- */

static void write_uploader(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                           struct str object)
{
    struct str user = json_member_raw(object, "user");

    if (user.n)
        write_user(c, arena, j, "by", user, 0);
}

bool write_world_emoji(struct copy_conversion *c, struct arena *arena, struct str emoji,
                       struct buf *out)
{
    static const struct member_name names[] = {
        { "id", NULL }, { "name", NULL }, { "animated", NULL }, { 0 }
    };
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    copy_members(&j, emoji, names);
    write_references(c, arena, &j, "roles", &c->known.roles, json_member_raw(emoji, "roles"));
    write_uploader(c, arena, &j, emoji);
    write_data_uri(c, arena, &j, "image", "image/png", "emojis", json_member_id(emoji, "id"));
    json_end_object(&j);
    return true;
}

bool write_world_sticker(struct copy_conversion *c, struct arena *arena, struct str sticker,
                         struct buf *out)
{
    static const char *const formats[] = { NULL, "png", "apng", "lottie", "gif" };
    static const struct member_name names[] = {
        { "id", NULL }, { "name", NULL }, { "tags", NULL }, { 0 }
    };
    struct json_writer j = json_writer_to_buf(out);
    struct str description = json_member_raw(sticker, "description");

    json_begin_object(&j);
    copy_members(&j, sticker, names);
    if (description.n > 2) /* not "" */
        write_raw_member(&j, "description", description);
    write_words_member(&j, "format", formats, COUNT_OF(formats),
                       json_member_int(sticker, "format_type"));
    write_uploader(c, arena, &j, sticker);
    write_data_uri(c, arena, &j, "image", "image/png", "stickers", json_member_id(sticker, "id"));
    json_end_object(&j);
    return true;
}

bool write_world_sound(struct copy_conversion *c, struct arena *arena, struct str sound,
                       struct buf *out)
{
    static const struct member_name names[] = {
        { "sound_id", "id" }, { "name", NULL }, { "volume", NULL }, { 0 }
    };
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    copy_members(&j, sound, names);
    if (json_member_id(sound, "emoji_id"))
        write_reference(c, &j, "emoji", &c->known.emojis, json_member_id(sound, "emoji_id"));
    else
        write_raw_member(&j, "unicode_emoji", json_member_raw(sound, "emoji_name"));
    write_uploader(c, arena, &j, sound);
    write_data_uri(c, arena, &j, "sound", "audio/mpeg", "sounds",
                   json_member_id(sound, "sound_id"));
    json_end_object(&j);
    return true;
}

/* --- other lists ------------------------------------------------------------------- */

static bool write_event_user(void *arg, struct str line, int64_t next_offset, struct arena *arena)
{
    struct member_reader *r = arg;
    struct str user = json_member_raw(line, "user");
    snowflake id = json_member_id(user, "id");

    (void)next_offset;
    queue_world_user(r->conversion, arena, user);
    if (id)
        json_write_id(r->j, id);
    return true;
}

bool write_world_event(struct copy_conversion *c, struct arena *arena, struct str event,
                       struct buf *out)
{
    static const char *const states[] = { NULL, "scheduled", "active", "completed", "canceled" };
    static const struct member_name names[] = {
        { "id", NULL },
        { "name", NULL },
        { "scheduled_start_time", NULL },
        { "scheduled_end_time", NULL },
        { "description", NULL },
        { "recurrence_rule", NULL },
        { 0 },
    };
    struct json_writer j = json_writer_to_buf(out);
    struct member_reader r = { c, &j };
    char name[100];

    json_begin_object(&j);
    copy_members(&j, event, names);
    write_reference(c, &j, "channel", &c->known.channels, json_member_id(event, "channel_id"));
    write_raw_member(&j, "location",
                     json_member_raw(json_member_raw(event, "entity_metadata"), "location"));
    write_words_member(&j, "status", states, COUNT_OF(states), json_member_int(event, "status"));
    write_user(c, arena, &j, "by", json_member_raw(event, "creator"),
               json_member_id(event, "creator_id"));
    if (c->people) {
        snprintf(name, sizeof name, "scheduled_event_users/%" PRIu64 ".jsonl",
                 json_member_id(event, "id"));
        json_write_name(&j, "users");
        json_begin_array(&j);
        guild_archive_for_each_line(c->archive, name, 0, write_event_user, &r);
        json_end_array(&j);
    }
    json_end_object(&j);
    return true;
}

bool write_world_automod_rule(struct copy_conversion *c, struct arena *arena, struct str rule,
                              struct buf *out)
{
    static const struct member_name names[] = {
        { "id", NULL },
        { "name", NULL },
        { "trigger_type", NULL },
        { "trigger_metadata", NULL },
        { "actions", NULL },
        { "enabled", NULL },
        { 0 },
    };
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    copy_members(&j, rule, names);
    write_user(c, arena, &j, "by", (struct str){ 0 }, json_member_id(rule, "creator_id"));
    write_references(c, arena, &j, "exempt_roles", &c->known.roles,
                     json_member_raw(rule, "exempt_roles"));
    write_references(c, arena, &j, "exempt_channels", &c->known.channels,
                     json_member_raw(rule, "exempt_channels"));
    json_end_object(&j);
    return true;
}

/* Copies webhooks that were created for incoming messages; others belong to apps and follows. */
bool write_world_webhook(struct copy_conversion *c, struct arena *arena, struct str webhook,
                         struct buf *out)
{
    struct json_writer j = json_writer_to_buf(out);
    struct str name = json_member_raw(webhook, "name"), user = json_member_raw(webhook, "user");

    if (json_member_int(webhook, "type") != 1 ||
        !is_known_id(&c->known.channels, json_member_id(webhook, "channel_id")))
        return false;
    json_begin_object(&j);
    copy_members(&j, webhook, (const struct member_name[]){ { "id", NULL }, { 0 } });
    write_raw_member(&j, "name", name.n ? name : STR("\"Webhook\""));
    write_reference(c, &j, "channel", &c->known.channels, json_member_id(webhook, "channel_id"));
    if (user.n)
        write_user(c, arena, &j, "by", user, 0);
    json_end_object(&j);
    return true;
}

bool write_world_invite(struct copy_conversion *c, struct arena *arena, struct str invite,
                        struct buf *out)
{
    static const struct member_name names[] = {
        { "code", NULL },
        { "max_age", NULL },
        { "max_uses", NULL },
        { "uses", NULL },
        { "temporary", NULL },
        { "created_at", NULL },
        { 0 },
    };
    snowflake channel = json_member_id(json_member_raw(invite, "channel"), "id");
    struct str inviter = json_member_raw(invite, "inviter");
    struct json_writer j = json_writer_to_buf(out);

    if (!is_known_id(&c->known.channels, channel))
        return false;
    json_begin_object(&j);
    copy_members(&j, invite, names);
    write_reference(c, &j, "channel", &c->known.channels, channel);
    if (inviter.n)
        write_user(c, arena, &j, "by", inviter, 0);
    json_end_object(&j);
    return true;
}

/* --- messages ---------------------------------------------------------------------- */

static struct str emoji_text(struct arena *arena, struct str emoji)
{
    struct str name = json_member_text(arena, emoji, "name");
    snowflake id = json_member_id(emoji, "id");

    if (!id)
        return name;
    return str_printf(arena, "%.*s:%" PRIu64, STR_ARGS(name.n ? name : STR("_")), id);
}

static void write_reactions(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                            struct str message)
{
    struct list reactions = json_array_items(arena, json_member_raw(message, "reactions"));
    struct list users = json_array_items(arena, json_member_raw(message, "reaction_users"));

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
            j, emoji_text(arena, json_member_raw(((struct str *)reactions.items)[i], "emoji")));
        write_users(c, arena, j, "users", ((struct str *)users.items)[i]);
        json_end_object(j);
    }
    json_end_array(j);
}

static void write_poll(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                       struct str message)
{
    struct str poll = json_member_raw(message, "poll");
    struct list answers = json_array_items(arena, json_member_raw(poll, "answers"));
    struct list voters = json_array_items(arena, json_member_raw(message, "poll_voters"));

    if (!poll.n)
        return;
    json_write_name(j, "poll");
    json_begin_object(j);
    write_raw_member(j, "question", json_member_raw(json_member_raw(poll, "question"), "text"));
    write_raw_member(j, "ends_at", json_member_raw(poll, "expiry"));
    write_raw_member(j, "allow_multiselect", json_member_raw(poll, "allow_multiselect"));
    json_write_name(j, "answers");
    json_begin_array(j);
    for (size_t i = 0; i < answers.count; i++) {
        struct str media = json_member_raw(((struct str *)answers.items)[i], "poll_media"),
                   emoji = json_member_raw(media, "emoji"), text = json_member_raw(media, "text");

        json_begin_object(j);
        write_raw_member(j, "text", text.n ? text : STR("\"-\""));
        if (emoji.n) {
            json_write_name(j, "emoji");
            json_write_text(j, emoji_text(arena, emoji));
        }
        if (i < voters.count)
            write_users(c, arena, j, "users", ((struct str *)voters.items)[i]);
        json_end_object(j);
    }
    json_end_array(j);
    json_end_object(j);
}

static void write_forward(struct json_writer *j, struct arena *arena, struct str message,
                          struct str reference)
{
    static const struct member_name origin[] = {
        { "channel_id", NULL }, { "message_id", NULL }, { "guild_id", NULL }, { 0 }
    };
    static const struct member_name names[] = {
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
    struct list snapshots = json_array_items(arena, json_member_raw(message, "message_snapshots"));

    if (!snapshots.count)
        return;
    json_write_name(j, "forward");
    json_begin_object(j);
    copy_members(j, reference, origin);
    copy_members(j, json_member_raw(*(struct str *)snapshots.items, "message"), names);
    json_end_object(j);
}

static void write_author(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                         struct str message)
{
    struct str author = json_member_raw(message, "author"),
               webhook = json_member_raw(message, "webhook_id");

    /* Answers to interactions have the id of the app as webhook, and its bot as author. */
    bool by_app = webhook.n && str_eq(webhook, json_member_raw(message, "application_id"));
    if (webhook.n && !by_app) {
        write_raw_member(j, "webhook", webhook);
        write_raw_member(j, "username", json_member_raw(author, "username"));
        return;
    }
    write_user(c, arena, j, "author", author, 0);
}

static void write_mentions(struct copy_conversion *c, struct arena *arena, struct json_writer *j,
                           struct str message)
{
    struct str mentions = json_member_raw(message, "mentions");

    if (mentions.n > 2)
        write_users(c, arena, j, "mentions", mentions);
    write_raw_member(j, "mention_roles", json_member_raw(message, "mention_roles"));
}

bool write_world_message(struct copy_conversion *c, struct arena *arena, struct str message,
                         struct buf *out)
{
    static const struct member_name names[] = {
        { "id", NULL },
        { "content", NULL },
        { "edited_timestamp", "edited_at" },
        { "embeds", NULL },
        { "pinned", NULL },
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
    struct str reference = json_member_raw(message, "message_reference");
    const struct str *pinned_at = map_get(&c->pinned_at, json_member_id(message, "id"));
    struct json_writer j = json_writer_to_buf(out);

    json_begin_object(&j);
    copy_members(&j, message, names);
    if (pinned_at)
        write_raw_member(&j, "pinned_at", *pinned_at);
    write_author(c, arena, &j, message);
    write_mentions(c, arena, &j, message);
    if (json_member_raw(message, "message_snapshots").n)
        write_forward(&j, arena, message, reference);
    else
        write_raw_member(&j, "reference", reference);
    if (c->people)
        write_reactions(c, arena, &j, message);
    write_poll(c, arena, &j, message);
    json_end_object(&j);
    return true;
}

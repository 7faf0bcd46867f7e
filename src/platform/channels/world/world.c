/* world.c - import and export of guild channels and their overwrites in world files (JSON data
 * sets).
 *
 * All channels of a guild are inserted before their parents are set, so a file may list them in any
 * order. */
#include "model/channel.h"
#include "model/guild.h"
#include "platform/channels/deletion.h"
#include "platform/channels/internal.h"
#include "platform/channels/world/world.h"
#include "platform/worlds/import_export.h"

static const struct enum_choice channel_words[] = {
    { CHANNEL_TEXT, "text", "TEXT", "" },
    { CHANNEL_VOICE, "voice", "VOICE", "" },
    { CHANNEL_CATEGORY, "category", "CATEGORY", "" },
    { CHANNEL_ANNOUNCEMENT, "news", "NEWS", "" },
    { CHANNEL_ANNOUNCEMENT_THREAD, "news_thread", "NEWS_THREAD", "" },
    { CHANNEL_THREAD, "thread", "THREAD", "" },
    { CHANNEL_PRIVATE_THREAD, "private_thread", "PRIVATE_THREAD", "" },
    { CHANNEL_STAGE, "stage", "STAGE", "" },
    { CHANNEL_FORUM, "forum", "FORUM", "" },
    { CHANNEL_MEDIA, "media", "MEDIA", "" },
    { 0 },
};
static const struct type type_channel_word = { .kind = KIND_STRING, .choices = channel_words };

static int64_t channel_type_from_word(struct str word)
{
    for (const struct enum_choice *c = channel_words; c->text; c++)
        if (str_is(word, c->text))
            return c->value;
    return -1;
}

static const char *channel_type_to_word(int64_t type)
{
    for (const struct enum_choice *c = channel_words; c->text; c++)
        if (c->value == type)
            return c->text;
    return NULL;
}

static const struct field overwrite_fields[] = {
    MAYBE(struct world_overwrite, role, type_world_ref),
    MAYBE(struct world_overwrite, member, type_world_ref),
    MAYBE(struct world_overwrite, allow, type_world_permissions),
    MAYBE(struct world_overwrite, deny, type_world_permissions),
    { 0 },
};

static void validate_overwrite(struct form *form, const struct json_path *here, const void *object)
{
    const struct world_overwrite *o = object;

    world_file_check_permissions(form, here, "allow", &o->allow);
    world_file_check_permissions(form, here, "deny", &o->deny);
    if ((o->role.given == GIVEN) == (o->member.given == GIVEN))
        form_add_error(form, here, "WORLD_ONE_OF", "An overwrite needs either a role or a member.");
}

WORLD_OBJECT(overwrite, overwrite_fields, validate_overwrite);

static const struct enum_choice tag_settings[] = {
    { 0, "match_some", "MATCH_SOME", "One of the tags" },
    { 0, "match_all", "MATCH_ALL", "All of the tags" },
    { 0 },
};
static const struct type type_tag_setting = { .kind = KIND_STRING, .choices = tag_settings };
static const struct type type_sort_order = { .kind = KIND_INT, .min = 0, .max = 1 };
static const struct type type_forum_layout = { .kind = KIND_INT, .min = 0, .max = 2 };
static const struct field channel_fields[] = {
    MAYBE(struct world_channel, id, type_id),
    MUST(struct world_channel, name, type_world_name),
    { FIELD(struct world_channel, type), .type = &type_channel_word, .flags = OPTIONAL,
      .fallback_text = "text" },
    MAYBE(struct world_channel, parent, type_world_ref),
    MAYBE(struct world_channel, topic, type_topic),
    MAYBE(struct world_channel, position, type_count),
    MAYBE(struct world_channel, nsfw, type_bool),
    MAYBE(struct world_channel, rate_limit_per_user, type_count),
    MAYBE(struct world_channel, bitrate, type_count),
    MAYBE(struct world_channel, user_limit, type_count),
    MAYBE(struct world_channel, rtc_region, type_text),
    MAYBE(struct world_channel, video_quality_mode, type_count),
    MAYBE(struct world_channel, flags, type_int),
    MAYBE(struct world_channel, default_auto_archive_duration, type_count),
    MAYBE(struct world_channel, owner, type_world_ref),
    MAYBE(struct world_channel, archived, type_bool),
    MAYBE(struct world_channel, archived_at, type_time),
    MAYBE(struct world_channel, auto_archive_duration, type_count),
    MAYBE(struct world_channel, locked, type_bool),
    MAYBE(struct world_channel, overwrites, world_overwrite_list),
    WORLD_FILE_FIELD("messages"),
    MAYBE(struct world_channel, tags, world_tag_list),
    MAYBE(struct world_channel, default_reaction, type_world_ref),
    MAYBE(struct world_channel, default_sort_order, type_sort_order),
    MAYBE(struct world_channel, default_forum_layout, type_forum_layout),
    MAYBE(struct world_channel, default_tag_setting, type_tag_setting),
    MAYBE(struct world_channel, default_thread_rate_limit_per_user, type_count),
    MAYBE(struct world_channel, applied_tags, type_world_refs),
    MAYBE(struct world_channel, people, type_world_refs),
    MAYBE(struct world_channel, invitable, type_bool),
    { 0 },
};

WORLD_OBJECT(channel, channel_fields, NULL);

/* --- import from a world file -------------------------------------------------------- */

static const char COUNT_CHANNELS_OF[] = "select count(*) from channels where guild_id = $1";

static enum err import_channel(struct world_file_importer *im, const void *entry,
                               const struct json_path *at, snowflake guild)
{
    const struct world_channel *c = entry;
    unsigned before = im->form->problems;
    struct rows row;
    snowflake id = 0;
    bool found;
    enum err e =
        world_file_find_existing_object(im, &channel_naming, guild, c->id, c->name, at, &id);

    if (e || im->form->problems != before)
        return e;
    count(im, COUNT_CHANNELS, !id);
    if (id)
        return OK;
    e = tx_one(im->tx, COUNT_CHANNELS_OF, BIND(v_id(guild)), &row, &found);
    if (e)
        return e;
    return channel_insert(
        im->tx, &(struct channel){ .id = c->id.given == GIVEN ? c->id.value : snowflake_new(),
                                   .guild_id = opt_id_or_null(guild),
                                   .type = channel_type_from_word(c->type),
                                   .name = opt_str_or_null(c->name),
                                   .position = opt_int_present(row_int(&row, 0)) });
}

/* --- permission overwrites ----------------------------------------------------------- */

static uint64_t parse_permissions(struct world_file_importer *im, const struct opt_str *json)
{
    struct str wrong;
    uint64_t perms = 0;

    if (json->given == GIVEN)
        permission_names_parse(json->value, im->arena, &perms, &wrong);
    return perms;
}

static enum err import_overwrites(struct world_file_importer *im, const struct world_channel *c,
                                  snowflake channel, snowflake guild, const struct json_path *up)
{
    struct json_path all = json_path_key(up, STR("overwrites"));
    const struct world_overwrite *o = c->overwrites.value.items;
    struct list made = { 0 };
    enum err e = OK;

    for (size_t i = 0; i < c->overwrites.value.count && !e; i++) {
        bool role = o[i].role.given == GIVEN;
        struct json_path at = json_path_index(&all, i),
                         to_at = json_path_key(&at, role ? STR("role") : STR("member"));
        snowflake target = 0;

        e = world_file_resolve_reference(im, role ? &role_naming : &user_naming, guild,
                                         role ? o[i].role.value : o[i].member.value, &to_at,
                                         &target);
        if (!e && target)
            *(struct overwrite *)list_append(im->arena, &made, sizeof(struct overwrite)) =
                (struct overwrite){ target, role ? OVERWRITE_ROLE : OVERWRITE_MEMBER,
                                    parse_permissions(im, &o[i].allow),
                                    parse_permissions(im, &o[i].deny) };
    }
    return e || c->overwrites.given != GIVEN ? e
                                             : channel_overwrites_replace(im->tx, channel, &made);
}

/* --- second pass of the import: fields of a channel ---------------------------------- */

static const char UPDATE_CHANNEL[] =
    "update channels set name = $2, type = $3, parent_id = coalesce($4, parent_id), "
    "topic = coalesce($5, topic), position = coalesce($6, position), nsfw = coalesce($7, nsfw), "
    "rate_limit_per_user = coalesce($8, rate_limit_per_user), bitrate = coalesce($9, bitrate), "
    "user_limit = coalesce($10, user_limit), rtc_region = coalesce($11, rtc_region), "
    "video_quality_mode = coalesce($12, video_quality_mode), flags = coalesce($13, flags), "
    "default_auto_archive_duration = coalesce($14, default_auto_archive_duration), "
    "owner_id = coalesce($15, owner_id), thread_archived = coalesce($16, thread_archived), "
    "thread_archived_at = coalesce($17, thread_archived_at), "
    "thread_archive_minutes = coalesce($18, thread_archive_minutes), "
    "thread_locked = coalesce($19, thread_locked) where id = $1";

static enum err update_channel_row(struct world_file_importer *im, const struct world_channel *c,
                                   snowflake id, snowflake parent, snowflake owner)
{
    return tx_exec(
        im->tx, UPDATE_CHANNEL,
        BIND(v_id(id), v_text(c->name), v_int(channel_type_from_word(c->type)),
             parent ? v_id(parent) : v_null(), sql_value_of_optional_text(c->topic),
             sql_value_of_optional_int(c->position), sql_value_of_optional_bool(c->nsfw),
             sql_value_of_optional_int(c->rate_limit_per_user),
             sql_value_of_optional_int(c->bitrate), sql_value_of_optional_int(c->user_limit),
             sql_value_of_optional_text(c->rtc_region),
             sql_value_of_optional_int(c->video_quality_mode), sql_value_of_optional_int(c->flags),
             sql_value_of_optional_int(c->default_auto_archive_duration),
             owner ? v_id(owner) : v_null(), sql_value_of_optional_bool(c->archived),
             sql_value_of_optional_int(c->archived_at),
             sql_value_of_optional_int(c->auto_archive_duration),
             sql_value_of_optional_bool(c->locked)),
        NULL);
}

static enum err import_channel_fields(struct world_file_importer *im, const void *entry,
                                      const struct json_path *at, snowflake guild)
{
    const struct world_channel *c = entry;
    snowflake id = 0, parent = 0, owner = 0;

    /* Skip entries for which the first pass (import_channel) reported a form error. */
    if (form_has_error_at_path(im->form, at))
        return OK;
    enum err e =
        world_file_find_existing_object(im, &channel_naming, guild, c->id, c->name, at, &id);
    if (!e)
        e = world_file_resolve_optional_reference(im, &channel_naming, guild, &c->parent, at,
                                                  "parent", &parent);
    if (!e)
        e = world_file_resolve_optional_reference(im, &user_naming, 0, &c->owner, at, "owner",
                                                  &owner);
    if (!e && id)
        e = update_channel_row(im, c, id, parent, owner);
    if (!e && id)
        e = import_overwrites(im, c, id, guild, at);
    if (!e && id)
        e = import_forum_fields(im, c, id, guild, at);
    return e || !id ? e : world_file_import_fields(im, "channel", entry, at, id);
}

/* Imports thread fields in a third pass over the file, because a thread's tags belong to a forum
 * that may follow later in the file. */
static enum err import_thread_details(struct world_file_importer *im, const void *entry,
                                      const struct json_path *at, snowflake guild)
{
    const struct world_channel *c = entry;
    snowflake id = 0, parent = 0;

    if (!channel_is_thread(channel_type_from_word(c->type)) || form_has_error_at_path(im->form, at))
        return OK;
    enum err e =
        world_file_find_existing_object(im, &channel_naming, guild, c->id, c->name, at, &id);
    if (!e)
        e = world_file_resolve_optional_reference(im, &channel_naming, guild, &c->parent, at,
                                                  "parent", &parent);
    return e || !id ? e : import_thread_fields(im, c, id, parent, at);
}

/* --- export to a world file ---------------------------------------------------------- */

static const char OVERWRITES[] =
    "select o.target_id, o.type, o.allow, o.deny, u.username from overwrites o "
    "left join users u on u.id = o.target_id where o.channel_id = $1 order by o.target_id";

static enum err export_overwrites(struct world_file_exporter *ex, snowflake channel,
                                  struct opt_list *ret)
{
    struct rows r;
    enum err e = tx_query(ex->tx, OVERWRITES, BIND(v_id(channel)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        bool role = row_int(&r, 1) == OVERWRITE_ROLE;
        struct opt_str to = role ? world_file_export_reference(ex->tx, &ex->roles, row_id(&r, 0))
                                 : export_nondefault_text(&r, 4, NULL);

        if (to.given != GIVEN)
            continue;
        struct world_overwrite *o = export_add_list_item(ex->tx, ret, sizeof *o);
        *(role ? &o->role : &o->member) = to;
        if (row_int(&r, 2))
            o->allow = permission_names_encode((uint64_t)row_int(&r, 2), tx_arena(ex->tx));
        if (row_int(&r, 3))
            o->deny = permission_names_encode((uint64_t)row_int(&r, 3), tx_arena(ex->tx));
    }
    return rows_end(&r);
}

static const char CHANNELS[] =
    "select c.id, c.name, c.type, c.parent_id, c.topic, c.position, c.nsfw, c.rate_limit_per_user, "
    "c.bitrate, c.user_limit, c.rtc_region, c.video_quality_mode, c.flags, "
    "c.default_auto_archive_duration, u.username, c.thread_archived, c.thread_archived_at, "
    "c.thread_archive_minutes, c.thread_locked from channels c "
    "left join users u on u.id = c.owner_id where c.guild_id = $1 and "
    "not" PARENT_BEING_DELETED("c.parent_id") " order by c.id";

static void world_channel_from_row(const struct rows *r, struct world_file_exporter *ex,
                                   struct world_channel *c)
{
    const char *type = channel_type_to_word(row_int(r, 2));

    *c = (struct world_channel){
        .id = { GIVEN, row_id(r, 0) },
        .name = row_text(r, 1),
        .type = str_of(type ? type : "text"),
        .parent = world_file_export_reference(ex->tx, &ex->channels, row_id(r, 3)),
        .topic = export_nondefault_text(r, 4, NULL),
        .position = export_nondefault_int(r, 5, -1),
        .nsfw = export_nondefault_bool(r, 6, false),
        .rate_limit_per_user = export_nondefault_int(r, 7, 0),
        .bitrate = export_nondefault_int(r, 8, 64000),
        .user_limit = export_nondefault_int(r, 9, 0),
        .rtc_region = export_nondefault_text(r, 10, NULL),
        .video_quality_mode = export_nondefault_int(r, 11, 1),
        .flags = export_nondefault_int(r, 12, 0),
        .default_auto_archive_duration = export_nondefault_int(r, 13, -1),
        .owner = export_nondefault_text(r, 14, NULL),
        .archived = export_nondefault_bool(r, 15, false),
        .archived_at = export_nondefault_int(r, 16, -1),
        .auto_archive_duration = export_nondefault_int(r, 17, 1440),
        .locked = export_nondefault_bool(r, 18, false),
    };
}

static enum err export_channels(struct world_file_exporter *ex, struct opt_list *ret)
{
    size_t size = world_file_entry_size(ex->format, "channel");
    struct rows r;
    enum err e = tx_query(ex->tx, CHANNELS, BIND(v_id(ex->guild)), &r);

    if (e)
        return e;
    while (rows_next(&r))
        world_channel_from_row(&r, ex, world_file_entry_add(ex, "channel", ret));
    e = rows_end(&r);
    char *entry = ret->value.items;
    for (size_t i = 0; i < ret->value.count && !e; i++, entry += size) {
        struct world_channel *c = (void *)entry;

        ex->channel = c->id.value;
        e = export_overwrites(ex, c->id.value, &c->overwrites);
        if (!e)
            e = world_file_export_fields(ex, "channel", ex->channel, entry, 1);
    }
    return e ? e : export_thread_fields(ex, ret);
}

const struct world_file_fields channels_world = { (const struct world_file_field[]){
    { "guild", "channels", &world_channel_list, "channel", 50, .import = import_channel,
      .export = export_channels,
      .count = SQL_TEXT("select count(*) from channels where type >= 0") },
    { "guild", "channels", .order = 70, .import = import_channel_fields },
    { "guild", "channels", .order = 80, .import = import_thread_details },
    { 0 },
} };

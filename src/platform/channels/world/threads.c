/* threads.c - import and export of forum settings, tags and threads in world files (JSON data
 * sets). */
#include "model/channel.h"
#include "model/fields/ids.h"
#include "platform/channels/deletion.h"
#include "platform/channels/internal.h"
#include "platform/channels/world/world.h"
#include "platform/emojis/world.h"
#include "platform/worlds/import_export.h"

static const struct type type_tag_name = { .kind = KIND_STRING, .min = 1, .max = 20 };
static const struct field tag_fields[] = {
    MAYBE(struct world_tag, id, type_id),
    MUST(struct world_tag, name, type_tag_name),
    MAYBE(struct world_tag, moderated, type_bool),
    MAYBE(struct world_tag, emoji, type_world_ref),
    { 0 },
};

WORLD_OBJECT(tag, tag_fields, NULL);

/* --- import of forums from a world file ---------------------------------------------- */

static const char FORUM_TAGS[] = "select available_tags from channels where id = $1";
static const char UPDATE_FORUM[] =
    "update channels set available_tags = coalesce($2, available_tags), "
    "default_reaction = coalesce($3, default_reaction), "
    "default_sort_order = coalesce($4, default_sort_order), "
    "default_forum_layout = coalesce($5, default_forum_layout), "
    "default_tag_setting = coalesce($6, default_tag_setting), "
    "default_thread_slowmode = coalesce($7, default_thread_slowmode) where id = $1";

static enum err read_tags_of_forum(struct world_file_importer *im, snowflake forum,
                                   struct list *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(im->tx, FORUM_TAGS, BIND(v_id(forum)), &row, &found);

    *ret = (struct list){ 0 };
    if (!e && found && !row_column_is_null(&row, 0))
        *ret = json_column_decode_list(im->arena, &type_forum_tags, row_text(&row, 0));
    return e;
}

/* Finds a tag by name or, if no tag has that name, by id. Returns NULL if there is none. */
static const struct forum_tag *find_tag_by_name_or_id(const struct list *tags, struct str to)
{
    const struct forum_tag *t = tags->items;
    snowflake id = 0;

    for (size_t i = 0; i < tags->count; i++)
        if (str_eq(t[i].name, to))
            return &t[i];
    snowflake_parse(to, &id);
    for (size_t i = 0; id && i < tags->count; i++)
        if (t[i].id == id)
            return &t[i];
    return NULL;
}

/* Imports the tags of a forum. A tag that already exists retains its id. */
static enum err import_forum_tags(struct world_file_importer *im, const struct opt_list *in,
                                  snowflake forum, snowflake guild, const struct json_path *up,
                                  struct list *ret)
{
    const struct world_tag *tags = in->value.items;
    struct json_path all = json_path_key(up, STR("tags"));
    struct list before;
    enum err e = read_tags_of_forum(im, forum, &before);

    for (size_t i = 0; !e && i < in->value.count; i++) {
        struct json_path at = json_path_index(&all, i), emoji_at = json_path_key(&at, STR("emoji"));
        const struct forum_tag *known = find_tag_by_name_or_id(&before, tags[i].name);
        struct world_emoji_ref emoji;

        e = world_file_resolve_emoji_ref(im, guild, &tags[i].emoji, &emoji_at, &emoji);
        if (find_tag_by_name_or_id(ret, tags[i].name))
            form_add_error(im->form, &at, "WORLD_AMBIGUOUS", "two tags have this name");
        *(struct forum_tag *)list_append(im->arena, ret, sizeof(struct forum_tag)) =
            (struct forum_tag){ .id = tags[i].id.given == GIVEN ? tags[i].id.value
                                      : known                   ? known->id
                                                                : snowflake_new(),
                                .name = tags[i].name,
                                .moderated = tags[i].moderated.value,
                                .emoji_id = emoji.id,
                                .emoji_name = emoji.id.given == GIVEN
                                                  ? (struct opt_str){ .given = GIVEN_NULL }
                                                  : emoji.name };
    }
    return e;
}

static enum err resolve_default_reaction(struct world_file_importer *im,
                                         const struct world_channel *c, snowflake guild,
                                         const struct json_path *up, struct value *ret)
{
    struct json_path at = json_path_key(up, STR("default_reaction"));
    struct world_emoji_ref emoji;

    *ret = v_null();
    if (c->default_reaction.given != GIVEN)
        return OK;
    enum err e = world_file_resolve_emoji_ref(im, guild, &c->default_reaction, &at, &emoji);
    struct default_reaction r = { emoji.id, emoji.name };
    if (emoji.id.given == GIVEN)
        r.emoji_name = (struct opt_str){ .given = GIVEN_NULL };
    *ret = v_text(json_column_encode(im->arena, &type_default_reaction, &r));
    return e;
}

enum err import_forum_fields(struct world_file_importer *im, const struct world_channel *c,
                             snowflake id, snowflake guild, const struct json_path *at)
{
    unsigned before = im->form->problems;
    struct value reaction;
    struct list tags = { 0 };
    enum err e = import_forum_tags(im, &c->tags, id, guild, at, &tags);

    if (!e)
        e = resolve_default_reaction(im, c, guild, at, &reaction);
    if (e || im->form->problems != before)
        return e;
    return tx_exec(im->tx, UPDATE_FORUM,
                   BIND(v_id(id),
                        c->tags.given == GIVEN
                            ? v_text(json_column_encode(im->arena, &type_forum_tags, &tags))
                            : v_null(),
                        reaction, sql_value_of_optional_int(c->default_sort_order),
                        sql_value_of_optional_int(c->default_forum_layout),
                        sql_value_of_optional_text(c->default_tag_setting),
                        sql_value_of_optional_int(c->default_thread_rate_limit_per_user)),
                   NULL);
}

/* --- import of threads from a world file --------------------------------------------- */

static const char UPDATE_THREAD[] =
    "update channels set applied_tags = coalesce($2, applied_tags, (select '[]' from channels p "
    "where p.id = channels.parent_id and p.type in (15, 16))), "
    "thread_invitable = coalesce($3, thread_invitable) where id = $1";

static enum err resolve_applied_tags(struct world_file_importer *im, const struct opt_list *in,
                                     snowflake forum, const struct json_path *up, struct list *ret)
{
    const struct str *names = in->value.items;
    struct json_path all = json_path_key(up, STR("applied_tags"));
    struct list tags = { 0 };
    enum err e = in->value.count ? read_tags_of_forum(im, forum, &tags) : OK;

    for (size_t i = 0; !e && i < in->value.count; i++) {
        struct json_path at = json_path_index(&all, i);
        const struct forum_tag *t = find_tag_by_name_or_id(&tags, names[i]);

        if (t)
            id_list_add(im->arena, ret, t->id);
        else
            form_add_error(im->form, &at, "WORLD_UNKNOWN", "there is no tag '%.*s'",
                           STR_ARGS(form_shorten_quoted_value(names[i])));
    }
    return e;
}

/* If the file lists no members of a private thread, the thread's creator becomes a member. */
static enum err import_thread_members(struct world_file_importer *im, const struct world_channel *c,
                                      snowflake id, struct list *people)
{
    struct channel thread;
    bool new;
    enum err e = channel_find_without_overwrites(im->tx, id, &thread);

    if (!e && c->people.given == ABSENT && thread.type == CHANNEL_PRIVATE_THREAD &&
        thread.owner_id.given == GIVEN)
        id_list_add(im->arena, people, thread.owner_id.value);
    for (size_t i = 0; !e && i < people->count; i++)
        e = thread_member_insert(im->tx, &thread, ((const snowflake *)people->items)[i], 1,
                                 snowflake_to_ms(id) * 1000, &new);
    return e;
}

enum err import_thread_fields(struct world_file_importer *im, const struct world_channel *c,
                              snowflake id, snowflake parent, const struct json_path *at)
{
    unsigned before = im->form->problems;
    struct list tags = { 0 }, people = { 0 };
    enum err e = resolve_applied_tags(im, &c->applied_tags, parent, at, &tags);

    if (!e)
        e = world_file_resolve_references(im, &user_naming, 0, &c->people, at, "people", &people);
    if (e || im->form->problems != before)
        return e;
    e = tx_exec(im->tx, UPDATE_THREAD,
                BIND(v_id(id),
                     c->applied_tags.given == GIVEN
                         ? v_text(json_column_encode(im->arena, &type_ids, &tags))
                         : v_null(),
                     sql_value_of_optional_bool(c->invitable)),
                NULL);
    return e ? e : import_thread_members(im, c, id, &people);
}

/* --- export to a world file ---------------------------------------------------------- */

static const char FORUMS_AND_THREADS[] =
    "select c.id, c.type, c.available_tags, c.default_reaction, c.default_sort_order, "
    "c.default_forum_layout, c.default_tag_setting, c.default_thread_slowmode, c.applied_tags, "
    "c.thread_invitable, p.available_tags from channels c left join channels p on "
    "p.id = c.parent_id where c.guild_id = $1 and not" PARENT_BEING_DELETED(
        "c.parent_id") " order by c.id";
static const char PEOPLE[] =
    "select t.thread_id, u.username from thread_members t join users u on u.id = t.user_id "
    "join channels c on c.id = t.thread_id where c.guild_id = $1 and "
    "not" PARENT_BEING_DELETED("c.parent_id") " order by t.thread_id, t.user_id";

static void export_forum_settings(const struct rows *r, struct tx *tx, struct world_channel *c)
{
    struct list tags =
        row_column_is_null(r, 2)
            ? (struct list){ 0 }
            : json_column_decode_list(tx_arena(tx), &type_forum_tags, row_text(r, 2));
    const struct forum_tag *t = tags.items;
    const struct default_reaction *reaction =
        row_column_is_null(r, 3)
            ? NULL
            : json_column_decode(tx_arena(tx), &type_default_reaction, row_text(r, 3));

    for (size_t i = 0; i < tags.count; i++)
        *(struct world_tag *)export_add_list_item(tx, &c->tags, sizeof(struct world_tag)) =
            (struct world_tag){ .id = opt_id_or_null(t[i].id),
                                .name = t[i].name,
                                .moderated = { t[i].moderated ? GIVEN : ABSENT, t[i].moderated },
                                .emoji = world_file_format_emoji_reference(tx, t[i].emoji_id,
                                                                           t[i].emoji_name) };
    if (reaction)
        c->default_reaction =
            world_file_format_emoji_reference(tx, reaction->emoji_id, reaction->emoji_name);
    c->default_sort_order = export_nondefault_int(r, 4, -1);
    c->default_forum_layout = export_nondefault_int(r, 5, 0);
    c->default_tag_setting = export_nondefault_text(r, 6, NULL);
}

/* Omits tags that the forum no longer has, because an import could not find them. */
static void export_thread_tags(const struct rows *r, struct tx *tx, struct world_channel *c)
{
    struct list ids = row_column_is_null(r, 8)
                          ? (struct list){ 0 }
                          : json_column_decode_list(tx_arena(tx), &type_ids, row_text(r, 8));
    struct list tags =
        ids.count && !row_column_is_null(r, 10)
            ? json_column_decode_list(tx_arena(tx), &type_forum_tags, row_text(r, 10))
            : (struct list){ 0 };
    const struct forum_tag *t = tags.items;

    if (row_int(r, 1) == CHANNEL_PRIVATE_THREAD)
        c->invitable = export_nondefault_bool(r, 9, true);
    for (size_t i = 0; i < tags.count; i++)
        if (id_list_contains(&ids, t[i].id))
            *(struct str *)export_add_list_item(tx, &c->applied_tags, sizeof(struct str)) =
                t[i].name;
}

static enum err export_thread_members(struct world_file_exporter *ex, struct world_file_entries *to)
{
    struct rows r;
    enum err e = tx_query(ex->tx, PEOPLE, BIND(v_id(ex->guild)), &r);

    if (e)
        return e;
    while (rows_next(&r)) {
        struct opt_list *people = world_file_entry_find_field(to, row_id(&r, 0));

        if (people)
            *(struct str *)export_add_list_item(ex->tx, people, sizeof(struct str)) =
                row_text(&r, 1);
    }
    return rows_end(&r);
}

enum err export_thread_fields(struct world_file_exporter *ex, struct opt_list *channels)
{
    size_t size = world_file_entry_size(ex->format, "channel");
    char *next = channels->value.items, *end = next + channels->value.count * size;
    struct world_file_entries people = { next, end, size, offsetof(struct world_channel, people) };
    struct rows r;

    if (!channels->value.count)
        return OK;
    enum err e = tx_query(ex->tx, FORUMS_AND_THREADS, BIND(v_id(ex->guild)), &r);
    if (e)
        return e;
    for (; rows_next(&r) && next < end; next += size) {
        struct world_channel *c = (void *)next;

        c->default_thread_rate_limit_per_user = export_nondefault_int(&r, 7, 0);
        if (channel_is_forum_or_media(row_int(&r, 1)))
            export_forum_settings(&r, ex->tx, c);
        if (channel_is_thread(row_int(&r, 1)))
            export_thread_tags(&r, ex->tx, c);
    }
    e = rows_end(&r);
    return e ? e : export_thread_members(ex, &people);
}

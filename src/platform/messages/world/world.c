/* world.c - import and export of messages in world files (JSON data sets). */
#include "platform/messages/internal.h"

#include "base/clock.h"
#include "platform/messages/world/world.h"

static const struct field message_fields[] = {
    MAYBE(struct world_message, id, type_id),
    MAYBE(struct world_message, author, type_world_ref),
    MAYBE(struct world_message, webhook, type_world_ref),
    MAYBE(struct world_message, username, type_world_name),
    MAYBE(struct world_message, avatar_url, type_long_url),
    MUST(struct world_message, content, type_world_content),
    MAYBE(struct world_message, at, type_time),
    MAYBE(struct world_message, minutes_ago, type_count),
    MAYBE(struct world_message, edited_at, type_time),
    MAYBE(struct world_message, embeds, type_raw),
    MAYBE(struct world_message, pinned, type_bool),
    WORLD_FILE_FIELD("reactions"),
    WORLD_FILE_FIELD("poll"),
    MAYBE(struct world_message, stickers, type_world_refs),
    MAYBE(struct world_message, forward, world_forward_type),
    MAYBE(struct world_message, type, type_count),
    MAYBE(struct world_message, flags, type_count),
    MAYBE(struct world_message, pinned_at, type_time),
    MAYBE(struct world_message, tts, type_bool),
    MAYBE(struct world_message, mention_everyone, type_bool),
    MAYBE(struct world_message, mentions, type_world_refs),
    MAYBE(struct world_message, mention_roles, type_ids),
    MAYBE(struct world_message, components, type_raw),
    MAYBE(struct world_message, sticker_items, type_raw),
    MAYBE(struct world_message, interaction_metadata, type_raw),
    MAYBE(struct world_message, application_id, type_id),
    MAYBE(struct world_message, attachments, world_attachment_list),
    MAYBE(struct world_message, reference, world_reference_type),
    { 0 },
};

/* Checks that a message's time is in the range of snowflakes, because a message without an id gets
 * a snowflake of its time. */
static void check_message_time(struct form *form, const struct json_path *here,
                               const struct world_message *m)
{
    bool said = m->at.given == GIVEN;
    struct json_path at = json_path_key(here, said ? STR("at") : STR("minutes_ago"));
    int64_t last = SNOWFLAKE_EPOCH_MS + (INT64_MAX >> 22);
    int64_t most = (clock_ms() - SNOWFLAKE_EPOCH_MS) / 60000;

    if (said ? m->at.value / 1000 < SNOWFLAKE_EPOCH_MS || m->at.value / 1000 > last
             : m->minutes_ago.value > most)
        form_add_error(form, &at, "WORLD_NO_ID", "The time is outside the range of ids.");
}

static void check_message_entry(struct form *form, const struct json_path *here, const void *object)
{
    const struct world_message *m = object;

    if ((m->author.given == GIVEN) == (m->webhook.given == GIVEN)) {
        struct json_path at = json_path_key(here, STR("author"));

        form_add_error(form, &at, "WORLD_ONE_OF", "A message needs either an author or a webhook.");
    }
    if (m->id.given != GIVEN)
        check_message_time(form, here, m);
    world_file_check_json_kind(form, here, "embeds", &m->embeds, JSON_ARRAY, JSON_OBJECT);
    check_copied_message_fields(form, here, m);
}

WORLD_OBJECT(message, message_fields, check_message_entry);

/* --- import from a world file -------------------------------------------------------- */

static const char COUNT_MESSAGES_IN[] =
    "select count(*) from (select id from messages where channel_id = $1 limit 1) m";
static const char FIND_MESSAGE[] = "select 1 from messages where id = $1";
static const char UPDATE_LAST_MESSAGE[] =
    "update channels set last_message_id = "
    "(select max(id) from messages where channel_id = $1) where id = $1";

/* Finds the first unused message id for a time in milliseconds. */
static enum err find_unused_id(struct world_file_importer *im, int64_t ms, snowflake *ret)
{
    bool taken = true;
    enum err e = OK;

    for (*ret = snowflake_from_ms(ms); taken && !e; *ret += taken)
        e = tx_exists(im->tx, FIND_MESSAGE, BIND(v_id(*ret)), &taken);
    return e;
}

/* Chooses the id of an imported message. *ret is 0 if the message was imported before. */
static enum err choose_message_id(struct world_file_importer *im, const struct world_message *m,
                                  bool quiet, snowflake *ret)
{
    bool known;

    *ret = 0;
    if (m->id.given == GIVEN) {
        enum err e = tx_exists(im->tx, FIND_MESSAGE, BIND(v_id(m->id.value)), &known);

        *ret = known ? 0 : m->id.value;
        return e;
    }
    if (!quiet)
        return OK;
    if (m->at.given == GIVEN)
        return find_unused_id(im, m->at.value / 1000, ret);
    return find_unused_id(im, clock_ms() - m->minutes_ago.value * 60000, ret);
}

static enum err insert_imported_message(struct world_file_importer *im,
                                        const struct world_message *m, struct message *made,
                                        const struct imported_message_author *by,
                                        const struct json_path *up)
{
    if (m->embeds.given == GIVEN)
        made->embeds = json_remove_white_space(im->arena, m->embeds.value);
    made->webhook_id = (struct opt_id){ by->webhook ? GIVEN : ABSENT, by->webhook };
    made->webhook_name = by->name;
    made->webhook_avatar = by->avatar;
    import_forwarded_snapshot(im, m->forward.value, made);
    enum err e = import_message_stickers(im, &m->stickers, up, made);
    if (!e)
        e = import_copied_message_fields(im, m, up, made);
    made->cached_json = message_precompute_json(im->arena, made);
    if (!e)
        e = message_insert(im->tx, made);
    if (e || (m->edited_at.given != GIVEN && !m->pinned.value))
        return e;
    made->edited_timestamp = m->edited_at;
    made->pinned = m->pinned.value;
    made->pinned_at = m->pinned_at.value;
    return message_update(im->tx, made);
}

/* Updates a message that was edited or pinned at its source after the previous import. If the
 * stored message has a later edit, that edit is not overwritten. A stored pin is not removed. */
static enum err update_imported_message(struct world_file_importer *im,
                                        const struct world_message *m, snowflake channel,
                                        const struct json_path *up)
{
    struct message stored;
    bool found;
    enum err e = message_row_read(im->tx, channel, m->id.value, &stored, &found);

    if (e || !found)
        return e;
    bool edited =
        m->edited_at.given == GIVEN && (stored.edited_timestamp.given != GIVEN ||
                                        m->edited_at.value > stored.edited_timestamp.value);
    if (!edited && (!m->pinned.value || stored.pinned))
        return OK;
    e = attachments_read(im->tx, stored.id, &stored.attachments);
    if (!e && edited)
        e = import_message_edit(im, m, up, &stored);
    if (m->pinned.value && !stored.pinned) {
        stored.pinned = true;
        stored.pinned_at = m->pinned_at.value;
    }
    return e ? e : message_update(im->tx, &stored);
}

static enum err import_message(struct world_file_importer *im, const struct world_message *m,
                               snowflake channel, bool quiet, const struct json_path *up,
                               snowflake *first)
{
    struct imported_message_author by = { 0 };
    snowflake id = 0;
    enum err e = import_message_author(im, m, channel, up, &by);

    if (!e && by.author)
        e = choose_message_id(im, m, quiet, &id);
    if (e || !by.author)
        return e;
    count(im, COUNT_MESSAGES, id != 0);
    if (!id)
        return im->options->files ? update_imported_message(im, m, channel, up) : OK;
    if (!*first || id < *first)
        *first = id;
    struct message made = message_row_from_text(id, channel, by.author, m->content);
    e = insert_imported_message(im, m, &made, &by, up);
    im->channel = channel;
    return e ? e : world_file_import_fields(im, "message", m, up, id);
}

/* Statements that update a thread after messages were imported into it. $2 is the lowest id of the
 * imported messages: counts and positions of earlier messages remain, because a long thread is
 * imported in many small files. */
static const char COUNT_MESSAGES_OF[] =
    "update channels set thread_message_count = thread_message_count + $3, thread_begun = case when "
    "thread_begun = 1 or exists (select 1 from messages m where m.channel_id = $1 and m.id >= $2 "
    "and (m.id = $1 or m.type = 21)) then 1 else 0 end where id = $1 and type in (10, 11, 12)";
static const char NUMBER_MESSAGES[] =
    "update messages set position = p.n, shown = null from (select id, row_number() over (order by id) - 1 "
    "+ coalesce((select b.position + 1 from messages b where b.channel_id = $1 and b.id < $2 "
    "order by b.id desc limit 1), 0) as n from messages where channel_id = $1 and id >= $2) p "
    "where messages.id = p.id and (messages.position is null or messages.position <> p.n)";

static enum err update_thread_message_count(struct world_file_importer *im, snowflake id,
                                            snowflake first, int64_t made)
{
    int64_t threads = 0;
    enum err e =
        tx_exec(im->tx, COUNT_MESSAGES_OF, BIND(v_id(id), v_id(first), v_int(made)), &threads);

    return e || !threads ? e : tx_exec(im->tx, NUMBER_MESSAGES, BIND(v_id(id), v_id(first)), NULL);
}

/* Imports messages without an id only into an empty channel, to avoid duplicates. */
static enum err import_messages(struct world_file_importer *im, const void *entries,
                                const struct json_path *all, snowflake channel)
{
    const struct opt_list *messages = entries;
    size_t size = world_file_entry_size(im->format, "message");
    const char *entry = messages->value.items;
    int64_t n = 0, made = im->report->counts[COUNT_MESSAGES].made;
    snowflake first = 0;

    if (messages->value.count == 0)
        return OK;
    enum err e = tx_read_int(im->tx, COUNT_MESSAGES_IN, BIND(v_id(channel)), &n);
    bool quiet = !e && n == 0;
    for (size_t i = 0; i < messages->value.count && !e; i++, entry += size) {
        struct json_path at = json_path_index(all, i);

        e = import_message(im, (const struct world_message *)(const void *)entry, channel, quiet,
                           &at, &first);
    }
    if (!e)
        e = tx_exec(im->tx, UPDATE_LAST_MESSAGE, BIND(v_id(channel)), NULL);
    made = im->report->counts[COUNT_MESSAGES].made - made;
    return e || !made ? e : update_thread_message_count(im, channel, first, made);
}

/* --- export to a world file ---------------------------------------------------------- */

/* Omits messages whose author an import could not find: system messages, messages of deleted or
 * channel-following webhooks, and interaction replies. */
static const char MESSAGES[] =
    "select m.id, u.username, m.content, m.edited_at, m.embeds, m.pinned from messages m "
    "left join users u on u.id = m.author_id and m.webhook_id is null "
    "left join webhooks h on h.id = m.webhook_id and h.source_channel_id is null "
    "where m.channel_id = $1 and m.type in (0, 19) and (u.id is not null or h.id is not null) "
    "and m.ephemeral_for is null order by m.id";

static enum err export_messages(struct world_file_exporter *ex, struct opt_list *ret)
{
    struct world_file_entries all = { .size = world_file_entry_size(ex->format, "message") };
    struct rows r;
    enum err e = tx_query(ex->tx, MESSAGES, BIND(v_id(ex->channel)), &r);

    if (e)
        return e;
    while (!world_file_export_is_too_large(ex) && rows_next(&r)) {
        struct world_message *m = world_file_entry_add(ex, "message", ret);

        *m = (struct world_message){
            .id = { GIVEN, row_id(&r, 0) },
            .author = export_nondefault_text(&r, 1, NULL),
            .content = row_text(&r, 2),
            .edited_at = export_nondefault_int(&r, 3, -1),
            .embeds = export_nondefault_text(&r, 4, "[]"),
            .pinned = export_nondefault_bool(&r, 5, false),
        };
    }
    e = rows_end(&r);
    if (e || !ret->value.count)
        return e;
    all.next = ret->value.items;
    all.end = all.next + ret->value.count * all.size;
    e = export_message_authors(ex, all);
    if (!e)
        e = export_forwarded_snapshots(ex, all);
    if (!e)
        e = export_message_stickers(ex, all);
    return e ? e
             : world_file_export_fields(ex, "message", ex->channel, ret->value.items,
                                        ret->value.count);
}

const struct world_file_fields messages_world = { (const struct world_file_field[]){
    { "channel", "messages", &world_message_list, "message", 10, .whole = true,
      .import = import_messages, .export = export_messages,
      .count = SQL_TEXT("select count(*) from messages") },
    { "private", "messages", &world_message_list, "message", 10, .whole = true,
      .import = import_messages, .export = export_messages },
    { 0 },
} };

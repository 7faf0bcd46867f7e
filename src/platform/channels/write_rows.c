/* write_rows.c - SQL that writes channels and their overwrites. */
#include "model/fields/rows.h"
#include "model/thread.h"
#include "platform/channels/internal.h"

/* --- permission overwrites ----------------------------------------------------------- */

static const char ADD_OVERWRITE[] =
    "insert into overwrites (channel_id, target_id, type, allow, deny) "
    "values ($1, $2, $3, $4, $5) on conflict (channel_id, target_id) "
    "do update set type = excluded.type, allow = excluded.allow, deny = excluded.deny";

enum err channel_overwrite_write(struct tx *tx, snowflake channel_id, const struct overwrite *o)
{
    return tx_exec(tx, ADD_OVERWRITE,
                   BIND(v_id(channel_id), v_id(o->id), v_int(o->type),
                        v_int((int64_t)(o->allow & PERMISSIONS_ALL)),
                        v_int((int64_t)(o->deny & PERMISSIONS_ALL))),
                   NULL);
}

static const char CLEAR_OVERWRITES[] = "delete from overwrites where channel_id = $1";

enum err channel_overwrites_replace(struct tx *tx, snowflake channel_id,
                                    const struct list *overwrites)
{
    const struct overwrite *o = overwrites->items;
    enum err e = tx_exec(tx, CLEAR_OVERWRITES, BIND(v_id(channel_id)), NULL);

    for (size_t i = 0; !e && i < overwrites->count; i++)
        e = channel_overwrite_write(tx, channel_id, &o[i]);
    return e;
}

static const char DROP_OTHERS[] =
    "delete from overwrites where channel_id = $2 and target_id not in "
    "(select target_id from overwrites where channel_id = $1)";
static const char COPY_OVERWRITES[] =
    "insert into overwrites (channel_id, target_id, type, allow, deny) "
    "select $2, o.target_id, o.type, o.allow, o.deny from overwrites o where o.channel_id = $1 "
    "and not exists (select 1 from overwrites x where x.channel_id = $2 and "
    "x.target_id = o.target_id and x.type = o.type and x.allow = o.allow and x.deny = o.deny) "
    "on conflict (channel_id, target_id) "
    "do update set type = excluded.type, allow = excluded.allow, deny = excluded.deny";

enum err channel_overwrites_copy(struct tx *tx, snowflake from_id, snowflake to_id)
{
    enum err e = tx_exec(tx, DROP_OTHERS, BIND(v_id(from_id), v_id(to_id)), NULL);

    return e ? e : tx_exec(tx, COPY_OVERWRITES, BIND(v_id(from_id), v_id(to_id)), NULL);
}

static int64_t optional_int_or_default(struct opt_int i, int64_t otherwise)
{
    return i.given == GIVEN ? i.value : otherwise;
}

static struct value bind_optional_list(struct tx *tx, const struct type *type,
                                       const struct opt_list *list)
{
    if (list->given != GIVEN || !list->value.count)
        return v_null();
    return v_text(json_column_encode(tx_arena(tx), type, &list->value));
}

/* Returns the JSON list of a forum post's tags, "[]" if it has none; null for other channels. */
static struct value bind_applied_tags(struct tx *tx, const struct opt_list *tags)
{
    return tags->given == GIVEN ? v_text(json_column_encode(tx_arena(tx), &type_ids, &tags->value))
                                : v_null();
}

static struct value bind_default_reaction(struct tx *tx, const struct channel *c)
{
    const struct opt_object *reaction = &c->default_reaction_emoji;

    if (reaction->given != GIVEN)
        return v_null();
    return v_text(json_column_encode(tx_arena(tx), &type_default_reaction, reaction->value));
}

static int64_t thread_is_invitable(const struct thread_metadata *t)
{
    return t->invitable.given != GIVEN || t->invitable.value;
}

static const char ADD_CHANNEL[] =
    "insert into channels (id, guild_id, type, name, topic, position, parent_id, nsfw, "
    "rate_limit_per_user, bitrate, user_limit, rtc_region, video_quality_mode, last_message_id, "
    "flags, owner_id, application_id, icon, default_auto_archive_duration, thread_archived, "
    "thread_archived_at, thread_archive_minutes, thread_locked, thread_message_count, "
    "thread_begun, thread_deleted, thread_invitable, default_thread_slowmode, available_tags, "
    "default_reaction, default_sort_order, default_forum_layout, default_tag_setting, "
    "applied_tags) values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, "
    "$11, $12, $13, $14, $15, $16, $17, $18, $19, $20, $21, $22, $23, $24, $25, 0, $26, $27, $28, "
    "$29, $30, $31, $32, $33)";

enum err channel_insert(struct tx *tx, const struct channel *c)
{
    static const struct thread_metadata none = { .auto_archive_duration = 1440 };
    const struct thread_metadata *t = c->thread_metadata ? c->thread_metadata : &none;
    enum err e = tx_exec(
        tx, ADD_CHANNEL,
        BIND(v_id(c->id), sql_value_of_optional_id(c->guild_id), v_int(c->type),
             sql_value_of_optional_text(c->name), sql_value_of_optional_text(c->topic),
             v_int(optional_int_or_default(c->position, 0)), sql_value_of_optional_id(c->parent_id),
             v_int(c->nsfw.given == GIVEN && c->nsfw.value),
             v_int(optional_int_or_default(c->rate_limit_per_user, 0)),
             v_int(optional_int_or_default(c->bitrate, CHANNEL_BITRATE)),
             v_int(optional_int_or_default(c->user_limit, 0)),
             sql_value_of_optional_text(c->rtc_region),
             v_int(optional_int_or_default(c->video_quality_mode, 1)),
             sql_value_of_optional_id(c->last_message_id), v_int(c->flags),
             sql_value_of_optional_id(c->owner_id), sql_value_of_optional_id(c->application_id),
             sql_value_of_optional_text(c->icon),
             sql_value_of_optional_int(c->default_auto_archive_duration), v_int(t->archived),
             t->archive_timestamp ? v_int(t->archive_timestamp) : v_null(),
             v_int(t->auto_archive_duration), v_int(t->locked),
             v_int(optional_int_or_default(c->message_count, 0)), v_int(c->has_starter_message),
             v_int(thread_is_invitable(t)),
             v_int(optional_int_or_default(c->default_thread_rate_limit_per_user, 0)),
             bind_optional_list(tx, &type_forum_tags, &c->available_tags),
             bind_default_reaction(tx, c), sql_value_of_optional_int(c->default_sort_order),
             v_int(optional_int_or_default(c->default_forum_layout, 0)),
             sql_value_of_optional_text(c->default_tag_setting),
             bind_applied_tags(tx, &c->applied_tags)),
        NULL);

    return e ? e : channel_overwrites_replace(tx, c->id, &c->permission_overwrites.value);
}

static const char SAVE_CHANNEL[] =
    "update channels set type = $2, name = $3, topic = $4, position = $5, parent_id = $6, "
    "nsfw = $7, rate_limit_per_user = $8, bitrate = $9, user_limit = $10, rtc_region = $11, "
    "video_quality_mode = $12, owner_id = $13, icon = $14, default_auto_archive_duration = $15, "
    "thread_archived = $16, thread_archived_at = $17, thread_archive_minutes = $18, "
    "thread_locked = $19, flags = $20, thread_invitable = $21, default_thread_slowmode = $22, "
    "available_tags = $23, default_reaction = $24, default_sort_order = $25, "
    "default_forum_layout = $26, default_tag_setting = $27, applied_tags = $28 where id = $1";

enum err channel_update(struct tx *tx, const struct channel *c)
{
    static const struct thread_metadata none = { .auto_archive_duration = 1440 };
    const struct thread_metadata *t = c->thread_metadata ? c->thread_metadata : &none;

    return tx_exec(
        tx, SAVE_CHANNEL,
        BIND(v_id(c->id), v_int(c->type), sql_value_of_optional_text(c->name),
             sql_value_of_optional_text(c->topic), v_int(optional_int_or_default(c->position, 0)),
             sql_value_of_optional_id(c->parent_id), v_int(c->nsfw.given == GIVEN && c->nsfw.value),
             v_int(optional_int_or_default(c->rate_limit_per_user, 0)),
             v_int(optional_int_or_default(c->bitrate, CHANNEL_BITRATE)),
             v_int(optional_int_or_default(c->user_limit, 0)),
             sql_value_of_optional_text(c->rtc_region),
             v_int(optional_int_or_default(c->video_quality_mode, 1)),
             sql_value_of_optional_id(c->owner_id), sql_value_of_optional_text(c->icon),
             sql_value_of_optional_int(c->default_auto_archive_duration), v_int(t->archived),
             t->archive_timestamp ? v_int(t->archive_timestamp) : v_null(),
             v_int(t->auto_archive_duration), v_int(t->locked), v_int(c->flags),
             v_int(thread_is_invitable(t)),
             v_int(optional_int_or_default(c->default_thread_rate_limit_per_user, 0)),
             bind_optional_list(tx, &type_forum_tags, &c->available_tags),
             bind_default_reaction(tx, c), sql_value_of_optional_int(c->default_sort_order),
             v_int(optional_int_or_default(c->default_forum_layout, 0)),
             sql_value_of_optional_text(c->default_tag_setting),
             bind_applied_tags(tx, &c->applied_tags)),
        NULL);
}

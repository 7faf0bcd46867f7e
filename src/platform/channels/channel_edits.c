/* channel_edits.c - validates and applies changes to a guild channel and its overwrites. */
#include "platform/channels/internal.h"

#include "base/utf8.h"
#include "model/configured/regions.h"

static enum err refuse_channel_field(struct call *call, const struct json_path *here,
                                     const char *field, const char *code, const char *message)
{
    struct json_path at = json_path_key(here, str_of(field));

    form_add_error(&call->form, &at, code, "%s", message);
    return ERR_INVALID_FORM_BODY;
}

static enum err refuse_number_above_maximum(struct call *call, const struct json_path *here,
                                            const char *field, long long max)
{
    struct json_path at = json_path_key(here, str_of(field));

    form_add_error(&call->form, &at, FORM_NUMBER_MAX, max);
    return ERR_INVALID_FORM_BODY;
}

/* Adds a form error unless the parent is a category of the same guild that has room for another
 * channel. */
static enum err check_parent_category(struct call *call, const struct json_path *here,
                                      snowflake parent_id, const struct channel *c)
{
    struct channel parent;
    int64_t children;

    enum err e = channel_find_without_overwrites(call->tx, parent_id, &parent);
    if (e == ERR_UNKNOWN_CHANNEL || (!e && parent.guild_id.value != c->guild_id.value))
        return refuse_channel_field(call, here, "parent_id", "CHANNEL_PARENT_INVALID",
                                    "Category does not exist");
    if (e)
        return e;
    if (parent.type != CHANNEL_CATEGORY || c->type == CHANNEL_CATEGORY)
        return refuse_channel_field(call, here, "parent_id", "CHANNEL_PARENT_INVALID_TYPE",
                                    "Not a category");
    if (c->parent_id.value == parent_id)
        return OK;
    e = channel_count_children(call->tx, parent_id, &children);
    if (!e && children >= MAX_CHILDREN)
        return refuse_channel_field(call, here, "parent_id", "CHANNEL_PARENT_MAX_CHANNELS",
                                    "Maximum number of channels in category reached (50)");
    return e;
}

/* Adds a form error unless the guild may use the voice region. Some regions are reserved for VIP
 * guilds. */
static enum err check_voice_region(struct call *call, const struct json_path *here,
                                   struct str region, snowflake guild_id)
{
    struct guild guild;

    if (voice_region_is_usable(region, false))
        return OK;
    enum err e = guild_find(call->tx, guild_id, &guild);
    if (e || voice_region_is_usable(region, guild_may_use_vip_regions(&guild)))
        return e;
    return refuse_channel_field(call, here, "rtc_region", FORM_CHOICES, "Unknown voice region.");
}

enum err channel_edit_validate(struct call *call, const struct json_path *here,
                               const struct channel_edit *in, const struct channel *c)
{
    enum err e = OK;

    if (in->name.given == GIVEN_NULL)
        e = refuse_channel_field(call, here, "name", FORM_REQUIRED);
    if (c->type == CHANNEL_STAGE && in->bitrate.given == GIVEN &&
        in->bitrate.value > STAGE_MAX_BITRATE)
        e = refuse_number_above_maximum(call, here, "bitrate", STAGE_MAX_BITRATE);
    if (c->type == CHANNEL_VOICE && in->user_limit.given == GIVEN &&
        in->user_limit.value > VOICE_MAX_USERS)
        e = refuse_number_above_maximum(call, here, "user_limit", VOICE_MAX_USERS);
    if (in->topic.given == GIVEN && !channel_is_forum_or_media(c->type) &&
        utf8_length(in->topic.value) > CHANNEL_TOPIC_MAX)
        e = refuse_channel_field(call, here, "topic", "BASE_TYPE_MAX_LENGTH",
                                 "Must be 1024 or fewer in length.");
    if (channel_is_forum_or_media(c->type)) {
        enum err forum = forum_edit_validate(call, here, in, c);

        e = forum ? forum : e;
    }
    if (in->rtc_region.given == GIVEN) {
        enum err region = check_voice_region(call, here, in->rtc_region.value, c->guild_id.value);

        e = region ? region : e;
    }
    if (in->parent_id.given == GIVEN) {
        enum err parent = check_parent_category(call, here, in->parent_id.value, c);

        e = parent ? parent : e;
    }
    return e;
}

/* An absent value leaves the field unchanged; null resets it to its default. */
static void copy_optional_text_if_given(struct opt_str *field, const struct opt_str *in)
{
    if (in->given != ABSENT)
        *field = *in;
}

static void copy_optional_int_if_given(struct opt_int *field, const struct opt_int *in)
{
    if (in->given != ABSENT)
        *field = in->given == GIVEN ? *in : (struct opt_int){ 0 };
}

void channel_edit_apply(const struct channel_edit *in, struct channel *c)
{
    copy_optional_text_if_given(&c->name, &in->name);
    copy_optional_text_if_given(&c->topic, &in->topic);
    copy_optional_text_if_given(&c->rtc_region, &in->rtc_region);
    copy_optional_int_if_given(&c->position, &in->position);
    copy_optional_int_if_given(&c->bitrate, &in->bitrate);
    copy_optional_int_if_given(&c->user_limit, &in->user_limit);
    copy_optional_int_if_given(&c->rate_limit_per_user, &in->rate_limit_per_user);
    copy_optional_int_if_given(&c->video_quality_mode, &in->video_quality_mode);
    copy_optional_int_if_given(&c->default_auto_archive_duration,
                               &in->default_auto_archive_duration);
    if (in->parent_id.given != ABSENT)
        c->parent_id = in->parent_id;
    if (in->nsfw.given != ABSENT)
        c->nsfw = (struct opt_bool){ GIVEN, in->nsfw.given == GIVEN && in->nsfw.value };
    copy_optional_int_if_given(&c->default_thread_rate_limit_per_user,
                               &in->default_thread_rate_limit_per_user);
    if (channel_is_forum_or_media(c->type))
        forum_edit_apply(in, c);
    channel_omit_inapplicable_fields(c);
}

/* --- permission overwrites ----------------------------------------------------------- */

static bool overwrites_are_equal(const struct overwrite *a, const struct overwrite *b)
{
    return b && a->type == b->type && a->allow == b->allow && a->deny == b->deny;
}

static const char IS_MEMBER[] = "select 1 from members where guild_id = $1 and user_id = $2";

/* Adds a form error unless the overwrite is for a role or a member of the guild. */
static enum err check_overwrite_target_is_in_guild(struct call *call, const struct overwrite *o)
{
    snowflake guild_id = call->target.member_access->guild_id;
    struct role role;
    bool found;

    if (o->type == OVERWRITE_ROLE)
        return role_find(call->tx, guild_id, o->id, &role);
    enum err e = tx_exists(call->tx, IS_MEMBER, BIND(v_id(guild_id), v_id(o->id)), &found);
    return e || found ? e : ERR_UNKNOWN_MEMBER;
}

enum err channel_overwrites_infer_types(struct call *call, const struct list *wanted)
{
    struct overwrite *o = wanted->items;
    struct role role;

    for (size_t i = 0; i < wanted->count && i < MAX_OVERWRITES; i++) {
        if (o[i].type != OVERWRITE_TYPE_FROM_ID)
            continue;
        enum err e = role_find(call->tx, call->target.member_access->guild_id, o[i].id, &role);
        if (e && e != ERR_UNKNOWN_ROLE)
            return e;
        o[i].type = e ? OVERWRITE_MEMBER : OVERWRITE_ROLE;
    }
    return OK;
}

/* Checks permissions only for overwrites in `wanted` that are new or changed; unchanged overwrites
 * need none. */
enum err check_overwrites_permission(struct call *call, const struct list *wanted,
                                     const struct list *before, uint64_t own)
{
    const struct overwrite *o = wanted->items;

    if (wanted->count > MAX_OVERWRITES)
        return ERR_MAX_OVERWRITES;
    for (size_t i = 0; i < wanted->count; i++) {
        if (overwrites_are_equal(&o[i], overwrite_list_find(before, o[i].id)))
            continue;
        if ((o[i].allow | o[i].deny) & PERMISSIONS_ALL & ~own)
            return call_get_rank_too_low_error(call);
        enum err e = check_overwrite_target_is_in_guild(call, &o[i]);
        if (e)
            return e;
    }
    return OK;
}

static const char COUNT_OVERWRITES[] =
    "select count(*) from overwrites where channel_id in (select id from channels where "
    "guild_id = $1)";

/* Checks the guild's limit. Counts the guild's overwrites only if the changed channel has so many
 * that 500 such channels could exceed the limit. */
enum err check_guild_overwrite_limit(struct call *call, snowflake guild_id, size_t of_channel,
                                     int64_t coming)
{
    int64_t n = 0;

    if (of_channel <= MAX_GUILD_OVERWRITES / MAX_CHANNELS)
        return OK;
    enum err e = tx_read_int(call->tx, COUNT_OVERWRITES, BIND(v_id(guild_id)), &n);
    if (e)
        return e;
    return n + coming > MAX_GUILD_OVERWRITES ? ERR_MAX_GUILD_OVERWRITES : OK;
}

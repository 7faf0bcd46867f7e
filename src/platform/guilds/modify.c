/* modify.c - PATCH /guilds/{guild.id}. */
#include "platform/guilds/internal.h"

#include "api/hooks.h"
#include "base/mem.h"

/* Pictures of a guild. Columns: offset in struct guild_patch, offset in struct guild, storage
 * area. */
static const struct {
    size_t in, out;
    const char *area;
} pictures[] = {
#define PICTURE(name, area)                                                    \
    {                                                                          \
        offsetof(struct guild_patch, name), offsetof(struct guild, name), area \
    }
    PICTURE(icon, "icons"),
    PICTURE(banner, "banners"),
    PICTURE(splash, "splashes"),
    PICTURE(discovery_splash, "discovery-splashes"),
    PICTURE(home_header, "home-headers"),
#undef PICTURE
};

/* Guild settings that name a channel, with the type that the channel must have. */
static const struct {
    const char *field;
    size_t in, out;
    bool voice;
} named_channels[] = {
#define CHANNEL(name, voice)                                                           \
    {                                                                                  \
#name, offsetof(struct guild_patch, name), offsetof(struct guild, name), voice \
    }
    CHANNEL(afk_channel_id, true),
    CHANNEL(system_channel_id, false),
    CHANNEL(rules_channel_id, false),
    CHANNEL(public_updates_channel_id, false),
    CHANNEL(safety_alerts_channel_id, false),
#undef CHANNEL
};

/* Guild features that this route can add and remove. */
static const char *const changeable[] = {
    "COMMUNITY",
    "DISCOVERABLE",
    "INVITES_DISABLED",
    "RAID_ALERTS_DISABLED",
};

#define MEMBER_AT(type, object, offset) ((type *)((char *)(object) + (offset)))
#define INPUT_AT(type, object, offset)  ((const type *)((const char *)(object) + (offset)))

/* --- storing pictures of a guild ----------------------------------------------------- */

static enum err store_guild_pictures(struct call *call)
{
    struct opt_str *retained = call_get_stage_data(call, "opt_str");
    snowflake id = call_get_path_id(call, "guild.id");

    for (size_t i = 0; i < COUNT_OF(pictures); i++) {
        const struct opt_image *in = INPUT_AT(struct opt_image, call->body, pictures[i].in);
        enum err e = store_uploaded_picture(call, pictures[i].area, id, in, &retained[i]);

        if (e)
            return e;
    }
    return OK;
}

enum err schedule_storing_guild_pictures(struct call *call)
{
    struct opt_str *retained =
        call_store_stage_data(call, "opt_str", COUNT_OF(pictures) * sizeof *retained);

    for (size_t i = 0; i < COUNT_OF(pictures); i++) {
        retained[i].given = INPUT_AT(struct opt_image, call->body, pictures[i].in)->given;
        if (retained[i].given == GIVEN) {
            call->read = call_read_nothing_but_path_objects;
            call->compute = store_guild_pictures;
        }
    }
    return OK;
}

static enum err apply_guild_pictures(struct call *call, struct guild *g)
{
    const struct opt_str *retained = call_get_stage_data(call, "opt_str");
    enum err e = OK;

    for (size_t i = 0; !e && i < COUNT_OF(pictures); i++) {
        struct opt_str *now = MEMBER_AT(struct opt_str, g, pictures[i].out);

        if (retained[i].given == ABSENT)
            continue;
        e = delete_previous_picture(call, pictures[i].area, g->id, now, &retained[i]);
        *now = retained[i];
    }
    return e;
}

static const char TYPE_OF_CHANNEL[] =
    "select type from channels where id = $1 and guild_id = $2 and type >= 0";

/* *ret is true if the guild has a channel with this id: a voice channel if voice is true, else a
 * text channel. */
static enum err check_guild_has_channel(struct tx *tx, const struct guild *g, snowflake id,
                                        bool voice, bool *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(tx, TYPE_OF_CHANNEL, BIND(v_id(id), v_id(g->id)), &row, &found);
    int64_t type = !e && found ? row_int(&row, 0) : -1;

    *ret = voice ? type == CHANNEL_VOICE : type == CHANNEL_TEXT || type == CHANNEL_ANNOUNCEMENT;
    return e;
}

/* Sets the channel settings. Adds a form error for each invalid channel, so that the reply reports
 * all of them. */
static enum err apply_channel_id_fields(struct call *call, struct guild *g)
{
    for (size_t i = 0; i < COUNT_OF(named_channels); i++) {
        const struct opt_id *in = INPUT_AT(struct opt_id, call->body, named_channels[i].in);
        bool fits = true;
        enum err e = OK;

        if (in->given == ABSENT)
            continue;
        if (in->given == GIVEN)
            e = check_guild_has_channel(call->tx, g, in->value, named_channels[i].voice, &fits);
        if (e)
            return e;
        if (!fits)
            call_add_field_error(call, named_channels[i].field, FORM_CHOICES,
                                 named_channels[i].voice
                                     ? "Value must be a voice channel of the guild."
                                     : "Value must be a text channel of the guild.");
        *MEMBER_AT(struct opt_id, g, named_channels[i].out) = *in;
    }
    return form_has_errors(&call->form) ? ERR_INVALID_FORM_BODY : OK;
}

/* --- guild features ------------------------------------------------------------------ */

static bool is_changeable_feature(struct str name)
{
    for (size_t i = 0; i < COUNT_OF(changeable); i++)
        if (str_is(name, changeable[i]))
            return true;
    return false;
}

static bool list_has_feature(const struct list *names, const char *feature)
{
    const struct str *all = names->items;

    for (size_t i = 0; i < names->count; i++)
        if (str_is(all[i], feature))
            return true;
    return false;
}

/* Returns the features that the body lists, plus the stored features that this route cannot change,
 * as a JSON array of names that need no escapes. */
static struct str merge_features(struct arena *arena, struct str old, const struct list *wanted)
{
    struct buf out;
    struct json_writer j = json_writer_to_buf(&out);

    buf_init(&out, 64 * 1024);
    json_begin_array(&j);
    str_cut(&old, '"');
    while (old.n) {
        struct str name = str_cut(&old, '"');

        if (!is_changeable_feature(name))
            json_write_text(&j, name);
        str_cut(&old, '"');
    }
    for (size_t i = 0; i < COUNT_OF(changeable); i++)
        if (list_has_feature(wanted, changeable[i]))
            json_write_text(&j, str_of(changeable[i]));
    json_end_array(&j);
    return buf_move_to_arena(&out, arena);
}

static void copy_optional_int_if_given(int64_t *field, struct opt_int in, int64_t otherwise)
{
    if (in.given != ABSENT)
        *field = in.given == GIVEN ? in.value : otherwise;
}

/* Applies fields that need no checks. Null sets the default that a new guild has; an absent field
 * is not changed. */
static void apply_unchecked_guild_fields(struct call *call, struct guild *g)
{
    const struct guild_patch *in = call->body;

    if (in->name.given == GIVEN)
        g->name = in->name.value;
    if (in->description.given != ABSENT)
        g->description = in->description;
    if (in->preferred_locale.given != ABSENT)
        g->preferred_locale =
            in->preferred_locale.given == GIVEN ? in->preferred_locale.value : STR("en-US");
    copy_optional_int_if_given(&g->afk_timeout, in->afk_timeout, GUILD_AFK_TIMEOUT);
    copy_optional_int_if_given(&g->verification_level, in->verification_level, 0);
    copy_optional_int_if_given(&g->default_message_notifications, in->default_message_notifications,
                               0);
    copy_optional_int_if_given(&g->explicit_content_filter, in->explicit_content_filter, 0);
    copy_optional_int_if_given(&g->system_channel_flags, in->system_channel_flags, 0);
    if (in->premium_progress_bar_enabled.given != ABSENT)
        g->premium_progress_bar_enabled = in->premium_progress_bar_enabled.value;
    if (in->features.given != ABSENT)
        g->features = merge_features(call->arena, g->features, &in->features.value);
}

/* Transfers the guild to another member, who must not be a bot. */
static enum err transfer_guild_if_owner_given(struct call *call, struct guild *g)
{
    const struct guild_patch *in = call->body;

    if (in->owner_id.given != GIVEN)
        return OK;
    enum err e = check_new_guild_owner(call->tx, g, in->owner_id.value);
    if (!e)
        g->owner_id = in->owner_id.value;
    return e;
}

enum err modify_guild(struct call *call)
{
    const struct guild_patch *in = call->body;
    struct guild g = *call->target.guild;
    enum err e;

    if (in->owner_id.given == GIVEN && !call->target.member_access->input.owner)
        return call_get_not_guild_owner_error(call);
    e = apply_channel_id_fields(call, &g);
    if (e)
        return e;
    apply_unchecked_guild_fields(call, &g);
    e = apply_guild_pictures(call, &g);
    if (!e)
        e = transfer_guild_if_owner_given(call, &g);
    if (!e)
        e = guild_update(call->tx, &g);
    if (!e)
        e = audit_log_record_object_change(call, g.id, AUDIT_GUILD_UPDATE, g.id, audited_guild,
                                           call->target.guild, &g);
    if (!e)
        e = guild_read_roles_emojis_and_other_lists(call, &g);
    if (e)
        return e;
    call_emit_event(call, EVENT_GUILD_UPDATE, audience_of_guild(g.id), &guild_schema, &g);
    e = hook_guild_changed(call, &(struct guild_change){ call->target.guild, &g });
    return e ? e : call_reply_with_object(call, &g);
}

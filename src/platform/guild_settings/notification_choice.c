/* notification_choice.c - combines the notification settings of thread, channel, category and
 * guild, as clients do. */
#include "base/clock.h"
#include "model/thread.h"
#include "platform/channels/channels.h"
#include "platform/guild_settings/internal.h"

enum { NOTIFY_ALL = 0, NOTIFY_NOTHING = 2 };
enum { MOST_PARENTS = 3 }; /* thread, channel, category */

static bool is_muted_now(bool muted, const struct mute_config *config)
{
    return muted &&
           !(config && config->end_time.given == GIVEN && config->end_time.value <= clock_us());
}

static const struct mute_config *mute_config_of(const struct opt_object *o)
{
    return o->given == GIVEN ? o->value : NULL;
}

static const struct channel_override *find_channel_override(const struct guild_settings *s,
                                                            snowflake channel_id)
{
    const struct channel_override *o = s->channel_overrides.items;

    for (size_t i = 0; i < s->channel_overrides.count; i++)
        if (o[i].channel_id == channel_id)
            return &o[i];
    return NULL;
}

/* Applies the notification settings that a member has for a thread. *ret_level is NOTIFY_INHERITED
 * if the member has set no level. */
static enum err apply_thread_settings(struct tx *tx, snowflake user_id, const struct channel *c,
                                      bool *muted, int64_t *ret_level)
{
    struct thread_member m;
    bool found = false;
    enum err e = thread_member_find(tx, c->id, user_id, &m, &found);

    if (!e && found)
        e = thread_member_read_mute_settings(tx, &m);
    if (e || !found)
        return e;
    *muted = is_muted_now(m.muted.given == GIVEN && m.muted.value, m.mute_config);
    if (m.flags & (THREAD_ALL_MESSAGES | THREAD_ONLY_MENTIONS))
        *ret_level = NOTIFY_ALL;
    else if (m.flags & THREAD_NO_MESSAGES)
        *ret_level = NOTIFY_NOTHING;
    return OK;
}

enum err channel_notification_settings_find(struct tx *tx, snowflake user_id,
                                            const struct channel *c,
                                            struct channel_notification_settings *ret)
{
    snowflake guild_id = channel_is_private(c->type) ? 0 : c->guild_id.value;
    struct channel parent = *c;
    struct guild_settings s;
    int64_t level = NOTIFY_INHERITED;
    bool muted = false;
    enum err e = read_user_guild_settings(tx, user_id, guild_id, &s);

    if (!e && channel_is_thread(c->type))
        e = apply_thread_settings(tx, user_id, c, &muted, &level);
    for (int i = 0; !e && i < MOST_PARENTS; i++) {
        const struct channel_override *o = find_channel_override(&s, parent.id);

        if (o && is_muted_now(o->muted, mute_config_of(&o->mute_config)))
            muted = true;
        if (o && level == NOTIFY_INHERITED)
            level = o->message_notifications;
        if (!guild_id || parent.parent_id.given != GIVEN)
            break;
        e = channel_find(tx, parent.parent_id.value, &parent);
        if (e == ERR_UNKNOWN_CHANNEL) { /* the category is being deleted */
            e = OK;
            break;
        }
    }
    if (level == NOTIFY_INHERITED && guild_id)
        level = s.message_notifications;
    if (guild_id && (!s.mobile_push || is_muted_now(s.muted, mute_config_of(&s.mute_config))))
        muted = true;
    *ret = (struct channel_notification_settings){ .none = muted || level == NOTIFY_NOTHING,
                                                   .suppress_everyone = s.suppress_everyone,
                                                   .suppress_roles = s.suppress_roles };
    return e;
}

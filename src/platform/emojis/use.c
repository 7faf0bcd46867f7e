/* use.c - decides whether an account may use an emoji in a guild. */
#include "platform/emojis/internal.h"

#include "model/fields/ids.h"
#include "platform/members/members.h"

static bool emoji_is_for(const struct emoji *e, const struct list *roles)
{
    for (size_t i = 0; i < roles->count; i++)
        if (ids_hold(&e->roles, ((const snowflake *)roles->items)[i]))
            return true;
    return e->roles.count == 0;
}

/* An emoji of another guild, or one that is restricted to roles: the account must be a member of
 * the emoji's guild and have one of the emoji's roles. */
static enum err emoji_use_as_member(struct tx *tx, const struct emoji_user *who,
                                    const struct emoji *emoji)
{
    struct standing there;

    enum err e = standing_find(tx, emoji->guild_id, who->user_id, &there);
    if (e == ERR_MISSING_ACCESS || e == ERR_UNKNOWN_GUILD)
        return ERR_UNKNOWN_EMOJI;
    return e || emoji_is_for(emoji, &there.member->roles) ? e : ERR_UNKNOWN_EMOJI;
}

enum err emoji_use(struct tx *tx, const struct emoji_user *who, snowflake id, struct emoji *ret)
{
    struct emoji emoji;
    enum err e = emoji_find(tx, id, &emoji);

    if (!e && emoji.application_id)
        e = emoji.application_id == who->application_id ? OK : ERR_UNKNOWN_EMOJI;
    else if (!e && emoji.guild_id != who->guild_id && who->guild_id &&
             !(who->rights & PERMISSION(USE_EXTERNAL_EMOJIS)))
        e = ERR_UNKNOWN_EMOJI;
    else if (!e && (emoji.guild_id != who->guild_id || emoji.roles.count))
        e = emoji_use_as_member(tx, who, &emoji);
    if (!e)
        *ret = emoji;
    return e;
}

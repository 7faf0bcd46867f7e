/* emoji_permissions.c - decides whether an account may use an emoji in a guild. */
#include "platform/emojis/internal.h"

#include "model/fields/ids.h"
#include "platform/members/members.h"

static bool emoji_allows_any_of_roles(const struct emoji *e, const struct list *roles)
{
    for (size_t i = 0; i < roles->count; i++)
        if (id_list_contains(&e->roles, ((const snowflake *)roles->items)[i]))
            return true;
    return e->roles.count == 0;
}

/* Checks the use of an emoji that belongs to another guild or is restricted to roles. The account
 * must be a member of the emoji's guild and, if the emoji has roles, have one of them. */
static enum err check_emoji_use_as_member(struct tx *tx, const struct emoji_use_context *account,
                                          const struct emoji *emoji)
{
    struct member_access there;

    enum err e = member_access_find(tx, emoji->guild_id, account->user_id, &there);
    if (e == ERR_MISSING_ACCESS || e == ERR_UNKNOWN_GUILD)
        return ERR_UNKNOWN_EMOJI;
    return e || emoji_allows_any_of_roles(emoji, &there.member->roles) ? e : ERR_UNKNOWN_EMOJI;
}

enum err emoji_find_usable(struct tx *tx, const struct emoji_use_context *account, snowflake id,
                           struct emoji *ret)
{
    struct emoji emoji;
    enum err e = emoji_find(tx, id, &emoji);

    if (!e && emoji.application_id)
        e = emoji.application_id == account->application_id ? OK : ERR_UNKNOWN_EMOJI;
    else if (!e && emoji.guild_id != account->guild_id && account->guild_id &&
             !(account->permissions & PERMISSION(USE_EXTERNAL_EMOJIS)))
        e = ERR_UNKNOWN_EMOJI;
    else if (!e && (emoji.guild_id != account->guild_id || emoji.roles.count))
        e = check_emoji_use_as_member(tx, account, &emoji);
    if (!e)
        *ret = emoji;
    return e;
}

/* effect_sounds.c - finds the sounds of voice effects, with their emoji. */
#include "voice/effects/effects.h"

#include "model/permissions/permissions.h"
#include "platform/accounts/settings/settings.h"
#include "platform/members/members.h"
#include "platform/sounds/sounds.h"

/* --- default sounds ------------------------------------------------------------------- */

static bool find_default_sound(struct arena *arena, snowflake id, struct voice_effect_sound *ret)
{
    struct voice_effect_emoji *emoji = arena_alloc(arena, sizeof *emoji);
    const struct soundboard_sound *s = soundboard_default_sound_find(id);

    if (!s)
        return false;
    *emoji = (struct voice_effect_emoji){ s->emoji_id, s->emoji_name, false };
    *ret = (struct voice_effect_sound){ .id = id, .built_in = true, .volume = 1, .emoji = emoji };
    return true;
}

/* --- sounds of guilds ----------------------------------------------------------------- */

static const char FIND_SOUND[] =
    "select guild_id, volume, emoji_id, emoji_name from sounds where id = $1";

static enum err read_sound_emoji(struct tx *tx, const struct rows *row,
                                 const struct voice_effect_emoji **ret)
{
    struct voice_effect_emoji *emoji = arena_alloc(tx_arena(tx), sizeof *emoji);
    struct emoji found;

    *ret = emoji;
    if (!row_column_is_null(row, 2)) {
        enum err e = emoji_find(tx, row_id(row, 2), &found);

        if (!e)
            *emoji = voice_effect_emoji_from_emoji(&found);
        if (e != ERR_UNKNOWN_EMOJI)
            return e;
    }
    if (row_column_is_null(row, 3))
        *ret = NULL;
    else
        *emoji = (struct voice_effect_emoji){ opt_id_or_null(0), opt_str_or_null(row_text(row, 3)),
                                              false };
    return OK;
}

/* Checks that the caller may use a sound of another guild: the caller needs USE_EXTERNAL_SOUNDS and
 * must be a member of the other guild. */
static enum err check_may_use_sound_of_guild(struct call *call, snowflake guild_id)
{
    struct member m;

    if (guild_id == call->target.channel->guild_id.value)
        return OK;
    if (!(call->target.permissions & PERMISSION(USE_EXTERNAL_SOUNDS)))
        return call_get_missing_permissions_error(call, PERMISSION(USE_EXTERNAL_SOUNDS));
    enum err e = member_find(call->tx, guild_id, call->caller->id, &m);
    return e == ERR_UNKNOWN_MEMBER ? ERR_UNKNOWN_SOUND : e;
}

static enum err find_guild_sound(struct call *call, snowflake id, struct voice_effect_sound *ret)
{
    struct rows row;
    enum err e = tx_one_or(call->tx, FIND_SOUND, BIND(v_id(id)), ERR_UNKNOWN_SOUND, &row);

    if (e)
        return e;
    e = check_may_use_sound_of_guild(call, row_id(&row, 0));
    if (e)
        return e;
    *ret = (struct voice_effect_sound){ .id = id, .volume = row_real(&row, 1) };
    return read_sound_emoji(call->tx, &row, &ret->emoji);
}

enum err find_custom_call_sound(struct call *call, struct voice_effect_sound *ret)
{
    struct user_settings settings;
    enum err e = user_settings_find(call->tx, call->caller->id, &settings);

    if (e)
        return e;
    const struct call_sound *chosen = settings.custom_call_sound.value;
    if (settings.custom_call_sound.given != GIVEN)
        return ERR_UNKNOWN_SOUND;
    if (find_default_sound(call->arena, chosen->sound_id, ret))
        return OK;
    return find_guild_sound(call, chosen->sound_id, ret);
}

/* Refuses a sound of another guild unless the request names this guild. */
static enum err check_source_guild_of_sound(struct call *call, snowflake id, snowflake source)
{
    struct soundboard_sound s;
    enum err e = soundboard_sound_find(call->tx, id, &s);

    if (e || s.guild_id.value == call->target.channel->guild_id.value)
        return e;
    return s.guild_id.value == source ? OK : ERR_UNKNOWN_SOUND;
}

enum err find_soundboard_sound(struct call *call, snowflake id, snowflake source,
                               struct voice_effect_sound *ret)
{
    if (find_default_sound(call->arena, id, ret))
        return OK;
    enum err e = check_source_guild_of_sound(call, id, source);
    return e ? e : find_guild_sound(call, id, ret);
}

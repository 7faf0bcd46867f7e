/* effect_sounds.c - emoji and sounds that go with effects in voice. */
#include "voice/effects.h"

#include "base/mem.h"
#include "model/permissions.h"
#include "platform/accounts/settings.h"

/* --- sounds that every server has ----------------------------------------------------- */

#define NAMED(name_)                                         \
    {                                                        \
        { GIVEN_NULL, 0 }, { GIVEN, STR_INIT(name_) }, false \
    }

static const struct effect_emoji built_in[] = {
    NAMED("\xf0\x9f\x94\x94"), /* 1: a bell */
    NAMED("\xf0\x9f\x9a\xaa"), /* 2: a knock at the door */
    NAMED("\xf0\x9f\xa5\x81"), /* 3: a drum roll */
    NAMED("\xf0\x9f\x91\x8f"), /* 4: applause */
    NAMED("\xf0\x9f\x93\xaf"), /* 5: a horn */
    NAMED("\xf0\x9f\xa6\x97"), /* 6: a cricket */
};

static bool find_built_in(snowflake id, struct effect_sound *ret)
{
    if (id < 1 || id > COUNT_OF(built_in))
        return false;
    *ret = (struct effect_sound){
        .id = id, .built_in = true, .volume = 1, .emoji = &built_in[id - 1]
    };
    return true;
}

/* --- sounds of guilds ----------------------------------------------------------------- */

static const char FIND_SOUND[] =
    "select guild_id, volume, emoji_id, emoji_name from sounds where id = $1";

static enum err sound_emoji(struct tx *tx, const struct rows *row, const struct effect_emoji **ret)
{
    struct effect_emoji *emoji = arena_alloc(tx_arena(tx), sizeof *emoji);
    struct emoji found;

    *ret = emoji;
    if (!row_null(row, 2)) {
        enum err e = emoji_find(tx, row_id(row, 2), &found);

        if (!e)
            *emoji = effect_emoji_of(&found);
        if (e != ERR_UNKNOWN_EMOJI)
            return e;
    }
    if (row_null(row, 3))
        *ret = NULL;
    else
        *emoji = (struct effect_emoji){ given_id(0), given_str(row_text(row, 3)), false };
    return OK;
}

static enum err find_of_guild(struct call *call, snowflake id, struct effect_sound *ret)
{
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, FIND_SOUND, BIND(v_id(id)), &row, &found);

    if (e)
        return e;
    if (!found)
        return ERR_UNKNOWN_SOUND;
    if (row_id(&row, 0) != call->target.channel->guild_id.value &&
        !(call->target.rights & PERMISSION(USE_EXTERNAL_SOUNDS)))
        return ERR_MISSING_PERMISSIONS;
    *ret = (struct effect_sound){ .id = id, .volume = row_real(&row, 1) };
    return sound_emoji(call->tx, &row, &ret->emoji);
}

enum err call_sound_find(struct call *call, struct effect_sound *ret)
{
    struct user_settings settings;
    enum err e = settings_find(call->tx, call->caller->id, &settings);

    if (e)
        return e;
    const struct call_sound *chosen = settings.custom_call_sound.value;
    if (settings.custom_call_sound.given != GIVEN)
        return ERR_UNKNOWN_SOUND;
    if (find_built_in(chosen->sound_id, ret))
        return OK;
    return find_of_guild(call, chosen->sound_id, ret);
}

/* rows.c - SQL of sounds, and the table of default sounds. */
#include "base/mem.h"
#include "model/fields/rows.h"
#include "platform/sounds/internal.h"

#define BUILT_IN(id_, name_, emoji_)                                                            \
    {                                                                                           \
        .sound_id = (id_), .name = STR_INIT(name_), .volume = 1, .emoji_id = { GIVEN_NULL, 0 }, \
        .emoji_name = { GIVEN, STR_INIT(emoji_) }, .available = true                            \
    }

static const struct soundboard_sound built_in[] = {
    BUILT_IN(1, "bell", "\xf0\x9f\x94\x94"),      BUILT_IN(2, "knock", "\xf0\x9f\x9a\xaa"),
    BUILT_IN(3, "drum roll", "\xf0\x9f\xa5\x81"), BUILT_IN(4, "applause", "\xf0\x9f\x91\x8f"),
    BUILT_IN(5, "horn", "\xf0\x9f\x93\xaf"),      BUILT_IN(6, "cricket", "\xf0\x9f\xa6\x97"),
};

size_t soundboard_default_sounds_list(const struct soundboard_sound **ret)
{
    *ret = built_in;
    return COUNT_OF(built_in);
}

const struct soundboard_sound *soundboard_default_sound_find(snowflake id)
{
    return id >= 1 && id <= COUNT_OF(built_in) ? &built_in[id - 1] : NULL;
}

#define SOUNDS "select id, guild_id, name, volume, emoji_id, emoji_name, user_id, file from sounds "

static void sound_from_row(const struct rows *r, void *ret)
{
    *(struct soundboard_sound *)ret = (struct soundboard_sound){
        .sound_id = row_id(r, 0),
        .guild_id = row_optional_id(r, 1),
        .name = row_text(r, 2),
        .volume = row_real(r, 3),
        .emoji_id = row_optional_id(r, 4),
        .emoji_name = row_optional_text(r, 5),
        .user_id = row_id(r, 6),
        .file = row_optional_text(r, 7),
        .available = true,
    };
}

enum err guild_soundboard_sounds_read(struct tx *tx, snowflake guild_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, SOUNDS "where guild_id = $1 order by id", BIND(v_id(guild_id)),
                        sizeof(struct soundboard_sound), sound_from_row, ret);
}

enum err soundboard_sound_find(struct tx *tx, snowflake id, struct soundboard_sound *ret)
{
    return tx_read_first(tx, SOUNDS "where id = $1", BIND(v_id(id)), sound_from_row, ret,
                         ERR_UNKNOWN_SOUND);
}

static const char SAVE_SOUND[] =
    "insert into sounds (id, guild_id, name, volume, emoji_id, emoji_name, user_id, file) "
    "values ($1, $2, $3, $4, $5, $6, $7, $8) on conflict (id) do update set name = $3, "
    "volume = $4, emoji_id = $5, emoji_name = $6, user_id = $7, file = $8";

enum err soundboard_sound_insert(struct tx *tx, const struct soundboard_sound *s)
{
    return tx_exec(tx, SAVE_SOUND,
                   BIND(v_id(s->sound_id), sql_value_of_optional_id(s->guild_id), v_text(s->name),
                        v_real(s->volume), sql_value_of_optional_id(s->emoji_id),
                        sql_value_of_optional_text(s->emoji_name),
                        s->user_id ? v_id(s->user_id) : v_null(),
                        sql_value_of_optional_text(s->file)),
                   NULL);
}

enum err soundboard_sound_update(struct tx *tx, const struct soundboard_sound *s)
{
    return soundboard_sound_insert(tx, s);
}

enum err soundboard_sound_delete(struct call *call, const struct soundboard_sound *s)
{
    enum err e = delete_stored_picture(call, "sounds", s->sound_id, &s->file);

    return e ? e
             : tx_exec(call->tx, "delete from sounds where id = $1", BIND(v_id(s->sound_id)), NULL);
}

enum err soundboard_sound_read_uploader(struct tx *tx, struct soundboard_sound *s)
{
    struct user *user = arena_alloc(tx_arena(tx), sizeof *user);
    enum err e = s->user_id ? user_find(tx, s->user_id, user) : ERR_UNKNOWN_USER;

    if (!e)
        s->user = user;
    return e == ERR_UNKNOWN_USER ? OK : e;
}

/* rows.c - SQL for streams and their participants. */
#include "voice/streams/streams.h"

#include "base/clock.h"
#include "model/fields/ids.h"
#include "model/fields/rows.h"

#define SELECT_STREAMS                                                                 \
    "select owner_id, guild_id, channel_id, rtc_server_id, region, paused, notified, " \
    "preview, video from streams "
static const char FIND_BY_OWNER[] = SELECT_STREAMS "where owner_id = $1",
                  FIND_BY_SERVER[] = SELECT_STREAMS "where rtc_server_id = $1";

static enum err query_stream(struct tx *tx, struct sql query, snowflake id, struct stream *ret)
{
    struct rows r;
    enum err e = tx_one_or(tx, query, BIND(v_id(id)), ERR_UNKNOWN_STREAM, &r);

    if (e)
        return e;
    *ret = (struct stream){
        .key = { .guild_id = row_id(&r, 1),
                 .channel_id = row_id(&r, 2),
                 .owner_id = row_id(&r, 0) },
        .rtc_server_id = row_id(&r, 3),
        .region = row_text(&r, 4),
        .paused = row_bool(&r, 5),
        .notified = row_bool(&r, 6),
    };
    if (!row_column_is_null(&r, 7))
        ret->preview = row_text(&r, 7);
    if (!row_column_is_null(&r, 8))
        ret->video = row_text(&r, 8);
    return OK;
}

enum err stream_find_by_owner(struct tx *tx, snowflake owner_id, struct stream *ret)
{
    return query_stream(tx, SQL(FIND_BY_OWNER), owner_id, ret);
}

enum err stream_find_by_rtc_server(struct tx *tx, snowflake rtc_server_id, struct stream *ret)
{
    return query_stream(tx, SQL(FIND_BY_SERVER), rtc_server_id, ret);
}

static const char INSERT_STREAM[] =
    "insert into streams (owner_id, guild_id, channel_id, rtc_server_id, region) "
    "values ($1, $2, $3, $4, $5)";

enum err stream_insert(struct tx *tx, const struct stream *s)
{
    return tx_exec(tx, INSERT_STREAM,
                   BIND(v_id(s->key.owner_id), v_id(s->key.guild_id), v_id(s->key.channel_id),
                        v_id(s->rtc_server_id), v_text(s->region)),
                   NULL);
}

static const char UPDATE_STREAM[] = "update streams set region = $2, paused = $3, notified = $4, "
                                    "preview = $5, video = $6 where owner_id = $1";

static struct value sql_value_of_text_or_null(struct str s)
{
    return s.p ? v_text(s) : v_null();
}

enum err stream_update(struct tx *tx, const struct stream *s)
{
    return tx_exec(tx, UPDATE_STREAM,
                   BIND(v_id(s->key.owner_id), v_text(s->region), v_int(s->paused),
                        v_int(s->notified), sql_value_of_text_or_null(s->preview),
                        sql_value_of_text_or_null(s->video)),
                   NULL);
}

static const char DELETE_STREAM[] = "delete from streams where owner_id = $1";

enum err stream_delete(struct tx *tx, snowflake owner_id)
{
    return tx_exec(tx, DELETE_STREAM, BIND(v_id(owner_id)), NULL);
}

/* --- participants --------------------------------------------------------------------- */

#define SELECT_PARTICIPANTS                                                               \
    "select p.user_id, p.session_id, p.session_number, p.salt, v.self_deaf, v.suppress, " \
    "v.request_to_speak_at, v.flags, v.platform, m.mute, m.deaf from stream_sessions p "  \
    "join streams s on s.owner_id = p.owner_id "                                          \
    "left join voice_states v on v.guild_id = s.guild_id and v.user_id = p.user_id "      \
    "left join members m on m.guild_id = s.guild_id and m.user_id = p.user_id where p.owner_id = $1 "
static const char LIST_PARTICIPANTS[] = SELECT_PARTICIPANTS "order by p.joined_at, p.user_id";
static const char FIND_PARTICIPANT[] = SELECT_PARTICIPANTS "and p.user_id = $2";

static bool is_not_speaker(bool suppress, struct opt_int asked_at)
{
    return suppress || asked_at.given == GIVEN;
}

struct stream_voice_flags stream_voice_flags_of_voice_state(const struct voice_state *s)
{
    return (struct stream_voice_flags){
        .muted = s->mute,
        .deaf = s->deaf || s->self_deaf,
        .is_not_speaker = is_not_speaker(s->suppress, s->request_to_speak_timestamp),
        .flags = s->flags,
        .platform = s->platform,
    };
}

static struct stream_voice_flags stream_voice_flags_from_row(const struct rows *r)
{
    return (struct stream_voice_flags){
        .muted = row_bool(r, 9),
        .deaf = row_bool(r, 4) || row_bool(r, 10),
        .is_not_speaker = is_not_speaker(row_bool(r, 5), row_optional_int(r, 6)),
        .flags = row_optional_int(r, 7),
        .platform = row_optional_int(r, 8),
    };
}

static void participant_from_row(const struct rows *r, void *ret)
{
    *(struct stream_participant *)ret =
        (struct stream_participant){ .user_id = row_id(r, 0),
                                     .session_id = row_text(r, 1),
                                     .session = row_id(r, 2),
                                     .salt = row_bytes(r, 3),
                                     .voice = stream_voice_flags_from_row(r) };
}

enum err stream_list_participants(struct tx *tx, snowflake owner_id, struct list *ret)
{
    *ret = (struct list){ 0 };
    return tx_read_list(tx, LIST_PARTICIPANTS, BIND(v_id(owner_id)),
                        sizeof(struct stream_participant), participant_from_row, ret);
}

enum err stream_participant_find(struct tx *tx, snowflake owner_id, snowflake user_id,
                                 struct stream_participant *ret)
{
    return tx_read_first(tx, FIND_PARTICIPANT, BIND(v_id(owner_id), v_id(user_id)),
                         participant_from_row, ret, ERR_UNKNOWN_STREAM);
}

static const char UPSERT_PARTICIPANT[] =
    "insert into stream_sessions (owner_id, user_id, session_id, session_number, salt, joined_at) "
    "values ($1, $2, $3, $4, $5, $6) on conflict (owner_id, user_id) do update set "
    "session_id = excluded.session_id, session_number = excluded.session_number, "
    "salt = excluded.salt";

enum err stream_participant_write(struct tx *tx, snowflake owner_id,
                                  const struct stream_participant *p)
{
    return tx_exec(tx, UPSERT_PARTICIPANT,
                   BIND(v_id(owner_id), v_id(p->user_id), v_text(p->session_id), v_id(p->session),
                        v_bytes(p->salt), v_int(clock_us())),
                   NULL);
}

static const char DELETE_PARTICIPANT[] =
    "delete from stream_sessions where owner_id = $1 and user_id = $2";

enum err stream_participant_delete(struct tx *tx, snowflake owner_id, snowflake user_id)
{
    return tx_exec(tx, DELETE_PARTICIPANT, BIND(v_id(owner_id), v_id(user_id)), NULL);
}

static const char LIST_WATCHED[] =
    "select owner_id from stream_sessions where user_id = $1 and owner_id <> user_id";

enum err list_streams_watched_by(struct tx *tx, snowflake user_id, struct list *ret)
{
    return tx_read_ids(tx, LIST_WATCHED, BIND(v_id(user_id)), ret);
}

static const char LIST_OF_USER[] = "select owner_id from stream_sessions where user_id = $1";

enum err list_streams_of_user(struct tx *tx, snowflake user_id, struct list *ret)
{
    return tx_read_ids(tx, LIST_OF_USER, BIND(v_id(user_id)), ret);
}

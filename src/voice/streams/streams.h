/* streams.h - what somebody in voice shows to others in the channel.
 *
 * A stream belongs to its owner's voice state: it ends when the owner leaves, moves, may
 * not stream any more, or its session ends. Who watches is in the same channel. */
#ifndef VOICE_STREAMS_STREAMS_H
#define VOICE_STREAMS_STREAMS_H

#include "voice/internal.h"
#include "voice/states.h"
#include "voice/streams/rules.h"

/* What somebody's voice state means for the streams that it takes part in. */
struct stream_voice {
    bool muted; /* by others: whoever mutes its own microphone goes on with what it shows */
    bool deaf;
    bool aside; /* may not speak where it is, or is not on the stage */
    struct opt_int flags, platform;
};

struct stream {
    struct stream_key key;
    snowflake rtc_server_id;
    struct str region;
    bool paused, notified;
    struct str preview, video; /* "hash.ext"; p == NULL: none */
};

/* A session that takes part; the owner's is one of them. */
struct stream_part {
    snowflake user_id;
    struct str session_id, salt;
    uint64_t session;          /* for to_session */
    struct stream_voice voice; /* not written: it follows from the state */
};

/* --- stream_rows.c: the SQL ----------------------------------------------------------- */

/* ERR_UNKNOWN_STREAM. */
enum err stream_of_owner(struct tx *tx, snowflake owner_id, struct stream *ret);
enum err stream_of_server(struct tx *tx, snowflake rtc_server_id, struct stream *ret);
enum err stream_insert(struct tx *tx, const struct stream *s);
enum err stream_update(struct tx *tx, const struct stream *s);
enum err stream_remove(struct tx *tx, snowflake owner_id);
/* struct stream_part, the first to come first. */
enum err stream_parts(struct tx *tx, snowflake owner_id, struct list *ret);
/* Somebody's part; ERR_UNKNOWN_STREAM: it takes none. */
enum err stream_part_find(struct tx *tx, snowflake owner_id, snowflake user_id,
                          struct stream_part *ret);
enum err stream_part_put(struct tx *tx, snowflake owner_id, const struct stream_part *p);
enum err stream_part_remove(struct tx *tx, snowflake owner_id, snowflake user_id);
/* Owners of what somebody watches, and of all that it takes part in (snowflakes). */
enum err streams_watched(struct tx *tx, snowflake user_id, struct list *ret);
enum err streams_of_user(struct tx *tx, snowflake user_id, struct list *ret);
struct stream_voice stream_voice_of(const struct voice_state *s);

/* --- streams.c: how streams change and end, and who hears of it ----------------------- */

extern const char STREAM_USER_REQUESTED[], STREAM_ENDED[], STREAM_FULL[], STREAM_UNAUTHORIZED[],
    STREAM_PARSE_FAILED[], STREAM_INVALID_CHANNEL[];

/* STREAM_CREATE and STREAM_SERVER_UPDATE to the session of the part. */
enum err stream_welcome(struct call *call, const struct stream *s, const struct stream_part *p);
/* STREAM_SERVER_UPDATE to everybody, with new tokens. */
enum err stream_migrate(struct call *call, const struct stream *s);
/* The same when it is another server's; lost: the one before is gone. */
enum err stream_resettle(struct call *call, const struct stream *s, bool lost);
/* STREAM_UPDATE to everybody who takes part. */
enum err stream_announce(struct call *call, const struct stream *s);
/* STREAM_DELETE to one session. */
void stream_tell_gone(struct call *call, uint64_t session, struct str key, const char *reason);
/* STREAM_DELETE to everybody, the owner with its own reason; the owner's voice state is no
 * longer one that streams. */
enum err stream_end(struct call *call, const struct stream *s, const char *owner_reason);
/* Somebody watches no longer. */
enum err stream_unwatch(struct call *call, const struct stream *s, snowflake user_id,
                        const char *reason);

/* What carries the stream hears of a part: whether it is there, and what it may send. */
struct voice_fact stream_fact(const struct stream *s, const struct stream_part *p, bool there);
/* The secret of a part's connection. */
void stream_token(const struct api *api, const struct stream_part *p,
                  unsigned char ret[VOICE_TOKEN]);
/* How the parts of a stream are named in connections. */
static inline snowflake stream_rtc_channel(const struct stream *s)
{
    return s->rtc_server_id + 1;
}

/* Who leaves voice, or may not stream any more, ends theirs; who leaves watches none. */
enum err streams_left(struct call *call, const struct voice_state *was);
enum err streams_judged(struct call *call, const struct voice_rights *r);
/* Who is muted, deafened or sent off the stage is so in streams as well. */
enum err streams_follow(struct call *call, const struct voice_state *s);

/* --- stream_orders.c: op 18 to 22 ----------------------------------------------------- */

extern const struct type type_stream_request, type_stream_name, type_stream_pause;

enum err create_stream(struct call *call, struct session_order *o);
enum err delete_stream(struct call *call, struct session_order *o);
enum err watch_stream(struct call *call, struct session_order *o);
enum err ping_stream(struct call *call, struct session_order *o);
enum err pause_stream(struct call *call, struct session_order *o);

/* --- stream_routes.c ------------------------------------------------------------------ */

/* The stream of the path; ERR_UNKNOWN_STREAM, or a form error on the key. */
enum err stream_of_path(struct call *call, struct stream *ret);
/* The same for who owns it, in .admit. */
enum err stream_admit_owner(struct call *call);

/* --- stream_files.c: previews --------------------------------------------------------- */

extern const struct type stream_preview_body, stream_preview_reply, stream_video_body;

enum err prepare_stream_preview(struct call *call);
enum err upload_stream_preview(struct call *call);
enum err get_stream_preview(struct call *call);
enum err prepare_stream_video(struct call *call);
enum err upload_stream_video(struct call *call);
/* When the stream has ended. */
enum err stream_drop_files(struct call *call, const struct stream *s);

/* --- stream_notify.c ------------------------------------------------------------------ */

enum err notify_stream(struct call *call);

#endif

/* streams.h - Go Live streams: a screen or game that a user in voice shows to the channel. A stream
 * belongs to its owner's voice state: it ends when the owner leaves, moves, or loses the permission
 * to stream, or when the owner's session ends. Viewers are in the same channel. */
#ifndef VOICE_STREAMS_STREAMS_H
#define VOICE_STREAMS_STREAMS_H

#include "voice/internal.h"
#include "voice/states.h"
#include "voice/streams/rules.h"

/* Flags of a user's voice state that affect the streams that he owns or watches. */
struct stream_voice_flags {
    bool muted; /* muted by the server; self-mute does not mute the stream */
    bool deaf;
    bool is_not_speaker; /* the user is suppressed on a stage, so he is no speaker */
    struct opt_int flags, platform;
};

struct stream {
    struct stream_key key;
    snowflake rtc_server_id;
    struct str region;
    bool paused, notified;
    /* Names of the stream's files, "hash.ext"; .p is NULL if the stream has no such file. */
    struct str preview, video;
};

/* A gateway session that takes part in a stream, as the owner or as a viewer. */
struct stream_participant {
    snowflake user_id;
    struct str session_id, salt;
    uint64_t session;                /* session number, for audience_of_session */
    struct stream_voice_flags voice; /* copied from the user's voice state */
};

/* --- rows.c: SQL ---------------------------------------------------------------------- */

/* Find a stream. Returns ERR_UNKNOWN_STREAM if there is none. */
enum err stream_find_by_owner(struct tx *tx, snowflake owner_id, struct stream *ret);
enum err stream_find_by_rtc_server(struct tx *tx, snowflake rtc_server_id, struct stream *ret);
enum err stream_insert(struct tx *tx, const struct stream *s);
enum err stream_update(struct tx *tx, const struct stream *s);
enum err stream_delete(struct tx *tx, snowflake owner_id);
/* Lists the participants (struct stream_participant) of a stream in the order of joining. */
enum err stream_list_participants(struct tx *tx, snowflake owner_id, struct list *ret);
/* Finds one participant of a stream. Returns ERR_UNKNOWN_STREAM if there is none. */
enum err stream_participant_find(struct tx *tx, snowflake owner_id, snowflake user_id,
                                 struct stream_participant *ret);
enum err stream_participant_write(struct tx *tx, snowflake owner_id,
                                  const struct stream_participant *p);
enum err stream_participant_delete(struct tx *tx, snowflake owner_id, snowflake user_id);
/* Return the owner ids (snowflakes) of streams that a user watches, or watches or owns. */
enum err list_streams_watched_by(struct tx *tx, snowflake user_id, struct list *ret);
enum err list_streams_of_user(struct tx *tx, snowflake user_id, struct list *ret);
struct stream_voice_flags stream_voice_flags_of_voice_state(const struct voice_state *s);

/* --- streams.c: changes and events ---------------------------------------------------- */

extern const char STREAM_USER_REQUESTED[], STREAM_ENDED[], STREAM_FULL[], STREAM_UNAUTHORIZED[],
    STREAM_PARSE_FAILED[], STREAM_INVALID_CHANNEL[];

/* Emits STREAM_CREATE and STREAM_SERVER_UPDATE to the participant's session. */
enum err stream_emit_create(struct call *call, const struct stream *s,
                            const struct stream_participant *p);
/* Emits STREAM_SERVER_UPDATE with new tokens to all participants. */
enum err stream_renew_tokens(struct call *call, const struct stream *s);
/* Emits STREAM_SERVER_UPDATE after the stream moved to another node. `lost` means that the previous
 * node is dead. */
enum err stream_move_to_node(struct call *call, const struct stream *s, bool lost);
enum err stream_emit_update(struct call *call, const struct stream *s);
void stream_emit_delete(struct call *call, uint64_t session, struct str key, const char *reason);
/* Ends a stream: emits STREAM_DELETE to all participants (to the owner with owner_reason) and
 * clears self_stream of the owner. */
enum err stream_end_and_emit(struct call *call, const struct stream *s, const char *owner_reason);
enum err stream_remove_viewer(struct call *call, const struct stream *s, snowflake user_id,
                              const char *reason);

/* Returns the state of a participant for the relay, with the media that he may send. If `there` is
 * false, he has left the stream. */
struct relay_voice_state stream_make_relay_voice_state(const struct stream *s,
                                                       const struct stream_participant *p,
                                                       bool there);
void stream_token_derive(const struct api *api, const struct stream_participant *p,
                         unsigned char ret[VOICE_TOKEN_SIZE]);
/* Returns the channel id that identifies the stream's room in voice connections. */
static inline snowflake stream_rtc_channel_id(const struct stream *s)
{
    return s->rtc_server_id + 1;
}

/* Hooks. If the user leaves voice, his stream ends and he stops watching others. If he loses the
 * permission to stream, his stream ends. */
enum err streams_on_voice_leave(struct call *call, const struct voice_state *was);
enum err streams_on_permission_change(struct call *call, const struct voice_state_permissions *r);
/* Hook: applies mute, deafen and suppress of a voice state to the user's streams. */
enum err streams_on_voice_state_change(struct call *call, const struct voice_state *s);

/* --- opcodes.c: op 18 to 22 ----------------------------------------------------------- */

extern const struct type type_stream_request, type_stream_key_request, type_stream_pause;

enum err create_stream(struct call *call, struct session_opcode *o);
enum err delete_stream(struct call *call, struct session_opcode *o);
enum err watch_stream(struct call *call, struct session_opcode *o);
enum err handle_stream_ping(struct call *call, struct session_opcode *o);
enum err pause_stream(struct call *call, struct session_opcode *o);

/* --- routes.c ------------------------------------------------------------------------- */

/* Finds the stream of the path. Returns ERR_UNKNOWN_STREAM if there is none, or a form error if the
 * stream key is invalid. */
enum err stream_find_by_path(struct call *call, struct stream *ret);

/* --- files.c: previews ---------------------------------------------------------------- */

extern const struct type stream_preview_body, stream_preview_reply, stream_video_body;

enum err schedule_storing_stream_preview(struct call *call);
enum err upload_stream_preview(struct call *call);
enum err get_stream_preview(struct call *call);
enum err schedule_storing_stream_video(struct call *call);
enum err upload_stream_video(struct call *call);
/* Deletes the files of a stream that has ended. */
enum err stream_delete_files(struct call *call, const struct stream *s);

/* --- notify.c ------------------------------------------------------------------------- */

enum err notify_stream(struct call *call);

#endif

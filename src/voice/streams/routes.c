/* routes.c - /streams: routes for a stream's region, preview and notification. */
#include "voice/streams/streams.h"

#include "model/configured/regions.h"
#include "platform/channels/channels.h"
#include "platform/guilds/guilds.h"

enum err stream_find_by_path(struct call *call, struct stream *ret)
{
    struct stream_key key;

    if (!stream_key_parse(call_get_path_text(call, "stream_key"), &key))
        return call_add_field_error(call, "stream_key", "STREAM_KEY_INVALID",
                                    "Not the key of a stream.");
    enum err e = stream_find_by_owner(call->tx, key.owner_id, ret);
    if (!e && (ret->key.guild_id != key.guild_id || ret->key.channel_id != key.channel_id))
        e = ERR_UNKNOWN_STREAM;
    return e;
}

/* Refuses callers who do not own the stream. Callers who cannot view the stream get
 * ERR_UNKNOWN_STREAM. */
static enum err require_stream_owner(struct call *call)
{
    struct stream s;
    enum err e = stream_find_by_path(call, &s);

    if (e || s.key.owner_id == call->caller->id)
        return e;
    e = resolve_channel_by_id(call, s.key.channel_id);
    return e == ERR_MISSING_ACCESS || e == ERR_UNKNOWN_CHANNEL ? ERR_UNKNOWN_STREAM
           : e                                                 ? e
                                                               : ERR_MISSING_PERMISSIONS;
}

/* --- PATCH ---------------------------------------------------------------------------- */

struct stream_patch {
    struct opt_str region;
};

static const struct field patch_fields[] = {
    { FIELD(struct stream_patch, region), .type = &type_text, .flags = OPTIONAL,
      .doc = "Voice region" },
    { 0 },
};
static const struct schema patch_schema = {
    .name = "StreamPatch",
    .size = sizeof(struct stream_patch),
    .fields = patch_fields,
    .doc = "Changes to a stream by its owner.",
};
static const struct type patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

static enum err check_stream_region(struct call *call, const struct stream *s, struct str region)
{
    struct guild guild;
    bool vip = false;

    if (s->key.guild_id) {
        enum err e = guild_find(call->tx, s->key.guild_id, &guild);

        if (e)
            return e;
        vip = guild_may_use_vip_regions(&guild);
    }
    if (!voice_region_is_usable(region, vip))
        return call_add_field_error(call, "region", "REGION_INVALID", "There is no such region.");
    return OK;
}

/* PATCH /streams/{stream_key}/stream */
static enum err modify_stream(struct call *call)
{
    const struct stream_patch *in = call->body;
    struct stream s;

    enum err e = stream_find_by_path(call, &s);
    if (e || in->region.given != GIVEN)
        return e;
    e = check_stream_region(call, &s, in->region.value);
    bool moves = !str_eq(s.region, in->region.value);
    s.region = in->region.value;
    if (!e && moves)
        e = stream_update(call->tx, &s);
    if (!e)
        e = stream_emit_update(call, &s);
    return e || !moves ? e : stream_renew_tokens(call, &s);
}

static const struct path_resolver resolvers[] = {
    { .name = "stream_key",
      .field = "stream_key",
      .is_text = true,
      .doc = "guild:GUILD:CHANNEL:OWNER or call:CHANNEL:OWNER." },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = PATCH,
        .path = "/streams/{stream_key}/stream",
        .name = "modify_stream",
        .doc = "Move the caller's stream to another region.",
        .auth = AUTH_USER,
        .body = &patch_body,
        .fires =
            (const enum event[]){ EVENT_STREAM_UPDATE, EVENT_STREAM_SERVER_UPDATE, EVENT_NONE },
        .admit = require_stream_owner,
        .handle = modify_stream,
    },
    {
        .method = GET,
        .path = "/streams/{stream_key}/preview",
        .name = "get_stream_preview",
        .doc = "The preview of a stream. Needs CONNECT in its channel.",
        .auth = AUTH_USER,
        .reply = &stream_preview_reply,
        .handle = get_stream_preview,
    },
    {
        .method = POST,
        .path = "/streams/{stream_key}/preview",
        .name = "upload_stream_preview",
        .doc = "Upload a preview of the caller's stream: JPEG, PNG or WebP, "
               "at most 1 MiB and 1920x1080.",
        .auth = AUTH_USER,
        .body = &stream_preview_body,
        .max_body = 2 * 1024 * 1024,
        .status = 204,
        .admit = require_stream_owner,
        .prepare = schedule_storing_stream_preview,
        .handle = upload_stream_preview,
    },
    {
        .method = POST,
        .path = "/streams/{stream_key}/preview/video",
        .name = "upload_stream_video",
        .doc = "Upload a short video of the caller's stream: MP4 or WebM, at most 8 MiB.",
        .auth = AUTH_USER,
        .body = &stream_video_body,
        .body_kinds = BODY_MULTIPART,
        .max_upload = 9 * 1024 * 1024,
        .status = 204,
        .admit = require_stream_owner,
        .prepare = schedule_storing_stream_video,
        .handle = upload_stream_video,
    },
    {
        .method = POST,
        .path = "/streams/{stream_key}/notify",
        .name = "notify_stream",
        .doc = "Notify the caller's friends in the guild that the caller streams.",
        .auth = AUTH_USER,
        .status = 204,
        .fires = (const enum event[]){ EVENT_NOTIFICATION_CENTER_ITEM_CREATE, EVENT_NONE },
        .admit = require_stream_owner,
        .handle = notify_stream,
    },
    { 0 },
};

const struct domain streams_domain = {
    .name = "Streams",
    .doc = "Screens and games that users in voice show to others.",
    .routes = routes,
    .resolvers = resolvers,
    .hooks =
        &(const struct hook_listeners){
            .voice_left = streams_on_voice_leave,
            .voice_permissions_check = streams_on_permission_change,
            .voice_state_changed = streams_on_voice_state_change,
        },
};

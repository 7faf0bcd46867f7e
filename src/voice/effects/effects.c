/* effects.c - voice channel effects: emoji, the custom call sound, soundboard sounds. */
#include "voice/effects/effects.h"

#include "base/emoji.h"
#include "model/permissions/permissions.h"
#include "model/sound.h"
#include "platform/channels/channels.h"
#include "platform/emojis/emojis.h"

struct effect_draft {
    int64_t animation_type, animation_id;
    struct opt_id emoji_id;
    struct opt_str emoji_name;
};
struct voice_effect {
    snowflake channel_id, guild_id, user_id;
    const struct voice_effect_emoji *emoji;
    int64_t animation_type, animation_id;
    struct str sound_id; /* JSON; a number for default sounds */
    struct opt_real sound_volume;
};

/* --- schemas -------------------------------------------------------------------------- */

static const struct enum_choice animations[] = {
    { EFFECT_PREMIUM, NULL, "PREMIUM", "A fun animation, for premium accounts" },
    { EFFECT_BASIC, NULL, "BASIC", "The ordinary one" },
    { 0 },
};
static const struct type type_animation = { .kind = KIND_INT, .choices = animations };
static const struct type type_animation_id = { .kind = KIND_INT,
                                               .min = 0,
                                               .max = EFFECT_MAX_PREMIUM };

static void refuse_invalid_animation_id(struct form *form, const struct json_path *here,
                                        const void *object)
{
    const struct effect_draft *in = object;
    struct json_path kind = json_path_key(here, STR("animation_type"));
    struct json_path at = json_path_key(here, STR("animation_id"));

    if (!form_has_error_at_path(form, &kind) && !form_has_error_at_path(form, &at) &&
        in->animation_type == EFFECT_BASIC && in->animation_id != 0)
        form_add_error(form, &at, FORM_NUMBER_MAX, 0LL);
}

/* Fields of the emoji animation, which the bodies of both effect routes contain. */
#define ANIMATION_FIELDS(flags_)                                                                 \
    { FIELD(struct effect_draft, animation_type), .type = &type_animation, .flags = (flags_),    \
      .fallback = EFFECT_BASIC },                                                                \
    {                                                                                            \
        FIELD(struct effect_draft, animation_id), .type = &type_animation_id, .flags = (flags_), \
                                                  .doc = "0 to 20; for BASIC only 0"             \
    }

static const struct field effect_fields[] = {
    ANIMATION_FIELDS(OPTIONAL | NULLABLE),
    { FIELD(struct effect_draft, emoji_id), .type = &type_id, .flags = OPTIONAL | NULLABLE },
    { FIELD(struct effect_draft, emoji_name), .type = &type_text, .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema effect_schema = {
    .name = "VoiceChannelEffectDraft",
    .size = sizeof(struct effect_draft),
    .fields = effect_fields,
    .check = refuse_invalid_animation_id,
    .doc = "An effect to send.",
};
static const struct type effect_body = { .kind = KIND_OBJECT, .schema = &effect_schema };

static const struct field sound_fields[] = { ANIMATION_FIELDS(OPTIONAL), { 0 } };
static const struct schema call_sound_schema = {
    .name = "CustomCallSoundDraft",
    .size = sizeof(struct effect_draft),
    .fields = sound_fields,
    .check = refuse_invalid_animation_id,
    .doc = "The animation for the caller's custom call sound.",
};
static const struct type sound_body = { .kind = KIND_OBJECT, .schema = &call_sound_schema };

static const struct field emoji_fields[] = {
    { FIELD(struct voice_effect_emoji, id), .type = &type_id, .flags = NULLABLE },
    { FIELD(struct voice_effect_emoji, name), .type = &type_text, .flags = NULLABLE },
    { FIELD(struct voice_effect_emoji, animated), .type = &type_bool },
    { 0 },
};
static const struct schema effect_emoji_schema = {
    .name = "EffectEmoji",
    .size = sizeof(struct voice_effect_emoji),
    .fields = emoji_fields,
    .doc = "An emoji in an effect.",
};
static const struct type type_effect_emoji = { .kind = KIND_OBJECT,
                                               .schema = &effect_emoji_schema };

static const struct field sent_fields[] = {
    { FIELD(struct voice_effect, channel_id), .type = &type_id },
    { FIELD(struct voice_effect, guild_id), .type = &type_id },
    { FIELD(struct voice_effect, user_id), .type = &type_id },
    { FIELD(struct voice_effect, emoji), .type = &type_effect_emoji, .flags = NULLABLE },
    { FIELD(struct voice_effect, animation_type), .type = &type_animation },
    { FIELD(struct voice_effect, animation_id), .type = &type_animation_id },
    { FIELD(struct voice_effect, sound_id), .type = &type_raw, .flags = OPTIONAL },
    { FIELD(struct voice_effect, sound_volume), .type = &type_volume, .flags = OPTIONAL },
    { 0 },
};
static const struct schema sent_schema = {
    .name = "VoiceChannelEffect",
    .size = sizeof(struct voice_effect),
    .fields = sent_fields,
    .doc = "An effect that a user in voice sent.",
};

static const struct rate_limit effect_limit = { .name = "voice-effects",
                                                .count = 20,
                                                .window_s = 10 };

/* --- permissions ---------------------------------------------------------------------- */

static bool all_accounts_are_premium = true;

void voice_effects_set_everybody_is_premium(bool everybody_is_premium)
{
    all_accounts_are_premium = everybody_is_premium;
}

/* Requires that the caller is in the channel of the path, and not muted, deafened or suppressed. */
static enum err require_audible_in_voice(struct call *call)
{
    const struct channel *c = call->target.channel;
    struct voice_state s;

    if (!channel_is_voice(c->type))
        return ERR_CHANNEL_TYPE;
    if (!(call->target.permissions & PERMISSION(CONNECT)))
        return ERR_MISSING_ACCESS;
    enum err e = voice_state_find(call->tx, c->guild_id.value, call->caller->id, &s);
    if (e == ERR_UNKNOWN_VOICE_STATE || (!e && voice_state_get_channel_id(&s) != c->id))
        return ERR_EFFECT_NOT_IN_VOICE;
    return e ? e : s.mute || s.deaf || s.suppress ? ERR_EFFECT_SILENCED : OK;
}

static enum err check_account_may_use_premium_animation(struct call *call, int64_t animation_type)
{
    struct user user;

    if (animation_type != EFFECT_PREMIUM || all_accounts_are_premium)
        return OK;
    enum err e = user_find(call->tx, call->caller->id, &user);
    return e ? e : user.premium_type > 0 ? OK : ERR_PREMIUM_REQUIRED;
}

static void emit_voice_channel_effect(struct call *call, const struct effect_draft *in,
                                      struct voice_effect *out)
{
    const struct channel *c = call->target.channel;

    out->channel_id = c->id;
    out->guild_id = c->guild_id.value;
    out->user_id = call->caller->id;
    out->animation_type = in->animation_type;
    out->animation_id = in->animation_id;
    call_emit_event(call, EVENT_VOICE_CHANNEL_EFFECT_SEND,
                    audience_of_channel_viewers(out->guild_id, out->channel_id), &sent_schema, out);
}

static enum err find_custom_emoji(struct call *call, snowflake id, struct voice_effect_emoji *ret)
{
    struct emoji_use_context who = { .user_id = call->caller->id,
                                     .application_id = call->caller->application_id,
                                     .guild_id = call->target.channel->guild_id.value,
                                     .permissions = call->target.permissions };
    struct emoji found;
    enum err e = emoji_find_usable(call->tx, &who, id, &found);

    if (!e)
        *ret = voice_effect_emoji_from_emoji(&found);
    return e;
}

static enum err parse_effect_emoji(struct call *call, struct voice_effect_emoji *ret)
{
    const struct effect_draft *in = call->body;

    if (in->emoji_id.given == GIVEN)
        return find_custom_emoji(call, in->emoji_id.value, ret);
    if (in->emoji_name.given != GIVEN)
        return call_add_field_error(call, "emoji_name", FORM_REQUIRED);
    *ret = (struct voice_effect_emoji){ opt_id_or_null(0), in->emoji_name, false };
    return is_emoji(in->emoji_name.value) ? OK : ERR_INVALID_EMOJI;
}

/* POST /channels/{channel.id}/voice-channel-effects */
static enum err send_voice_channel_effect(struct call *call)
{
    const struct effect_draft *in = call->body;
    struct voice_effect_emoji emoji;
    struct voice_effect out = { .emoji = &emoji };

    enum err e = check_account_may_use_premium_animation(call, in->animation_type);
    if (!e)
        e = parse_effect_emoji(call, &emoji);
    if (!e)
        emit_voice_channel_effect(call, in, &out);
    return e;
}

/* POST /channels/{channel.id}/custom-call-sounds */
static enum err send_custom_call_sound(struct call *call)
{
    const struct effect_draft *in = call->body;
    const uint64_t needed = PERMISSION(USE_SOUNDBOARD) | PERMISSION(SPEAK);
    struct voice_effect_sound sound;

    if ((call->target.permissions & needed) != needed)
        return call_get_missing_permissions_error(call, needed);
    enum err e = check_account_may_use_premium_animation(call, in->animation_type);
    if (!e)
        e = find_custom_call_sound(call, &sound);
    if (e)
        return e;
    struct voice_effect out = {
        .emoji = sound.emoji,
        .sound_id = str_printf(call->arena, sound.built_in ? "%llu" : "\"%llu\"",
                               (unsigned long long)sound.id),
        .sound_volume = { GIVEN, sound.volume },
    };
    emit_voice_channel_effect(call, in, &out);
    return OK;
}

/* --- soundboard ----------------------------------------------------------------------- */

struct soundboard_draft {
    snowflake sound_id;
    struct opt_id source_guild_id;
};
static const struct field soundboard_fields[] = {
    { FIELD(struct soundboard_draft, sound_id), .type = &type_id },
    { FIELD(struct soundboard_draft, source_guild_id), .type = &type_id,
      .flags = OPTIONAL | NULLABLE, .doc = "Guild of the sound, if it is another one" },
    { 0 },
};
static const struct schema soundboard_schema = {
    .name = "SoundboardSend",
    .size = sizeof(struct soundboard_draft),
    .fields = soundboard_fields,
    .doc = "A sound to play.",
};
static const struct type soundboard_body = { .kind = KIND_OBJECT, .schema = &soundboard_schema };

/* Requires that the caller is in the channel, not muted, not suppressed, and not deafened (by
 * others or by himself). */
static enum err require_audible_and_hearing(struct call *call)
{
    struct voice_state s;
    enum err e = require_audible_in_voice(call);

    if (!e)
        e = voice_state_find(call->tx, call->target.channel->guild_id.value, call->caller->id, &s);
    return e ? e : s.self_deaf ? ERR_EFFECT_SILENCED : OK;
}

/* POST /channels/{channel.id}/send-soundboard-sound */
static enum err send_soundboard_sound(struct call *call)
{
    const struct soundboard_draft *in = call->body;
    struct effect_draft plain = { .animation_type = EFFECT_BASIC };
    struct voice_effect_sound sound;
    enum err e = find_soundboard_sound(call, in->sound_id, in->source_guild_id.value, &sound);

    if (e)
        return e;
    struct voice_effect out = {
        .emoji = sound.emoji,
        .sound_id = str_printf(call->arena, sound.built_in ? "%llu" : "\"%llu\"",
                               (unsigned long long)sound.id),
        .sound_volume = { GIVEN, sound.volume },
    };
    emit_voice_channel_effect(call, &plain, &out);
    return OK;
}

static const enum event fired[] = { EVENT_VOICE_CHANNEL_EFFECT_SEND, EVENT_NONE };

/* Fields that all route rows of this file have in common. */
#define EFFECT_ROW .method = POST, .status = 204, .fires = fired, .limit = &effect_limit

static const struct route routes[] = {
    {
        EFFECT_ROW,
        .path = "/channels/{channel.id}/voice-channel-effects",
        .name = "send_voice_channel_effect",
        .doc = "Show an emoji to all participants of the caller's voice channel.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &effect_body,
        .admit = require_audible_in_voice,
        .handle = send_voice_channel_effect,
    },
    {
        EFFECT_ROW,
        .path = "/channels/{channel.id}/custom-call-sounds",
        .name = "send_custom_call_sound",
        .doc = "Play the caller's custom call sound (`custom_call_sound`).",
        .auth = AUTH_USER,
        .body = &sound_body,
        .admit = require_audible_in_voice,
        .handle = send_custom_call_sound,
    },
    {
        EFFECT_ROW,
        .path = "/channels/{channel.id}/send-soundboard-sound",
        .name = "send_soundboard_sound",
        .doc = "Play a sound to all participants of the caller's voice channel.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(SPEAK) | PERMISSION(USE_SOUNDBOARD),
        .body = &soundboard_body,
        .admit = require_audible_and_hearing,
        .handle = send_soundboard_sound,
    },
    { 0 },
};

const struct domain voice_effects_domain = {
    .name = "Voice effects",
    .doc = "Emoji and sounds that users in voice send to their channel.",
    .routes = routes,
};

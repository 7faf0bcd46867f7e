/* routes.c - routes of soundboard sounds: list, get, create, modify, delete, default sounds, files.
 */
#include <math.h>
#include <stdio.h>
#include <unistd.h>

#include "api/deletion.h"
#include "api/hooks.h"
#include "base/emoji.h"
#include "model/fields/rows.h"
#include "platform/emojis/emojis.h"
#include "platform/guilds/guilds.h"
#include "platform/sounds/internal.h"

/* --- bodies --------------------------------------------------------------------------- */

struct sound_draft {
    struct opt_str name, sound;
    struct opt_real volume;
    struct opt_id emoji_id;
    struct opt_str emoji_name;
};

static const struct type type_sound_file = { .kind = KIND_STRING,
                                             .max = 720 * 1024,
                                             .doc = "data:audio/mpeg;base64,… or audio/ogg, of at "
                                                    "most 512 KiB and 5.2 seconds" };
static const struct type type_emoji_text = { .kind = KIND_STRING, .min = 1, .max = 32 };
#define DRAFT_FIELD(member_, type_, flags_)                                     \
    {                                                                           \
        FIELD(struct sound_draft, member_), .type = &(type_), .flags = (flags_) \
    }
#define MAYBE (OPTIONAL | NULLABLE)
#define SHARED_FIELDS                                                               \
    DRAFT_FIELD(volume, type_volume, MAYBE), DRAFT_FIELD(emoji_id, type_id, MAYBE), \
        DRAFT_FIELD(emoji_name, type_emoji_text, MAYBE)

static const struct field draft_fields[] = { DRAFT_FIELD(name, type_sound_name, 0),
                                             DRAFT_FIELD(sound, type_sound_file, 0),
                                             SHARED_FIELDS,
                                             { 0 } };
static const struct field patch_fields[] = { DRAFT_FIELD(name, type_sound_name, OPTIONAL),
                                             SHARED_FIELDS,
                                             { 0 } };
static const struct schema draft_schema = {
    .name = "SoundboardSoundDraft",
    .size = sizeof(struct sound_draft),
    .fields = draft_fields,
    .doc = "A new sound.",
};
static const struct schema patch_schema = {
    .name = "SoundboardSoundPatch",
    .size = sizeof(struct sound_draft),
    .fields = patch_fields,
    .doc = "Fields of a sound to change.",
};
static const struct type draft_body = { .kind = KIND_OBJECT, .schema = &draft_schema };
static const struct type patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

struct sound_list_reply {
    struct list items;
};
static const struct field items_fields[] = {
    { FIELD(struct sound_list_reply, items), .type = &type_sounds },
    { 0 },
};
static const struct schema items_schema = {
    .name = "SoundboardSounds",
    .size = sizeof(struct sound_list_reply),
    .fields = items_fields,
    .doc = "Sounds of a guild.",
};
static const struct type items_reply = { .kind = KIND_OBJECT, .schema = &items_schema };

/* --- shared by the handlers ----------------------------------------------------------- */

static enum err add_uploader_if_allowed(struct call *call, struct soundboard_sound *s)
{
    return call->target.permissions & PERMISSIONS_SEE_UPLOADERS
               ? soundboard_sound_read_uploader(call->tx, s)
               : OK;
}

static enum err reply_with_sound(struct call *call, struct soundboard_sound *s)
{
    enum err e = add_uploader_if_allowed(call, s);

    return e ? e : call_reply_with_object(call, s);
}

static enum err read_sound_of_path(struct call *call, struct soundboard_sound *ret)
{
    enum err e = soundboard_sound_find(call->tx, call_get_path_id(call, "sound.id"), ret);

    return e || ret->guild_id.value == call->target.guild->id ? e : ERR_UNKNOWN_SOUND;
}

static enum err emit_sound_event(struct call *call, enum event event,
                                 const struct soundboard_sound *s)
{
    struct soundboard_sound emitted = *s;
    enum err e = soundboard_sound_read_uploader(call->tx, &emitted);

    if (!e)
        call_emit_event(call, event, audience_of_guild(s->guild_id.value), &sound_schema, &emitted);
    return e;
}

/* Removes a deleted emoji from the guild's sounds. A guild has at most 96 sounds. */
static enum err remove_emoji_from_sounds(struct call *call, const struct emoji *emoji)
{
    struct soundboard_sounds_event changed = { .guild_id = emoji->guild_id };
    struct list all;
    enum err e = guild_soundboard_sounds_read(call->tx, emoji->guild_id, &all);

    for (size_t i = 0; !e && i < all.count; i++) {
        struct soundboard_sound s = ((const struct soundboard_sound *)all.items)[i];

        if (s.emoji_id.given != GIVEN || s.emoji_id.value != emoji->id)
            continue;
        s.emoji_id = (struct opt_id){ .given = GIVEN_NULL };
        e = soundboard_sound_update(call->tx, &s);
        if (!e)
            e = soundboard_sound_read_uploader(call->tx, &s);
        *(struct soundboard_sound *)list_append(call->arena, &changed.soundboard_sounds, sizeof s) =
            s;
    }
    if (!e && changed.soundboard_sounds.count == 1)
        call_emit_event(call, EVENT_GUILD_SOUNDBOARD_SOUND_UPDATE,
                        audience_of_guild(emoji->guild_id), &sound_schema,
                        changed.soundboard_sounds.items);
    else if (!e && changed.soundboard_sounds.count)
        call_emit_event(call, EVENT_GUILD_SOUNDBOARD_SOUNDS_UPDATE,
                        audience_of_guild(emoji->guild_id), &soundboard_sounds_event_schema,
                        &changed);
    return e;
}

/* Sets the emoji of a sound. It may be an emoji of this guild or a Unicode emoji. */
static enum err apply_sound_emoji(struct call *call, struct soundboard_sound *s,
                                  const struct sound_draft *in)
{
    struct emoji emoji;

    if (in->emoji_id.given != ABSENT || in->emoji_name.given != ABSENT) {
        s->emoji_id = opt_id_or_null(in->emoji_id.value);
        s->emoji_name = opt_str_or_null(in->emoji_name.value);
    }
    if (in->emoji_id.given == GIVEN && in->emoji_name.given == GIVEN)
        return call_add_field_error(call, "emoji_name", FORM_CHOICES,
                                    "A sound can have only one emoji.");
    if (in->emoji_name.given == GIVEN && !is_emoji(in->emoji_name.value))
        return call_add_field_error(call, "emoji_name", FORM_CHOICES, "Not an emoji.");
    if (in->emoji_id.given != GIVEN)
        return OK;
    enum err e = emoji_find(call->tx, in->emoji_id.value, &emoji);
    if (e == ERR_UNKNOWN_EMOJI || (!e && emoji.guild_id != call->target.guild->id))
        return call_add_field_error(call, "emoji_id", FORM_CHOICES,
                                    "Value must be an emoji of the guild.");
    return e;
}

static enum err apply_sound_draft(struct call *call, struct soundboard_sound *s)
{
    const struct sound_draft *in = call->body;

    if (in->name.given == GIVEN)
        s->name = in->name.value;
    if (in->volume.given != ABSENT)
        s->volume = in->volume.given == GIVEN ? in->volume.value : 1;
    return apply_sound_emoji(call, s, in);
}

/* --- reading -------------------------------------------------------------------------- */

/* GET /guilds/{guild.id}/soundboard-sounds */
static enum err list_guild_sounds(struct call *call)
{
    struct sound_list_reply all = { 0 };
    enum err e = guild_soundboard_sounds_read(call->tx, call->target.guild->id, &all.items);

    for (size_t i = 0; !e && i < all.items.count; i++)
        e = add_uploader_if_allowed(call, &((struct soundboard_sound *)all.items.items)[i]);
    return e ? e : call_reply_with_object(call, &all);
}

/* GET /guilds/{guild.id}/soundboard-sounds/{sound.id} */
static enum err get_guild_sound(struct call *call)
{
    struct soundboard_sound s;
    enum err e = read_sound_of_path(call, &s);

    return e ? e : reply_with_sound(call, &s);
}

/* GET /soundboard-default-sounds */
static enum err list_default_sounds(struct call *call)
{
    const struct soundboard_sound *first;
    size_t count = soundboard_default_sounds_list(&first);

    return call_reply_with_object(call, &(struct list){ (void *)first, count });
}

/* --- creating ------------------------------------------------------------------------- */

struct sound_upload {
    snowflake id;
    struct str bytes, file;
};

static enum err store_sound_file(struct call *call)
{
    struct sound_upload *u = call_get_stage_data(call, "sound_upload");
    snowflake id = snowflake_new();
    char name[96];

    u->file = str_printf(call->arena, "%llx", (unsigned long long)id);
    snprintf(name, sizeof name, "sounds/%llu/%.*s", (unsigned long long)u->id, STR_ARGS(u->file));
    return call_write_blob(call, id, name, u->bytes);
}

static enum err check_sound_limit(struct call *call)
{
    static const int64_t by_tier[] = { 8, 24, 36, 48 };
    const struct guild *g = call->target.guild;
    int64_t most = guild_has_feature(g, "MORE_SOUNDBOARD") ? 96 : by_tier[g->premium_tier & 3];
    int64_t n = 0;
    enum err e = tx_read_int(call->tx, "select count(*) from sounds where guild_id = $1",
                             BIND(v_id(g->id)), &n);

    return e || n < most ? e : ERR_MAX_SOUNDS;
}

static enum err validate_sound_upload(struct call *call)
{
    const struct sound_draft *in = call->body;
    struct sound_upload *u = call_store_stage_data(call, "sound_upload", sizeof *u);
    enum err e = soundboard_sound_decode_data_uri(call->arena, in->sound.value, &u->bytes);

    u->id = snowflake_new();
    if (e == ERR_INVALID_FORM_BODY)
        return call_add_field_error(call, "sound", "BINARY_TYPE_INVALID",
                                    "The value must be a sound as a data URI.");
    if (e)
        return e;
    call->read = check_sound_limit;
    call->compute = store_sound_file;
    return OK;
}

static const struct field audited_sound[] = {
    { FIELD(struct soundboard_sound, name), .type = &type_text },
    { FIELD(struct soundboard_sound, volume), .type = &type_volume },
    { FIELD(struct soundboard_sound, emoji_id), .type = &type_id },
    { FIELD(struct soundboard_sound, emoji_name), .type = &type_text },
    { 0 },
};

static enum err record_sound_in_audit_log(struct call *call, enum audit_log_action action,
                                          const struct soundboard_sound *before,
                                          const struct soundboard_sound *now)
{
    const struct soundboard_sound *any = now ? now : before;

    return audit_log_record_object_change(call, any->guild_id.value, action, any->sound_id,
                                          audited_sound, before, now);
}

/* POST /guilds/{guild.id}/soundboard-sounds */
static enum err create_guild_sound(struct call *call)
{
    const struct sound_upload *u = call_get_stage_data(call, "sound_upload");
    struct soundboard_sound s = { .sound_id = u->id,
                                  .guild_id = opt_id_or_null(call->target.guild->id),
                                  .volume = 1,
                                  .emoji_id.given = GIVEN_NULL,
                                  .emoji_name.given = GIVEN_NULL,
                                  .available = true,
                                  .user_id = call->caller->id,
                                  .file = opt_str_or_null(u->file) };
    enum err e = check_sound_limit(call);

    if (!e)
        e = apply_sound_draft(call, &s);
    if (!e)
        e = soundboard_sound_insert(call->tx, &s);
    if (!e)
        e = record_sound_in_audit_log(call, AUDIT_SOUND_CREATE, NULL, &s);
    if (!e)
        e = emit_sound_event(call, EVENT_GUILD_SOUNDBOARD_SOUND_CREATE, &s);
    return e ? e : reply_with_sound(call, &s);
}

/* --- changing and deleting ------------------------------------------------------------ */

/* PATCH /guilds/{guild.id}/soundboard-sounds/{sound.id} */
static enum err modify_guild_sound(struct call *call)
{
    struct soundboard_sound s, before;
    enum err e = read_sound_of_path(call, &s);

    before = s;
    if (!e)
        e = check_change_expression_permission(call, s.user_id);
    if (!e)
        e = apply_sound_draft(call, &s);
    if (!e)
        e = soundboard_sound_update(call->tx, &s);
    if (!e)
        e = record_sound_in_audit_log(call, AUDIT_SOUND_UPDATE, &before, &s);
    if (!e)
        e = emit_sound_event(call, EVENT_GUILD_SOUNDBOARD_SOUND_UPDATE, &s);
    return e ? e : reply_with_sound(call, &s);
}

/* DELETE /guilds/{guild.id}/soundboard-sounds/{sound.id} */
static enum err delete_guild_sound(struct call *call)
{
    struct soundboard_sound s;
    enum err e = read_sound_of_path(call, &s);

    if (!e)
        e = check_change_expression_permission(call, s.user_id);
    if (!e)
        e = soundboard_sound_delete(call, &s);
    if (!e)
        e = record_sound_in_audit_log(call, AUDIT_SOUND_DELETE, &s, NULL);
    struct sound_delete_event gone = { s.guild_id.value, s.sound_id };
    if (!e)
        call_emit_event(call, EVENT_GUILD_SOUNDBOARD_SOUND_DELETE, audience_of_guild(gone.guild_id),
                        &sound_delete_event_schema, &gone);
    return e;
}

/* --- route table ---------------------------------------------------------------------- */

static const struct path_resolver resolvers[] = {
    { .name = "sound.id", .field = "sound_id", .doc = "A sound of the guild." },
    { 0 },
};

#define SOUND_EVENTS(event_)                                   \
    (const enum event[])                                       \
    {                                                          \
        event_, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE \
    }
#define SOUNDS_PATH "/guilds/{guild.id}/soundboard-sounds"

static const struct route routes[] = {
    {
        .method = GET,
        .path = SOUNDS_PATH,
        .name = "list_guild_sounds",
        .doc = "Sounds of a guild, the oldest first.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &items_reply,
        .handle = list_guild_sounds,
    },
    {
        .method = GET,
        .path = SOUNDS_PATH "/{sound.id}",
        .name = "get_guild_sound",
        .doc = "One sound.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_sound,
        .handle = get_guild_sound,
    },
    {
        .method = POST,
        .path = SOUNDS_PATH,
        .name = "create_guild_sound",
        .doc = "Upload a sound: at most 8, more by premium_tier or MORE_SOUNDBOARD.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(CREATE_EXPRESSIONS),
        .body = &draft_body,
        .reply = &type_sound,
        .status = 201,
        .fires = SOUND_EVENTS(EVENT_GUILD_SOUNDBOARD_SOUND_CREATE),
        .limit = &limit_expression_writes,
        .prepare = validate_sound_upload,
        .handle = create_guild_sound,
    },
    {
        .method = PATCH,
        .path = SOUNDS_PATH "/{sound.id}",
        .name = "modify_guild_sound",
        .doc = "Change a sound; sounds of others need MANAGE_EXPRESSIONS.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &patch_body,
        .reply = &type_sound,
        .fires = SOUND_EVENTS(EVENT_GUILD_SOUNDBOARD_SOUND_UPDATE),
        .limit = &limit_expression_writes,
        .handle = modify_guild_sound,
    },
    {
        .method = DELETE,
        .path = SOUNDS_PATH "/{sound.id}",
        .name = "delete_guild_sound",
        .doc = "Delete a sound; sounds of others need MANAGE_EXPRESSIONS.",
        .auth = AUTH_USER | AUTH_BOT,
        .fires = SOUND_EVENTS(EVENT_GUILD_SOUNDBOARD_SOUND_DELETE),
        .limit = &limit_expression_writes,
        .handle = delete_guild_sound,
    },
    {
        .method = GET,
        .path = "/soundboard-default-sounds",
        .name = "list_default_sounds",
        .doc = "Sounds that every server has.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_sounds,
        .store = ROUTE_STORE_NONE,
        .handle = list_default_sounds,
    },
    { 0 },
};

const struct domain sounds_domain = {
    .name = "Soundboard",
    .doc = "Short sounds for voice.",
    .routes = routes,
    .world = &sounds_world,
    .resolvers = resolvers,
    .hooks = &(const struct hook_listeners){ .emoji_deleted = remove_emoji_from_sounds },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WITH_FILE(WITH_GUILD, "sounds", "sounds", "file", "guild_id = $1") }, { 0 } },
};

/* --- GET /soundboard-sounds/{sound} --------------------------------------------------- */

enum { TONE_HZ = 8000, TONE_SAMPLES = 1600 };

/* Replies with a generated default sound: a tone of 200 ms as WAV, which needs no encoder. Higher
 * ids have a higher pitch. */
static enum err reply_with_generated_tone(struct call *call, snowflake id)
{
    struct buf out;
    unsigned char head[44] =
        "RIFF\0\0\0\0WAVEfmt \x10\0\0\0\1\0\1\0\x40\x1f\0\0\x40\x1f\0\0\1\0\x08"
        "\0data\0\0\0";

    head[4] = (36 + TONE_SAMPLES) & 255, head[5] = (36 + TONE_SAMPLES) >> 8;
    head[40] = TONE_SAMPLES & 255, head[41] = TONE_SAMPLES >> 8;
    buf_init(&out, sizeof head + TONE_SAMPLES);
    buf_add(&out, head, sizeof head);
    for (int i = 0; i < TONE_SAMPLES; i++)
        buf_add_char(&out,
                     (char)(unsigned char)(128 + 90 * sin(i * 6.2831853 *
                                                          (400.0 + 80.0 * (double)id) / TONE_HZ)));
    return call_reply_with_buf(call, STR("audio/wav"), &out);
}

static enum err get_sound_file(struct call *call)
{
    struct str file = call_get_path_text(call, "file"), number = str_cut(&file, '.');
    struct soundboard_sound s;
    snowflake id;
    int64_t size;
    char name[96];
    int fd;

    if (!snowflake_parse(number, &id))
        return ERR_NOT_FOUND;
    if (soundboard_default_sound_find(id))
        return reply_with_generated_tone(call, id);
    enum err e = soundboard_sound_find(call->tx, id, &s);
    if (e || s.file.given != GIVEN)
        return !e || e == ERR_UNKNOWN_SOUND ? ERR_NOT_FOUND : e;
    snprintf(name, sizeof name, "sounds/%llu/%.*s", (unsigned long long)id, STR_ARGS(s.file.value));
    e = call_open_blob(call, name, &fd, &size);
    if (e)
        return e;
    char head[4] = "";
    ssize_t n = pread(fd, head, sizeof head, 0);
    bool ogg = n == 4 && soundboard_sound_file_is_ogg(str_slice(head, 4));
    call_add_header(call, "Cache-Control", STR("public, max-age=31536000, immutable"));
    return call_reply_with_file(call, ogg ? STR("audio/ogg") : STR("audio/mpeg"), fd, size);
}

static const struct route file_routes[] = {
    {
        .method = GET,
        .path = "/soundboard-sounds/{file}",
        .name = "get_sound_file",
        .doc = "The file of a sound, by its id and any extension.",
        .service = true,
        .status = 200,
        .handle = get_sound_file,
    },
    { 0 },
};

const struct domain sound_files_domain = {
    .name = "Sound files",
    .doc = "Files of sounds, at the root, without authentication.",
    .routes = file_routes,
};

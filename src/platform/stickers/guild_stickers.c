/* guild_stickers.c - creates, modifies and deletes stickers of guilds. */
#include "platform/stickers/internal.h"

#include <string.h>

#include "api/hooks.h"
#include "model/fields/rows.h"
#include "net/http/multipart.h"
#include "platform/guilds/guilds.h"

static enum err emit_guild_stickers_update(struct call *call, snowflake guild_id)
{
    struct guild_stickers_event event = { .guild_id = guild_id };
    enum err e = guild_stickers_read(call->tx, guild_id, &event.stickers);

    if (!e)
        call_emit_event(call, EVENT_GUILD_STICKERS_UPDATE, audience_of_guild(guild_id),
                        &guild_stickers_event_schema, &event);
    return e;
}

enum err read_stickers_into_guild(struct call *call, struct guild *g)
{
    return guild_stickers_read(call->tx, g->id, &g->stickers);
}

enum err set_sticker_uploaders_if_permitted(struct call *call, struct list *stickers)
{
    return call->target.permissions & PERMISSIONS_SEE_UPLOADERS
               ? read_sticker_uploaders(call->tx, stickers)
               : OK;
}

enum err reply_with_sticker(struct call *call, struct sticker *sticker)
{
    enum err e = set_sticker_uploaders_if_permitted(call, &(struct list){ sticker, 1 });

    return e ? e : call_reply_with_object(call, sticker);
}

/* --- the audit log -------------------------------------------------------------------- */

static void add_description_to_audit_entry(struct call *call, struct list *changes,
                                           const struct sticker *before, const struct sticker *now)
{
    bool was = before && before->description.given == GIVEN,
         is = now && now->description.given == GIVEN;

    if (was || is)
        audit_log_add_typed_change_to_list(call, changes, "description", &type_text,
                                           was ? &before->description.value : NULL,
                                           is ? &now->description.value : NULL);
}

/* Writes an audit log entry. before is NULL for a new sticker, now is NULL for a deleted one. */
static enum err record_sticker_in_audit_log(struct call *call, enum audit_log_action action,
                                            const struct sticker *before, const struct sticker *now)
{
    const struct sticker *any = now ? now : before;
    struct list changes = { 0 };

#define ADD(key, type, member)                                                                     \
    audit_log_add_typed_change_to_list(call, &changes, key, type, before ? &before->member : NULL, \
                                       now ? &now->member : NULL)
    ADD("name", &type_text, name);
    add_description_to_audit_entry(call, &changes, before, now);
    ADD("tags", &type_text, tags);
    if (!before || !now) {
        ADD("format_type", &type_count, format_type);
        ADD("guild_id", &type_id, guild_id);
        ADD("available", &type_bool, available);
    }
#undef ADD
    return audit_log_record_changes(call, any->guild_id, action, any->id, NULL, changes);
}

/* --- creating ------------------------------------------------------------------------- */

struct sticker_draft {
    struct str name, tags;
    struct opt_str description;
};
struct sticker_patch {
    struct opt_str name, tags, description;
};
/* The uploaded file of a sticker; earlier stages (prepare, compute) pass it to the handler. */
struct sticker_upload {
    snowflake id;
    struct sticker_file file;
    struct opt_str image;
};

static const struct field draft_fields[] = {
    { FIELD(struct sticker_draft, name), .type = &type_sticker_name },
    { FIELD(struct sticker_draft, tags), .type = &type_sticker_tags },
    { FIELD(struct sticker_draft, description), .type = &type_sticker_description,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct field patch_fields[] = {
    { FIELD(struct sticker_patch, name), .type = &type_sticker_name, .flags = OPTIONAL },
    { FIELD(struct sticker_patch, tags), .type = &type_sticker_tags, .flags = OPTIONAL },
    { FIELD(struct sticker_patch, description), .type = &type_sticker_description,
      .flags = OPTIONAL | NULLABLE },
    { 0 },
};
static const struct schema draft_schema = {
    .name = "StickerDraft",
    .size = sizeof(struct sticker_draft),
    .fields = draft_fields,
    .doc = "A new sticker: form fields; the file is the part `file`.",
};
static const struct schema patch_schema = {
    .name = "StickerPatch",
    .size = sizeof(struct sticker_patch),
    .fields = patch_fields,
    .doc = "Fields of a sticker to change.",
};
const struct type sticker_draft_body = { .kind = KIND_OBJECT, .schema = &draft_schema };
const struct type sticker_patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

static bool guild_features_contain_text(const struct guild *g, const char *feature)
{
    return memmem(g->features.p, g->features.n, feature, strlen(feature)) != NULL;
}

static int64_t max_stickers_of_guild(const struct guild *g)
{
    static const int64_t by_tier[] = { 5, 15, 30, 60 };

    return guild_features_contain_text(g, "\"MORE_STICKERS\"") ? 60 : by_tier[g->premium_tier & 3];
}

static enum err check_sticker_limit(struct call *call)
{
    const struct guild *g = call->target.guild;
    const struct sticker_upload *upload = call_get_stage_data(call, "sticker_upload");
    int64_t n = 0;
    enum err e = tx_read_int(call->tx, "select count(*) from stickers where guild_id = $1",
                             BIND(v_id(g->id)), &n);

    if (e)
        return e;
    if (upload->file.format == STICKER_LOTTIE && !guild_features_contain_text(g, "\"VERIFIED\"") &&
        !guild_features_contain_text(g, "\"PARTNERED\""))
        return ERR_STICKER_LOTTIE;
    return n < max_stickers_of_guild(g) ? OK : ERR_MAX_STICKERS;
}

static struct str uploaded_sticker_bytes(const struct call *call)
{
    const struct multipart_part *p =
        call->parts ? multipart_find_part(call->parts, STR("file")) : NULL;

    return p && p->filename ? buf_as_str(&p->data) : (struct str){ 0 };
}

static enum err store_sticker_file(struct call *call)
{
    struct sticker_upload *upload = call_get_stage_data(call, "sticker_upload");
    struct opt_image image = { GIVEN, { uploaded_sticker_bytes(call), upload->file.extension } };

    return store_uploaded_picture(call, "stickers", upload->id, &image, &upload->image);
}

enum err validate_sticker_upload(struct call *call)
{
    struct sticker_upload *upload = call_store_stage_data(call, "sticker_upload", sizeof *upload);
    struct str bytes = uploaded_sticker_bytes(call);

    upload->id = snowflake_new();
    if (!bytes.p)
        return call_add_field_error(call, "file", FORM_REQUIRED);
    if (bytes.n > STICKER_MAX_BYTES)
        return ERR_FILE_TOO_LARGE;
    call->read = check_sticker_limit;
    call->compute = store_sticker_file;
    return sticker_file_detect(call->arena, bytes, &upload->file);
}

static struct opt_str description_or_null(struct opt_str in)
{
    return in.given == GIVEN && in.value.n ? in : (struct opt_str){ .given = GIVEN_NULL };
}

/* POST /guilds/{guild.id}/stickers */
enum err create_guild_sticker(struct call *call)
{
    const struct sticker_draft *in = call->body;
    const struct sticker_upload *upload = call_get_stage_data(call, "sticker_upload");
    struct sticker s = { .id = upload->id,
                         .guild_id = call->target.guild->id,
                         .name = in->name,
                         .tags = in->tags,
                         .description = description_or_null(in->description),
                         .type = STICKER_OF_GUILD,
                         .format_type = upload->file.format,
                         .available = true,
                         .user_id = call->caller->id,
                         .image = upload->image };
    enum err e = check_sticker_limit(call);

    if (!e)
        e = sticker_insert(call->tx, &s);
    if (!e)
        e = record_sticker_in_audit_log(call, AUDIT_STICKER_CREATE, NULL, &s);
    if (!e)
        e = emit_guild_stickers_update(call, s.guild_id);
    return e ? e : reply_with_sticker(call, &s);
}

/* --- changing and deleting ------------------------------------------------------------ */

enum err check_change_sticker_permission(struct call *call)
{
    struct sticker s;
    enum err e = read_sticker_of_path(call, &s);

    return e ? e : check_change_expression_permission(call, s.user_id);
}

static bool stickers_are_equal(const struct sticker *a, const struct sticker *b)
{
    return str_eq(a->name, b->name) && str_eq(a->tags, b->tags) &&
           a->description.given == b->description.given &&
           (a->description.given != GIVEN || str_eq(a->description.value, b->description.value));
}

/* PATCH /guilds/{guild.id}/stickers/{sticker.id} */
enum err modify_guild_sticker(struct call *call)
{
    const struct sticker_patch *in = call->body;
    struct sticker before, now;
    enum err e = read_sticker_of_path(call, &before);

    if (e)
        return e;
    now = before;
    if (in->name.given == GIVEN)
        now.name = in->name.value;
    if (in->tags.given == GIVEN)
        now.tags = in->tags.value;
    if (in->description.given != ABSENT)
        now.description = description_or_null(in->description);
    if (stickers_are_equal(&before, &now))
        return reply_with_sticker(call, &now);
    e = sticker_update(call->tx, &now);
    if (!e)
        e = record_sticker_in_audit_log(call, AUDIT_STICKER_UPDATE, &before, &now);
    if (!e)
        e = emit_guild_stickers_update(call, now.guild_id);
    return e ? e : reply_with_sticker(call, &now);
}

/* DELETE /guilds/{guild.id}/stickers/{sticker.id} */
enum err delete_guild_sticker(struct call *call)
{
    struct sticker s;
    enum err e = read_sticker_of_path(call, &s);

    if (!e)
        e = sticker_delete(call, &s);
    if (!e)
        e = record_sticker_in_audit_log(call, AUDIT_STICKER_DELETE, &s, NULL);
    return e ? e : emit_guild_stickers_update(call, s.guild_id);
}

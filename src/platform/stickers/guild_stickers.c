/* guild_stickers.c - creates, modifies and deletes stickers of guilds. */
#include "platform/stickers/internal.h"

#include <string.h>

#include "api/hooks.h"
#include "model/fields/rows.h"
#include "net/http/multipart.h"
#include "platform/guilds/guilds.h"

static enum err stickers_announce(struct call *call, snowflake guild_id)
{
    struct guild_stickers_event event = { .guild_id = guild_id };
    enum err e = guild_stickers(call->tx, guild_id, &event.stickers);

    if (!e)
        call_emit(call, EVENT_GUILD_STICKERS_UPDATE, to_guild(guild_id),
                  &guild_stickers_event_schema, &event);
    return e;
}

enum err stickers_show_in_guild(struct call *call, struct guild *g)
{
    return guild_stickers(call->tx, g->id, &g->stickers);
}

enum err stickers_prefetch_in_guild(struct call *call, snowflake guild_id)
{
    guild_stickers_prefetch(call->tx, guild_id);
    return OK;
}

enum err stickers_dress(struct call *call, struct list *stickers)
{
    return call->target.rights & PERMISSIONS_EXPRESSIONS ? stickers_load_users(call->tx, stickers)
                                                         : OK;
}

enum err sticker_reply(struct call *call, struct sticker *sticker)
{
    enum err e = stickers_dress(call, &(struct list){ sticker, 1 });

    return e ? e : call_reply(call, sticker);
}

/* --- the audit log -------------------------------------------------------------------- */

/* Records a change of the optional description. */
static void add_description(struct call *call, struct list *changes, const struct sticker *before,
                            const struct sticker *now)
{
    bool was = before && before->description.given == GIVEN,
         is = now && now->description.given == GIVEN;

    if (was || is)
        audit_add_values(call, changes, "description", &type_text,
                         was ? &before->description.value : NULL,
                         is ? &now->description.value : NULL);
}

/* before is NULL for a new sticker, now is NULL for a deleted one. */
static enum err sticker_audit(struct call *call, enum audit_action action,
                              const struct sticker *before, const struct sticker *now)
{
    const struct sticker *any = now ? now : before;
    struct list changes = { 0 };

#define ADD(key, type, member)                                                   \
    audit_add_values(call, &changes, key, type, before ? &before->member : NULL, \
                     now ? &now->member : NULL)
    ADD("name", &type_text, name);
    add_description(call, &changes, before, now);
    ADD("tags", &type_text, tags);
    if (!before || !now) {
        ADD("format_type", &type_count, format_type);
        ADD("guild_id", &type_id, guild_id);
        ADD("available", &type_bool, available);
    }
#undef ADD
    return audit_with(call, any->guild_id, action, any->id, NULL, changes);
}

/* --- creating ------------------------------------------------------------------------- */

struct sticker_draft {
    struct str name, tags;
    struct opt_str description;
};
struct sticker_patch {
    struct opt_str name, tags, description;
};
/* Data that prepare and compute pass to the handler. */
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

static bool guild_has(const struct guild *g, const char *feature)
{
    return memmem(g->features.p, g->features.n, feature, strlen(feature)) != NULL;
}

static int64_t most_stickers(const struct guild *g)
{
    static const int64_t by_tier[] = { 5, 15, 30, 60 };

    return guild_has(g, "\"MORE_STICKERS\"") ? 60 : by_tier[g->premium_tier & 3];
}

static enum err check_sticker_room(struct call *call)
{
    const struct guild *g = call->target.guild;
    const struct sticker_upload *upload = call_passed(call, "sticker_upload");
    struct rows row;
    bool found;
    enum err e = tx_one(call->tx, "select count(*) from stickers where guild_id = $1",
                        BIND(v_id(g->id)), &row, &found);

    if (e)
        return e;
    if (upload->file.format == STICKER_LOTTIE && !guild_has(g, "\"VERIFIED\"") &&
        !guild_has(g, "\"PARTNERED\""))
        return ERR_STICKER_LOTTIE;
    return row_int(&row, 0) < most_stickers(g) ? OK : ERR_MAX_STICKERS;
}

static struct str sticker_bytes(const struct call *call)
{
    const struct part *p = call->parts ? multipart_find(call->parts, STR("file")) : NULL;

    return p && p->filename ? buf_str(&p->data) : (struct str){ 0 };
}

static enum err keep_sticker(struct call *call)
{
    struct sticker_upload *upload = call_passed(call, "sticker_upload");
    struct opt_image image = { GIVEN, { sticker_bytes(call), upload->file.extension } };

    return picture_keep(call, "stickers", upload->id, &image, &upload->image);
}

enum err prepare_create_guild_sticker(struct call *call)
{
    struct sticker_upload *upload = call_pass(call, "sticker_upload", sizeof *upload);
    struct str bytes = sticker_bytes(call);

    upload->id = snowflake_new();
    if (!bytes.p)
        return call_invalid(call, "file", FORM_REQUIRED);
    if (bytes.n > STICKER_MAX_BYTES)
        return ERR_FILE_TOO_LARGE;
    call->look = check_sticker_room;
    call->compute = keep_sticker;
    return sticker_file_look(call->arena, bytes, &upload->file);
}

static struct opt_str kept_description(struct opt_str in)
{
    return in.given == GIVEN && in.value.n ? in : (struct opt_str){ .given = GIVEN_NULL };
}

/* POST /guilds/{guild.id}/stickers */
enum err create_guild_sticker(struct call *call)
{
    const struct sticker_draft *in = call->body;
    const struct sticker_upload *upload = call_passed(call, "sticker_upload");
    struct sticker s = { .id = upload->id,
                         .guild_id = call->target.guild->id,
                         .name = in->name,
                         .tags = in->tags,
                         .description = kept_description(in->description),
                         .type = STICKER_OF_GUILD,
                         .format_type = upload->file.format,
                         .available = true,
                         .user_id = call->caller->id,
                         .image = upload->image };
    enum err e = check_sticker_room(call);

    if (!e)
        e = sticker_insert(call->tx, &s);
    if (!e)
        e = sticker_audit(call, AUDIT_STICKER_CREATE, NULL, &s);
    if (!e)
        e = stickers_announce(call, s.guild_id);
    return e ? e : sticker_reply(call, &s);
}

/* --- changing and deleting ------------------------------------------------------------ */

enum err may_change_sticker(struct call *call)
{
    struct sticker s;
    enum err e = sticker_of_path(call, &s);

    return e ? e : expression_may_change(call, s.user_id);
}

static bool sticker_is_same(const struct sticker *a, const struct sticker *b)
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
    enum err e = sticker_of_path(call, &before);

    if (e)
        return e;
    now = before;
    if (in->name.given == GIVEN)
        now.name = in->name.value;
    if (in->tags.given == GIVEN)
        now.tags = in->tags.value;
    if (in->description.given != ABSENT)
        now.description = kept_description(in->description);
    if (sticker_is_same(&before, &now))
        return sticker_reply(call, &now);
    e = sticker_update(call->tx, &now);
    if (!e)
        e = sticker_audit(call, AUDIT_STICKER_UPDATE, &before, &now);
    if (!e)
        e = stickers_announce(call, now.guild_id);
    return e ? e : sticker_reply(call, &now);
}

/* DELETE /guilds/{guild.id}/stickers/{sticker.id} */
enum err delete_guild_sticker(struct call *call)
{
    struct sticker s;
    enum err e = sticker_of_path(call, &s);

    if (!e)
        e = sticker_delete(call, &s);
    if (!e)
        e = sticker_audit(call, AUDIT_STICKER_DELETE, &s, NULL);
    return e ? e : stickers_announce(call, s.guild_id);
}

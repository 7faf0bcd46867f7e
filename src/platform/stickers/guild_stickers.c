/* guild_stickers.c - stickers of guilds: reading, bringing, changing and deleting them. */
#include "platform/stickers/internal.h"

#include <string.h>

#include "api/hooks.h"
#include "model/rows.h"
#include "net/multipart.h"
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

static enum err stickers_show_in_guild(struct call *call, struct guild *g)
{
    return guild_stickers(call->tx, g->id, &g->stickers);
}

/* Who brought a sticker is for those who could bring one. */
static enum err stickers_dress(struct call *call, struct list *stickers)
{
    return call->target.rights & PERMISSIONS_EXPRESSIONS ? stickers_load_users(call->tx, stickers)
                                                         : OK;
}

static enum err sticker_reply(struct call *call, struct sticker *sticker)
{
    enum err e = stickers_dress(call, &(struct list){ sticker, 1 });

    return e ? e : call_reply(call, sticker);
}

/* --- reading -------------------------------------------------------------------------- */

/* GET /guilds/{guild.id}/stickers */
static enum err list_guild_stickers(struct call *call)
{
    struct list stickers;
    enum err e = guild_stickers(call->tx, call->target.guild->id, &stickers);

    if (!e)
        e = stickers_dress(call, &stickers);
    return e ? e : call_reply(call, &stickers);
}

/* {sticker.id}: of the guild in the path, where there is one. */
static enum err sticker_of_path(struct call *call, struct sticker *ret)
{
    enum err e = sticker_find(call->tx, call_id(call, "sticker.id"), ret);

    if (!e && call->target.guild && ret->guild_id != call->target.guild->id)
        e = ERR_UNKNOWN_STICKER;
    return e;
}

/* GET /guilds/{guild.id}/stickers/{sticker.id} */
static enum err get_guild_sticker(struct call *call)
{
    struct sticker s;
    enum err e = sticker_of_path(call, &s);

    return e ? e : sticker_reply(call, &s);
}

/* GET /stickers/{sticker.id} */
static enum err get_sticker(struct call *call)
{
    struct sticker s;
    enum err e = sticker_of_path(call, &s);

    return e ? e : call_reply(call, &s);
}

struct sticker_packs {
    struct list sticker_packs; /* always empty */
};
static const struct field packs_fields[] = {
    { FIELD(struct sticker_packs, sticker_packs), .type = &type_none },
    { 0 },
};
static const struct schema packs_schema = {
    .name = "StickerPacks",
    .size = sizeof(struct sticker_packs),
    .fields = packs_fields,
    .doc = "Stickers that are for everybody: this server has none.",
};
static const struct type type_packs = { .kind = KIND_OBJECT, .schema = &packs_schema };

/* GET /sticker-packs */
static enum err list_sticker_packs(struct call *call)
{
    return call_reply(call, &(struct sticker_packs){ 0 });
}

/* GET /sticker-packs/{pack.id} */
static enum err get_sticker_pack(struct call *call)
{
    (void)call;
    return ERR_UNKNOWN_STICKER_PACK;
}

/* --- the audit log -------------------------------------------------------------------- */

/* A sticker may have none. */
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

/* before, now: NULL where there was none, or is none any more. */
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

/* --- bringing ------------------------------------------------------------------------- */

struct sticker_draft {
    struct str name, tags;
    struct opt_str description;
};
struct sticker_patch {
    struct opt_str name, tags, description;
};
/* What stages before the handler made. */
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
    .doc = "A new sticker: fields of a form, beside the part `file`.",
};
static const struct schema patch_schema = {
    .name = "StickerPatch",
    .size = sizeof(struct sticker_patch),
    .fields = patch_fields,
    .doc = "What is changed about a sticker.",
};
static const struct type draft_body = { .kind = KIND_OBJECT, .schema = &draft_schema };
static const struct type patch_body = { .kind = KIND_OBJECT, .schema = &patch_schema };

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

static enum err prepare_create_guild_sticker(struct call *call)
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
static enum err create_guild_sticker(struct call *call)
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

static enum err may_change_sticker(struct call *call)
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
static enum err modify_guild_sticker(struct call *call)
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
static enum err delete_guild_sticker(struct call *call)
{
    struct sticker s;
    enum err e = sticker_of_path(call, &s);

    if (!e)
        e = sticker_delete(call, &s);
    if (!e)
        e = sticker_audit(call, AUDIT_STICKER_DELETE, &s, NULL);
    return e ? e : stickers_announce(call, s.guild_id);
}

/* --- the table ------------------------------------------------------------------------ */

static const struct resolver resolvers[] = {
    { .name = "sticker.id", .field = "sticker_id", .doc = "A sticker." },
    { .name = "pack.id", .field = "pack_id", .doc = "A pack of stickers." },
    { 0 },
};

#define STICKER_EVENTS                                                              \
    (const enum event[])                                                            \
    {                                                                               \
        EVENT_GUILD_STICKERS_UPDATE, EVENT_GUILD_AUDIT_LOG_ENTRY_CREATE, EVENT_NONE \
    }

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/guilds/{guild.id}/stickers",
        .name = "list_guild_stickers",
        .doc = "All stickers of a guild, the oldest first.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_stickers,
        .handle = list_guild_stickers,
    },
    {
        .method = GET,
        .path = "/guilds/{guild.id}/stickers/{sticker.id}",
        .name = "get_guild_sticker",
        .doc = "One sticker.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_sticker,
        .handle = get_guild_sticker,
    },
    {
        .method = POST,
        .path = "/guilds/{guild.id}/stickers",
        .name = "create_guild_sticker",
        .doc = "Bring a sticker: PNG, APNG or GIF of at most 512 KiB, 320 pixels and five seconds "
               "(Lottie where the guild is VERIFIED or PARTNERED). Five, more with a higher "
               "premium_tier or MORE_STICKERS.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(CREATE_EXPRESSIONS),
        .body = &draft_body,
        .body_kinds = BODY_PARTS,
        .max_upload = STICKER_MAX_BYTES + 64 * 1024,
        .reply = &type_sticker,
        .status = 201,
        .fires = STICKER_EVENTS,
        .limit = &expression_writes,
        .prepare = prepare_create_guild_sticker,
        .handle = create_guild_sticker,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/stickers/{sticker.id}",
        .name = "modify_guild_sticker",
        .doc = "Change a sticker's name, description or tags; others' only by MANAGE_EXPRESSIONS.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &patch_body,
        .reply = &type_sticker,
        .fires = STICKER_EVENTS,
        .limit = &expression_writes,
        .admit = may_change_sticker,
        .handle = modify_guild_sticker,
    },
    {
        .method = DELETE,
        .path = "/guilds/{guild.id}/stickers/{sticker.id}",
        .name = "delete_guild_sticker",
        .doc = "Delete a sticker; others' only by MANAGE_EXPRESSIONS.",
        .auth = AUTH_USER | AUTH_BOT,
        .fires = STICKER_EVENTS,
        .limit = &expression_writes,
        .admit = may_change_sticker,
        .handle = delete_guild_sticker,
    },
    {
        .method = GET,
        .path = "/stickers/{sticker.id}",
        .name = "get_sticker",
        .doc = "A sticker of any guild.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_sticker,
        .handle = get_sticker,
    },
    {
        .method = GET,
        .path = "/sticker-packs",
        .name = "list_sticker_packs",
        .doc = "Stickers that are for everybody: none.",
        .auth = AUTH_OPEN,
        .reply = &type_packs,
        .handle = list_sticker_packs,
    },
    {
        .method = GET,
        .path = "/sticker-packs/{pack.id}",
        .name = "get_sticker_pack",
        .doc = "One of the packs: there is none.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_packs,
        .handle = get_sticker_pack,
    },
    { 0 },
};

const struct domain stickers_domain = {
    .name = "Stickers",
    .doc = "Pictures of guilds that messages show.",
    .routes = routes,
    .resolvers = resolvers,
    .hooks = &(const struct hooks){ .guild_shown = stickers_show_in_guild },
};

/* --- files ---------------------------------------------------------------------------- */

/* GET /stickers/{file}: any extension gets the file as it was brought. */
static enum err get_sticker_file(struct call *call)
{
    struct str file = call_text(call, "file"), number = str_cut(&file, '.');
    struct sticker s;
    snowflake id;

    if (!snowflake_parse(number, &id))
        return ERR_NOT_FOUND;
    enum err e = sticker_find(call->tx, id, &s);
    if (e)
        return e == ERR_UNKNOWN_STICKER ? ERR_NOT_FOUND : e;
    if (s.image.given != GIVEN)
        return picture_reply_default(call, id);
    return picture_reply(call, "stickers", id, s.image.value);
}

static const struct route file_routes[] = {
    {
        .method = GET,
        .path = "/stickers/{file}",
        .name = "get_sticker_file",
        .doc = "A sticker's file, by its id and any extension.",
        .service = true,
        .status = 200,
        .handle = get_sticker_file,
    },
    { 0 },
};

const struct domain sticker_files_domain = {
    .name = "Sticker files",
    .doc = "Files of stickers, at the root, for anybody.",
    .routes = file_routes,
};

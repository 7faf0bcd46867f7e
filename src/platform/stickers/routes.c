/* routes.c - route table of stickers; reads stickers and their files. */
#include "api/deletion.h"
#include "api/hooks.h"
#include "platform/guilds/guilds.h"
#include "platform/stickers/internal.h"

/* --- reading -------------------------------------------------------------------------- */

/* GET /guilds/{guild.id}/stickers */
static enum err list_guild_stickers(struct call *call)
{
    struct list stickers;
    enum err e = guild_stickers_read(call->tx, call->target.guild->id, &stickers);

    if (!e)
        e = set_sticker_uploaders_if_permitted(call, &stickers);
    return e ? e : call_reply_with_object(call, &stickers);
}

enum err read_sticker_of_path(struct call *call, struct sticker *ret)
{
    enum err e = sticker_find(call->tx, call_get_path_id(call, "sticker.id"), ret);

    if (!e && call->target.guild && ret->guild_id != call->target.guild->id)
        e = ERR_UNKNOWN_STICKER;
    return e;
}

/* GET /guilds/{guild.id}/stickers/{sticker.id} */
static enum err get_guild_sticker(struct call *call)
{
    struct sticker s;
    enum err e = read_sticker_of_path(call, &s);

    return e ? e : reply_with_sticker(call, &s);
}

/* GET /stickers/{sticker.id} */
static enum err get_sticker(struct call *call)
{
    struct sticker s;
    enum err e = read_sticker_of_path(call, &s);

    return e ? e : call_reply_with_object(call, &s);
}

struct sticker_packs {
    struct list sticker_packs; /* always empty: this server has no standard sticker packs */
};
static const struct field packs_fields[] = {
    { FIELD(struct sticker_packs, sticker_packs), .type = &type_always_empty_list },
    { 0 },
};
static const struct schema packs_schema = {
    .name = "StickerPacks",
    .size = sizeof(struct sticker_packs),
    .fields = packs_fields,
    .doc = "Sticker packs for all users: always empty.",
};
static const struct type type_packs = { .kind = KIND_OBJECT, .schema = &packs_schema };

/* GET /sticker-packs */
static enum err list_sticker_packs(struct call *call)
{
    return call_reply_with_object(call, &(struct sticker_packs){ 0 });
}

/* GET /sticker-packs/{pack.id} */
static enum err get_sticker_pack(struct call *call)
{
    (void)call;
    return ERR_UNKNOWN_STICKER_PACK;
}

/* --- route table ---------------------------------------------------------------------- */

static const struct path_resolver resolvers[] = {
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
        .doc = "Upload a sticker: PNG, APNG or GIF of at most 512 KiB, 320 pixels and five seconds "
               "(Lottie where the guild is VERIFIED or PARTNERED). Five, more with a higher "
               "premium_tier or MORE_STICKERS.",
        .auth = AUTH_USER | AUTH_BOT,
        .needs = PERMISSION(CREATE_EXPRESSIONS),
        .body = &sticker_draft_body,
        .body_kinds = BODY_PARTS,
        .max_upload = STICKER_MAX_BYTES + 64 * 1024,
        .reply = &type_sticker,
        .status = 201,
        .fires = STICKER_EVENTS,
        .limit = &limit_expression_writes,
        .prepare = validate_sticker_upload,
        .handle = create_guild_sticker,
    },
    {
        .method = PATCH,
        .path = "/guilds/{guild.id}/stickers/{sticker.id}",
        .name = "modify_guild_sticker",
        .doc = "Change a sticker; stickers of others need MANAGE_EXPRESSIONS.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &sticker_patch_body,
        .reply = &type_sticker,
        .fires = STICKER_EVENTS,
        .limit = &limit_expression_writes,
        .admit = check_change_sticker_permission,
        .handle = modify_guild_sticker,
    },
    {
        .method = DELETE,
        .path = "/guilds/{guild.id}/stickers/{sticker.id}",
        .name = "delete_guild_sticker",
        .doc = "Delete a sticker; stickers of others need MANAGE_EXPRESSIONS.",
        .auth = AUTH_USER | AUTH_BOT,
        .fires = STICKER_EVENTS,
        .limit = &limit_expression_writes,
        .admit = check_change_sticker_permission,
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
        .doc = "Sticker packs for all users: always empty.",
        .auth = AUTH_OPEN,
        .reply = &type_packs,
        .handle = list_sticker_packs,
    },
    {
        .method = GET,
        .path = "/sticker-packs/{pack.id}",
        .name = "get_sticker_pack",
        .doc = "A sticker pack. This server has none: always 404.",
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
    .world = &stickers_world,
    .resolvers = resolvers,
    .hooks = &(const struct hook_listeners){ .guild_object_fill = read_stickers_into_guild },
    .deletions =
        (const struct deletion_rule[]){
            { DELETE_WITH_FILE(WITH_GUILD, "stickers", "stickers", "image", "guild_id = $1") },
            { 0 } },
};

/* --- files ---------------------------------------------------------------------------- */

/* GET /stickers/{file}: replies with the uploaded file. The file extension in the path does not
 * matter. */
static enum err get_sticker_file(struct call *call)
{
    struct str file = call_get_path_text(call, "file"), number = str_cut(&file, '.');
    struct sticker s;
    snowflake id;

    if (!snowflake_parse(number, &id))
        return ERR_NOT_FOUND;
    enum err e = sticker_find(call->tx, id, &s);
    if (e)
        return e == ERR_UNKNOWN_STICKER ? ERR_NOT_FOUND : e;
    if (s.image.given != GIVEN)
        return reply_with_default_picture(call, id);
    return reply_with_stored_picture(call, "stickers", id, s.image.value);
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

/* emojis.c - emoji of an application, which its bot can use in every guild. */
#include "platform/applications/internal.h"

#include "platform/emojis/emojis.h"

enum { MOST_APPLICATION_EMOJIS = 2000 };

struct emoji_items {
    struct list items; /* struct emoji */
};

static const struct field items_fields[] = {
    { FIELD(struct emoji_items, items), .type = &type_emojis },
    { 0 },
};
static const struct schema items_schema = {
    .name = "ApplicationEmojis",
    .size = sizeof(struct emoji_items),
    .fields = items_fields,
    .doc = "All emoji of an application.",
};
static const struct type items_reply = { .kind = KIND_OBJECT, .schema = &items_schema };

static enum err list_application_emojis(struct call *call)
{
    struct emoji_items out;
    enum err e = application_emojis_list(call->tx, call->target.application->id, &out.items);

    if (!e)
        e = emojis_read_uploaders(call->tx, &out.items);
    return e ? e : call_reply_with_object(call, &out);
}

static enum err reply_with_emoji(struct call *call, struct emoji *emoji)
{
    struct list one = { emoji, 1 };
    enum err e = emojis_read_uploaders(call->tx, &one);

    return e ? e : call_reply_with_object(call, emoji);
}

static enum err get_application_emoji(struct call *call)
{
    return reply_with_emoji(call, call->target.emoji);
}

static const char COUNT_EMOJIS[] =
    "select count(*) from application_emojis where application_id = $1";
static const char SAME_NAME[] =
    "select id from application_emojis where application_id = $1 and name = $2 and id <> $3";

static enum err require_emoji_name_unused(struct call *call, snowflake id, struct str name)
{
    bool taken;
    enum err e =
        tx_exists(call->tx, SAME_NAME,
                  BIND(v_id(call->target.application->id), v_text(name), v_id(id)), &taken);

    if (e || !taken)
        return e;
    return call_add_field_error(call, "name", "APPLICATION_EMOJI_NAME_ALREADY_TAKEN",
                                "The application has an emoji of this name.");
}

static enum err check_new_application_emoji(struct call *call)
{
    const struct emoji_create_request *in = call->body;
    int64_t n = 0;
    enum err e = tx_read_int(call->tx, COUNT_EMOJIS, BIND(v_id(call->target.application->id)), &n);

    if (e)
        return e;
    if (n >= MOST_APPLICATION_EMOJIS)
        return ERR_MAX_APPLICATION_EMOJIS;
    return require_emoji_name_unused(call, 0, in->name);
}

static enum err schedule_storing_application_emoji(struct call *call)
{
    return emoji_schedule_storing_picture(call, check_new_application_emoji);
}

static enum err create_application_emoji(struct call *call)
{
    struct emoji emoji = emoji_from_create_request(call);
    enum err e = check_new_application_emoji(call);

    emoji.application_id = call->target.application->id;
    if (!e)
        e = emoji_insert(call->tx, &emoji);
    return e ? e : reply_with_emoji(call, &emoji);
}

static enum err modify_application_emoji(struct call *call)
{
    const struct emoji_patch *in = call->body;
    struct emoji *emoji = call->target.emoji;
    enum err e = OK;

    if (in->name.given == GIVEN) {
        emoji->name = in->name.value;
        e = require_emoji_name_unused(call, emoji->id, emoji->name);
        if (!e)
            e = emoji_update(call->tx, emoji);
    }
    return e ? e : reply_with_emoji(call, emoji);
}

static enum err delete_application_emoji(struct call *call)
{
    return emoji_delete(call, call->target.emoji);
}

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/applications/{application.id}/emojis",
        .name = "list_application_emojis",
        .doc = "All emoji of an application, oldest first.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &items_reply,
        .admit = require_application_developer,
        .handle = list_application_emojis,
    },
    {
        .method = GET,
        .path = "/applications/{application.id}/emojis/{emoji.id}",
        .name = "get_application_emoji",
        .doc = "One emoji of an application.",
        .auth = AUTH_USER | AUTH_BOT,
        .reply = &type_emoji,
        .admit = require_application_developer,
        .handle = get_application_emoji,
    },
    {
        .method = POST,
        .path = "/applications/{application.id}/emojis",
        .name = "create_application_emoji",
        .doc = "Upload an emoji; its name must be unique in the application.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &application_emoji_create_body,
        .reply = &type_emoji,
        .status = 201,
        .prepare = schedule_storing_application_emoji,
        .admit = require_application_developer,
        .handle = create_application_emoji,
    },
    {
        .method = PATCH,
        .path = "/applications/{application.id}/emojis/{emoji.id}",
        .name = "modify_application_emoji",
        .doc = "Rename an emoji of an application.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &application_emoji_patch_body,
        .reply = &type_emoji,
        .admit = require_application_developer,
        .handle = modify_application_emoji,
    },
    {
        .method = DELETE,
        .path = "/applications/{application.id}/emojis/{emoji.id}",
        .name = "delete_application_emoji",
        .doc = "Delete an emoji of an application.",
        .auth = AUTH_USER | AUTH_BOT,
        .admit = require_application_developer,
        .handle = delete_application_emoji,
    },
    { 0 },
};

const struct domain application_emojis_domain = {
    .name = "Application emoji",
    .doc = "Custom emoji of applications, for their bots.",
    .routes = routes,
};

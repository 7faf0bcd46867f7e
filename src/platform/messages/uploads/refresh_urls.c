/* refresh_urls.c - POST /attachments/refresh-urls: signs attachment URLs again. */
#include "platform/messages/internal.h"

#include "model/fields/types.h"
#include "platform/channels/channels.h"

struct refresh_urls_body {
    struct list attachment_urls;
};
struct refreshed_url {
    struct str original, refreshed;
};
struct refresh_urls_reply {
    struct list refreshed_urls;
};

static const struct type type_address = { .kind = KIND_STRING, .min = 1, .max = 2048 };
static const struct type type_addresses = {
    .kind = KIND_ARRAY, .min = 1, .max = 50, .of = &type_address
};
static const struct field in_fields[] = {
    { FIELD(struct refresh_urls_body, attachment_urls), .type = &type_addresses },
    { 0 },
};
static const struct schema in_schema = {
    .name = "AttachmentUrls",
    .size = sizeof(struct refresh_urls_body),
    .fields = in_fields,
    .doc = "URLs of attachments.",
};
static const struct type urls_body = { .kind = KIND_OBJECT, .schema = &in_schema };
static const struct field pair_fields[] = {
    { FIELD(struct refreshed_url, original), .type = &type_text },
    { FIELD(struct refreshed_url, refreshed), .type = &type_text },
    { 0 },
};
static const struct schema pair_schema = {
    .name = "RefreshedUrl",
    .size = sizeof(struct refreshed_url),
    .fields = pair_fields,
    .doc = "A URL, and the same URL with a new signature.",
};
static const struct type type_pair = { .kind = KIND_OBJECT, .schema = &pair_schema };
static const struct type type_pairs = { .kind = KIND_ARRAY, .of = &type_pair };
static const struct field out_fields[] = {
    { FIELD(struct refresh_urls_reply, refreshed_urls), .type = &type_pairs },
    { 0 },
};
static const struct schema out_schema = {
    .name = "RefreshedUrls",
    .size = sizeof(struct refresh_urls_reply),
    .fields = out_fields,
    .doc = "URLs with new signatures.",
};
static const struct type urls_reply = { .kind = KIND_OBJECT, .schema = &out_schema };

/* --- refreshing one URL -------------------------------------------------------------- */

struct attachment_url_parts {
    snowflake channel_id, id;
    struct str filename, query;
};

/* Parses …/attachments/{channel}/{file}/{name}?…, with any host. */
static bool parse_attachment_url(struct str url, struct attachment_url_parts *ret)
{
    static const char AREA[] = "/attachments/";
    const char *at = memmem(url.p, url.n, AREA, sizeof AREA - 1);

    if (!at)
        return false;
    struct str rest = str_skip_bytes(url, (size_t)(at - url.p) + sizeof AREA - 1);
    ret->query = rest;
    rest = str_cut(&ret->query, '?');
    struct str channel = str_cut(&rest, '/'), id = str_cut(&rest, '/');
    ret->filename = rest;
    return snowflake_parse(channel, &ret->channel_id) && snowflake_parse(id, &ret->id) &&
           ret->filename.n > 0;
}

static struct str query_without_signature(struct arena *arena, struct str query)
{
    struct buf out;

    buf_init(&out, query.n + 1);
    while (query.n) {
        struct str one = str_cut(&query, '&'), value = one, key = str_cut(&value, '=');

        if (one.n && !str_is(key, "ex") && !str_is(key, "is") && !str_is(key, "hm")) {
            buf_add_str(&out, one);
            buf_add_char(&out, '&');
        }
    }
    return buf_move_to_arena(&out, arena);
}

/* Signs the URL of an attachment; returns it unchanged if the caller cannot view the channel. */
static enum err refresh_attachment_url(struct call *call, struct str url, struct str *ret)
{
    struct attachment_url_parts parts;
    struct attachment a;

    *ret = url;
    if (!parse_attachment_url(url, &parts))
        return OK;
    enum err e = resolve_channel_by_id(call, parts.channel_id);
    if (e == ERR_UNKNOWN_CHANNEL || e == ERR_MISSING_ACCESS || e == ERR_UNKNOWN_GUILD)
        return OK;
    if (e || !(call->target.permissions & PERMISSION(VIEW_CHANNEL)))
        return e;
    a = (struct attachment){ .id = parts.id, .filename = parts.filename };
    attachment_sign_url(call, parts.channel_id, &a);
    *ret = STR_CONCAT(call->arena, a.url, query_without_signature(call->arena, parts.query));
    return OK;
}

/* POST /attachments/refresh-urls */
static enum err refresh_urls(struct call *call)
{
    const struct refresh_urls_body *in = call->body;
    const struct str *urls = in->attachment_urls.items;
    struct refresh_urls_reply out = { 0 };
    enum err e = OK;

    for (size_t i = 0; !e && i < in->attachment_urls.count; i++) {
        struct refreshed_url *pair =
            list_append(call->arena, &out.refreshed_urls, sizeof(struct refreshed_url));

        pair->original = urls[i];
        e = refresh_attachment_url(call, urls[i], &pair->refreshed);
    }
    return e ? e : call_reply_with_object(call, &out);
}

static const struct route routes[] = {
    {
        .method = POST,
        .path = "/attachments/refresh-urls",
        .name = "refresh_attachment_urls",
        .doc = "Sign URLs of attachments again. URLs of channels that the caller cannot view "
               "are returned unchanged.",
        .auth = AUTH_USER | AUTH_BOT,
        .body = &urls_body,
        .reply = &urls_reply,
        .status = 200,
        .store = ROUTE_STORE_READ,
        .handle = refresh_urls,
    },
    { 0 },
};

const struct domain refresh_urls_domain = {
    .name = "Addresses of attachments",
    .doc = "URLs of attachments are signed for one day.",
    .routes = routes,
};

/* refresh_urls.c - POST /attachments/refresh-urls: signs attachment URLs again. */
#include "platform/messages/internal.h"

#include "model/fields/types.h"
#include "platform/channels/channels.h"

struct urls_in {
    struct list attachment_urls;
};
struct url_pair {
    struct str original, refreshed;
};
struct urls_out {
    struct list refreshed_urls;
};

static const struct type type_address = { .kind = KIND_STRING, .min = 1, .max = 2048 };
static const struct type type_addresses = {
    .kind = KIND_ARRAY, .min = 1, .max = 50, .of = &type_address
};
static const struct field in_fields[] = {
    { FIELD(struct urls_in, attachment_urls), .type = &type_addresses },
    { 0 },
};
static const struct schema in_schema = {
    .name = "AttachmentUrls",
    .size = sizeof(struct urls_in),
    .fields = in_fields,
    .doc = "URLs of attachments.",
};
static const struct type urls_body = { .kind = KIND_OBJECT, .schema = &in_schema };
static const struct field pair_fields[] = {
    { FIELD(struct url_pair, original), .type = &type_text },
    { FIELD(struct url_pair, refreshed), .type = &type_text },
    { 0 },
};
static const struct schema pair_schema = {
    .name = "RefreshedUrl",
    .size = sizeof(struct url_pair),
    .fields = pair_fields,
    .doc = "A URL, and the same URL with a new signature.",
};
static const struct type type_pair = { .kind = KIND_OBJECT, .schema = &pair_schema };
static const struct type type_pairs = { .kind = KIND_ARRAY, .of = &type_pair };
static const struct field out_fields[] = {
    { FIELD(struct urls_out, refreshed_urls), .type = &type_pairs },
    { 0 },
};
static const struct schema out_schema = {
    .name = "RefreshedUrls",
    .size = sizeof(struct urls_out),
    .fields = out_fields,
    .doc = "URLs with new signatures.",
};
static const struct type urls_reply = { .kind = KIND_OBJECT, .schema = &out_schema };

/* --- single URL ------------------------------------------------------------------------- */

struct url_parts {
    snowflake channel_id, id;
    struct str filename, query;
};

/* Parses …/attachments/{channel}/{file}/{name}?…, with any host. */
static bool url_split(struct str url, struct url_parts *ret)
{
    static const char AREA[] = "/attachments/";
    const char *at = memmem(url.p, url.n, AREA, sizeof AREA - 1);

    if (!at)
        return false;
    struct str rest = str_from(url, (size_t)(at - url.p) + sizeof AREA - 1);
    ret->query = rest;
    rest = str_cut(&ret->query, '?');
    struct str channel = str_cut(&rest, '/'), id = str_cut(&rest, '/');
    ret->filename = rest;
    return snowflake_parse(channel, &ret->channel_id) && snowflake_parse(id, &ret->id) &&
           ret->filename.n > 0;
}

/* Returns the query without the parameters of the signature. */
static struct str other_parameters(struct arena *arena, struct str query)
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
    return buf_take(&out, arena);
}

/* Signs the URL of an attachment; returns it unchanged if the caller cannot view the channel. */
static enum err url_refresh(struct call *call, struct str url, struct str *ret)
{
    struct url_parts parts;
    struct attachment a;

    *ret = url;
    if (!url_split(url, &parts))
        return OK;
    enum err e = channel_enter(call, parts.channel_id);
    if (e == ERR_UNKNOWN_CHANNEL || e == ERR_MISSING_ACCESS || e == ERR_UNKNOWN_GUILD)
        return OK;
    if (e || !(call->target.rights & PERMISSION(VIEW_CHANNEL)))
        return e;
    a = (struct attachment){ .id = parts.id, .filename = parts.filename };
    attachment_sign(call, parts.channel_id, &a);
    *ret = STR_CONCAT(call->arena, a.url, other_parameters(call->arena, parts.query));
    return OK;
}

/* POST /attachments/refresh-urls */
static enum err refresh_urls(struct call *call)
{
    const struct urls_in *in = call->body;
    const struct str *urls = in->attachment_urls.items;
    struct urls_out out = { 0 };
    enum err e = OK;

    for (size_t i = 0; !e && i < in->attachment_urls.count; i++) {
        struct url_pair *pair = list_add(call->arena, &out.refreshed_urls, sizeof(struct url_pair));

        pair->original = urls[i];
        e = url_refresh(call, urls[i], &pair->refreshed);
    }
    return e ? e : call_reply(call, &out);
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

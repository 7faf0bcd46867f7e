/* assets.c - pictures, at the addresses that clients make themselves. */
#include "platform/accounts/internal.h"

#include <stdio.h>
#include <unistd.h>

enum err picture_keep(struct call *call, const char *area, snowflake owner,
                      const struct opt_image *image, struct opt_str *ret)
{
    char name[256];

    ret->given = image->given;
    if (image->given != GIVEN)
        return OK;
    ret->value = image_hash(call->arena, &image->value);
    snprintf(name, sizeof name, "%s/%llu/%.*s", area, (unsigned long long)owner,
             STR_FMT(ret->value));
    return blob_put(api_options(call->api)->store, name, image->value.bytes);
}

/* Pictures are kept as they came; the first bytes tell what they are. */
static struct str content_type(const char *head, ssize_t n)
{
    if (n >= 8 && memcmp(head, "\x89PNG", 4) == 0)
        return STR("image/png");
    if (n >= 3 && memcmp(head, "\xff\xd8\xff", 3) == 0)
        return STR("image/jpeg");
    if (n >= 4 && memcmp(head, "GIF8", 4) == 0)
        return STR("image/gif");
    return STR("image/webp");
}

/* "a_0123….png" without its extension: any extension gets the picture as it is. */
static struct str without_extension(struct str file)
{
    return str_cut(&file, '.');
}

static bool is_hash(struct str s)
{
    if (str_starts(s, STR("a_")))
        s = str_from(s, 2);
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
            return false;
    return s.n == 32;
}

static enum err send_picture(struct call *call, const char *area)
{
    struct str hash = without_extension(call_text(call, "file"));
    char name[256], head[12];
    int64_t size;
    int fd;

    if (!is_hash(hash))
        return ERR_NOT_FOUND;
    snprintf(name, sizeof name, "%s/%llu/%.*s", area, (unsigned long long)call_id(call, "owner.id"),
             STR_FMT(hash));
    enum err e = blob_open(api_options(call->api)->store, name, &fd, &size);
    if (e)
        return e;
    ssize_t n = pread(fd, head, sizeof head, 0);
    /* The name is made of the content, so it never changes. */
    call_add_header(call, "Cache-Control", STR("public, max-age=31536000, immutable"));
    return call_reply_file(call, content_type(head, n), fd, size);
}

/* GET /avatars/{owner.id}/{file} */
static enum err get_avatar(struct call *call)
{
    return send_picture(call, "avatars");
}

/* GET /banners/{owner.id}/{file} */
static enum err get_banner(struct call *call)
{
    return send_picture(call, "banners");
}

/* GET /icons/{owner.id}/{file} */
static enum err get_guild_icon(struct call *call)
{
    return send_picture(call, "icons");
}

/* GET /splashes/{owner.id}/{file} */
static enum err get_guild_splash(struct call *call)
{
    return send_picture(call, "splashes");
}

/* GET /discovery-splashes/{owner.id}/{file} */
static enum err get_discovery_splash(struct call *call)
{
    return send_picture(call, "discovery-splashes");
}

/* GET /home-headers/{owner.id}/{file} */
static enum err get_home_header(struct call *call)
{
    return send_picture(call, "home-headers");
}

/* GET /channels/{owner.id}/icons/{file} */
static enum err get_channel_icon(struct call *call)
{
    return send_picture(call, "channel-icons");
}

/* GET /roles/{owner.id}/icons/{file} */
static enum err get_role_icon(struct call *call)
{
    return send_picture(call, "role-icons");
}

/* GET /guilds/{place.id}/users/{owner.id}/avatars/{file} */
static enum err get_member_avatar(struct call *call)
{
    return send_picture(call, "member-avatars");
}

/* GET /guilds/{place.id}/users/{owner.id}/banners/{file} */
static enum err get_member_banner(struct call *call)
{
    return send_picture(call, "member-banners");
}

static const struct resolver resolvers[] = {
    { .name = "place.id", .field = "guild_id", .doc = "The guild that it is shown in." },
    { .name = "owner.id", .field = "owner_id", .doc = "Whose picture it is." },
    { .name = "file",
      .field = "file",
      .is_text = true,
      .doc = "The picture's hash and an extension." },
    { 0 },
};

static const struct route routes[] = {
    {
        .method = GET,
        .path = "/avatars/{owner.id}/{file}",
        .name = "get_avatar",
        .doc = "An account's avatar.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_NONE,
        .handle = get_avatar,
    },
    {
        .method = GET,
        .path = "/banners/{owner.id}/{file}",
        .name = "get_banner",
        .doc = "A banner of an account or a guild.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_NONE,
        .handle = get_banner,
    },
    {
        .method = GET,
        .path = "/icons/{owner.id}/{file}",
        .name = "get_guild_icon",
        .doc = "A guild's icon.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_NONE,
        .handle = get_guild_icon,
    },
    {
        .method = GET,
        .path = "/splashes/{owner.id}/{file}",
        .name = "get_guild_splash",
        .doc = "A guild's splash.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_NONE,
        .handle = get_guild_splash,
    },
    {
        .method = GET,
        .path = "/discovery-splashes/{owner.id}/{file}",
        .name = "get_discovery_splash",
        .doc = "A guild's splash for those who look for guilds.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_NONE,
        .handle = get_discovery_splash,
    },
    {
        .method = GET,
        .path = "/home-headers/{owner.id}/{file}",
        .name = "get_home_header",
        .doc = "A guild's header.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_NONE,
        .handle = get_home_header,
    },
    {
        .method = GET,
        .path = "/channels/{owner.id}/icons/{file}",
        .name = "get_channel_icon",
        .doc = "A group's icon.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_NONE,
        .handle = get_channel_icon,
    },
    {
        .method = GET,
        .path = "/roles/{owner.id}/icons/{file}",
        .name = "get_role_icon",
        .doc = "A role's icon.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_NONE,
        .handle = get_role_icon,
    },
    {
        .method = GET,
        .path = "/guilds/{place.id}/users/{owner.id}/avatars/{file}",
        .name = "get_member_avatar",
        .doc = "A member's avatar in one guild.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_NONE,
        .handle = get_member_avatar,
    },
    {
        .method = GET,
        .path = "/guilds/{place.id}/users/{owner.id}/banners/{file}",
        .name = "get_member_banner",
        .doc = "A member's banner in one guild.",
        .service = true,
        .status = 200,
        .store = ROUTE_STORE_NONE,
        .handle = get_member_banner,
    },
    { 0 },
};

const struct domain assets_domain = {
    .name = "Assets",
    .doc = "Pictures, at the root, for anybody who knows their name.",
    .routes = routes,
    .resolvers = resolvers,
};

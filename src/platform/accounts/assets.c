/* assets.c - routes that serve pictures (/avatars/…, /icons/… and so on), and storage of uploaded
 * pictures. */
#include "platform/accounts/internal.h"

#include <stdio.h>
#include <unistd.h>

#include "base/pictures/pictures.h"

static void format_picture_file_name(char out[256], const char *area, snowflake owner,
                                     struct str hash)
{
    snprintf(out, 256, "%s/%llu/%.*s", area, (unsigned long long)owner, STR_ARGS(hash));
}

/* Every upload gets a new file name, even if the same bytes were uploaded before. If two uploads
 * shared one file, deleting one upload would delete the picture of the other. */
enum err store_uploaded_picture(struct call *call, const char *area, snowflake owner,
                                const struct opt_image *image, struct opt_str *ret)
{
    snowflake id = snowflake_new();
    char name[256];

    ret->given = image->given;
    if (image->given != GIVEN)
        return OK;
    ret->value = compute_picture_hash_of_upload(call->arena, &image->value, id);
    format_picture_file_name(name, area, owner, ret->value);
    return call_write_blob(call, id, name, image->value.bytes);
}

enum err delete_stored_picture(struct call *call, const char *area, snowflake owner,
                               const struct opt_str *hash)
{
    char name[256];

    if (hash->given != GIVEN)
        return OK;
    format_picture_file_name(name, area, owner, hash->value);
    return call_delete_blob(call, name);
}

enum err delete_previous_picture(struct call *call, const char *area, snowflake owner,
                                 const struct opt_str *before, const struct opt_str *now)
{
    bool stays = now->given == GIVEN && str_eq(before->value, now->value);

    return stays ? OK : delete_stored_picture(call, area, owner, before);
}

/* Returns the content type of a picture file by its first bytes. Uploaded pictures are stored
 * unchanged. */
static struct str detect_content_type(const char *head, ssize_t n)
{
    if (n >= 8 && memcmp(head, "\x89PNG", 4) == 0)
        return STR("image/png");
    if (n >= 3 && memcmp(head, "\xff\xd8\xff", 3) == 0)
        return STR("image/jpeg");
    if (n >= 4 && memcmp(head, "GIF8", 4) == 0)
        return STR("image/gif");
    if (n > 0 && picture_is_avif(str_slice(head, (size_t)n)))
        return STR("image/avif");
    if (n > 0 && head[0] == '{')
        return STR("application/json"); /* Lottie sticker */
    return STR("image/webp");
}

/* Returns "a_0123…" for "a_0123….png". The extension is ignored: the stored file is served
 * unchanged. */
static struct str strip_file_extension(struct str file)
{
    return str_cut(&file, '.');
}

static bool is_picture_hash(struct str s)
{
    if (str_starts_with(s, STR("a_")))
        s = str_skip_bytes(s, 2);
    for (size_t i = 0; i < s.n; i++)
        if (!((s.p[i] >= '0' && s.p[i] <= '9') || (s.p[i] >= 'a' && s.p[i] <= 'f')))
            return false;
    return s.n == 32;
}

/* Every picture route: path, handler, storage area, description. */
#define ASSETS(ROW)                                                                                \
    ROW("/avatars/{owner.id}/{file}", get_avatar, "avatars",                                       \
        "The avatar of an account or webhook; 302 if it is hosted elsewhere.")                     \
    ROW("/banners/{owner.id}/{file}", get_banner, "banners", "An account's or a guild's banner.")  \
    ROW("/guilds/{home.id}/users/{owner.id}/avatars/{file}", get_member_avatar, "member-avatars",  \
        "A member's avatar in one guild.")                                                         \
    ROW("/guilds/{home.id}/users/{owner.id}/banners/{file}", get_member_banner, "member-banners",  \
        "A member's banner in one guild.")                                                         \
    ROW("/icons/{owner.id}/{file}", get_guild_icon, "icons", "A guild's icon.")                    \
    ROW("/splashes/{owner.id}/{file}", get_guild_splash, "splashes", "A guild's splash.")          \
    ROW("/discovery-splashes/{owner.id}/{file}", get_discovery_splash, "discovery-splashes",       \
        "A guild's splash in discovery.")                                                          \
    ROW("/home-headers/{owner.id}/{file}", get_home_header, "home-headers", "A guild's header.")   \
    ROW("/roles/{owner.id}/icons/{file}", get_role_icon, "role-icons", "A role's icon.")           \
    ROW("/role-icons/{owner.id}/{file}", get_role_icon_by_new_name, "role-icons",                  \
        "A role's icon.")                                                                          \
    ROW("/channels/{owner.id}/icons/{file}", get_channel_icon, "channel-icons", "A group's icon.") \
    ROW("/channel-icons/{owner.id}/{file}", get_channel_icon_by_new_name, "channel-icons",         \
        "A group's icon.")                                                                         \
    ROW("/guild-events/{owner.id}/{file}", get_event_image, "guild-events",                        \
        "The image of a scheduled event.")                                                         \
    ROW("/app-icons/{owner.id}/{file}", get_application_icon, "app-icons", "An app's icon.")       \
    ROW("/team-icons/{owner.id}/{file}", get_team_icon, "team-icons", "A team's icon.")

static enum err get_picture(struct call *call);

#define ROUTE(path_, name_, area_, doc_) \
    { .method = GET,                     \
      .path = path_,                     \
      .name = #name_,                    \
      .doc = doc_,                       \
      .service = true,                   \
      .status = 200,                     \
      .handle = get_picture },
static const struct route routes[] = { ASSETS(ROUTE){ 0 } };
#undef ROUTE

#define AREA(path_, name_, area_, doc_) area_,
static const char *const areas[] = { ASSETS(AREA) };
#undef AREA

static enum err reply_with_opened_picture_file(struct call *call, int fd, int64_t size)
{
    char head[12];
    ssize_t n = pread(fd, head, sizeof head, 0);

    /* Each upload has a unique name, so the content behind a URL never changes and may be cached
     * forever. */
    call_add_header(call, "Cache-Control", STR("public, max-age=31536000, immutable"));
    return call_reply_with_file(call, detect_content_type(head, n), fd, size);
}

enum err reply_with_stored_picture(struct call *call, const char *area, snowflake owner,
                                   struct str hash)
{
    char name[256];
    int64_t size;
    int fd;

    format_picture_file_name(name, area, owner, hash);
    enum err e = call_open_blob(call, name, &fd, &size);
    return e ? e : reply_with_opened_picture_file(call, fd, size);
}

/* Handles GET for all picture routes. The route's row in ASSETS determines the storage area. */
static enum err get_picture(struct call *call)
{
    const char *area = areas[call->route - routes];
    struct str url, hash = strip_file_extension(call_get_path_text(call, "file"));
    snowflake owner = call_get_path_id(call, "owner.id");

    if (!is_picture_hash(hash))
        return ERR_NOT_FOUND;
    enum err e = reply_with_stored_picture(call, area, owner, hash);
    if (e != ERR_NOT_FOUND || !str_is(str_of(area), "avatars"))
        return e;
    e = external_picture_find_url(call->tx, owner, hash, &url);
    if (e)
        return e;
    return url.p ? redirect_to_external_picture(call, url) : ERR_NOT_FOUND;
}

static const struct path_resolver resolvers[] = {
    { .name = "home.id", .field = "guild_id", .doc = "The guild in which the picture is shown." },
    { .name = "owner.id", .field = "owner_id", .doc = "The object that the picture belongs to." },
    { .name = "file",
      .field = "file",
      .is_text = true,
      .doc = "The picture's hash and an extension." },
    { 0 },
};

const struct domain assets_domain = {
    .name = "Assets",
    .doc = "Picture files at the root of the server, without authentication.",
    .routes = routes,
    .resolvers = resolvers,
};

/* as_discord.c - the option as-discord: host names, options that it sets, certificate. */
#include "server/as_discord.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/log.h"
#include "base/str.h"
#include "net/tls.h"

enum { HTTPS_PORT = 443 };

const char *const platform_host_names[] = {
    "discord.com",          "canary.discord.com",          "ptb.discord.com",
    "discordapp.com",       "gateway.discord.gg",          PLATFORM_REMOTE_AUTH_HOST,
    "discord.gg",           "cdn.discordapp.com",          "cdn.discord.com",
    "media.discordapp.net", "images-ext-1.discordapp.net", "images-ext-2.discordapp.net",
    "status.discord.com",   PLATFORM_VOICE_HOST,           NULL,
};

/* Sets the options that as-discord implies. The port is 443, because the URLs in clients have no
 * port. Voice is on unless the operator has set its port. */
void config_apply_as_discord_option(struct config *c, struct arena *arena)
{
    const char *colon = strrchr(c->listen, ':');
    struct str host = colon ? str_slice(c->listen, (size_t)(colon - c->listen)) : STR("127.0.0.1");

    if (!c->as_discord)
        return;
    c->listen = str_printf(arena, "%.*s:%d", STR_ARGS(host), HTTPS_PORT).p;
    if (!c->voice_port)
        c->voice_port = "0";
}

const char *as_discord_folder_get_file_path(const struct config *c, struct arena *arena,
                                            const char *name)
{
    return str_printf(arena, "%s/as-discord/%s", c->data, name).p;
}

enum err open_certificate_for_discord_host_names(const struct config *c, const char *host,
                                                 struct tls_context **ret)
{
    struct arena *arena = arena_new();
    const char *folder = str_printf(arena, "%s/as-discord", c->data).p;
    enum err e = ERR_INTERNAL;

    if (mkdir(folder, 0755) != 0 && errno != EEXIST)
        log_error("as-discord: cannot create the folder '%s': %s", folder, strerror(errno));
    else
        e = tls_context_open_issued_by_own_authority(folder, host, platform_host_names, ret);
    arena_free(arena);
    return e;
}

/* as_discord.h - the option as-discord: serves under Discord's host names, for tests of bots.
 *
 * Bot libraries contain Discord's URLs. If Discord's host names resolve to this server, and the bot
 * trusts the certificates that the server issues, only the bot's token must be changed. */
#ifndef SERVER_AS_DISCORD_H
#define SERVER_AS_DISCORD_H

#include "base/errors.h"
#include "server/config.h"

struct tls_context;

#define PLATFORM_GATEWAY_URL      "wss://gateway.discord.gg"
#define PLATFORM_FILES_URL        "https://cdn.discordapp.com"
#define PLATFORM_VOICE_HOST       "voice.discord.media"
#define PLATFORM_REMOTE_AUTH_HOST "remote-auth-gateway.discord.gg"

/* Host names of Discord that must resolve to this server; the list ends with NULL. */
extern const char *const platform_host_names[];

/* Returns the path of a file of the option (ca.pem, hosts, …), in the data folder's "as-discord".
 */
const char *as_discord_folder_get_file_path(const struct config *c, struct arena *arena,
                                            const char *name);

/* Opens a certificate for Discord's host names, and issues it if there is none yet. */
enum err open_certificate_for_discord_host_names(const struct config *c, const char *host,
                                                 struct tls_context **ret);

#endif

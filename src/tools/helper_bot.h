/* helper_bot.h - the bot of the demo, which answers the demo's commands.
 *
 * A normal client with a gateway session and HTTP calls, on a thread of its own. While another
 * session of the same bot is connected, it does not answer. */
#ifndef TOOLS_HELPER_BOT_H
#define TOOLS_HELPER_BOT_H

#include "server/config.h"

struct helper_bot;

/* token: without "Bot ". Copies its arguments except the configuration. */
struct helper_bot *helper_bot_start(const struct config *config, const char *url,
                                    const char *token);
/* Call after the server has stopped. Accepts NULL. */
void helper_bot_stop(struct helper_bot *b);

#endif

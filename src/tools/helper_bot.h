/* helper_bot.h - the bot of the demo, which responds to the demo's commands.
 *
 * A normal client with a gateway session and HTTP requests, on its own thread. It does not respond
 * while another session of the same bot is connected. */
#ifndef TOOLS_HELPER_BOT_H
#define TOOLS_HELPER_BOT_H

#include "server/config.h"

struct helper_bot;

/* Starts the bot. token: without "Bot ". Copies its arguments except the configuration. */
struct helper_bot *helper_bot_start(const struct config *config, const char *url,
                                    const char *token);
/* Call after the server has stopped. Accepts NULL. */
void helper_bot_stop(struct helper_bot *b);

#endif

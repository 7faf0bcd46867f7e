/* demo_bot.h - the bot of the demo, which responds to the demo's commands.
 *
 * A normal client with a gateway session and HTTP requests, on its own thread. It does not respond
 * while another session of the same bot is connected. */
#ifndef TOOLS_DEMO_BOT_H
#define TOOLS_DEMO_BOT_H

#include "server/config.h"

struct demo_bot;

/* Starts the bot; `token` has no prefix "Bot ". Copies all arguments but the configuration. */
struct demo_bot *demo_bot_start(const struct config *config, const char *url, const char *token);
/* Call it after the server has stopped. Accepts NULL. */
void demo_bot_stop(struct demo_bot *b);

#endif

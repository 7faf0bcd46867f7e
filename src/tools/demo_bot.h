/* demo_bot.h - the bot of the demo, which responds to the demo's commands.
 *
 * The bot is a normal client with a gateway session and HTTP requests, on its own OS thread. While
 * another session of the same bot is connected, it does not respond. */
#ifndef TOOLS_DEMO_BOT_H
#define TOOLS_DEMO_BOT_H

#include "server/config.h"

struct demo_bot;

/* Starts the bot. `token` does not have the prefix "Bot ". Copies all arguments except the
 * configuration. */
struct demo_bot *demo_bot_start(const struct config *config, const char *url, const char *token);
/* Stops the bot. Call this function after the server has stopped. b may be NULL. */
void demo_bot_stop(struct demo_bot *b);

#endif

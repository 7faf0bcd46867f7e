/* helper_bot.h - the demo's own bot, so that its commands answer.
 *
 * It is a client like any other: a session of the gateway and calls over HTTP, on a thread of
 * its own. When somebody else runs as the same bot, it leaves the answers to them. */
#ifndef TOOLS_HELPER_BOT_H
#define TOOLS_HELPER_BOT_H

#include "server/config.h"

struct helper_bot;

/* token without the word Bot; everything is copied but the configuration. */
struct helper_bot *helper_bot_start(const struct config *config, const char *url,
                                    const char *token);
/* When the server is gone; accepts NULL. */
void helper_bot_stop(struct helper_bot *b);

#endif

/* gateway.h - the platform's side of the gateway. */
#ifndef PLATFORM_GATEWAY_H
#define PLATFORM_GATEWAY_H

#include "gateway/gateway.h"

extern const struct gateway_source gateway_source;

/* What READY says about an account. */
enum err gateway_ready(struct tx *tx, const struct gateway_viewer *v, struct json *out);
/* A guild, as struct gateway_source has it. */
enum err gateway_guild(struct tx *tx, const struct member *m, const struct gateway_viewer *v,
                       struct json *out);

#endif

/* permissions.h - the rights a member can have, as bits. */
#ifndef MODEL_PERMISSIONS_H
#define MODEL_PERMISSIONS_H

#include <stdint.h>

#include "base/buf.h"

enum permission_bit {
#define PERMISSION(bit, name) PERMISSION_BIT_##name = bit,
#include "model/permissions/permissions.def"
#undef PERMISSION
};

/* PERMISSION(MANAGE_GUILD) is the set with that one right. */
#define PERMISSION(name) (UINT64_C(1) << PERMISSION_BIT_##name)

/* Who could bring emoji, stickers and sounds sees who brought them. */
#define PERMISSIONS_EXPRESSIONS (PERMISSION(CREATE_EXPRESSIONS) | PERMISSION(MANAGE_EXPRESSIONS))

/* What a guild may ask a second factor for. */
#define PERMISSIONS_MFA                                                                        \
    (PERMISSION(KICK_MEMBERS) | PERMISSION(BAN_MEMBERS) | PERMISSION(ADMINISTRATOR) |          \
     PERMISSION(MANAGE_CHANNELS) | PERMISSION(MANAGE_GUILD) | PERMISSION(MANAGE_MESSAGES) |    \
     PERMISSION(MANAGE_ROLES) | PERMISSION(MANAGE_WEBHOOKS) | PERMISSION(MANAGE_EXPRESSIONS) | \
     PERMISSION(MANAGE_THREADS) | PERMISSION(VIEW_CREATOR_MONETIZATION_ANALYTICS))

/* Every right there is. */
extern const uint64_t PERMISSIONS_ALL;
/* What a new guild lets everybody do. */
extern const uint64_t PERMISSIONS_DEFAULT;

/* "MANAGE_GUILD"; NULL when that bit means nothing. */
const char *permission_name(unsigned bit);

/* "MANAGE_GUILD, MANAGE_ROLES" for the docs. */
void permissions_phrase(struct buf *out, uint64_t set);

#endif

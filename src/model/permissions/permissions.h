/* permissions.h - the permission bits of members. */
#ifndef MODEL_PERMISSIONS_H
#define MODEL_PERMISSIONS_H

#include <stdint.h>

#include "base/buf.h"

enum permission_bit {
#define PERMISSION(bit, name) PERMISSION_BIT_##name = bit,
#include "model/permissions/permissions.def"
#undef PERMISSION
};

/* PERMISSION(MANAGE_GUILD) is a bit set with only that permission. */
#define PERMISSION(name) (UINT64_C(1) << PERMISSION_BIT_##name)

/* Members who have one of these permissions see who uploaded an emoji, sticker or sound. */
#define PERMISSIONS_SEE_UPLOADERS (PERMISSION(CREATE_EXPRESSIONS) | PERMISSION(MANAGE_EXPRESSIONS))

/* Permissions that have no effect without two-factor authentication, if the guild requires it. */
#define PERMISSIONS_REQUIRING_MFA                                                              \
    (PERMISSION(KICK_MEMBERS) | PERMISSION(BAN_MEMBERS) | PERMISSION(ADMINISTRATOR) |          \
     PERMISSION(MANAGE_CHANNELS) | PERMISSION(MANAGE_GUILD) | PERMISSION(MANAGE_MESSAGES) |    \
     PERMISSION(MANAGE_ROLES) | PERMISSION(MANAGE_WEBHOOKS) | PERMISSION(MANAGE_EXPRESSIONS) | \
     PERMISSION(MANAGE_THREADS) | PERMISSION(VIEW_CREATOR_MONETIZATION_ANALYTICS))

extern const uint64_t PERMISSIONS_ALL;
/* Permissions of @everyone in a new guild. */
extern const uint64_t PERMISSIONS_DEFAULT;

/* Returns the name of a bit, such as "MANAGE_GUILD", or NULL if the bit is unknown. */
const char *get_permission_name(unsigned bit);

/* Appends names such as "MANAGE_GUILD, MANAGE_ROLES", for the documentation. */
void permission_set_append_names(struct buf *out, uint64_t set);

#endif

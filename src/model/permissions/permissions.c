/* permissions.c - names of permissions. */
#include "model/permissions/permissions.h"

/* This definition must come before PERMISSION is defined again below, to generate the names. */
const uint64_t PERMISSIONS_DEFAULT =
    PERMISSION(CREATE_INSTANT_INVITE) | PERMISSION(ADD_REACTIONS) | PERMISSION(STREAM) |
    PERMISSION(VIEW_CHANNEL) | PERMISSION(SEND_MESSAGES) | PERMISSION(EMBED_LINKS) |
    PERMISSION(ATTACH_FILES) | PERMISSION(READ_MESSAGE_HISTORY) | PERMISSION(MENTION_EVERYONE) |
    PERMISSION(USE_EXTERNAL_EMOJIS) | PERMISSION(CONNECT) | PERMISSION(SPEAK) |
    PERMISSION(USE_VAD) | PERMISSION(CHANGE_NICKNAME) | PERMISSION(USE_APPLICATION_COMMANDS) |
    PERMISSION(REQUEST_TO_SPEAK) | PERMISSION(CREATE_PUBLIC_THREADS) |
    PERMISSION(CREATE_PRIVATE_THREADS) | PERMISSION(USE_EXTERNAL_STICKERS) |
    PERMISSION(SEND_MESSAGES_IN_THREADS) | PERMISSION(USE_EMBEDDED_ACTIVITIES) |
    PERMISSION(USE_SOUNDBOARD) | PERMISSION(USE_EXTERNAL_SOUNDS) | PERMISSION(SEND_VOICE_MESSAGES) |
    PERMISSION(SEND_POLLS) | PERMISSION(USE_EXTERNAL_APPS);

#undef PERMISSION
#define PERMISSION(bit, name) | UINT64_C(1) << bit
const uint64_t PERMISSIONS_ALL = 0
#include "model/permissions/permissions.def"
    ;
#undef PERMISSION

static const struct {
    unsigned bit;
    const char *name;
} names[] = {
#define PERMISSION(bit, name) { bit, #name },
#include "model/permissions/permissions.def"
#undef PERMISSION
};

const char *get_permission_name(unsigned bit)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (names[i].bit == bit)
            return names[i].name;
    return NULL;
}

void permission_set_append_names(struct buf *out, uint64_t set)
{
    const char *comma = "";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (set >> names[i].bit & 1) {
            buf_printf(out, "%s%s", comma, names[i].name);
            comma = ", ";
        }
    }
}

/* permissions.c - the names of rights. */
#include "model/permissions.h"

static const struct {
    unsigned bit;
    const char *name;
} names[] = {
#undef PERMISSION
#define PERMISSION(bit, name) { bit, #name },
#include "model/permissions.def"
#undef PERMISSION
};

void permissions_phrase(struct buf *out, uint64_t set)
{
    const char *comma = "";

    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        if (set >> names[i].bit & 1) {
            buf_printf(out, "%s%s", comma, names[i].name);
            comma = ", ";
        }
    }
}

/* pictures.c - pictures that a world file brings along. */
#include <stdio.h>

#include "base/clock.h"
#include "platform/accounts/accounts.h"
#include "platform/worlds/file/file.h"

static const char NOTE_FILE[] =
    "insert into files (id, name, owner_id, size, created_at) values ($1, $2, 0, $3, $4)";

enum err world_note_picture(struct importing *im, const struct image *image, const char *area,
                            snowflake id, const char *set_image)
{
    snowflake upload = snowflake_new();
    struct str hash = image_hash(im->arena, image, upload);
    struct world_picture *p = list_add(im->arena, im->pictures, sizeof *p);

    snprintf(p->name, sizeof p->name, "%s/%llu/%.*s", area, (unsigned long long)id, STR_FMT(hash));
    p->bytes = image->bytes;
    enum err e = tx_exec(
        im->tx, NOTE_FILE,
        BIND(v_id(upload), v_text(str_of(p->name)), v_int((int64_t)p->bytes.n), v_int(clock_us())),
        NULL);
    return e ? e : tx_exec(im->tx, set_image, BIND(v_id(id), v_text(hash)), NULL);
}

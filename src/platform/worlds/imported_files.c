/* imported_files.c - pictures and sounds that a world file contains. */
#include <stdio.h>

#include "base/clock.h"
#include "platform/worlds/import_export.h"

static const char INSERT_FILE[] =
    "insert into files (id, name, owner_id, size, created_at, digest) "
    "values ($1, $2, 0, $3, $4, $5)";

enum err world_import_attachment(struct world_file_importer *im,
                                 const struct world_file_attachment *note)
{
    struct world_file_picture *p = list_append(im->arena, im->pictures, sizeof *p);
    char digest[BLOB_DIGEST_SIZE];

    snprintf(p->name, sizeof p->name, "%s/%llu/%.*s", note->area, (unsigned long long)note->owner,
             STR_ARGS(note->name));
    p->bytes = note->bytes;
    blob_digest(p->bytes, digest);
    return tx_exec(im->tx, INSERT_FILE,
                   BIND(v_id(note->id), v_text(str_of(p->name)), v_int((int64_t)p->bytes.n),
                        v_int(clock_us()), v_text(str_of(digest))),
                   NULL);
}

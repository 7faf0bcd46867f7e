/* imported_files.c - pictures and sounds that a world file contains. */
#include <stdio.h>

#include "api/files/file_rows.h"
#include "platform/worlds/import_export.h"

enum err world_import_attachment(struct world_file_importer *im,
                                 const struct world_file_attachment *note)
{
    struct world_file_picture *p = list_append(im->arena, im->pictures, sizeof *p);
    char digest[BLOB_DIGEST_SIZE];

    snprintf(p->name, sizeof p->name, "%s/%llu/%.*s", note->area, (unsigned long long)note->owner,
             STR_ARGS(note->name));
    p->bytes = note->bytes;
    blob_digest(p->bytes, digest);
    return file_insert_row(im->tx, &(struct new_file){ .id = note->id,
                                                       .name = p->name,
                                                       .digest = digest,
                                                       .size = (int64_t)p->bytes.n });
}

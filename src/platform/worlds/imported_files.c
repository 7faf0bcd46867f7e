/* imported_files.c - pictures and sounds inside a world file, and files of the archive of a copied
 * guild. */
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/files/file_rows.h"
#include "base/hash.h"
#include "platform/worlds/import_export.h"

static enum err insert_imported_file_row(struct world_file_importer *im, snowflake id,
                                         const struct world_file_picture *p, struct str bytes)
{
    char digest[BLOB_DIGEST_SIZE];

    blob_compute_digest(bytes, digest);
    return file_insert_row(
        im->tx, &(struct new_file_row){
                    .id = id, .name = p->name, .digest = digest, .size = (int64_t)bytes.n });
}

enum err world_file_import_attachment(struct world_file_importer *im,
                                      const struct world_file_attachment *note)
{
    struct world_file_picture *p = list_append(im->arena, im->pictures, sizeof *p);

    snprintf(p->name, sizeof p->name, "%s/%llu/%.*s", note->area, (unsigned long long)note->owner,
             STR_ARGS(note->name));
    p->bytes = note->bytes;
    return insert_imported_file_row(im, note->id, p, p->bytes);
}

/* --- files of an archive --------------------------------------------------------------- */

bool map_world_file_into_memory(const char *path, struct str *ret)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st = { 0 };
    bool ok = fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode);
    void *bytes = MAP_FAILED;

    *ret = STR("");
    if (ok && st.st_size > 0)
        bytes = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
    if (fd >= 0)
        close(fd);
    if (bytes != MAP_FAILED)
        *ret = str_slice(bytes, (size_t)st.st_size);
    return ok && (st.st_size == 0 || bytes != MAP_FAILED);
}

void unmap_world_file(struct str bytes)
{
    if (bytes.n)
        munmap((void *)(uintptr_t)bytes.p, bytes.n);
}

bool world_file_name_is_safe(struct str name)
{
    for (size_t i = 0; i < name.n; i++)
        if (!((name.p[i] >= 'a' && name.p[i] <= 'z') || (name.p[i] >= '0' && name.p[i] <= '9') ||
              name.p[i] == '_'))
            return false;
    return name.n > 0 && name.n <= 64;
}

/* Returns a file of the archive that has already been stored. If it has not, adds it to im->unread:
 * the transaction is then rolled back, the file is stored, and the import starts again. */
static const struct archived_file *find_archived_file(struct world_file_importer *im,
                                                      const char *path,
                                                      const struct world_file_attachment *note)
{
    struct archived_file *f = map_find_value(im->archived, hash_str(str_of(path)));

    if (f)
        return f;
    f = arena_alloc(im->arena, sizeof *f);
    *f = (struct archived_file){ .path = path, .size = -1 };
    snprintf(f->name, sizeof f->name, "%s/%.*s", note->area, STR_ARGS(note->name));
    map_set_value(im->archived, hash_str(str_of(path)), f);
    *(struct archived_file **)list_append(im->arena, im->unread, sizeof f) = f;
    return f;
}

enum err archived_file_store(struct store *store, struct archived_file *f)
{
    struct str bytes;

    if (!map_world_file_into_memory(f->path, &bytes))
        return OK;
    blob_compute_digest(bytes, f->digest);
    enum err e = blob_put(store, f->name, bytes);
    if (!e)
        f->size = (int64_t)bytes.n;
    unmap_world_file(bytes);
    return e;
}

enum err world_file_import_archived_file(struct world_file_importer *im, const char *folder,
                                         struct str name, const struct world_file_attachment *note,
                                         int64_t *ret)
{
    *ret = -1;
    if (!im->options->files || !world_file_name_is_safe(name))
        return OK;
    const char *path =
        str_dup_cstring(im->arena, str_printf(im->arena, "%s/files/%s/%.*s", im->options->files,
                                              folder, STR_ARGS(name)));
    const struct archived_file *f = find_archived_file(im, path, note);
    *ret = f->size;
    return f->size < 0 ? OK
                       : file_insert_row(im->tx, &(struct new_file_row){ .id = note->id,
                                                                         .name = f->name,
                                                                         .digest = f->digest,
                                                                         .size = f->size });
}

enum err world_file_import_archived_picture(struct world_file_importer *im, const char *area,
                                            snowflake owner, const struct opt_str *hash,
                                            struct opt_str *ret)
{
    struct str folder = str_printf(im->arena, "%s/%llu", area, (unsigned long long)owner);
    struct world_file_attachment note = { .id = snowflake_new(),
                                          .area = str_dup_cstring(im->arena, folder),
                                          .name = hash->value };
    int64_t size = -1;

    if (hash->given != GIVEN || (ret->given == GIVEN && str_eq(ret->value, hash->value)))
        return OK;
    enum err e = world_file_import_archived_file(im, note.area, hash->value, &note, &size);
    if (size >= 0)
        *ret = *hash;
    return e;
}

/* file_methods.c - replaces I/O functions of an open SQLite file. SQLite has no option to pace or
 * combine writes, but every open file has a table of functions. */
#include "store/sqlite/sqlite.h"

bool replace_file_methods(struct replaced_file_methods *m, sqlite3_file *file,
                          void (*change)(sqlite3_io_methods *to))
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    if (!m->original) {
        m->original = file->pMethods;
        m->replaced = *m->original;
        change(&m->replaced);
    }
    bool is_usual = file->pMethods == m->original;
    if (is_usual)
        file->pMethods = &m->replaced;
    pthread_mutex_unlock(&lock);
    return is_usual;
}

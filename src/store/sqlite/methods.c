/* methods.c - replaces I/O functions of an open SQLite file: SQLite has no option for paced or
 * combined writes, but every open file has a table of functions. */
#include "store/sqlite/sqlite.h"

bool sqlite_methods_change(struct sqlite_methods *m, sqlite3_file *file,
                           void (*change)(sqlite3_io_methods *to))
{
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&lock);
    if (!m->usual) {
        m->usual = file->pMethods;
        m->own = *m->usual;
        change(&m->own);
    }
    bool is_usual = file->pMethods == m->usual;
    if (is_usual)
        file->pMethods = &m->own;
    pthread_mutex_unlock(&lock);
    return is_usual;
}

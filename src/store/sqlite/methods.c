/* methods.c - open files of SQLite that do something of their own.
 *
 * SQLite has no word for what is wanted of some of them, but every open file has its own table of
 * functions. */
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

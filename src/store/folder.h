/* folder.h - names of files that last. */
#ifndef STORE_FOLDER_H
#define STORE_FOLDER_H

#include <stdbool.h>

/* Makes the names in a folder last. */
bool folder_sync(const char *path);

#endif

/* folder.h - names of files that last, and whose they are. */
#ifndef STORE_FOLDER_H
#define STORE_FOLDER_H

#include <stdbool.h>

/* Makes the names in a folder last. */
bool folder_sync(const char *path);

/* Root works in folders of a server that runs as somebody else, who has to be able to open what
 * root leaves there. For anybody but root these do nothing. */

/* Gives a file that was made in the folder to the folder's owner. */
bool folder_give_file(const char *folder, int fd);
/* The same of everything in it. */
bool folder_give_all(const char *folder);

#endif

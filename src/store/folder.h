/* folder.h - syncs directories and sets the owner of files in the data folder. */
#ifndef STORE_FOLDER_H
#define STORE_FOLDER_H

#include <stdbool.h>

/* fsyncs a directory, so that files created or renamed in it survive a power cut. */
bool folder_sync(const char *path);

/* If root runs a tool in the data folder of a server that runs as another user, the tool must not
 * leave files of root: these functions set the owner of such files to the owner of the folder. If
 * the caller is not root, they do nothing. */

/* Gives one file in the folder to the folder's owner. */
bool folder_chown_file(const char *folder, int fd);
/* Gives everything in the folder to the folder's owner. */
bool folder_chown_all(const char *folder);

#endif

/* folder.h - syncs directories and sets the owner of files in the data folder. */
#ifndef STORE_FOLDER_H
#define STORE_FOLDER_H

#include <stdbool.h>

/* Calls fsync for a directory, so that files created or renamed in it survive a power cut. */
bool sync_folder_to_disk(const char *path);

/* Deletes a folder with everything in it. Returns true also if the folder does not exist. */
bool folder_delete_recursively(const char *path);

/* If root runs a tool in the data folder of a server that runs as another user, the tool must not
 * leave files of root. The two folder_chown functions set the owner of such files to the owner of
 * the folder. If the process does not run as root, they do nothing. */

/* Sets the owner of one file in the folder to the owner of the folder. */
bool folder_chown_file(const char *folder, int fd);
/* Sets the owner of all files in the folder to the owner of the folder. */
bool folder_chown_all(const char *folder);

#endif

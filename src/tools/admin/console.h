/* console.h - calls console routes from the command line.
 *
 * A user who can open the data folder counts as the operator. Such a user gets the server's URL and
 * the console key through the control socket. */
#ifndef TOOLS_ADMIN_CONSOLE_H
#define TOOLS_ADMIN_CONSOLE_H

#include "tools/tools.h"
#include "tools/wire/api_client.h"

/* Returns a client for the server that runs on the data folder, with the console key as its token.
 * Prints an error and returns NULL if no server runs. */
struct api_client *connect_to_server_console(const struct config *config, struct arena *arena);

/* Returns the URL of the server that runs on the data folder. Prints an error and returns NULL if
 * no server runs. */
const char *find_server_url_of_data_folder(const struct config *config, struct arena *arena);

/* Calls a console route; `body` is JSON, or empty. On failure prints an error, returns status 0. */
struct api_client_response send_console_request(const struct config *config, struct arena *arena,
                                                const char *method, const char *path,
                                                struct str body);

/* Prints why the server refused a console request: the first problem of a field, or else the
 * message. Prints nothing if the status is 0, because send_console_request has printed the reason.
 */
void print_console_refusal(const struct api_client_response *a, struct arena *arena);

/* Parses a duration: "15m", "3s", "250ms", "2h", "1d", or a number of seconds. Returns false if it
 * is invalid. */
bool parse_duration(const char *text, int64_t *ret_ms);

#endif

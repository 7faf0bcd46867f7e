/* api_client.h - blocking client of a server's HTTP API and gateway, for tools.
 *
 * All functions block. The function in which an error occurs prints it to stderr; its callers print
 * nothing. */
#ifndef TOOLS_WIRE_API_CLIENT_H
#define TOOLS_WIRE_API_CLIENT_H

#include "base/arena.h"
#include "base/str.h"

struct api_client;

/* Creates a client for the URL "http://host:port" or "https://…", optionally with "/api" or
 * "/api/v10". Prints an error and returns NULL if the URL is invalid. Received data is allocated in
 * `arena`. */
struct api_client *api_client_new(const char *url, struct arena *arena);
void api_client_free(struct api_client *w);

/* Accepts, for https, only the certificate of the server that runs on this data folder, whatever
 * its host name is. Without this call, the certificate must be valid for the host and signed by a
 * CA of the system. */
void api_client_trust_only_server_of_folder(struct api_client *w, const char *folder);

void api_client_silence_errors(struct api_client *w);

/* Sets the token: "abc" for users, "Bot abc" for bots. Copies it. */
void api_client_set_token(struct api_client *w, const char *token);
const char *api_client_get_token(const struct api_client *w);

struct api_client_file {
    const char *filename;
    struct str bytes;
};
struct api_client_response {
    int status;
    struct str body;
};

/* Sends a request. `path` is relative to /api/v9, or begins with /console/. `body` is JSON, or
 * empty. If there are files, the request is multipart with payload_json. Returns false if there is
 * no response. */
bool api_client_request(struct api_client *w, const char *method, const char *path, struct str body,
                        const struct api_client_file *files, size_t file_count,
                        struct api_client_response *ret);
#define api_client_get(w, path, ret) \
    api_client_request((w), "GET", (path), (struct str){ 0 }, NULL, 0, (ret))

/* Opens a gateway session as a user's client, and waits for READY. */
bool api_client_connect_gateway(struct api_client *w);
struct str api_client_get_session_id(const struct api_client *w);

enum api_client_event_result { CLIENT_EVENT, CLIENT_TIMEOUT, CLIENT_CONNECTION_LOST };
struct api_client_event {
    struct str name, data; /* data: JSON */
};
/* Waits for the next event. If there is none until the time `until` (clock_monotonic_ns), returns
 * CLIENT_TIMEOUT. */
enum api_client_event_result api_client_wait_for_event(struct api_client *w, int64_t until,
                                                       struct api_client_event *ret);

/* Opens a WebSocket that is not the gateway, and sends a first message. */
bool api_client_open_websocket(struct api_client *w, const char *target, struct str first);
enum api_client_event_result api_client_wait_for_websocket_text(struct api_client *w, int64_t until,
                                                                struct arena *arena,
                                                                struct str *ret);

#endif

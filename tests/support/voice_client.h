/* voice_client.h - clients of the voice gateway and the relay: a WebSocket and a UDP socket.
 * They encrypt with an independent implementation of the modes, not with the server's. */
#ifndef TESTS_VOICE_CLIENT_H
#define TESTS_VOICE_CLIENT_H

#include "test_voice.h"

enum voice_client_mode { VOICE_CLIENT_AES, VOICE_CLIENT_CHACHA, VOICE_CLIENT_SALSA };

struct voice_client {
    struct client *client;
    struct gateway_conn *gate;
    int version;
    const char *guild, *session, *token;
    unsigned dave;      /* highest version of DAVE that the client supports */
    unsigned described; /* version of DAVE in the session description */
    const char *more;   /* JSON of Identify, such as ", 'video': true"; NULL: none */
    int fd;             /* UDP; -1: none */
    uint32_t ssrc;
    int port; /* UDP port of the server */
    enum voice_client_mode mode;
    unsigned char key[32];
    uint32_t counter, timestamp; /* counter: the next nonce */
    uint16_t sequence;
    bool little_endian;    /* the client writes nonces in little-endian */
    bool extended;         /* the client sends audio with a header extension */
    unsigned char last[4]; /* nonce of the last packet that the client received */
};

/* Configures a server with the voice relay. */
void with_relay(struct config *config);

/* Joins a channel by opcode 4 and reads the data for the voice connection; other clients may get
 * events. */
struct voice_client voice_client_join(const struct test_voice *h, struct client *c,
                                      const char *channel);
/* Joins a channel; more is JSON of opcode 4, such as ", 'flags': 1". */
struct voice_client voice_client_join_with(const struct test_voice *h, struct client *c,
                                           const char *channel, const char *more);
/* Opens the WebSocket, reads Hello, sends Identify, and reads nothing else. */
void voice_client_dial(struct voice_client *p, int version);
/* Joins and connects until media can be sent. */
struct voice_client voice_client_call(const struct test_voice *h, struct client *c,
                                      const char *channel, enum voice_client_mode mode);
/* Completes the connection: Ready, discovery, protocol, description. */
void voice_client_connect(struct voice_client *p, enum voice_client_mode mode);
const struct dom *voice_client_ready(struct voice_client *p);
void voice_client_select(struct voice_client *p, enum voice_client_mode mode);
void voice_client_hang_up(struct voice_client *p);
/* Expects that the WebSocket is closed with this code, after any messages. */
#define expect_cut(p, code) expect_cut_at(__FILE__, __LINE__, (p), (code))
void expect_cut_at(const char *file, int line, struct voice_client *p, int code);

/* Returns the next message with this opcode; others are skipped. Fails if it does not come. */
const struct dom *voice_client_await(struct voice_client *p, int op);
/* Expects no message with this opcode before a heartbeat is acknowledged. */
void voice_client_expect_none(struct voice_client *p, int op);

/* Returns an encrypted audio packet; it can be sent again. */
struct str voice_client_seal(struct voice_client *p, struct str frame);
void voice_client_send(struct voice_client *p, struct str datagram);
void voice_client_say(struct voice_client *p, const char *frame);
/* Sends a video packet with one of the client's SSRCs. */
enum { VOICE_CLIENT_VIDEO = 101 };
void voice_client_show(struct voice_client *p, uint32_t ssrc, unsigned type, const char *frame);
/* Sends opcode 12 with these streams, a JSON list; opcode 15, which was processed when this
 * returns. */
void voice_client_shows(struct voice_client *p, const char *streams);
void voice_client_wants(struct voice_client *p, const char *wants);
/* Creates an RTCP packet of two words; eight of its bytes are sent unencrypted. */
struct str control_packet(struct world *w, unsigned type, unsigned format, uint32_t sender,
                          uint32_t about);
void voice_client_control(struct voice_client *p, struct str packet);
/* Receives the next RTCP packet; p NULL: none. */
struct str voice_client_receive_control(struct voice_client *p, int wait_ms);
/* Waits until the relay knows what the client sent to the voice gateway. */
void voice_client_flush(struct voice_client *p);

/* A received and decrypted media frame. */
struct received_frame {
    struct str frame; /* p NULL: none arrived */
    uint32_t ssrc, timestamp;
    uint16_t sequence;
    unsigned type;
};
struct received_frame voice_client_receive(struct voice_client *p, int wait_ms);
#define expect_audio(p, from, frame) expect_audio_at(__FILE__, __LINE__, (p), (from), (frame))
void expect_audio_at(const char *file, int line, struct voice_client *p,
                     const struct voice_client *from, const char *frame);
#define expect_seen(p, ssrc, frame) expect_seen_at(__FILE__, __LINE__, (p), (ssrc), (frame))
void expect_seen_at(const char *file, int line, struct voice_client *p, uint32_t ssrc,
                    const char *frame);
/* Expects that media of `from` reaches nobody: another pair's media shows that enough time has
 * passed. */
#define expect_deaf(p) expect_deaf_at(__FILE__, __LINE__, (p))
void expect_deaf_at(const char *file, int line, struct voice_client *p);

/* Sends IP discovery; returns false without a reply. Another socket may send it. */
bool voice_client_discover(struct world *w, int fd, int port, uint32_t ssrc, char address[64],
                           int *ret_port);
/* Waits until every datagram sent so far was processed and its results have arrived. */
void voice_clients_settle(struct world *w, int port);
int voice_client_socket(void);

#endif

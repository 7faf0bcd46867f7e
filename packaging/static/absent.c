/* absent.c - what the static program does without.
 *
 * Debian's static libcurl asks for SSH, RTMP, LDAP, HTTP/2, cookies' public suffixes and Kerberos.
 * Outgoing calls and mails use none of them: they are restricted to HTTP/1.1 and SMTP, and
 * set no cookies (net/client/fetcher.c, net/client/mailer.c). The libraries for most of them cannot
 * be linked statically in Debian. So their functions stand here: they do nothing and return 0,
 * which is what those that libcurl calls when it starts must return; those of Kerberos fail, in
 * case a mail server offers it. */

typedef long absent_function(void);

/* clang-format off */
#define WITHOUT(F, K) \
    F(RTMP_Alloc) \
    F(RTMP_Close) \
    F(RTMP_Connect1) \
    F(RTMP_ConnectStream) \
    F(RTMP_Free) \
    F(RTMP_Init) \
    F(RTMP_Read) \
    F(RTMP_SetBufferMS) \
    F(RTMP_SetupURL) \
    F(RTMP_Write) \
    F(ber_bvfree) \
    F(ber_free) \
    F(ber_memfree) \
    F(ber_memvfree) \
    F(ber_sockbuf_add_io) \
    F(ldap_abandon_ext) \
    F(ldap_err2string) \
    F(ldap_free_urldesc) \
    F(ldap_get_attribute_ber) \
    F(ldap_get_dn_ber) \
    F(ldap_get_option) \
    F(ldap_init_fd) \
    F(ldap_memfree) \
    F(ldap_msgfree) \
    F(ldap_msgtype) \
    F(ldap_parse_result) \
    F(ldap_parse_sasl_bind_result) \
    F(ldap_pvt_url_scheme2proto) \
    F(ldap_result) \
    F(ldap_sasl_bind) \
    F(ldap_search_ext) \
    F(ldap_set_option) \
    F(ldap_start_tls) \
    F(ldap_unbind_ext) \
    F(ldap_url_parse) \
    F(libssh2_agent_connect) \
    F(libssh2_agent_disconnect) \
    F(libssh2_agent_free) \
    F(libssh2_agent_get_identity) \
    F(libssh2_agent_init) \
    F(libssh2_agent_list_identities) \
    F(libssh2_agent_userauth) \
    F(libssh2_channel_free) \
    F(libssh2_channel_read_ex) \
    F(libssh2_channel_send_eof) \
    F(libssh2_channel_wait_closed) \
    F(libssh2_channel_wait_eof) \
    F(libssh2_channel_write_ex) \
    F(libssh2_exit) \
    F(libssh2_hostkey_hash) \
    F(libssh2_init) \
    F(libssh2_knownhost_add) \
    F(libssh2_knownhost_checkp) \
    F(libssh2_knownhost_del) \
    F(libssh2_knownhost_free) \
    F(libssh2_knownhost_get) \
    F(libssh2_knownhost_init) \
    F(libssh2_knownhost_readfile) \
    F(libssh2_knownhost_writefile) \
    F(libssh2_scp_recv2) \
    F(libssh2_scp_send64) \
    F(libssh2_session_abstract) \
    F(libssh2_session_block_directions) \
    F(libssh2_session_callback_set) \
    F(libssh2_session_disconnect_ex) \
    F(libssh2_session_flag) \
    F(libssh2_session_free) \
    F(libssh2_session_handshake) \
    F(libssh2_session_hostkey) \
    F(libssh2_session_init_ex) \
    F(libssh2_session_last_errno) \
    F(libssh2_session_last_error) \
    F(libssh2_session_method_pref) \
    F(libssh2_session_set_blocking) \
    F(libssh2_sftp_close_handle) \
    F(libssh2_sftp_init) \
    F(libssh2_sftp_last_error) \
    F(libssh2_sftp_mkdir_ex) \
    F(libssh2_sftp_open_ex) \
    F(libssh2_sftp_read) \
    F(libssh2_sftp_readdir_ex) \
    F(libssh2_sftp_rename_ex) \
    F(libssh2_sftp_rmdir_ex) \
    F(libssh2_sftp_seek64) \
    F(libssh2_sftp_shutdown) \
    F(libssh2_sftp_stat_ex) \
    F(libssh2_sftp_statvfs) \
    F(libssh2_sftp_symlink_ex) \
    F(libssh2_sftp_unlink_ex) \
    F(libssh2_sftp_write) \
    F(libssh2_userauth_authenticated) \
    F(libssh2_userauth_keyboard_interactive_ex) \
    F(libssh2_userauth_list) \
    F(libssh2_userauth_password_ex) \
    F(libssh2_userauth_publickey_fromfile_ex) \
    F(libssh2_version) \
    F(nghttp2_http2_strerror) \
    F(nghttp2_is_fatal) \
    F(nghttp2_option_del) \
    F(nghttp2_option_new) \
    F(nghttp2_option_set_no_rfc9113_leading_and_trailing_ws_validation) \
    F(nghttp2_pack_settings_payload) \
    F(nghttp2_priority_spec_init) \
    F(nghttp2_session_callbacks_del) \
    F(nghttp2_session_callbacks_new) \
    F(nghttp2_session_callbacks_set_error_callback) \
    F(nghttp2_session_callbacks_set_on_begin_headers_callback) \
    F(nghttp2_session_callbacks_set_on_data_chunk_recv_callback) \
    F(nghttp2_session_callbacks_set_on_frame_recv_callback) \
    F(nghttp2_session_callbacks_set_on_header_callback) \
    F(nghttp2_session_callbacks_set_on_stream_close_callback) \
    F(nghttp2_session_callbacks_set_send_callback) \
    F(nghttp2_session_check_request_allowed) \
    F(nghttp2_session_client_new2) \
    F(nghttp2_session_del) \
    F(nghttp2_session_get_remote_settings) \
    F(nghttp2_session_get_remote_window_size) \
    F(nghttp2_session_get_stream_remote_window_size) \
    F(nghttp2_session_get_stream_user_data) \
    F(nghttp2_session_mem_recv) \
    F(nghttp2_session_resume_data) \
    F(nghttp2_session_send) \
    F(nghttp2_session_set_local_window_size) \
    F(nghttp2_session_set_stream_user_data) \
    F(nghttp2_session_upgrade2) \
    F(nghttp2_session_want_read) \
    F(nghttp2_session_want_write) \
    F(nghttp2_strerror) \
    F(nghttp2_submit_ping) \
    F(nghttp2_submit_priority) \
    F(nghttp2_submit_request) \
    F(nghttp2_submit_rst_stream) \
    F(nghttp2_submit_settings) \
    F(nghttp2_version) \
    F(psl_builtin) \
    F(psl_free) \
    F(psl_get_version) \
    F(psl_is_cookie_domain_acceptable) \
    F(psl_latest) \
    K(gss_delete_sec_context) \
    K(gss_display_name) \
    K(gss_display_status) \
    K(gss_import_name) \
    K(gss_init_sec_context) \
    K(gss_inquire_context) \
    K(gss_release_buffer) \
    K(gss_release_name) \
    K(gss_unwrap) \
    K(gss_wrap)
/* clang-format on */

enum { GSS_S_FAILURE = 13 << 16 };

#define RETURN_NOTHING(name) \
    absent_function name;    \
    long name(void)          \
    {                        \
        return 0;            \
    }
#define RETURN_FAILURE(name)  \
    absent_function name;     \
    long name(void)           \
    {                         \
        return GSS_S_FAILURE; \
    }

WITHOUT(RETURN_NOTHING, RETURN_FAILURE)

extern void *GSS_C_NT_HOSTBASED_SERVICE;
void *GSS_C_NT_HOSTBASED_SERVICE;

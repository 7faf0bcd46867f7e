-- expand: positions of the event log end where the numbers of events would begin again
-- postgres:
-- LOG_POSITION_MAX (cluster/cluster.h). A commit that needs a greater position fails.
alter sequence log_position maxvalue 4398046511103;

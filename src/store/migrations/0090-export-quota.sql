-- expand: copies of files in an export count for the upload quota of the account
alter table exports add column counted bigint not null default 0;

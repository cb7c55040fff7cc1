-- SPDX-License-Identifier: LGPL-2.1-or-later
--
-- One table of several servers, after ship-schema.sql, on each server that is asked. The cluster "branchd" is that of
-- <remote_servers> in the server's configuration; each of its shards is a server to which hosts send.

CREATE TABLE IF NOT EXISTS branchd.all_windows AS branchd.windows_rows ENGINE = Distributed(branchd, branchd, windows_rows);
CREATE TABLE IF NOT EXISTS branchd.all_functions AS branchd.functions_rows ENGINE = Distributed(branchd, branchd, functions_rows);
CREATE TABLE IF NOT EXISTS branchd.all_stacks AS branchd.stacks_rows ENGINE = Distributed(branchd, branchd, stacks_rows);
CREATE TABLE IF NOT EXISTS branchd.all_branches AS branchd.branches_rows ENGINE = Distributed(branchd, branchd, branches_rows);
CREATE TABLE IF NOT EXISTS branchd.all_blocks AS branchd.blocks_rows ENGINE = Distributed(branchd, branchd, blocks_rows);
CREATE TABLE IF NOT EXISTS branchd.all_streams AS branchd.streams_rows ENGINE = Distributed(branchd, branchd, streams_rows);
CREATE TABLE IF NOT EXISTS branchd.all_names AS branchd.names_rows ENGINE = Distributed(branchd, branchd, names_rows);

-- Each row once: SELECT ... FROM branchd.all_functions FINAL. The hot functions of all hosts on a day:
--     SELECT object, symbol, sum(self) AS samples FROM branchd.all_functions_day WHERE day = '2026-11-20'
--     GROUP BY object, symbol ORDER BY samples DESC LIMIT 20
CREATE TABLE IF NOT EXISTS branchd.all_functions_minute AS branchd.functions_minute
    ENGINE = Distributed(branchd, branchd, functions_minute);
CREATE TABLE IF NOT EXISTS branchd.all_functions_hour AS branchd.functions_hour
    ENGINE = Distributed(branchd, branchd, functions_hour);
CREATE TABLE IF NOT EXISTS branchd.all_functions_day AS branchd.functions_day
    ENGINE = Distributed(branchd, branchd, functions_day);
CREATE TABLE IF NOT EXISTS branchd.all_code_hour AS branchd.code_hour ENGINE = Distributed(branchd, branchd, code_hour);
CREATE TABLE IF NOT EXISTS branchd.all_code_day AS branchd.code_day ENGINE = Distributed(branchd, branchd, code_day);

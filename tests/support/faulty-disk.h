/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * SQLite's file system on a disk that refuses a write, or whose power fails: from a write on
 * nothing is written, and what was not synced by then is there or not, each write by itself, as a
 * whole or in sectors of 512 bytes. So do disks with a cache. What one write leaves alone stays as
 * it is, as SQLite expects of any disk today (SQLITE_IOCAP_POWERSAFE_OVERWRITE). Folders are as
 * they were: SQLite syncs them.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* For all databases that are opened from now on. Once for a program. */
void faulty_disk_register(void);

/*
 * To be called when no database is open. Power comes back, and fails again with write (or
 * truncation) number @n_writes, counted from 1; 0: it stays. What the files have now is on the
 * disk.
 */
void faulty_disk_begin(uint64_t n_writes);
bool faulty_disk_has_failed(void);

/*
 * To be called after that, when no database is open: makes the files what a disk would have.
 * @random decides what it has of writes without a sync.
 */
void faulty_disk_lose(uint64_t *random);

/* Ends what faulty_disk_begin() began: files are what was written. */
void faulty_disk_end(void);

/* Power stays; write number @n_writes from now fails with SQLite's @code, and no other. */
void faulty_disk_refuse(uint64_t n_writes, int code);
bool faulty_disk_has_refused(void);

/* Read number @n_reads from now fails, and no other; 0: none does. How many have failed. */
void faulty_disk_refuse_read(uint64_t n_reads);
uint64_t faulty_disk_count_refused_reads(void);

/* How many writes were lost in all, as a whole or in part, and how many of them in part. */
uint64_t faulty_disk_count_lost(uint64_t *ret_torn);

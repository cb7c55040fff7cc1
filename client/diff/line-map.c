/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * diff(1) prints hunks in its normal format, "12,15c12,14": lines of the one file that became lines
 * of the other. The lines between hunks are equal, moved by the number of lines that the hunks
 * before them added.
 */
#include "client/diff/line-map.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/util/array.h"
#include "common/util/cleanup.h"

#define HASH_NONFATAL_OOM 1
#include <uthash.h>

extern char **environ;

/* On each side n[] lines from start[] on. If n[] is 0, the lines would follow line start[]. */
struct hunk {
	uint32_t start[N_SIDES], n[N_SIDES];
};

/* The files of one path below the two folders. */
struct compared {
	char *path; /* below the folders */
	bool there[N_SIDES];
	struct hunk *hunks;
	size_t n_hunks, cap_hunks;
	UT_hash_handle hh;
};

/* A file by its name in the debug information. */
struct named_file {
	char *name;
	struct compared *compared; /* NULL: not below the folder */
	UT_hash_handle hh;
};

struct line_map {
	const char *folders[N_SIDES];
	struct compared *compared;
	struct named_file *files[N_SIDES];
};

static int check_folder(const char *path, const char *option, struct fault *fault)
{
	struct stat st;

	if (stat(path, &st) < 0)
		return fault_set(fault, -errno, "%s %s: %s", option, path, strerror(errno));
	if (!S_ISDIR(st.st_mode))
		return fault_set(fault, -ENOTDIR,
				 "%s %s: not a folder; give the folder with the sources", option,
				 path);
	return 0;
}

int line_map_new(struct line_map **ret, const char *before, const char *after, struct fault *fault)
{
	struct line_map *map;
	int r;

	r = check_folder(before, "--before", fault);
	if (r >= 0)
		r = check_folder(after, "--after", fault);
	if (r < 0)
		return r;
	map = calloc(1, sizeof(*map));
	if (!map)
		return fault_set(fault, -ENOMEM, "out of memory");
	map->folders[SIDE_OLD] = before;
	map->folders[SIDE_NEW] = after;
	*ret = map;
	return 0;
}

static struct compared *compared_free(struct compared *compared)
{
	if (!compared)
		return NULL;
	free(compared->hunks);
	free(compared->path);
	free(compared);
	return NULL;
}

DEFINE_CLEANUP(struct compared *, compared_free);

static struct named_file *named_file_free(struct named_file *file)
{
	if (!file)
		return NULL;
	free(file->name);
	free(file);
	return NULL;
}

DEFINE_CLEANUP(struct named_file *, named_file_free);

struct line_map *line_map_free(struct line_map *map)
{
	struct compared *compared, *next_compared;
	struct named_file *file, *next_file;

	if (!map)
		return NULL;
	for (int side = 0; side < N_SIDES; side++)
		HASH_ITER(hh, map->files[side], file, next_file) {
			HASH_DEL(map->files[side], file);
			named_file_free(file);
		}
	HASH_ITER(hh, map->compared, compared, next_compared) {
		HASH_DEL(map->compared, compared);
		compared_free(compared);
	}
	free(map);
	return NULL;
}

static char *join(const char *folder, const char *path)
{
	char *joined;

	return asprintf(&joined, "%s/%s", folder, path) < 0 ? NULL : joined;
}

/* 1, 0, or -ENOMEM. */
static int is_file(const char *folder, const char *path)
{
	_cleanup_free_ char *joined = join(folder, path);
	struct stat st;

	if (!joined)
		return -ENOMEM;
	return stat(joined, &st) == 0 && S_ISREG(st.st_mode);
}

/* The longest end of @name that is a file below @folder: 1 and *@ret; 0; or -ENOMEM. */
static int find_below(const char *folder, const char *name, const char **ret)
{
	int r = 0;

	for (; name && r == 0; name = strchr(name, '/')) {
		name += strspn(name, "/");
		if (strncmp(name, "../", 3) == 0 || strncmp(name, "./", 2) == 0)
			continue;
		r = *name ? is_file(folder, name) : 0;
		*ret = name;
	}
	return r;
}

/* "12,15c12,14", "12a13" or "12d11"; false for any other line. */
static bool parse_hunk(const char *line, struct hunk *ret)
{
	uint32_t first[N_SIDES], last[N_SIDES];
	char kind = '\0';

	for (int side = 0; side < N_SIDES; side++) {
		char *end;

		if (*line < '0' || *line > '9')
			return false;
		first[side] = last[side] = (uint32_t)strtoul(line, &end, 10);
		if (*end == ',')
			last[side] = (uint32_t)strtoul(end + 1, &end, 10);
		if (side == SIDE_OLD)
			kind = *end;
		line = end + (*end != '\0');
	}
	if (last[SIDE_OLD] < first[SIDE_OLD] || last[SIDE_NEW] < first[SIDE_NEW])
		return false;
	*ret = (struct hunk){
		.start = { first[SIDE_OLD], first[SIDE_NEW] },
		.n = { kind == 'a' ? 0 : last[SIDE_OLD] - first[SIDE_OLD] + 1,
		       kind == 'd' ? 0 : last[SIDE_NEW] - first[SIDE_NEW] + 1 },
	};
	return kind == 'a' || kind == 'c' || kind == 'd';
}

static int read_hunks(struct compared *compared, FILE *f)
{
	_cleanup_free_ char *line = NULL;
	struct hunk hunk;
	size_t cap = 0;

	while (getline(&line, &cap, f) >= 0) {
		if (!parse_hunk(line, &hunk))
			continue;
		if (ARRAY_RESERVE(&compared->hunks, &compared->cap_hunks, compared->n_hunks + 1) <
		    0)
			return -ENOMEM;
		compared->hunks[compared->n_hunks++] = hunk;
	}
	return 0;
}

/* Starts diff(1); its output can be read from *@ret. */
static int start_diff(const char *const paths[N_SIDES], pid_t *ret_pid, FILE **ret)
{
	char *const arguments[] = { (char *)"diff",          (char *)"--text",        (char *)"--",
				    (char *)paths[SIDE_OLD], (char *)paths[SIDE_NEW], NULL };
	posix_spawn_file_actions_t actions;
	int ends[2], r;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return -errno;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	r = -posix_spawnp(ret_pid, arguments[0], &actions, NULL, arguments, environ);
	posix_spawn_file_actions_destroy(&actions);
	close(ends[1]);
	if (r == 0) {
		*ret = fdopen(ends[0], "re");
		if (*ret)
			return 0;
		r = -errno;
		waitpid(*ret_pid, NULL, 0);
	}
	close(ends[0]);
	return r;
}

static int run_diff(struct compared *compared, const char *const paths[N_SIDES],
		    struct fault *fault)
{
	int r, status = 0;
	pid_t pid;
	FILE *f;

	r = start_diff(paths, &pid, &f);
	if (r == -ENOENT)
		return fault_set(fault, -EIO,
				 "--before and --after need diff(1); install diffutils");
	if (r < 0)
		return fault_set(fault, r, "cannot run diff: %s", strerror(-r));
	r = read_hunks(compared, f);
	fclose(f);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (r < 0)
		return fault_set(fault, r, "out of memory");
	if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
		return fault_set(fault, -EIO, "diff cannot compare %s and %s", paths[SIDE_OLD],
				 paths[SIDE_NEW]);
	return 0;
}

static int compare_files(const struct line_map *map, struct compared *compared, struct fault *fault)
{
	_cleanup_free_ char *before = join(map->folders[SIDE_OLD], compared->path);
	_cleanup_free_ char *after = join(map->folders[SIDE_NEW], compared->path);
	int r;

	if (!before || !after)
		return fault_set(fault, -ENOMEM, "out of memory");
	for (int side = 0; side < N_SIDES; side++) {
		r = is_file(map->folders[side], compared->path);
		if (r < 0)
			return fault_set(fault, r, "out of memory");
		compared->there[side] = r;
	}
	if (!compared->there[SIDE_OLD] || !compared->there[SIDE_NEW])
		return 0;
	return run_diff(compared, (const char *const[]){ before, after }, fault);
}

static int get_compared(struct line_map *map, const char *path, struct compared **ret,
			struct fault *fault)
{
	_cleanup_(compared_freep) struct compared *compared = NULL;
	int r;

	HASH_FIND_STR(map->compared, path, *ret);
	if (*ret)
		return 0;
	compared = calloc(1, sizeof(*compared));
	if (!compared || !(compared->path = strdup(path)))
		return fault_set(fault, -ENOMEM, "out of memory");
	r = compare_files(map, compared, fault);
	if (r < 0)
		return r;
	HASH_ADD_KEYPTR(hh, map->compared, compared->path, strlen(compared->path), compared);
	if (!compared->hh.tbl)
		return fault_set(fault, -ENOMEM, "out of memory");
	*ret = TAKE_PTR(compared);
	return 0;
}

/* *@ret is NULL where the folder of that side does not have the file. */
static int find_file(struct line_map *map, enum side side, const char *name, struct compared **ret,
		     struct fault *fault)
{
	_cleanup_(named_file_freep) struct named_file *new = NULL;
	struct named_file *file;
	const char *path;
	int r;

	HASH_FIND_STR(map->files[side], name, file);
	if (file) {
		*ret = file->compared;
		return 0;
	}
	new = calloc(1, sizeof(*new));
	if (!new || !(new->name = strdup(name)))
		return fault_set(fault, -ENOMEM, "out of memory");
	r = find_below(map->folders[side], name, &path);
	if (r > 0)
		r = get_compared(map, path, &new->compared, fault);
	if (r < 0)
		return r == -ENOMEM ? fault_set(fault, r, "out of memory") : r;
	HASH_ADD_KEYPTR(hh, map->files[side], new->name, strlen(new->name), new);
	if (!new->hh.tbl)
		return fault_set(fault, -ENOMEM, "out of memory");
	*ret = TAKE_PTR(new)->compared;
	return 0;
}

/* The line on the other side, or 0 if a hunk changed it. */
static uint32_t follow(const struct compared *compared, enum side side, uint32_t line)
{
	enum side other = side == SIDE_OLD ? SIDE_NEW : SIDE_OLD;
	uint32_t added = 0;

	for (size_t i = 0; i < compared->n_hunks; i++) {
		const struct hunk *hunk = &compared->hunks[i];

		/* where n[] is 0, the hunk comes after line start[] */
		if (line < hunk->start[side] + (hunk->n[side] == 0))
			break;
		if (line < hunk->start[side] + hunk->n[side])
			return 0;
		added += hunk->n[other] - hunk->n[side];
	}
	return line + added;
}

int line_map_find(struct line_map *map, enum side side, struct source_line line,
		  struct source_line *ret, struct fault *fault)
{
	struct compared *compared = NULL;
	uint32_t number;
	int r;

	r = find_file(map, side, line.file, &compared, fault);
	if (r < 0)
		return r;
	if (!compared)
		return -ENOENT;
	ret->file = compared->path;
	if (!compared->there[SIDE_OLD] || !compared->there[SIDE_NEW])
		return 0;
	number = follow(compared, side, line.number);
	if (number == 0)
		return 0;
	ret->number = number;
	return 1;
}

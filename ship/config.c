/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "ship/config.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include "common/util/cleanup.h"
#include "daemon/config/file.h"
#include "daemon/config/value.h"

struct loading {
	struct config config;
	struct fault *fault;
};

void config_done(struct config *config)
{
	free(config->url);
	free(config->database);
	free(config->user);
	free(config->password_file);
	free(config->ca_file);
	free(config->host);
	*config = (struct config){};
}

/* An empty value is none. */
static int set_text(char **member, const char *value)
{
	free(*member);
	*member = *value ? strdup(value) : NULL;
	return *value && !*member ? -ENOMEM : 0;
}

static int set_url(char **member, const char *value)
{
	bool known = strncmp(value, "http://", 7) == 0 || strncmp(value, "https://", 8) == 0;

	if (strchr(value, '@'))
		return -EKEYREJECTED;
	return known && !strpbrk(value, "?# ") ? set_text(member, value) : -EINVAL;
}

/* It is a part of queries. */
static int set_database(char **member, const char *value)
{
	for (const char *c = value; *c; c++)
		if (!((*c | 32) >= 'a' && (*c | 32) <= 'z') && *c != '_' &&
		    !(c > value && *c >= '0' && *c <= '9'))
			return -EINVAL;
	return *value && strlen(value) <= 64 ? set_text(member, value) : -EINVAL;
}

static int set_host(char **member, const char *value)
{
	return strlen(value) <= 128 ? set_text(member, value) : -EINVAL;
}

static int set_span(uint64_t *member, const char *value)
{
	int r = config_value_span_us(value, member);

	return r ?: *member > 3600000000 ? -ERANGE : 0;
}

static int set_bytes(uint64_t *member, const char *value)
{
	int r = config_value_bytes(value, member);

	return r ?: *member < 1 << 20 ? -ERANGE : 0;
}

/* -ENOENT: there is no such key. -EKEYREJECTED: there is a password where all can see it. */
static int set(struct config *config, const char *key, const char *value)
{
	if (strcmp(key, "Url") == 0)
		return set_url(&config->url, value);
	if (strcmp(key, "Format") == 0)
		return format_find(&config->format, value);
	if (strcmp(key, "Database") == 0)
		return set_database(&config->database, value);
	if (strcmp(key, "User") == 0)
		return set_text(&config->user, value);
	if (strcmp(key, "PasswordFile") == 0)
		return set_text(&config->password_file, value);
	if (strcmp(key, "CAFile") == 0)
		return set_text(&config->ca_file, value);
	if (strcmp(key, "Host") == 0)
		return set_host(&config->host, value);
	if (strcmp(key, "BatchSec") == 0)
		return set_span(&config->batch_us, value);
	if (strcmp(key, "SumSec") == 0)
		return set_span(&config->sum_us, value);
	if (strcmp(key, "MaxSpool") == 0)
		return set_bytes(&config->max_spool_bytes, value);
	return -ENOENT;
}

static int on_line(const char *path, unsigned int line, const char *section, const char *key,
		   const char *value, void *userdata)
{
	struct loading *loading = userdata;
	int r;

	if (strcmp(section, "Ship") != 0)
		return fault_set(loading->fault, -EINVAL,
				 "%s:%u: unknown section [%.64s]; there is only [Ship]", path, line,
				 section);
	r = set(&loading->config, key, value);
	if (r == -ENOENT)
		return fault_set(loading->fault, -EINVAL,
				 "%s:%u: unknown key %.64s=; see ship.conf(5)", path, line, key);
	if (r == -ENOMEM)
		return fault_set(loading->fault, r, "out of memory");
	if (r == -EKEYREJECTED)
		return fault_set(loading->fault, -EINVAL,
				 "%s:%u: %s= has an '@': give User=, and PasswordFile= or the "
				 "credential ship.password; see ship.conf(5)",
				 path, line, key);
	return r < 0 ? fault_set(loading->fault, -EINVAL,
				 "%s:%u: %s=%.128s is invalid; see ship.conf(5)", path, line, key,
				 value) :
		       0;
}

/* The names that follow from the machine. */
static int set_defaults(struct config *config)
{
	char name[65] = "";

	if (!config->database && !(config->database = strdup("branchd")))
		return -ENOMEM;
	if (config->host)
		return 0;
	gethostname(name, sizeof(name) - 1);
	config->host = strdup(name);
	return config->host ? 0 : -ENOMEM;
}

int config_load(struct config *ret, const char *path, struct fault *fault)
{
	struct loading loading = {
		.config = { .sum_us = 600000000,
			    .batch_us = 600000000,
			    .max_spool_bytes = 256 << 20 },
		.fault = fault,
	};
	int r = config_file_read(path, on_line, &loading, fault);

	if (r == -ENOENT)
		r = fault_set(fault, r, "%s: no such file; see ship.conf(5)", path);
	else if (r >= 0 && !loading.config.url)
		r = fault_set(fault, -EINVAL,
			      "%s: it names no server: give Url=, as in Url=https://host:8443/",
			      path);
	else if (r >= 0 && set_defaults(&loading.config) < 0)
		r = fault_set(fault, -ENOMEM, "out of memory");
	if (r < 0)
		config_done(&loading.config);
	else
		*ret = loading.config;
	return r;
}

int config_read_secret(char **ret, const char *path, struct fault *fault)
{
	_cleanup_fclose_ FILE *f = fopen(path, "re");
	_cleanup_free_ char *line = NULL;
	size_t n = 0;

	if (!f || getline(&line, &n, f) < 0)
		return fault_set(fault, -EINVAL, "%s: cannot read the password: %s", path,
				 f ? "the file is empty" : strerror(errno));
	line[strcspn(line, "\r\n")] = '\0';
	*ret = TAKE_PTR(line);
	return 0;
}

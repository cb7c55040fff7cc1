/* SPDX-License-Identifier: LGPL-2.1-or-later */
#include "daemon/varlink/service.h"

#include <stdlib.h>
#include <string.h>

#include "common/util/cleanup.h"
#include "daemon/varlink/parameters.h"

#define SERVICE "org.varlink.service"

static const char description[] =
	"# The Varlink Service Interface is provided by every varlink service. It\n"
	"# describes the service and the interfaces it implements.\n"
	"interface org.varlink.service\n"
	"\n"
	"method GetInfo() -> (\n"
	"  vendor: string,\n"
	"  product: string,\n"
	"  version: string,\n"
	"  url: string,\n"
	"  interfaces: []string\n"
	")\n"
	"\n"
	"method GetInterfaceDescription(interface: string) -> (description: string)\n"
	"\n"
	"error InterfaceNotFound (interface: string)\n"
	"error MethodNotFound (method: string)\n"
	"error MethodNotImplemented (method: string)\n"
	"error InvalidParameter (parameter: string)\n";

static int get_info(const struct server_settings *settings, struct call *call)
{
	if (!parameters_read(call, NULL, 0))
		return 0;
	return call_reply(call,
			  json_pack("{ss ss ss ss s[ss]}", "vendor", "branchd", "product",
				    "branchd", "version", BRANCHD_VERSION, "url", "", "interfaces",
				    SERVICE, settings->interface),
			  false);
}

static int get_description(const struct server_settings *settings, struct call *call)
{
	const char *interface = NULL;
	const struct parameter parameters[] = { { "interface", &interface, NULL } };
	const char *text;

	if (!parameters_read(call, parameters, ARRAY_SIZE(parameters)))
		return 0;
	if (!interface) {
		call_invalid_parameter(call, "interface");
		return 0;
	}
	text = strcmp(interface, SERVICE) == 0             ? description :
	       strcmp(interface, settings->interface) == 0 ? settings->description :
							     NULL;
	if (text)
		return call_reply(call, json_pack("{ss}", "description", text), false);
	call_error(call, SERVICE ".InterfaceNotFound", json_pack("{ss}", "interface", interface));
	return 0;
}

/* An unknown interface, or an unknown method of a known one. */
static void reply_not_found(const struct server_settings *settings, struct call *call)
{
	const char *dot = strrchr(call->method, '.');
	_cleanup_free_ char *interface = NULL;

	interface = strndup(call->method, dot ? (size_t)(dot - call->method) : 0);
	if (!interface || !dot || strcmp(interface, SERVICE) == 0 ||
	    strcmp(interface, settings->interface) == 0)
		call_error(call, SERVICE ".MethodNotFound",
			   json_pack("{ss}", "method", call->method));
	else
		call_error(call, SERVICE ".InterfaceNotFound",
			   json_pack("{ss}", "interface", interface));
}

int service_handle(const struct server_settings *settings, struct call *call)
{
	if (call->upgrade) {
		call_error(call, SERVICE ".MethodNotImplemented",
			   json_pack("{ss}", "method", call->method));
		return 0;
	}
	for (size_t i = 0; i < settings->n_methods; i++)
		if (strcmp(call->method, settings->methods[i].name) == 0)
			return settings->methods[i].handle(call, call->parameters,
							   settings->userdata);
	if (strcmp(call->method, SERVICE ".GetInfo") == 0)
		return get_info(settings, call);
	if (strcmp(call->method, SERVICE ".GetInterfaceDescription") == 0)
		return get_description(settings, call);
	reply_not_found(settings, call);
	return 0;
}

/* SPDX-License-Identifier: LGPL-2.1-or-later */
/*
 * The end of the parser when its client hangs up, whatever code the parser runs by then. The client
 * sends the reading end of a pipe, and keeps the writing end. When the client closes that, or ends,
 * the kernel kills the parser: SIGKILL is the signal of the pipe's end (F_SETSIG), and the parser
 * may neither change that nor close the pipe once its system calls are limited.
 */
#pragma once

/*
 * Waits for the pipe, which comes by @connection_fd first of all, and makes it descriptor @fd. 0;
 * -EPIPE if the client has hung up; or another -errno.
 */
int lifeline_take(int connection_fd, int fd);
